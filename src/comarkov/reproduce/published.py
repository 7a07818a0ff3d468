"""The numbers published in the paper, as data."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np


class Points(NamedTuple):
    """A published curve."""

    x: np.ndarray
    mean: np.ndarray
    std: np.ndarray | None


@cache
def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a published table."""
    text = files(__package__).joinpath("published", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def curve(name: str, value: str, std: str | None = None, **where: Any) -> Points:
    """Return a published curve over β, from the rows where columns have the given values."""
    rows = [
        row for row in table(name) if all(_same(row[key], value) for key, value in where.items())
    ]
    if not rows:
        raise KeyError(f"Nothing was published in {name} for {where}.")
    return Points(
        np.array([float(row["beta"]) for row in rows]),
        np.array([float(row[value]) for row in rows]),
        np.array([float(row[std]) for row in rows]) if std else None,
    )


def _same(text: str, value: Any) -> bool:
    return text == value if isinstance(value, str) else float(text) == value
