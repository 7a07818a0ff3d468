"""Checkpoints: the best clustering of a search so far, from which another search can go on."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..joint.joint import Joint

Labels = list[np.ndarray | None]  # of rows and columns; None for a side that is not clustered


class Content(NamedTuple):
    """What a checkpoint stores: what it belongs to, and the best labels."""

    belongs_to: dict[str, str]  # digests of the data and of each parameter
    labels: Labels | None = None


class Checkpoint(ABC):
    """The best labels of a search on some data.

    They are written after a sweep that reaches the lowest cost so far, but not so often that it
    takes much time. A search that is stopped early writes the labels that it returns.
    """

    def __init__(self, data: Joint, content: Content) -> None:
        self._data = data
        self.content = content  #: what an earlier search has left
        self._best_labels: Labels | None = None  # of this search
        self._beta = 1.0
        self._counts: list[int | None] = [None, None]
        self._best, self._next = np.inf, 0.0
        self._lock = threading.Lock()

    def begin(self, problem: Any, beta: float) -> None:
        """Set what is searched for: a clustering for a problem, with a low cost at β."""
        self._beta, self._counts = beta, [start.k for start in problem.starts]
        labels = self.content.labels
        if labels is None:
            return
        if _counts(labels) == self._counts:
            self._best = problem.with_labels(labels).cost(beta)
        else:  # of numbers whose choice was stopped early; now others were chosen
            self.content = self.content._replace(labels=None)

    def keep(self, state: Any) -> None:
        """Write the labels of a clustering of the data, if it is the best so far."""
        if getattr(state, "joint", None) is not self._data or self._now() < self._next:
            return
        labels = state.labels()
        if _counts(labels) != self._counts:
            return  # with more clusters than in the end, or of one side alone
        cost = state.cost(self._beta)
        with self._lock:
            if cost < self._best:
                self._best = cost
                self.write(labels)

    def write(self, labels: Labels) -> None:
        """Write the best labels that the search has found."""
        self._best_labels = labels
        self._write()

    @abstractmethod
    def _write(self) -> None:
        """Write the best labels, and set when to write again."""

    def _now(self) -> float:
        return time.monotonic()


def _counts(labels: Sequence[np.ndarray | None]) -> list[int | None]:
    """Return the number of clusters of each side; None if it is not clustered."""
    return [None if side is None else int(side.max()) + 1 for side in labels]
