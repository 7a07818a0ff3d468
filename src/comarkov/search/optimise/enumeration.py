"""The cost as a sum of terms of single types of elements and of pairs of types.

In nats, up to a constant. Rows and columns are two types with one relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf, log
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from ...costs.objective import Coefficients, co_clustering
from ...joint.joint import Joint
from ...kernels.partitions import Subsets
from ..state.coclusters import CoClusterProblem, Problem
from ..state.graph import Relation
from ..state.starts import Start
from .refine import Labels


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
    joint: Joint
    factor: float


class End(NamedTuple):
    """The terms of one type that come from one relation."""

    type: int
    joint: Joint  # its rows are the elements of the type
    factor: float  # of Σ f(mass of a cluster in one element at the other end)
    mass_factor: float  # of Σ f(mass of a cluster)

    @property
    def width(self) -> int:
        """The number of masses of each cluster in these terms."""
        return 1 + (self.joint.shape[1] if self.factor else 0)

    def columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Return these masses of each element, as shares of all mass, and their factors."""
        masses, factors = self.joint.row_mass[:, None], [self.mass_factor]
        if self.factor:
            masses = np.hstack([masses, self.joint.csr.toarray()])
            factors += [self.factor] * self.joint.shape[1]
        return masses / self.joint.total, np.array(factors)


@dataclass(frozen=True)
class CostParts:
    """All terms of the cost at one β; a type that is not clustered has no items."""

    items: dict[int, Items]
    links: list[Link]
    ends: list[End]

    def width(self, t: int) -> int:
        """Return the number of masses of each cluster in the terms of one type."""
        return sum(end.width for end in self.ends if end.type == t)

    def alone(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the masses of each item in the terms of one type, and their factors."""
        columns = [end.columns() for end in self.ends if end.type == t]
        masses, factors = zip(*columns, strict=True)
        return self.items[t].sums(np.hstack(masses)), np.concatenate(factors)

    def between(self, link: Link) -> np.ndarray:
        """Return the masses by items of two types, as shares of all mass."""
        source, target = self.items[link.source], self.items[link.target]
        whole = link.joint.csr.toarray() / link.joint.total
        return np.ascontiguousarray(target.sums(source.sums(whole).T).T)


def cost_parts(problem: Problem[Any], beta: float) -> CostParts:
    """Return the terms of a problem's cost at β."""
    starts = problem.starts
    items = {t: Items.of(start) for t, start in enumerate(starts) if start.k is not None}
    links, ends = [], []
    for source, target, joint, coefficients in _relations(problem):
        c = _of_clustered(coefficients(beta), source in items, target in items)
        if c.both:
            links.append(Link(source, target, joint, -c.both))
        if source in items:
            ends.append(End(source, joint, -c.source, c.source + c.both))
        if target in items:
            ends.append(End(target, joint.T, -c.target, c.target + c.both))
    return CostParts(items, links, ends)


def _relations(problem: Any) -> Sequence[Relation]:
    if isinstance(problem, CoClusterProblem):
        return [Relation(0, 1, problem.joint, co_clustering)]
    relations: Sequence[Relation] = problem.graph.relations
    return relations


def _of_clustered(coefficients: Coefficients, rows: bool, columns: bool) -> Coefficients:
    """Return the coefficients if only one side is clustered: each element is its own cluster."""
    if rows and columns:
        return coefficients
    source, target, both = coefficients
    return Coefficients(source + both if rows else 0.0, target + both if columns else 0.0, 0.0)


MOST = 1e9  # larger numbers of partitions count as infinite
LARGEST = 1000  # with more elements, only 1 or n clusters have few enough partitions
CODE_BITS = 62


def count(n: int, k: int) -> float:
    """Return the number of partitions of n elements into k clusters; infinite above MOST."""
    if k in (1, n):
        return 1
    if n > LARGEST or (n - k) * log(k) > log(MOST):  # k^(n-k) place all but k elements that differ
        return inf
    sums = [1] + [0] * (n - k)  # of all products of so many of the numbers up to i
    for i in range(1, k + 1):
        for d in range(1, n - k + 1):
            sums[d] += i * sums[d - 1]
    return sums[-1] if sums[-1] <= MOST else inf


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


# --- through subsets --------------------------------------------------------------------------


def can_encode(n: int, k: int) -> bool:
    """Do the labels fit into a code?"""
    return n * _digit(k) <= CODE_BITS


def steps(n: int, k: int) -> int:
    """Return the number of pairs of subsets that ``best_partitions`` compares."""
    levels = range(2, k)
    return 2 ** (n - 1) + sum(
        comb(n - 1, size) * 2 ** (size - 1) for j in levels for size in range(j, n - k + j + 1)
    )


def subsets_of(masses: np.ndarray, factors: np.ndarray, k: int, apart: np.ndarray) -> Subsets:
    """Return all subsets of the rows of ``masses``, their fixed costs, and scratch memory.

    The cost is Σ_y factors[y] f(mass in y), f(v) = v ln v; infinite with two elements of ``apart``.
    """
    n = masses.shape[0]
    digit = _digit(k)
    alone = np.zeros(1 << n)
    for column, factor in zip(masses.T, factors, strict=True):
        mass = _sums(column)
        alone += factor * xlogy(mass, mass)
    alone[_sums(apart.astype(np.int64)) > 1] = np.inf
    return Subsets(
        size=_sums(np.ones(n, np.int64)),
        ones=_sums(1 << (digit * np.arange(n - 1, -1, -1))),
        alone=alone,
        mass=np.empty(1 << n),
        cost=np.empty((3, 1 << n)),
        code=np.zeros((3, 1 << n), np.int64),
    )


def decoded(code: int, n: int, k: int) -> np.ndarray:
    """Return the labels of a code."""
    digit = _digit(k)
    return code >> (digit * np.arange(n - 1, -1, -1)) & ((1 << digit) - 1)


def _digit(k: int) -> int:
    """Return the number of bits of a label in a code."""
    return (k - 1).bit_length()


def _sums(values: np.ndarray) -> np.ndarray:
    """Return the sum of the values over each subset."""
    sums = np.zeros(1, values.dtype)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums
