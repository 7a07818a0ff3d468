"""What is special about each row and column: its total, and where it has most more than chance.

Of matrix entries N(x, y) with the sum N, the lift of an entry is N(x, y) N / (N(x) N(y)). The first
entries of a profile are those with the largest N(x, y) log2 lift.

The page computes profiles from its cells (``profile.js``). Where it has not all of them, it gets
these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.labels import ranks
from ...data.row_ranges import row_ranges
from .payload import varints

FIRST = 3  # entries of a profile; also in profile.js
DIGITS = 100  # a lift is packed as a whole number of hundredths


def pack_profiles(
    matrix: sp.csr_array,
    rows: np.ndarray,
    columns: np.ndarray,
    turned: sp.csr_array | None = None,
) -> dict[str, bytes]:
    """Profiles of all rows and of all columns, in these orders; ``turned`` is the transpose."""
    turned = sp.csr_array(matrix.T) if turned is None else turned
    totals = [_row_sums(each) for each in (matrix, turned)]
    sides = {
        "row": _profiles(matrix, (rows, columns), (totals[0], totals[1])),
        "column": _profiles(turned, (columns, rows), (totals[1], totals[0])),
    }
    return {f"{side} {name}": part for side, parts in sides.items() for name, part in parts.items()}


def _row_sums(matrix: sp.csr_array) -> np.ndarray:
    sums = np.zeros(matrix.shape[0])
    for rows in row_ranges(matrix.indptr):
        sums[rows] = np.asarray(matrix[rows].sum(axis=1, dtype=np.float64)).ravel()
    return sums


def _profiles(
    matrix: sp.csr_array,
    orders: tuple[np.ndarray, np.ndarray],
    totals: tuple[np.ndarray, np.ndarray],
) -> dict[str, bytes]:
    """The totals, the numbers of entries, and the first entries of each row, in an order."""
    order, place = orders[0], ranks(orders[1])
    counts = np.diff(matrix.indptr)[order]
    numbers, entries = [], []
    for part in row_ranges(np.concatenate([[0], np.cumsum(counts)])):
        first = _first_entries(matrix[order[part]], totals[0][order[part]], totals[1])
        numbers.append(first.numbers)
        columns = np.column_stack([place[first.columns], np.round(DIGITS * first.lifts)])
        entries.append(varints(columns.ravel()))
    return {
        "totals": totals[0][order].astype("<f8").tobytes(),
        "counts of entries": varints(counts),
        "numbers of first entries": varints(np.concatenate(numbers)),
        "first entries": b"".join(entries),
    }


class _First(NamedTuple):
    """The first entries of profiles: how many each has, their columns and lifts."""

    numbers: np.ndarray
    columns: np.ndarray
    lifts: np.ndarray


def _first_entries(matrix: sp.csr_array, totals: np.ndarray, others: np.ndarray) -> _First:
    """The entries of each row with the most bits, given the totals of rows and columns."""
    counts = np.diff(matrix.indptr)
    row = np.repeat(np.arange(counts.size), counts)
    lift = matrix.data / totals[row] / others[matrix.indices] * others.sum()
    order = np.lexsort((-matrix.data * np.log2(lift), row))
    is_first = np.arange(order.size) - np.repeat(matrix.indptr[:-1], counts) < FIRST
    chosen = order[is_first & (lift[order] > 1)]
    numbers = np.bincount(row[chosen], minlength=counts.size)
    return _First(numbers, matrix.indices[chosen], lift[chosen])
