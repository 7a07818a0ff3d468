"""Are clusters of states a Markov chain of their own? Exactly, and by a test on counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy
from scipy.stats import chi2

EXPECTED = 5.0  # counts that a cell should be expected to have


class Lumpability(NamedTuple):
    """How far a chain is from being strongly lumpable: where two states of a cluster differ most.

    A chain is lumpable if all states of a cluster go to each cluster with the same probability.
    """

    violation: float  #: the largest difference of two such probabilities
    cluster: int  #: the cluster whose states differ
    target: int  #: the cluster that they go to
    states: tuple[int, int]  #: the state that goes there most likely, and that least likely

    def holds(self, tolerance: float = 1e-9) -> bool:
        """Is the chain lumpable, up to rounding?"""
        return self.violation <= tolerance


class GTest(NamedTuple):
    """Does the next cluster depend on more than the cluster? A G-test; small p-values say so."""

    statistic: float  #: G = 2 Σ n ln(n / expected)
    degrees_of_freedom: int
    p_value: float  #: 1 if there is nothing to compare
    n_transitions: int  #: that were tested


def lumpability(P: sp.csr_array, labels: np.ndarray, k: int) -> Lumpability:
    """The worst violation in a chain whose states all have a cluster; exact."""
    onto = P @ _members(labels, k)
    worst = Lumpability(0.0, 0, 0, (0, 0))
    for a in range(k):
        members = np.flatnonzero(labels == a)
        spread = onto[members].max(axis=0) - onto[members].min(axis=0)
        b = int(spread.argmax())
        if spread[b] > worst.violation:
            column = onto[members, b]
            states = int(members[column.argmax()]), int(members[column.argmin()])
            worst = Lumpability(float(spread[b]), a, b, states)
    return worst


def g_test(counts: sp.csr_array, labels: np.ndarray, k: int) -> GTest:
    """Test whether the next cluster depends on the state given its cluster.

    For each cluster, states x next clusters are a contingency table; G and degrees of freedom are
    summed over clusters. Next clusters and states with small expected counts are pooled. States
    with label -1 do not take part. Labels must come from other transitions than these.
    """
    inside = labels >= 0
    onto = counts[:, inside] @ _members(labels[inside], k)
    total, freedom = 0.0, 0
    for a in range(k):
        table = _pooled(onto[labels == a])
        both = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
        some = table > 0
        total += 2 * float(xlogy(table[some], table[some] / both[some]).sum())
        freedom += (table.shape[0] - 1) * (table.shape[1] - 1)
    p_value = float(chi2.sf(total, freedom)) if freedom else 1.0
    return GTest(max(total, 0.0), freedom, p_value, int(onto[inside].sum()))


def _pooled(table: np.ndarray) -> np.ndarray:
    """States x next clusters, the rare of both as one, so that cells expect enough counts."""
    table = table[table.sum(axis=1) > 0]
    if not table.size:
        return np.zeros((1, 1))
    table = _pool_rows(table.T, EXPECTED * table.shape[0]).T
    share = table.sum(axis=0).min() / table.sum()
    return _pool_rows(table, EXPECTED / share)


def _pool_rows(table: np.ndarray, least: float) -> np.ndarray:
    """All rows with smaller sums as one; if that is still too small, with the next larger."""
    order = np.argsort(table.sum(axis=1), kind="stable")
    sums = table.sum(axis=1)[order]
    n_rare = int((sums < least).sum())
    if n_rare and sums[:n_rare].sum() < least:
        n_rare += 1
    n_rare = min(n_rare, order.size)
    if n_rare < 2:
        return table
    rare = table[order[:n_rare]].sum(axis=0, keepdims=True)
    return np.vstack([table[order[n_rare:]], rare])


def _members(labels: np.ndarray, k: int) -> np.ndarray:
    """States x clusters, 1 where a state is a member."""
    return (labels[:, None] == np.arange(k)).astype(np.float64)
