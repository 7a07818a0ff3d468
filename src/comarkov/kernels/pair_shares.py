"""Costs of merging in data with few zeros: a table of shares for all clusters; see `pairs`.

For λ = 1 the cost is also what two clusters tell about the items less what their union tells,

    D_ij = K_i + K_j - K_ij,   K_i = N_i Σ_y c_y t ln t,   t = p(y|i) / c_y,   c_y = p(y)

and t is near 1 where there is little to tell, so single precision serves. It gives a bound below
the cost; only what may be the least is costed in double precision, so the choice is that of exact
arithmetic.
"""

from typing import NamedTuple

import numpy as np

from .compiling import FUSED, kernel, step
from .logarithm import single, xlogx
from .pairs import look_up, place, place_of, unite
from .rounding import ROUNDOFF, TIE

# Sums in single precision may be in any order, for vectors.
_FAST = {*FUSED, "reassoc"}
_approximate = kernel(fastmath=_FAST)
_approximate_step = step(fastmath=_FAST)
_log = single.log

f32 = np.float32
u64 = np.uint64  # numba wraps signed indices around at a price, and then does not vectorise
LANES = 32  # items in a table of shares are padded to a multiple of this
CHUNK = 128  # items summed in single precision before they join the total in double
TILE = 8  # clusters whose shares stay in the cache while others pass by


class Shares(NamedTuple):
    """The masses as shares A_yi / Σ_i A_yi of what an item has, one row for each cluster."""

    exact: np.ndarray  # float64 (n, items)
    near: np.ndarray  # float32 (n, items): the same
    item: np.ndarray  # float64 (items,): c_y
    item_near: np.ndarray  # float32 (items,): the same
    told: np.ndarray  # float64 (n,): K_i
    total: float  # Σ_i N_i


@kernel()
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


@_approximate
def bound_with(pairs, shares, i):
    """Bound the costs of one cluster with all others."""
    for k in range(pairs.mass.size):
        if pairs.alive[k] and k != i:
            _bound_cost(pairs, shares, i, k)


@_approximate_step
def _bound_cost(pairs, shares, i, j):
    """A bound below D_ij, for i < j or i > j."""
    mass = pairs.mass[i] + pairs.mass[j]
    told = _told_near(shares, i, j, f32(shares.total / mass))
    together = mass * (told + _error_bound(told))
    at = place_of(i, j, pairs.mass.size)
    pairs.cost[at] = shares.told[i] + shares.told[j] - together
    pairs.sure[at] = False


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
            part += item[u64(y)] * (t * _log(t))
        total += part
    return total


@step()
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


@kernel()
def join_shares(pairs, shares, i, j):
    """Make clusters i and j one, called i."""
    unite(pairs, i, j)
    for y in range(shares.item.size):
        shares.exact[i, y] += shares.exact[j, y]
        shares.near[i, y] = shares.exact[i, y]
    shares.told[i] = _told(shares, i, i, pairs.mass[i])


@step()
def _told(shares, i, j, mass):
    """K_ij, or K_i if i = j."""
    scale = shares.total / mass if i != j else 0.5 * shares.total / mass
    total = 0.0
    for y in range(shares.item.size):
        t = scale * (shares.exact[i, y] + shares.exact[j, y])
        total += shares.item[y] * xlogx(t)
    return mass * total


# --- the least cost ---------------------------------------------------------------------------


@kernel()
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
            if pairs.alive[j] and pairs.cost[place(i, j, n)] <= limit:
                _make_sure(pairs, shares, i, j)
                if pairs.cost[place(i, j, n)] <= limit:
                    return least, i, j
    return least, at, pairs.near[at]


@step()
def _make_sure(pairs, shares, i, j):
    """Replace a bound below D_ij by the cost; False if it was the cost already."""
    at = place(i, j, pairs.mass.size)
    if pairs.sure.size == 0 or pairs.sure[at]:
        return False
    together = _told(shares, i, j, pairs.mass[i] + pairs.mass[j])
    pairs.cost[at] = shares.told[i] + shares.told[j] - together
    pairs.sure[at] = True
    if pairs.near[i] == j:
        pairs.near[i] = -1
    return True
