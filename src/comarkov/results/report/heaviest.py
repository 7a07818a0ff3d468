"""The heaviest cells of a matrix that is too large to be copied."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ...data.row_ranges import row_ranges


def heaviest_cells(matrix: sp.csr_array, count: int) -> sp.csr_array:
    """A matrix with about so many of the heaviest cells; equal ones from everywhere alike."""
    least, share = _least_of_heaviest(matrix.data, count)
    rng = np.random.default_rng(0)
    indptr, indices, data = [np.zeros(1, np.int64)], [], []
    for rows in row_ranges(matrix.indptr):
        places = matrix.indptr[rows.start : rows.stop + 1]
        part = slice(places[0], places[-1])
        weights = matrix.data[part]
        chosen = (weights > least) | ((weights == least) & (rng.random(weights.size) < share))
        ends = np.concatenate([[0], np.cumsum(chosen)])
        indptr.append(indptr[-1][-1] + ends[places[1:] - places[0]])
        indices.append(matrix.indices[part][chosen])
        data.append(weights[chosen])
    whole = (np.concatenate(each) for each in (data, indices, indptr))
    return sp.csr_array(tuple(whole), matrix.shape)


def _least_of_heaviest(weights: np.ndarray, count: int) -> tuple[float, float]:
    """The weight of which fewer are larger, and the share of those of that weight to take."""
    parts = [weights[start : start + count] for start in range(0, weights.size, count)]
    best = np.empty(0, weights.dtype)
    for part in parts:
        is_full = best.size == count
        best = np.concatenate([best, part[part > best[0]] if is_full else part])
        if best.size >= count:
            best = np.partition(best, best.size - count)[-count:]  # the least of them comes first
    least = best[0] if best.size == count else best.min()
    above, equal = (sum(int(test(part)) for part in parts) for test in _tests(least))
    return float(least), (count - above) / equal


def _tests(least: float) -> tuple[Callable[[np.ndarray], int], ...]:
    """How many weights are above the least, and how many are equal to it."""
    return lambda part: (part > least).sum(), lambda part: (part == least).sum()
