"""Warnings that point at the user's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

INSIDE = ("comarkov", "contextlib", "sklearn")  # scikit-learn wraps methods of estimators


def warn_user(message: str) -> None:
    """Warn at the nearest line that is outside this library and what calls it for the user."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level + 1)


def _package(module: dict[str, object]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]
