"""The hierarchy of clusters: finer ones inside each cluster of a fit, and merges down to one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..costs.labels import Counts, membership, ranks
from ..costs.relations import Information
from ..kernels.pairs import add_pair_terms, add_terms_with
from ..search.state.merging import pair_costs
from .leaves import Leaves

SIDES = ("rows", "columns")


class Merge(NamedTuple):
    """A merge of two clusters."""

    side: str  #: "rows" or "columns"
    first: int  #: a node of that side: a leaf, or the number of leaves plus the index of a merge
    second: int  #: another node
    n_clusters: Counts  #: the numbers of row and of column clusters after it
    lost: float  #: the increase of L_β in bits
    cost: float  #: L_β in bits after it


class Level(NamedTuple):
    """A level of the hierarchy."""

    n_clusters: Counts  #: the numbers of row and of column clusters
    cost: float  #: L_β in bits
    kept: float  #: the share I(X̄;Ȳ) / I(X;Y) that the block matrix keeps


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """The merges from fine clusters, the leaves, through those of a fit down to one on each side.

    Leaves are made by splitting the clusters of the fit. Each merge joins the two row clusters or
    the two column clusters that raise L_β least, at first only within clusters of the fit, until
    these are complete. A side that is not clustered has no merges.

    Attributes
    ----------
    merges : list of Merge
        (side, first, second, n_clusters, lost, cost) of each merge.
    levels : list of Level
        (n_clusters, cost, kept) at the leaves and after each merge.
    row_linkage, column_linkage : ndarray of shape (n_leaves - 1, 4) or None
        The merges of one side as SciPy's linkage matrix: two nodes, the total number of bits lost
        so far on both sides, and the number of leaves below. The same height in both trees is the
        same level. Below β = 1/2 a merge may lower the cost; then it has the height of the previous
        merge. None for a side that is not clustered.
    row_merge_costs, column_merge_costs : ndarray of shape (n_clusters, n_clusters) or None
        The increase of L_β in bits when clusters i < j of the fit are merged; infinite elsewhere.
    row_leaves, column_leaves : ndarray of int or None
        The leaf of each row and of each column; -1 for empty ones.
    n_leaves : pair of (int or None)
        The numbers of row and of column leaves.

    Examples
    --------
    >>> from comarkov import CoClustering, datasets
    >>> women = datasets.load("southern-women")
    >>> tree = CoClustering((2, 3), random_state=0).fit(women).hierarchy_
    >>> tree
    Hierarchy(n_leaves=(16, 14), n_fitted=(2, 3))
    >>> last = tree.merges[-1]
    >>> print(f"{last.side}: {last.n_clusters}, {last.lost:.2f} bits lost")
    rows: (1, 1), 0.22 bits lost
    """

    rows: Leaves | None
    columns: Leaves | None
    beta: float
    information: Information  # of the fit

    @property
    def n_leaves(self) -> Counts:
        """The numbers of row and of column leaves."""
        return _counts(side and side.number.size for side in (self.rows, self.columns))

    @property
    def n_fitted(self) -> Counts:
        """The numbers of clusters of the fit."""
        return _counts(side and side.k for side in (self.rows, self.columns))

    @property
    def row_leaves(self) -> np.ndarray | None:
        """The leaf of each row; -1 for empty rows."""
        return None if self.rows is None else self.rows.leaf

    @property
    def column_leaves(self) -> np.ndarray | None:
        """The leaf of each column; -1 for empty columns."""
        return None if self.columns is None else self.columns.leaf

    @cached_property
    def merges(self) -> list[Merge]:
        """All merges."""
        return [
            Merge(SIDES[step.side], *step.nodes, level.n_clusters, step.lost, level.cost)
            for step, level in zip(self._steps, self.levels[1:], strict=True)
        ]

    @cached_property
    def levels(self) -> list[Level]:
        """The levels: the leaves, and the state after each merge."""
        counts = [self.n_leaves]
        for step in self._steps:
            less = [None if c is None else c - (i == step.side) for i, c in enumerate(counts[-1])]
            counts.append((less[0], less[1]))
        fit = counts.index(self.n_fitted)
        lost = _relative_to(fit, [step.lost for step in self._steps])
        forgotten = _relative_to(fit, [step.forgotten for step in self._steps])
        return [self._level(*at) for at in zip(counts, lost, forgotten, strict=True)]

    def _level(self, n_clusters: Counts, lost: float, forgotten: float) -> Level:
        """Return the level with this difference from the fit."""
        blocks = self.information.row_clusters_column_clusters - forgotten
        kept = self.information._replace(row_clusters_column_clusters=max(blocks, 0.0)).kept
        return Level(n_clusters, max(self.information.cost(self.beta) + lost, 0.0), kept)

    @property
    def row_linkage(self) -> np.ndarray | None:
        """The merges of rows as SciPy's linkage matrix."""
        return _linkage(self._steps, 0, self.n_leaves[0])

    @property
    def column_linkage(self) -> np.ndarray | None:
        """The merges of columns as SciPy's linkage matrix."""
        return _linkage(self._steps, 1, self.n_leaves[1])

    def cluster_linkage(self, side: str) -> np.ndarray | None:
        """Return the linkage matrix of "rows" or "columns" from the clusters of the fit on."""
        which = SIDES.index(side)
        return _linkage(self._steps_from_fit, which, self.n_fitted[which])

    @property
    def row_merge_costs(self) -> np.ndarray | None:
        """The costs in bits of merging row clusters i < j of the fit; infinite elsewhere."""
        return self._pair_costs(0)

    @property
    def column_merge_costs(self) -> np.ndarray | None:
        """The costs in bits of merging column clusters i < j of the fit; infinite elsewhere."""
        return self._pair_costs(1)

    def _pair_costs(self, side: int) -> np.ndarray | None:
        merging = _begin(*self._clusters(), 2 * self.beta - 1)[side]
        if merging is None:
            return None
        merging.allow_all()
        return merging.costs / (merging.mass * np.log(2))

    def _clusters(self) -> tuple[Leaves | None, Leaves | None]:
        """Both sides, with the clusters of the fit as leaves."""
        rows, columns = (leaves and leaves.without_finer() for leaves in (self.rows, self.columns))
        return rows, columns

    def checked(self, n_clusters: tuple[Any, Any]) -> Counts:
        """Check numbers of clusters; an error states which ones the trees have."""
        rows, columns = (
            _checked(k, leaves, what)
            for k, leaves, what in zip(n_clusters, self.n_leaves, ("row", "column"), strict=True)
        )
        return rows, columns

    def sides_at(self, n_clusters: Counts) -> tuple[Leaves | None, Leaves | None]:
        """Return both sides with these numbers of clusters.

        Clusters are numbered by decreasing mass; a side that is as in the fit keeps its numbers.
        """
        return self._cut(0, self.rows, n_clusters[0]), self._cut(1, self.columns, n_clusters[1])

    def _cut(self, side: int, leaves: Leaves | None, k: int | None) -> Leaves | None:
        if leaves is None or k is None or k == leaves.k:
            return leaves
        node = np.arange(leaves.number.size)
        merges = [step.nodes for step in self._steps if step.side == side]
        for i, nodes in enumerate(merges[: node.size - k]):
            node[np.isin(node, nodes)] = node.size + i
        number = np.unique(node, return_inverse=True)[1]
        mass = np.bincount(number, weights=leaves.masses.sum(axis=0))
        return leaves._replace(number=ranks(np.argsort(-mass, kind="stable"))[number])

    @cached_property
    def _steps(self) -> list[_Step]:
        inside = list(_merge_all(_begin(self.rows, self.columns, 2 * self.beta - 1)))
        nodes = [
            side and _nodes_from_fit(side, [step.nodes for step in inside if step.side == i])
            for i, side in enumerate((self.rows, self.columns))
        ]
        return inside + [step.renamed(nodes[step.side]) for step in self._steps_from_fit]

    @cached_property
    def _steps_from_fit(self) -> list[_Step]:
        sides = _begin(*self._clusters(), 2 * self.beta - 1)
        for side in sides:
            if side:
                side.allow_all()
        return list(_merge_all(sides))

    def __repr__(self) -> str:
        return f"Hierarchy(n_leaves={self.n_leaves}, n_fitted={self.n_fitted})"


# --- merging ----------------------------------------------------------------------------------


class _Step(NamedTuple):
    side: int
    nodes: tuple[int, int]
    lost: float  # cost, in bits
    forgotten: float  # the decrease of I(X̄;Ȳ), in bits

    def renamed(self, names: Any) -> _Step:
        """Return the step with other node numbers."""
        first, second = sorted(names[node] for node in self.nodes)
        return self._replace(nodes=(first, second))


class _MergingSide:
    """One side while its leaves are merged; merged clusters keep the number of the first.

    Each table holds masses by (item, cluster), N_a, A_ya or M_ba, with its factor in the cost of a
    merge (see ``merge_costs``). Both sides share the array of blocks M. If the other side is not
    clustered, its items are the blocks.
    """

    def __init__(self, leaves: Leaves, blocks: np.ndarray | None, coupling: float) -> None:
        masses = leaves.masses.astype(np.float64)
        self.terms = [(masses.sum(axis=0, keepdims=True), 1.0)]
        if blocks is None:
            self.terms.append((masses, -1.0))
        else:
            self.terms += [(masses, -coupling), (blocks, coupling - 1.0)]
        self.node = np.arange(leaves.number.size)
        self.next_node = leaves.number.size
        self.allow(leaves.number)

    @property
    def mass(self) -> float:
        """The total mass of all clusters."""
        return float(self.terms[0][0].sum())

    def allow(self, group: np.ndarray) -> None:
        """Allow merges inside groups; merged clusters are in group -1."""
        self.group = group.copy()
        self.costs = np.full((group.size, group.size), np.inf)
        for members in (np.flatnonzero(group == g) for g in np.unique(group[group >= 0])):
            terms = [(masses[:, members], factor) for masses, factor in self.terms]
            self.costs[np.ix_(members, members)] = pair_costs(terms)

    def allow_all(self) -> None:
        """Allow all merges."""
        self.allow(np.where(self.group >= 0, 0, -1))

    def cheapest(self) -> tuple[float, int, int]:
        """Return the cheapest merge and its cost; infinite if none is left."""
        i, j = divmod(int(self.costs.argmin()), self.node.size)
        return float(self.costs[i, j]), i, j

    def price(self, i: int, j: int) -> tuple[float, float]:
        """Return the cost of a merge, and the decrease of I(X̄;Ȳ), in nats times mass."""
        each = [pair_costs([(masses[:, [i, j]], 1.0)])[0, 1] for masses, _ in self.terms]
        factors = [factor for _, factor in self.terms]
        return float(np.dot(factors, each)), float(each[0] - each[-1])

    def merge(self, i: int, j: int) -> tuple[int, int]:
        """Merge cluster j into i; return their nodes."""
        for masses, _ in self.terms:
            masses[:, i] += masses[:, j]
            masses[:, j] = 0
        first, second = sorted((int(self.node[i]), int(self.node[j])))
        self.node[i] = self.next_node
        self.next_node += 1
        self.group[j] = -1
        self.costs[j] = self.costs[:, j] = np.inf
        mates = np.flatnonzero(self.group == self.group[i])
        self._renew(i, mates[mates != i])
        return first, second

    def _renew(self, i: int, mates: np.ndarray) -> None:
        """Update the costs of merging cluster i with others of its group."""
        if mates.size == 0:
            return
        costs = np.zeros(self.node.size)
        for masses, factor in self.terms:
            if factor != 0.0:
                add_terms_with(costs, np.ascontiguousarray(masses), i, factor)
        self.costs[np.minimum(i, mates), np.maximum(i, mates)] = costs[mates]

    def add_blocks(self, items: list[int], sign: float) -> None:
        """Add the terms of these clusters of the other side to the costs of merges."""
        blocks, factor = self.terms[-1]
        if factor != 0.0:
            add_pair_terms(self.costs, np.ascontiguousarray(blocks[items]), sign * factor)


def _merge_all(sides: list[_MergingSide | None]) -> Iterator[_Step]:
    """Repeat the cheapest allowed merge."""
    in_bits = float(1 / next(side for side in sides if side).mass / np.log(2))
    while (pair := _cheapest(sides)) is not None:
        which, i, j = pair
        one, other = sides[which], sides[1 - which]
        assert one is not None
        lost, forgotten = one.price(i, j)
        if other:
            other.add_blocks([i, j], -1.0)
        nodes = one.merge(i, j)
        if other:
            other.add_blocks([i], 1.0)
        yield _Step(which, nodes, lost * in_bits, forgotten * in_bits)


def _nodes_from_fit(leaves: Leaves, merges: list[tuple[int, int]]) -> list[int]:
    """Return the nodes above the merges inside clusters: the clusters, and their merges."""
    cluster = leaves.number.tolist()  # of each node
    for first, _ in merges:
        cluster.append(cluster[first])
    tops = {number: node for node, number in enumerate(cluster)}  # the last node of each
    return [tops[a] for a in range(leaves.k)] + [len(cluster) + i for i in range(leaves.k - 1)]


def _linkage(steps: list[_Step], side: int, leaves: int | None) -> np.ndarray | None:
    """Return the steps of one side as SciPy's linkage matrix; None if it is not clustered."""
    if leaves is None:
        return None
    heights = np.maximum.accumulate(np.cumsum([0.0, *(step.lost for step in steps)]))
    sizes = [1] * leaves
    lines = []
    for step, height in zip(steps, heights[1:], strict=True):
        if step.side == side:
            sizes.append(sum(sizes[node] for node in step.nodes))
            lines.append([*step.nodes, height, sizes[-1]])
    return np.array(lines).reshape(-1, 4)


def _begin(
    rows: Leaves | None, columns: Leaves | None, coupling: float
) -> list[_MergingSide | None]:
    if rows is None or columns is None:
        return [side and _MergingSide(side, None, coupling) for side in (rows, columns)]
    blocks = membership(columns.leaf, columns.number.size).T @ rows.masses.astype(np.float64)
    return [_MergingSide(rows, blocks, coupling), _MergingSide(columns, blocks.T, coupling)]


def _cheapest(sides: list[_MergingSide | None]) -> tuple[int, int, int] | None:
    """Return the side and the two clusters of the cheapest merge; ties go to the first."""
    merges = [(*side.cheapest(), which) for which, side in enumerate(sides) if side]
    cost, i, j, which = min(merges, key=lambda merge: merge[0])
    return None if np.isinf(cost) else (which, i, j)


def _checked(k: Any, leaves: int | None, what: str) -> int | None:
    if leaves is None:
        if k is not None:
            raise ValueError(f"The {what}s were not clustered: use None for them, not {k!r}.")
        return None
    if not isinstance(k, Integral) or not 1 <= int(k) <= leaves:
        raise ValueError(
            f"The hierarchy has 1 to {leaves} {what} clusters, not {k!r}: cut it at a number in "
            f"this range, or fit with so many clusters."
        )
    return int(k)


def _relative_to(place: int, changes: list[float]) -> list[float]:
    """Return the cumulative sums of changes, relative to the sum at a given position."""
    sums = np.cumsum([0.0, *changes])
    return (sums - sums[place]).tolist()


def _counts(numbers: Iterator[int | None]) -> Counts:
    rows, columns = numbers
    return rows, columns
