"""Means over runs and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np


def mean_and_error(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over runs and its standard error, which is nan for a single run."""
    table = np.array(values, dtype=float)
    return table.mean(axis=0), deviation(table) / np.sqrt(len(table))


def deviation(table: np.ndarray) -> np.ndarray:
    """Return the standard deviation over runs; nan for a single one."""
    if len(table) < 2:
        return np.full(table.shape[1:], np.nan)
    return np.asarray(table.std(axis=0, ddof=1))
