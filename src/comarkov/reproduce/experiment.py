"""What an experiment is: runs that are planned, made one by one, and concluded from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Key = tuple[str | int | float, ...]  # what is run: JSON can hold it
STANDARD_ERRORS = 4.0  # how far from the published mean agrees


@dataclass(frozen=True)
class RunOptions:
    """What the user asks of the experiments."""

    runs: int | None = None  #: how often to repeat; None is as often as the paper
    quick: bool = False  #: a fraction of the runs
    best: bool = False  #: also run with our best settings
    data: Path | None = None  #: where the data sets are


@dataclass(frozen=True)
class Experiment:
    """One example, figure or table of the paper.

    ``plan`` lists the keys of all runs; ``run`` makes the run with a key, which depends on nothing
    but the key and the data, and gives what JSON can hold; ``conclude`` makes the outcome of all.
    """

    name: str
    title: str
    plan: Callable[[RunOptions], list[Key]]
    run: Callable[[Key, RunOptions], Any]
    conclude: Callable[[Mapping[Key, Any], RunOptions], Outcome]
    runs: int = 1  #: as in the paper
    quick_runs: int = 1
    dataset: str | None = None  #: needed, and not bundled
    batch: int = 1  #: runs that a process makes at a time

    def repetitions(self, options: RunOptions) -> int:
        """How often to repeat."""
        if options.runs is not None:
            return options.runs
        return self.quick_runs if options.quick else self.runs


class Verdict(NamedTuple):
    """A curve in one line: its worst point, which is farthest from the published one."""

    curve: str
    x: float
    published: float | None
    ours: float
    error: float | None  #: standard error; of the difference, where the paper gives a deviation
    best: float | None  #: ours with our best settings
    agrees: bool | None  #: None where it is not judged
    detail: str


@dataclass(frozen=True, eq=False)
class Curve:
    """A published curve and ours.

    It agrees if every point that is ``judged`` lies within ``tolerance`` of the published one;
    without a tolerance, within four standard errors of the difference.
    """

    panel: str
    name: str
    x: np.ndarray
    ours: np.ndarray
    error: np.ndarray | None = None  #: standard error of ours, or of ours minus published
    published: np.ndarray | None = None
    best: np.ndarray | None = None  #: ours with our best settings
    tolerance: float | None = None
    judged: np.ndarray | None = None  #: which points count; None is all

    def verdict(self) -> Verdict:
        """Do we agree?"""
        if self.published is None:
            return self._verdict(int(self.ours.argmax()), None, "highest point; none is published")
        judged = np.full(self.x.size, True) if self.judged is None else self.judged
        difference = self.ours - self.published
        limit = self._limit()
        ratio = np.abs(difference) / limit
        if not judged.any():
            return self._verdict(int(ratio.argmax()), None, "shown, not judged")
        worst = int(np.where(judged, ratio, -1.0).argmax())
        points = "point" if judged.sum() == 1 else f"of {judged.sum()} points"
        if self.tolerance is not None:
            size = f"{difference[worst]:+.2g}, allowed {self.tolerance:g}"
        else:
            size = f"{ratio[worst] * STANDARD_ERRORS:.1f} standard errors"
        return self._verdict(worst, bool(ratio[worst] <= 1), f"worst {points}: {size}")

    def _limit(self) -> np.ndarray:
        if self.tolerance is not None:
            return np.full(self.x.size, self.tolerance)
        assert self.error is not None
        return np.maximum(STANDARD_ERRORS * self.error, 1e-12)

    def _verdict(self, i: int, agrees: bool | None, detail: str) -> Verdict:
        return Verdict(
            curve=", ".join(part for part in (self.panel, self.name) if part),
            x=float(self.x[i]),
            published=_at(self.published, i),
            ours=float(self.ours[i]),
            error=_at(self.error, i),
            best=_at(self.best, i),
            agrees=agrees,
            detail=detail,
        )


def _at(values: np.ndarray | None, i: int) -> float | None:
    return None if values is None or np.isnan(values[i]) else float(values[i])


class Claim(NamedTuple):
    """A statement of the paper, and whether it holds here."""

    text: str
    holds: bool
    detail: str = ""


class ResultTable(NamedTuple):
    """A table to read beside the curves."""

    title: str
    header: list[str]
    rows: list[list[str]]


class Blocks(NamedTuple):
    """A matrix to draw, its rows and columns in the order of their clusters."""

    title: str
    matrix: np.ndarray
    row_labels: list[int]
    column_labels: list[int]
    row_names: Sequence[str] = ()
    column_names: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Outcome:
    """All that one experiment has to say; rendering adds nothing."""

    about: str  #: what was done, with which settings
    x_label: str = "β"
    y_label: str = ""
    curves: list[Curve] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    tables: list[ResultTable] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  #: where we differ, and why
    lines: dict[str, float] = field(default_factory=dict)  #: horizontal lines to draw
    blocks: list[Blocks] = field(default_factory=list)
    columns: int = 3  #: panels side by side

    @property
    def verdicts(self) -> list[Verdict]:
        """One for each curve."""
        return [curve.verdict() for curve in self.curves]
