"""What every step of a search needs: its settings, its random numbers, and how long it may take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum, unique
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from .checkpoint import Checkpoint
from .progress import Monitor

RATE = 1_000_000_000  # terms of a sweep over counts in one second of one core


class Budget(float, Enum):
    """How long the parts of a search may take, in seconds.

    Work is counted in terms of the cost: entries of the matrix times clusters. Decisions depend on
    the work alone and never on a clock, so the same data and seed give the same answer on every
    machine. ``make bench`` prints the rate that sweeps reach next to RATE.
    """

    CALL = 0.02  #: one call of a kernel, between two looks at the clock
    SEEDINGS = 0.05  #: seeding one side several times ...
    MANY_SEEDINGS = 0.004  #: ... and as long as they stay below this, many times
    RANDOM_STARTS = 0.05  #: the random starts of one member
    SEVERAL_MEMBERS = 0.02  #: a sweep over fine clusters, for several members
    OVER_SPLIT_FIRST = 0.02  #: a sweep for each fine cluster, if over-splitting comes first
    MERGING = 2.0  #: the sweeps between merges
    POLISHING = 2.0  #: all rounds of polishing
    EXACT = 1.0  #: looking at all partitions
    LEVELS = 2.0  #: the sweeps between levels while comparing how many clusters fit
    HALVES = 0.04  #: a sweep over many clusters for each halving whose numbers are compared
    GAINS = 0.005  #: a sweep for each halving in the test of structure
    COMMUNITIES = 0.0002  #: a look at every edge, for more starts of a search for groups
    RESAMPLES = 0.002  #: a sweep, for each search in resampled counts
    EVIDENCE = 0.03  #: shuffling entries, to measure what they are worth
    THINNINGS = 0.0005  #: a sweep, for more thinnings of the counts

    @property
    def terms(self) -> float:
        """The terms of the cost that it allows."""
        return self.value * RATE

    def times(self, sweep: float, least: int, most: int) -> int:
        """How often work of this size fits into it, within limits."""
        return int(np.clip(self.terms // max(sweep, 1), least, most))

    def every(self, count: int, sweep: float) -> int:
        """How many of so many steps to take between two sweeps, so that all stay in it."""
        return max(1, round(count * sweep / self.terms))


@unique
class Purpose(IntEnum):
    """The purposes of random numbers. Two purposes never share a stream."""

    START = 1  #: a start of a search, by its number; of one side of an annealing, by both numbers
    CONSENSUS = 2  #: a consensus, by the number of the members before it
    FINISH = 3  #: sweeps after the last start
    LEAVES = 4  #: splitting the clusters of a side, by its number
    NUMBERS = 5  #: choosing how many clusters: a seed of its own
    LADDER = 6  #: the levels between many clusters and few
    HALVES = 7  #: halves of the other side's elements, by side and repetition
    THINNING = 8  #: halves of the counts, by repetition; and the seeds of their fits
    PATH = 9  #: sweeps on the way along β
    HELD_OUT = 10  #: transitions that a fit does not see
    NULL_TABLES = 11  #: tables drawn for the test of lumpability
    EVIDENCE = 12  #: shuffled entries, by side, which measure what entries are worth
    SAMPLE = 13  #: rows or columns of large data, by which numbers of clusters and β are chosen
    COMMUNITIES = 14  #: orders of the nodes of a network, by the number of the start
    RESAMPLES = 17  #: aggregated counts drawn again, by repetition


@dataclass(frozen=True)
class Seed:
    """The source of all random numbers of a fit.

    A stream is identified by its purpose and numbers, so what a start draws depends neither on the
    number of threads nor on the number of starts. ``path`` identifies a fit within the fit.
    """

    entropy: tuple[int, ...]
    path: tuple[int, ...] = ()

    @classmethod
    def of(cls, random_state: Any) -> Seed:
        """Return the seed for scikit-learn's ``random_state``."""
        return cls(tuple(check_random_state(random_state).randint(2**31, size=4).tolist()))

    def stream(self, purpose: Purpose, *numbers: int) -> np.random.Generator:
        """Return the random numbers for one purpose."""
        key = (*self.path, 0, *_segment(purpose, numbers))
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=key))

    def child(self, purpose: Purpose, *numbers: int) -> Seed:
        """Return the seed of a fit within the fit, which shares no stream with this fit."""
        return Seed(self.entropy, (*self.path, 1, *_segment(purpose, numbers)))


def _segment(purpose: Purpose, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Return purpose, length and numbers, which makes a path of segments unambiguous."""
    return int(purpose), len(numbers), *numbers


@dataclass(frozen=True)
class Settings:
    """The number and tolerance of sweeps."""

    max_iter: int = 100
    tol: float = 0.0  # bits
    complete: bool = False  # does every sweep visit all elements, as the paper's algorithms do?
    ties: Literal["stay", "first"] = "stay"


@dataclass(frozen=True)
class Run:
    """The settings of a search: β, sweeps, starts, threads, random numbers and the monitor."""

    beta: float
    seed: Seed
    monitor: Monitor = field(default_factory=Monitor)
    settings: Settings = field(default_factory=Settings)
    n_init: int = 1
    may_settle: bool = False  # end the search once its first members agree
    n_jobs: int = 1
    checkpoint: Checkpoint | None = None
    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    def at(self, beta: float) -> Run:
        """Return the run at another β."""
        return replace(self, beta=beta)

    def drawing(self, purpose: Purpose, *numbers: int) -> Run:
        """Return the run with the random numbers for one purpose."""
        return replace(self, rng=self.seed.stream(purpose, *numbers))

    def sweeping(self, most: int) -> Run:
        """Return the run with at most ``most`` sweeps over all elements in natural order."""
        return replace(self, settings=Settings(max_iter=most))

    def undisturbed(self) -> Run:
        """Return the run for a short step that is neither reported nor stopped."""
        return replace(self, monitor=Monitor(), settings=Settings(), checkpoint=None)

    def to_the_end(self) -> Run:
        """Return the run that sweeps until no single move lowers the cost."""
        return replace(self, settings=replace(self.settings, tol=0.0))

    @property
    def earlier_labels(self) -> list[np.ndarray | None] | None:
        """The labels of an earlier run that was cut short; None if there are none."""
        return None if self.checkpoint is None else self.checkpoint.content.labels

    def stop(self) -> bool:
        """Should the work end here?"""
        return self.monitor.stop()


def in_parts(order: np.ndarray, size: int, run: Run) -> Iterator[np.ndarray]:
    """Yield the elements of an order, ``size`` at a time, until the run is stopped."""
    for start in range(0, order.size, size):
        if run.stop():
            return
        yield order[start : start + size]
