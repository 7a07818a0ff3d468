"""Tables of results: aligned for people, CSV and JSON for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import typer

Records = list[dict[str, Any]]


def records(table: np.ndarray) -> Records:
    """The lines of a structured array as plain values; what is not known is None."""
    names = table.dtype.names or ()
    return [
        {name: _known(value) for name, value in zip(names, line, strict=True)}
        for line in table.tolist()
    ]


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def aligned(lines: Records) -> str:
    """A table for people: numbers to the right, what is true as an arrow at the end."""
    marks = [name for name, value in lines[0].items() if isinstance(value, bool)]
    shown = [name for name in lines[0] if name not in marks and any(l[name] not in (None, "") for l in lines)]
    cells = [[name.replace("_", " ") for name in shown], *([_cell(line[name]) for name in shown] for line in lines)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [any(isinstance(line[name], int | float) for line in lines) for name in shown]
    texts = []
    for i, row in enumerate(cells):
        pairs = zip(row, widths, numeric, strict=True)
        text = "  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in pairs).rstrip()
        chosen = [mark for mark in marks if i and lines[i - 1][mark]]
        texts.append("  ".join([text, *(f"← {mark}" for mark in chosen)]))
    return "\n".join(texts)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def as_csv(header: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """CSV text; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue()


def records_csv(lines: Records) -> str:
    """Records as CSV."""
    return as_csv(list(lines[0]), (list(line.values()) for line in lines))


def say_json(value: Any) -> None:
    """JSON on stdout."""
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))
