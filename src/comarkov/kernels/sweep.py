"""The sequential sweep. `insertion` computes what a row costs in a cluster."""

from typing import NamedTuple

import numpy as np

from .compiling import FUSED, borrow, kernel, step, subroutine
from .insertion import CostContext, block_entries, cost_all, cost_exact, error_bound, least_two
from .logarithm import TIE
from .tables import add, remove


class Clusters(NamedTuple):
    """A partition of the rows."""

    label: np.ndarray  # int32 (n,); -1 for an empty row, or one that is in no cluster yet
    size: np.ndarray  # int64 (k,): members
    margin: np.ndarray  # float32 (n,): second least minus least cost per mass at the last visit


@kernel(fastmath=FUSED)
def sweep(order, matrix, clusters, table, blocks, cross, coupling, workspace):
    """Visit the rows in `order` and move each to its cluster of least cost.

    If several are best the row stays if it can, or goes to the first; see `Workspace.ties_first`.

    A row with label -1 is in no cluster yet: it takes the first empty cluster, if there is one.
    If the workspace has room for costs they are written and no row moves; see `insertion_costs`.
    Writes clusters, table and blocks. Returns the number of moves, the cost that they saved (nats
    times total mass), and by how much margins have changed since the last visit, summed over the
    rows that stayed.
    """
    setting = borrow(CostContext(matrix, table, blocks, coupling))
    clusters, cross, workspace = borrow(clusters), borrow(cross), borrow(workspace)
    mass, total = setting.matrix.mass, workspace.total[: clusters.size.size]
    moves, saved, drift = 0, 0.0, 0.0
    for x in order:
        home = np.int64(clusters.label[x])
        if home >= 0 and clusters.size[home] == 1:
            continue
        entries = block_entries(x, cross, mass[x], workspace)
        best = _first_empty(clusters.size) if home < 0 else np.int64(-1)
        gain, margin = 0.0, np.float32(np.inf)
        if best < 0:
            cost_all(x, home, setting, entries, workspace)
            best, least, second = least_two(total)
            limit = least + 2.0 * error_bound(x, setting, entries)
            if home >= 0:
                gain, margin = total[home] - least, np.float32((second - least) / mass[x])
            if second <= limit:
                first = workspace.ties_first
                best, gain = _choose_exactly(x, home, limit, setting, entries, total, first)
        if workspace.costs.shape[0] > 0:
            for a in range(total.size):
                workspace.costs[x, a] = total[a]
        elif best != home:
            _move(x, home, best, clusters, setting, entries)
            moves += 1
            saved += gain
        elif clusters.margin[x] < np.inf:
            drift += abs(margin - clusters.margin[x])
        clusters.margin[x] = margin
    return moves, saved, drift


def insertion_costs(out, home, matrix, table, blocks, cross, coupling, workspace):
    """Write c_a of every row for every cluster a, the row taken out of `home` (-1: in none).

    The least is where it is in exact arithmetic; costs are within single precision. It is a sweep
    that moves nothing, because a kernel of its own would take another second to compile.
    """
    never_alone = np.full(out.shape[1], 2)
    clusters = Clusters(home, never_alone, np.empty(home.size, np.float32))
    workspace = workspace._replace(costs=out)
    order = np.arange(home.size)
    sweep(order, matrix, clusters, table, blocks, cross, coupling, workspace)


@subroutine()
def _first_empty(size):
    """Return the first cluster without members, or -1."""
    for a in range(size.size):
        if size[a] == 0:
            return np.int64(a)
    return np.int64(-1)


@subroutine()
def _choose_exactly(x, home, limit, setting, entries, total, ties_first):
    """Return the cluster of least cost among those of at most `limit`, and what a move there saves.

    Replaces their costs in `total` by exact ones.
    """
    tie = TIE * setting.matrix.mass[x]
    best, cost_home = home, np.inf
    if home >= 0:
        cost_home = cost_exact(x, home, home, setting, entries)
        if total[home] <= limit:
            total[home] = cost_home
    cost_best = cost_home
    for a in range(total.size):
        if a != home and total[a] <= limit:
            total[a] = cost_exact(x, a, home, setting, entries)
            if total[a] < cost_best - tie:
                best, cost_best = a, total[a]
    if ties_first:
        for a in range(total.size):
            if total[a] <= cost_best + tie:
                best, cost_best = a, total[a]
                break
    return best, cost_home - cost_best if home >= 0 else 0.0


@step()
def _move(x, home, to, clusters, setting, entries):
    """Move row x from cluster `home` (-1: from none)."""
    matrix, table, blocks, _ = setting
    start, stop = matrix.indptr[x], matrix.indptr[x + 1]
    indices, weights, size = entries
    if home >= 0:
        remove(table, matrix.indices, matrix.weights, start, stop, home)
        remove(blocks, indices, weights, np.int64(0), size, home)
        clusters.size[home] -= 1
    add(table, matrix.indices, matrix.weights, start, stop, to)
    add(blocks, indices, weights, np.int64(0), size, to)
    clusters.label[x] = to
    clusters.size[to] += 1
