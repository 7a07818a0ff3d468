"""Tables of results: aligned for people, CSV and JSON for programs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from ..results.formats import csv_text
from .terminal import echo

Records = list[dict[str, Any]]


def records(table: np.ndarray) -> Records:
    """The lines of a structured array as plain values; what is unknown is None."""
    names = table.dtype.names or ()
    return [
        {name: _known(value) for name, value in zip(names, line, strict=True)}
        for line in table.tolist()
    ]


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def aligned(lines: Records, spaced: bool = True) -> str:
    """A table for people: numbers to the right, marks of what is true at the end of the line.

    If ``spaced``, headings have spaces for underscores.
    """
    marks = [name for name, value in lines[0].items() if isinstance(value, bool)]
    shown = [name for name in lines[0] if name not in marks and _is_known(name, lines)]
    titles = [name.replace("_", " ") if spaced else name for name in shown]
    columns = [
        _column(title, [line[name] for line in lines])
        for title, name in zip(titles, shown, strict=True)
    ]
    arrows = [[f"← {mark}" for mark in marks if line[mark]] for line in lines]
    cells = zip(*columns, strict=True)
    return "\n".join(
        "  ".join([*row, *arrow]).rstrip() for row, arrow in zip(cells, [[], *arrows], strict=True)
    )


def _is_known(name: str, lines: Records) -> bool:
    return any(line[name] not in (None, "") for line in lines)


def _column(name: str, values: list[Any]) -> list[str]:
    """A column under its name, its cells equally wide."""
    texts = [name, *map(_cell, values)]
    width = max(map(len, texts))
    is_number = any(isinstance(value, int | float) for value in values)
    return [text.rjust(width) if is_number else text.ljust(width) for text in texts]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def records_csv(lines: Records) -> str:
    """Records as CSV."""
    return csv_text(list(lines[0]), (list(line.values()) for line in lines))


def print_json(value: Any) -> None:
    """Print JSON on stdout."""
    echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))
