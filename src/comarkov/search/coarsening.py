"""From many small clusters to as many as are wanted: merge the pair that costs least, sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .optimise import Clustering, Settings, Start, State, refine, schedule
from .progress import Monitor

FINE = 8  # how many clusters for each one that is asked for ...
MANY = 48  # ... but not many more than these
FINE_BETA = 0.9  # β of the fine clusters, unless the user's is larger
FINE_SWEEPS = 5
SWEEP_BUDGET = 2_000_000_000  # entries times clusters in the sweeps between merges: some seconds
SHORT = Settings(max_iter=2, tol=0.0, shuffle=False)
ONE = Settings(max_iter=1, tol=0.0, shuffle=False)


def coarsen(
    state: State, starts: Sequence[Start], beta: float, rng: np.random.Generator,
    monitor: Monitor, must_end: bool,
) -> State | None:  # fmt: skip
    """Sweep, and merge clusters that cost least to merge until there are as many as asked for.

    Out of time, it merges the rest without sweeps if it must end; else there is no result.
    """
    high = max(beta, FINE_BETA)
    refine(state, high, Settings(FINE_SWEEPS, 0.0, False), rng, monitor, "many clusters")
    merges, between = 0, _merges_between_sweeps(state, starts)
    while (smaller := merge_cheapest(state, starts, high)) is not None:
        if monitor.stop() and not must_end:
            return None
        state, merges = smaller, merges + 1
        if merges % between == 0:
            refine(state, high, ONE, rng, monitor, "merge")
    lower(state, high, beta, rng, monitor)
    return state


def fine_count(start: Start) -> int | None:
    """How many clusters to begin with; None on a side that is not clustered."""
    if start.k is None:
        return None
    return min(FINE * start.k, max(MANY, 2 * start.k), int(start.has_mass.sum()))


def lower(
    state: Clustering, high: float, beta: float, rng: np.random.Generator, monitor: Monitor
) -> None:
    """Anneal from one β to another."""
    for alpha in schedule(beta, 0.1):
        if alpha < high:
            refine(state, alpha, SHORT, rng, monitor, "anneal")


def merge_cheapest(state: State, starts: Sequence[Start], beta: float) -> State | None:
    """Merge the two clusters that cost least, of the sides that have more than asked for."""
    best: tuple[float, Any, int, int] | None = None
    for (side, _), wanted in zip(state.sides(), _wanted(starts), strict=True):
        if side.k == wanted:
            continue
        costs = state.merge_costs(side, beta)
        i, j = divmod(int(costs.argmin()), side.k)
        if best is None or costs[i, j] < best[0]:
            best = (costs[i, j], side, i, j)
    if best is None:
        return None
    smaller: State = state.merged(*best[1:])
    return smaller


def _merges_between_sweeps(state: Clustering, starts: Sequence[Start]) -> int:
    """One, unless the data are so large that so many sweeps would take too long."""
    sides = list(zip(state.sides(), _wanted(starts), strict=True))
    merges = sum(side.k - k for (side, _), k in sides)
    sweep = sum(side.work for (side, _), _ in sides)
    return max(1, round(merges * sweep / SWEEP_BUDGET))


def _wanted(starts: Sequence[Start]) -> list[int]:
    """The numbers of clusters asked for, of the sides that are clustered."""
    return [start.k for start in starts if start.k is not None]
