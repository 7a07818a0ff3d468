"""Numba kernels of agglomeration: what merging any two clusters costs, kept while they merge.

    D_ij = g(N_i, N_j) - λ Σ_y g(A_yi, A_yj) - (1-λ) Σ_b g(M_bi, M_bj)
    g(u, v) = f(u + v) - f(u) - f(v),  f(v) = v ln v

g(u, 0) = 0, so only what two clusters share costs time. A merge changes the costs of one cluster
with all others; every cluster keeps its least cost with a later one. When the partner of that is
gone the least cost stays as a lower bound, and is looked up again only if it matters.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .kernels import TIE

_exact = njit(nogil=True, cache=True, error_model="numpy")
_exact_step = njit(forceinline=True, error_model="numpy")


class Pairs(NamedTuple):
    """The clusters of one side, and what merging any two of them costs."""

    mass: np.ndarray  # float64 (n,): N_i
    alive: np.ndarray  # bool (n,)
    cost: np.ndarray  # float64: D_ij for i < j, row by row
    least: np.ndarray  # float64 (n,): the least D_ij over j > i, or a bound below it
    near: np.ndarray  # int64 (n,): the j of the least; -1 if least is only a bound


class Entries(NamedTuple):
    """The masses A_yi as two sets of lists: the clusters of each item, the items of each cluster.

    Those of an item stand side by side and only become fewer; those of a cluster are linked.
    """

    start: np.ndarray  # int64 (items,): where the list of an item begins
    count: np.ndarray  # int64 (items,): how many clusters it has
    owner: np.ndarray  # int64 (nnz,): which
    weight: np.ndarray  # float64 (nnz,): with which mass
    term: np.ndarray  # float64 (nnz,): f(weight)
    item: np.ndarray  # (nnz,): the item of a link
    following: np.ndarray  # int64 (nnz,): the next link of the same cluster; -1 after the last
    first: np.ndarray  # int64 (n,): the first link of each cluster


@_exact_step
def _f(v, known):
    """v ln v, from the table if it is a small whole number."""
    if v < known.size:
        return known[np.int64(v)]
    return v * np.log(v)


@_exact_step
def _place(i, j, n):
    """Where D_ij stands, for i < j."""
    return i * n - i * (i + 1) // 2 + j - i - 1


@_exact_step
def _place_of(i, j, n):
    return _place(i, j, n) if i < j else _place(j, i, n)


@_exact
def fill(pairs, entries, matrix, known):
    """Cost all pairs of singletons, the rows of a matrix; there M and A are the same."""
    n = pairs.mass.size
    shared = np.empty(n)
    for i in range(n):
        shared[:] = 0.0
        for p in range(matrix.indptr[i], matrix.indptr[i + 1]):
            y = matrix.indices[p]
            u = np.float64(matrix.weights[p])
            term = _f(u, known)
            start = entries.start[y]
            for q in range(start, start + entries.count[y]):
                if entries.owner[q] > i:
                    both = _f(u + entries.weight[q], known)
                    shared[entries.owner[q]] += both - term - entries.term[q]
        _write(pairs, shared, i, i + 1, n, known)
        look_up(pairs, i)


@_exact_step
def _write(pairs, shared, i, start, stop, known):
    """D_ik = g(N_i, N_k) - shared[k] for the living k from start to stop."""
    n = pairs.mass.size
    term = _f(pairs.mass[i], known)
    for k in range(start, stop):
        if pairs.alive[k]:
            both = _f(pairs.mass[i] + pairs.mass[k], known)
            cost = both - term - _f(pairs.mass[k], known) - shared[k]
            pairs.cost[_place_of(i, k, n)] = cost


@_exact
def look_up(pairs, i):
    """Find the least cost of cluster i with a later one; infinite if there is none."""
    n = pairs.mass.size
    least, near = np.inf, np.int64(-1)
    start = _place(i, i + 1, n)
    for k in range(i + 1, n):
        if pairs.alive[k] and pairs.cost[start + k - i - 1] < least:
            least, near = pairs.cost[start + k - i - 1], k
    pairs.least[i] = least
    pairs.near[i] = near


@_exact
def cheapest(pairs):
    """The least cost, and the first pair that costs so much: ties go to the lowest numbers."""
    n = pairs.mass.size
    at = np.int64(0)
    while True:
        for i in range(n):
            if pairs.alive[i] and (pairs.least[i] < pairs.least[at] or not pairs.alive[at]):
                at = i
        if pairs.near[at] >= 0 or pairs.least[at] == np.inf:
            break
        look_up(pairs, at)
    least = pairs.least[at]
    if least == np.inf:
        return least, at, at
    limit = least + TIE * (pairs.mass[at] + pairs.mass[pairs.near[at]])
    for i in range(n):
        if not pairs.alive[i] or pairs.least[i] > limit:
            continue
        for j in range(i + 1, n):
            if pairs.alive[j] and pairs.cost[_place(i, j, n)] <= limit:
                return least, i, j
    return least, at, pairs.near[at]


@_exact_step
def _join_item(entries, y, i, j, shared, known):
    """Make clusters i and j one in item y; add what it shares with the others there."""
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
        entries.term[at_i] = _f(entries.weight[at_i], known)
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
            both = _f(u + entries.weight[q], known)
            shared[entries.owner[q]] += both - term - entries.term[q]


@_exact
def join_entries(entries, i, j, shared, seen, known):
    """Make clusters i and j one, called i; write Σ_y g(A_yi, A_yk) to shared. `seen` is scratch."""
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


@_exact
def settle(pairs, i, j, shared, known):
    """Cluster j has become part of i, which shares so much with the others: renew all costs."""
    n = pairs.mass.size
    pairs.mass[i] += pairs.mass[j]
    pairs.alive[j] = False
    pairs.alive[i] = False  # has no cost with itself
    _write(pairs, shared, i, 0, n, known)
    pairs.alive[i] = True
    for k in range(j):
        if not pairs.alive[k] or k == i:
            continue
        if pairs.near[k] == j:
            pairs.near[k] = -1
        if k < i:
            cost = pairs.cost[_place(k, i, n)]
            if cost < pairs.least[k]:
                pairs.least[k], pairs.near[k] = cost, i
            elif pairs.near[k] == i and cost > pairs.least[k]:
                pairs.near[k] = -1
    look_up(pairs, i)


@_exact
def join_blocks(blocks, i, j, factor, shared, known):
    """Make lines i and j of the blocks one; add factor Σ_b g(M_ib, M_kb) to shared."""
    n, width = blocks.shape
    for b in range(width):
        u = blocks[i, b] + blocks[j, b]
        blocks[i, b] = u
        blocks[j, b] = 0.0
        if u > 0.0:
            term = _f(u, known)
            for k in range(n):
                v = blocks[k, b]
                if v > 0.0 and k != i:
                    shared[k] += factor * (_f(u + v, known) - term - _f(v, known))


@_exact
def add_line(pairs, line, factor, known):
    """Add factor g(M_b, M_c) to the cost of every pair of clusters that have mass in a line."""
    n = pairs.mass.size
    some = np.flatnonzero(line)
    for p in range(some.size):
        u = line[some[p]]
        term = _f(u, known)
        for q in range(p + 1, some.size):
            v = line[some[q]]
            shared = _f(u + v, known) - term - _f(v, known)
            pairs.cost[_place(some[p], some[q], n)] += factor * shared


@_exact
def look_up_some(pairs, line):
    """Find the least costs of all clusters that have mass in a line."""
    for b in np.flatnonzero(line):
        look_up(pairs, b)
