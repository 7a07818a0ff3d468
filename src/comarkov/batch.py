"""Batch updates: all rows choose their clusters at once, then all columns, as ITCC does it.

With Ψ fixed and β ≥ 1/2 the cost is a constant plus Σ_x p(x) d_x(Φ(x)),

    d_x(a) = λ KL(p(y|x) ‖ p(y|a)) + (1-λ) KL(p(ȳ|x) ‖ p(ȳ|a)),   λ = 2β - 1

with the profiles p(y|a), p(ȳ|a) of the clusters. Rows that move to a cluster of smaller d, and
profiles renewed after that, never raise it. For β < 1/2 there is no such promise: there rows are
costed one at a time, and as many of those that save most move as lower the cost together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .joint import Joint, bits
from .kernels import TIE
from .matrix import add_by_cluster, add_products, add_sparse_products, sum_by_cluster
from .objective import Information
from .optimise import CoClusters, Labels, Seed, Settings, Start, best_of, from_labels
from .progress import Monitor
from .tables import Side


def batch(
    data: Joint, starts: tuple[Start, Start], beta: float, settings: Settings,
    seed: Seed, n_init: int, monitor: Monitor, n_jobs: int = 1, doublings: int = 0,
) -> CoClusters:  # fmt: skip
    """From each start, update rows and columns in turn; keep the lowest cost.

    With doublings, a start has fewer column clusters, half as many for each. When nothing
    changes any more each of them is split in two at random, and updates go on.
    """
    stages = _stages(starts[1], doublings)

    def run(i: int) -> CoClusters:
        rng = seed.stream(i)
        first = starts[0], _with_count(starts[1], stages[0])
        rows, columns = (None if start.k is None else start.draw(rng) for start in first)
        state = _Batch(data, starts, rows, columns)
        state.refine(beta, settings, monitor, f"start {i + 1}")
        for _, count in pairwise(stages):
            state.split_columns(count, rng)
            state.refine(beta, settings, monitor, f"start {i + 1}, {count} column clusters")
        return state.result()

    _ = data.T  # made here once, not by each thread
    with monitor.watch(n_init):
        return best_of([run], [n_init], beta, monitor, n_jobs, share=1.0)[0]


def _stages(start: Start, doublings: int) -> list[int | None]:
    """The numbers of column clusters on the way; labels that are given leave nothing to split."""
    if start.k is None or start.has_numbers:
        return [start.k]
    return sorted({-(-start.k // 2**i) for i in range(doublings + 1)})


def _with_count(start: Start, k: int | None) -> Start:
    return Start(k, start.has_mass, start.labels, start.fixed)


@dataclass
class _Half:
    """One side: labels of its elements (the rows of data), and the masses A[y, a]."""

    data: Joint
    labels: Labels
    k: int
    free: np.ndarray
    masses: np.ndarray

    def move(self, labels: Labels, k: int | None = None) -> None:
        """Take other labels, and the masses that go with them."""
        self.k = k or self.k
        self.labels = labels
        self.masses = np.zeros((self.data.shape[1], self.k))
        add_by_cluster(self.data.T.matrix, labels, self.masses)

    def by_cluster(self, masses: np.ndarray) -> np.ndarray:
        """Masses by element, summed over the elements of each cluster."""
        blocks = np.zeros((self.k, masses.shape[1]))
        sum_by_cluster(masses, self.labels, blocks)
        return blocks


class _Batch:
    """Both sides; one that is not clustered is None."""

    def __init__(
        self, data: Joint, starts: tuple[Start, Start], rows: Labels | None, columns: Labels | None
    ) -> None:
        self.data = data
        self.starts = starts
        self.rows = _half(data, starts[0], rows)
        self.columns = _half(data.T, starts[1], columns)
        self.n_iter = 0
        self.converged = True

    def result(self) -> CoClusters:
        """The same with all that a model needs."""
        labels = [None if side is None else side.labels for side in (self.rows, self.columns)]
        state = from_labels(self.data, self.starts, labels[0], labels[1])
        state.n_iter, state.converged = self.n_iter, self.converged
        return state

    def cost(self, beta: float) -> float:
        """L_β in bits; at β = 1/2 the blocks say it all."""
        whole = self.data.information
        sides = [side for side in (self.rows, self.columns) if side is not None]
        parts = [0.0 if beta == 0.5 and len(sides) == 2 else _bits(side.masses) for side in sides]
        if self.rows is None or self.columns is None:
            return Information(whole, whole, parts[0], parts[0]).cost(beta)
        blocks = _bits(self.rows.by_cluster(self.columns.masses))
        return Information(whole, parts[1], parts[0], blocks).cost(beta)

    def refine(self, beta: float, settings: Settings, monitor: Monitor, stage: str) -> None:
        """Update rows and columns until that saves no more than tol."""
        cost = self.cost(beta)
        for iteration in range(1, settings.max_iter + 1):
            self.update(self.rows, self.columns, beta)
            self.update(self.columns, self.rows, beta)
            before, cost = cost, self.cost(beta)
            self.n_iter += 1
            monitor.report(stage, beta, iteration, cost)
            if before - cost <= settings.tol or monitor.stop():
                return
        self.converged = False

    def update(self, side: _Half | None, other: _Half | None, beta: float) -> None:
        """Move the elements of one side, all at once."""
        if side is None:
            return
        cross = None if other is None else other.masses
        coupling = 1.0 if cross is None else 2 * beta - 1
        costs = (profile_costs if coupling >= 0 else _insertion_costs)(side, cross, coupling)
        labels, gain = choices(side, costs)
        if (labels == side.labels).all():
            return
        if coupling >= 0:
            side.move(without_empty(side.labels, labels, gain, side.k))
        else:
            self._move_some(side, labels, gain, beta)

    def _move_some(self, side: _Half, wanted: Labels, gain: np.ndarray, beta: float) -> None:
        """Move those that save most: all, or half as many, and so on until the cost falls."""
        home, before = side.labels, self.cost(beta)
        movers = np.flatnonzero(wanted != home)
        movers = movers[np.argsort(-gain[movers], kind="stable")]
        while movers.size:
            labels = home.copy()
            labels[movers] = wanted[movers]
            side.move(without_empty(home, labels, gain, side.k))
            if self.cost(beta) < before:
                return
            movers = movers[: movers.size // 2]
        side.move(home)

    def split_columns(self, count: int | None, rng: np.random.Generator) -> None:
        """Split column clusters in two until there are so many."""
        assert self.columns is not None
        assert count is not None
        self.columns.move(halved(self.columns.labels, self.columns.k, count, rng), count)


def _half(data: Joint, start: Start, labels: Labels | None) -> _Half | None:
    if labels is None:
        return None
    half = _Half(data, labels, 0, start.has_mass & ~start.fixed, np.empty((0, 0)))
    half.move(labels, int(labels.max()) + 1)
    return half


def profile_costs(side: _Half, cross: np.ndarray | None, coupling: float) -> np.ndarray:
    """n_x d_x(a) for every row and cluster, but for what does not depend on the cluster.

    Infinite where a cluster has no mass in one of the row's columns (λ > 0) or column clusters.
    """
    mass = side.data.row_mass
    costs = np.multiply.outer(mass, np.log(side.masses.sum(axis=0)))
    with np.errstate(divide="ignore"):
        if coupling > 0:
            add_sparse_products(side.data.matrix, np.log(side.masses), -coupling, costs)
        if cross is not None and coupling < 1:
            logs = np.ascontiguousarray(np.log(side.by_cluster(cross)).T)
            add_products(cross, logs, coupling - 1, costs)
    return costs


def _insertion_costs(side: _Half, cross: np.ndarray | None, coupling: float) -> np.ndarray:
    """What each row costs in each cluster, taken out of its own, all else as it is."""
    tables = Side(side.data, side.labels, side.k, np.flatnonzero(side.free))
    if cross is not None:
        cross = cross.astype(tables.table.mass.dtype)
    parts = tables.insertion_costs(cross, (coupling + 1) / 2)
    return np.concatenate([costs for _, _, costs in parts])


def choices(side: _Half, costs: np.ndarray) -> tuple[Labels, np.ndarray]:
    """The cluster of least cost for each row that may move, and what moving there saves it.

    Ties stay, else go to the lowest number. Who is alone in its cluster stays.
    """
    mass = side.data.row_mass
    size = np.bincount(side.labels[side.labels >= 0], minlength=side.k)
    every = np.arange(mass.size)
    best = costs.argmin(axis=1)
    gain = costs[every, side.labels] - costs[every, best]
    moves = side.free & (gain > TIE * mass) & (size[side.labels] > 1)
    return np.where(moves, best, side.labels), np.where(moves, gain, 0.0)


def without_empty(home: Labels, labels: Labels, gain: np.ndarray, k: int) -> Labels:
    """The same, but of a cluster that all would leave the one stays that gains least by leaving."""
    labels = labels.copy()
    while True:
        empty = np.flatnonzero(np.bincount(labels[labels >= 0], minlength=k) == 0)
        if empty.size == 0:
            return labels
        for a in empty:
            members = np.flatnonzero(home == a)
            labels[members[gain[members].argmin()]] = a


def halved(labels: Labels, k: int, count: int, rng: np.random.Generator) -> Labels:
    """Split clusters into random halves, each once, the largest first, until there are so many."""
    labels = labels.copy()
    while k < count:
        size = np.bincount(labels[labels >= 0], minlength=k)
        for a in np.argsort(-size, kind="stable")[: count - k]:
            if size[a] > 1:
                members = rng.permutation(np.flatnonzero(labels == a))
                labels[members[: size[a] // 2]] = k
                k += 1
    return labels


def _bits(masses: np.ndarray) -> float:
    return bits(masses, masses.sum(axis=1), masses.sum(axis=0))
