"""Numba kernel: the sequential sweep. What a row costs in a cluster is in `insertion`."""

from typing import NamedTuple

import numpy as np

from .borrowing import borrow
from .compiling import FUSED, kernel, step, subroutine
from .insertion import Setting, block_entries, cost_all, cost_exact, error_bound, least_two
from .rounding import TIE
from .tables import add, shift


class Clusters(NamedTuple):
    """A partition of the rows."""

    label: np.ndarray  # int32 (n,); -1 for a row without mass
    size: np.ndarray  # int64 (k,): members
    margin: np.ndarray  # float32 (n,): second best less best cost per mass, when last visited


@kernel(fastmath=FUSED)
def sweep(order, matrix, clusters, table, blocks, cross, coupling, workspace):
    """Visit the rows in `order`, each moved to its cluster of least cost; ties: home, lowest.

    Writes clusters, table and blocks. Returns the number of moves, the cost that they saved
    (nats times total mass), and by how much margins have changed since the last visit, summed
    over the rows that stayed.
    """
    setting = borrow(Setting(matrix, table, blocks, coupling))
    clusters, cross, workspace = borrow(clusters), borrow(cross), borrow(workspace)
    mass, total = setting.matrix.mass, workspace.total[: clusters.size.size]
    moves, saved, drift = 0, 0.0, 0.0
    for x in order:
        home = np.int64(clusters.label[x])
        if clusters.size[home] == 1:
            continue
        entries = block_entries(x, cross, mass[x], workspace)
        cost_all(x, home, setting, entries, workspace)
        best, least, second = least_two(total)
        gain = total[home] - least
        limit = least + 2.0 * error_bound(x, setting, entries)
        if second <= limit:
            best, gain = _choose_exactly(x, home, limit, setting, entries, total)
        margin = np.float32((second - least) / mass[x])
        if best != home:
            _move(x, home, best, clusters, setting, entries)
            moves += 1
            saved += gain
        elif clusters.margin[x] < np.inf:
            drift += abs(margin - clusters.margin[x])
        clusters.margin[x] = margin
    return moves, saved, drift


@kernel(fastmath=FUSED)
def insert(order, matrix, clusters, table, blocks, cross, coupling, workspace):
    """Put the rows in `order`, which are in no cluster yet, each into its cluster of least cost.

    As long as there are empty clusters, each takes the next row. Writes clusters, table and blocks.
    """
    setting = borrow(Setting(matrix, table, blocks, coupling))
    clusters, cross, workspace = borrow(clusters), borrow(cross), borrow(workspace)
    mass, total = setting.matrix.mass, workspace.total[: clusters.size.size]
    empty = 0
    for x in order:
        while empty < total.size and clusters.size[empty] > 0:
            empty += 1
        entries = block_entries(x, cross, mass[x], workspace)
        to = np.int64(empty)
        if empty == total.size:
            to = _cheapest(x, setting, entries, workspace, total)
        _put(x, to, clusters, setting, entries)


@step(fastmath=FUSED)
def _cheapest(x, setting, entries, workspace, total):
    """The cluster of least cost for a row that is in none; of equals the lowest."""
    cost_all(x, np.int64(-1), setting, entries, workspace)
    best, least, second = least_two(total)
    limit = least + 2.0 * error_bound(x, setting, entries)
    return np.int64(best) if second > limit else _choose_new(x, limit, setting, entries, total)


@subroutine()
def _choose_new(x, limit, setting, entries, total):
    """The cluster of least cost among those of at most `limit`, for a row that is in none."""
    tie = TIE * setting.matrix.mass[x]
    best, least = np.int64(0), np.inf
    for a in range(total.size):
        if total[a] <= limit:
            cost = cost_exact(x, a, np.int64(-1), setting, entries)
            if cost < least - tie:
                best, least = np.int64(a), cost
    return best


@step()
def _put(x, to, clusters, setting, entries):
    """Put row x, which is in no cluster, into one."""
    matrix = setting.matrix
    start, stop = matrix.indptr[x], matrix.indptr[x + 1]
    add(setting.table, matrix.indices, matrix.weights, start, stop, to)
    add(setting.blocks, entries.indices, entries.weights, np.int64(0), entries.size, to)
    clusters.label[x] = to
    clusters.size[to] += 1


@subroutine()
def _choose_exactly(x, home, limit, setting, entries, total):
    """The cluster of least cost among those of at most `limit`, and what moving there saves."""
    tie = TIE * setting.matrix.mass[x]
    best = home
    cost_home = cost_exact(x, home, home, setting, entries)
    cost_best = cost_home
    for a in range(total.size):
        if a != home and total[a] <= limit:
            cost = cost_exact(x, a, home, setting, entries)
            if cost < cost_best - tie:
                best, cost_best = a, cost
    return best, cost_home - cost_best


@step()
def _move(x, home, to, clusters, setting, entries):
    """Move row x from cluster `home`."""
    matrix = setting.matrix
    start, stop = matrix.indptr[x], matrix.indptr[x + 1]
    shift(setting.table, matrix.indices, matrix.weights, start, stop, home, to)
    shift(setting.blocks, entries.indices, entries.weights, np.int64(0), entries.size, home, to)
    clusters.label[x] = to
    clusters.size[home] -= 1
    clusters.size[to] += 1
