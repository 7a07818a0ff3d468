"""Long work: a progress bar, a callback, a time limit, and Ctrl-C that loses nothing."""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

import numpy as np

from ..io.interrupts import handling_interrupts
from ..joint.messages import is_installed

PRIOR_WEIGHT = 0.03  # the share of the work after which a measured time outweighs an expected one
USUAL = 5.0  # seconds that small work takes
INTERVAL = 0.1  # seconds between two updates in a notebook

_ACTIVE: ContextVar[Display | None] = ContextVar("progress display", default=None)


class Output(Protocol):
    """Where progress is shown."""

    def show(self, display: Display) -> None:
        """Show how far the work is."""

    def close(self, display: Display, is_done: bool) -> None:
        """Show the end, or where the work failed."""


class Display:
    """Stages with weights, how far they are, and the time that is left.

    The time left follows from the share of the work that is done; at first, while that says little,
    from the time that work of this size usually takes.
    """

    def __init__(self, stages: Mapping[str, float], output: Output) -> None:
        self.stage = next(iter(stages))
        self.text = ""
        self.parts, self.total = 0.0, 1.0  # of the present stage
        self.expected = USUAL  # seconds for all stages
        self._stages = dict(stages)
        self._output = output
        self._began = time.monotonic()
        self._lock = threading.RLock()

    def begin(self, stage: str, total: float = 1.0) -> None:
        """Go on with a stage, which has so many parts."""
        with self._lock:
            self._stages.setdefault(stage, 1.0)
            self.stage, self.text, self.parts, self.total = stage, "", 0.0, total
            self._output.show(self)

    def describe(self, text: str) -> None:
        """Set the text beside the bar."""
        with self._lock:
            self.text = text
            self._output.show(self)

    def advance(self, parts: float = 1.0) -> None:
        """Count parts of the present stage as done."""
        with self._lock:
            self.parts = min(self.parts + parts, self.total)
            self._output.show(self)

    @property
    def number(self) -> str:
        """The number of the present stage and of all stages."""
        return f"{list(self._stages).index(self.stage) + 1}/{len(self._stages)}"

    @property
    def share(self) -> float:
        """The share of all work that is done."""
        done = 0.0
        for stage, weight in self._stages.items():
            if stage == self.stage:
                done += weight * self.parts / max(self.total, 1e-9)
                break
            done += weight
        return done / sum(self._stages.values())

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds that are left."""
        whole = (self.elapsed + PRIOR_WEIGHT * self.expected) / (self.share + PRIOR_WEIGHT)
        return whole * (1 - self.share)

    def line(self) -> str:
        """All of it as text."""
        text = f": {self.text}" if self.text else ""
        return f"{self.number} {self.stage}{text}"

    def close(self, is_done: bool) -> None:
        """Show the end, or where the work failed."""
        with self._lock:
            self._output.close(self, is_done)


@contextmanager
def showing(stages: Mapping[str, float], verbose: int) -> Iterator[Display | None]:
    """Show progress through stages of such weights; inside another display, that one goes on."""
    outer = _ACTIVE.get()
    if outer is not None or verbose < 1:
        yield outer if verbose >= 1 else None
        return
    display = Display(stages, _output())
    token = _ACTIVE.set(display)
    is_done = False
    try:
        display.begin(display.stage)
        yield display
        is_done = True
    finally:
        _ACTIVE.reset(token)
        display.close(is_done)


def begin_stage(stage: str) -> None:
    """Go on with a stage of the display that is shown, if there is one."""
    display = _ACTIVE.get()
    if display is not None:
        display.begin(stage)


def expect(seconds: float) -> None:
    """Set how long all stages usually take, if a display is shown."""
    display = _ACTIVE.get()
    if display is not None:
        display.expected = seconds
        display.advance(0.0)


def _output() -> Output:
    if _is_notebook():
        return _Notebook()
    return _Terminal() if is_installed("rich") else _Lines()


def _is_notebook() -> bool:
    """Does this process run the cells of a notebook?"""
    ipython = sys.modules.get("IPython")
    return hasattr(ipython.get_ipython(), "kernel") if ipython else False


def clock(seconds: float) -> str:
    """A duration as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _Terminal:
    """A bar of rich on stderr."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        self._display: Display | None = None
        columns = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=24),
            progress.TaskProgressColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.fields[left]} left"),
        )
        self._bar = progress.Progress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task("", total=1.0, left=_TimeLeft(self))
        self._bar.start()

    def left(self) -> float:
        """Seconds that are left now."""
        return USUAL if self._display is None else self._display.left

    def show(self, display: Display) -> None:
        self._display = display
        self._bar.update(self._task, description=display.line(), completed=display.share)

    def close(self, display: Display, is_done: bool) -> None:
        if is_done:
            self._bar.update(self._task, description="Done", completed=1.0, left=clock(0))
        self._bar.stop()


class _TimeLeft:
    """The time left, formatted whenever the bar is drawn, also while no news arrive."""

    def __init__(self, terminal: _Terminal) -> None:
        self._terminal = terminal

    def __format__(self, spec: str) -> str:
        return clock(self._terminal.left())


class _Notebook:
    """A bar below the cell of a notebook, which needs no widgets."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._shown = 0.0

    def show(self, display: Display) -> None:
        if time.monotonic() - self._shown >= INTERVAL:
            self._show(display)

    def close(self, display: Display, is_done: bool) -> None:
        if is_done:
            self._write("Done", 1.0, f"{clock(display.elapsed)} elapsed")
        else:
            self._show(display)

    def _show(self, display: Display) -> None:
        times = f"{clock(display.elapsed)} elapsed, {clock(display.left)} left"
        self._write(display.line(), display.share, times)

    def _write(self, line: str, share: float, times: str) -> None:
        from IPython.display import display as publish

        bar = f'<progress value="{share:.3f}" max="1"></progress>'
        content = {
            "text/plain": f"{line} ({share:.0%}, {times})",
            "text/html": f"<div>{bar} {html.escape(line)} ({share:.0%}, {times})</div>",
        }
        if self._handle is None:
            self._handle = publish(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)
        self._shown = time.monotonic()


class _Lines:
    """A line on stderr for every part that is done."""

    def __init__(self) -> None:
        self._printed: tuple[str, int] = "", 0

    def show(self, display: Display) -> None:
        done = display.stage, int(display.parts + 1e-9)
        if done != self._printed and done[1] > 0:
            self._printed = done
            count = f"{done[1]} of {display.total:g}"
            print(f"{display.line()} ({count}, {clock(display.left)} left)", file=sys.stderr)

    def close(self, display: Display, is_done: bool) -> None:
        pass


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
