"""Sweeping a clustering until it stays: the step that all searches share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from .run import Run

Labels = np.ndarray


class Visit(NamedTuple):
    """What a sweep did."""

    moves: int
    saved: float  # cost, in bits
    complete: bool  # were all elements visited that may move?


class Split(NamedTuple):
    """How a cluster falls into two."""

    gain: float  # bits
    leavers: np.ndarray  # the elements of the second part


class Clustering(Protocol):
    """What all optimisers know of a clustering: they ask for changes and never see a formula.

    Its sides are the sets of elements that are clustered. Each has its number of clusters ``k``,
    ``labels``, ``is_numbered`` (clusters with numbers of the user's are not merged and split) and
    ``work``, the terms of the cost in a sweep.
    """

    n_iter: int
    converged: bool

    def sides(self) -> Sequence[Any]:
        """The sides that have elements to move."""

    def labels(self) -> list[Labels | None]:
        """Copies of the labels of all sets of elements; None for one that is not clustered."""

    def cost(self, beta: float) -> float:
        """The cost in bits."""

    def sweep(self, side: Any, run: Run, complete: bool = True) -> Visit:
        """Move the elements of a side, each to its cluster of least cost; all, or those due."""

    def merge_costs(self, side: Any, beta: float) -> np.ndarray:
        """What it costs in bits to merge clusters i < j of a side; infinite elsewhere."""

    def merged(self, side: Any, i: int, j: int) -> Any:
        """The same with clusters i and j of a side made one."""

    def split(self, side: Any, cluster: int, run: Run) -> Split:
        """How a cluster of a side falls into two."""

    def relabelled(self, side: Any, labels: Labels) -> Any:
        """The same with other labels on a side; the others are shared."""

    def copy(self) -> Any:
        """The same, to change without changing this."""


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
        cost -= saved
        state.n_iter += 1
        run.monitor.report(stage, run.beta, iteration, cost)
        settled = saved <= run.settings.tol
        if settled and all(visit.complete for visit in visits):
            return
        complete = settled
    state.converged = False


def schedule(beta: float, step: float) -> list[float]:
    """1, 1 - step, ..., β."""
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
    """For each kind of start, the result of least cost over start(0), ..., start(count - 1).

    No start but the first begins when ``share`` of the time is over, and any but the first may end
    without a result. Of equals the first counts, so the answer does not depend on the number of
    threads. No more results are held than there are threads and kinds.
    """
    best: list[tuple[float, int, State] | None] = [None] * len(starts)
    lock = threading.Lock()

    def task(i: int, kind: int) -> None:
        if i > 0 and run.monitor.is_late(share):
            return
        with run.monitor.ending_all():
            result = starts[kind](i)
        if result is None:
            return  # out of time
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
