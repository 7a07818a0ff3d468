"""Merge costs in data with few zeros, from a table of shares for all clusters; see `pairs`.

For λ = 1 the cost is also the information of two clusters about the items minus that of their
union,

    D_ij = K_i + K_j - K_ij,   K_i = N_i Σ_y c_y t ln t,   t = p(y|i) / c_y,   c_y = p(y)

and t is near 1 where there is little information, so single precision is accurate enough. It gives
a lower bound on the cost. Only costs that may be the least are computed in double precision, so the
choice is that of exact arithmetic.
"""

from typing import NamedTuple

import numpy as np

from .compiling import FUSED, kernel, step
from .logarithm import ROUNDOFF, TIE, single, xlogx
from .pairs import look_up, place, place_of, unite

# Sums in single precision may be in any order, for vectors.
_FAST = {*FUSED, "reassoc"}
_approximate = kernel(fastmath=_FAST)
_approximate_step = step(fastmath=_FAST)
_log = single.log

f32 = np.float32
u64 = np.uint64  # numba checks signed indices for wraparound, and then does not vectorise
ITEM_LANES = 32  # items in a table of shares are padded to a multiple of this
ITEMS_IN_SINGLE = 128  # items summed in single precision before they join the total in double
TILE = 8  # clusters whose shares stay in the cache while all others are read


class Shares(NamedTuple):
    """The masses as shares A_yi / Σ_i A_yi of an item's mass, one row for each cluster."""

    exact: np.ndarray  # float64 (n, items)
    near: np.ndarray  # float32 (n, items): the same
    item: np.ndarray  # float64 (items,): c_y
    item_near: np.ndarray  # float32 (items,): the same
    information: np.ndarray  # float64 (n,): K_i
    total: float  # Σ_i N_i


@kernel()
def share(pairs, shares, matrix, column_mass):
    """Fill an empty table with the shares of singletons, the rows of a matrix."""
    for y in range(column_mass.size):
        shares.item[y] = column_mass[y] / shares.total
        shares.item_near[y] = shares.item[y]
    for i in range(pairs.mass.size):
        for p in range(matrix.indptr[i], matrix.indptr[i + 1]):
            y = matrix.indices[p]
            shares.exact[i, y] = matrix.weights[p] / column_mass[y]
            shares.near[i, y] = shares.exact[i, y]
        shares.information[i] = _information(shares, i, i, pairs.mass[i])


@_approximate
def bound_all(pairs, shares):
    """Bound the costs of all pairs."""
    n = pairs.mass.size
    for first in range(0, n, TILE):
        for j in range(first + 1, n):
            for i in range(first, min(first + TILE, j)):
                _bound_cost(pairs, shares, i, j)


@_approximate
def bound_with(pairs, shares, i):
    """Bound the costs of one cluster with all others."""
    for k in range(pairs.mass.size):
        if pairs.group[k] == pairs.group[i] and k != i:
            _bound_cost(pairs, shares, i, k)


@_approximate_step
def _bound_cost(pairs, shares, i, j):
    """Write a lower bound on D_ij, for i < j or i > j."""
    mass = pairs.mass[i] + pairs.mass[j]
    union = _information_near(shares, i, j, f32(shares.total / mass))
    together = mass * (union + _error_bound(union))
    at = place_of(i, j, pairs.mass.size)
    pairs.cost[at] = shares.information[i] + shares.information[j] - together
    pairs.is_exact[at] = False


@_approximate_step
def _information_near(shares, i, j, scale):
    """Return K_ij per unit of mass, from sums in single precision."""
    near, item = shares.near, shares.item_near
    i, j = u64(i), u64(j)
    total = 0.0
    for start in range(0, item.size, ITEMS_IN_SINGLE):
        part = f32(0.0)
        for y in range(start, min(start + ITEMS_IN_SINGLE, item.size)):
            t = scale * (near[i, u64(y)] + near[j, u64(y)])
            part += item[u64(y)] * (t * _log(t))
        total += part
    return total


@step()
def _error_bound(information):
    """Return a bound on the error of `_information_near`, given its value.

    In roundings of single precision: the relative error of t is 4, so that of t ln t is
    4 (t |ln t| + t), where Σ c t = 1. The logarithm adds 12, the products 3, a sum at most
    ITEMS_IN_SINGLE. All these apply to Σ c t |ln t|, which is K plus twice Σ c t |ln t| over t < 1.
    That is at most 1/e, as t |ln t| is, and at most Σ c (1 - t) there, which is at most √(K/2)
    (Pinsker).
    """
    k = max(information, 0.0) + 1e-4
    terms = k + min(0.75, np.sqrt(2.0 * k))
    return ROUNDOFF * (8.0 + (ITEMS_IN_SINGLE + 32.0) * terms)


@kernel()
def join_shares(pairs, shares, i, j):
    """Merge cluster j into i."""
    unite(pairs, i, j)
    for y in range(shares.item.size):
        shares.exact[i, y] += shares.exact[j, y]
        shares.near[i, y] = shares.exact[i, y]
    shares.information[i] = _information(shares, i, i, pairs.mass[i])


@step()
def _information(shares, i, j, mass):
    """Return K_ij, or K_i if i = j."""
    scale = shares.total / mass if i != j else 0.5 * shares.total / mass
    total = 0.0
    for y in range(shares.item.size):
        t = scale * (shares.exact[i, y] + shares.exact[j, y])
        total += shares.item[y] * xlogx(t)
    return mass * total


# --- the least cost ---------------------------------------------------------------------------


@kernel()
def cheapest(pairs, shares):
    """Return the least cost and its pair; ties go to the lowest numbers."""
    n = pairs.mass.size
    at = np.int64(0)
    while True:
        for i in range(n):
            is_least = pairs.least[i] < pairs.least[at] or pairs.group[at] < 0
            if pairs.group[i] >= 0 and is_least:
                at = i
        if pairs.least[at] == np.inf:
            break
        if pairs.near[at] >= 0 and not _make_exact(pairs, shares, at, pairs.near[at]):
            break
        look_up(pairs, at)
    least = pairs.least[at]
    if least == np.inf:
        return least, at, at
    limit = least + TIE * (pairs.mass[at] + pairs.mass[pairs.near[at]])
    for i in range(n):
        if pairs.group[i] < 0 or pairs.least[i] > limit:
            continue
        for j in range(i + 1, n):
            if pairs.group[j] == pairs.group[i] and pairs.cost[place(i, j, n)] <= limit:
                _make_exact(pairs, shares, i, j)
                if pairs.cost[place(i, j, n)] <= limit:
                    return least, i, j
    return least, at, pairs.near[at]


@step()
def _make_exact(pairs, shares, i, j):
    """Replace a lower bound on D_ij by the cost; return False if it was the cost already."""
    at = place(i, j, pairs.mass.size)
    if pairs.is_exact.size == 0 or pairs.is_exact[at]:
        return False
    together = _information(shares, i, j, pairs.mass[i] + pairs.mass[j])
    pairs.cost[at] = shares.information[i] + shares.information[j] - together
    pairs.is_exact[at] = True
    if pairs.near[i] == j:
        pairs.near[i] = -1
    return True
