"""The best partition of a few elements into k clusters, from all partitions or all subsets.

f(v) = v ln v. A subset of n elements is an integer whose bit x is 1 if x is a member. If the cost
is a sum over clusters, partitions need not be enumerated. With D_j(S) the least cost of dividing S
into j clusters, of which one contains the first element of S,

    D_1(S) = cost(S),   D_j(S) = min_U cost(S - U) + D_{j-1}(U),   U any part of S without its first

takes fewer than 3^n k steps. Clusters are numbered by their first elements. The code of a partition
is the integer whose digits are its labels, the first element's first: of partitions of equal cost,
the least code has the lexicographically first labels.
"""

from typing import NamedTuple

import numpy as np

from .compiling import kernel, step, subroutine
from .logarithm import TIE, double

_log = double.log
NO_CODE = np.iinfo(np.int64).max


class Subsets(NamedTuple):
    """All subsets of the elements, their fixed costs, and scratch memory for each."""

    size: np.ndarray  # int64: the number of members
    ones: np.ndarray  # int64: the code of labels that are 1 for members and 0 for all others
    alone: np.ndarray  # the part of a cluster's cost that does not depend on the other labels
    mass: np.ndarray  # written
    cost: np.ndarray  # (3, subsets), written: of a cluster, in j - 1 clusters, in j
    code: np.ndarray  # int64 (3, subsets), written: of the same


@kernel()
def add_block_costs(masses, rows, columns, factors, sums, blocks, out):
    """out[c] += Σ_ab factors[b] f(M_ab), M the masses of blocks by the c-th labels of both sides.

    ``masses`` are by (row, column), ``factors`` one for each cluster of the columns. If the columns
    have fewer labellings, these are repeated. Scratch memory: ``sums`` by (row cluster, column) and
    ``blocks`` by (row cluster, column cluster).
    """
    for c in range(out.size):
        d = c % columns.shape[0]
        _clear(sums)
        _clear(blocks)
        for x in range(masses.shape[0]):
            a = rows[c, x]
            for y in range(masses.shape[1]):
                sums[a, y] += masses[x, y]
        for a in range(sums.shape[0]):
            for y in range(sums.shape[1]):
                blocks[a, columns[d, y]] += sums[a, y]
        for a in range(blocks.shape[0]):
            for b in range(factors.size):
                blocks[a, b] = factors[b] * (blocks[a, b] * _log(blocks[a, b]))
            for b in range(factors.size):
                out[c] += blocks[a, b]


@step()
def _clear(table):
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            table[a, b] = 0.0


@kernel()
def best_partitions(subsets, masses, labels, factors, k, least, code):
    """For each labelling of the columns, find the best partition of the rows into k clusters.

    A cluster S costs alone[S] + Σ_b factors[b] f(M_Sb), with M_Sb its mass in cluster b of the
    columns; ``masses`` are by (column, row). Writes the ``least`` cost and the ``code`` of each.
    """
    size, ones, alone, mass, costs, codes = subsets
    for c in range(least.size):
        for s in range(alone.size):
            costs[0, s] = alone[s]
        for b in range(factors.size):
            _fill(mass, masses, labels, c, b)
            for s in range(alone.size):
                costs[0, s] += factors[b] * (mass[s] * _log(mass[s]))
        for s in range(alone.size):
            costs[1, s] = costs[0, s]
            codes[1, s] = 0
        least[c], code[c] = _best(costs, codes, size, ones, k)


@subroutine()
def _fill(mass, masses, labels, c, b):
    """Write the mass of every subset in the columns whose c-th label is b."""
    mass[0] = 0.0
    for x in range(masses.shape[1]):
        own = 0.0
        for y in range(masses.shape[0]):
            if labels[c, y] == b:
                own += masses[y, x]
        half = 1 << x
        for s in range(half):
            mass[half + s] = mass[s] + own


@subroutine()
def _best(costs, codes, size, ones, k):
    """Return the least cost of all elements in k clusters, and its code."""
    every = size.size - 1
    n = size[every]
    if k == 1:
        return costs[0, every], 0
    before, after = 1, 2
    for j in range(2, k):
        for s in range(0, every, 2):  # the cluster of the first element is added last
            costs[after, s] = np.inf
            if j <= size[s] <= n - k + j:
                costs[after, s], codes[after, s] = _parted(costs, codes, ones, before, s)
        before, after = after, before
    return _parted(costs, codes, ones, before, every)


@step()
def _parted(costs, codes, ones, before, s):
    """Return D_j(S) and its code, given those of D_{j-1}."""
    others = s & (s - 1)
    best, code = np.inf, NO_CODE
    u = others
    while u > 0:
        v = costs[0, s ^ u] + costs[before, u]
        if v < best - TIE:
            best, code = v, codes[before, u] + ones[u]
        elif v - best <= TIE:  # not if both are infinite
            best, code = min(best, v), min(code, codes[before, u] + ones[u])
        u = (u - 1) & others
    return best, code
