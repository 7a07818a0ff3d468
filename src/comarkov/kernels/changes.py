"""Changes of tables: what the moves of a part have changed, and how changes are added up."""

import numpy as np

from .borrowing import borrow
from .compiling import kernel, step
from .logarithm import xlogx
from .rounding import RESIDUE


@step()
def _copy_item(table, copy, y):
    """Copy the masses of an item and what is derived from them."""
    for a in range(table.mass.shape[1]):
        copy.mass[y, a] = table.mass[y, a]
        copy.log[y, a] = table.log[y, a]
    if table.lookup.shape[0] == 0:
        for a in range(table.mass.shape[1]):
            copy.near[y, a] = table.near[y, a]
        return
    for a in range(table.mass.shape[1]):  # of counts, where near is the mass itself
        copy.unit[y, a] = table.unit[y, a]
        copy.pair[y, a] = table.pair[y, a]


@kernel()
def mark_items(matrix, before, after, marks):
    """Mark the items in which rows have entries whose label has changed."""
    for x in range(before.size):
        if before[x] != after[x]:
            for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
                marks[matrix.indices[p]] = True


@kernel()
def take_back(copy, table, items, cells):
    """Write by how much the masses of these items in a copy differ, and make them equal again."""
    copy, table = borrow(copy), borrow(table)
    for i in range(items.size):
        y = items[i]
        for a in range(cells.shape[1]):
            cells[i, a] = copy.mass[y, a] - table.mass[y, a]
        _copy_item(table, copy, y)


@kernel()
def copy_items(table, copy, items):
    """Make these items of a copy equal to those of the table."""
    table, copy = borrow(table), borrow(copy)
    for i in range(items.size):
        _copy_item(table, copy, items[i])


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
