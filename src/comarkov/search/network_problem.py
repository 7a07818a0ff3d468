"""The problem of clustering all types of a network: how to start and how to seed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data.joint import Joint
from .coclusters import CoClusterProblem
from .graph import End, Graph
from .network import Network, network
from .refinement import Labels, refine
from .run import Run
from .seeding import lumped, spectral
from .starts import Start


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
        if self.graph.has_loops:
            return [self.by_singular_vectors, self.by_eigenvectors]
        return [self.by_singular_vectors]

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

    def by_singular_vectors(self, run: Run) -> Network:
        """Seed each type by the leading singular vectors of its largest relation."""
        return self._swept([self._seeds(t, run) for t in range(len(self.starts))], run)

    def by_eigenvectors(self, run: Run) -> Network:
        """Seed types that are related to themselves by eigenvectors, others as above."""
        labels = []
        for t in range(len(self.starts)):
            seeds = self._loop_seeds(t, run)
            labels.append(self._seeds(t, run) if seeds is None else seeds)
        return self._swept(labels, run)

    def _swept(self, seeds: Sequence[Labels], run: Run) -> Network:
        """Return the network of these seeds after two sweeps."""
        state = self.with_labels(seeds)
        refine(state, run.sweeping(2), "seeds")
        return state

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
