"""Warnings that point at the user's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

INSIDE = ("comarkov", "contextlib", "sklearn")  # scikit-learn wraps methods of estimators


def warn_user(message: str) -> None:
    """Warn at the nearest line that is outside this library and what calls it for the user."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level + 1)


def _package(module: dict[str, object]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]


def without_mass(empty: Sequence[int], shape: tuple[int, int]) -> str:
    """How many rows and columns have no mass, in words; a side without such is left out."""
    sides = zip(empty, shape, ("rows", "columns"), strict=True)
    counts = [f"{count} of {size} {what}" for count, size, what in sides if count]
    return f"{' and '.join(counts)} {'has' if sum(empty) == 1 else 'have'} no mass"
