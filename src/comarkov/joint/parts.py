"""The parts of a matrix: ranges of rows with about as many entries each.

The number of parts depends on the matrix alone. Sweeps move the rows of different parts at the same
time, so their result depends on the parts, but not on who computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

ENTRIES = 1 << 19  # the least number in a part
PER_COLUMN = 8  # entries in a part for each column: each part needs a copy of the table of columns
MOST_ENTRIES = 1 << 26  # in a part, whatever the number of columns
MAX_PARTS = 256  # parts


def count_parts(entries: int, columns: int) -> int:
    """Return the number of parts of a matrix, a power of two; 1 if it is small."""
    many = max(entries // max(ENTRIES, PER_COLUMN * columns), entries // MOST_ENTRIES)
    return min(1 << max(many.bit_length() - 1, 0), MAX_PARTS)


def part_bounds(indptr: np.ndarray, count: int) -> np.ndarray:
    """Return where parts begin and end: part p has the rows from bounds[p] to bounds[p + 1].

    ``indptr`` are the places in the matrix where rows begin, from 0 on. Parts may be empty.
    """
    entries = int(indptr[-1])
    goals = [entries * p // count for p in range(1, count)]
    inner = np.searchsorted(indptr, goals)
    return np.concatenate([[0], inner, [indptr.size - 1]]).astype(np.int64)


RANGE_ENTRIES = 1 << 21  # in a range


def row_ranges(indptr: np.ndarray, entries: int | None = None) -> Iterator[slice]:
    """Yield ranges of rows with at most so many entries, or one row."""
    start, n = 0, indptr.size - 1
    most = RANGE_ENTRIES if entries is None else entries
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


T = TypeVar("T")


class Change(NamedTuple):
    """By how much the rows of a table change: only those of the given items, in ascending order."""

    items: np.ndarray  # uint32
    cells: np.ndarray  # (items, clusters), of the type of the masses

    def plus(self, other: Change) -> Change:
        """Return the sum of two changes."""
        if self.items.size == 0 or other.items.size == 0:
            return other if self.items.size == 0 else self
        if np.array_equal(self.items, other.items):
            return Change(self.items, self.cells + other.cells)
        is_changed = np.zeros(max(self.items[-1], other.items[-1]) + 1, bool)
        is_changed[self.items] = is_changed[other.items] = True
        place = np.cumsum(is_changed) - 1
        cells = np.zeros((place[-1] + 1, self.cells.shape[1]), self.cells.dtype)
        cells[place[self.items]] = self.cells
        cells[place[other.items]] += other.cells
        return Change(np.flatnonzero(is_changed).astype(np.uint32), cells)


def total(values: Iterable[T], plus: Callable[[T, T], T]) -> T:
    """Add values in pairs, then the sums in pairs, and so on.

    The sums of floating-point numbers depend on the order. Workers in a tree can keep to this one,
    and a single worker needs memory for only a few values.
    """
    return total_of_ranges(((range(i, i + 1), value) for i, value in enumerate(values)), plus)


def total_of_ranges(sums: Iterable[tuple[range, T]], plus: Callable[[T, T], T]) -> T:
    """Add the sums of aligned ranges, one after another, as ``total`` adds all their values."""
    stack: list[tuple[range, T]] = []
    for some, value in sums:
        while stack and _are_halves(stack[-1][0], some):
            before, other = stack.pop()
            some, value = range(before.start, some.stop), plus(other, value)
        stack.append((some, value))
    _, last = stack.pop()
    while stack:
        last = plus(stack.pop()[1], last)
    return last


def _are_halves(one: range, other: range) -> bool:
    """Are these the two halves of an aligned range?"""
    return len(one) == len(other) and one.start % (2 * len(one)) == 0


def aligned_ranges(numbers: range) -> list[range]:
    """Cut a range into the largest whose size is a power of two and divides their start."""
    ranges, start = [], numbers.start
    while start < numbers.stop:
        size = 1 << ((numbers.stop - start).bit_length() - 1)
        while start % size:
            size //= 2
        ranges.append(range(start, start + size))
        start += size
    return ranges
