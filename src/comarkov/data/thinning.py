"""Counts shared out to two parts, as if less had been observed, twice."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .units import Extent, count_unit


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
