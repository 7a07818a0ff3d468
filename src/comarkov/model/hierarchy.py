"""The hierarchy of clusters: finer ones inside each cluster of a fit, and merges down to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.labels import SIDES, Counts, membership
from ..costs.objective import Information, expected_shares
from ..joint.joint import joint
from ..search.optimise.agglomeration import MergeStep, cut_tree, linkage, merge_all, merging_sides
from .leaves import Leaves

START_AXES = 6  # of correspondence analysis, to start from
RANDOM_ORDERS = 6  # further starts
ORDERING_TURNS = 40  # at most, from each start
TINY = float(np.finfo(float).tiny)  # instead of a mass of 0, to divide by


class Merge(NamedTuple):
    """A merge of two clusters."""

    side: str  #: "rows" or "columns"
    first: int  #: a node of that side: a leaf, or the number of leaves plus the index of a merge
    second: int  #: another node
    n_clusters: Counts  #: how many row and column clusters are left
    lost: float  #: the increase of L_β in bits
    cost: float  #: L_β in bits after it


class Level(NamedTuple):
    """A level of the hierarchy."""

    n_clusters: Counts  #: how many row and column clusters there are
    cost: float  #: L_β in bits
    kept: float  #: the share I(X̄;Ȳ) / I(X;Y) that the block matrix keeps


class Orders(NamedTuple):
    """The leaves of each side as they are drawn; its elements, where a side is not clustered."""

    rows: np.ndarray
    columns: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """The merges from fine clusters, the leaves, through those of a fit down to one on each side.

    Leaves are made by splitting the clusters of the fit. Each merge joins the two row clusters or
    the two column clusters that raise L_β least, at first only within clusters of the fit, until
    these are complete. A side that is not clustered has no merges.

    ``row_linkage`` and ``column_linkage`` are SciPy's linkage matrices, None for a side that is not
    clustered. Heights are the bits lost so far on both sides, so that the same height in both trees
    is the same level; below β = 1/2 a merge may lower the cost, and has the height of the previous.

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
        """How many leaves the rows and the columns have."""
        return self.rows and self.rows.number.size, self.columns and self.columns.number.size

    @property
    def n_fitted(self) -> Counts:
        """How many row and column clusters the fit has."""
        return self.rows and self.rows.k, self.columns and self.columns.k

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
        fit, of_fit = counts.index(self.n_fitted), self.information
        lost, forgotten = np.cumsum(
            [(0.0, 0.0), *((step.lost, step.forgotten) for step in self._steps)], axis=0
        ).T.tolist()
        levels = []
        for i, n_clusters in enumerate(counts):
            cost = of_fit.cost(self.beta) + (lost[i] - lost[fit])
            blocks = of_fit.row_clusters_column_clusters - (forgotten[i] - forgotten[fit])
            kept = of_fit._replace(row_clusters_column_clusters=max(blocks, 0.0)).kept
            levels.append(Level(n_clusters, max(cost, 0.0), kept))
        return levels

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

    @cached_property
    def leaf_orders(self) -> Orders:
        """The leaves of each side as they are drawn; elements of a side that is not clustered."""
        linkages = self.row_linkage, self.column_linkage
        merges = (None if each is None else each[:, :2].astype(np.int64) for each in linkages)
        return best_orders(block_shares(self.rows, self.columns), *merges)

    def checked(self, n_clusters: tuple[Any, Any]) -> Counts:
        """Check how many clusters are wanted; an error states how many the trees have."""
        for k, leaves, what in zip(n_clusters, self.n_leaves, ("row", "column"), strict=True):
            if leaves is None and k is not None:
                raise ValueError(f"The {what}s were not clustered: use None for them, not {k!r}.")
            if leaves and not (isinstance(k, Integral) and 1 <= int(k) <= leaves):
                raise ValueError(
                    f"The hierarchy has 1 to {leaves} {what} clusters, not {k!r}: cut it at a "
                    "number in this range, or fit with so many clusters."
                )
        return n_clusters

    def sides_at(self, n_clusters: Counts) -> tuple[Leaves | None, Leaves | None]:
        """Return both sides at a level; clusters of the fit keep their numbers."""

        def cut(side: int, leaves: Leaves | None, k: int | None) -> Leaves | None:
            if leaves is None or k is None or k == leaves.k:
                return leaves
            nodes = np.array([step.nodes for step in self._steps if step.side == side])
            return leaves._replace(number=cut_tree(nodes, leaves.masses.sum(axis=0), k))

        return cut(0, self.rows, n_clusters[0]), cut(1, self.columns, n_clusters[1])

    @cached_property
    def _steps(self) -> list[MergeStep]:
        """All merges: first inside the clusters of the fit, then of these."""
        sides = self.rows, self.columns
        inside = self._merges(sides, [side and side.number for side in sides])
        nodes: list[Any] = [
            side and _nodes_from_fit(side, [step.nodes for step in inside if step.side == i])
            for i, side in enumerate(sides)
        ]
        return inside + [
            step._replace(nodes=tuple(sorted(nodes[step.side][node] for node in step.nodes)))
            for step in self._steps_from_fit
        ]

    @cached_property
    def _steps_from_fit(self) -> list[MergeStep]:
        sides = tuple(leaves and leaves.without_finer() for leaves in (self.rows, self.columns))
        return self._merges(sides, [side and np.zeros(side.k, np.int64) for side in sides])

    def _merges(
        self, sides: Sequence[Leaves | None], groups: Sequence[np.ndarray | None]
    ) -> list[MergeStep]:
        """Merge the leaves of both sides inside groups, the cheapest first."""
        views = [side and joint(sp.csr_array(side.masses.T), 1.0) for side in sides]
        rows, columns = sides
        blocks = None
        if rows is not None and columns is not None:
            member = membership(columns.leaf, columns.number.size)
            blocks = (member.T @ rows.masses.astype(np.float64)).T.copy()
        first, second = (group if group is None else int(group.max()) + 1 for group in groups)
        return list(merge_all(merging_sides(views, (first, second), blocks, self.beta, groups)))

    def __repr__(self) -> str:
        return f"Hierarchy(n_leaves={self.n_leaves}, n_fitted={self.n_fitted})"


def _nodes_from_fit(leaves: Leaves, merges: list[tuple[int, int]]) -> list[int]:
    """Return the nodes above the merges inside clusters: the clusters, and their merges."""
    cluster = leaves.number.tolist()  # of each node
    for first, _ in merges:
        cluster.append(cluster[first])
    tops = {number: node for node, number in enumerate(cluster)}  # the last node of each
    return [tops[a] for a in range(leaves.k)] + [len(cluster) + i for i in range(leaves.k - 1)]


def _linkage(steps: list[MergeStep], side: int, leaves: int | None) -> np.ndarray | None:
    """Return the steps of one side as SciPy's linkage matrix; None if it is not clustered."""
    if leaves is None:
        return None
    heights = np.maximum.accumulate(np.cumsum([0.0, *(step.lost for step in steps)]))[1:]
    own = [i for i, step in enumerate(steps) if step.side == side]
    nodes = np.array([steps[i].nodes for i in own], np.int64).reshape(-1, 2)
    return linkage(nodes, heights[own], leaves)


# --- the order in which clusters are drawn, and numbered for people -----------------------------


def block_shares(rows: Leaves | None, columns: Leaves | None) -> np.ndarray:
    """P(a, b) of the leaves; elements stand for leaves on a side that is not clustered."""
    if rows is None:
        assert columns is not None
        blocks = columns.masses
    elif columns is None:
        blocks = rows.masses.T
    else:
        blocks = (membership(columns.leaf, columns.number.size).T @ rows.masses).T
    return np.asarray(blocks / blocks.sum(dtype=np.float64), np.float64)


def best_orders(
    blocks: np.ndarray, row_merges: np.ndarray | None, column_merges: np.ndarray | None
) -> Orders:
    """The orders of rows and columns in which the mass of blocks is nearest to the diagonal.

    Each line of the merges has the two nodes that are merged, as in SciPy's linkage; None allows
    any order. From each start, rows are arranged by the places of columns and columns by those of
    rows, until nothing changes.
    """
    row_mass, column_mass = blocks.sum(axis=1), blocks.sum(axis=0)
    best, highest = Orders(np.arange(row_mass.size), np.arange(column_mass.size)), -np.inf
    random = np.random.default_rng(0).random((RANDOM_ORDERS, column_mass.size))
    for y in (*_correspondence_axes(blocks), *random):  # places of columns
        before = best
        for _ in range(ORDERING_TURNS):
            rows = _order_by(blocks @ y, row_mass, row_merges)
            x = _places(row_mass, rows)
            columns = _order_by(x @ blocks, column_mass, column_merges)
            y = _places(column_mass, columns)
            if np.array_equal(rows, before.rows) and np.array_equal(columns, before.columns):
                break
            before = Orders(rows, columns)
        correlation = alignment(blocks, x, y)
        if correlation > highest + 1e-9:
            best, highest = Orders(rows, columns), correlation
    half = row_mass.size // 2  # the reverse is equally good: begin with more mass
    drawn = row_mass[best.rows]
    if drawn[:half].sum() >= drawn[drawn.size - half :].sum():
        return best
    return Orders(best.rows[::-1], best.columns[::-1])


def alignment(blocks: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """The correlation of the places x of rows and y of columns, under the mass of blocks."""
    row_mass, column_mass = blocks.sum(axis=1), blocks.sum(axis=0)
    x, y = x - row_mass @ x, y - column_mass @ y
    spread = np.sqrt((row_mass @ x**2) * (column_mass @ y**2))
    return float(x @ blocks @ y / spread) if spread > 0 else 0.0


def _places(mass: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The middle of each leaf, from 0 to 1, if each takes as much room as it has mass."""
    places = np.empty(order.size)
    places[order] = np.cumsum(mass[order]) - mass[order] / 2
    return places


def _order_by(sums: np.ndarray, mass: np.ndarray, merges: np.ndarray | None) -> np.ndarray:
    """The order by ``sums / mass``, at every node of the tree if there is one."""
    mass = np.maximum(mass, TINY)
    if merges is None:
        return np.argsort(sums / mass, kind="stable")
    nodes = [(np.array([a]), sums[a], mass[a]) for a in range(mass.size)]
    for first, second in merges:
        one, other = nodes[first], nodes[second]
        if one[1] * other[2] > other[1] * one[2]:
            one, other = other, one
        leaves = np.concatenate([one[0], other[0]])
        nodes.append((leaves, one[1] + other[1], one[2] + other[2]))
    return nodes[-1][0]


def _correspondence_axes(blocks: np.ndarray) -> np.ndarray:
    """The first axes of a correspondence analysis of the blocks, as scores of columns."""
    expected = expected_shares(blocks)
    residual = (blocks - expected) / np.sqrt(np.maximum(expected, TINY))
    is_wide = blocks.shape[0] <= blocks.shape[1]
    _, vectors = np.linalg.eigh(residual @ residual.T if is_wide else residual.T @ residual)
    vectors = vectors[:, ::-1][:, :START_AXES]
    axes = (residual.T @ vectors if is_wide else vectors).T
    return np.asarray(axes / np.sqrt(np.maximum(blocks.sum(axis=0), TINY)))
