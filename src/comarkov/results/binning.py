"""A large sparse matrix in a new order, reduced to a picture."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

PIXELS = 800  # the most rows or columns of a picture


def binned(
    matrix: sp.csr_array, rows: np.ndarray, columns: np.ndarray, most: int = PIXELS
) -> np.ndarray:
    """The reordered matrix, reduced to pixels that each hold the mean of their cells."""
    sums, areas = [], []
    for order in (rows, columns):
        bins = min(order.size, most)
        bin_of = np.empty(order.size, np.int64)
        bin_of[order] = np.arange(order.size) * bins // order.size
        areas.append(np.bincount(bin_of, minlength=bins))
        sums.append(sp.csr_array((np.ones(order.size), (np.arange(order.size), bin_of))))
    total = (sums[0].T @ matrix.astype(np.float64) @ sums[1]).toarray()
    return np.asarray(total / np.outer(*areas))
