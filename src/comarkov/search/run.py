"""The settings that every step of a search needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from .checkpoints import Checkpoint
from .progress import Monitor
from .streams import Purpose, Seed


@dataclass(frozen=True)
class Settings:
    """The number, tolerance and order of sweeps."""

    max_iter: int = 100
    tol: float = 0.0  # bits
    shuffle: bool = False


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
        return None if self.checkpoint is None else self.checkpoint.labels

    def stop(self) -> bool:
        """Should the work end here?"""
        return self.monitor.stop()


def in_parts(order: np.ndarray, size: int, run: Run) -> Iterator[np.ndarray]:
    """Yield the elements of an order, ``size`` at a time, until the run is stopped."""
    for start in range(0, order.size, size):
        if run.stop():
            return
        yield order[start : start + size]
