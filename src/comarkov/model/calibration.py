"""How much the entries of an element are worth as evidence for its cluster, without labels.

The posterior of an element's clusters (see ``confidence``) counts its v effective observations as
v^γ independent ones: γ is below 1 if entries come together, as words of a text do. To measure γ,
split the items of the other side at random. An element, taken out of its cluster, then has two
posteriors of the given clusters, each by one half of its entries. The best γ is that at which
halves predict each other,

    γ = argmax  Σ_x ln p_x(a_x) - (ln γ)² / 2

p_x being the posterior by one half, and a_x the cluster in which the other half costs least; both
ways, mean over a few splits. The last term keeps γ near 1 if there are few elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from ..costs.labels import membership
from ..data.joint import Joint, joint
from ..kernels.matrix import observations
from ..search import budgets
from ..search.coclusters import CoClusters
from ..search.run import Run
from ..search.side import Side
from ..search.streams import Purpose
from .placing import Target, costs_in

SAMPLE = 2000  # elements: enough for one number
SPLITS = 4  # if there is time
LIMIT = 4.0  # of |ln γ|
EQUAL = 1e-6  # nats per unit of mass, by which costs differ that are equal but for rounding


class Half(NamedTuple):
    """What half the entries of some elements say."""

    costs: np.ndarray  # of each cluster, in nats per unit of mass
    observations: np.ndarray  # the effective number of them
    placed: np.ndarray  # 1 at the cluster in which the other half costs least; equal ones share it


class Sample(NamedTuple):
    """Some elements of a side, and what their costs depend on."""

    side: Side
    elements: np.ndarray
    entries: sp.csr_array  # elements by items: those items where they have mass
    items: np.ndarray  # of the other side
    cluster: np.ndarray  # of every item of the other side; all 0 if these are not clustered
    coupling: float


def evidence_exponents(state: CoClusters, run: Run) -> list[float | None]:
    """γ of rows and of columns; None for a side that is not clustered."""
    sides = state.rows, state.columns
    return [
        None
        if side is None
        else evidence_exponent(side, other, run.beta, run.seed.stream(Purpose.EVIDENCE, i))
        for i, (side, other) in enumerate(zip(sides, reversed(sides), strict=True))
    ]


def evidence_exponent(
    side: Side, other: Side | None, beta: float, rng: np.random.Generator
) -> float:
    """γ of the elements of a side; 1 if there is nothing to measure."""
    if side.k == 1:
        return 1.0
    sample = _sample(side, other, beta, rng)
    work = sample.entries.nnz * side.k
    n_splits = budgets.times(budgets.EVIDENCE, work, 1, SPLITS)
    halves = [half for _ in range(n_splits) for half in _split(sample, rng)]

    def loss(log: float) -> float:
        return _surprise(halves, np.exp(log)) / len(halves) + log**2 / 2

    best = minimize_scalar(loss, bounds=(-LIMIT, LIMIT), method="bounded")
    return float(np.exp(best.x))


def _surprise(halves: Sequence[Half], gamma: float) -> float:
    """-Σ ln p_x(a_x)."""
    total = 0.0
    for half in halves:
        logs = log_softmax(-half.costs * (half.observations**gamma)[:, None], axis=1)
        total -= float((logs * half.placed).sum())
    return total


def _sample(side: Side, other: Side | None, beta: float, rng: np.random.Generator) -> Sample:
    elements = np.flatnonzero(side.labels >= 0)
    if elements.size > SAMPLE:
        elements = np.sort(rng.choice(elements, SAMPLE, replace=False))
    entries = side.joint.csr[elements]
    items = np.unique(entries.indices)
    if other is None:
        cluster, coupling = np.zeros(side.joint.shape[1], np.int64), 1.0
    else:
        cluster, coupling = other.labels, 2.0 * beta - 1.0
    return Sample(side, elements, entries[:, items], items, cluster, coupling)


def _split(sample: Sample, rng: np.random.Generator) -> Iterator[Half]:
    """Both halves of the entries, of elements that have mass in both."""
    n_items = sample.cluster.size
    first = rng.permutation(n_items) < n_items // 2
    rows = [_restricted(sample, half) for half in (first, ~first)]
    costs = [_costs(sample, *pair) for pair in zip(rows, (first, ~first), strict=True)]
    in_both = (rows[0].row_mass > 0) & (rows[1].row_mass > 0)
    costs = [
        each[in_both] / half.row_mass[in_both, None] for each, half in zip(costs, rows, strict=True)
    ]
    for half, mine, theirs in zip(rows, costs, reversed(costs), strict=True):
        yield Half(mine, observations(half.matrix)[in_both], _least(theirs))


def _least(costs: np.ndarray) -> np.ndarray:
    """1 at the least of each row; equal ones share it."""
    is_least = costs <= costs.min(axis=1, keepdims=True) + EQUAL
    return is_least / is_least.sum(axis=1, keepdims=True)


def _restricted(sample: Sample, half: np.ndarray) -> Joint:
    """The elements with only some of the items."""
    entries = sample.entries.astype(np.float64)
    entries.data[~half[sample.items][entries.indices]] = 0.0
    entries.eliminate_zeros()
    return joint(entries, 1.0)


def _costs(sample: Sample, rows: Joint, half: np.ndarray) -> np.ndarray:
    """What these rows cost in each cluster, as if there were only some of the items."""
    side, cluster = sample.side, sample.cluster
    n_clusters = int(cluster.max()) + 1
    blocks = membership(np.where(half, cluster, -1), n_clusters).T @ side.masses
    blocks = np.vstack([blocks, blocks.sum(axis=0)])
    member = membership(cluster[sample.items], n_clusters)
    target = Target(side.masses[sample.items], member, blocks, sample.coupling)
    return costs_in(target, rows, side.labels[sample.elements], side.joint.matrix.spread)
