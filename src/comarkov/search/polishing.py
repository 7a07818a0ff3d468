"""Merge-split: two clusters made one and another made two, as long as that costs less."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import budgets
from .refinement import Clustering, State
from .run import Run

PAIRS = 3  # merges that are considered for each split
TRIALS = 7  # merge-splits that fail before a side is left alone
LAG = (4.0, 2.0)  # a trial ends if it is still so many times behind what the last sweep saved
BETTER = 1e-9  # bits less that count as less
ROUNDS = 2, 50  # the fewest, of large data, and the most
SWEEPS_A_ROUND = 8  # that a round of polish takes


def polish(state: State, run: Run) -> State:
    """Split one cluster, merge two others, sweep; keep what costs less, until nothing does.

    A side that has nothing to gain is left alone from then on.
    """
    sweep = sum(side.work for side in state.sides())
    waiting = list(range(len(state.sides())))
    for _ in range(budgets.times(budgets.POLISHING, SWEEPS_A_ROUND * sweep, *ROUNDS)):
        for which in waiting.copy():
            before = state
            state = _merge_split(state, which, run)
            if state is before:
                waiting.remove(which)
        if not waiting or run.stop():
            break
    return state


def _merge_split(state: State, which: int, run: Run) -> State:
    """Try the most promising merge-splits of a side, as long as they pay; the state after them."""
    cost, fails = state.cost(run.beta), 0
    touched: set[int] = set()
    for swap in _promising(state, which, run):
        if fails == TRIALS or run.stop():
            break
        if touched & {swap.split, *swap.merge}:
            continue
        trial = _tried(state, which, swap, run)
        if trial is not None and trial.cost(run.beta) < cost - BETTER:
            state = _in_tune(trial, which, run)
            cost = state.cost(run.beta)
            touched |= {swap.split, *swap.merge}
        else:
            fails += 1
    return state


class Swap(NamedTuple):
    """Merge two clusters and split another, so that as many are left."""

    saves: float  # bits, with all else as it is
    split: int
    merge: tuple[int, int]
    leavers: np.ndarray  # rows of the split cluster that go into the cluster that is free

    def applied(self, labels: np.ndarray) -> np.ndarray | None:
        """Labels after it; None if the cluster has changed so that it would be empty."""
        leavers = self.leavers[labels[self.leavers] == self.split]
        if leavers.size in (0, np.count_nonzero(labels == self.split)):
            return None
        keep, free = self.merge
        changed = np.where(labels == free, keep, labels)
        changed[leavers] = free
        return changed


def _tried(state: State, which: int, swap: Swap, run: Run) -> State | None:
    """The state after a merge-split and sweeps over its side; None if it shows little promise.

    The first sweeps are over the clusters that it changed, where nearly all is saved.
    """
    labels = swap.applied(state.sides()[which].labels)
    if labels is None:
        return None
    trial: State = state.relabelled(state.sides()[which], labels)
    once = run.sweeping(1)
    behind = -swap.saves
    for lag in LAG:
        saved = trial.sweep(trial.sides()[which], once, complete=False).saved
        behind -= saved
        if behind > lag * saved:
            return None
    trial.sweep(trial.sides()[which], once)
    return trial


def _in_tune(state: State, which: int, run: Run) -> State:
    """The same after a sweep over all sides but one."""
    state = state.copy()
    for i, side in enumerate(state.sides()):
        if i != which:
            state.sweep(side, run.sweeping(1))
    return state


def _promising(state: Clustering, which: int, run: Run) -> list[Swap]:
    """All splits of a side, each with the merges that cost least; those that save most first."""
    side = state.sides()[which]
    if side.k < 3 or side.is_numbered or run.stop():
        return []
    losses = state.merge_costs(side, run.beta)
    order = np.argsort(losses, axis=None, kind="stable")[: PAIRS * side.k]
    cheap = [divmod(int(place), side.k) for place in order]
    swaps = []
    for a in range(side.k):
        if run.stop():
            return []
        gain, leavers = state.split(side, a, run)
        for i, j in [pair for pair in cheap if a not in pair][:PAIRS]:
            swaps.append(Swap(gain - losses[i, j], a, (i, j), leavers))
    return sorted(swaps, key=lambda swap: -swap.saves)
