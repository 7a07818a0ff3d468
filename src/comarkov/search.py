"""Far better optima than one start gives: over-split and merge, polish, consensus of members."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .joint import Joint, joint
from .optimise import (
    Clustering,
    CoClusters,
    Seed,
    Settings,
    Start,
    State,
    begin,
    prepare,
    refine,
    schedule,
)
from .progress import Monitor
from .tables import Side

FINE = 8  # how many clusters for each one that is asked for ...
MANY = 48  # ... but not many more than these
FINE_BETA = 0.9  # β of the fine clusters, unless the user's is larger
FINE_SWEEPS = 5
PAIRS = 3  # merges that are considered for each split
TRIALS = 3  # merge-splits that are tried before a side is left alone
BETTER = 1e-9  # bits less that count as less
PATIENCE = 2  # rounds without a better cost that end a polish
ROUNDS = 50  # at most
SWEEPS_A_ROUND = 8  # that a round of polish takes
SWEEP_BUDGET = 2_000_000_000  # entries times clusters in the sweeps between merges: some seconds
SMALL = 20_000_000  # entries times clusters that allow several members
WAVE = 3  # members between one consensus and the next
SHORT = Settings(max_iter=2, tol=0.0, shuffle=False)
ONE = Settings(max_iter=1, tol=0.0, shuffle=False)


class Member(NamedTuple):
    """A co-clustering that was found; a side that is not clustered has no labels."""

    cost: float
    row_labels: np.ndarray | None
    column_labels: np.ndarray | None


def search(
    data: Joint, starts: tuple[Start, Start], beta: float, settings: Settings,
    seed: Seed, n_init: int, monitor: Monitor, n_jobs: int = 1,
) -> CoClusters:  # fmt: skip
    """Members from different starts, a consensus after every few of them; the least cost.

    Members and consensuses come in an order that does not depend on how many there are, so more
    never end at a higher cost.
    """

    has_numbers = any(start.has_numbers for start in starts)
    until_it_stays = replace(settings, tol=0.0)

    def member(i: int) -> Member:
        rng = seed.stream(i)
        with monitor.ending_all():
            if has_numbers:
                return end(warm_start(data, starts, beta, rng, monitor), rng)
            state = over_split(data, starts, beta, rng, monitor)
            return end(polish(state, beta, rng, monitor), rng)

    def together(rng: np.random.Generator) -> Member:
        state = consensus(data, starts, found, beta, rng, monitor)
        return end(polish(state, beta, rng, monitor), rng)

    def end(state: CoClusters, rng: np.random.Generator) -> Member:
        refine(state, beta, until_it_stays, rng, monitor, "end")
        monitor.advance()
        return _kept(state, beta)

    prepare(data, starts)
    found: list[Member] = []
    with monitor.watch(n_init + n_init // WAVE), ThreadPoolExecutor(n_jobs) as pool:
        for first in range(0, n_init, WAVE):
            wave = range(first, min(first + WAVE, n_init))
            if first > 0 and monitor.stop():
                break
            found += pool.map(member, wave)
            if len(wave) == WAVE and not has_numbers and not monitor.stop():
                found.append(together(seed.stream(first, 1)))
        best = min(found, key=lambda member: member.cost)
        state = _state(data, starts, best.row_labels, best.column_labels)
        refine(state, beta, until_it_stays, seed.stream(), monitor, "end")
    state.others = [member[1:] for member in found if member is not best]
    return state


def default_members(data: Joint, starts: tuple[Start, Start]) -> int:
    """So many that small data take seconds, and large data not much longer than one member."""
    clusters = sum(fine_count(start) or 0 for start in starts)
    return WAVE if data.matrix.indices.size * clusters <= SMALL else 1


def _kept(state: CoClusters, beta: float) -> Member:
    labels = [None if side is None else side.labels.copy() for side in (state.rows, state.columns)]
    return Member(state.cost(beta), labels[0], labels[1])


def _state(
    data: Joint, starts: tuple[Start, Start], rows: np.ndarray | None, columns: np.ndarray | None
) -> CoClusters:
    """A co-clustering from its labels."""

    def side(start: Start, labels: np.ndarray | None, is_column: bool) -> Side | None:
        if start.k is None or labels is None:
            return None
        matrix = data.T if is_column else data
        return Side(matrix, labels, start.k, np.flatnonzero(start.has_mass & ~start.fixed))

    return CoClusters(data, side(starts[0], rows, False), side(starts[1], columns, True))


# --- starts -----------------------------------------------------------------------------------


def warm_start(
    data: Joint, starts: tuple[Start, Start], beta: float, rng: np.random.Generator,
    monitor: Monitor,
) -> CoClusters:  # fmt: skip
    """Labels that were given; a side without any first finds its place beside the other."""
    state = begin(data, starts, (True, True), rng)
    for start, (side, cross) in zip(starts, state.pairs(), strict=True):
        if side is not None and not start.has_numbers:
            for _ in range(FINE_SWEEPS):
                side.sweep(cross, max(beta, 0.5), None, True, monitor.stop)
    return state


def over_split(
    data: Joint, starts: tuple[Start, Start], beta: float, rng: np.random.Generator,
    monitor: Monitor,
) -> CoClusters:  # fmt: skip
    """Start with many small clusters, merge the pair that costs least, sweep, and so on."""
    fine = replace(starts[0], k=fine_count(starts[0])), replace(starts[1], k=fine_count(starts[1]))
    return coarsen(begin(data, fine, (True, True), rng), starts, beta, rng, monitor)


def coarsen(
    state: State, starts: Sequence[Start], beta: float, rng: np.random.Generator, monitor: Monitor
) -> State:
    """Sweep, and merge clusters that cost least to merge until there are as many as asked for."""
    high = max(beta, FINE_BETA)
    refine(state, high, Settings(FINE_SWEEPS, 0.0, False), rng, monitor, "many clusters")
    merges, between = 0, _merges_between_sweeps(state, starts)
    while (smaller := merge_cheapest(state, starts, high)) is not None:
        state, merges = smaller, merges + 1
        if merges % between == 0:
            refine(state, high, ONE, rng, monitor, "merge")
    _lower(state, high, beta, rng, monitor)
    return state


def _merges_between_sweeps(state: Clustering, starts: Sequence[Start]) -> int:
    """One, unless the data are so large that so many sweeps would take too long."""
    sides = list(zip(state.sides(), _wanted(starts), strict=True))
    merges = sum(side.k - k for (side, _), k in sides)
    sweep = sum(side.work for (side, _), _ in sides)
    return max(1, round(merges * sweep / SWEEP_BUDGET))


def _wanted(starts: Sequence[Start]) -> list[int]:
    """The numbers of clusters asked for, of the sides that are clustered."""
    return [start.k for start in starts if start.k is not None]


def fine_count(start: Start) -> int | None:
    """How many clusters to begin with; None on a side that is not clustered."""
    if start.k is None:
        return None
    return min(FINE * start.k, max(MANY, 2 * start.k), int(start.has_mass.sum()))


def _lower(
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


# --- polish -----------------------------------------------------------------------------------


def polish(state: State, beta: float, rng: np.random.Generator, monitor: Monitor) -> State:
    """Split one cluster, merge two others, sweep; keep what costs less, until nothing does."""
    idle = 0
    for _ in range(_rounds(state)):
        better = False
        for which in range(len(state.sides())):
            before = state
            state = _merge_split(state, which, beta, rng, monitor)
            better |= state is not before
        idle = 0 if better else idle + 1
        if idle == PATIENCE or monitor.stop():
            break
    return state


def _rounds(state: Clustering) -> int:
    """Fewer for large data, where each takes long."""
    sweep = sum(side.work for side, _ in state.sides())
    return int(np.clip(SWEEP_BUDGET / (SWEEPS_A_ROUND * sweep), 2, ROUNDS))


def _merge_split(
    state: State, which: int, beta: float, rng: np.random.Generator, monitor: Monitor
) -> State:
    """Try the most promising merge-splits of a side, as long as they pay; the state after them."""
    cost, fails = state.cost(beta), 0
    touched: set[int] = set()
    for swap in _promising(state, which, beta, rng):
        if fails == TRIALS or monitor.stop():
            break
        side, _ = state.sides()[which]
        labels = swap.applied(side.labels)
        if labels is None or touched & {swap.split, *swap.merge}:
            continue
        trial: State = state.relabelled(side, labels)
        refine(trial, beta, SHORT, rng, monitor, "polish")
        if trial.cost(beta) < cost - BETTER:
            state, cost = trial, trial.cost(beta)
            touched |= {swap.split, *swap.merge}
        else:
            fails += 1
    return state


class Swap(NamedTuple):
    """Merge two clusters and split another, so that as many are left."""

    saves: float  # nats times mass, with all else as it is
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


def _promising(state: Clustering, which: int, beta: float, rng: np.random.Generator) -> list[Swap]:
    """All splits of a side, each with the merges that cost least; those that save most first."""
    side, _ = state.sides()[which]
    if side.k < 3 or side.is_numbered:
        return []
    losses = state.merge_costs(side, beta)
    order = np.argsort(losses, axis=None, kind="stable")[: PAIRS * side.k]
    cheap = [divmod(int(place), side.k) for place in order]
    swaps = []
    for a in range(side.k):
        gain, leavers = state.split(side, a, beta, rng)
        for i, j in [pair for pair in cheap if a not in pair][:PAIRS]:
            swaps.append(Swap(gain - losses[i, j], a, (i, j), leavers))
    return sorted(swaps, key=lambda swap: -swap.saves)


# --- consensus --------------------------------------------------------------------------------


def consensus(
    data: Joint, starts: tuple[Start, Start], members: Sequence[Member], beta: float,
    rng: np.random.Generator, monitor: Monitor,
) -> CoClusters:  # fmt: skip
    """Cluster each side by which clusters its elements have in the members."""
    labels: list[np.ndarray | None] = []
    for start, every in zip(starts, zip(*(m[1:] for m in members), strict=True), strict=True):
        if start.k is None:
            labels.append(None)
            continue
        votes = joint(_one_hot(np.array(every)))
        ask = start, Start(None, np.ones(votes.shape[1], bool), np.empty(0), np.empty(0))
        state = over_split(votes, ask, 1.0, rng, monitor)
        refine(state, 1.0, Settings(20, 0.0, False), rng, monitor, "consensus")
        labels.append(state.labels()[0])
    return _state(data, starts, labels[0], labels[1])


def _one_hot(labels: np.ndarray) -> sp.csr_array:
    """Elements by all clusters of all members: 1 where it was in. Labels are members x elements."""
    member, element = np.nonzero(labels >= 0)
    width = int(labels.max()) + 1
    column = member * width + labels[member, element]
    shape = (labels.shape[1], labels.shape[0] * width)
    matrix = sp.csr_array((np.ones(column.size, np.int32), (element, column)), shape)
    return matrix[:, np.flatnonzero(matrix.sum(axis=0))]
