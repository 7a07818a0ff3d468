"""Experiments: a plan of runs, the runs, and a conclusion from all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

Key = tuple[str | int | float, ...]  # the parameters of a run, which JSON can store
STANDARD_ERRORS = 4.0  # the largest distance from the published mean that agrees
AGREEING_SHARE = 0.5  # of the samples that must lie at the published value


@dataclass(frozen=True)
class RunOptions:
    """The options of the experiments."""

    runs: int | None = None  #: the number of repetitions; None is that of the paper
    quick: bool = False  #: a fraction of the runs
    data: Path | None = None  #: where the data sets are
    headers: str = "subject"  #: of messages of 20 Newsgroups that count: "all", "subject", "none"
    stop_words: bool = False  #: do English stop words count?


@dataclass(frozen=True)
class Experiment:
    """One example, figure or table of the paper.

    ``plan`` lists the keys of all runs. ``run`` makes the run of a key, which depends only on the
    key and the data, and returns what JSON can store. ``conclude`` returns the outcome of all runs.
    """

    name: str
    title: str
    plan: Callable[[RunOptions], list[Key]]
    run: Callable[[Key, RunOptions], Any]
    conclude: Callable[[Mapping[Key, Any], RunOptions], Reproduction]
    runs: int = 1  #: as in the paper
    quick_runs: int = 1
    dataset: str | None = None  #: needed, and not bundled
    batch: int = 1  #: runs per task of a process

    def repetitions(self, options: RunOptions) -> int:
        """Return the number of repetitions."""
        if options.runs is not None:
            return options.runs
        return self.quick_runs if options.quick else self.runs


class Verdict(NamedTuple):
    """A curve in one line: the point that is farthest from the published one."""

    curve: str
    x: float
    published: float | None
    ours: float
    error: float | None  #: standard error; of the difference, where the paper gives a deviation
    agrees: bool | None  #: None if it is not judged
    detail: str


@dataclass(frozen=True, eq=False)
class Curve:
    """A published curve and ours.

    It agrees if every point that is ``judged`` lies within ``tolerance`` of the published one;
    without a tolerance, within four standard errors of the difference. If there are ``samples``,
    half of these must lie within the tolerance, not their mean: it may lie where no sample does.
    """

    panel: str
    name: str
    x: np.ndarray
    ours: np.ndarray
    error: np.ndarray | None = None  #: standard error of ours, or of ours minus published
    published: np.ndarray | None = None
    tolerance: float | None = None
    judged: np.ndarray | None = None  #: which points count; None is all
    samples: np.ndarray | None = None  #: ours by (sample, point), if each is drawn as a dot

    def verdict(self) -> Verdict:
        """Do we agree?"""
        if self.published is None:
            return self._verdict(int(self.ours.argmax()), None, "highest point; none is published")
        judged = np.full(self.x.size, True) if self.judged is None else self.judged
        difference = self.ours - self.published
        ratio = np.abs(difference) / self._limit()
        if not judged.any():
            return self._verdict(int(ratio.argmax()), None, "shown, not judged")
        if self.samples is not None:
            return self._by_samples(self.samples, judged)
        worst = int(np.where(judged, ratio, -1.0).argmax())
        points = "point" if judged.sum() == 1 else f"of {judged.sum()} points"
        if self.tolerance is not None:
            size = f"{difference[worst]:+.2g}, allowed {self.tolerance:g}"
        else:
            size = f"{ratio[worst] * STANDARD_ERRORS:.1f} standard errors"
        return self._verdict(worst, bool(ratio[worst] <= 1), f"worst {points}: {size}")

    def _by_samples(self, samples: np.ndarray, judged: np.ndarray) -> Verdict:
        near = np.abs(samples - self.published) <= self._limit()
        counts = near.sum(axis=0)
        worst = int(np.where(judged, counts, len(near) + 1).argmin())
        detail = (
            f"worst of {judged.sum()} points: {counts[worst]} of {len(near)} samples within "
            f"{self.tolerance:g}"
        )
        return self._verdict(worst, bool(counts[worst] >= AGREEING_SHARE * len(near)), detail)

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
    """A table shown beside the curves."""

    title: str
    header: list[str]
    rows: list[list[str]]


class Blocks(NamedTuple):
    """A matrix to draw, with rows and columns sorted by cluster."""

    title: str
    matrix: np.ndarray
    row_labels: list[int]
    column_labels: list[int]
    row_names: Sequence[str] = ()
    column_names: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The complete outcome of an experiment; rendering adds nothing."""

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


def mean_and_error(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over runs and its standard error, which is nan for a single run."""
    table = np.array(values, dtype=float)
    return table.mean(axis=0), deviation(table) / np.sqrt(len(table))


def deviation(table: np.ndarray) -> np.ndarray:
    """Return the standard deviation over runs; nan for a single one."""
    if len(table) < 2:
        return np.full(table.shape[1:], np.nan)
    return np.asarray(table.std(axis=0, ddof=1))


#: Synthetic data: natural order of the sweeps, 20 of them, until none improves.
PAPER: dict[str, Any] = {"max_iter": 20, "tol": 0, "beta_step": 0.1}

PAPER_BETAS = np.round(1 - 0.1 * np.arange(11), 1)


@contextmanager
def as_published() -> Iterator[None]:
    """Silence warnings about stopping after 20 sweeps, which the paper does on purpose."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No convergence", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".* (has|have) no mass", UserWarning)
        yield
