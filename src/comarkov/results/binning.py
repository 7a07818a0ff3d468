"""A large sparse matrix in a new order, reduced to a picture."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..data.row_ranges import block_sums

PIXELS = 800  # the most rows or columns of a picture


def binned(
    matrix: sp.csr_array, rows: np.ndarray, columns: np.ndarray, most: int = PIXELS
) -> np.ndarray:
    """The reordered matrix, reduced to pixels that each hold the mean of their cells."""
    bins, areas = [], []
    for order in (rows, columns):
        count = min(order.size, most)
        bin_of = np.empty(order.size, np.int64)
        bin_of[order] = np.arange(order.size) * count // order.size
        bins.append(bin_of)
        areas.append(np.bincount(bin_of, minlength=count))
    total = block_sums(matrix, (bins[0], bins[1]), (areas[0].size, areas[1].size))
    return np.asarray(total / np.outer(*areas))
