"""What a model stores of the data, in clusters and finer leaves, and where new elements go."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.labels import membership, ranks
from ..costs.objective import Approximation, Information
from ..joint.joint import Joint
from ..joint.messages import InputError
from ..joint.scale import spread_of
from ..kernels.insertion import new_workspace
from ..kernels.matrix import row_parts, table_bits
from ..kernels.sweep import insertion_costs
from ..kernels.tables import float_table
from ..search.run import Purpose, Run
from ..search.state.coclusters import CoClusters, Solution
from ..search.state.side import Side, bisect, splits_at_once
from ..search.state.starts import Start

SAME = 1e-9  # clusters that differ by a smaller share of all mass are equally heavy
MASS_ROUNDING = 1e-9  # the largest rounding error of masses in leaves, as a share of an item's mass


def canonical_orders(sides: Sequence[Any], starts: Sequence[Start]) -> list[np.ndarray | None]:
    """Return the clusters of each side by decreasing mass, equally heavy ones by first element.

    None keeps the numbers that the user gave, and is the order of a side that is not clustered.
    """
    orders: list[np.ndarray | None] = [None] * len(starts)
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
    solution: Solution[CoClusters],
    orders: list[np.ndarray | None],
    counts: Sequence[int | None],
    run: Run,
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
    """Repeat the split that gains most; of large data, also split what is likely to come next."""
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
    mass = np.bincount(leaf[has_mass], weights=side.joint.row_mass[has_mass])
    by_cluster = np.lexsort((-mass, number))
    renumbered = np.append(ranks(by_cluster), -1)[leaf]
    masses = side.release()
    if number.size == side.k:
        masses = masses[:, by_cluster]
    else:
        masses = Side(side.joint, renumbered, number.size, side.free).release()
    return Leaves(np.ascontiguousarray(masses), renumbered, number[by_cluster])


# --- inserting new rows and columns -------------------------------------------------------------


class Target(NamedTuple):
    """Clusters into which rows can be inserted, and the clusters of the columns."""

    masses: np.ndarray  # by (column, cluster)
    member: sp.csr_array  # columns x column clusters; no clusters if columns are not clustered
    blocks: np.ndarray  # masses by (cluster of the columns, cluster); by cluster in the last row
    coupling: float


def costs_in(target: Target, new: Joint, home: np.ndarray, spread: float) -> np.ndarray:
    """Return the cost of inserting each row into each cluster, in nats times mass.

    Rows are first removed from their clusters ``home`` (-1: in none). ``spread`` bounds |ln v| + 1
    over all weights and their sums.
    """
    table = float_table(target.masses)
    blocks = float_table(target.blocks)
    csr = new.csr
    out = np.empty((new.shape[0], target.masses.shape[1]))
    for part, rows in row_parts(new.matrix._replace(spread=spread)):
        cross = np.ascontiguousarray((csr[part] @ target.member).toarray(), np.float64)
        space = new_workspace(blocks)
        insertion_costs(out[part], home[part], rows, table, blocks, cross, target.coupling, space)
    return out


@dataclass(frozen=True)
class Model:
    """Everything needed to insert new rows and columns, without the training matrix."""

    rows: Leaves | None
    columns: Leaves | None
    coupling: float
    scale: float
    spread: float
    row_names: np.ndarray | None
    column_names: np.ndarray | None

    def information(self, whole: float) -> Information:
        """Return the four informations in bits; ``whole`` is I(X;Y)."""
        first, second = (side and side.cluster_masses() for side in (self.rows, self.columns))
        rows = whole if first is None else table_bits(first)
        columns = whole if second is None else table_bits(second)
        if first is None or self.columns is None:
            return Information(whole, columns, rows, min(rows, columns))
        blocks = _members(self.columns, first.shape[0]).T @ first
        return Information(whole, columns, rows, table_bits(blocks))

    def approximation(self) -> Approximation:
        """Return the distribution that the clusters keep; both sides must be clustered."""
        rows, columns = self.rows, self.columns
        if rows is None or columns is None:
            raise InputError(
                "Only clusters of rows and of columns have an approximation",
                advice="Cluster both sides, for example with n_clusters=(3, 3).",
            )
        masses = rows.cluster_masses()
        blocks = (_members(columns, masses.shape[0]).T @ masses).T
        p_x, p_y = (side.masses.sum(axis=1) / blocks.sum() for side in (columns, rows))
        return Approximation(blocks / blocks.sum(), p_x, p_y, rows.labels, columns.labels)

    def has_masses_of(self, data: Joint) -> bool:
        """Do the leaves have the stored masses in this matrix, up to rounding?"""
        for side, csr in ((self.rows, data.csr), (self.columns, data.csr.T)):
            if side and csr.shape != (side.leaf.size, side.masses.shape[0]):
                return False
            if side:
                masses = (membership(side.leaf, side.number.size).T @ csr).toarray().T
                most = MASS_ROUNDING * side.masses.sum(axis=1, keepdims=True)
                if (np.abs(masses - side.masses) > most).any():
                    return False
        return True

    @property
    def total(self) -> float:
        """The sum of all masses."""
        side = self.rows or self.columns
        return 0.0 if side is None else float(side.masses.sum())

    def row_costs(self, new: Joint) -> np.ndarray:
        """Return the cost of inserting each new row into each row cluster, in nats times mass."""
        return self._costs(self.rows, self.columns, new, "row")

    def column_costs(self, new: Joint) -> np.ndarray:
        """Return the cost of inserting each new column, a row of ``new``, into each cluster."""
        return self._costs(self.columns, self.rows, new, "column")

    def _costs(
        self, side: Leaves | None, other: Leaves | None, new: Joint, what: str
    ) -> np.ndarray:
        if side is None:
            raise ValueError(f"The {what}s were not clustered: n_clusters is None for them.")
        n, m = new.shape
        if m != side.masses.shape[0]:
            items = "columns" if what == "row" else "rows"
            raise ValueError(
                f"A new {what} must have the {side.masses.shape[0]} {items} of the fit, not {m}."
            )
        masses = side.cluster_masses()
        member = _members(other, m)
        coupling = 1.0 if other is None else self.coupling
        blocks = np.vstack([member.T @ masses, masses.sum(axis=0)])
        spread = max(self.spread, spread_of(new.matrix.weights, new.total))
        target = Target(masses, member, blocks, coupling)
        return costs_in(target, new, np.full(n, -1, np.int32), spread)


def relation_model(data: Joint, labels: Sequence[np.ndarray], coupling: float) -> Model:
    """Return the model of a relation whose rows and columns have these labels.

    At coupling 0 costs depend only on the masses of blocks, so that clusters stand for their
    elements: ``onto`` brings new elements there.
    """
    members = [onto(side, 0.0) for side in labels]
    csr = data.csr
    if coupling == 0.0:
        csr = members[0].T @ csr @ members[1]
        labels = [np.arange(member.shape[1]) for member in members]
        members = [onto(side, 0.0) for side in labels]
    rows, columns = (
        Leaves((masses @ member).toarray(), side, np.arange(member.shape[1]))
        for masses, member, side in zip((csr.T, csr), members, labels, strict=True)
    )
    return Model(rows, columns, coupling, data.scale, data.matrix.spread, None, None)


def onto(labels: np.ndarray, coupling: float) -> sp.csr_array:
    """Return the matrix that brings weights with these elements to what a relation's model has.

    These are clusters if the coupling is 0, else elements. Elements in no cluster are left out.
    """
    if coupling == 0.0:
        return membership(labels, int(labels.max()) + 1)
    return sp.csr_array(sp.diags_array((labels >= 0).astype(np.float64)))


def _members(side: Leaves | None, n: int) -> sp.csr_array:
    """Return the n elements of a side by its clusters; no clusters if it is not clustered."""
    return sp.csr_array((n, 0)) if side is None else membership(side.labels, side.k)
