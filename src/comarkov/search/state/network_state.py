"""Networks: types of elements, each in clusters, and relations between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.labels import merge_numbers
from ...costs.objective import LN2, Coefficients, Information, Term, sum_pair_terms
from ...joint.joint import Joint
from ...kernels import network as moves
from ...kernels.matrix import table_bits
from ...kernels.tables import add_loop_pairs
from ..optimise.refine import Labels, Split, Visit
from ..run import Budget, Run, in_parts
from .starts import Start

NETWORK_SLOWDOWN = 4  # a term in a network takes as long as this many terms of a co-clustering
SPLIT_SWEEPS = 3  # further sweeps gain little


class WeightedRelation(NamedTuple):
    """Weights between the elements of two types, or of one, and their coefficients at each β."""

    source: int
    target: int
    joint: Joint
    coefficients: Callable[[float], Coefficients]

    @property
    def is_loop(self) -> bool:
        """Does it relate a type to itself?"""
        return self.source == self.target


class End(NamedTuple):
    """A relation as seen from the type at one of its ends."""

    relation: int
    other: int  # the type at the other end
    is_target: bool
    joint: Joint  # its rows are elements of the type
    row: int  # the first of the rows of the type's table that belong to it


@dataclass(frozen=True)
class Graph:
    """All types and relations."""

    relations: tuple[WeightedRelation, ...]
    n_types: int

    @cached_property
    def ends(self) -> list[list[End]]:
        """The relations of each type; those of a type to itself appear as source and as target."""
        ends: list[list[End]] = [[] for _ in range(self.n_types)]
        rows = [0] * self.n_types
        for e, (source, target, joint, _) in enumerate(self.relations):
            for own, other, view in ((source, target, joint), (target, source, joint.T)):
                ends[own].append(End(e, other, view is not joint, view, rows[own]))
                rows[own] += view.shape[1]
        return ends

    @cached_property
    def stars(self) -> list[moves.Star]:
        """The entries of each type; factors and items, which depend on β, are still empty."""
        return [_star(self, ends) for ends in self.ends]

    @cached_property
    def work(self) -> list[int]:
        """The terms of the cost in a sweep over each type, for each of its clusters."""
        return [NETWORK_SLOWDOWN * (star.indices.size + star.indptr.size) for star in self.stars]

    @cached_property
    def weights(self) -> list[np.ndarray]:
        """For each type, the share of each element in all mass, summed over relations."""
        return [
            np.sum([end.joint.row_mass / end.joint.total for end in ends], axis=0)
            for ends in self.ends
        ]


def loops_of(graph: Graph, ends: Sequence[End]) -> list[int]:
    """Return the relations of a type to itself."""
    return [
        end.relation for end in ends if not end.is_target and graph.relations[end.relation].is_loop
    ]


def _star(graph: Graph, ends: list[End]) -> moves.Star:
    """Return the entries of a type, with loops stored separately."""
    parts, rows = [], {}
    for end in ends:
        rows[end.relation, end.is_target] = end.row
        csr = sp.csr_array(end.joint.csr, dtype=np.float64)
        if graph.relations[end.relation].is_loop:
            csr = csr - sp.diags_array(csr.diagonal(), format="csr")
            csr.eliminate_zeros()
        parts.append(csr)
    loops = loops_of(graph, ends)
    stacked = sp.csr_array(sp.hstack(parts, format="csr"))
    diagonals = [graph.relations[e].joint.csr.diagonal().astype(np.float64) for e in loops]
    twice = [[rows[e, False], rows[e, True], 0, 0] for e in loops]
    empty = np.empty(0)
    return moves.Star(
        indptr=stacked.indptr.astype(np.int64),
        indices=stacked.indices.astype(np.uint32),
        weights=stacked.data,
        factor=empty,
        item_factor=empty,
        own=empty.astype(np.int64),
        loops=np.array(diagonals, np.float64).reshape(len(loops), stacked.shape[0]),
        twice=np.array(twice, np.int64).reshape(len(loops), 4),
    )


class NetworkSide(NamedTuple):
    """The elements of one type, as optimisers see them."""

    type: int
    labels: np.ndarray  # -1 for empty elements
    weights: np.ndarray  # the share of each element in all mass, summed over relations
    k: int
    is_numbered: bool  # did the user number the clusters?
    work: int  # the terms of the cost in a sweep, in terms of co-clustering

    def cluster_mass(self) -> np.ndarray:
        """Return the share of each cluster in all mass, summed over relations."""
        has_mass = self.labels >= 0
        weights = self.weights[has_mass]
        return np.bincount(self.labels[has_mass], weights=weights, minlength=self.k)


@dataclass
class Network:
    """Partitions of all types, each with its table A[y, a], all relations stacked."""

    graph: Graph
    starts: Sequence[Start]
    partitions: list[moves.Partition]
    tables: list[moves.Masses]
    n_iter: int = 0
    converged: bool = True

    def every_side(self) -> list[NetworkSide]:
        """All types."""
        return [
            NetworkSide(t, label, weight, size.size, start.has_numbers, work * size.size)
            for t, ((label, size, weight), start, work) in enumerate(
                zip(self.partitions, self.starts, self.graph.work, strict=True)
            )
        ]

    # --- the protocol of optimisers -----------------------------------------------------------

    def sides(self) -> list[NetworkSide]:
        """The types that have elements to move."""
        return [side for side in self.every_side() if self.starts[side.type].free.size]

    def labels(self) -> list[Labels | None]:
        """Copies of the labels of all types."""
        return [partition.label.copy() for partition in self.partitions]

    def cost(self, beta: float) -> float:
        """Return the sum of the losses of all relations, in bits."""
        return sum(
            relation.coefficients(beta).cost(information)
            for relation, information in zip(self.graph.relations, self.informations(), strict=True)
        )

    def merge_costs(self, side: NetworkSide, beta: float) -> np.ndarray:
        """Return the costs of merging clusters i < j of a type, in bits; infinite elsewhere."""
        star, blocks, _ = self._surroundings(side.type, beta)
        terms: list[Term] = []
        for end in self.graph.ends[side.type]:
            rows = slice(end.row, end.row + end.joint.shape[1])
            terms.append((self.tables[side.type].mass[rows], float(star.factor[rows.start])))
        for j in np.flatnonzero(star.own < 0):
            terms.append((blocks.mass[j : j + 1], float(star.item_factor[j])))
        costs = sum_pair_terms(terms)
        for _, _, source, target in star.twice:
            chain = blocks.mass[target : target + side.k]
            add_loop_pairs(costs, chain, star.item_factor[source])
        return costs / LN2

    def merged(self, side: NetworkSide, i: int, j: int) -> Network:
        """Return the network with clusters i and j of a type merged."""
        number = np.append(merge_numbers(side.k, i, j), -1)
        return self._with(side.type, number[side.labels], side.k - 1)

    def relabelled(self, side: NetworkSide, labels: np.ndarray) -> Network:
        """Return the network with new labels for one type; the others are shared."""
        return self._with(side.type, labels, side.k)

    def splits(self, side: NetworkSide, run: Run) -> list[Split]:
        """Split each cluster in two by sweeps over its members alone, from a random start."""
        none = Split(0.0, np.zeros(0, np.int64))
        return [none if run.stop() else self._split(side, a, run) for a in range(side.k)]

    def _split(self, side: NetworkSide, cluster: int, run: Run) -> Split:
        members = np.flatnonzero(side.labels == cluster)
        if members.size < 2:
            return Split(0.0, members[:0])
        run = run.undisturbed()
        labels = side.labels + (side.labels > cluster)  # room for another beside it
        halves = run.rng.permutation(np.arange(members.size) % 2)
        labels[members[halves == 1]] += 1
        pair = self._with(side.type, labels, side.k + 1)
        span = (cluster, cluster + 2)
        for _ in range(SPLIT_SWEEPS):
            if pair._sweep(side.type, members, span, run).moves == 0:
                break
        leavers = members[pair.partitions[side.type].label[members] > cluster]
        return Split(self.cost(run.beta) - pair.cost(run.beta), leavers)

    def copy(self) -> Network:
        """Return a copy that can be changed independently."""
        state = self
        for side in self.every_side():
            state = state._with(side.type, side.labels, side.k)
        return state

    def sweep(self, side: NetworkSide, run: Run, complete: bool = True) -> Visit:
        """Move all free elements of a type, each to its cluster of least cost."""
        order = self.starts[side.type].free
        return self._sweep(side.type, order, (0, side.k), run)

    def _sweep(self, t: int, order: np.ndarray, span: tuple[int, int], run: Run) -> Visit:
        """Move elements of a type in this order, each to the cluster of least cost in the span."""
        star, blocks, cross = self._surroundings(t, run.beta)
        n_moves, saved, seen = 0, 0.0, 0
        per_element = star.indices.size / max(star.indptr.size - 1, 1) + cross.shape[1]
        terms = per_element * (span[1] - span[0]) * NETWORK_SLOWDOWN
        for part in in_parts(order, max(1, int(Budget.CALL.terms / terms)), run):
            did = moves.sweep(part, span, star, self.partitions[t], self.tables[t], blocks, cross)
            n_moves, saved, seen = n_moves + did[0], saved + did[1], seen + part.size
        return Visit(n_moves, saved / LN2, seen == order.size)

    # --- its parts ----------------------------------------------------------------------------

    def informations(self) -> list[Information]:
        """Return the four informations of each relation."""
        return [self.information(e) for e in range(len(self.graph.relations))]

    def information(self, e: int) -> Information:
        """Return the four informations of a relation, from the tables."""
        source, target, joint, _ = self.graph.relations[e]
        by_source, by_target = self._table(source, e, False), self._table(target, e, True)
        blocks = self._summed(target, by_source)  # target clusters x source clusters
        return Information(
            joint.information,
            table_bits(by_target, blocks.sum(axis=1), joint.row_mass),
            table_bits(by_source, blocks.sum(axis=0), joint.column_mass),
            table_bits(blocks),
        )

    def block_masses(self, e: int) -> np.ndarray:
        """Return the masses by (source cluster, target cluster) of a relation."""
        relation = self.graph.relations[e]
        table = self._table(relation.source, e, False)
        return self._summed(relation.target, table).T

    def _table(self, t: int, e: int, is_target: bool) -> np.ndarray:
        end = next(
            end for end in self.graph.ends[t] if end.relation == e and end.is_target == is_target
        )
        return self.tables[t].mass[end.row : end.row + end.joint.shape[1]]

    def _summed(self, t: int, rows: np.ndarray) -> np.ndarray:
        """Sum rows, one for each element of a type, over its clusters."""
        out = np.zeros((self.partitions[t].size.size, rows.shape[1]))
        moves.add_up(out, np.ascontiguousarray(rows), self.partitions[t].label)
        return out

    def _with(self, t: int, labels: np.ndarray, k: int) -> Network:
        """Return the network with a new partition of one type; the others are shared."""
        partitions, tables = self.partitions.copy(), self.tables.copy()
        partitions[t], tables[t] = _placed(self.graph, t, labels, k)
        return replace(self, partitions=partitions, tables=tables, converged=True)

    def _surroundings(self, t: int, beta: float) -> tuple[moves.Star, moves.Masses, np.ndarray]:
        """Return what a sweep over a type needs: its star at this β, the blocks, and B[x, j]."""
        ends = self.graph.ends[t]
        tables = [self._table(end.other, end.relation, not end.is_target) for end in ends]
        mass = [end.joint.row_mass[:, None] for end in ends]
        cross = np.hstack([each for pair in zip(tables, mass, strict=True) for each in pair])
        factors = [self._factors(end, beta) for end in ends]
        factor, item_factor, own = (np.concatenate(parts) for parts in zip(*factors, strict=True))
        last = np.cumsum([0] + [self.partitions[end.other].size.size + 1 for end in ends])
        first = {(end.relation, end.is_target): j for end, j in zip(ends, last[:-1], strict=True)}
        star = self.graph.stars[t]
        twice = star.twice.copy()
        for line, e in zip(twice, loops_of(self.graph, ends), strict=True):
            line[2:] = first[e, False], first[e, True]
        blocks = np.ascontiguousarray(self._summed(t, cross).T)
        masses = moves.Masses(blocks, np.zeros_like(blocks))
        moves.derive(masses)
        star = star._replace(
            factor=factor, item_factor=item_factor, own=own.astype(np.int64), twice=twice
        )
        return star, masses, np.ascontiguousarray(cross)

    def _factors(self, end: End, beta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the factors of rows and of items, and the type's own cluster of each item."""
        relation = self.graph.relations[end.relation]
        coefficients = relation.coefficients(beta)
        factors = (coefficients.transposed if end.is_target else coefficients).factors
        items, both, mass = np.array(factors) * (1.0 / end.joint.total)
        k = self.partitions[end.other].size.size
        clusters = np.arange(k) if relation.is_loop else np.full(k, -1)
        return (
            np.full(end.joint.shape[1], items),
            np.append(np.full(k, both), mass),
            np.append(clusters, -1),
        )


def network(graph: Graph, starts: Sequence[Start], labels: Sequence[Labels]) -> Network:
    """A network from the labels of all its types."""
    placed = [_placed(graph, t, labels[t], starts[t].k or 1) for t in range(graph.n_types)]
    return Network(graph, starts, [place[0] for place in placed], [place[1] for place in placed])


def _placed(
    graph: Graph, t: int, labels: np.ndarray, k: int
) -> tuple[moves.Partition, moves.Masses]:
    """A partition of a type and its table."""
    weight = graph.weights[t]
    label = np.where(weight > 0, labels, -1).astype(np.int64)
    size = np.bincount(label[label >= 0], minlength=k)
    n_rows = sum(end.joint.shape[1] for end in graph.ends[t])
    table = moves.Masses(np.zeros((n_rows, k)), np.empty((n_rows, k)))
    moves.fill(table, graph.stars[t], label)
    return moves.Partition(label, size, weight), table
