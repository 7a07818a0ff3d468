"""Sums over the parts of a matrix, in an order that does not depend on who computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import NamedTuple, TypeVar

import numpy as np

from ..kernels.changes import merge_cells

T = TypeVar("T")
AT_A_TIME = 1 << 16  # items


class Change(NamedTuple):
    """By how much the rows of a table change: only those of the given items, in ascending order."""

    items: np.ndarray  # uint32
    cells: np.ndarray  # (items, clusters), of the type of the masses

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return self.items.nbytes + self.cells.nbytes

    def plus(self, other: Change) -> Change:
        """Return the sum of two changes."""
        if self.items.size == 0 or other.items.size == 0:
            return other if self.items.size == 0 else self
        if np.array_equal(self.items, other.items):
            return Change(self.items, self.cells + other.cells)
        most = self.items.size + other.items.size
        items = np.empty(most, self.items.dtype)
        cells = np.empty((most, self.cells.shape[1]), self.cells.dtype)
        size = merge_cells(*self, *other, items, cells)
        return Change(items[:size], cells[:size])


def table_total(changes: Iterable[Change], like: np.ndarray) -> Change:
    """Add up changes of whole numbers in a table like this one: it takes less memory than sums."""
    cells, is_changed = np.zeros(like.shape, like.dtype), np.zeros(len(like), bool)
    for change in changes:
        for start in range(0, change.items.size, AT_A_TIME):
            part = slice(start, start + AT_A_TIME)
            cells[change.items[part]] += change.cells[part]
        is_changed[change.items] = True
        del change  # it is not held while the next one is made
    items = np.flatnonzero(is_changed).astype(np.uint32)
    return Change(items, cells if items.size == len(like) else cells[items])


def total(values: Iterable[T], plus: Callable[[T, T], T], is_exact: bool = False) -> T:
    """Add values in pairs, then the sums in pairs, and so on.

    The sums of floating-point numbers depend on the order. Workers in a tree can keep to this one,
    and a single worker needs memory for only a few values. ``is_exact`` sums, of whole numbers, do
    not depend on it: they are added up one by one, in memory for two.

    Examples
    --------
    >>> total("abcde", lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    if is_exact:
        return reduce(plus, values)
    sums: list[tuple[int, T]] = []  # of 2**level values, by decreasing level
    for value in values:
        level = 0
        while sums and sums[-1][0] == level:
            value, level = plus(sums.pop()[1], value), level + 1
        sums.append((level, value))
    _, last = sums.pop()
    while sums:
        last = plus(sums.pop()[1], last)
    return last
