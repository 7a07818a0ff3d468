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

    Examples
    --------
    >>> from comarkov import datasets
    >>> women = datasets.load("southern-women")
    >>> women.matrix.shape, women.row_names[0], women.column_names[0]
    ((18, 14), 'Evelyn Jefferson', 'E1')
    """

    matrix: Any  #: NumPy array or SciPy CSR array of weights
    row_names: list[str]  #: one for each row
    column_names: list[str]  #: one for each column
    row_classes: np.ndarray | None = None  #: known classes of rows
    column_classes: np.ndarray | None = None  #: known classes of columns
    class_names: tuple[str, ...] = ()  #: the names of the classes
