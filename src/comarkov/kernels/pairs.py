"""Numba kernels of agglomeration: what merging any two clusters costs, kept while they merge.

    D_ij = g(N_i, N_j) - λ Σ_y g(A_yi, A_yj) - (1-λ) Σ_b g(M_bi, M_bj)
    g(u, v) = f(u + v) - f(u) - f(v),  f(v) = v ln v

g(u, 0) = 0, so in sparse data only what two clusters share costs time: `Entries`. In data with few
zeros there is a term for every item, and they are added up for whole rows of a table: `Shares`. For
λ = 1 the cost is also what the two clusters tell about the items less what their union tells,

    D_ij = K_i + K_j - K_ij,   K_i = N_i Σ_y c_y t ln t,   t = p(y|i) / c_y,   c_y = p(y)

and t is near 1 where there is little to tell, so single precision serves. It gives a bound below
the cost; only what may be the least is costed in double precision, so the choice is that of exact
arithmetic.

A merge changes the costs of one cluster with all others; every cluster keeps its least cost with a
later one. When the partner of that is gone the least cost stays as a lower bound, and is looked up
again only if it matters.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiling import kernel, step
from .sweep import ROUNDOFF, TIE

# Only in single precision may operations be fused and sums be in any order, for vectors.
_FAST = {"contract", "reassoc"}
_approximate = kernel(error_model="numpy", fastmath=_FAST)
_approximate_step = step(error_model="numpy", fastmath=_FAST)
_exact = kernel(error_model="numpy")
_exact_step = step(error_model="numpy")

f32 = np.float32
u64 = np.uint64  # numba wraps signed indices around at a price, and then does not vectorise
LANES = 32  # items in a table of shares are padded to a multiple of this
CHUNK = 128  # items summed in single precision before they join the total in double
TILE = 8  # clusters whose shares stay in the cache while others pass by
LN2 = f32(np.log(2.0))


class Pairs(NamedTuple):
    """The clusters of one side, and what merging any two of them costs."""

    mass: np.ndarray  # float64 (n,): N_i
    alive: np.ndarray  # bool (n,)
    cost: np.ndarray  # float64: D_ij for i < j, row by row; or a bound below it
    sure: np.ndarray  # bool: is that the cost itself? Empty if all are
    least: np.ndarray  # float64 (n,): the least D_ij over j > i, or a bound below it
    near: np.ndarray  # int64 (n,): the j of the least; -1 if there is none of so little


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


class Shares(NamedTuple):
    """The masses as shares A_yi / Σ_i A_yi of what an item has, one row for each cluster."""

    exact: np.ndarray  # float64 (n, items)
    near: np.ndarray  # float32 (n, items): the same
    item: np.ndarray  # float64 (items,): c_y
    item_near: np.ndarray  # float32 (items,): the same
    told: np.ndarray  # float64 (n,): K_i
    total: float  # Σ_i N_i


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


@_exact_step
def _make_sure(pairs, shares, i, j):
    """Replace a bound below D_ij by the cost; False if it was the cost already."""
    place = _place(i, j, pairs.mass.size)
    if pairs.sure.size == 0 or pairs.sure[place]:
        return False
    together = _told(shares, i, j, pairs.mass[i] + pairs.mass[j])
    pairs.cost[place] = shares.told[i] + shares.told[j] - together
    pairs.sure[place] = True
    if pairs.near[i] == j:
        pairs.near[i] = -1
    return True


@_exact
def cheapest(pairs, shares):
    """The least cost, and the first pair that costs so much: ties go to the lowest numbers."""
    n = pairs.mass.size
    at = np.int64(0)
    while True:
        for i in range(n):
            if pairs.alive[i] and (pairs.least[i] < pairs.least[at] or not pairs.alive[at]):
                at = i
        if pairs.least[at] == np.inf:
            break
        if pairs.near[at] >= 0 and not _make_sure(pairs, shares, at, pairs.near[at]):
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
                _make_sure(pairs, shares, i, j)
                if pairs.cost[_place(i, j, n)] <= limit:
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


@_exact_step
def _unite(pairs, i, j):
    pairs.mass[i] += pairs.mass[j]
    pairs.alive[j] = False


@_exact
def settle(pairs, i, j, shared, known):
    """Cluster j has become part of i, which shares so much with the others: renew all costs."""
    _unite(pairs, i, j)
    pairs.alive[i] = False  # has no cost with itself
    _write(pairs, shared, i, 0, pairs.mass.size, known)
    pairs.alive[i] = True
    _renew_least(pairs, i, j)


@_exact_step
def _renew_least(pairs, i, j):
    """Cluster j has become part of i, and all costs of i are new."""
    n = pairs.mass.size
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


# --- data with few zeros --------------------------------------------------------------------


@intrinsic
def _octaves(typing_context, t):
    """log2(t / 1.5) rounded up, read off the bits; at least -127."""

    def codegen(context, builder, signature, args):
        i32 = ir.IntType(32)
        above = builder.sub(builder.bitcast(args[0], i32), ir.Constant(i32, 0x3F400000))  # 0.75
        return builder.ashr(above, ir.Constant(i32, 23))

    return types.int32(types.float32), codegen


@intrinsic
def _without(typing_context, t, octaves):
    """t / 2**octaves, by subtracting from the exponent."""

    def codegen(context, builder, signature, args):
        i32 = ir.IntType(32)
        exponent = builder.shl(args[1], ir.Constant(i32, 23))
        bits = builder.sub(builder.bitcast(args[0], i32), exponent)
        return builder.bitcast(bits, ir.FloatType())

    return types.float32(types.float32, types.int32), codegen


@_approximate_step
def _log_near(t):
    """ln t without a branch, to 12 roundings of itself; something finite for t = 0.

    t = u 2^octaves with u from 0.75 to 1.5; then u = (1+z) / (1-z), |z| <= 0.2, and 2 artanh z is
    a short polynomial.
    """
    octaves = _octaves(t)
    u = _without(t, octaves)
    z = (u - f32(1.0)) / (u + f32(1.0))
    q = z * z
    series = f32(2.0) + q * (f32(0.66667001) + q * (f32(0.3995275) + q * f32(0.3046499)))
    return f32(octaves) * LN2 + z * series


@_approximate_step
def _told_near(shares, i, j, scale):
    """K_ij per unit of mass, from sums in single precision."""
    near, item = shares.near, shares.item_near
    i, j = u64(i), u64(j)
    total = 0.0
    for start in range(0, item.size, CHUNK):
        part = f32(0.0)
        for y in range(start, min(start + CHUNK, item.size)):
            t = scale * (near[i, u64(y)] + near[j, u64(y)])
            part += item[u64(y)] * (t * _log_near(t))
        total += part
    return total


@_exact_step
def _error_bound(told):
    """How far from the truth `_told_near` may be, for what it gave.

    In roundings of single precision: t is off by 4 of itself, so t ln t by 4 (t |ln t| + t), where
    Σ c t = 1. The logarithm has 12, the products 3, a sum at most CHUNK. All these are of
    Σ c t |ln t|, which is K plus twice Σ c t |ln t| over t < 1. That is at most 1/e, as t |ln t|
    is, and at most Σ c (1 - t) there, which is at most √(K/2) (Pinsker).
    """
    some = max(told, 0.0) + 1e-4
    terms = some + min(0.75, np.sqrt(2.0 * some))
    return ROUNDOFF * (8.0 + (CHUNK + 32.0) * terms)


@_approximate_step
def _bound_cost(pairs, shares, i, j):
    """A bound below D_ij, for i < j or i > j."""
    mass = pairs.mass[i] + pairs.mass[j]
    told = _told_near(shares, i, j, f32(shares.total / mass))
    together = mass * (told + _error_bound(told))
    place = _place_of(i, j, pairs.mass.size)
    pairs.cost[place] = shares.told[i] + shares.told[j] - together
    pairs.sure[place] = False


@_exact_step
def _told(shares, i, j, mass):
    """K_ij, or K_i if i = j."""
    scale = shares.total / mass if i != j else 0.5 * shares.total / mass
    total = 0.0
    for y in range(shares.item.size):
        t = scale * (shares.exact[i, y] + shares.exact[j, y])
        if t > 0.0:
            total += shares.item[y] * (t * np.log(t))
    return mass * total


@_exact
def share(pairs, shares, matrix, column_mass):
    """Write the shares of singletons, the rows of a matrix, into an empty table."""
    for y in range(column_mass.size):
        shares.item[y] = column_mass[y] / shares.total
        shares.item_near[y] = shares.item[y]
    for i in range(pairs.mass.size):
        for p in range(matrix.indptr[i], matrix.indptr[i + 1]):
            y = matrix.indices[p]
            shares.exact[i, y] = matrix.weights[p] / column_mass[y]
            shares.near[i, y] = shares.exact[i, y]
        shares.told[i] = _told(shares, i, i, pairs.mass[i])


@_approximate
def bound_all(pairs, shares):
    """Bound the costs of all pairs."""
    n = pairs.mass.size
    for first in range(0, n, TILE):
        for j in range(first + 1, n):
            for i in range(first, min(first + TILE, j)):
                _bound_cost(pairs, shares, i, j)


@_exact
def look_up_all(pairs):
    """Find the least costs of all clusters."""
    for i in range(pairs.mass.size):
        look_up(pairs, i)


@_approximate
def bound_with(pairs, shares, i):
    """Bound the costs of one cluster with all others."""
    for k in range(pairs.mass.size):
        if pairs.alive[k] and k != i:
            _bound_cost(pairs, shares, i, k)


@_exact
def join_shares(pairs, shares, i, j):
    """Make clusters i and j one, called i."""
    _unite(pairs, i, j)
    for y in range(shares.item.size):
        shares.exact[i, y] += shares.exact[j, y]
        shares.near[i, y] = shares.exact[i, y]
    shares.told[i] = _told(shares, i, i, pairs.mass[i])


@_exact
def renew_least(pairs, i, j):
    """Cluster j has become part of i, and all costs of i are new."""
    _renew_least(pairs, i, j)
