"""Do the counts of a table differ from independent ones? A test by tables drawn at random."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..data.joint import holds_counts

TABLES = 99
LEVEL = 0.05
LARGEST = 1 << 18  # cells of a table that is drawn, and so of rows or columns squared


def is_independent(matrix: sp.csr_array, rng: np.random.Generator) -> bool:
    """Could rows and columns be independent, at the level LEVEL?

    Tables with the same margins in expectation are drawn, and their correlations are compared.
    Weights other than counts, and tables too large to draw, are never called independent.
    """
    if not holds_counts(matrix) or np.prod(matrix.shape) > LARGEST:
        return False
    counts = matrix.toarray().astype(np.float64)
    rates = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    observed = _correlation(counts)
    is_binary = bool(counts.max() == 1)
    above = sum(_correlation(_drawn(rates, is_binary, rng)) >= observed for _ in range(TABLES))
    return bool((above + 1) / (TABLES + 1) > LEVEL)


def _drawn(rates: np.ndarray, is_binary: bool, rng: np.random.Generator) -> np.ndarray:
    """Independent counts with these means; 0 or 1 if the table has no others."""
    counts = rng.random(rates.shape) < rates if is_binary else rng.poisson(rates)
    return counts.astype(np.float64)


def _correlation(counts: np.ndarray) -> float:
    """The largest correlation of a function of the rows with one of the columns.

    The second singular value of n_xy / √(n_x n_y). The information would not do: that of a table
    of zeros and ones depends on little more than its margins.
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0.0
    scale = np.sqrt(np.outer(counts.sum(axis=1), counts.sum(axis=0)))
    scaled = counts / scale
    small = scaled if scaled.shape[0] <= scaled.shape[1] else scaled.T
    return float(np.sqrt(max(np.linalg.eigvalsh(small @ small.T)[-2], 0.0)))
