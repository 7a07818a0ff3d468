"""Data sets in memory: a matrix with names, and known classes of its rows or columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Dataset:
    """A matrix with names, and known classes of its rows or columns.

    Classes are positions in ``class_names``, one for each element. Where an element can have
    several classes, they are a table elements x classes of bool.
    """

    matrix: Any  #: NumPy array or SciPy CSR array of weights
    row_names: list[str]
    column_names: list[str]
    row_classes: np.ndarray | None = None
    column_classes: np.ndarray | None = None
    class_names: tuple[str, ...] = ()
