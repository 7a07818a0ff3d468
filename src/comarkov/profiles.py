"""Numba kernels of batch updates: every row compared with the profiles of all clusters.

Up to what does not depend on the cluster, n_x d_x(a) of the batch updates is

    c_a = n_x ln N_a - λ Σ_y w ln A_ya - (1 - λ) Σ_b B_xb ln M_ba

Zeros are exact: a cluster without mass where the row has some costs infinitely much.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .kernels import TIE

_exact = njit(nogil=True, cache=True, error_model="numpy")
_exact_step = njit(forceinline=True, error_model="numpy")


class Profiles(NamedTuple):
    """Logarithms of the masses of clusters; -inf where there is none."""

    mass: np.ndarray  # (k,): ln N_a
    single: np.ndarray  # (columns, k): λ ln A_ya; no columns if λ = 0
    block: np.ndarray  # (column clusters, k): (1 - λ) ln M_ba; no clusters if λ = 1


class Choices(NamedTuple):
    """Where rows go."""

    label: np.ndarray  # int64 (n,): in its cluster until it is told to move
    gain: np.ndarray  # float64 (n,): by how much c falls, 0 for who stays
    blocks: np.ndarray  # float64 (k, column clusters): the masses after all moves


@_exact_step
def _gather(matrix, x, label, sums):
    """Write the mass of row x in each cluster of the columns; -1 is no cluster."""
    indices, weights = matrix.indices, matrix.weights
    for b in range(sums.size):
        sums[b] = 0.0
    for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
        b = label[indices[p]]
        if b >= 0:
            sums[np.uint64(b)] += weights[p]


@_exact_step
def _subtract(cost, indices, weights, start, stop, logs):
    """cost[a] -= Σ_p weights[p] logs[indices[p], a] for p from start to stop, four at a time."""
    p = start
    while p + 3 < stop:
        b0, b1, b2, b3 = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
        w0, w1, w2, w3 = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
        for a in range(cost.size):
            first = w0 * logs[b0, a] + w1 * logs[b1, a]
            cost[a] -= first + (w2 * logs[b2, a] + w3 * logs[b3, a])
        p += 4
    for q in range(p, stop):
        b0, w0 = indices[q], weights[q]
        for a in range(cost.size):
            cost[a] -= w0 * logs[b0, a]


@_exact_step
def _least(cost):
    best = 0
    for a in range(cost.size):
        if cost[a] < cost[best]:
            best = a
    return best


@_exact
def write_by_cluster(matrix, label, out):
    """Write the mass of every row in each cluster of the columns."""
    sums = np.empty(out.shape[1])
    for x in range(out.shape[0]):
        _gather(matrix, x, label, sums)
        for b in range(sums.size):
            out[x, b] = sums[b]


@_exact
def write_blocks(matrix, label, other, out):
    """Write the masses by (row cluster, column cluster)."""
    out[:] = 0.0
    sums = np.empty(out.shape[1])
    for x in range(label.size):
        if label[x] >= 0:
            _gather(matrix, x, other, sums)
            for b in range(sums.size):
                out[label[x], b] += sums[b]


@_exact
def choose(matrix, label, size, free, other, profiles, choices):
    """Every row that is free, and not alone, to the cluster of least c_a; ties: home, lowest.

    Clusters have ``size`` members; ``other`` are labels of the columns. Writes choices.
    """
    log_mass, single, block = profiles
    chosen, gain, blocks = choices
    indptr, mass = matrix.indptr, matrix.mass
    cost = np.empty(log_mass.size)
    sums = np.zeros(blocks.shape[1])
    some, masses = np.zeros(sums.size + 1, np.uint64), np.zeros(sums.size + 1)
    blocks[:] = 0.0
    for x in range(label.size):
        home = label[x]
        best = home
        gain[x] = 0.0
        if home >= 0:
            _gather(matrix, x, other, sums)
        if home >= 0 and free[x] and size[home] > 1:
            for a in range(cost.size):
                cost[a] = mass[x] * log_mass[a]
            if single.shape[0] > 0:
                _subtract(cost, matrix.indices, matrix.weights, indptr[x], indptr[x + 1], single)
            if block.shape[0] > 0:
                count = 0
                for b in range(sums.size):
                    some[count], masses[count] = b, sums[b]
                    count += sums[b] > 0.0
                _subtract(cost, some, masses, np.int64(0), count, block)
            least = _least(cost)
            if cost[home] - cost[least] > TIE * mass[x]:
                best = least
                gain[x] = cost[home] - cost[least]
        chosen[x] = best
        if best >= 0:
            for b in range(sums.size):
                blocks[best, b] += sums[b]
