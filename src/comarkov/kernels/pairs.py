"""The costs of merging any two clusters, updated as clusters merge.

    D_ij = g(N_i, N_j) - λ Σ_y g(A_yi, A_yj) - (1-λ) Σ_b g(M_bi, M_bj)
    g(u, v) = f(u + v) - f(u) - f(v),  f(v) = v ln v

g(u, 0) = 0, so in sparse data only the items that two clusters share take time: see `MassLists`. In
data with few zeros every item has a term, and whole rows of a table are summed: see `pair_shares`.

A merge changes the costs of one cluster with all others. Every cluster stores its least cost with
a later one. When that other cluster has been merged, the stored cost remains as a lower bound, and
the least cost is searched again only if the bound matters.
"""

from typing import NamedTuple

import numpy as np

from .compiling import kernel, step, subroutine
from .logarithm import xlogx


class Pairs(NamedTuple):
    """The clusters of one side, and the cost of merging any two of them."""

    mass: np.ndarray  # float64 (n,): N_i
    group: np.ndarray  # int64 (n,): clusters merge inside groups; -1 if merged into another
    cost: np.ndarray  # float64: D_ij for i < j, row by row; or a lower bound
    is_exact: np.ndarray  # bool: is that the cost itself? Empty if all costs are exact
    least: np.ndarray  # float64 (n,): the least D_ij over j > i, or a lower bound
    near: np.ndarray  # int64 (n,): the j of the least cost; -1 if `least` is only a bound


@step()
def place(i, j, n):
    """Return the position of D_ij, for i < j."""
    return i * n - i * (i + 1) // 2 + j - i - 1


@step()
def place_of(i, j, n):
    """Return the position of the cost of clusters i and j, in either order."""
    return place(i, j, n) if i < j else place(j, i, n)


@subroutine()
def look_up(pairs, i):
    """Find the least cost of cluster i with a later one; infinite if there is none."""
    n = pairs.mass.size
    least, near, group = np.inf, np.int64(-1), pairs.group[i]
    start = place(i, i + 1, n)
    for k in range(i + 1, n):
        if pairs.group[k] == group and pairs.cost[start + k - i - 1] < least:
            least, near = pairs.cost[start + k - i - 1], k
    pairs.least[i] = least
    pairs.near[i] = near


@kernel()
def look_up_all(pairs):
    """Find the least costs of all clusters."""
    for i in range(pairs.mass.size):
        look_up(pairs, i)


@kernel()
def look_up_present(pairs, line):
    """Find the least costs of all clusters that have mass in a line."""
    for b in np.flatnonzero(line):
        look_up(pairs, b)


@step()
def unite(pairs, i, j):
    """Merge cluster j into i."""
    pairs.mass[i] += pairs.mass[j]
    pairs.group[j] = -1


@kernel()
def renew_least(pairs, i, j):
    """Update the least costs after cluster j was merged into i and all costs of i changed."""
    n = pairs.mass.size
    for k in range(j):
        if pairs.group[k] != pairs.group[i] or k == i:
            continue
        if pairs.near[k] == j:
            pairs.near[k] = -1
        if k < i:
            cost = pairs.cost[place(k, i, n)]
            if cost < pairs.least[k]:
                pairs.least[k], pairs.near[k] = cost, i
            elif pairs.near[k] == i and cost > pairs.least[k]:
                pairs.near[k] = -1
    look_up(pairs, i)


class MassLists(NamedTuple):
    """The masses A_yi as two sets of lists: the clusters of each item, the items of each cluster.

    The list of an item is contiguous and only shrinks; that of a cluster is a linked list.
    """

    start: np.ndarray  # int64 (items,): where the list of an item begins
    count: np.ndarray  # int64 (items,): how many clusters it has
    owner: np.ndarray  # int64 (nnz,): which
    weight: np.ndarray  # float64 (nnz,): with which mass
    term: np.ndarray  # float64 (nnz,): f(weight)
    item: np.ndarray  # (nnz,): the item of a link
    following: np.ndarray  # int64 (nnz,): the next link of the same cluster; -1 after the last
    first: np.ndarray  # int64 (n,): the first link of each cluster


@step()
def _xlogx(v, known):
    """Return v ln v, from the table if v is a small integer."""
    return known[np.int64(v)] if v < known.size else xlogx(v)


@kernel()
def fill(pairs, entries, matrix, coupling, known):
    """Compute the costs of all pairs of clusters, the rows of a matrix, without those of blocks."""
    n = pairs.mass.size
    shared = np.empty(n)
    for i in range(n):
        shared[:] = 0.0
        for p in range(matrix.indptr[i], matrix.indptr[i + 1]):
            y = matrix.indices[p]
            u = np.float64(matrix.weights[p])
            term = _xlogx(u, known)
            start = entries.start[y]
            for q in range(start, start + entries.count[y]):
                if entries.owner[q] > i and pairs.group[entries.owner[q]] == pairs.group[i]:
                    both = _xlogx(u + entries.weight[q], known)
                    shared[entries.owner[q]] += both - term - entries.term[q]
        shared *= coupling
        _write(pairs, shared, i, i + 1, n, known)
        look_up(pairs, i)


@step()
def _write(pairs, shared, i, start, stop, known):
    """D_ik = g(N_i, N_k) - shared[k] for the others k of its group from start to stop."""
    n = pairs.mass.size
    term = _xlogx(pairs.mass[i], known)
    for k in range(start, stop):
        if pairs.group[k] == pairs.group[i] and k != i:
            both = _xlogx(pairs.mass[i] + pairs.mass[k], known)
            cost = both - term - _xlogx(pairs.mass[k], known) - shared[k]
            pairs.cost[place_of(i, k, n)] = cost


@kernel()
def join_entries(entries, i, j, shared, seen, known):
    """Merge cluster j into i; write Σ_y g(A_yi, A_yk) to shared. `seen` is scratch memory."""
    shared[:] = 0.0
    last = np.int64(-1)
    p = entries.first[i]
    while p >= 0:
        seen[entries.item[p]] = True
        _join_item(entries, entries.item[p], i, j, shared, known)
        last, p = p, entries.following[p]
    p = entries.first[j]
    while p >= 0:
        after = entries.following[p]
        if not seen[entries.item[p]]:
            _join_item(entries, entries.item[p], i, j, shared, known)
            if last < 0:
                entries.first[i] = p
            else:
                entries.following[last] = p
            entries.following[p] = -1
            last = p
        p = after
    p = entries.first[i]
    while p >= 0:
        seen[entries.item[p]] = False
        p = entries.following[p]


@step()
def _join_item(entries, y, i, j, shared, known):
    """Merge clusters i and j in item y; add what the union shares with the others there."""
    start = entries.start[y]
    stop = start + entries.count[y]
    at_i = at_j = np.int64(-1)
    for q in range(start, stop):
        if entries.owner[q] == i:
            at_i = q
        elif entries.owner[q] == j:
            at_j = q
    if at_i < 0:
        at_i = at_j
        entries.owner[at_i] = i
    elif at_j >= 0:
        entries.weight[at_i] += entries.weight[at_j]
        entries.term[at_i] = _xlogx(entries.weight[at_i], known)
        stop -= 1
        entries.owner[at_j] = entries.owner[stop]
        entries.weight[at_j] = entries.weight[stop]
        entries.term[at_j] = entries.term[stop]
        entries.count[y] -= 1
        if at_i == stop:
            at_i = at_j
    u, term = entries.weight[at_i], entries.term[at_i]
    for q in range(start, stop):
        if q != at_i:
            both = _xlogx(u + entries.weight[q], known)
            shared[entries.owner[q]] += both - term - entries.term[q]


@kernel()
def join_blocks(blocks, i, j, factor, shared, known):
    """Merge lines i and j of the blocks; add factor Σ_b g(M_ib, M_kb) to shared."""
    n, width = blocks.shape
    for b in range(width):
        u = blocks[i, b] + blocks[j, b]
        blocks[i, b] = u
        blocks[j, b] = 0.0
        if u > 0.0:
            term = _xlogx(u, known)
            for k in range(n):
                v = blocks[k, b]
                if v > 0.0 and k != i:
                    shared[k] += factor * (_xlogx(u + v, known) - term - _xlogx(v, known))


@kernel()
def settle(pairs, i, j, shared, known):
    """Update all costs after cluster j was merged into i, which has `shared` with the others."""
    unite(pairs, i, j)
    _write(pairs, shared, i, 0, pairs.mass.size, known)
    renew_least(pairs, i, j)


@kernel()
def add_line(pairs, line, factor, known):
    """Add factor g(M_b, M_c) to the cost of every pair of clusters that have mass in a line."""
    n = pairs.mass.size
    present = np.flatnonzero(line)
    for p in range(present.size):
        u = line[present[p]]
        term = _xlogx(u, known)
        for q in range(p + 1, present.size):
            v = line[present[q]]
            shared = _xlogx(u + v, known) - term - _xlogx(v, known)
            pairs.cost[place(present[p], present[q], n)] += factor * shared
