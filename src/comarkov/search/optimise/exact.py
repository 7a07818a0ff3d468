"""The global optimum of tiny data, from all partitions.

Given the clusters of the outer types of elements, the cost is a sum over the clusters of each inner
type, whose best partition `kernels.partitions` finds without enumerating them. So only the
partitions of outer types are enumerated: those of rows or of columns, whichever is less work; of
neither at β = 1; of the states of a chain, which are related to themselves.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import inf, prod
from typing import Any

import numpy as np

from ...kernels.logarithm import TIE
from ...kernels.partitions import add_block_costs, best_partitions
from .. import budgets
from ..run import Run, in_parts
from ..state.coclusters import Problem, Solution
from .enumeration import (
    CostParts,
    Items,
    Link,
    can_encode,
    cost_parts,
    count,
    decoded,
    every_partition,
    steps,
    subsets_of,
)
from .refine import Labels, State, refine

# The work of each step, in terms of a sweep:
STEP = 2  # comparing two subsets
LOGARITHM = 4  # a term in a table of blocks or subsets
SLOW_LOGARITHM = 15  # a term that NumPy computes
COMBINATION = 50  # recording a combination of partitions

LARGEST = 20  # elements whose subsets are all kept in memory, in about 100 MB
MOST_TYPES = 8  # with more types, not all choices of outer types are compared


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

    Types are compared in their order, and clusters are numbered by their first elements. Returns
    None if it takes too long, if time is over, or if elements have labels to start from.
    """
    if any((start.labels[start.free] >= 0).any() for start in problem.starts):
        return None
    parts = cost_parts(problem, run.beta)
    plan = quickest(parts)
    clusters = None if plan is None else _Enumeration(parts, plan).least(run)
    if clusters is None:
        return None
    return [
        parts.items[t].labels(clusters[t]) if t in clusters else None
        for t in range(len(problem.starts))
    ]


# --- how much work it is ----------------------------------------------------------------------


def quickest(parts: CostParts) -> tuple[int, ...] | None:
    """Return the outer types that take the least work; None if it is too much.

    One end of every link must be outer.
    """
    if len(parts.items) > MOST_TYPES:
        return None
    choices = [
        outer
        for size in range(len(parts.items) + 1)
        for outer in combinations(parts.items, size)
        if all(link.source in outer or link.target in outer for link in parts.links)
    ]
    works = [work(parts, outer) for outer in choices]
    least = min(works)
    return choices[works.index(least)] if least <= budgets.work(budgets.EXACT) else None


def work(parts: CostParts, outer: tuple[int, ...]) -> float:
    """Return the work of the enumeration, in terms of a sweep."""
    counts = {t: count(parts.items[t].n, parts.items[t].k) for t in outer}
    combined = prod(counts.values())
    inner = [items for t, items in parts.items.items() if t not in outer]
    if combined == inf or not all(_has_few_subsets(items) for items in inner):
        return inf
    terms = combined * sum((_link_work(parts, link, outer) for link in parts.links), COMBINATION)
    for t, items in parts.items.items():
        if t in outer:
            terms += counts[t] * parts.width(t) * (items.n + LOGARITHM * items.k)
        else:
            terms += SLOW_LOGARITHM * parts.width(t) * 2**items.n
            terms += combined * STEP * steps(items.n, items.k)
    return float(terms)


def _has_few_subsets(items: Items) -> bool:
    return items.n <= LARGEST and can_encode(items.n, items.k)


def _link_work(parts: CostParts, link: Link, outer: tuple[int, ...]) -> float:
    """Return the work of a link for each combination of outer partitions."""
    source, target = parts.items[link.source], parts.items[link.target]
    if link.source in outer and link.target in outer:
        return source.n * target.n + LOGARITHM * source.k * target.k
    inner, other = (target, source) if link.source in outer else (source, target)
    return inner.n * other.n + LOGARITHM * other.k * 2**inner.n


# --- doing it ---------------------------------------------------------------------------------


class _Enumeration:
    """All combinations of partitions of the outer types, and the best of the inner for each."""

    def __init__(self, parts: CostParts, outer: tuple[int, ...]) -> None:
        self.parts = parts
        self.partitions = {t: _partitions(parts.items[t]) for t in outer}
        self.alone = {t: _costs_alone(parts, t, each) for t, each in self.partitions.items()}
        self.inner = {t: _Inner(parts, t) for t in parts.items if t not in outer}
        self.links = [
            (link, parts.between(link))
            for link in parts.links
            if link.source in outer and link.target in outer
        ]

    def least(self, run: Run) -> dict[int, np.ndarray] | None:
        """Return the clusters of the items of each type at the least cost; None if time is over."""
        size = prod(len(each) for each in self.partitions.values())
        a_call = budgets.times(
            budgets.CALL, work(self.parts, tuple(self.partitions)) / size, 1, size
        )
        done = [self._costs(numbers) for numbers in in_parts(np.arange(size), a_call, run)]
        if sum(costs.size for costs, _ in done) < size:
            return None
        costs, codes = (np.concatenate(pieces, axis=-1) for pieces in zip(*done, strict=True))
        ties = np.flatnonzero(costs <= costs.min() + TIE)
        first = ties[np.lexsort(codes[::-1, ties])[0]]
        return {
            t: self._clusters(t, int(code))
            for t, code in zip(self.parts.items, codes[:, first], strict=True)
        }

    def _costs(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least costs of the given combinations, and their codes (types x combinations).

        The code of an outer type is the index of its partition, in lexicographic order.
        """
        sizes = [len(each) for each in self.partitions.values()]
        which = dict(zip(self.partitions, _digits(numbers, sizes), strict=True))
        labels = {t: each[which[t]] for t, each in self.partitions.items()}
        costs = np.zeros(numbers.size)
        for t, each in which.items():
            costs += self.alone[t][each]
        for link, masses in self.links:
            rows, columns = self.parts.items[link.source], self.parts.items[link.target]
            ends = labels[link.source], labels[link.target]
            _add_block_costs(masses, ends, np.full(columns.k, link.factor), rows.k, costs)
        for t, inner in self.inner.items():
            least, which[t] = inner.best(labels, numbers.size)
            costs += least
        return costs, np.stack([which[t] for t in self.parts.items])

    def _clusters(self, t: int, code: int) -> np.ndarray:
        items = self.parts.items[t]
        return self.partitions[t][code] if t in self.partitions else decoded(code, items.n, items.k)


class _Inner:
    """A type whose best partition is sought, given those of the types it is linked to."""

    def __init__(self, parts: CostParts, t: int) -> None:
        items = parts.items[t]
        self.k = items.k
        self.subsets = subsets_of(*parts.alone(t), items.k, items.apart)
        self.others: list[
            tuple[int, int]
        ] = []  # the types it is linked to, and their first cluster
        masses, factors = [np.empty((0, items.n))], [np.empty(0)]
        for link in parts.links:
            if t in (link.source, link.target):
                between = parts.between(link)
                other = link.target if t == link.source else link.source
                self.others.append((other, sum(part.size for part in factors)))
                masses.append(between.T if t == link.source else between)
                factors.append(np.full(parts.items[other].k, link.factor))
        self.masses = np.concatenate(masses)
        self.factors = np.concatenate(factors)

    def best(self, labels: dict[int, np.ndarray], size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the least cost for each labelling of the others, and the best partition's code."""
        empty = np.empty((size, 0), np.int16)
        every = np.hstack([empty, *(labels[t] + np.int16(first) for t, first in self.others)])
        least, code = np.empty(size), np.empty(size, np.int64)
        best_partitions(self.subsets, self.masses, every, self.factors, self.k, least, code)
        return least, code


def _partitions(items: Items) -> np.ndarray:
    return every_partition(items.n, items.k, items.apart)


def _costs_alone(parts: CostParts, t: int, partitions: np.ndarray) -> np.ndarray:
    """Return the cost of each partition of a type, without links."""
    masses, factors = parts.alone(t)
    each_itself = np.arange(factors.size, dtype=np.int16)[None]
    costs = np.zeros(len(partitions))
    _add_block_costs(masses, (partitions, each_itself), factors, parts.items[t].k, costs)
    return costs


def _add_block_costs(
    masses: np.ndarray,
    labels: tuple[np.ndarray, np.ndarray],
    factors: np.ndarray,
    k: int,
    costs: np.ndarray,
) -> None:
    """Add the costs of blocks, given the labels of their k row clusters and of their columns."""
    sums, blocks = np.empty((k, masses.shape[1])), np.empty((k, factors.size))
    add_block_costs(masses, *labels, factors, sums, blocks, costs)


def _digits(numbers: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    """Return the partition of each type in a combination; the last type changes fastest."""
    digits = []
    for size in reversed(sizes):
        numbers, digit = np.divmod(numbers, size)
        digits.append(digit)
    return digits[::-1]
