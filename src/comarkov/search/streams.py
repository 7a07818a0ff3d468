"""Random numbers: one seed for a fit, and from it a stream of its own for every purpose."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, unique
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

LARGEST = 2**32  # numbers of streams are words of 32 bits


@unique
class Purpose(IntEnum):
    """What random numbers are for. Two purposes never share a stream."""

    START = 1  #: a start of a search, by its number; of one side of an annealing, by both numbers
    CONSENSUS = 2  #: a consensus, by the number of the members before it
    FINISH = 3  #: sweeps after the last start
    LEAVES = 4  #: splitting the clusters of a side, by its number
    NUMBERS = 5  #: choosing numbers of clusters: a seed of its own
    LADDER = 6  #: the levels between many clusters and few
    HALVES = 7  #: halves of the other side's elements, by side and repetition
    THINNING = 8  #: halves of the counts, by repetition; and the seeds of their fits
    PATH = 9  #: sweeps on the way along β
    HELD_OUT = 10  #: transitions that a fit does not see
    NULL_TABLES = 11  #: tables drawn for the test of lumpability
    EVIDENCE = 12  #: shuffled entries, by side, which measure what entries are worth


@dataclass(frozen=True)
class Seed:
    """Where all random numbers of a fit come from.

    A stream is known by its purpose and some numbers, so what a start draws depends neither on the
    threads nor on how many starts there are. ``path`` leads to a fit within the fit.
    """

    entropy: tuple[int, ...]
    path: tuple[int, ...] = ()

    @classmethod
    def of(cls, random_state: Any) -> Seed:
        """The seed that scikit-learn's ``random_state`` stands for."""
        return cls(tuple(check_random_state(random_state).randint(2**31, size=4).tolist()))

    def stream(self, purpose: Purpose, *numbers: int) -> np.random.Generator:
        """The random numbers for one purpose."""
        key = (*self.path, 0, *_segment(purpose, numbers))
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=key))

    def child(self, purpose: Purpose, *numbers: int) -> Seed:
        """The seed of a fit within the fit, whose streams are none of this fit's."""
        return Seed(self.entropy, (*self.path, 1, *_segment(purpose, numbers)))


def _segment(purpose: Purpose, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Purpose, how many numbers follow, the numbers: a path of segments reads in one way only."""
    if not all(0 <= number < LARGEST for number in numbers):
        raise ValueError(f"Streams have numbers from 0 to 2^32 - 1, not {numbers}.")
    return int(purpose), len(numbers), *numbers
