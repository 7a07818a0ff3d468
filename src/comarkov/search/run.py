"""What every step of a search needs to know beside the clustering it works on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from .progress import Monitor
from .streams import Purpose, Seed


@dataclass(frozen=True)
class Settings:
    """How long and in which order to sweep."""

    max_iter: int = 100
    tol: float = 0.0  # bits
    shuffle: bool = False


@dataclass(frozen=True)
class Run:
    """A search: the β it is for, how long to sweep, its random numbers, and who watches it."""

    beta: float
    seed: Seed
    monitor: Monitor = field(default_factory=Monitor)
    settings: Settings = field(default_factory=Settings)
    n_init: int = 1
    may_settle: bool = False  # end the search once its first members agree
    n_jobs: int = 1
    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    def at(self, beta: float) -> Run:
        """The same at another β."""
        return replace(self, beta=beta)

    def drawing(self, purpose: Purpose, *numbers: int) -> Run:
        """The same with the random numbers for one purpose."""
        return replace(self, rng=self.seed.stream(purpose, *numbers))

    def sweeping(self, most: int) -> Run:
        """The same with at most so many sweeps, each over all elements in their order."""
        return replace(self, settings=Settings(max_iter=most))

    def undisturbed(self) -> Run:
        """The same for a short step that must end as it should: nobody watches or stops it."""
        return replace(self, monitor=Monitor(), settings=Settings())

    def to_the_end(self) -> Run:
        """The same, sweeping until no single move lowers the cost."""
        return replace(self, settings=replace(self.settings, tol=0.0))

    def stop(self) -> bool:
        """Should the work end here?"""
        return self.monitor.stop()


def in_parts(order: np.ndarray, size: int, run: Run) -> Iterator[np.ndarray]:
    """The elements of an order, so many at a time, as long as nobody stops the run."""
    for start in range(0, order.size, size):
        if run.stop():
            return
        yield order[start : start + size]
