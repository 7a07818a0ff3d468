"""Long work: a progress bar, a callback, a time limit, and Ctrl-C that loses nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from ..data.interrupts import handling_interrupts
from .display import Display, showing

# the stages of a fit and how long each takes in comparison
NUMBERS, BETA, CLUSTERING = "Choosing the numbers of clusters", "Choosing β", "Clustering"
PATH, CONFIDENCE = "Following the clusters from β to β", "Measuring confidence"
INTERRUPTED = "it was interrupted"  # the reason for an early end after Ctrl-C
WEIGHTS = {NUMBERS: 4.0, BETA: 8.0, CLUSTERING: 3.0, CONFIDENCE: 1.0, PATH: 1.0}


def fit_stages(n_clusters: Sequence[Any], beta: Any) -> dict[str, float]:
    """The stages of a fit with these parameters, and their weights."""
    numbers = [NUMBERS] if "auto" in n_clusters else []
    betas = [BETA] if beta == "auto" else []
    return {stage: WEIGHTS[stage] for stage in [*numbers, *betas, CLUSTERING, CONFIDENCE]}


@dataclass(frozen=True)
class Progress:
    """The state of a fit, passed to the callback after every sweep.

    Examples
    --------
    >>> from comarkov import CoClustering, datasets
    >>> states = []  # of type Progress
    >>> women = datasets.load("southern-women")
    >>> model = CoClustering((2, 3), callback=states.append, random_state=0).fit(women)
    >>> round(min(state.cost for state in states if state.beta == 0.7), 3)
    0.856
    """

    stage: str  #: what is being done, for example "rows, start 3" or "anneal"
    beta: float  #: the β of this stage
    iteration: int  #: sweeps of this stage so far
    cost: float  #: the cost at that β, in bits; of one side alone where one side is clustered
    elapsed: float  #: seconds since the fit began


class Monitor:
    """Shared by all threads of a fit: decides when to stop and reports progress."""

    def __init__(
        self,
        max_time: float | None = None,
        callback: Callable[[Progress], Any] | None = None,
        verbose: int = 0,
    ) -> None:
        self.reason = ""  # why the fit was cut short, if it was
        self._callback = callback
        self._verbose = verbose
        self._began = time.monotonic()
        self._max_time = max_time
        self._stopped = False
        self._is_watched = False
        self._lock = threading.Lock()
        self._display: Display | None = None

    def stop(self) -> bool:
        """Should the work end here?"""
        return self._stopped or self._is_over(1.0)

    def stop_without_result(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C ended the work before there is anything to return."""
        if self._stopped and self.reason == INTERRUPTED:
            raise KeyboardInterrupt

    def is_late(self, share: float) -> bool:
        """Should no further start be made? Starts have this share of the time."""
        return self._stopped or self._is_over(share)

    def _is_over(self, share: float) -> bool:
        if self._max_time is None or time.monotonic() - self._began < share * self._max_time:
            return False
        self.reason = "max_time was reached"
        return True

    def _end(self, reason: str) -> None:
        self.reason = reason
        self._stopped = True

    @property
    def listens(self) -> bool:
        """Is there a callback or a progress bar?"""
        return self._callback is not None or self._display is not None

    def report(self, stage: str, beta: float, iteration: int, cost: float) -> None:
        """Report the state of a stage to the callback and the progress bar."""
        if self._display is not None:
            self._display.describe(f"{stage}, β = {beta:.3g}, cost {cost:.4f} bits")
        if self._callback is not None:
            with self._lock:
                elapsed = time.monotonic() - self._began
                answer = self._callback(Progress(stage, beta, iteration, float(cost), elapsed))
                if isinstance(answer, bool | np.bool_) and answer:
                    self._end("the callback asked for it")

    @contextmanager
    def ending_all(self) -> Iterator[None]:
        """If the work within fails, end that of all other threads too."""
        try:
            yield
        except BaseException:
            self._end("another part of it failed")
            raise

    def advance(self, parts: float = 1.0) -> None:
        """Count parts of the watched stage as done."""
        if self._display is not None:
            self._display.advance(parts)

    @contextmanager
    def watch(self, parts: float, stage: str = CLUSTERING) -> Iterator[None]:
        """Show progress through a stage of so many parts; Ctrl-C ends the work, not the program.

        A watch inside another one does nothing.
        """
        if self._is_watched:
            yield
            return
        self._is_watched = True
        try:
            with self.interruptible(), showing({stage: 1.0}, self._verbose) as self._display:
                if self._display is not None:
                    self._display.begin(stage, parts)
                yield
        finally:
            self._is_watched = False
            self._display = None

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let Ctrl-C end the work within instead of the program."""

        def on_interrupt(signum: int, frame: FrameType | None) -> None:
            if self._stopped:  # asked twice
                raise KeyboardInterrupt
            self._end(INTERRUPTED)

        with handling_interrupts(on_interrupt, unless_handled=True):
            yield
