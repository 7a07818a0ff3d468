"""The problem of clustering a network, and its seeds: singular vectors or eigenvectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eig
from scipy.sparse.linalg import ArpackError, eigs

from ...costs.objective import Information, information
from ...joint.joint import Joint
from ..optimise.refine import Labels, refine
from ..run import Run
from .coclusters import CoClusterProblem
from .network_state import End, Graph, Network, NetworkSide, WeightedRelation, network
from .starts import Start, far_apart, spectral, without_empty

K_MEANS_TRIES = 2
K_MEANS_STEPS = 20  # of each try
ALL_VECTORS = 500  # states up to which all eigenvectors are computed
EIGEN_RESTARTS = 50  # of the eigensolver for larger ones
CONSTANT = 1e-12  # the relative variance below which a vector is constant


@dataclass(frozen=True)
class NetworkProblem:
    """A graph of relations whose types are to be clustered, and the starts of their elements."""

    graph: Graph
    starts: Sequence[Start]

    seeded_in_a_row = 1  # seedings by singular vectors hardly differ

    @property
    def seedings(self) -> list[Callable[[Run], Network]]:
        """By singular vectors and, if a type is related to itself, by eigenvectors."""
        has_loops = any(relation.is_loop for relation in self.graph.relations)
        return [self.seeded, *([partial(self.seeded, with_loops=True)] if has_loops else [])]

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
        return sum(work * (count or 0) for work, count in zip(self.graph.work, counts, strict=True))

    def begin(self, starts: Sequence[Start], rng: np.random.Generator) -> Network:
        """Return a network with random labels where none are given."""
        return network(self.graph, starts, [start.draw(rng) for start in starts])

    def with_labels(self, labels: Sequence[Labels | None]) -> Network:
        """Return the network with these labels of all types."""
        assert all(given is not None for given in labels)
        return network(self.graph, self.starts, [given for given in labels if given is not None])

    def seeded(self, run: Run, with_loops: bool = False) -> Network:
        """Seed each type by vectors, then sweep: singular ones of its largest relation.

        With loops, types that are related to themselves are seeded by eigenvectors.
        """
        state = self.with_labels([self._seeds(t, run, with_loops) for t in range(len(self.starts))])
        refine(state, run.sweeping(2), "seeds")
        return state

    def _seeds(self, t: int, run: Run, with_loops: bool) -> Labels:
        """Return labels by vectors, or random ones if time is over; given labels stay."""
        start, ends = self.starts[t], self.graph.ends[t]
        loops = [end for end in ends if end.other == t and not end.is_target]
        data = _largest(loops, start) if with_loops else None
        seeds = None if data is None else lumped(data, start.k or 1, run.rng)
        if seeds is None:
            data = None if run.stop() else _largest(ends, start)
            if data is None:
                return start.draw(run.rng)
            seeds = spectral(data, start.k or 1, run.rng)
        return replace(start, labels=seeds).draw(run.rng)  # elements that this relation lacks


@dataclass(frozen=True)
class GivenGroups:
    """The elements of all types in groups that were found elsewhere, without tables."""

    graph: Graph
    groups: Sequence[np.ndarray]
    n_iter: int = 0

    def every_side(self) -> list[NetworkSide]:
        """All types."""
        return [
            NetworkSide(t, labels, mass, int(labels.max()) + 1, is_numbered=False, work=0)
            for t, (labels, mass) in enumerate(zip(self.groups, self.graph.weights, strict=True))
        ]

    def labels(self) -> list[np.ndarray]:
        """The groups of the elements of each type."""
        return list(self.groups)

    def informations(self) -> list[Information]:
        """Return the four informations of each relation."""
        return [
            information(each.joint, self.groups[each.source], self.groups[each.target])
            for each in self.graph.relations
        ]


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


# --- eigenvectors -------------------------------------------------------------------------------


def lumped(data: Joint, k: int, rng: np.random.Generator) -> np.ndarray | None:
    """Return labels by right eigenvectors with about k values; None if there are too few.

    A chain p(y|x) is lumpable if and only if k of its eigenvectors are constant on clusters. One of
    these is constant everywhere. The k - 1 that fall best into k groups are clustered together.
    """
    vectors = _eigenvectors(data, k)
    if vectors is None or k == 1:
        return None
    mass = data.row_mass / data.total
    vectors = vectors - mass @ vectors
    size = np.sqrt(mass @ vectors**2)
    vectors = vectors[:, size > CONSTANT**0.5 * abs(vectors).max(axis=0)]
    if vectors.shape[1] < k - 1:
        return None
    vectors = vectors / np.sqrt(mass @ vectors**2)
    best = np.argsort(_scatter(vectors, mass, k), kind="stable")[: k - 1]
    results = [_k_means(vectors[:, best], mass, k, rng) for _ in range(K_MEANS_TRIES)]
    labels = min(results, key=lambda result: result[0])[1]
    return without_empty(np.where(mass > 0, labels, -1), k)


def _eigenvectors(data: Joint, k: int) -> np.ndarray | None:
    """Return right eigenvectors, as real and imaginary parts; of large chains the leading ones."""
    n = data.shape[0]
    mass = data.row_mass
    inverse = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
    P = sp.csr_array(sp.diags_array(inverse) @ data.csr, dtype=np.float64)
    try:
        if n <= ALL_VECTORS:
            values, vectors = eig(P.toarray())
        else:
            wanted = min(4 * k + 20, n - 2)
            values, vectors = eigs(P, wanted, v0=np.ones(n), maxiter=EIGEN_RESTARTS)
    except (ArpackError, np.linalg.LinAlgError):
        return None
    real, pairs = values.imag == 0, values.imag > 0
    return np.hstack([vectors[:, real | pairs].real, vectors[:, pairs].imag])


def _scatter(vectors: np.ndarray, mass: np.ndarray, k: int) -> np.ndarray:
    """Return how much each vector varies within k groups of its values, for the best groups.

    Groups start with cuts at the largest gaps, into equal ranges, or into equal masses.
    """
    scatter = np.empty(vectors.shape[1])
    shares = np.arange(1, k) / k
    for j, column in enumerate(vectors.T):
        order = np.argsort(column)
        value, weight = column[order], mass[order]
        sums = np.zeros((3, value.size + 1))
        np.cumsum([weight, weight * value, weight * value**2], axis=1, out=sums[:, 1:])
        gaps = np.argpartition(np.diff(value), -(k - 1))[-(k - 1) :] + 1
        ranges = np.searchsorted(value, value[0] + shares * (value[-1] - value[0]))
        masses = np.searchsorted(sums[0, 1:], shares)
        scatter[j] = min(_settled_scatter(value, sums, cuts) for cuts in (gaps, ranges, masses))
    return scatter


def _settled_scatter(value: np.ndarray, sums: np.ndarray, cuts: np.ndarray) -> float:
    """k-means of sorted values, from cumulative sums of masses, values and squares."""
    for _ in range(K_MEANS_STEPS):
        edges = np.concatenate([[0], np.sort(cuts), [value.size]])
        mass, first, second = np.diff(sums[:, edges], axis=1)
        is_used = mass > 0
        means = first[is_used] / mass[is_used]
        previous, cuts = cuts, np.searchsorted(value, (means[1:] + means[:-1]) / 2)
        if cuts.size == previous.size and (cuts == previous).all():
            break
    return float(second.sum() - first[is_used] @ means)


def _k_means(
    points: np.ndarray, mass: np.ndarray, k: int, rng: np.random.Generator
) -> tuple[float, np.ndarray]:
    """Return the total squared distance to the centres, and the labels."""
    centres = far_apart(points, mass, k, rng, lambda seed: ((points - seed) ** 2).sum(axis=1))
    for _ in range(K_MEANS_STEPS):
        farness = (centres**2).sum(axis=1) - 2 * points @ centres.T  # without the constant |point|²
        labels = farness.argmin(axis=1)
        member = sp.csr_array((mass, (labels, np.arange(mass.size))), (k, mass.size))
        masses = member.sum(axis=1)[:, None]
        moved = np.divide(member @ points, masses, out=centres.copy(), where=masses > 0)
        if (moved == centres).all():
            break
        centres = moved
    return float(mass @ farness.min(axis=1)), labels
