"""The global optimum of tiny data, from all partitions.

The cost is a sum of terms of single sides and of pairs of sides, in nats and up to a constant.
Given the clusters of the outer side, it is a sum over the clusters of the inner side, whose best
partition `kernels.partitions` finds without enumerating them. So only the partitions of one side
are enumerated: those of rows or of columns, whichever is less work; of neither at β = 1; of the
states of a chain, which are related to themselves.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb, inf, log, prod
from typing import Any, NamedTuple

import numpy as np

from ...costs.objective import nats
from ...kernels.logarithm import TIE
from ...kernels.partitions import Subsets, add_block_costs, best_partitions
from ..run import Budget, Run, in_parts
from ..state.coclusters import Problem, Solution
from .refine import Labels, State, refine

# The work of each step, in terms of a sweep:
COMPARE_WORK = 2  # comparing two subsets
LOGARITHM_WORK = 4  # a term in a table of blocks or subsets
NUMPY_LOGARITHM_WORK = 15  # a term that NumPy computes
COMBINATION_WORK = 50  # recording a partition of the outer side

MAX_RELATION_CELLS = 1 << 16  # relations with more are not tiny, and would take memory
MAX_PARTITIONS = 1e9  # larger numbers of partitions count as infinite
MAX_COUNTED = 1000  # with more elements, only 1 or n clusters have few enough partitions
MAX_INNER = 20  # elements whose subsets are all kept in memory, in about 100 MB
CODE_BITS = 62


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
    return replace(solution, state=state, fine=None)


def optimum(problem: Problem[Any], run: Run) -> list[Labels | None] | None:
    """Return the labels of least cost; ties, up to rounding, go to the lexicographically first.

    Rows come before columns, and clusters are numbered by their first elements. Returns None if it
    takes too long, if time is over, if there are several relations, or if any labels are given.
    """
    relations, starts = problem.relations, problem.starts
    if len(relations) > 1 or any(start.has_numbers for start in starts):
        return None
    if prod(relations[0].joint.shape) > MAX_RELATION_CELLS:
        return None
    parts = cost_parts(problem, run.beta)
    works = {outer: work(parts, outer) for outer in (None, *parts.sides)}
    outer = min(works, key=lambda choice: works[choice])
    if works[outer] > Budget.EXACT.terms:
        return None
    clusters = _least(parts, outer, works[outer], run)
    if clusters is None:
        return None
    labels: list[Labels | None] = [None] * len(starts)
    for t, own in clusters.items():
        labels[t] = every = np.full(starts[t].has_mass.size, -1)
        every[starts[t].has_mass] = own
    return labels


# --- the terms of the cost, and how much work they are ----------------------------------------


class TinySide(NamedTuple):
    """A side and the terms of the cost of it alone: Σ_y factor_y Σ_a f(mass of cluster a in y)."""

    n: int
    k: int
    masses: np.ndarray  # by (element, column), as shares of all mass
    factors: np.ndarray


class CostParts(NamedTuple):
    """All terms of the cost at one β: of each side that is clustered, and of blocks."""

    sides: dict[int, TinySide]
    masses: np.ndarray  # by elements of both ends of the relation, as shares of all mass
    factor: float  # of Σ f(mass of a block)
    is_loop: bool


def cost_parts(problem: Problem[Any], beta: float) -> CostParts:
    """Return the terms of the cost of a problem with one relation."""
    ((source, target, joint, coefficients),) = problem.relations
    starts, is_loop = problem.starts, source == target
    clustered = [t for t, start in enumerate(starts) if start.k is not None]
    c = coefficients(beta).one_sided(source in clustered, target in clustered)
    whole = joint.csr.toarray() / joint.total
    columns: dict[int, list[tuple[np.ndarray, float]]] = {t: [] for t in clustered}
    for t, own, view, masses in (
        (source, c, joint, whole),
        (target, c.transposed, joint.T, whole.T),
    ):
        if t in clustered:
            columns[t].append((view.row_mass[:, None] / joint.total, own.factors.mass))
            columns[t] += [(masses, own.factors.items)] if own.source else []
    sides = {}
    for t, every in columns.items():
        table = np.hstack([masses for masses, _ in every])[starts[t].has_mass]
        table = np.ascontiguousarray(table)
        factors = np.concatenate([np.full(masses.shape[1], factor) for masses, factor in every])
        sides[t] = TinySide(len(table), starts[t].k or 1, table, factors)
    between = whole[starts[source].has_mass][:, starts[target].has_mass]
    return CostParts(sides, np.ascontiguousarray(between), c.factors.blocks, is_loop)


def work(parts: CostParts, outer: int | None) -> float:
    """Return the work if one side is enumerated, or none, in terms of a sweep."""
    if outer is None and parts.factor:
        return inf
    own = None if outer is None else parts.sides[outer]
    inner = [side for t, side in parts.sides.items() if t != outer]
    combined = count(own.n, own.k) if own else 1
    if combined == inf or any(i.n > MAX_INNER or i.n * _digit(i.k) > CODE_BITS for i in inner):
        return inf
    a_combination: float = COMBINATION_WORK
    if parts.factor and own:
        one, sets = (inner[0], 2 ** inner[0].n) if inner else (own, own.k)
        a_combination += one.n * own.n + LOGARITHM_WORK * own.k * sets
    terms = combined * a_combination
    if own:
        terms += combined * own.factors.size * (own.n + LOGARITHM_WORK * own.k)
    for side in inner:
        terms += NUMPY_LOGARITHM_WORK * side.factors.size * 2**side.n
        terms += combined * COMPARE_WORK * _comparisons(side.n, side.k)
    return float(terms)


def count(n: int, k: int) -> float:
    """Return the number of partitions of n elements into k clusters; infinite if there are many."""
    if k in (1, n):
        return 1
    if n > MAX_COUNTED or (n - k) * log(k) > log(MAX_PARTITIONS):  # k^(n-k) place all but k
        return inf
    sums = [1] + [0] * (n - k)  # of all products of so many of the numbers up to i
    for i in range(1, k + 1):
        for d in range(1, n - k + 1):
            sums[d] += i * sums[d - 1]
    return sums[-1] if sums[-1] <= MAX_PARTITIONS else inf


def _comparisons(n: int, k: int) -> int:
    """Return the number of pairs of subsets that ``best_partitions`` compares."""
    return 2 ** (n - 1) + sum(
        comb(n - 1, size) * 2 ** (size - 1) for j in range(2, k) for size in range(j, n - k + j + 1)
    )


# --- the enumeration --------------------------------------------------------------------------


def _least(
    parts: CostParts, outer: int | None, terms: float, run: Run
) -> dict[int, np.ndarray] | None:
    """Return the clusters of the elements of each side at the least cost; None if time is over."""
    partitions, costs = np.zeros((1, 0), np.int16), np.zeros(1)
    if outer is not None:
        n, k, masses, factors = parts.sides[outer]
        partitions = every_partition(n, k)
        columns = np.arange(factors.size, dtype=np.int16)[None]  # each a cluster of its own
        costs = _block_costs(masses, partitions, columns, factors, k)
    inner = {t: side for t, side in parts.sides.items() if t != outer}
    subsets = {t: subsets_of(side.masses, side.factors, side.k) for t, side in inner.items()}
    codes = {t: np.arange(costs.size) for t in parts.sides}  # of inner sides, they are written
    a_call, seen = Budget.CALL.times(terms / costs.size, 1, costs.size), 0
    for numbers in in_parts(np.arange(costs.size), a_call, run):
        labels, seen = partitions[numbers], seen + numbers.size
        if parts.is_loop and outer is not None:
            own = parts.sides[outer]
            factors = np.full(own.k, parts.factor)
            costs[numbers] += _block_costs(parts.masses, labels, labels, factors, own.k)
        for t, side in inner.items():
            least, code = np.empty(numbers.size), np.empty(numbers.size, np.int64)
            blocks = _linked(parts, t, outer)
            best_partitions(subsets[t], blocks[0], labels, blocks[1], side.k, least, code)
            costs[numbers] += least
            codes[t][numbers] = code
    if seen < costs.size:
        return None
    ties = np.flatnonzero(costs <= costs.min() + TIE)
    first = ties[np.lexsort([codes[t][ties] for t in reversed(codes)])[0]]
    return {
        t: partitions[first] if t == outer else decoded(int(codes[t][first]), side.n, side.k)
        for t, side in parts.sides.items()
    }


def _linked(parts: CostParts, t: int, outer: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the masses by elements of the outer side and of t, and factors of outer clusters."""
    if outer is None or not parts.factor:
        return np.empty((0, parts.sides[t].n)), np.empty(0)
    masses = parts.masses.T if t < outer else parts.masses
    return np.ascontiguousarray(masses), np.full(parts.sides[outer].k, parts.factor)


def _block_costs(
    masses: np.ndarray, rows: np.ndarray, columns: np.ndarray, factors: np.ndarray, k: int
) -> np.ndarray:
    """Return the costs of blocks, for each labelling of k row clusters and of the columns."""
    sums, blocks = np.empty((k, masses.shape[1])), np.empty((k, factors.size))
    costs = np.zeros(len(rows))
    add_block_costs(masses, rows, columns, factors, sums, blocks, costs)
    return costs


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
    return np.ascontiguousarray(labels)


# --- codes of partitions, and subsets ---------------------------------------------------------


def subsets_of(masses: np.ndarray, factors: np.ndarray, k: int) -> Subsets:
    """Return all subsets of the rows of ``masses``, their fixed costs, and scratch memory.

    The cost is Σ_y factors[y] f(mass in y), f(v) = v ln v.
    """
    n = masses.shape[0]
    alone = np.zeros(1 << n)
    for column, factor in zip(masses.T, factors, strict=True):
        alone += factor * nats(_sums(column))
    return Subsets(
        size=_sums(np.ones(n, np.int64)),
        ones=_sums(1 << (_digit(k) * np.arange(n - 1, -1, -1))),
        alone=alone,
        mass=np.empty(1 << n),
        cost=np.empty((3, 1 << n)),
        code=np.zeros((3, 1 << n), np.int64),
    )


def decoded(code: int, n: int, k: int) -> np.ndarray:
    """Return the labels of a code."""
    return code >> (_digit(k) * np.arange(n - 1, -1, -1)) & ((1 << _digit(k)) - 1)


def _digit(k: int) -> int:
    """Return the number of bits of a label in a code."""
    return (k - 1).bit_length()


def _sums(values: np.ndarray) -> np.ndarray:
    """Return the sum of the values over each subset."""
    sums = np.zeros(1, values.dtype)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums
