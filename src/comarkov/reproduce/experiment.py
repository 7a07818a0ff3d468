"""Experiments: a plan of runs, the runs, and the rules by which published numbers are judged."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from ..estimators.base import Parameters
from ..joint.joint import joint
from ..search.state.coclusters import CoClusterProblem, Step
from ..search.state.starts import starts_for

Key = tuple[str | int | float, ...]  # the parameters of a run, which JSON can store
Runs = Mapping[Key, Any]  # the results of runs
PAPER_BETAS = np.round(1 - 0.1 * np.arange(11), 1)
STANDARD_ERRORS = 4.0  # a larger distance from a published mean differs, if there are many runs
MARGIN = 0.05  # a larger distance does not agree, however few runs there are
ROUNDING = 1e-12  # how far computed costs may differ, in bits
CLAIM_ERRORS = 2.0  # by which a difference must exceed its margin
MARGINS = {"more": 0.0, "much more": MARGIN, "same": -MARGIN}  # what statements ask
PUBLISHED = files(__package__).joinpath("published")


@dataclass(frozen=True)
class RunOptions:
    """The options of the experiments."""

    runs: int | None = None  #: the number of repetitions; None is that of the paper
    quick: bool = False  #: a fraction of the runs
    data: Path | None = None  #: where the data sets are


@dataclass(frozen=True)
class Experiment:
    """One example, figure or table of the paper.

    ``outcome`` concludes from all runs and the number of repetitions. ``run`` makes the run of a
    key, which depends only on the key and the data, and returns what JSON can store. ``keys`` lists
    the keys of all runs, for a number of repetitions.
    """

    name: str
    title: str
    outcome: Callable[[Runs, RunOptions, int], Reproduction]
    run: Callable[[Key, RunOptions], Any] = lambda key, options: None
    keys: Callable[[RunOptions, int], list[Key]] = lambda options, n: [()]
    runs: int = 1  #: as in the paper
    quick_runs: int = 1
    dataset: str | None = None  #: needed, and not bundled
    batch: int = 1  #: runs per task of a process

    def repetitions(self, options: RunOptions) -> int:
        """Return the number of repetitions."""
        return options.runs or (self.quick_runs if options.quick else self.runs)

    def conclude(self, runs: Runs, options: RunOptions) -> Reproduction:
        """Return the outcome of all runs."""
        return self.outcome(runs, options, self.repetitions(options))


def solve(
    X: Any, n_clusters: tuple[int | None, int | None], beta: float, method: Any, **more: Any
) -> list[Step]:
    """Solve by ``CoClustering(sweeps="all", max_iter=20, tol=0)``: every step down to β.

    Unlike a fit this makes no model, which would take most of the time. The method is one of those
    of CoClustering, or an estimator of a named method.
    """
    literal: dict[str, Any] = {"sweeps": "all", "max_iter": 20, "tol": 0.0}
    has_name = isinstance(method, str)
    asked = Parameters(method=method if has_name else "auto", **literal | more)
    data = joint(X)
    problem = CoClusterProblem(data, starts_for(data, n_clusters, asked.init, None))
    optimise = asked.search_method().solve if has_name else method._optimise
    solution = optimise(problem, asked.run(beta))
    return solution.path or [solution.state.step(beta)]


# --- what was published -------------------------------------------------------------------------


class PublishedCurve(NamedTuple):
    """A published curve; the deviations are nan if none are published."""

    x: np.ndarray
    mean: np.ndarray
    std: np.ndarray


@cache
def published_table(name: str) -> list[dict[str, str]]:
    """Return the rows of a published table."""
    text = PUBLISHED.joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def published_curve(name: str, value: str, **where: Any) -> PublishedCurve:
    """Return a published curve over β, from the rows where columns have the given values."""

    def is_same(text: str, wanted: Any) -> bool:
        return text == wanted if isinstance(wanted, str) else float(text) == wanted

    rows = [
        row
        for row in published_table(name)
        if all(is_same(row[key], wanted) for key, wanted in where.items())
    ]
    if not rows:
        raise KeyError(f"Nothing was published in {name} for {where}.")
    columns = ([float(row.get(each, "nan")) for row in rows] for each in ("beta", value, "map_std"))
    return PublishedCurve(*map(np.array, columns))


# --- verdicts on numbers ------------------------------------------------------------------------


class Status(StrEnum):
    """The verdict on a published number or statement."""

    AGREES = "agrees"
    DIFFERS = "differs"
    FITTED = "fitted"  #: something of ours was fitted to it, so it is not a test
    UNTESTABLE = "not testable"


class Point(NamedTuple):
    """A published number beside ours."""

    x: float
    published: float
    ours: float
    error: float  #: standard error of the difference; nan if it is unknown, 0 if ours is exact
    status: Status
    reason: str


@dataclass(frozen=True, eq=False)
class Curve:
    """A published curve and ours, judged point by point.

    A point differs if it is farther from the published one than chance explains: at a two-sided p
    of 6e-5, which is four standard errors if there are many runs (Student's t for few). It agrees
    if it does not differ and is within 0.05 of the published one. Otherwise there are too few runs
    to tell. Costs that are computed without any chance must be equal to 12 digits.
    """

    panel: str
    name: str
    x: np.ndarray
    ours: np.ndarray
    error: np.ndarray | None = None  #: standard error of ours minus published; None: ours is exact
    published: np.ndarray | None = None
    runs: int = 1  #: of ours
    fitted: str = ""  #: what was fitted to this curve
    samples: np.ndarray | None = None  #: ours by (sample, point), if each is drawn as a dot

    @property
    def title(self) -> str:
        """The panel and the name."""
        return ", ".join(part for part in (self.panel, self.name) if part)

    def points(self) -> list[Point]:
        """Return the verdict on each published point; none if nothing is published."""
        if self.published is None:
            return []
        errors = np.zeros(self.x.size) if self.error is None else self.error
        every = zip(self.x, self.published, self.ours, errors, strict=True)
        return [
            Point(x, published, ours, error, *self._judge(ours - published, error))
            for x, published, ours, error in (map(float, point) for point in every)
        ]

    def _judge(self, difference: float, error: float) -> tuple[Status, str]:
        """Return the verdict on a point, and why."""
        distance = abs(difference)
        if self.fitted:
            return Status.FITTED, f"{self.fitted}: not a test"
        if self.error is None:
            is_equal = distance <= ROUNDING
            return (Status.AGREES if is_equal else Status.DIFFERS), f"{difference:+.2g}"
        if np.isnan(error):
            return Status.UNTESTABLE, "a single run has no standard error"
        size = f"{difference:+.4f}, {distance / max(error, 1e-12):.1f} standard errors"
        if distance > allowed_errors(self.runs) * error + ROUNDING:
            return Status.DIFFERS, size
        if distance > MARGIN:
            return Status.UNTESTABLE, f"{size}: too few runs to tell"
        return Status.AGREES, size


def allowed_errors(runs: int, many: float = STANDARD_ERRORS) -> float:
    """Return how many standard errors chance explains, if it explains ``many`` with many runs."""
    return float(stats.t.isf(stats.norm.sf(many), max(runs - 1, 1)))


def mean_and_error(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over runs and its standard error, which is nan for a single run."""
    table = np.array(values, dtype=float)
    return table.mean(axis=0), deviation(table) / np.sqrt(len(table))


def deviation(table: np.ndarray) -> np.ndarray:
    """Return the standard deviation over runs; nan for a single one."""
    if len(table) < 2:
        return np.full(table.shape[1:], np.nan)
    return np.asarray(table.std(axis=0, ddof=1))


def with_error(mean: Any, error: Any) -> str:
    """Format a mean and its standard error, which is left out for a single run."""
    return f"{mean:.3f} ± {error:.3f}".removesuffix(" ± nan")


# --- verdicts on statements ---------------------------------------------------------------------


class Claim(NamedTuple):
    """A statement of the paper, and whether it holds here."""

    text: str
    status: Status
    detail: str = ""


def claim(text: str, differences: Any, asks: str = "more", detail: str = "") -> Claim:
    """Judge a statement about differences, by run or by (run, case), from the words of the paper.

    It asks that every mean is above 0 ("more"), above MARGIN ("much more"), or within MARGIN of 0
    ("same"). It agrees if chance does not explain how far every case is ahead of that, and differs
    if it does not explain how far any is behind: two standard errors if there are many runs.
    """
    every, margin = np.array(differences, dtype=float), MARGINS[asks]
    every = every.reshape(len(every), -1)
    if asks == "same":
        every = every * np.where(every.mean(axis=0) < 0, 1, -1)
    mean, error = mean_and_error(every)
    ahead = (mean - margin) / np.maximum(error, 1e-12)
    allowed = allowed_errors(len(every), CLAIM_ERRORS)
    status = Status.UNTESTABLE
    if (ahead > allowed).all():
        status = Status.AGREES
    elif (ahead < -allowed).any():
        status = Status.DIFFERS
    at = int(np.argmin(mean))  # the case that is least ahead
    shown, limit = (abs(mean[at]), "most") if asks == "same" else (mean[at], "least")
    size = f"{shown:+.4f} ± {error[at]:.4f}".removesuffix(" ± nan")
    size += f"; asked: at {limit} {abs(margin):g}"
    return Claim(text, status, "; ".join(part for part in (detail, size) if part))


def in_random_range(value: float, mean: float, spread: float) -> tuple[bool, str]:
    """Is a mean at most four standard deviations above that of random clusters?"""
    above = (value - mean) / spread
    text = f"at most {value:.4f}, {above:+.1f} standard deviations from random clusters"
    return above <= STANDARD_ERRORS, f"{text} ({mean:.4f} ± {spread:.4f}); asked: at most 4"


@cache
def _texts(experiment: str) -> Any:
    text = PUBLISHED.joinpath("statements.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)[experiment]


def verdicts(experiment: str, findings: Mapping[str, Any], **names: object) -> list[Claim]:
    """Return the verdicts on the statements of an experiment, in their order.

    A finding is a pair of the verdict (or whether the statement holds) and a detail, or the
    differences of runs, or several of these by the $name in the statement. What a statement asks
    of differences was decided before any run, from the words of the paper.
    """
    claims = []
    for key, statement in _texts(experiment)["statements"].items():
        finding = findings[key]
        several = finding if isinstance(finding, dict) else {names.get("name", ""): finding}
        for name, each in several.items():
            named = names | {"name": name}
            text, detail = (
                Template(statement.get(part, "")).substitute(named) for part in ("text", "detail")
            )
            if isinstance(each, tuple):
                holds, detail = each
                status = Status.AGREES if holds else Status.DIFFERS
                claims.append(Claim(text, holds if isinstance(holds, Status) else status, detail))
            else:
                claims.append(claim(text, each, statement.get("asks", "more"), detail))
    return claims


def about(experiment: str, **names: object) -> dict[str, Any]:
    """Return what an experiment does and remarks on it, as arguments of ``Reproduction``."""
    texts = [_texts(experiment)["about"], *_texts(experiment).get("remarks", [])]
    first, *remarks = (Template(text).substitute(names) for text in texts)
    return {"about": first, "remarks": remarks}


# --- outcomes -----------------------------------------------------------------------------------


class ResultTable(NamedTuple):
    """A table of texts."""

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


class PhaseDiagram(NamedTuple):
    """A measure by the value of a property of the data, and by β."""

    title: str
    label: str  #: of the property
    values: Sequence[float]
    table: np.ndarray  #: by (value, β), for PAPER_BETAS


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
    diagrams: list[PhaseDiagram] = field(default_factory=list)
    columns: int = 3  #: panels side by side

    @property
    def statuses(self) -> list[Status]:
        """The verdicts on all published numbers."""
        return [point.status for curve in self.curves for point in curve.points()]
