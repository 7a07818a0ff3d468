"""Batch updates: all rows choose their clusters at once, then all columns, as in ITCC.

With Ψ fixed the cost is a constant plus Σ_x p(x) d_x(Φ(x)),

    d_x(a) = λ KL(p(y|x) ‖ p(y|a)) + (1-λ) KL(p(ȳ|x) ‖ p(ȳ|a)),   λ = 2β - 1

with the profiles p(y|a), p(ȳ|a) of the clusters. Moving rows to clusters of smaller d and updating
the profiles never raises the cost. For β < 1/2 this does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...costs.objective import Information
from ...joint.joint import Joint
from ...joint.messages import InputError
from ...kernels.batch import (
    LACKING,
    Choices,
    Profiles,
    choose,
    fill_masses,
    move_masses,
)
from ...kernels.matrix import table_bits
from ...kernels.network import add_up
from ...kernels.tables import padded
from ..run import Purpose, Run
from ..state.coclusters import CoClusterProblem, CoClusters, Solution
from ..state.starts import Start
from .refine import Labels, best_of

MAX_MOVED_SHARE = 0.3  # of entries up to which moving masses is faster than summing all again


def batch(problem: CoClusterProblem, run: Run, doublings: int = 0) -> Solution[CoClusters]:
    """From each start, update rows and columns in turn; keep the lowest cost.

    Each doubling halves the number of column clusters at the start. When nothing changes any more,
    each of them is split in two at random, and updates continue.
    """
    rows, columns = problem.starts
    if run.beta < 0.5 or rows.k is None or columns.k is None:
        raise InputError(
            "Batch updates need beta >= 0.5 and a number of clusters for rows and for columns",
            advice="Set method='sequential', or for example beta=0.5 and n_clusters=(3, 3).",
        )
    halvings = range(0 if columns.has_numbers else doublings, -1, -1)
    stages = [-(-columns.k // 2**i) for i in halvings]  # given labels are not split

    def start(i: int) -> CoClusters:
        own = run.drawing(Purpose.START, i)
        first = [rows, replace(columns, k=stages[0])]
        earlier = run.earlier_labels  # of a search that did not end
        state = Batch(problem, earlier or [one.draw(own.rng) for one in first])
        state.refine(own, f"start {i + 1}")
        for count in stages[1:] if earlier is None else []:
            if count > state.columns.k:
                old = state.columns
                finer = halved(old.labels, old.k, count, own.rng)
                state.columns = BatchSide(old.data, columns, finer)
                state.sum_blocks()
                state.refine(own, f"start {i + 1}, {count} column clusters")
        best = problem.with_labels(state.labels())
        best.n_iter, best.converged = state.n_iter, state.converged
        return best

    _ = problem.joint.T  # computed once, not by each thread
    count = run.n_init if run.earlier_labels is None else 1
    with run.monitor.watch(count):
        return Solution(best_of(start, count, run))


class BatchSide:
    """One side: the labels of its elements, which are the rows of data."""

    def __init__(self, data: Joint, start: Start, labels: Labels) -> None:
        self.data, self.labels, self.k = data, labels, int(labels.max()) + 1
        self.is_free = start.has_mass & ~start.fixed
        self._masses: np.ndarray | None = None

    def move(self, labels: Labels) -> None:
        """Change the labels, not the number of clusters.

        Masses of a few counts can be moved without rounding, faster than summing all again.
        """
        entries = np.diff(self.data.matrix.indptr)
        are_few = entries[labels != self.labels].sum() < MAX_MOVED_SHARE * entries.sum()
        if self._masses is not None and self.data.is_count and are_few:
            move_masses(self.data.matrix, self.labels, labels, self._masses)
        else:
            self._masses = None
        self.labels = labels

    @property
    def masses(self) -> np.ndarray:
        """A[y, a]: the mass of column y in cluster a, computed when needed."""
        if self._masses is None:
            self._masses = np.empty((self.data.shape[1], self.k), self.data.mass_dtype)
            short = np.uint16 if self.k < 1 << 16 else np.uint32  # faster to read
            fill_masses(self.data.T.matrix, self.labels.astype(short), self._masses)
        return self._masses


class Batch:
    """Both sides and the masses of their blocks, by (row cluster, column cluster)."""

    def __init__(self, problem: CoClusterProblem, labels: Sequence[Labels | None]) -> None:
        self.joint = problem.joint
        self.rows, self.columns = (
            BatchSide(view, start, np.asarray(given))
            for view, start, given in zip(
                (self.joint, self.joint.T), problem.starts, labels, strict=True
            )
        )
        self.sum_blocks()
        self.n_iter, self.converged = 0, True

    def sum_blocks(self) -> None:
        """Sum the masses of blocks."""
        self.blocks = np.zeros((self.rows.k, self.columns.k))
        add_up(self.blocks, self.columns.masses, self.rows.labels)

    def labels(self) -> list[Labels | None]:
        """Return the row and column labels."""
        return [self.rows.labels, self.columns.labels]

    def cost(self, beta: float) -> float:
        """Return L_β in bits; at β = 1/2 it depends on the blocks only."""
        columns, rows = (
            0.0 if beta == 0.5 else table_bits(side.masses) for side in (self.columns, self.rows)
        )
        whole = self.joint.information
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

    def update(self, side: BatchSide, other: BatchSide, beta: float) -> None:
        """Move the elements of one side, all at once."""
        blocks = self.blocks if side is self.rows else self.blocks.T
        wanted = nearest(side, other, blocks, 2 * beta - 1)
        labels = without_empty(side.labels, wanted.label, wanted.gain, side.k)
        side.move(labels)
        if labels is wanted.label:
            self.blocks = wanted.blocks if side is self.rows else wanted.blocks.T
        else:
            self.sum_blocks()


def nearest(side: BatchSide, other: BatchSide, blocks: np.ndarray, coupling: float) -> Choices:
    """Choose for every row the cluster of least d_x(a); the coupling λ must not be negative."""
    n, mass = side.labels.size, _by_label(side.labels, side.k, side.data.row_mass)
    profiles = Profiles(
        _logs(mass[None], -LACKING)[0],  # padding is too expensive for any row
        coupling * _logs(side.masses if coupling > 0 else np.empty((0, side.k)), LACKING),
        (1 - coupling) * _logs(blocks.T if coupling < 1 else np.empty((0, side.k)), LACKING),
    )
    choices = Choices(np.empty(n, np.int64), np.empty(n), np.empty((side.k, other.k)))
    size = _by_label(side.labels, side.k)
    choose(side.data.matrix, side.labels, size, side.is_free, other.masses, profiles, choices)
    return choices


def _logs(masses: np.ndarray, lacking: float) -> np.ndarray:
    """Return ln masses by (item, cluster), with a value for ln 0, padded for the kernels."""
    n, k = masses.shape
    logs = np.full((n, padded(k)), lacking)
    np.log(masses, out=logs[:, :k], where=masses > 0)
    return logs


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
