"""What a model stores of each side: its clusters, split into leaves, and their masses."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..costs.labels import membership, ranks
from ..search.run import Purpose, Run
from ..search.state.coclusters import CoClusters, Solution
from ..search.state.side import Side, bisect, splits_at_once
from ..search.state.starts import Start

SAME = 1e-9  # clusters that differ by a smaller share of all mass are equally heavy

Orders = list[np.ndarray | None]


def canonical_orders(sides: Sequence[Any], starts: Sequence[Start]) -> Orders:
    """Return the clusters of each side by decreasing mass, equally heavy ones by first element.

    None keeps the numbers that the user gave, and is the order of a side that is not clustered.
    """
    orders: Orders = [None] * len(starts)
    for i, (side, start) in enumerate(zip(sides, starts, strict=True)):
        if side is not None and not start.has_numbers:
            mass = side.cluster_mass()
            _, first = np.unique(side.labels[side.labels >= 0], return_index=True)
            orders[i] = np.lexsort((first, -np.rint(mass / mass.sum() / SAME)))
    return orders


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
    """Repeat the split that gains most; return the labels.

    Of large data, several clusters are split at the same time: also the parts of those whose turn
    is likely to come.
    """
    labels, cross, most = side.labels.astype(np.int64), state.cross(side), count or 0
    known: dict[int, list[tuple[float, list[np.ndarray]]]] = {}  # splits of parts, by cluster

    def cut(clusters: list[np.ndarray]) -> list[tuple[float, list[np.ndarray]]]:
        """Return the loss of each split and its two parts; no parts if there is no split."""
        splits = zip(clusters, bisect(side.joint, clusters, cross, run), strict=True)
        rest = partial(np.setdiff1d, assume_unique=True)
        return [
            (-gain, [leavers, rest(members, leavers)] if leavers.size else [])
            for members, (gain, leavers) in splits
        ]

    heap: list[tuple[float, int, list[np.ndarray]]] = []  # the split that gains most is first
    if side.k < most and not run.stop():
        numbers = range(side.k)[::-1]
        cuts = zip(numbers, cut([np.flatnonzero(labels == a) for a in numbers]), strict=True)
        heap = sorted((loss, a, parts) for a, (loss, parts) in cuts if parts)
    for new in range(side.k, most):
        if run.stop() or not heap:
            break
        if new + 1 < most and heap[0][1] not in known:
            count = max(1, min(most - new, splits_at_once(side.joint)) // 2)
            likely = [split for split in heapq.nsmallest(count, heap) if split[1] not in known]
            halved = cut([part for *_, parts in likely for part in parts])
            known |= {split[1]: halved[2 * i : 2 * i + 2] for i, split in enumerate(likely)}
        _, old, parts = heapq.heappop(heap)
        labels[parts[0]] = new
        for number, (loss, halves) in zip((new, old), known.pop(old, []), strict=False):
            if halves:
                heapq.heappush(heap, (loss, number, halves))
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
