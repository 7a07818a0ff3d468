"""Merge-split moves: merge two clusters and split another, while that lowers the cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import budgets
from ..run import Run
from ..state.starts import Start
from .refine import Clustering, State, check_descent, lower, refine

MERGES_PER_SPLIT = 3  # merges that are considered for each split
MAX_FAILS = 7  # failed merge-splits after which a side is skipped
LAG = (4.0, 2.0)  # a trial ends if it is still this many times behind what the last sweep saved
BETTER = 1e-9  # the least improvement that counts, in bits
POLISH_ROUNDS = 2, 50  # the smallest number, for large data, and the largest
SWEEPS_A_ROUND = 8  # the work of a round, in sweeps


def polish(state: Clustering, run: Run) -> None:
    """Split one cluster, merge two others and sweep, while that lowers the cost.

    A side that has nothing left to gain is skipped from then on. Like a sweep this changes the
    state: tables of large data are large, and nobody has to keep those from before.
    """
    sweep = sum(side.work for side in state.sides())
    waiting = list(range(len(state.sides())))
    for _ in range(
        budgets.times(budgets.POLISHING_SECONDS, SWEEPS_A_ROUND * sweep, *POLISH_ROUNDS)
    ):
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
        if _pays(state, which, swap, cost, run):
            _tune(state, which, run)
            before, cost = cost, state.cost(run.beta)
            check_descent(before, cost, state, run, "polish")
            touched |= {swap.split, *swap.merge}
        else:
            fails += 1
    return bool(touched)


def _pays(state: Clustering, which: int, swap: Swap, cost: float, run: Run) -> bool:
    """Make a merge-split if the state costs less after it."""
    trial = _tried(state, which, swap, run)
    if trial is None or trial.cost(run.beta) >= cost - BETTER:
        return False
    _become(state, trial)
    return True


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


def _tune(state: Clustering, which: int, run: Run) -> None:
    """Sweep over all sides but one, as if none of them had been visited before."""
    _become(state, state.copy())
    for i, side in enumerate(state.sides()):
        if i != which:
            state.sweep(side, run.sweeping(1))


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


FINE = 8  # fine clusters for each requested one ...
MANY_FINE = 48  # ... but not many more than this in total
FINE_BETA = 0.9  # β of the fine clusters, unless the user's is larger
FINE_SWEEPS = 5


def coarsen(state: State, counts: Sequence[int], run: Run, must_end: bool) -> State | None:
    """Sweep, and repeat the cheapest merge until each side has its count.

    When time is over it finishes the merges without sweeps if ``must_end``, else returns None.
    """
    high = run.at(max(run.beta, FINE_BETA))
    refine(state, high.sweeping(FINE_SWEEPS), "many clusters")
    merges, between = 0, merges_between_sweeps(state, counts, budgets.MERGING_SECONDS)
    while (smaller := merge_cheapest(state, counts, high.beta)) is not None:
        if run.stop() and not must_end:
            return None
        state, merges = smaller, merges + 1
        if merges % between == 0:
            refine(state, high.sweeping(1), "merge")
    lower(state, high.beta, run)
    return state


def fine_count(start: Start) -> int | None:
    """Return the number of clusters to start with; None for a side that is not clustered."""
    return None if start.k is None else fine_number(start.k, int(start.has_mass.sum()))


def fine_number(k: int, elements: int) -> int:
    """The same for k clusters of so many elements that are not empty."""
    return min(FINE * k, max(MANY_FINE, 2 * k), elements)


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


def merges_between_sweeps(state: Clustering, counts: Sequence[int], seconds: float) -> int:
    """Return 1, or more if a sweep after each merge would take longer than ``seconds``."""
    merges = sum(side.k - count for side, count in zip(state.sides(), counts, strict=True))
    return budgets.every(seconds, merges, sum(side.work for side in state.sides()))
