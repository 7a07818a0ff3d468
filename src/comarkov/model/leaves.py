"""What a model stores of each side: its clusters, split into leaves, and their masses."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..costs.labels import membership, ranks
from ..search.coclusters import CoClusters
from ..search.problem import Solution
from ..search.run import Run
from ..search.side import Side
from ..search.splitting import bisect
from ..search.streams import Purpose
from .numbering import Orders


class Leaves(NamedTuple):
    """One side of a fitted co-clustering: fine clusters, and the cluster of each.

    ``masses[y, a]`` is the mass of leaf a in item y of the other side.
    """

    masses: np.ndarray
    leaf: np.ndarray  # of each element; -1 if it is empty
    number: np.ndarray  # the cluster of each leaf

    @property
    def k(self) -> int:
        """The number of clusters."""
        return int(self.number.max()) + 1

    @property
    def labels(self) -> np.ndarray:
        """The cluster of each element; -1 if it is empty."""
        return np.append(self.number, -1)[self.leaf]

    def cluster_masses(self) -> np.ndarray:
        """Return the masses by (item of the other side, cluster)."""
        return self.masses @ membership(self.number, self.k)

    def without_finer(self) -> Leaves:
        """Return the side with clusters as leaves."""
        return Leaves(self.cluster_masses(), self.labels, np.arange(self.k))


def take_leaves(
    solution: Solution[CoClusters], orders: Orders, counts: Sequence[int | None], run: Run
) -> list[Leaves | None]:
    """Split clusters into leaves while there is time; return what a model needs of both sides.

    If the solution has finer clusters, they are the leaves. Clusters are renumbered in the given
    orders. The tables of the solution are freed.
    """
    state = solution.state
    high = run.at(max(run.beta, 0.5))  # below it, splitting need not gain
    sides = state.rows, state.columns
    fine = solution.fine or [
        None if side is None else _split(state, side, count, high.drawing(Purpose.LEAVES, i))
        for i, (side, count) in enumerate(zip(sides, counts, strict=True))
    ]
    return [
        None if side is None or leaf is None else _kept(side, leaf, order)
        for side, leaf, order in zip(sides, fine, orders, strict=True)
    ]


def _split(state: CoClusters, side: Side, count: int | None, run: Run) -> np.ndarray:
    """Repeat the split that gains most; return the labels."""
    labels = side.labels.astype(np.int64)
    cross = state.cross(side)
    splits: list[tuple[float, int, np.ndarray, np.ndarray]] = []

    def consider(clusters: list[tuple[int, np.ndarray]]) -> None:
        halves = bisect(side.joint, [members for _, members in clusters], cross, run)
        for (a, members), (gain, leavers) in zip(clusters, halves, strict=True):
            if leavers.size:
                heapq.heappush(splits, (-gain, a, members, leavers))

    waiting = [(a, np.flatnonzero(labels == a)) for a in range(side.k)]
    for new in range(side.k, count or 0):
        if not run.stop():
            consider(waiting[::-1])
        if run.stop() or not splits:
            break
        _, a, members, leavers = heapq.heappop(splits)
        labels[leavers] = new
        waiting = [(a, members[labels[members] == a]), (new, leavers)]
    return labels


def _kept(side: Side, leaf: np.ndarray, order: np.ndarray | None) -> Leaves:
    """Renumber leaves so that those of one cluster are adjacent, the heaviest first."""
    has_mass = leaf >= 0
    number = np.empty(leaf.max() + 1, np.int64)
    number[leaf[has_mass]] = side.labels[has_mass]
    if order is not None:
        number = ranks(order)[number]
    fine = side
    if number.size > side.k:
        side.release()
        fine = Side(side.joint, leaf, number.size, side.free)
    by_cluster = np.lexsort((-fine.cluster_mass(), number))
    masses = np.ascontiguousarray(fine.release()[:, by_cluster])
    return Leaves(masses, np.append(ranks(by_cluster), -1)[leaf], number[by_cluster])
