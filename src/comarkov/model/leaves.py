"""What a model keeps of each side: its clusters, split into leaves, and their masses."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..costs.labels import membership, ranks
from ..search.merging import bisect
from ..search.optimise import CoClusters, Seed
from ..search.side import Side

SWEEPS = 3  # that split a cluster: more gain little
STREAM = 2  # the second number of the random streams for leaves


class Leaves(NamedTuple):
    """One side of a co-clustering as a model keeps it: fine clusters, and the cluster of each.

    ``masses[y, a]`` is the mass of leaf a in item y of the other side.
    """

    masses: np.ndarray
    leaf: np.ndarray  # of each element; -1 without mass
    number: np.ndarray  # the cluster of each leaf

    @property
    def k(self) -> int:
        """The number of clusters."""
        return int(self.number.max()) + 1

    @property
    def labels(self) -> np.ndarray:
        """The cluster of each element; -1 without mass."""
        return np.append(self.number, -1)[self.leaf]

    def cluster_masses(self) -> np.ndarray:
        """The masses by (item of the other side, cluster)."""
        return self.masses @ membership(self.number, self.k)

    def without_finer(self) -> Leaves:
        """The same clusters, each its only leaf."""
        return Leaves(self.cluster_masses(), self.labels, np.arange(self.k))


def take_leaves(
    clusters: CoClusters, orders: list[np.ndarray | None], counts: list[int | None], beta: float,
    seed: Seed, stop: Callable[[], bool],
) -> list[Leaves | None]:  # fmt: skip
    """Split clusters until there are so many, as long as there is time; keep what a model needs.

    Finer clusters that are known are taken as they are. Clusters are renumbered in the given
    orders. The tables of the clusters are given up.
    """
    high = max(beta, 0.5)  # below it, splitting need not gain
    sides = list(zip(clusters.pairs(), counts, orders, strict=True))
    fine = [
        known
        if side is None or known is not None
        else _split(side, cross, high, count, seed.stream(i, STREAM), stop)
        for i, ((side, cross), count, _), known in zip((0, 1), sides, clusters.fine, strict=True)
    ]
    return [
        None if side is None or leaf is None else _kept(side, leaf, order)
        for ((side, _), _, order), leaf in zip(sides, fine, strict=True)
    ]


def _split(
    side: Side, cross: np.ndarray | None, beta: float, count: int | None, rng: np.random.Generator,
    stop: Callable[[], bool],
) -> np.ndarray:  # fmt: skip
    """Labels after splitting, again and again, the cluster whose split gains most."""
    labels = side.labels.astype(np.int64)
    found: list[tuple[float, int, np.ndarray, np.ndarray]] = []

    def consider(a: int, members: np.ndarray) -> None:
        gain, leavers = bisect(side.joint, members, cross, beta, rng, SWEEPS)
        if leavers.size:
            heapq.heappush(found, (-gain, a, members, leavers))

    waiting = [(a, np.flatnonzero(labels == a)) for a in range(side.k)]
    for new in range(side.k, count or 0):
        while waiting and not stop():
            consider(*waiting.pop())
        if waiting or not found:
            break
        _, a, members, leavers = heapq.heappop(found)
        labels[leavers] = new
        waiting = [(a, members[labels[members] == a]), (new, leavers)]
    return labels


def _kept(side: Side, leaf: np.ndarray, order: np.ndarray | None) -> Leaves:
    """Leaves of one cluster side by side, the heaviest first."""
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
