"""The costs of merging any two clusters, updated as clusters merge.

    D_ij = g(N_i, N_j) - λ Σ_y g(A_yi, A_yj) - (1-λ) Σ_b g(M_bi, M_bj)
    g(u, v) = f(u + v) - f(u) - f(v),  f(v) = v ln v

g(u, 0) = 0, so in sparse data only the items that two clusters share take time: see
`pair_entries`. In data with few zeros every item has a term, and whole rows of a table are summed:
see `pair_shares`.

A merge changes the costs of one cluster with all others. Every cluster stores its least cost with
a later one. When that other cluster has been merged, the stored cost remains as a lower bound, and
the least cost is searched again only if the bound matters.
"""

from typing import NamedTuple

import numpy as np

from .compiling import kernel, step, subroutine


class Pairs(NamedTuple):
    """The clusters of one side, and the cost of merging any two of them."""

    mass: np.ndarray  # float64 (n,): N_i
    alive: np.ndarray  # bool (n,)
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
    least, near = np.inf, np.int64(-1)
    start = place(i, i + 1, n)
    for k in range(i + 1, n):
        if pairs.alive[k] and pairs.cost[start + k - i - 1] < least:
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
    pairs.alive[j] = False


@kernel()
def renew_least(pairs, i, j):
    """Update the least costs after cluster j was merged into i and all costs of i changed."""
    n = pairs.mass.size
    for k in range(j):
        if not pairs.alive[k] or k == i:
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
