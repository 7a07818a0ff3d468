"""Merging the clusters of one side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..costs.labels import merge_numbers
from ..kernels.merging import add_pair_terms
from .run import Run
from .side import Side, coupled

SPLIT_SWEEPS = 3  # further sweeps gain little
ITEMS = 1 << 16  # of a table that are copied at a time

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
        if factor == 0.0:
            continue
        for start in range(0, len(masses), ITEMS):
            part = np.ascontiguousarray(masses[start : start + ITEMS], np.float64)
            add_pair_terms(costs, part, factor)
    return costs


def merged(side: Side, i: int, j: int) -> Side:
    """Return the side with clusters i and j merged."""
    return side.coarsened(merge_numbers(side.k, i, j))


def random_halves(n: int, run: Run) -> np.ndarray:
    """Return equally many 0 and 1, in random order."""
    return run.rng.permutation(np.arange(n) % 2)


def sweep_until_settled(sweep: Callable[[], int]) -> None:
    """Sweep two halves until nothing moves, but only a few times."""
    for _ in range(SPLIT_SWEEPS):
        if sweep() == 0:
            return
