"""Sweeps and merge-split moves that lower the cost of a clustering, whatever its formula."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ...joint.messages import InternalError
from ..run import Budget, Run
from ..state.starts import Start

DESCENT_ROUNDING = 1e-8  # bits: far more than rounding adds to a cost
FINE = 8  # fine clusters for each requested one ...
MANY_FINE = 48  # ... but not many more than this in total
FINE_BETA = 0.9  # β of the fine clusters, unless the user's is larger
FINE_SWEEPS = 5
MERGES_PER_SPLIT = 3  # merges that are considered for each split
MAX_FAILS = 7  # failed merge-splits after which a side is skipped
LAG = (4.0, 2.0)  # a trial ends if it is still this many times behind what the last sweep saved
BETTER = 1e-9  # the least improvement that counts, in bits
POLISH_ROUNDS = 2, 50  # the smallest number, for large data, and the largest
SWEEPS_A_ROUND = 8  # the work of a round, in sweeps

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


def check_descent(before: float, after: float, run: Run, step: str) -> None:
    """Raise an error if a step raised the cost beyond rounding, or if the cost is not a number."""
    rise = after - before
    if rise <= DESCENT_ROUNDING:
        return
    raise InternalError(
        f"comarkov made an error: the step {step!r} raised the cost by {rise:.3g} bits, so there "
        "is no result. Your input is not at fault. Please report this message to the comarkov "
        f"developers, with the data if you may share them. [comarkov {version('comarkov')}, "
        f"numba {version('numba')}, beta={run.beta:g}, {run.seed}, {run.settings}]"
    )


def refine(state: Clustering, run: Run, stage: str) -> None:
    """Sweep over each side in turn until a complete sweep of all saves no more than tol."""
    cost = state.cost(run.beta) if run.monitor.listens else 0.0
    complete = True
    for iteration in range(1, run.settings.max_iter + 1):
        visits = [state.sweep(side, run, complete) for side in state.sides()]
        if run.stop():
            return
        saved = sum(visit.saved for visit in visits)
        check_descent(0.0, -saved, run, stage)
        cost -= saved
        state.n_iter += 1
        run.monitor.report(stage, run.beta, iteration, cost)
        if run.checkpoint is not None:
            run.checkpoint.keep(state)
        settled = saved <= run.settings.tol
        if settled and all(visit.complete for visit in visits):
            return
        complete = settled or run.settings.complete
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


def best_of(start: Callable[[int], State], count: int, run: Run, share: float = 1.0) -> State:
    """Return the best result of start(0), ..., start(count - 1).

    After ``share`` of the time no further start begins. Ties go to the first, so the result does
    not depend on the number of threads. At most one result per thread is kept in memory.
    """
    best: list[tuple[float, int, State]] = []
    lock = threading.Lock()

    def task(i: int) -> None:
        if i > 0 and run.monitor.is_late(share):
            return
        with run.monitor.ending_all():
            result = start(i)
        cost = result.cost(run.beta) if count > 1 else 0.0
        with lock:
            best[:] = [min([*best, (cost, i, result)], key=lambda one: one[:2])]
        run.monitor.advance()

    if run.n_jobs == 1:
        for i in range(count):
            task(i)
    else:
        with ThreadPoolExecutor(run.n_jobs) as pool:
            list(pool.map(task, range(count)))
    return best[0][2]


# --- merge-split moves: merge two clusters and split another, while that lowers the cost ------


def polish(state: Clustering, run: Run) -> None:
    """Split one cluster, merge two others and sweep, while that lowers the cost.

    A side that has nothing left to gain is skipped from then on. Like a sweep this changes the
    state: tables of large data are large, and nobody has to keep those from before.
    """
    work = SWEEPS_A_ROUND * sum(side.work for side in state.sides())
    waiting = list(range(len(state.sides())))
    for _ in range(Budget.POLISHING.times(work, *POLISH_ROUNDS)):
        for which in waiting.copy():
            if not _merge_split(state, which, run):
                waiting.remove(which)
        if not waiting or run.stop():
            break


def _merge_split(state: Clustering, which: int, run: Run) -> bool:
    """Try the most promising merge-splits of a side and make those that pay; were there any?"""
    cost, fails = state.cost(run.beta), 0
    touched: set[int] = set()
    for swap in _promising(state, which, run):
        if fails == MAX_FAILS or run.stop():
            break
        if touched & {swap.split, *swap.merge}:
            continue
        trial = _tried(state, which, swap, run)
        if trial is not None and trial.cost(run.beta) < cost - BETTER:
            _become(state, trial)
            _become(state, state.copy())  # as if no side had been visited before
            for i, side in enumerate(state.sides()):
                if i != which:
                    state.sweep(side, run.sweeping(1))
            before, cost = cost, state.cost(run.beta)
            check_descent(before, cost, run, "polish")
            touched |= {swap.split, *swap.merge}
        else:
            fails += 1
    return bool(touched)


def _become(state: Clustering, other: Clustering) -> None:
    """Make a state equal to another, so that whoever holds it does not hold its old tables."""
    vars(state).update(vars(other))


class Swap(NamedTuple):
    """Merge two clusters and split another, which keeps the number of clusters."""

    saves: float  # bits, if nothing else changes
    split: int
    merge: tuple[int, int]
    leavers: np.ndarray  # rows of the split cluster that go into the free one

    def applied(self, labels: np.ndarray) -> np.ndarray | None:
        """Return the labels after it; None if the split cluster would be empty by now."""
        leavers = self.leavers[labels[self.leavers] == self.split]
        if leavers.size in (0, np.count_nonzero(labels == self.split)):
            return None
        keep, free = self.merge
        changed = np.where(labels == free, keep, labels)
        changed[leavers] = free
        return changed


def _tried(state: Clustering, which: int, swap: Swap, run: Run) -> Clustering | None:
    """Return the state after a merge-split and sweeps; None if it is not promising.

    The first sweeps visit only the changed clusters, where nearly everything is saved.
    """
    labels = swap.applied(state.sides()[which].labels)
    if labels is None:
        return None
    trial: Clustering = state.relabelled(state.sides()[which], labels)
    once = run.sweeping(1)
    behind = -swap.saves
    for lag in LAG:
        saved = trial.sweep(trial.sides()[which], once, complete=False).saved
        behind -= saved
        if behind > lag * saved:
            return None
    trial.sweep(trial.sides()[which], once)
    return trial


def _promising(state: Clustering, which: int, run: Run) -> list[Swap]:
    """Return all splits of a side, each with the cheapest merges, by decreasing savings."""
    side = state.sides()[which]
    if side.k < 3 or side.is_numbered or run.stop():
        return []
    losses = state.merge_costs(side, run.beta)
    order = np.argsort(losses, axis=None, kind="stable")[: MERGES_PER_SPLIT * side.k]
    cheap = [divmod(int(place), side.k) for place in order]
    swaps = []
    for a, (gain, leavers) in enumerate(state.splits(side, run)):
        for i, j in [pair for pair in cheap if a not in pair][:MERGES_PER_SPLIT]:
            swaps.append(Swap(gain - losses[i, j], a, (i, j), leavers))
    return [] if run.stop() else sorted(swaps, key=lambda swap: -swap.saves)


# --- merges: from many clusters to the requested number ----------------------------------------


def coarsen(state: State, counts: Sequence[int], run: Run, must_end: bool) -> State | None:
    """Sweep, and repeat the cheapest merge until each side has its count.

    When time is over it finishes the merges without sweeps if ``must_end``, else returns None.
    """
    high = run.at(max(run.beta, FINE_BETA))
    refine(state, high.sweeping(FINE_SWEEPS), "many clusters")
    merges, between = 0, merges_between_sweeps(state, counts, Budget.MERGING)
    while (smaller := merge_cheapest(state, counts, high.beta)) is not None:
        if run.stop() and not must_end:
            return None
        state, merges = smaller, merges + 1
        if merges % between == 0:
            refine(state, high.sweeping(1), "merge")
    lower(state, high.beta, run)
    return state


def fine_number(k: int, elements: int) -> int:
    """Return the number of fine clusters of so many nonempty elements, for k in the end."""
    return min(FINE * k, max(MANY_FINE, 2 * k), elements)


def fine_count(start: Start) -> int | None:
    """Return the number of clusters to start with; None for a side that is not clustered."""
    return None if start.k is None else fine_number(start.k, int(start.has_mass.sum()))


def merge_cheapest(state: State, counts: Sequence[int], beta: float) -> State | None:
    """Make the cheapest merge on the sides that have more clusters than their count."""
    best: tuple[float, Any, int, int] | None = None
    for side, count in zip(state.sides(), counts, strict=True):
        if side.k == count:
            continue
        costs = state.merge_costs(side, beta)
        i, j = divmod(int(costs.argmin()), side.k)
        if best is None or costs[i, j] < best[0]:
            best = (costs[i, j], side, i, j)
    if best is None:
        return None
    smaller: State = state.merged(*best[1:])
    return smaller


def merges_between_sweeps(state: Clustering, counts: Sequence[int], budget: Budget) -> int:
    """Return 1, or more if a sweep after each merge would take longer than the budget."""
    merges = sum(side.k - count for side, count in zip(state.sides(), counts, strict=True))
    return budget.every(merges, sum(side.work for side in state.sides()))
