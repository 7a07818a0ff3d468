"""What is special about each row and column: its total, and where it has most more than chance.

Of matrix entries N(x, y) with the sum N, the lift of an entry is N(x, y) N / (N(x) N(y)). The first
entries of a profile are those with the largest N(x, y) log2 lift.

The page computes profiles from its cells (``profile.js``). Where it has not all of them, it gets
these.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .payload import varints

FIRST = 3  # entries of a profile; also in profile.js
DIGITS = 100  # a lift is packed as a whole number of hundredths


def pack_profiles(matrix: sp.csr_array, rows: np.ndarray, columns: np.ndarray) -> dict[str, bytes]:
    """Profiles of all rows and of all columns, in these orders."""
    ordered = sp.csr_array(matrix[rows][:, columns], dtype=np.float64)
    sides = {"row": ordered, "column": sp.csr_array(ordered.T)}
    return {
        f"{side} {name}": part
        for side, each in sides.items()
        for name, part in _profiles(each).items()
    }


def _profiles(matrix: sp.csr_array) -> dict[str, bytes]:
    """The totals, the numbers of entries, and the first entries of each row of a matrix."""
    totals, others = (np.asarray(matrix.sum(axis=axis)).ravel() for axis in (1, 0))
    counts = np.diff(matrix.indptr)
    row = np.repeat(np.arange(counts.size), counts)
    lift = matrix.data / totals[row] / others[matrix.indices] * totals.sum()
    order = np.lexsort((-matrix.data * np.log2(lift), row))
    is_first = np.arange(order.size) - np.repeat(matrix.indptr[:-1], counts) < FIRST
    chosen = order[is_first & (lift[order] > 1)]
    numbers = np.bincount(row[chosen], minlength=counts.size)
    entries = np.column_stack([matrix.indices[chosen], np.round(DIGITS * lift[chosen])])
    return {
        "totals": totals.astype("<f8").tobytes(),
        "counts of entries": varints(counts),
        "numbers of first entries": varints(numbers),
        "first entries": varints(entries.ravel()),
    }
