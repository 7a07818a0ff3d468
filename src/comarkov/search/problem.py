"""The problem that a search solves, and its solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .coclusters import Step
from .refinement import Labels, State
from .run import Run
from .starts import Start

StateT = TypeVar("StateT", covariant=True)


class Problem(Protocol[StateT]):
    """Sets of elements to cluster, with their starts, seedings and amount of work."""

    @property
    def starts(self) -> Sequence[Start]:
        """The start of each set of elements; its k is None if the set is not clustered."""

    @property
    def seedings(self) -> Sequence[Callable[[Run], Any]]:
        """Functions that return a clustering from good seeds; the first may be repeated."""

    @property
    def seeded_in_a_row(self) -> int:
        """The number of seeded members before one that starts with many small clusters."""

    @property
    def waves(self) -> int:
        """The number of waves of members for small data."""

    def prepare(self) -> None:
        """Compute once what all threads share."""

    def work(self, counts: Sequence[int | None]) -> float:
        """Return the terms of the cost in a sweep with these numbers of clusters."""

    def begin(self, starts: Sequence[Start], rng: np.random.Generator) -> StateT:
        """Return a clustering with random labels where none are given."""

    def with_labels(self, labels: Sequence[Labels | None]) -> StateT:
        """Return the clustering with these labels."""

    def with_starts(self, starts: Sequence[Start]) -> Problem[StateT]:
        """Return the same problem with other starts."""


@dataclass
class Solution(Generic[State]):
    """The best clustering of a search, and its other results."""

    state: State
    path: list[Step] = field(default_factory=list)  # from β = 1 on, if it is kept
    others: list[list[Labels | None]] = field(default_factory=list)  # results that were not best
    fine: list[Labels | None] | None = None  # finer clusters, each inside one of these
