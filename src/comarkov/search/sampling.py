"""Samples of large data, by which numbers of clusters and β are chosen.

The choice takes several fits of halves and copies, so large data would need many times their memory
and time. Their clusters show in a sample just as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.joint import Joint

MOST = 1 << 24  # entries of a sample


class Sample(NamedTuple):
    """Rows or columns of a matrix with all their entries."""

    data: Joint
    note: str  # about the sample, for people; empty if it is the whole


def sample_of(data: Joint, rng: np.random.Generator) -> Sample:
    """Return a matrix, or if it is large, a sample of its rows; of its columns if these are more.

    Columns without entries in the sample are left out.
    """
    if data.nnz <= MOST:
        return Sample(data, "")
    is_tall = data.shape[0] >= data.shape[1]
    facing = data if is_tall else data.T
    elements = drawn(facing.shape[0], data.nnz, rng)
    part = facing.subset(elements).with_threads(data.threads)
    what = "rows" if is_tall else "columns"
    note = f"Chosen by a random sample of {elements.size:,} of {facing.shape[0]:,} {what}."
    return Sample(part if is_tall else part.T, note)


def drawn(elements: int, entries: int, rng: np.random.Generator) -> np.ndarray:
    """Draw as many of the elements as have about MOST of all entries, in ascending order."""
    size = max(1, int(elements * MOST / entries))
    return np.sort(rng.choice(elements, size, replace=False))
