"""The order in which the clusters of a hierarchy are drawn, and numbered for people."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..costs.labels import membership
from ..costs.objective import expected_shares
from .leaves import Leaves

START_AXES = 6  # of correspondence analysis, to start from
RANDOM_ORDERS = 6  # further starts
ORDERING_TURNS = 40  # at most, from each start
TINY = float(np.finfo(float).tiny)  # instead of a mass of 0, to divide by


class Orders(NamedTuple):
    """The leaves of each side as they are drawn; its elements, where a side is not clustered."""

    rows: np.ndarray
    columns: np.ndarray


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
