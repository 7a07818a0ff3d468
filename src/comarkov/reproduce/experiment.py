"""What an experiment is: runs that are planned, made one by one, and concluded from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Key = tuple[str | int | float, ...]  # what is run: JSON can hold it
STANDARD_ERRORS = 4.0  # how far from the published mean agrees


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    runs: int | None = None  #: how often to repeat; None is as often as the paper
    quick: bool = False  #: a fraction of the runs
    best: bool = False  #: also run with our best settings
    data: Path | None = None  #: where the data sets are


@dataclass(frozen=True)
class Experiment:
    """One example, figure or table of the paper.

    ``plan`` lists the keys of all runs; ``run`` makes the run with a key, which depends on nothing
    but the key and the data, and gives what JSON can hold; ``conclude`` makes the result of all.
    """

    name: str
    title: str
    plan: Callable[[Options], list[Key]]
    run: Callable[[Key, Options], Any]
    conclude: Callable[[Mapping[Key, Any], Options], Result]
    runs: int = 1  #: as in the paper
    quick_runs: int = 1
    dataset: str | None = None  #: needed, and not bundled
    batch: int = 1  #: runs that a process makes at a time

    def repetitions(self, options: Options) -> int:
        """How often to repeat."""
        if options.runs is not None:
            return options.runs
        return self.quick_runs if options.quick else self.runs


class Verdict(NamedTuple):
    """A curve in one line."""

    curve: str
    published: float | None  #: mean over the points
    ours: float
    error: float | None  #: standard error at the worst point
    agrees: bool | None  #: None where the paper gives no number
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
    error: np.ndarray | None = None  #: standard error of ours minus published
    published: np.ndarray | None = None
    best: np.ndarray | None = None  #: ours with our best settings
    tolerance: float | None = None
    judged: np.ndarray | None = None  #: which points count; None is all

    def verdict(self) -> Verdict:
        """Do we agree?"""
        name = ", ".join(part for part in (self.panel, self.name) if part)
        ours = float(self.ours.mean())
        if self.published is None:
            return Verdict(name, None, ours, _largest(self.error), None, "the paper has no numbers")
        judged = np.full(self.x.size, True) if self.judged is None else self.judged
        published = float(self.published.mean())
        if not judged.any():
            return Verdict(name, published, ours, _largest(self.error), None, "shown, not judged")
        limit = self._limit()
        if np.isnan(limit).any():
            detail = "one run has no standard error"
            return Verdict(name, published, ours, None, None, detail)
        difference = self.ours - self.published
        ratio = np.where(judged, np.abs(difference) / limit, -1.0)
        worst = int(ratio.argmax())
        error = None if self.error is None else float(self.error[worst])
        detail = f"worst {difference[worst]:+.2g} at {self.x[worst]:g}"
        if self.tolerance is not None:
            detail += f", allowed {self.tolerance:g}"
        elif error is not None:
            detail += f" = {abs(difference[worst]) / max(error, 1e-300):.1f} standard errors"
        if not judged.all():
            detail += f", {judged.sum()} of {judged.size} points judged"
        return Verdict(name, published, ours, error, bool(ratio[worst] <= 1), detail)

    def _limit(self) -> np.ndarray:
        if self.tolerance is not None:
            return np.full(self.x.size, self.tolerance)
        assert self.error is not None
        return np.maximum(STANDARD_ERRORS * self.error, 1e-12)


def _largest(error: np.ndarray | None) -> float | None:
    return None if error is None else float(error.max())


class Claim(NamedTuple):
    """Something that the paper says, and whether it is so here."""

    text: str
    holds: bool
    detail: str = ""


class Table(NamedTuple):
    """Something to read."""

    title: str
    header: list[str]
    rows: list[list[str]]


class Blocks(NamedTuple):
    """A matrix to draw, its rows and columns in the order of their clusters."""

    title: str
    matrix: np.ndarray
    row_labels: list[int]
    column_labels: list[int]
    row_names: list[str] = []  # noqa: RUF012, never changed
    column_names: list[str] = []  # noqa: RUF012


@dataclass(frozen=True, eq=False)
class Result:
    """All that one experiment has to say; rendering adds nothing."""

    about: str  #: what was done, with which settings
    x_label: str = "β"
    y_label: str = ""
    curves: list[Curve] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  #: where we differ, and why
    lines: dict[str, float] = field(default_factory=dict)  #: horizontal lines to draw
    blocks: list[Blocks] = field(default_factory=list)
    columns: int = 3  #: panels side by side

    @property
    def verdicts(self) -> list[Verdict]:
        """One for each curve."""
        return [curve.verdict() for curve in self.curves]


def mean_and_error(values: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The mean over runs and its standard error; the error of a single run is not known."""
    table = np.array(values, dtype=float)
    n = len(table)
    error = table.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(table.shape[1:], np.nan)
    return table.mean(axis=0), error
