"""A network in the making: types of elements, each in clusters, and relations between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from ..costs.relations import Coefficients, Information
from ..data.joint import Joint, bits
from ..kernels import network as moves
from .merging import SPLIT_SWEEPS, Split, Term, pair_costs
from .side import Visit

WORK_PER_CALL = 5_000_000  # terms of the cost in one call of the kernel: some tens of milliseconds
SLOWNESS = 4  # a term here takes so many times as long as one in the kernel of co-clustering
LN2 = float(np.log(2))
T = TypeVar("T")


class Relation(NamedTuple):
    """Weights between the elements of two types, or of one, and what they cost at each β."""

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
    """All types and relations; what does not change when elements move."""

    relations: tuple[Relation, ...]
    n_types: int

    @property
    def has_loops(self) -> bool:
        """Does any relation relate a type to itself?"""
        return any(relation.is_loop for relation in self.relations)

    @cached_property
    def ends(self) -> list[list[End]]:
        """For each type the relations that it has; those to itself as source and as target."""
        ends: list[list[End]] = [[] for _ in range(self.n_types)]
        rows = [0] * self.n_types
        for e, (source, target, joint, _) in enumerate(self.relations):
            for own, other, view in ((source, target, joint), (target, source, joint.T)):
                ends[own].append(End(e, other, view is not joint, view, rows[own]))
                rows[own] += view.shape[1]
        return ends

    @cached_property
    def stars(self) -> list[moves.Star]:
        """For each type its entries; factors and items depend on β and on the other types."""
        return [_star(self, ends) for ends in self.ends]

    @cached_property
    def weights(self) -> list[np.ndarray]:
        """For each type the share of all mass that each element has, summed over relations."""
        return [
            np.sum([end.joint.row_mass / end.joint.total for end in ends], axis=0)
            for ends in self.ends
        ]


@dataclass(frozen=True)
class NodeSide:
    """The elements of one type, as optimisers see them."""

    network: Network
    type: int

    @property
    def k(self) -> int:
        """The number of clusters."""
        return self.network.counts[self.type]

    @property
    def labels(self) -> np.ndarray:
        """The cluster of each element; -1 without mass."""
        return self.network.partitions[self.type].label

    @property
    def is_numbered(self) -> bool:
        """Do clusters have numbers that the user gave them?"""
        return self.network.numbered[self.type]

    @property
    def work(self) -> int:
        """Terms of the cost in a sweep, in those of co-clustering."""
        star = self.network.graph.stars[self.type]
        return SLOWNESS * (star.indices.size + star.indptr.size) * self.k

    def sweep(
        self, cross: None, beta: float, rng: np.random.Generator | None, complete: bool,
        stop: Callable[[], bool],
    ) -> Visit:  # fmt: skip
        """Move all elements that are free, each to its cluster of least cost."""
        order = self.network.free[self.type]
        if rng is not None:
            order = rng.permutation(order)
        return self.network.sweep(self.type, order, (0, self.k), beta, stop)


@dataclass
class Network:
    """Partitions of all types, and the table kept with each: A[y, a], all relations stacked."""

    graph: Graph
    partitions: list[moves.Partition]
    counts: list[int]
    free: list[np.ndarray]
    numbered: list[bool]
    tables: list[moves.Masses]
    n_iter: int = 0
    converged: bool = True

    # --- what optimisers ask for --------------------------------------------------------------

    def sides(self) -> list[tuple[NodeSide, None]]:
        """The types that have elements to move."""
        return [(NodeSide(self, t), None) for t, free in enumerate(self.free) if free.size]

    def cost(self, beta: float) -> float:
        """The sum over relations of what is lost, in bits."""
        return sum(
            relation.coefficients(beta).cost(self.information(e))
            for e, relation in enumerate(self.graph.relations)
        )

    def merge_costs(self, side: NodeSide, beta: float) -> np.ndarray:
        """What it costs to merge clusters i < j of a type, in bits; infinite elsewhere."""
        star, blocks, _ = self._surroundings(side.type, beta)
        terms: list[Term] = []
        for end in self.graph.ends[side.type]:
            rows = slice(end.row, end.row + end.joint.shape[1])
            terms.append((self.tables[side.type].mass[rows], float(star.factor[rows.start])))
        for j in np.flatnonzero(star.own < 0):
            terms.append((blocks.mass[j : j + 1], float(star.item_factor[j])))
        costs = pair_costs(terms)
        for _, _, source, target in star.twice:
            chain = blocks.mass[target : target + side.k]
            moves.add_loop_pairs(costs, chain, star.item_factor[source])
        return costs / LN2

    def merged(self, side: NodeSide, i: int, j: int) -> Network:
        """The same with clusters i and j of a type made one."""
        number = np.arange(side.k)
        number[max(i, j)] = min(i, j)
        number[max(i, j) + 1 :] -= 1
        return self._with(side.type, np.append(number, -1)[side.labels], side.k - 1)

    def relabelled(self, side: NodeSide, labels: np.ndarray) -> Network:
        """The same with other labels for one type; the others are shared."""
        return self._with(side.type, labels, side.k)

    def split(self, side: NodeSide, cluster: int, beta: float, rng: np.random.Generator) -> Split:
        """Split a cluster in two by sweeps over its members alone, from a random start."""
        members = np.flatnonzero(side.labels == cluster)
        if members.size < 2:
            return Split(0.0, members[:0])
        labels = side.labels + (side.labels > cluster)  # room for another beside it
        labels[members[rng.permutation(np.arange(members.size) % 2) == 1]] += 1
        pair = self._with(side.type, labels, side.k + 1)
        span = (cluster, cluster + 2)
        for _ in range(SPLIT_SWEEPS):
            if pair.sweep(side.type, members, span, beta, lambda: False).moves == 0:
                break
        leavers = members[pair.partitions[side.type].label[members] > cluster]
        return Split(self.cost(beta) - pair.cost(beta), leavers)

    def copy(self) -> Network:
        """The same, to change without changing this."""
        state = self
        for t in range(self.graph.n_types):
            state = state._with(t, self.partitions[t].label, self.counts[t])
        return state

    def sweep(
        self, t: int, order: np.ndarray, span: tuple[int, int], beta: float,
        stop: Callable[[], bool],
    ) -> Visit:  # fmt: skip
        """Move elements of a type in this order, each to the cluster of least cost in the span."""
        star, blocks, cross = self._surroundings(t, beta)
        n_moves, saved = 0, 0.0
        per_element = star.indices.size / max(star.indptr.size - 1, 1) + cross.shape[1]
        step = max(1, int(WORK_PER_CALL / (per_element * (span[1] - span[0]))))
        for start in range(0, order.size, step):
            if stop():
                return Visit(n_moves, saved / LN2, False)
            did = moves.sweep(
                order[start : start + step], span, star, self.partitions[t],
                self.tables[t], blocks, cross,
            )  # fmt: skip
            n_moves, saved = n_moves + did[0], saved + did[1]
        return Visit(n_moves, saved / LN2, True)

    # --- what it is made of -------------------------------------------------------------------

    def information(self, e: int) -> Information:
        """The four informations of a relation, from the tables."""
        source, target, joint, _ = self.graph.relations[e]
        by_source, by_target = self._table(source, e, False), self._table(target, e, True)
        blocks = self._summed(target, by_source)  # target clusters x source clusters
        masses = blocks.sum(axis=0), blocks.sum(axis=1)
        return Information(
            joint.information,
            bits(by_target, masses[1], joint.row_mass),
            bits(by_source, masses[0], joint.column_mass),
            bits(blocks, *masses),
        )

    def block_masses(self, e: int) -> np.ndarray:
        """The mass between clusters of the source and of the target of a relation."""
        relation = self.graph.relations[e]
        table = self._table(relation.source, e, False)
        return self._summed(relation.target, table).T

    def _table(self, t: int, e: int, is_target: bool) -> np.ndarray:
        end = next(
            end for end in self.graph.ends[t] if end.relation == e and end.is_target == is_target
        )
        return self.tables[t].mass[end.row : end.row + end.joint.shape[1]]

    def _summed(self, t: int, rows: np.ndarray) -> np.ndarray:
        """Rows, one for each element of a type, summed over its clusters."""
        out = np.zeros((self.counts[t], rows.shape[1]))
        moves.add_up(out, np.ascontiguousarray(rows), self.partitions[t].label)
        return out

    def _with(self, t: int, labels: np.ndarray, k: int) -> Network:
        """The same with another partition of one type; the others are shared."""
        partition, table = _placed(self.graph, t, labels, k)
        return Network(
            self.graph, _replaced(self.partitions, t, partition), _replaced(self.counts, t, k),
            self.free, self.numbered, _replaced(self.tables, t, table), self.n_iter,
        )  # fmt: skip

    def _surroundings(self, t: int, beta: float) -> tuple[moves.Star, moves.Masses, np.ndarray]:
        """What a sweep over a type needs: its star at this β, blocks, and B[x, j]."""
        ends = self.graph.ends[t]
        cross = np.hstack([self._cross(end) for end in ends])
        asked = [self._factors(end, beta) for end in ends]
        factor, item_factor, own = (np.concatenate(parts) for parts in zip(*asked, strict=True))
        last = np.cumsum([0] + [self.counts[end.other] + 1 for end in ends])
        first = {(end.relation, end.is_target): j for end, j in zip(ends, last[:-1], strict=True)}
        star = self.graph.stars[t]
        twice = star.twice.copy()
        for line, e in zip(twice, _loops(self.graph, ends), strict=True):
            line[2:] = first[e, False], first[e, True]
        blocks = np.ascontiguousarray(self._summed(t, cross).T)
        masses = moves.Masses(blocks, np.zeros_like(blocks))
        moves.derive(masses)
        star = star._replace(
            factor=factor, item_factor=item_factor, own=own.astype(np.int64), twice=twice
        )
        return star, masses, np.ascontiguousarray(cross)

    def _cross(self, end: End) -> np.ndarray:
        """What elements have with the clusters at the other end, and their masses."""
        table = self._table(end.other, end.relation, not end.is_target)
        return np.hstack([table, end.joint.row_mass[:, None]])

    def _factors(self, end: End, beta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Factors of rows and of items, and which of the type's own clusters an item is."""
        relation = self.graph.relations[end.relation]
        asked = relation.coefficients(beta)
        mine, _, both = asked.turned if end.is_target else asked
        scale = 1.0 / end.joint.total
        k = self.counts[end.other]
        clusters = np.arange(k) if relation.is_loop else np.full(k, -1)
        return (
            np.full(end.joint.shape[1], -mine * scale),
            np.append(np.full(k, -both * scale), (mine + both) * scale),
            np.append(clusters, -1),
        )


def network(
    graph: Graph, labels: Sequence[np.ndarray], counts: Sequence[int],
    free: Sequence[np.ndarray], numbered: Sequence[bool],
) -> Network:  # fmt: skip
    """A network from the labels of all its types."""
    placed = [_placed(graph, t, labels[t], counts[t]) for t in range(graph.n_types)]
    partitions, tables = [place[0] for place in placed], [place[1] for place in placed]
    return Network(graph, partitions, list(counts), list(free), list(numbered), tables)


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


def _replaced(items: list[T], t: int, item: T) -> list[T]:
    return [*items[:t], item, *items[t + 1 :]]


def _loops(graph: Graph, ends: list[End]) -> list[int]:
    """The relations of a type to itself."""
    return [
        end.relation for end in ends if not end.is_target and graph.relations[end.relation].is_loop
    ]


def _star(graph: Graph, ends: list[End]) -> moves.Star:
    """The entries of a type; loops apart."""
    parts, rows = [], {}
    for end in ends:
        rows[end.relation, end.is_target] = end.row
        csr = sp.csr_array(end.joint.csr, dtype=np.float64)
        if graph.relations[end.relation].is_loop:
            csr = csr - sp.diags_array(csr.diagonal(), format="csr")
            csr.eliminate_zeros()
        parts.append(csr)
    loops = _loops(graph, ends)
    stacked = sp.csr_array(sp.hstack(parts, format="csr"))
    diagonals = [graph.relations[e].joint.csr.diagonal().astype(np.float64) for e in loops]
    twice = [[rows[e, False], rows[e, True], 0, 0] for e in loops]
    nothing = np.empty(0)
    return moves.Star(
        stacked.indptr.astype(np.int64), stacked.indices.astype(np.uint32), stacked.data,
        nothing, nothing, nothing.astype(np.int64),
        np.array(diagonals, np.float64).reshape(len(loops), stacked.shape[0]),
        np.array(twice, np.int64).reshape(len(loops), 4),
    )  # fmt: skip
