"""What a search is given and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .coclusters import Step
from .refinement import Labels, State
from .run import Run
from .starts import Start

Found = TypeVar("Found", covariant=True)


class Problem(Protocol[Found]):
    """Sets of elements to cluster: how to start, how to seed itself, and how expensive it is."""

    @property
    def starts(self) -> Sequence[Start]:
        """How each set of elements begins; its k is None if it is not to be clustered."""

    @property
    def seedings(self) -> Sequence[Callable[[Run], Any]]:
        """Ways to a clustering from good seeds, the one to repeat first."""

    @property
    def seeded_in_a_row(self) -> int:
        """How many members begin with seeds before one begins with many small clusters."""

    @property
    def waves(self) -> int:
        """How many waves of members small data are worth."""

    def prepare(self) -> None:
        """Make now what all threads share, so that they do not each make it."""

    def work(self, counts: Sequence[int | None]) -> float:
        """Terms of the cost in a sweep with so many clusters of each set."""

    def begin(self, starts: Sequence[Start], rng: np.random.Generator) -> Found:
        """A clustering with random labels where none are given."""

    def with_labels(self, labels: Sequence[Labels | None]) -> Found:
        """A clustering from its labels."""

    def with_starts(self, starts: Sequence[Start]) -> Problem[Found]:
        """The same problem with elements that begin otherwise."""


@dataclass
class Solution(Generic[State]):
    """The best clustering of a search, and what is known of its neighbourhood."""

    state: State
    path: list[Step] = field(default_factory=list)  # from β = 1 on, if it is kept
    others: list[list[Labels | None]] = field(default_factory=list)  # results that were not best
    fine: list[Labels | None] | None = None  # finer clusters, each inside one of these
