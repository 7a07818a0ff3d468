"""The lift of blocks, and what each of them adds to the information, in bits.

For P(x̄, ȳ) by (row cluster, column cluster), or by (cluster, element),

    lift(x̄, ȳ) = P(x̄, ȳ) / (P(x̄) P(ȳ))
    I(X̄;Ȳ) = Σ P(x̄, ȳ) log2 lift(x̄, ȳ)
"""

from __future__ import annotations

import numpy as np


def expected_shares(blocks: np.ndarray) -> np.ndarray:
    """P(x̄) P(ȳ): the mass that each block has by chance."""
    return np.outer(blocks.sum(axis=1), blocks.sum(axis=0))


def lift(blocks: np.ndarray) -> np.ndarray:
    """How many times more mass each block has than by chance; 1 where nothing is expected."""
    expected = expected_shares(blocks)
    return np.divide(blocks, expected, out=np.ones(blocks.shape), where=expected > 0)


def octaves(lifts: np.ndarray) -> np.ndarray:
    """log2 of lifts, and 0 of 0: nothing that has mass has a lift of 0."""
    return np.log2(lifts, out=np.zeros(lifts.shape), where=lifts > 0)


def bits(blocks: np.ndarray) -> np.ndarray:
    """P(x̄, ȳ) log2 lift(x̄, ȳ): what each block adds to the information."""
    return np.asarray(blocks * octaves(lift(blocks)))


def cluster_lift(mass: np.ndarray, other_mass: np.ndarray) -> np.ndarray:
    """The lift of each element y for one cluster, given P(x̄, y) and P(y); 0 where it has none."""
    out = np.zeros(mass.size)
    return np.divide(mass / mass.sum(), other_mass, out=out, where=mass > 0)


def mutual_information(blocks: np.ndarray) -> float:
    """I(X̄;Ȳ) in bits.

    Examples
    --------
    >>> mutual_information(np.array([[0.5, 0.0], [0.0, 0.5]]))
    1.0
    """
    return max(float(bits(blocks).sum()), 0.0)
