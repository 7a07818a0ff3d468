"""Ranges of rows with about as many entries each, so that work on large matrices needs little."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

ENTRIES = 1 << 21  # in a range


def row_ranges(indptr: np.ndarray, entries: int | None = None) -> Iterator[slice]:
    """Yield ranges of rows with at most so many entries, or one row.

    Examples
    --------
    >>> list(row_ranges(np.array([0, 2, 4, 9, 10]), 4))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    start, n = 0, indptr.size - 1
    most = ENTRIES if entries is None else entries
    while start < n:
        stop = int(np.searchsorted(indptr, indptr[start] + most, side="right")) - 1
        stop = min(max(stop, start + 1), n)
        yield slice(start, stop)
        start = stop


def block_sums(
    matrix: Any,
    groups: tuple[np.ndarray, np.ndarray],
    shape: tuple[int, int],
    counted: bool = False,
) -> np.ndarray:
    """The sum of entries in each pair of groups of rows and columns, or their number.

    Elements with a negative group are left out. Only some entries are copied at a time.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> matrix = sp.csr_array([[1, 2, 0], [0, 3, 4]])
    >>> block_sums(matrix, (np.array([0, 0]), np.array([1, 0, 1])), (1, 2))
    array([[5., 5.]])
    """
    sums = np.zeros(shape[0] * shape[1])
    for rows in row_ranges(matrix.indptr):
        places = matrix.indptr[rows.start : rows.stop + 1]
        part = slice(places[0], places[-1])
        row = np.repeat(groups[0][rows].astype(np.int64, copy=False), np.diff(places))
        column = groups[1][matrix.indices[part]]
        is_in = (row >= 0) & (column >= 0)
        weights = 1.0 if counted else matrix.data[part][is_in].astype(np.float64)
        np.add.at(sums, row[is_in] * shape[1] + column[is_in], weights)
    return sums.reshape(shape)
