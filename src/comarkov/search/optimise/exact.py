"""The global optimum of tiny data, from all partitions of rows and of columns.

The cost is a sum of terms of single sides, of which there is one for each partition, and of blocks,
for each pair of partitions; of the states of a chain, which are related to themselves, for each
partition. Terms are in nats and up to a constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, prod
from typing import Any

import numpy as np
from scipy.special import stirling2

from ...costs.objective import Factors, nats
from ...kernels.logarithm import TIE
from ..run import Budget, Run, in_parts
from ..state.coclusters import Problem, Solution
from .refine import Labels, State, refine

TERM_WORK = 20  # of a term v ln v in NumPy, in terms of a sweep
MAX_RELATION_CELLS = 1 << 16  # relations with more are not tiny, and would take memory
CELLS_AT_A_TIME = 1 << 18


def with_optimum(solution: Solution[State], problem: Problem[State], run: Run) -> Solution[State]:
    """Replace the best result by the global optimum, if it can be computed.

    A final sweep moves elements whose mass is too small to affect the cost in the enumeration.
    """
    labels = optimum(problem, run)
    if labels is None:
        return solution
    state = problem.with_labels(labels)
    state.n_iter = solution.state.n_iter
    refine(state, run.undisturbed(), "end")
    if state.cost(run.beta) > solution.state.cost(run.beta) + TIE:  # small masses were rounded off
        return solution
    return replace(solution, state=state)


def optimum(problem: Problem[Any], run: Run) -> list[Labels | None] | None:
    """Return the labels of least cost; ties, up to rounding, go to the lexicographically first.

    Rows come before columns, and clusters are numbered by their first elements. Returns None if it
    takes too long, if time is over, if there are several relations, or if any labels are given.
    """
    starts, (relation, *others) = problem.starts, problem.relations
    source, target, joint, coefficients = relation
    sides = [t for t in dict.fromkeys((source, target)) if starts[t].k is not None]
    if others or any(start.has_numbers for start in starts):
        return None
    masses = [start.has_mass for start in (starts[source], starts[target])]
    numbers = [starts[t].k or 1 for t in sides]
    sizes = [int(starts[t].has_mass.sum()) for t in sides]
    if work(joint.shape, sizes, numbers) > Budget.EXACT.terms:
        return None
    partitions = [every_partition(n, k) for n, k in zip(sizes, numbers, strict=True)]
    whole = joint.csr.toarray()[masses[0]][:, masses[1]] / joint.total
    c = coefficients(run.beta).one_sided(source in sides, target in sides)
    costs = np.zeros([len(each) for each in partitions])
    if c.factors.blocks:
        costs = c.factors.blocks * _block_costs(whole, partitions, numbers, source == target, run)
    for t, facing, own in ((source, whole, c), (target, whole.T, c.transposed)):
        if t in sides:
            axis = sides.index(t)
            of_side = _side_costs(facing, partitions[axis], numbers[axis], own.factors, run)
            costs += of_side if costs.ndim == 1 else np.expand_dims(of_side, 1 - axis)
    if run.stop():
        return None
    first = np.unravel_index(np.flatnonzero(costs <= costs.min() + TIE)[0], costs.shape)
    labels: list[Labels | None] = [None] * len(starts)
    for t, own_partitions, place in zip(sides, partitions, first, strict=True):
        labels[t] = every = np.full(starts[t].has_mass.size, -1)
        every[starts[t].has_mass] = own_partitions[place]
    return labels


def work(shape: tuple[int, ...], sizes: list[int], numbers: list[int]) -> float:
    """Return the work of computing all costs, in terms of a sweep."""
    if prod(shape) > MAX_RELATION_CELLS:
        return inf
    counts = [float(stirling2(n, k)) for n, k in zip(sizes, numbers, strict=True)]
    blocks = prod(counts) * prod(numbers)
    alone = sum(P * k * max(shape) for P, k in zip(counts, numbers, strict=True))
    return TERM_WORK * (2 * blocks + alone)


def every_partition(n: int, k: int) -> np.ndarray:
    """Return the labels of all partitions, one per line, in lexicographic order."""
    labels, used = np.zeros((1, 0), np.int16), np.zeros(1, np.int64)
    for x in range(n):
        fewest = np.where(k - used > n - x - 1, used, 0)  # every remaining element opens a cluster
        choices = np.minimum(used + 1, k) - fewest
        parent = np.repeat(np.arange(used.size), choices)
        place = np.arange(parent.size) - np.repeat(np.cumsum(choices) - choices, choices)
        label = (fewest[parent] + place).astype(np.int16)
        labels = np.column_stack([labels[parent], label])
        used = np.maximum(used[parent], label + 1)
    return labels


def _in_clusters(
    masses: np.ndarray, partitions: np.ndarray, k: int, cells: int, run: Run
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield some partitions, their members (cluster, element), and masses by (cluster, column)."""
    size = max(1, CELLS_AT_A_TIME // (k * cells))
    for part in in_parts(np.arange(len(partitions)), size, run):
        members = (partitions[part, None] == np.arange(k)[:, None]).astype(np.float64)
        yield part, members, members @ masses


def _side_costs(
    masses: np.ndarray, partitions: np.ndarray, k: int, factors: Factors, run: Run
) -> np.ndarray:
    """Return the terms of one side alone, for each of its partitions."""
    costs = np.zeros(len(partitions))
    for part, _, sums in _in_clusters(masses, partitions, k, sum(masses.shape), run):
        costs[part] = factors.mass * nats(sums.sum(axis=2)).sum(axis=1)
        if factors.items:
            costs[part] += factors.items * nats(sums).sum(axis=(1, 2))
    return costs


def _block_costs(
    masses: np.ndarray, partitions: list[np.ndarray], numbers: list[int], is_loop: bool, run: Run
) -> np.ndarray:
    """Return Σ f(mass of a block) for each pair of partitions; of a chain, for each partition."""
    costs = np.zeros([len(each) for each in partitions])
    n, m = masses.shape
    other = np.equal(partitions[-1].T, np.arange(numbers[-1])[:, None, None])
    other = (
        other.transpose(1, 0, 2).reshape(m, -1).astype(np.float64)
    )  # one column for each cluster
    cells = n + m if is_loop else n + other.shape[1]
    for part, members, sums in _in_clusters(masses, partitions[0], numbers[0], cells, run):
        if is_loop:
            costs[part] = nats(sums @ members.transpose(0, 2, 1)).sum(axis=(1, 2))
        else:
            blocks = (sums.reshape(-1, m) @ other).reshape(part.size, -1, costs.shape[1])
            costs[part] = nats(blocks).sum(axis=1)
    return costs
