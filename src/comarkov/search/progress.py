"""Long work: a progress bar, a callback, a time limit, and Ctrl-C that loses nothing."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from ..data.extras import is_installed
from ..data.interrupts import handling_interrupts


@dataclass(frozen=True)
class Progress:
    """Where a fit stands, as told to a callback after every sweep."""

    stage: str  #: what is being done, for example "rows, start 3" or "anneal"
    beta: float  #: the β of this stage
    iteration: int  #: sweeps of this stage so far
    cost: float  #: the cost at that β, in bits; of one side alone where one side is clustered
    elapsed: float  #: seconds since the fit began


class Monitor:
    """Shared by all threads of a fit: tells when to stop, and is told how far it is."""

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
        self._bar: Any = None
        self._task: Any = None

    def stop(self) -> bool:
        """Should the work end here?"""
        return self._stopped or self._is_over(1.0)

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
        """Does anybody want to know how far it is?"""
        return self._callback is not None or self._bar is not None

    def report(self, stage: str, beta: float, iteration: int, cost: float) -> None:
        """Tell how far a stage is."""
        if not self.listens:
            return
        with self._lock:
            if self._bar is not None:
                description = f"{stage}, β = {beta:.3g}, cost {cost:.4f} bits"
                self._bar.update(self._task, description=description)
            if self._callback is not None:
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

    def advance(self) -> None:
        """Tell that a stage is done."""
        if self._bar is not None:
            with self._lock:
                self._bar.advance(self._task)

    @contextmanager
    def watch(self, stages: int) -> Iterator[None]:
        """Show the bar, and let Ctrl-C end the work instead of the program.

        Within another watch it does nothing: there is one bar for the whole.
        """
        if self._is_watched:
            yield
            return
        self._is_watched = True
        try:
            with self.interruptible(), self._bar_shown(stages):
                yield
        finally:
            self._is_watched = False

    @contextmanager
    def _bar_shown(self, stages: int) -> Iterator[None]:
        if self._verbose < 1:
            yield
            return
        with bar() as self._bar:
            self._task = self._bar.add_task("comarkov", total=stages)
            yield
        self._bar = None

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let Ctrl-C end the work within instead of the program."""

        def on_interrupt(signum: int, frame: FrameType | None) -> None:
            if self._stopped:  # asked twice
                raise KeyboardInterrupt
            self._end("it was interrupted")

        with handling_interrupts(on_interrupt, unless_handled=True):
            yield


def bar(unit: str = "count", transient: bool = False) -> Any:
    """A progress bar of rich on stderr, with the time left; "count" counts, "bytes" downloads.

    Where stderr is no terminal, a bar that is transient is not shown at all. Without rich, a line
    is printed for each stage that is done.
    """
    if not is_installed("rich"):
        return _Lines()
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    done = progress.MofNCompleteColumn() if unit == "count" else progress.DownloadColumn()
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        done,
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
    )
    hidden = transient and not console.is_terminal
    return progress.Progress(*columns, console=console, transient=transient, disable=hidden)


class _Lines:
    """Plain lines on stderr, in place of the bar of rich."""

    def __init__(self) -> None:
        self._text = ""
        self._done = self._total = 0

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def add_task(self, description: str, total: int) -> None:
        self._text, self._total = description, total

    def update(self, task: None, description: str) -> None:
        self._text = description

    def advance(self, task: None) -> None:
        self._done += 1
        print(f"{self._done}/{self._total} {self._text}", file=sys.stderr)
