"""Merging and splitting the clusters of one side: what it costs, and how to do it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.joint import Joint
from ..kernels import sweep as kernels
from .side import Side, coupled

SPLIT_SWEEPS = 3  # more gain little

Term = tuple[np.ndarray, float]  # masses by (item, cluster), and their factor in merge costs


def merge_costs(side: Side, cross: np.ndarray | None, beta: float) -> np.ndarray:
    """What it costs to merge clusters i < j, in nats times mass; infinite elsewhere.

    D_ij = g(N_i, N_j) - λ Σ_y g(A_yi, A_yj) - (1-λ) Σ_b g(M_bi, M_bj)
    g(u, v) = f(u + v) - f(u) - f(v),  f(v) = v ln v
    """
    cross, coupling = coupled(side, cross, beta)
    blocks = side.blocks(cross).mass[:, : side.k]
    return pair_costs([(blocks[-1:], 1.0), (side.masses, -coupling), (blocks[:-1], coupling - 1.0)])


def pair_costs(terms: list[Term]) -> np.ndarray:
    """The sum over tables of factor Σ_y g(A_yi, A_yj) for clusters i < j; infinite elsewhere."""
    k = terms[0][0].shape[1]
    costs = np.full((k, k), np.inf)
    costs[np.triu_indices(k, 1)] = 0.0
    for masses, factor in terms:
        if factor != 0.0:
            kernels.add_pair_terms(costs, np.ascontiguousarray(masses, np.float64), factor)
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
    return bisect(side.joint, np.flatnonzero(side.labels == cluster), cross, beta, rng)


def bisect(
    data: Joint, members: np.ndarray, cross: np.ndarray | None, beta: float,
    rng: np.random.Generator, sweeps: int = SPLIT_SWEEPS,
) -> Split:  # fmt: skip
    """The same for some rows of a matrix that are one cluster."""
    if members.size < 2:
        return Split(0.0, members[:0])
    part = data.subset(members)
    labels = rng.permutation(np.arange(members.size) % 2)
    pair = Side(part, labels, 2, np.arange(members.size))
    near = None if cross is None else np.ascontiguousarray(cross[members])
    for _ in range(sweeps):
        if pair.sweep(near, beta, None, True, _never).moves == 0:
            break
    gain = float(merge_costs(pair, near, beta)[0, 1])
    return Split(gain, members[pair.labels == 1])


def _never() -> bool:
    return False
