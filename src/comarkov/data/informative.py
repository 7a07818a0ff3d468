"""Which columns tell most about the rows: their contributions to the mutual information."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def most_informative(counts: sp.csr_array, n_columns: int) -> np.ndarray:
    """The columns that contribute most to I(rows; columns), in their order; of equals the first."""
    return np.sort(np.argsort(-contributions(counts), kind="stable")[:n_columns])


def contributions(counts: sp.csr_array) -> np.ndarray:
    """What each column y adds to I(rows; columns): Σ_x p(x,y) log [p(x,y) / p(x) p(y)], in nats."""
    cells = counts.tocoo()
    p = cells.data / cells.data.sum()
    rows = np.bincount(cells.row, weights=p)[cells.row]
    columns = np.bincount(cells.col, weights=p)[cells.col]
    return np.bincount(cells.col, weights=p * np.log(p / rows / columns), minlength=cells.shape[1])
