"""The numbers that the paper published, as data."""

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
    """The rows of a published table."""
    text = files(__package__).joinpath("published", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def curve(name: str, value: str, std: str | None = None, **where: Any) -> Points:
    """The points of a published curve over β, from those rows where the columns are as given."""
    rows = [
        row for row in table(name) if all(_same(row[key], asked) for key, asked in where.items())
    ]
    if not rows:
        raise KeyError(f"Nothing was published in {name} for {where}.")
    return Points(
        np.array([float(row["beta"]) for row in rows]),
        np.array([float(row[value]) for row in rows]),
        np.array([float(row[std]) for row in rows]) if std else None,
    )


def _same(text: str, asked: Any) -> bool:
    return text == asked if isinstance(asked, str) else float(text) == asked
