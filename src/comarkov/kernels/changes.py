"""Changes of tables: what the moves of a part have changed, and how changes are added up."""

import numpy as np

from .compiling import kernel
from .logarithm import xlogx
from .rounding import RESIDUE


@kernel()
def mark_items(matrix, before, after, marks):
    """Mark the items in which rows have entries whose label has changed."""
    for x in range(before.size):
        if before[x] != after[x]:
            for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
                marks[matrix.indices[p]] = True


@kernel()
def take_back(copy, mass, items, cells):
    """Write by how much the masses of these items differ in a copy, and make them equal again."""
    for i in range(items.size):
        y = items[i]
        for a in range(cells.shape[1]):
            cells[i, a] = copy[y, a] - mass[y, a]
            copy[y, a] = mass[y, a]


@kernel()
def take_back_into(copy, mass, items, cells):
    """The same, added to the cells of a whole table."""
    for i in range(items.size):
        y = items[i]
        for a in range(cells.shape[1]):
            cells[y, a] += copy[y, a] - mass[y, a]
            copy[y, a] = mass[y, a]


@kernel()
def copy_items(mass, copy, items):
    """Make the masses of these items in a copy equal to the given ones."""
    for i in range(items.size):
        y = items[i]
        for a in range(mass.shape[1]):
            copy[y, a] = mass[y, a]


@kernel()
def add_cells(mass, items, cells):
    """Add a change to masses; what is left by rounding becomes 0."""
    for i in range(items.size):
        y = items[i]
        for a in range(cells.shape[1]):
            before = mass[y, a]
            after = before + cells[i, a]
            mass[y, a] = after if after > RESIDUE * before else before - before


@kernel()
def entropy_change(mass, items, cells):
    """Return the change of Σ f(A_ya), f(v) = v ln v, if these cells were added to the masses."""
    total = 0.0
    for i in range(items.size):
        y = items[i]
        for a in range(cells.shape[1]):
            if cells[i, a] != 0:
                before = np.float64(mass[y, a])
                total += xlogx(max(before + cells[i, a], 0.0)) - xlogx(before)
    return total


@kernel()
def merge_cells(items, cells, other_items, other_cells, out_items, out_cells):
    """Add two changes, whose items are sorted; return the number of items of the sum."""
    i = j = n = 0
    while i < items.size or j < other_items.size:
        first = j == other_items.size or (i < items.size and items[i] <= other_items[j])
        second = i == items.size or (j < other_items.size and other_items[j] <= items[i])
        out_items[n] = items[i] if first else other_items[j]
        for a in range(cells.shape[1]):
            value = cells[i, a] if first else cells.dtype.type(0)
            if second:
                value += other_cells[j, a]
            out_cells[n, a] = value
        i += first
        j += second
        n += 1
    return n
