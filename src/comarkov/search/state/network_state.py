"""The state of a network: types of elements, each in clusters, and relations between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...costs.labels import merge_numbers
from ...costs.objective import LN2, Information, Term, information, sum_pair_terms
from ...joint.joint import Joint
from ...kernels import network as moves
from ...kernels.matrix import table_bits
from ...kernels.pairs import add_loop_pairs
from .. import budgets
from ..optimise.refine import Labels, Split, Visit, refine
from ..optimise.seeding import lumped, spectral
from ..run import Run, in_parts
from .coclusters import CoClusterProblem
from .graph import End, Graph, WeightedRelation, loops_of
from .starts import Start

SPLIT_SWEEPS = 3  # further sweeps gain little


@dataclass(frozen=True)
class NetworkSide:
    """The elements of one type, as optimisers see them."""

    network: Network
    type: int

    @property
    def k(self) -> int:
        """The number of clusters."""
        return self.network.partitions[self.type].size.size

    @property
    def labels(self) -> np.ndarray:
        """The cluster of each element; -1 if it is empty."""
        return self.network.partitions[self.type].label

    @property
    def is_numbered(self) -> bool:
        """Did the user number the clusters?"""
        return self.network.starts[self.type].has_numbers

    @property
    def work(self) -> int:
        """The terms of the cost in a sweep, in terms of co-clustering."""
        return self.network.graph.work(self.type) * self.k

    def cluster_mass(self) -> np.ndarray:
        """Return the share of each cluster in all mass, summed over relations."""
        label, size, weight = self.network.partitions[self.type]
        has_mass = label >= 0
        return np.bincount(label[has_mass], weights=weight[has_mass], minlength=size.size)


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
        return [NetworkSide(self, t) for t in range(self.graph.n_types)]

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
        terms = per_element * (span[1] - span[0]) * budgets.NETWORK_SLOWDOWN
        for part in in_parts(order, max(1, int(budgets.work(budgets.CALL_SECONDS) / terms)), run):
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
        out = np.zeros((self.every_side()[t].k, rows.shape[1]))
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
        cross = np.hstack([self._cross(end) for end in ends])
        factors = [self._factors(end, beta) for end in ends]
        factor, item_factor, own = (np.concatenate(parts) for parts in zip(*factors, strict=True))
        last = np.cumsum([0] + [self.every_side()[end.other].k + 1 for end in ends])
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

    def _cross(self, end: End) -> np.ndarray:
        """Return the masses of elements with the clusters at the other end, and their totals."""
        table = self._table(end.other, end.relation, not end.is_target)
        return np.hstack([table, end.joint.row_mass[:, None]])

    def _factors(self, end: End, beta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the factors of rows and of items, and the type's own cluster of each item."""
        relation = self.graph.relations[end.relation]
        coefficients = relation.coefficients(beta)
        factors = (coefficients.transposed if end.is_target else coefficients).factors
        items, both, mass = np.array(factors) * (1.0 / end.joint.total)
        k = self.every_side()[end.other].k
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


@dataclass(frozen=True)
class NetworkProblem:
    """A graph of relations whose types are to be clustered, and the starts of their elements."""

    graph: Graph
    starts: Sequence[Start]

    seeded_in_a_row = 1  # seedings by singular vectors hardly differ
    waves = 2

    @property
    def seedings(self) -> list[Callable[[Run], Network]]:
        """By singular vectors and, if a type is related to itself, by eigenvectors."""
        has_loops = any(relation.is_loop for relation in self.graph.relations)
        return [self.by_singular_vectors, *([self.by_eigenvectors] if has_loops else [])]

    @property
    def relations(self) -> Sequence[WeightedRelation]:
        """All relations."""
        return self.graph.relations

    def prepare(self) -> None:
        """Compute once what all threads share."""
        _ = self.graph.stars, self.graph.weights
        for relation in self.graph.relations:
            _ = relation.joint.information

    def work(self, counts: Sequence[int | None]) -> int:
        """Return the terms of the cost in a sweep over all types, in terms of co-clustering."""
        return sum(self.graph.work(t) * (count or 0) for t, count in enumerate(counts))

    def begin(self, starts: Sequence[Start], rng: np.random.Generator) -> Network:
        """Return a network with random labels where none are given."""
        return network(self.graph, starts, [start.draw(rng) for start in starts])

    def with_labels(self, labels: Sequence[Labels | None]) -> Network:
        """Return the network with these labels of all types."""
        assert all(given is not None for given in labels)
        return network(self.graph, self.starts, [given for given in labels if given is not None])

    def with_starts(self, starts: Sequence[Start]) -> NetworkProblem:
        """Return the same problem with other starts."""
        return replace(self, starts=starts)

    def by_singular_vectors(self, run: Run, with_loops: bool = False) -> Network:
        """Seed each type by the leading singular vectors of its largest relation, then sweep."""
        labels = []
        for t in range(len(self.starts)):
            seeds = self._loop_seeds(t, run) if with_loops else None
            labels.append(self._seeds(t, run) if seeds is None else seeds)
        state = self.with_labels(labels)
        refine(state, run.sweeping(2), "seeds")
        return state

    def by_eigenvectors(self, run: Run) -> Network:
        """Seed types that are related to themselves by eigenvectors, others as above."""
        return self.by_singular_vectors(run, with_loops=True)

    def _seeds(self, t: int, run: Run) -> Labels:
        """Return labels by singular vectors, or random ones if time is over; given labels stay."""
        start = self.starts[t]
        data = None if run.stop() else _largest(self.graph.ends[t], start)
        if data is None:
            return start.draw(run.rng)
        seeds = spectral(data, start.k or 1, run.rng)
        return replace(start, labels=seeds).draw(run.rng)  # elements that this relation lacks

    def _loop_seeds(self, t: int, run: Run) -> Labels | None:
        """Return labels by eigenvectors of a relation of a type to itself; None without one."""
        start = self.starts[t]
        loops = [end for end in self.graph.ends[t] if end.other == t and not end.is_target]
        data = _largest(loops, start)
        seeds = None if data is None else lumped(data, start.k or 1, run.rng)
        return None if seeds is None else replace(start, labels=seeds).draw(run.rng)


class GivenSide(NamedTuple):
    """Elements in groups, and their shares in all mass."""

    labels: np.ndarray
    weights: np.ndarray

    def cluster_mass(self) -> np.ndarray:
        """Return the share of each group in all mass."""
        inside = self.labels >= 0
        return np.bincount(self.labels[inside], weights=self.weights[inside])


@dataclass(frozen=True)
class GivenGroups:
    """The elements of a single type in groups that were found elsewhere, without tables."""

    graph: Graph
    groups: np.ndarray
    n_iter: int = 0

    def every_side(self) -> list[GivenSide]:
        """The only type."""
        return [GivenSide(self.groups, self.graph.weights[0])]

    def labels(self) -> list[np.ndarray]:
        """The groups of the elements of the only type."""
        return [self.groups]

    def informations(self) -> list[Information]:
        """Return the four informations of each relation."""
        return [information(each.joint, self.groups, self.groups) for each in self.graph.relations]


def problem_of(graph: Graph, starts: Sequence[Start]) -> NetworkProblem | CoClusterProblem:
    """Return the problem of clustering all types; one relation of two types is a co-clustering.

    Its coefficients must be those of co-clustering, whose kernel is faster.
    """
    if graph.n_types == 2 and len(graph.relations) == 1:
        return CoClusterProblem(graph.relations[0].joint, (starts[0], starts[1]))
    return NetworkProblem(graph, starts)


def _largest(ends: Sequence[End], start: Start) -> Joint | None:
    """Return the largest relation that can separate clusters; None if the start has labels."""
    assert start.k is not None
    ends = [end for end in ends if np.count_nonzero(end.joint.row_mass) >= start.k]
    if start.has_numbers or not ends:
        return None
    return max(ends, key=lambda end: end.joint.nnz).joint
