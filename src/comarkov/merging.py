"""Merging and splitting the clusters of one side: what it costs, and how to do it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import kernels
from .tables import Side, coupled

SPLIT_SWEEPS = 6


def merge_costs(side: Side, cross: np.ndarray | None, beta: float) -> np.ndarray:
    """What it costs to merge clusters i < j, in nats times mass; infinite elsewhere.

    D_ij = g(N_i, N_j) - λ Σ_y g(A_yi, A_yj) - (1-λ) Σ_b g(M_bi, M_bj)
    g(u, v) = f(u + v) - f(u) - f(v),  f(v) = v ln v
    """
    cross, coupling = coupled(side, cross, beta)
    blocks = side.blocks(cross).mass[:, : side.k].astype(np.float64)
    costs = np.full((side.k, side.k), np.inf)
    costs[np.triu_indices(side.k, 1)] = 0.0
    kernels.add_pair_terms(costs, blocks[-1:], 1.0)
    if coupling != 0.0:
        kernels.add_pair_terms(costs, side.masses.astype(np.float64), -coupling)
    if coupling != 1.0:
        kernels.add_pair_terms(costs, blocks[:-1], coupling - 1.0)
    return costs


def merged(side: Side, i: int, j: int) -> Side:
    """The same side with clusters i and j made one."""
    number = np.arange(side.k)
    number[max(i, j)] = min(i, j)
    number[max(i, j) + 1 :] -= 1
    return side.coarsened(number)


class Split(NamedTuple):
    """How a cluster falls into two."""

    gain: float  # nats times mass
    leavers: np.ndarray  # the rows of the second part


def split(
    side: Side, cross: np.ndarray | None, beta: float, cluster: int, rng: np.random.Generator
) -> Split:
    """Split a cluster in two by sweeps over its members alone, from a random start."""
    members = np.flatnonzero(side.labels == cluster)
    if members.size < 2:
        return Split(0.0, members[:0])
    part = side.joint.subset(members)
    labels = rng.permutation(np.arange(members.size) % 2)
    pair = Side(part, labels, 2, np.arange(members.size))
    near = None if cross is None else np.ascontiguousarray(cross[members])
    for _ in range(SPLIT_SWEEPS):
        if pair.sweep(near, beta, None, True, _never).moves == 0:
            break
    gain = float(merge_costs(pair, near, beta)[0, 1])
    return Split(gain, members[pair.labels == 1])


def _never() -> bool:
    return False
