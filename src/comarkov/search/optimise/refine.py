"""Sweep a clustering until it no longer changes: the step that all searches share."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ...joint.messages import InternalError
from ..run import Run

DESCENT_ROUNDING = 1e-8  # bits: far more than rounding adds to a cost
REPORTED_PACKAGES = ("comarkov", "numpy", "scipy", "scikit-learn", "numba")


def check_descent(before: float, after: float, state: Clustering, run: Run, step: str) -> None:
    """Raise an error if a step raised the cost beyond rounding, or if the cost is not a number."""
    rise = after - before
    if rise <= DESCENT_ROUNDING:
        return
    raise InternalError(
        f"comarkov made an error: the step {step!r} raised the cost by {rise:.3g} bits, so there "
        "is no result. Your input is not at fault. Please report this message to the comarkov "
        f"developers, with the data if you may share them. {_circumstances(state, run)}"
    )


def _circumstances(state: Clustering, run: Run) -> str:
    """Versions, shape, seed and settings: what a developer needs to repeat the error."""
    shape = ", ".join(f"{side.labels.size} in {side.k} clusters" for side in state.sides())
    versions = ", ".join(f"{package} {_version(package)}" for package in REPORTED_PACKAGES)
    return (
        f"[Versions: {versions}, "
        f"Python {platform.python_version()}, {platform.platform()}. Elements: {shape}. "
        f"beta={run.beta:g}, {run.seed}, {run.settings}, n_init={run.n_init}, n_jobs={run.n_jobs}.]"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a checkout that is not installed
        return "of unknown version"


Labels = np.ndarray


class Visit(NamedTuple):
    """The result of a sweep."""

    moves: int
    saved: float  # cost, in bits
    complete: bool  # were all free elements visited?


class Split(NamedTuple):
    """A split of a cluster into two parts."""

    gain: float  # bits
    leavers: np.ndarray  # the elements of the second part


class Clustering(Protocol):
    """What optimisers know of a clustering: they request changes and never see a formula.

    Its sides are the sets of elements that are clustered. Each has its number of clusters ``k``,
    ``labels``, ``is_numbered`` (clusters that the user numbered are not merged or split) and
    ``work``, the terms of the cost in a sweep.
    """

    n_iter: int
    converged: bool

    def sides(self) -> Sequence[Any]:
        """Return the sides that have free elements."""

    def labels(self) -> list[Labels | None]:
        """Return copies of the labels of all sets of elements; None if not clustered."""

    def cost(self, beta: float) -> float:
        """Return the cost in bits."""

    def sweep(self, side: Any, run: Run, complete: bool = True) -> Visit:
        """Move the elements of a side, each to its cluster of least cost; all, or those due."""

    def merge_costs(self, side: Any, beta: float) -> np.ndarray:
        """Return the costs in bits of merging clusters i < j of a side; infinite elsewhere."""

    def merged(self, side: Any, i: int, j: int) -> Any:
        """Return the clustering with clusters i and j of a side merged."""

    def splits(self, side: Any, run: Run) -> list[Split]:
        """Split each cluster of a side into two parts."""

    def relabelled(self, side: Any, labels: Labels) -> Any:
        """Return the clustering with new labels on a side; the others are shared."""

    def copy(self) -> Any:
        """Return a copy that can be changed independently."""


State = TypeVar("State", bound=Clustering)


def refine(state: Clustering, run: Run, stage: str) -> None:
    """Sweep over each side in turn until a complete sweep of all saves no more than tol."""
    cost = state.cost(run.beta) if run.monitor.listens else 0.0
    complete = True
    for iteration in range(1, run.settings.max_iter + 1):
        visits = [state.sweep(side, run, complete) for side in state.sides()]
        if run.stop():
            return
        saved = sum(visit.saved for visit in visits)
        check_descent(0.0, -saved, state, run, stage)
        cost -= saved
        state.n_iter += 1
        run.monitor.report(stage, run.beta, iteration, cost)
        if run.checkpoint is not None:
            run.checkpoint.keep(state, stage)
        settled = saved <= run.settings.tol
        if settled and all(visit.complete for visit in visits):
            return
        complete = settled
    state.converged = False


def schedule(beta: float, step: float) -> list[float]:
    """Return 1, 1 - step, ..., β."""
    count = max(int(np.ceil((1 - beta) / step - 1e-9)), int(beta < 1))
    return [round(1 - i * step, 12) for i in range(count)] + [beta]


def lower(state: Clustering, high: float, run: Run) -> None:
    """Anneal from one β to that of the run, two sweeps at a time."""
    for alpha in schedule(run.beta, 0.1):
        if alpha < high:
            refine(state, run.at(alpha).sweeping(2), "anneal")


def best_of(
    starts: Sequence[Callable[[int], State | None]], counts: Sequence[int], run: Run, share: float
) -> list[State]:
    """For each kind of start, return the best result of start(0), ..., start(count - 1).

    After ``share`` of the time no further start begins, and all but the first may end without a
    result. Ties go to the first, so the result does not depend on the number of threads. At most
    one result per thread and kind is kept in memory.
    """
    best: list[tuple[float, int, State] | None] = [None] * len(starts)
    lock = threading.Lock()

    def task(i: int, kind: int) -> None:
        if i > 0 and run.monitor.is_late(share):
            return
        with run.monitor.ending_all():
            result = starts[kind](i)
        if result is None:
            return  # time is over
        cost = result.cost(run.beta) if counts[kind] > 1 else 0.0
        with lock:
            present = best[kind]
            if present is None or (cost, i) < present[:2]:
                best[kind] = (cost, i, result)
        run.monitor.advance()

    tasks = sorted((i, kind) for kind, count in enumerate(counts) for i in range(count))
    if run.n_jobs == 1 or len(tasks) == 1:
        for i, kind in tasks:
            task(i, kind)
    else:
        with ThreadPoolExecutor(run.n_jobs) as pool:
            list(pool.map(task, *zip(*tasks, strict=True)))
    return [result[2] for result in best if result is not None]
