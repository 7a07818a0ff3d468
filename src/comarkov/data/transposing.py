"""The transpose of a matrix, computed by several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from ..kernels.matrix import Matrix, add_rows, count_by_column, turn
from .parts import PER_COLUMN, part_bounds

LEAST = 1 << 20  # entries for which threads are worth starting


def transposed(matrix: Matrix, columns: int, threads: int = 1) -> Matrix:
    """Return the transpose, its rows grouped like those of the matrix, whatever the threads.

    Each thread takes a range of rows: it counts their entries by column, and once the places of all
    are known from the counts, it writes them.
    """
    nnz, n = matrix.indices.size, matrix.mass.size
    chunks = threads if nnz > max(LEAST, PER_COLUMN * columns * threads) else 1
    ranges = list(pairwise(part_bounds(matrix.indptr, chunks)))
    counts = np.zeros((chunks, 3, columns), np.int64)

    def count(i: int) -> None:
        count_by_column(matrix, *ranges[i], counts[i])

    _each(count, chunks)
    by_group = counts.sum(axis=0)
    indptr = np.concatenate([[0], np.cumsum(by_group.sum(axis=0))])
    starts = indptr[:-1] + np.cumsum(by_group, axis=0) - by_group
    cursors = starts + np.cumsum(counts, axis=0) - counts
    indices = np.empty(nnz, index_dtype(n))
    weights = np.empty(nnz, matrix.weights.dtype)

    def write(i: int) -> None:
        turn(matrix, *ranges[i], cursors[i], indices, weights)

    _each(write, chunks)
    ones, twos = by_group[:2].astype(np.int32)
    return Matrix(indptr, indices, weights, ones, twos, row_mass(indptr, weights), matrix.spread)


def index_dtype(dimension: int) -> type[np.unsignedinteger[Any]]:
    """Unsigned, because numba spends time on wrapping signed indices around."""
    return np.uint32 if dimension <= np.iinfo(np.uint32).max else np.uint64


def row_mass(indptr: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the row sums."""
    mass = np.empty(indptr.size - 1)
    add_rows(indptr, weights, mass)
    return mass


def _each(work: Callable[[int], None], count: int) -> None:
    """Do work(0), ..., work(count - 1) at the same time."""
    if count == 1:
        return work(0)
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))
