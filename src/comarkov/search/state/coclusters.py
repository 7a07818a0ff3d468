"""The state of a co-clustering, and the problem of finding a good one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ...costs.objective import Information, co_clustering
from ...joint.joint import Joint
from ...kernels.matrix import table_bits
from ..optimise.refine import Labels, Split, State, Visit, lower, refine
from ..run import Budget, Run, Settings
from .network_state import WeightedRelation
from .side import Side, bisect, inserted
from .starts import Start, by_directions, has_vectors, singular_points

MAX_SEEDINGS, MAX_FAST_SEEDINGS = 3, 6  # of each side, if there is time
SEED_SWEEPS = Settings(max_iter=2, tol=1e-4)  # of each seeding ...
SEEDED_SWEEPS = Settings(max_iter=20, tol=1e-4)  # ... and of the best


class Step(NamedTuple):
    """A co-clustering on the path from β = 1 to the requested β.

    Examples
    --------
    >>> from comarkov import CoClustering, datasets
    >>> women = datasets.load("southern-women")
    >>> for step in CoClustering((2, 3), random_state=0).beta_path(women, [1, 0.75, 0.5]):
    ...     print(f"{step.beta:.2f}  {step.cost:.3f} bits  {step.row_labels[:3]}")
    1.00  1.155 bits  [0 0 0]
    0.75  0.906 bits  [0 0 0]
    0.50  0.656 bits  [0 0 0]
    """

    beta: float  #: the coupling
    cost: float  #: L_β in bits
    row_labels: np.ndarray  #: the cluster of each row
    column_labels: np.ndarray  #: the cluster of each column


@dataclass
class CoClusters:
    """A co-clustering; a side that is not clustered is None."""

    joint: Joint
    rows: Side | None
    columns: Side | None
    n_iter: int = 0
    converged: bool = True

    # --- the protocol of optimisers -----------------------------------------------------------

    def sides(self) -> list[Side]:
        """Return the sides that have free elements."""
        return [side for side in self.every_side() if side is not None and side.free.size]

    def labels(self) -> list[Labels | None]:
        """Return copies of the row and column labels; None for a side that is not clustered."""
        sides = self.every_side()
        return [None if side is None else side.labels.astype(np.int64) for side in sides]

    def cost(self, beta: float) -> float:
        """Return L_β in bits."""
        return self.information().cost(beta)

    def sweep(self, side: Side, run: Run, complete: bool = True) -> Visit:
        """Move the rows or columns that are due, or all, each to its cluster of least cost."""
        if side.k == 1:
            return Visit(0, 0.0, complete=True)
        return side.sweep(self.cross(side), run, complete)

    def merge_costs(self, side: Side, beta: float) -> np.ndarray:
        """Return the costs in bits of merging clusters i < j of a side; infinite elsewhere."""
        return side.merge_costs(self.cross(side), beta) * self._in_bits

    def merged(self, side: Side, i: int, j: int) -> CoClusters:
        """Return the co-clustering with clusters i and j of a side merged."""
        return self.with_side(side, side.merged(i, j))

    def splits(self, side: Side, run: Run) -> list[Split]:
        """Split each cluster of a side into two parts; the gain is in bits."""
        members = [np.flatnonzero(side.labels == cluster) for cluster in range(side.k)]
        halves = bisect(side.joint, members, self.cross(side), run)
        return [Split(gain * self._in_bits, leavers) for gain, leavers in halves]

    def relabelled(self, side: Side, labels: Labels) -> CoClusters:
        """Return the co-clustering with new labels on a side; the other is shared."""
        return self.with_side(side, side.relabelled(labels))

    def copy(self) -> CoClusters:
        """Return a copy that can be changed independently."""
        rows, columns = (side and side.copy() for side in self.every_side())
        return CoClusters(self.joint, rows, columns, self.n_iter)

    # --- its parts ----------------------------------------------------------------------------

    def every_side(self) -> list[Side | None]:
        """Return rows and columns; None if they are not clustered."""
        return [self.rows, self.columns]

    def informations(self) -> list[Information]:
        """Return the four informations of the only relation."""
        return [self.information()]

    def cross(self, side: Side) -> np.ndarray | None:
        """Return the masses of a side's elements by clusters of the other; None without these."""
        other = self.columns if side is self.rows else self.rows
        return None if other is None else other.cross

    def with_side(self, old: Side, new: Side) -> CoClusters:
        """Return the co-clustering with one side replaced; the other is shared."""
        rows, columns = (new if side is old else side for side in self.every_side())
        return CoClusters(self.joint, rows, columns, self.n_iter)

    def information(self) -> Information:
        """Return the four informations, from the tables."""
        whole = self.joint.information
        if self.rows is None or self.columns is None:
            side = self.rows or self.columns
            assert side is not None
            part = side.information()
            first, second = (whole, part) if self.columns is None else (part, whole)
            return Information(whole, first, second, part)
        masses = self.rows.blocks(self.columns.table.mass).mass
        blocks = table_bits(masses[:-1], columns=masses[-1])
        return Information(whole, self.columns.information(), self.rows.information(), blocks)

    def all_labels(self) -> tuple[Labels, Labels]:
        """Return the labels; on a side that is not clustered every element is a cluster."""
        masses = self.joint.row_mass, self.joint.column_mass
        rows, columns = (
            np.where(mass > 0, np.arange(mass.size), -1) if labels is None else labels
            for labels, mass in zip(self.labels(), masses, strict=True)
        )
        return rows, columns

    def step(self, beta: float) -> Step:
        """Return this state as a step of a path."""
        return Step(beta, self.cost(beta), *self.all_labels())

    @property
    def _in_bits(self) -> float:
        return 1.0 / (self.joint.total * float(np.log(2)))


@dataclass(frozen=True)
class CoClusterProblem:
    """A matrix whose rows and columns are to be clustered, and their starts."""

    joint: Joint
    starts: tuple[Start, Start]

    seeded_in_a_row = 5  # seedings differ, and each takes a quarter of the time of over-splitting

    @property
    def seedings(self) -> list[Callable[[Run], CoClusters]]:
        """Functions that cluster each side by itself from a few good seedings."""
        return [self.seeded]

    @property
    def relations(self) -> list[WeightedRelation]:
        """The only relation, of rows and columns."""
        return [WeightedRelation(0, 1, self.joint, co_clustering)]

    def prepare(self) -> None:
        """Compute the transpose once if it is needed, not in each thread."""
        if self.starts[1].k is not None:
            _ = self.joint.T

    @cached_property
    def _points(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Rows and columns by their leading singular vectors; None if there are too few of them."""
        counts = [start.k or 1 for start in self.starts]
        enough = [k for k in counts if has_vectors(self.joint, k)]
        if not enough:
            return None, None
        rows, columns = singular_points(self.joint, max(enough))
        return rows if counts[0] in enough else None, columns if counts[1] in enough else None

    def work(self, counts: Sequence[int | None]) -> int:
        """Return the terms of the cost in a sweep: entries times clusters."""
        return self.joint.nnz * sum(count or 0 for count in counts)

    def begin(self, starts: Sequence[Start], rng: np.random.Generator) -> CoClusters:
        """Return a co-clustering with random labels where none are given."""
        labels = [None if start.k is None else start.draw(rng) for start in starts]
        state = self._with(starts, labels)
        for side in state.sides():
            side.is_fresh = True
        return state

    def with_labels(self, labels: Sequence[Labels | None]) -> CoClusters:
        """Return the co-clustering with these labels; a side without labels is not clustered."""
        return self._with(self.starts, labels)

    def seeded(self, run: Run) -> CoClusters:
        """Cluster each side by itself at β = 1, from the best of a few seedings; anneal to β."""
        alone = replace(run.at(1.0), settings=SEEDED_SWEEPS)
        rows, columns = (
            None if start.k is None else self._seeded_side(i, alone)
            for i, start in enumerate(self.starts)
        )
        state = CoClusters(self.joint, rows, columns)
        lower(state, 1.0, run)
        return state

    def _seeded_side(self, i: int, run: Run) -> Side:
        """Return the best of a few seedings of a side: the one that keeps most of I(X;Y)."""
        start, data = self.starts[i], self._facing(i)
        assert start.k is not None
        if start.has_numbers or start.k == 1:
            return self._side(i, start, start.draw(run.rng))
        sides: list[Side] = []
        work = self.work([start.k])  # many seedings if they are fast, fewer if they take long
        few = Budget.SEEDINGS.times(work, 1, MAX_SEEDINGS)
        many = Budget.MANY_SEEDINGS.times(work, 1, MAX_FAST_SEEDINGS)
        for number in range(max(few, many)):
            if number > 0 and run.stop():
                break
            points = self._points[i] if number == 1 else None
            if points is None:
                side = inserted(data, start.k, start.free, run)
            else:
                labels = by_directions(points, data.row_mass, start.k, run.rng)
                side = self._side(i, start, labels)
            refine(CoClusters(data, side, None), replace(run, settings=SEED_SWEEPS), "seeds")
            sides.append(side)
        best = max(sides, key=Side.information)
        refine(CoClusters(data, best, None), run, "seeds")
        return best

    def _with(self, starts: Sequence[Start], labels: Sequence[Labels | None]) -> CoClusters:
        rows, columns = (
            None if start.k is None or given is None else self._side(i, start, given)
            for i, (start, given) in enumerate(zip(starts, labels, strict=True))
        )
        return CoClusters(self.joint, rows, columns)

    def _side(self, i: int, start: Start, labels: Labels) -> Side:
        return Side(
            self._facing(i), labels, start.k or 1, start.free, is_numbered=start.has_numbers
        )

    def _facing(self, i: int) -> Joint:
        """Return the matrix whose rows are the elements of a side."""
        return self.joint if i == 0 else self.joint.T


StateT = TypeVar("StateT", covariant=True)


class Problem(Protocol[StateT]):
    """Sets of elements to cluster, a dataclass with their starts, seedings and amount of work."""

    @property
    def starts(self) -> Sequence[Start]:
        """The start of each set of elements; its k is None if the set is not clustered."""

    @property
    def seedings(self) -> Sequence[Callable[[Run], Any]]:
        """Functions that return a clustering from good seeds; the first may be repeated."""

    @property
    def relations(self) -> Sequence[WeightedRelation]:
        """The relations between the sets of elements."""

    @property
    def seeded_in_a_row(self) -> int:
        """The number of seeded members before one that starts with many small clusters."""

    def prepare(self) -> None:
        """Compute once what all threads share."""

    def work(self, counts: Sequence[int | None]) -> float:
        """Return the terms of the cost in a sweep with this many clusters."""

    def begin(self, starts: Sequence[Start], rng: np.random.Generator) -> StateT:
        """Return a clustering with random labels where none are given."""

    def with_labels(self, labels: Sequence[Labels | None]) -> StateT:
        """Return the clustering with these labels."""


@dataclass
class Solution(Generic[State]):
    """The best clustering of a search, and its other results."""

    state: State
    path: list[Step] = field(default_factory=list)  # of an annealing: from β = 1 on
    others: list[list[Labels | None]] = field(default_factory=list)  # results that were not best
    fine: list[Labels | None] | None = None  # finer clusters, each inside one of these
