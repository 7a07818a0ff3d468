"""The parts of a matrix: ranges of rows with about as many entries each.

The number of parts depends on the matrix alone. Sweeps move the rows of different parts at the same
time, so their result depends on the parts, but not on who computes them.
"""

from __future__ import annotations

import numpy as np

ENTRIES = 1 << 19  # the least number in a part
PER_COLUMN = 8  # entries in a part for each column: each part needs a copy of the table of columns
MOST_ENTRIES = 1 << 26  # in a part, whatever the number of columns
MOST = 256  # parts


def count_parts(entries: int, columns: int) -> int:
    """Return the number of parts of a matrix, a power of two; 1 if it is small.

    Examples
    --------
    >>> count_parts(100_000, 1_000), count_parts(10**7, 5_000), count_parts(10**10, 10**7)
    (1, 16, 128)
    """
    many = max(entries // max(ENTRIES, PER_COLUMN * columns), entries // MOST_ENTRIES)
    return min(1 << max(many.bit_length() - 1, 0), MOST)


def part_bounds(indptr: np.ndarray, count: int) -> np.ndarray:
    """Return where parts begin and end: part p has the rows from bounds[p] to bounds[p + 1].

    ``indptr`` are the places in the matrix where rows begin, from 0 on. Parts may be empty.

    Examples
    --------
    >>> part_bounds(np.array([0, 1, 2, 3, 4, 100, 104]), 2)
    array([0, 5, 6])
    """
    entries = int(indptr[-1])
    goals = [entries * p // count for p in range(1, count)]
    inner = np.searchsorted(indptr, goals)
    return np.concatenate([[0], inner, [indptr.size - 1]]).astype(np.int64)
