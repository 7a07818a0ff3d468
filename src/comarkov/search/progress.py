"""Long work: a progress bar, a callback, a time limit, and Ctrl-C that loses nothing."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ..io.interrupts import handling_interrupts
from ..joint.messages import is_installed

_ACTIVE: ContextVar[Bar | None] = ContextVar("progress bar", default=None)


class Bar:
    """Progress through the parts of each stage: a bar of rich in a terminal, elsewhere lines."""

    def __init__(self, stages: Sequence[str]) -> None:
        self._stages = list(stages)
        self._stage, self._text = "", ""
        self._parts, self._total = 0.0, 1.0  # of the present stage
        self._began, self._left = 0.0, np.inf  # when it began, and the seconds that it still needs
        self._lock = threading.RLock()
        self._rich: Any = None
        if is_installed("rich") and sys.stderr.isatty():
            from rich import progress, table
            from rich.console import Console

            narrow = table.Column(
                ratio=1, no_wrap=True, overflow="ellipsis"
            )  # the others never are
            columns = (
                progress.TextColumn("{task.description}", markup=False, table_column=narrow),
                progress.BarColumn(bar_width=16),
                progress.TaskProgressColumn(),
                progress.TimeElapsedColumn(),
                progress.TextColumn("{task.fields[left]}"),
            )
            console = Console(stderr=True)
            self._rich = progress.Progress(*columns, console=console, expand=True)
            self._task = self._rich.add_task("", left="")
            self._rich.start()

    def begin(self, stage: str, total: float = 1.0) -> None:
        """Go on with a stage, which has so many parts."""
        with self._lock:
            self._stages += [] if stage in self._stages else [stage]
            self._stage, self._parts, self._total = stage, 0.0, total
            self._began, self._left = time.monotonic(), np.inf
            self.describe("")

    def describe(self, text: str) -> None:
        """Set the text beside the bar."""
        with self._lock:
            number = f"{self._stages.index(self._stage) + 1}/{len(self._stages)}"
            self._text = f"{number} {self._stage}{': ' if text else ''}{text}"
            self._show(self._text)

    def advance(self, parts: float = 1.0) -> None:
        """Count parts of the present stage as done."""
        with self._lock:
            before, self._parts = self._parts, min(self._parts + parts, self._total)
            self._show(self._text)
            count = int(self._parts + 1e-9)
            if self._rich is None and count > int(before + 1e-9):
                print(f"{self._text} ({count} of {self._total:g})", file=sys.stderr)

    def reach(self, stage: str, done: float, total: float) -> None:
        """Go on with a stage, of whose parts so many are done."""
        if stage != self._stage:
            self.begin(stage, total)
        self.advance(done - self._parts)

    def close(self, is_done: bool) -> None:
        """Show the end, or where the work failed."""
        if is_done:
            self._parts = self._total
            self._show("Done")
        if self._rich is not None:
            self._rich.stop()

    def _show(self, text: str) -> None:
        if self._rich is not None:
            done, total, left = self._parts, self._total, ""
            if 0 < done < total:  # it never counts up, however long the next parts take
                seconds = (time.monotonic() - self._began) * (total - done) / done
                self._left = min(self._left, seconds)
                left = f"{timedelta(seconds=round(self._left))} left"
            self._rich.update(self._task, description=text, completed=done, total=total, left=left)


@contextmanager
def showing(stages: Sequence[str], verbose: int) -> Iterator[Bar | None]:
    """Show progress through stages, the known ones first; inside another bar, that one goes on."""
    outer = _ACTIVE.get()
    if outer is not None or verbose < 1:
        yield outer if verbose >= 1 else None
        return
    bar = Bar(stages)
    token = _ACTIVE.set(bar)
    is_done = False
    try:
        if stages:
            bar.begin(stages[0])
        yield bar
        is_done = True
    finally:
        _ACTIVE.reset(token)
        bar.close(is_done)


def show_in(bar: Bar | None) -> None:
    """Show progress in this bar from now on, in this thread."""
    _ACTIVE.set(bar)


def active_bar() -> Bar | None:
    """Return the bar that is shown, if there is one."""
    return _ACTIVE.get()


def begin_stage(stage: str) -> None:
    """Go on with a stage of the bar that is shown, if there is one."""
    if (bar := active_bar()) is not None:
        bar.begin(stage)


# the stages of a fit
NUMBERS, BETA, CLUSTERING = "Choosing how many clusters", "Choosing β", "Clustering"
PATH, CONFIDENCE = "Following the clusters from β to β", "Measuring confidence"
ON_INTERRUPT = "it was interrupted"  # the reason for an early end after Ctrl-C


def fit_stages(n_clusters: Sequence[Any], beta: Any) -> list[str]:
    """The stages of a fit with these parameters."""
    chosen = [NUMBERS] * ("auto" in n_clusters) + [BETA] * bool(beta == "auto")
    return [*chosen, CLUSTERING, CONFIDENCE]


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


class Limits(NamedTuple):
    """What a monitor in another process needs to know."""

    max_time: float | None
    verbose: int
    has_callback: bool
    elapsed: float  # seconds since the fit began


class Monitor:
    """Shared by all threads of a fit: decides when to stop and reports progress."""

    def __init__(
        self,
        max_time: float | None = None,
        callback: Callable[[Progress], Any] | None = None,
        verbose: int = 0,
    ) -> None:
        self.reason = ""  # why the fit was cut short, if it was
        self._max_time, self._callback, self._verbose = max_time, callback, verbose
        self._began = time.monotonic()
        self._stopped = self._is_watched = False
        self._lock = threading.Lock()
        self._bar: Bar | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return time.monotonic() - self._began

    @property
    def limits(self) -> Limits:
        """What a monitor in another process needs to know."""
        return Limits(self._max_time, self._verbose, self._callback is not None, self.elapsed)

    def stop(self) -> bool:
        """Should the work end here?"""
        return self.is_late(1.0)

    def stop_without_result(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C ended the work before there is anything to return."""
        if self._stopped and self.reason == ON_INTERRUPT:
            raise KeyboardInterrupt

    def is_late(self, share: float) -> bool:
        """Should no further start be made? Starts have this share of the time."""
        limit = np.inf if self._max_time is None else share * self._max_time
        if not self._stopped and self.elapsed < limit:
            return False
        self.reason = self.reason or "max_time was reached"
        return True

    def _end(self, reason: str) -> None:
        self.reason = reason
        self._stopped = True

    @property
    def listens(self) -> bool:
        """Is there a callback or a progress bar?"""
        return self._callback is not None or self._bar is not None

    def report(self, stage: str, beta: float, iteration: int, cost: float) -> None:
        """Report the state of a stage to the callback and the progress bar."""
        if self._bar is not None:
            self._bar.describe(f"{stage}, β = {beta:.3g}, cost {cost:.4f} bits")
        if self._callback is not None:
            self.tell(Progress(stage, beta, iteration, float(cost), self.elapsed))

    def tell(self, state: Progress) -> None:
        """Call the callback, which may ask for the end."""
        assert self._callback is not None
        with self._lock:
            answer = self._callback(state)
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
        if self._bar is not None:
            self._bar.advance(parts)

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
            with self.interruptible(), showing([stage], self._verbose) as self._bar:
                if self._bar is not None:
                    self._bar.begin(stage, parts)
                yield
        finally:
            self._is_watched = False
            self._bar = None

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let Ctrl-C end the work within instead of the program."""

        def on_interrupt(signum: int, frame: FrameType | None) -> None:
            if self._stopped:  # asked twice
                raise KeyboardInterrupt
            self._end(ON_INTERRUPT)

        with handling_interrupts(on_interrupt, unless_handled=True):
            yield
