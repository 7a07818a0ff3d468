"""From many small clusters to the requested number: repeat the cheapest merge, and sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import budgets
from .refinement import Clustering, State, lower, refine
from .run import Run
from .starts import Start

FINE = 8  # fine clusters for each requested one ...
MANY = 48  # ... but not many more than this in total
FINE_BETA = 0.9  # β of the fine clusters, unless the user's is larger
FINE_SWEEPS = 5


def coarsen(state: State, counts: Sequence[int], run: Run, must_end: bool) -> State | None:
    """Sweep, and repeat the cheapest merge until each side has its count.

    When time is over it finishes the merges without sweeps if ``must_end``, else returns None.
    """
    high = run.at(max(run.beta, FINE_BETA))
    refine(state, high.sweeping(FINE_SWEEPS), "many clusters")
    merges, between = 0, merges_between_sweeps(state, counts, budgets.MERGING)
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
    return min(FINE * k, max(MANY, 2 * k), elements)


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
