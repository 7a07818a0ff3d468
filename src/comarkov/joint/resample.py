"""Counts shared out to two parts, as if less had been observed, twice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .joint import Joint
from .scale import Extent, count_unit


def halves(csr: sp.csr_array, rng: np.random.Generator) -> tuple[sp.csr_array, sp.csr_array]:
    """Each count is shared out by fair coins, so that the halves sum to it.

    Weights that are not counts are first made counts w Σw / Σw², whose sum is the effective number
    of observations (Σw)² / Σw², and rounded up or down at random, so that the mean is kept.
    """
    unit = count_unit(csr, Extent.of(csr.data))
    if unit == 0:
        return shared_out(csr, _as_counts(csr.data, rng), 0.5, rng)
    first, second = shared_out(csr, csr.data / unit, 0.5, rng)
    return (first, second) if unit == 1 else (first * unit, second * unit)


def shared_out(
    csr: sp.csr_array, counts: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[sp.csr_array, sp.csr_array]:
    """Binomial thinning: each of the counts at the entries goes to the first part by this share.

    If counts are Poisson, the parts are independent.
    """
    counts = counts.astype(np.int64)
    first = rng.binomial(counts, share)
    return _with_data(csr, first), _with_data(csr, counts - first)


def _as_counts(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Whole numbers whose mean are the weights in units of Σw² / Σw."""
    share = weights / weights.max()
    scaled = np.asarray(share * (share.sum() / (share**2).sum()), np.float64)
    return np.floor(scaled + rng.random(weights.size)).astype(np.int64)


def _with_data(csr: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    part = sp.csr_array((data, csr.indices, csr.indptr), csr.shape, copy=True)
    part.eliminate_zeros()
    return part


SAMPLE_ENTRIES = 1 << 24  # entries of a sample


class JointSample(NamedTuple):
    """Rows or columns of a matrix with all their entries."""

    data: Joint
    note: str  # about the sample, for people; empty if it is the whole


def sample_of(data: Joint, rng: np.random.Generator, squeeze: bool = True) -> JointSample:
    """Return a matrix, or if it is large, a sample of its rows; of its columns if these are more.

    Columns without entries in the sample are left out, if it is to be squeezed.
    """
    if data.nnz <= SAMPLE_ENTRIES:
        return JointSample(data, "")
    is_tall = data.shape[0] >= data.shape[1]
    facing = data if is_tall else data.T
    elements = drawn(facing.shape[0], data.nnz, rng)
    part = facing.subset(elements, squeeze=squeeze).with_threads(data.threads)
    what = "rows" if is_tall else "columns"
    note = f"Chosen by a random sample of {elements.size:,} of {facing.shape[0]:,} {what}."
    return JointSample(part if is_tall else part.T, note)


def drawn(elements: int, entries: int, rng: np.random.Generator) -> np.ndarray:
    """Draw elements with about SAMPLE_ENTRIES of all entries, in ascending order."""
    size = max(1, int(elements * SAMPLE_ENTRIES / entries))
    return np.sort(rng.choice(elements, size, replace=False))
