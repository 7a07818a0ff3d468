"""A test of independence: are the counts of a table like those of random tables?"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..data.units import counts_of

TABLES = 99
LEVEL = 0.05
LARGEST = 1 << 18  # cells of a table that is tested, and so of rows or columns squared


def is_independent(matrix: sp.csr_array, rng: np.random.Generator) -> bool:
    """Test at the level LEVEL whether rows and columns could be independent.

    The correlation is compared with that of random tables whose expected margins are the same.
    Weights that are not counts, and large tables, are never called independent.
    """
    known = counts_of(matrix) if np.prod(matrix.shape) <= LARGEST else None
    if known is None:
        return False
    counts = sp.csr_array((known, matrix.indices, matrix.indptr), matrix.shape).toarray()
    rates = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    observed = _correlation(counts)
    is_binary = bool(counts.max() == 1)
    above = sum(_correlation(_drawn(rates, is_binary, rng)) >= observed for _ in range(TABLES))
    return bool((above + 1) / (TABLES + 1) > LEVEL)


def _drawn(rates: np.ndarray, is_binary: bool, rng: np.random.Generator) -> np.ndarray:
    """Draw independent counts with these means; 0 or 1 if the table is binary."""
    counts = rng.random(rates.shape) < rates if is_binary else rng.poisson(rates)
    return counts.astype(np.float64)


def _correlation(counts: np.ndarray) -> float:
    """Return the largest correlation of a function of the rows with one of the columns.

    It is the second singular value of n_xy / √(n_x n_y). The information would not work: for a
    binary table it depends on little more than the margins.
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0.0
    scale = np.sqrt(np.outer(counts.sum(axis=1), counts.sum(axis=0)))
    scaled = counts / scale
    small = scaled if scaled.shape[0] <= scaled.shape[1] else scaled.T
    return float(np.sqrt(max(np.linalg.eigvalsh(small @ small.T)[-2], 0.0)))
