"""The cost as a sum of terms of single types of elements and of pairs of types.

In nats, up to a constant. Rows and columns are two types with one relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..costs.relations import Coefficients, co_clustering
from ..data.joint import Joint
from .coclusters import CoClusterProblem
from .graph import Relation
from .problem import Problem
from .refinement import Labels
from .starts import Start


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
