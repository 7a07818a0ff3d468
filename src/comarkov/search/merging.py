"""Merging and splitting the clusters of one side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..costs.labels import merge_numbers
from ..data.joint import Joint
from ..kernels.halving import halve
from ..kernels.merging import add_pair_terms
from ..kernels.sweep import Clusters
from .refinement import Split
from .run import Run
from .boards import new_workspace
from .side import Side, coupled, empty_blocks, empty_table

SPLIT_SWEEPS = 3  # further sweeps gain little

Term = tuple[np.ndarray, float]  # masses by (item, cluster), and their factor in merge costs


def merge_costs(side: Side, cross: np.ndarray | None, beta: float) -> np.ndarray:
    """Return the costs of merging clusters i < j, in nats times mass; infinite elsewhere.

    D_ij = g(N_i, N_j) - λ Σ_y g(A_yi, A_yj) - (1-λ) Σ_b g(M_bi, M_bj)
    g(u, v) = f(u + v) - f(u) - f(v),  f(v) = v ln v
    """
    cross, coupling = coupled(side.table, cross, beta)
    blocks = side.blocks(cross).mass[:, : side.k]
    return pair_costs([(blocks[-1:], 1.0), (side.masses, -coupling), (blocks[:-1], coupling - 1.0)])


def pair_costs(terms: list[Term]) -> np.ndarray:
    """Return the sum over tables of factor Σ_y g(A_yi, A_yj) for i < j; infinite elsewhere."""
    k = terms[0][0].shape[1]
    costs = np.full((k, k), np.inf)
    costs[np.triu_indices(k, 1)] = 0.0
    for masses, factor in terms:
        if factor != 0.0:
            add_pair_terms(costs, np.ascontiguousarray(masses, np.float64), factor)
    return costs


def merged(side: Side, i: int, j: int) -> Side:
    """Return the side with clusters i and j merged."""
    return side.coarsened(merge_numbers(side.k, i, j))


def bisect(data: Joint, members: np.ndarray, cross: np.ndarray | None, run: Run) -> Split:
    """Split the rows of one cluster in two: in random order, each goes where it costs less.

    The gain is in nats times mass.
    """
    if members.size < 2:
        return Split(0.0, members[:0])
    table = empty_table(data, 2)
    cross, coupling = coupled(table, cross, run.beta)
    blocks = empty_blocks(cross, 2)
    label = np.full(data.shape[0], -1, np.int32)
    halves = Clusters(label, np.zeros(2, np.int64), np.zeros(label.size, np.float32))
    order, workspace = run.rng.permutation(members), new_workspace(blocks)
    gain = halve(order, data.matrix, halves, table, blocks, cross, coupling, workspace)
    return Split(gain, members[label[members] == 1])


def random_halves(n: int, run: Run) -> np.ndarray:
    """Return equally many 0 and 1, in random order."""
    return run.rng.permutation(np.arange(n) % 2)


def sweep_until_settled(sweep: Callable[[], int]) -> None:
    """Sweep two halves until nothing moves, but only a few times."""
    for _ in range(SPLIT_SWEEPS):
        if sweep() == 0:
            return
