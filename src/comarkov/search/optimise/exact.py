"""The global optimum of tiny data, from all partitions.

The cost is a sum of terms of single types of elements and of pairs of types, in nats and up to a
constant; rows and columns are two types with one relation. Given the clusters of the outer types,
it is a sum over the clusters of each inner type, whose best partition `kernels.partitions` finds
without enumerating them. So only the partitions of outer types are enumerated: those of rows or of
columns, whichever is less work; of neither at β = 1; of the states of a chain, which are related to
themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, inf, log, prod
from typing import Any, NamedTuple

import numpy as np

from ...costs.objective import nats
from ...kernels.logarithm import TIE
from ...kernels.partitions import Subsets, add_block_costs, best_partitions
from .. import budgets
from ..run import Run, in_parts
from ..state.coclusters import Problem, Solution
from ..state.starts import Start
from .refine import Labels, State, refine

# The work of each step, in terms of a sweep:
COMPARE_WORK = 2  # comparing two subsets
LOGARITHM_WORK = 4  # a term in a table of blocks or subsets
NUMPY_LOGARITHM_WORK = 15  # a term that NumPy computes
COMBINATION_WORK = 50  # recording a combination of partitions

MAX_RELATION_CELLS = 1 << 16  # relations with more are not tiny, and would take memory
MAX_PARTITIONS = 1e9  # larger numbers of partitions count as infinite
MAX_COUNTED = 1000  # with more elements, only 1 or n clusters have few enough partitions
MAX_INNER = 20  # elements whose subsets are all kept in memory, in about 100 MB
MAX_TYPES = 8  # with more types, not all choices of outer types are compared
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

    Types are compared in their order, and clusters are numbered by their first elements. Returns
    None if it takes too long, if time is over, or if elements have labels to start from.
    """
    is_large = any(prod(each.joint.shape) > MAX_RELATION_CELLS for each in problem.relations)
    if is_large or any((start.labels[start.free] >= 0).any() for start in problem.starts):
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


# --- the terms of the cost --------------------------------------------------------------------


@dataclass(frozen=True)
class Items:
    """The units that are clustered: elements; those fixed to the same cluster form one item."""

    k: int
    item: np.ndarray  # of each element; -1 if it is empty
    number: np.ndarray  # the cluster that each item is fixed to, or -1

    @classmethod
    def of(cls, start: Start) -> Items:
        """Return the items of a type, numbered by their first elements."""
        assert start.k is not None
        inside = np.flatnonzero(start.has_mass)
        fixed = np.where(start.fixed, start.labels, -1)[inside]
        group = np.where(fixed >= 0, fixed, start.k + inside)
        _, first, which = np.unique(group, return_index=True, return_inverse=True)
        order = np.argsort(first)
        item = np.full(start.has_mass.size, -1)
        item[inside] = np.argsort(order)[which]
        return cls(start.k, item, fixed[first[order]])

    @property
    def n(self) -> int:
        """The number of items."""
        return self.number.size

    @property
    def apart(self) -> np.ndarray:
        """Which items are fixed; no two of them share a cluster."""
        return self.number >= 0

    def sums(self, table: np.ndarray) -> np.ndarray:
        """Sum a table with a row for each element over items."""
        out = np.zeros((self.n, table.shape[1]))
        inside = self.item >= 0
        np.add.at(out, self.item[inside], table[inside])
        return out

    def labels(self, clusters: np.ndarray) -> Labels:
        """Return the labels of all elements, given the clusters of items; fixed labels stay."""
        number = np.full(self.k + 1, -1)
        number[clusters[self.apart]] = self.number[self.apart]
        free = np.flatnonzero(number[:-1] < 0)
        number[free] = np.setdiff1d(np.arange(self.k), number)
        return number[np.append(clusters, -1)][self.item]


class Link(NamedTuple):
    """A term of two types: factor Σ f(mass of a block)."""

    source: int
    target: int
    masses: np.ndarray  # by items of both, as shares of all mass
    factor: float


class Alone(NamedTuple):
    """The terms of one type: Σ_y factor_y Σ_a f(mass of cluster a in column y)."""

    masses: np.ndarray  # by (item, column), as shares of all mass
    factors: np.ndarray


class CostParts(NamedTuple):
    """All terms of the cost at one β; a type that is not clustered has no items."""

    items: dict[int, Items]
    alone: dict[int, Alone]
    links: list[Link]


def cost_parts(problem: Problem[Any], beta: float) -> CostParts:
    """Return the terms of a problem's cost at β."""
    starts = problem.starts
    items = {t: Items.of(start) for t, start in enumerate(starts) if start.k is not None}
    columns: dict[int, list[tuple[np.ndarray, float]]] = {t: [] for t in items}
    links = []
    for source, target, joint, coefficients in problem.relations:
        c = coefficients(beta).one_sided(source in items, target in items)
        whole = joint.csr.toarray() / joint.total
        mass = (view.row_mass[:, None] / joint.total for view in (joint, joint.T))
        for t, own, total, masses in zip(
            (source, target), (c, c.transposed), mass, (whole, whole.T), strict=True
        ):
            if t in items:
                columns[t].append((total, own.factors.mass))
                columns[t] += [(masses, own.factors.items)] if own.source else []
        if c.both:
            between = items[target].sums(items[source].sums(whole).T).T
            links.append(Link(source, target, np.ascontiguousarray(between), c.factors.blocks))
    alone = {
        t: Alone(
            items[t].sums(np.hstack([masses for masses, _ in each])),
            np.concatenate([np.full(masses.shape[1], factor) for masses, factor in each]),
        )
        for t, each in columns.items()
    }
    return CostParts(items, alone, links)


# --- how much work it is ----------------------------------------------------------------------


def quickest(parts: CostParts) -> tuple[int, ...] | None:
    """Return the outer types that take the least work; None if it is too much.

    One end of every link must be outer.
    """
    if len(parts.items) > MAX_TYPES:
        return None
    choices = [
        outer
        for size in range(len(parts.items) + 1)
        for outer in combinations(parts.items, size)
        if all(link.source in outer or link.target in outer for link in parts.links)
    ]
    works = [work(parts, outer) for outer in choices]
    least = min(works)
    return choices[works.index(least)] if least <= budgets.work(budgets.EXACT_SECONDS) else None


def work(parts: CostParts, outer: tuple[int, ...]) -> float:
    """Return the work of the enumeration, in terms of a sweep."""
    counts = {t: count(parts.items[t].n, parts.items[t].k) for t in outer}
    combined = prod(counts.values())
    inner = [items for t, items in parts.items.items() if t not in outer]
    if combined == inf or any(i.n > MAX_INNER or i.n * _digit(i.k) > CODE_BITS for i in inner):
        return inf
    a_combination: float = COMBINATION_WORK
    for link in parts.links:
        ends = sorted((link.source, link.target), key=lambda t: t in outer)
        one, other = (parts.items[t] for t in ends)
        sets = one.k if ends[0] in outer else 2**one.n  # of blocks, or of subsets
        a_combination += one.n * other.n + LOGARITHM_WORK * other.k * sets
    terms = combined * a_combination
    for t, items in parts.items.items():
        width = parts.alone[t].factors.size
        if t in outer:
            terms += counts[t] * width * (items.n + LOGARITHM_WORK * items.k)
        else:
            terms += NUMPY_LOGARITHM_WORK * width * 2**items.n
            terms += combined * COMPARE_WORK * _comparisons(items.n, items.k)
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


# --- doing it ---------------------------------------------------------------------------------


class _Enumeration:
    """All combinations of partitions of the outer types, and the best of the inner for each."""

    def __init__(self, parts: CostParts, outer: tuple[int, ...]) -> None:
        self.parts = parts
        items = parts.items
        self.partitions = {
            t: every_partition(items[t].n, items[t].k, items[t].apart) for t in outer
        }
        self.alone = {}
        for t, each in self.partitions.items():
            masses, factors = parts.alone[t]
            columns = np.arange(factors.size, dtype=np.int16)[None]  # each a cluster of its own
            self.alone[t] = _block_costs(masses, each, columns, factors, items[t].k)
        self.inner = {t: _Inner(parts, t) for t in items if t not in outer}
        self.links = [link for link in parts.links if {link.source, link.target} <= {*outer}]

    def least(self, run: Run) -> dict[int, np.ndarray] | None:
        """Return the clusters of the items of each type at the least cost; None if time is over."""
        size = prod(len(each) for each in self.partitions.values())
        each = work(self.parts, tuple(self.partitions)) / size
        a_call = budgets.times(budgets.CALL_SECONDS, each, 1, size)
        done = [self._costs(numbers) for numbers in in_parts(np.arange(size), a_call, run)]
        if sum(costs.size for costs, _ in done) < size:
            return None
        costs, codes = (np.concatenate(pieces, axis=-1) for pieces in zip(*done, strict=True))
        ties = np.flatnonzero(costs <= costs.min() + TIE)
        first = ties[np.lexsort(codes[::-1, ties])[0]]
        return {
            t: self.partitions[t][code]
            if t in self.partitions
            else decoded(int(code), self.parts.items[t].n, self.parts.items[t].k)
            for t, code in zip(self.parts.items, codes[:, first], strict=True)
        }

    def _costs(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least costs of the given combinations, and their codes (types x combinations).

        The code of an outer type is the index of its partition, in lexicographic order.
        """
        costs, which, rest = np.zeros(numbers.size), {}, numbers
        for t, each in reversed(self.partitions.items()):  # the last type changes fastest
            rest, which[t] = np.divmod(rest, len(each))
        labels = {t: each[which[t]] for t, each in self.partitions.items()}
        for t, alone in self.alone.items():
            costs += alone[which[t]]
        for source, target, masses, factor in self.links:
            factors = np.full(self.parts.items[target].k, factor)
            k = self.parts.items[source].k
            costs += _block_costs(masses, labels[source], labels[target], factors, k)
        for t, inner in self.inner.items():
            least, which[t] = inner.best(labels, numbers.size)
            costs += least
        return costs, np.stack([which[t] for t in self.parts.items])


class _Inner:
    """A type whose best partition is sought, given those of the types it is linked to."""

    def __init__(self, parts: CostParts, t: int) -> None:
        items = parts.items[t]
        self.k = items.k
        self.subsets = subsets_of(*parts.alone[t], items.k, items.apart)
        self.others: list[int] = []  # the types it is linked to
        self.firsts: list[int] = []  # and the first cluster of each
        masses, factors = [np.empty((0, items.n))], [np.empty(0)]
        for source, target, between, factor in parts.links:
            if t in (source, target):
                other = target if t == source else source
                self.others.append(other)
                self.firsts.append(sum(part.size for part in factors))
                masses.append(between.T if t == source else between)
                factors.append(np.full(parts.items[other].k, factor))
        self.masses, self.factors = np.concatenate(masses), np.concatenate(factors)

    def best(self, labels: dict[int, np.ndarray], size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the least cost for each labelling of the others, and the best partition's code."""
        linked = zip(self.others, self.firsts, strict=True)
        every = np.hstack(
            [np.empty((size, 0), np.int16), *(labels[t] + np.int16(first) for t, first in linked)]
        )
        least, code = np.empty(size), np.empty(size, np.int64)
        best_partitions(self.subsets, self.masses, every, self.factors, self.k, least, code)
        return least, code


def _block_costs(
    masses: np.ndarray, rows: np.ndarray, columns: np.ndarray, factors: np.ndarray, k: int
) -> np.ndarray:
    """Return the costs of blocks, for each labelling of k row clusters and of the columns."""
    sums, blocks = np.empty((k, masses.shape[1])), np.empty((k, factors.size))
    costs = np.zeros(len(rows))
    add_block_costs(masses, rows, columns, factors, sums, blocks, costs)
    return costs


def every_partition(n: int, k: int, apart: np.ndarray) -> np.ndarray:
    """Return the labels of all partitions, one per line, in lexicographic order.

    Elements with ``apart`` are all in different clusters.
    """
    labels, used = np.zeros((1, 0), np.int16), np.zeros(1, np.int64)
    for x in range(n):
        fewest = np.where(k - used > n - x - 1, used, 0)  # every remaining element opens a cluster
        choices = np.minimum(used + 1, k) - fewest
        parent = np.repeat(np.arange(used.size), choices)
        place = np.arange(parent.size) - np.repeat(np.cumsum(choices) - choices, choices)
        label = (fewest[parent] + place).astype(np.int16)
        labels = np.column_stack([labels[parent], label])
        used = np.maximum(used[parent], label + 1)
        if apart[x]:
            clash = (labels[:, :x][:, apart[:x]] == label[:, None]).any(axis=1)
            labels, used = labels[~clash], used[~clash]
    return np.ascontiguousarray(labels)


# --- codes of partitions, and subsets ---------------------------------------------------------


def subsets_of(masses: np.ndarray, factors: np.ndarray, k: int, apart: np.ndarray) -> Subsets:
    """Return all subsets of the rows of ``masses``, their fixed costs, and scratch memory.

    The cost is Σ_y factors[y] f(mass in y), f(v) = v ln v; infinite with two elements of ``apart``.
    """
    n = masses.shape[0]
    alone = np.zeros(1 << n)
    for column, factor in zip(masses.T, factors, strict=True):
        alone += factor * nats(_sums(column))
    alone[_sums(apart.astype(np.int64)) > 1] = np.inf
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
