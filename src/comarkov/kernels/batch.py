"""Batch updates: every row is compared with the profiles of all clusters.

Up to what does not depend on the cluster, n_x d_x(a) of the batch updates is

    c_a = n_x ln N_a - λ Σ_y w ln A_ya - (1 - λ) Σ_b B_xb ln M_ba

A row cannot move to a cluster that has no mass where the row has mass. There the logarithm is
LACKING: times zero it is 0, times any mass it outweighs all other terms. A row's own cluster has
mass wherever the row has.
"""

from typing import NamedTuple

import numpy as np

from .compiling import kernel, step
from .logarithm import TIE

LACKING = -1e200  # the logarithm of no mass


class Profiles(NamedTuple):
    """Logarithms of the masses of clusters, padded with clusters of prohibitive cost."""

    mass: np.ndarray  # (k,): ln N_a
    single: np.ndarray  # (columns, k): λ ln A_ya; no columns if λ = 0
    block: np.ndarray  # (column clusters, k): (1 - λ) ln M_ba; no clusters if λ = 1


class Choices(NamedTuple):
    """The clusters that rows choose."""

    label: np.ndarray  # int64 (n,)
    gain: np.ndarray  # float64 (n,): the decrease of c; 0 for rows that stay
    blocks: np.ndarray  # float64 (k, column clusters): the masses after all moves


@step()
def _subtract_entries(cost, indices, weights, start, stop, logs):
    """cost[a] -= Σ_p weights[p] logs[indices[p], a] for p from start to stop."""
    for p in range(start, stop):
        y, w = indices[p], weights[p]
        for a in range(cost.size):
            cost[a] -= w * logs[y, a]


@step()
def _subtract_all(cost, weights, logs):
    """cost[a] -= Σ_b weights[b] logs[b, a], four at a time to save loads and stores."""
    b = 0
    while b + 3 < logs.shape[0]:
        w0, w1, w2, w3 = weights[b], weights[b + 1], weights[b + 2], weights[b + 3]
        for a in range(cost.size):
            first = w0 * logs[b, a] + w1 * logs[b + 1, a]
            cost[a] -= first + (w2 * logs[b + 2, a] + w3 * logs[b + 3, a])
        b += 4
    for c in range(b, logs.shape[0]):
        for a in range(cost.size):
            cost[a] -= weights[c] * logs[c, a]


@step()
def _least(cost):
    best = 0
    for a in range(cost.size):
        if cost[a] < cost[best]:
            best = a
    return best


@kernel()
def fill_masses(matrix, label, out):
    """Write the mass that every row of the matrix has in each cluster of its columns."""
    indptr, indices, weights = matrix.indptr, matrix.indices, matrix.weights
    sums = np.empty(out.shape[1], out.dtype)
    for x in range(out.shape[0]):
        sums[:] = 0
        for p in range(indptr[x], indptr[x + 1]):
            sums[np.uint64(label[indices[p]])] += weights[p]
        for b in range(sums.size):
            out[x, b] = sums[b]


@kernel()
def move_masses(matrix, before, after, out):
    """Move the rows whose label changes from one cluster of ``out`` to another."""
    indptr, indices, weights = matrix.indptr, matrix.indices, matrix.weights
    for x in range(before.size):
        if before[x] != after[x]:
            a, b = np.uint64(before[x]), np.uint64(after[x])
            for p in range(indptr[x], indptr[x + 1]):
                out[indices[p], a] -= weights[p]
                out[indices[p], b] += weights[p]


@kernel()
def choose(matrix, label, size, free, cross, profiles, choices):
    """Choose the cluster of least c_a for every free row that is not alone; ties: home, lowest.

    Clusters have ``size`` members; ``cross`` is B_xb, with no columns if columns are not clustered.
    Writes choices.
    """
    log_mass, single, block = profiles
    chosen, gain, blocks = choices
    indptr, indices, weights, mass = matrix.indptr, matrix.indices, matrix.weights, matrix.mass
    cost = np.empty(log_mass.size)
    sums = np.empty(cross.shape[1])
    blocks[:] = 0.0
    for x in range(label.size):
        home = label[x]
        best = home
        gain[x] = 0.0
        for b in range(sums.size):
            sums[b] = cross[x, b]
        if home >= 0 and free[x] and size[home] > 1:
            for a in range(cost.size):
                cost[a] = mass[x] * log_mass[a]
            if single.shape[0] > 0:
                _subtract_entries(cost, indices, weights, indptr[x], indptr[x + 1], single)
            _subtract_all(cost, sums, block)
            least = _least(cost)
            if cost[home] - cost[least] > TIE * mass[x]:
                best = least
                gain[x] = cost[home] - cost[least]
        chosen[x] = best
        if best >= 0:
            for b in range(sums.size):
                blocks[best, b] += sums[b]
