"""CSV, JSON and Markdown as text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from ..data.spreadsheets import harmless


def csv_text(header: Sequence[str], lines: Iterable[Iterable[Any]]) -> str:
    """CSV with a header, lines ending with a line feed; no cell is a formula for spreadsheets."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(harmless, header))
    writer.writerows(map(harmless, line) for line in lines)
    return text.getvalue()


def json_text(value: Any) -> str:
    """JSON for people and programs."""
    return json.dumps(_jsonable(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _jsonable(value: Any) -> Any:
    """The value with types that JSON has: null if not finite, the repr if not data."""
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else repr(value)


def markdown_text(text: str) -> str:
    """Text on one line that Markdown shows as it is."""
    text = escape(" ".join(text.split()), quote=False)
    for character in "\\`*_[]#|":
        text = text.replace(character, "\\" + character)
    return text
