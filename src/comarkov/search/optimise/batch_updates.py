"""Batch updates: all rows choose their clusters at once, then all columns, as in ITCC.

With Ψ fixed and β ≥ 1/2 the cost is a constant plus Σ_x p(x) d_x(Φ(x)),

    d_x(a) = λ KL(p(y|x) ‖ p(y|a)) + (1-λ) KL(p(ȳ|x) ‖ p(ȳ|a)),   λ = 2β - 1

with the profiles p(y|a), p(ȳ|a) of the clusters. Moving rows to clusters of smaller d and updating
the profiles never raises the cost. For β < 1/2 this does not hold: there the cost of each move is
computed separately, and as many of the best moves are made as lower the cost together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...costs.objective import Information
from ...joint.joint import Joint
from ...kernels.batch import (
    LACKING,
    Choices,
    Profiles,
    choose,
    fill_masses,
    move_masses,
    write_blocks,
)
from ...kernels.logarithm import TIE
from ...kernels.matrix import table_bits
from ..parallel.mass_tables import padded
from ..run import Purpose, Run
from ..state.coclusters import CoClusterProblem, CoClusters, Solution
from ..state.side import Side
from ..state.starts import Start
from .refine import Labels, best_of

MAX_MOVED_SHARE = 0.3  # of entries up to which moving masses is faster than summing all again


def batch(problem: CoClusterProblem, run: Run, doublings: int = 0) -> Solution[CoClusters]:
    """From each start, update rows and columns in turn; keep the lowest cost.

    Each doubling halves the number of column clusters at the start. When nothing changes any more,
    each of them is split in two at random, and updates continue.
    """
    stages = _stages(problem.starts[1], doublings)

    def start(i: int) -> CoClusters:
        own = run.drawing(Purpose.START, i)
        if run.earlier_labels is not None:  # of a search that did not end
            state = Batch(problem, run.earlier_labels)
            state.refine(own, "start 1")
            return state.result()
        first = problem.starts[0], replace(problem.starts[1], k=stages[0])
        labels = [None if one.k is None else one.draw(own.rng) for one in first]
        state = Batch(problem, labels)
        state.refine(own, f"start {i + 1}")
        for _, count in pairwise(stages):
            assert state.columns is not None
            assert count is not None
            columns = state.columns
            columns.begin(halved(columns.labels, columns.k, count, own.rng), count)
            state.blocks = _blocks(state.rows, columns)
            state.refine(own, f"start {i + 1}, {count} column clusters")
        return state.result()

    _ = problem.joint.T  # computed once, not by each thread
    count = run.n_init if run.earlier_labels is None else 1
    with run.monitor.watch(count):
        return Solution(best_of([start], [count], run, share=1.0)[0])


def _stages(start: Start, doublings: int) -> list[int | None]:
    """Return the numbers of column clusters of all stages; given labels are not split."""
    if start.k is None or start.has_numbers:
        return [start.k]
    return sorted({-(-start.k // 2**i) for i in range(doublings + 1)})


class BatchSide:
    """One side: the labels of its elements, which are the rows of data."""

    def __init__(self, data: Joint, start: Start, labels: Labels) -> None:
        self.data = data
        self.is_free = start.has_mass & ~start.fixed
        self.begin(labels, int(labels.max()) + 1)

    def begin(self, labels: Labels, k: int) -> None:
        """Set labels of k clusters."""
        self.labels = labels
        self.k = k
        self._masses: np.ndarray | None = None

    def move(self, labels: Labels) -> None:
        """Change the labels, not the number of clusters."""
        if self._masses is not None and self._are_few(labels != self.labels):
            move_masses(self.data.matrix, self.labels, labels, self._masses)
        else:
            self._masses = None
        self.labels = labels

    def _are_few(self, moved: np.ndarray) -> bool:
        """Can their masses be moved without rounding, and faster than summing all again?"""
        entries = np.diff(self.data.matrix.indptr)
        return self.data.is_count and bool(entries[moved].sum() < MAX_MOVED_SHARE * entries.sum())

    @property
    def masses(self) -> np.ndarray:
        """A[y, a]: the mass of column y in cluster a, computed when needed."""
        if self._masses is None:
            shape = (self.data.shape[1], self.k)
            self._masses = np.empty(shape, self.data.mass_dtype)
            short = np.uint16 if self.k < 1 << 16 else np.uint32  # faster to read
            fill_masses(self.data.T.matrix, self.labels.astype(short), self._masses)
        return self._masses

    @property
    def mass(self) -> np.ndarray:
        """The mass of each cluster."""
        return _by_label(self.labels, self.k, self.data.row_mass)

    @property
    def size(self) -> np.ndarray:
        """The number of members of each cluster."""
        return _by_label(self.labels, self.k)


class Batch:
    """Both sides and the masses of their blocks; a side that is not clustered is None."""

    def __init__(self, problem: CoClusterProblem, labels: Sequence[Labels | None]) -> None:
        self.problem = problem
        self.joint = data = problem.joint
        self.rows, self.columns = (
            None if given is None else BatchSide(view, start, given)
            for view, start, given in zip((data, data.T), problem.starts, labels, strict=True)
        )
        self.blocks = _blocks(self.rows, self.columns)
        self.n_iter = 0
        self.converged = True

    def result(self) -> CoClusters:
        """Return the co-clustering with everything that a model needs."""
        state = self.problem.with_labels(self.labels())
        state.n_iter, state.converged = self.n_iter, self.converged
        return state

    def labels(self) -> list[Labels | None]:
        """Return the row and column labels; None for a side that is not clustered."""
        return [None if side is None else side.labels for side in (self.rows, self.columns)]

    def cost(self, beta: float) -> float:
        """Return L_β in bits; at β = 1/2 it depends on the blocks only."""
        whole = self.joint.information
        if self.rows is None or self.columns is None:
            side = self.rows or self.columns
            assert side is not None
            part = table_bits(side.masses)
            return Information(whole, whole, part, part).cost(beta)
        columns, rows = (
            0.0 if beta == 0.5 else table_bits(side.masses) for side in (self.columns, self.rows)
        )
        return Information(whole, columns, rows, table_bits(self.blocks)).cost(beta)

    def refine(self, run: Run, stage: str) -> None:
        """Update rows and columns until an update saves no more than tol."""
        cost = self.cost(run.beta)
        for iteration in range(1, run.settings.max_iter + 1):
            self.update(self.rows, self.columns, run.beta)
            self.update(self.columns, self.rows, run.beta)
            before, cost = cost, self.cost(run.beta)
            self.n_iter += 1
            run.monitor.report(stage, run.beta, iteration, cost)
            if run.checkpoint is not None:
                run.checkpoint.keep(self)
            if before - cost <= run.settings.tol or run.stop():
                return
        self.converged = False

    def update(self, side: BatchSide | None, other: BatchSide | None, beta: float) -> None:
        """Move the elements of one side, all at once."""
        if side is None:
            return
        coupling = 1.0 if other is None else 2 * beta - 1
        if coupling < 0:
            assert other is not None
            self._move_some(side, *best_moves(side, other, beta), beta)
            return
        blocks = self.blocks if side is self.rows else self.blocks.T
        wanted = nearest(side, other, blocks, coupling)
        labels = without_empty(side.labels, wanted.label, wanted.gain, side.k)
        side.move(labels)
        if labels is wanted.label:
            self.blocks = wanted.blocks if side is self.rows else wanted.blocks.T
        else:
            self.blocks = _blocks(self.rows, self.columns)

    def _move_some(self, side: BatchSide, wanted: Labels, gain: np.ndarray, beta: float) -> None:
        """Make the best moves: all, or half as many, and so on until the cost falls."""
        home, blocks, before = side.labels, self.blocks, self.cost(beta)
        movers = np.flatnonzero(wanted != home)
        movers = movers[np.argsort(-gain[movers], kind="stable")]
        while movers.size:
            labels = home.copy()
            labels[movers] = wanted[movers]
            side.move(without_empty(home, labels, gain, side.k))
            self.blocks = _blocks(self.rows, self.columns)
            if self.cost(beta) < before:
                return
            movers = movers[: movers.size // 2]
        side.move(home)
        self.blocks = blocks


def _blocks(rows: BatchSide | None, columns: BatchSide | None) -> np.ndarray:
    """Return the masses by (row cluster, column cluster); empty if a side is not clustered."""
    if rows is None or columns is None:
        return np.empty((0, 0))
    blocks = np.empty((rows.k, columns.k))
    write_blocks(rows.labels, columns.masses, blocks)
    return blocks


def nearest(
    side: BatchSide, other: BatchSide | None, blocks: np.ndarray, coupling: float
) -> Choices:
    """Choose for every row the cluster of least d_x(a); the coupling λ must not be negative."""
    n = side.labels.size
    profiles = Profiles(
        _logs(side.mass[None], -LACKING)[0],  # padding is too expensive for any row
        coupling * _logs(side.masses if coupling > 0 else np.empty((0, side.k)), LACKING),
        (1 - coupling) * _logs(blocks.T if coupling < 1 else np.empty((0, side.k)), LACKING),
    )
    choices = Choices(
        np.empty(n, np.int64), np.empty(n), np.empty((side.k, 0 if other is None else other.k))
    )
    cross = np.empty((n, 0)) if other is None else other.masses
    choose(side.data.matrix, side.labels, side.size, side.is_free, cross, profiles, choices)
    return choices


def _logs(masses: np.ndarray, lacking: float) -> np.ndarray:
    """Return ln masses by (item, cluster), with a value for ln 0, padded for the kernels."""
    n, k = masses.shape
    logs = np.full((n, padded(k)), lacking)
    np.log(masses, out=logs[:, :k], where=masses > 0)
    return logs


def best_moves(side: BatchSide, other: BatchSide, beta: float) -> tuple[Labels, np.ndarray]:
    """Choose for every row the cluster of least cost if nothing else moves, and what it saves.

    Ties stay, else go to the lowest number. A row that is alone in its cluster stays.
    """
    tables = Side(side.data, side.labels, side.k, np.flatnonzero(side.is_free))
    cross = other.masses.astype(tables.table.mass.dtype)
    (costs,) = tables.each_row(lambda home, rows, costs: (costs,), cross, beta)
    every = np.arange(side.labels.size)
    best = costs.argmin(axis=1)
    gain = costs[every, side.labels] - costs[every, best]
    moves = side.is_free & (gain > TIE * side.data.row_mass) & (side.size[side.labels] > 1)
    return np.where(moves, best, side.labels), np.where(moves, gain, 0.0)


def without_empty(home: Labels, labels: Labels, gain: np.ndarray, k: int) -> Labels:
    """Keep in a cluster that all would leave the row that gains least by leaving."""
    while True:
        empty = np.flatnonzero(_by_label(labels, k) == 0)
        if empty.size == 0:
            return labels
        labels = labels.copy()
        for a in empty:
            members = np.flatnonzero(home == a)
            labels[members[gain[members].argmin()]] = a


def halved(labels: Labels, k: int, count: int, rng: np.random.Generator) -> Labels:
    """Split clusters into random halves, the largest first, until there are enough."""
    labels = labels.copy()
    while k < count:
        size = _by_label(labels, k)
        for a in np.argsort(-size, kind="stable")[: count - k]:
            if size[a] > 1:
                members = rng.permutation(np.flatnonzero(labels == a))
                labels[members[: size[a] // 2]] = k
                k += 1
    return labels


def _by_label(labels: Labels, k: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Count the elements of each label, or sum their weights; label -1 is ignored."""
    return np.bincount(labels + 1, weights, k + 1)[1:]
