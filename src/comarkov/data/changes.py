"""Sums over the parts of a matrix, in an order that does not depend on who computes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import reduce
from typing import NamedTuple, TypeVar

import numpy as np

from ..kernels.changes import merge_cells, take_back_into

T = TypeVar("T")


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


class TableSum:
    """The sum of changes of whole numbers, which does not depend on their order, in one table.

    It takes less memory and time than adding up one change after another.
    """

    def __init__(self, like: np.ndarray) -> None:
        self._cells = np.zeros(like.shape, like.dtype)
        self._is_changed = np.zeros(len(like), bool)
        self._lock = threading.Lock()

    def take_back(self, copy: np.ndarray, mass: np.ndarray, items: np.ndarray) -> None:
        """Add by how much these items differ in a copy of a table, and make them equal again."""
        with self._lock:
            take_back_into(copy, mass, items, self._cells)
            self._is_changed[items] = True

    def change(self) -> Change:
        """Return the sum."""
        items = np.flatnonzero(self._is_changed).astype(np.uint32)
        return Change(items, self._cells if items.size == len(self._cells) else self._cells[items])


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
