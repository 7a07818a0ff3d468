"""Lumpability: do all states of a cluster move on alike? An exact answer, and a test on counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2, random_table

from .labels import membership
from .objective import nats

MIN_RANDOM_TABLES = 200  # random tables of each cluster, to estimate the distribution of G ...
MAX_RANDOM_TABLES = 2_000  # ... or this many if they are small
RANDOM_TABLE_CELLS = 10_000_000  # of all random tables, if these are more than the minimum
NO_VARIANCE = 1e-20  # a smaller relative variance of G is zero
LIMITING_TRANSITIONS = 1e8  # transitions in a table from which G has its limiting distribution


class Lumpability(NamedTuple):
    """How far a chain is from strongly lumpable: the states of a cluster that differ most.

    A chain is lumpable if all states of a cluster go to each cluster with the same probability.
    Then the clusters are a Markov chain of their own, wherever the chain starts.
    """

    violation: float  #: the largest difference of two such probabilities
    cluster: int  #: the cluster whose states differ
    target: int  #: the cluster that they go to
    states: tuple[int, int]  #: the state that goes there most likely, and that least likely

    def holds(self, tolerance: float = 1e-9) -> bool:
        """Is the chain lumpable, up to rounding?"""
        return self.violation <= tolerance


class GTest(NamedTuple):
    """A G-test: a small p-value means that the next cluster depends on more than the cluster."""

    statistic: float  #: G = 2 Σ n ln(n / expected)
    degrees_of_freedom: int  #: of the tables; the mean of G if nothing were rare
    p_value: float  #: nan if there is nothing to compare
    n_transitions: int  #: that were tested
    expected: float  #: the mean of G if the next cluster depends on the cluster only


def lumpability(P: sp.csr_array, labels: np.ndarray, k: int) -> Lumpability:
    """Return the worst violation, exactly. All states must have a cluster."""
    onto = (P @ membership(labels, k)).toarray()
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


def g_test(counts: sp.csr_array, labels: np.ndarray, k: int, rng: np.random.Generator) -> GTest:
    """Test whether the next cluster depends on the state given its cluster.

    For each cluster, states x next clusters are a contingency table; G is summed over clusters. Its
    mean and variance under the null hypothesis are those of random tables with the same margins, so
    rare states and rare next clusters need no pooling; p comes from the scaled χ² distribution with
    this mean and variance. If G is the same in all such tables there is nothing to compare and p
    is nan. States with label -1 are ignored. The labels must come from other transitions.
    """
    inside = labels >= 0
    onto = np.rint((counts @ membership(labels, k)).toarray()).astype(np.int64)
    tables = []
    for a in range(k):
        table = onto[labels == a]
        table = table[table.any(axis=1)][:, table.any(axis=0)]
        if min(table.shape) > 1:
            tables.append(table)
    n_tables = RANDOM_TABLE_CELLS // max(sum(table.size for table in tables), 1)
    n_tables = int(np.clip(n_tables, MIN_RANDOM_TABLES, MAX_RANDOM_TABLES))
    moments = [_moments(table, n_tables, rng) for table in tables]
    mean, variance = np.sum(moments, axis=0) if moments else (0.0, 0.0)
    total = sum(float(_g(table, table)) for table in tables)
    freedom = sum((table.shape[0] - 1) * (table.shape[1] - 1) for table in tables)
    p_value = np.nan
    if variance > NO_VARIANCE * mean**2:
        p_value = float(chi2.sf(total * 2 * mean / variance, 2 * mean**2 / variance))
    return GTest(max(total, 0.0), freedom, p_value, int(onto[inside].sum()), float(mean))


def _moments(table: np.ndarray, n_tables: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return mean and variance of G in random tables with these margins."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if table.sum() > LIMITING_TRANSITIONS:
        freedom = (rows.size - 1) * (columns.size - 1)
        return float(freedom), 2.0 * freedom
    tables = random_table(rows, columns)
    step = max(1, RANDOM_TABLE_CELLS // (10 * table.size))  # tables at a time, to limit memory
    sizes = (min(step, n_tables - done) for done in range(0, n_tables, step))
    values = np.hstack([_g(tables.rvs(size, random_state=rng), table) for size in sizes])
    return float(values.mean()), float(values.var(ddof=1))


def _g(tables: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return G of tables that all have the margins of ``like``."""
    fixed = sum(nats(like.sum(axis=axis)).sum() for axis in (0, 1)) - nats(like.sum())
    return np.asarray(2 * (nats(tables).sum(axis=(-2, -1)) - fixed))
