"""Merge costs in sparse data, from lists of the nonzero masses; see `pairs`."""

from typing import NamedTuple

import numpy as np

from .compiling import kernel, step
from .logarithm import xlogx
from .pairs import look_up, place, place_of, renew_least, unite


class Entries(NamedTuple):
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
def fill(pairs, entries, matrix, known):
    """Compute the costs of all pairs of singletons, the rows of a matrix; there M equals A."""
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
                if entries.owner[q] > i:
                    both = _xlogx(u + entries.weight[q], known)
                    shared[entries.owner[q]] += both - term - entries.term[q]
        _write(pairs, shared, i, i + 1, n, known)
        look_up(pairs, i)


@step()
def _write(pairs, shared, i, start, stop, known):
    """D_ik = g(N_i, N_k) - shared[k] for the living k from start to stop."""
    n = pairs.mass.size
    term = _xlogx(pairs.mass[i], known)
    for k in range(start, stop):
        if pairs.alive[k]:
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
    pairs.alive[i] = False  # has no cost with itself
    _write(pairs, shared, i, 0, pairs.mass.size, known)
    pairs.alive[i] = True
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
