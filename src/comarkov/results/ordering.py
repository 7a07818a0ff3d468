"""The order in which clusters are drawn: strong blocks along the diagonal, every merge contiguous.

Each side's leaves are drawn in an order of its tree: the clusters of every level are contiguous, so
that another level moves no element. A tree leaves open which of two children comes first. With the
masses P(a, b) of leaf blocks, and the places x_a and y_b of leaves from 0 to 1, where each leaf
takes as much room as it has mass, we choose what maximises the correlation of x and y under P:

    given y, the child with the smaller mean of y, Σ P(a, b) y_b / P(a), comes first

which is the best choice at every node of the row tree; then the same for columns, in turns. A side
that is not clustered is sorted by these means. We start from the axes of correspondence analysis
and from random orders, and keep the best result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..costs.labels import membership
from ..model.hierarchy import Hierarchy
from ..model.leaves import Leaves

AXES = 6  # of correspondence analysis, to start from
RANDOM = 6  # further starts
TURNS = 40  # at most, from each start


class Orders(NamedTuple):
    """The leaves of each side as they are drawn; its elements, where a side is not clustered."""

    rows: np.ndarray
    columns: np.ndarray


def drawing_orders(tree: Hierarchy) -> Orders:
    """The orders of both sides of a hierarchy."""
    linkages = tree.row_linkage, tree.column_linkage
    merges = [None if each is None else each[:, :2].astype(np.int64) for each in linkages]
    return best_orders(block_shares(tree.rows, tree.columns), merges[0], merges[1])


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
    any order.
    """
    rows = _Side(blocks.sum(axis=1), row_merges)
    columns = _Side(blocks.sum(axis=0), column_merges)
    best, highest = Orders(rows.numbers, columns.numbers), -np.inf
    for start in _starts(blocks):
        orders = _alternate(blocks, rows, columns, start)
        correlation = alignment(blocks, rows.places(orders.rows), columns.places(orders.columns))
        if correlation > highest + 1e-9:
            best, highest = orders, correlation
    return _heavier_first(best, rows)


def alignment(blocks: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """The correlation of the places x of rows and y of columns, under the mass of blocks."""
    row_mass, column_mass = blocks.sum(axis=1), blocks.sum(axis=0)
    x, y = x - row_mass @ x, y - column_mass @ y
    spread = np.sqrt((row_mass @ x**2) * (column_mass @ y**2))
    return float(x @ blocks @ y / spread) if spread > 0 else 0.0


class _Side(NamedTuple):
    """The mass of each leaf, and the merges that an order must respect, if any."""

    mass: np.ndarray
    merges: np.ndarray | None

    @property
    def numbers(self) -> np.ndarray:
        """The leaves as they are numbered."""
        return np.arange(self.mass.size)

    def places(self, order: np.ndarray) -> np.ndarray:
        """The middle of each leaf, from 0 to 1, if each takes as much room as it has mass."""
        ends = np.cumsum(self.mass[order])
        places = np.empty(order.size)
        places[order] = ends - self.mass[order] / 2
        return places

    def sorted_by(self, sums: np.ndarray) -> np.ndarray:
        """The order by ``sums / mass``, at every node of the tree if there is one."""
        mass = np.maximum(self.mass, np.finfo(float).tiny)
        if self.merges is None:
            return np.argsort(sums / mass, kind="stable")
        nodes = [(np.array([a]), sums[a], mass[a]) for a in range(mass.size)]
        for first, second in self.merges:
            one, other = nodes[first], nodes[second]
            if one[1] * other[2] > other[1] * one[2]:
                one, other = other, one
            leaves = np.concatenate([one[0], other[0]])
            nodes.append((leaves, one[1] + other[1], one[2] + other[2]))
        return nodes[-1][0]


def _alternate(blocks: np.ndarray, rows: _Side, columns: _Side, y: np.ndarray) -> Orders:
    """Arrange rows by the places of columns and columns by those of rows, until nothing changes."""
    orders = Orders(rows.numbers, columns.numbers)
    for _ in range(TURNS):
        before = orders
        row_order = rows.sorted_by(blocks @ y)
        column_order = columns.sorted_by(rows.places(row_order) @ blocks)
        orders = Orders(row_order, column_order)
        if all(np.array_equal(a, b) for a, b in zip(orders, before, strict=True)):
            break
        y = columns.places(column_order)
    return orders


def _starts(blocks: np.ndarray) -> Iterator[np.ndarray]:
    """Places of columns to start from."""
    yield from _correspondence_axes(blocks)
    rng = np.random.default_rng(0)
    yield from rng.random((RANDOM, blocks.shape[1]))


def _correspondence_axes(blocks: np.ndarray) -> np.ndarray:
    """The first axes of a correspondence analysis of the blocks, as scores of columns."""
    if blocks.shape[0] > blocks.shape[1]:
        rows = _correspondence_axes(blocks.T)
        return rows @ blocks / np.maximum(blocks.sum(axis=0), np.finfo(float).tiny)
    row_mass, column_mass = blocks.sum(axis=1), blocks.sum(axis=0)
    expected = np.outer(row_mass, column_mass)
    scale = np.sqrt(np.maximum(expected, np.finfo(float).tiny))
    residual = (blocks - expected) / scale
    _, vectors = np.linalg.eigh(residual @ residual.T)
    axes = (residual.T @ vectors[:, ::-1][:, :AXES]).T
    return np.asarray(axes / np.sqrt(np.maximum(column_mass, np.finfo(float).tiny)))


def _heavier_first(orders: Orders, rows: _Side) -> Orders:
    """Of an order and its reverse, which are equally good, the one that begins with more mass."""
    half = rows.mass.size // 2
    mass = rows.mass[orders.rows]
    if mass[:half].sum() >= mass[mass.size - half :].sum():
        return orders
    return Orders(orders.rows[::-1], orders.columns[::-1])
