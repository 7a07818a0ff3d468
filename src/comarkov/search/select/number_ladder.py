"""Clusters in decreasing numbers: of all data, and of two halves of the columns.

On the ladder of all data, the shortest description is sought, by further merges and splits too. The
halves share no entry, so chance and bursts never agree. If row clusters found in one half predict
the other half, there is structure. The number of row clusters on which the halves agree best is the
number of clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from ...costs.labels import partition_agreement
from ...costs.selection import Evidence
from ...joint.joint import Joint
from ..optimise.refine import (
    Labels,
    lower,
    merge_cheapest,
    merges_between_sweeps,
    refine,
    schedule,
)
from ..run import Budget, Run
from ..state.coclusters import CoClusterProblem, CoClusters
from ..state.side import Side
from ..state.starts import Start, free_start, hellinger

TOP_CLUSTERS = 40  # clusters at the top of a ladder ...
TOP_MEMBERS = 8  # ... but each with this many elements; smaller clusters look too homogeneous
SMALL_TOP_CLUSTERS, SMALL_TOP_MEMBERS = 12, 3  # the same for small data
LOW = 0.5  # β at which the cost is the leading term of the description length
TOP_SWEEPS, LADDER_SWEEPS = 8, 2
TRIED_CHANGES = 2  # merges and splits of a side that are tried in each round
SETTLE_ROUNDS = 50  # the largest number of rounds
LEAST_KEPT = 0.3  # the least share of information to keep, if that is possible
KNEE_TOLERANCE = 0.1  # the share of its height by which levels near a knee may be lower
LADDER = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 24, 28, 32)
MIN_MEMBERS = 5  # the least average number of elements in a cluster
MIN_HALVED = 32  # the least number of columns that can be halved
MIN_VARIABLES = 2  # the least number of variables of records that can be halved
HALVES_FIRST_SWEEPS, HALVES_SWEEPS = 20, 2
AGREED = 0.2  # the least agreement that counts
IN_SIGHT = 0.75  # of the ceiling: only below it, larger numbers were tried as well
SCORE_TOLERANCE = 0.2  # the share of a score's distance from full agreement that is nearly as good

T = TypeVar("T")
Numbers = tuple[int, int]


def numbers_of(state: CoClusters) -> Numbers:
    """Return how many row and column clusters there are."""
    rows, columns = (side.k for side in state.sides())
    return rows, columns


def evidence_of(state: CoClusters) -> Evidence:
    """Return the counts that the weights are worth, given how they vary inside these clusters."""
    columns, rows = (side.masses for side in state.sides())
    return Evidence.of(state.joint, state.all_labels(), (rows, columns))


def ladder(data: Joint, goal: tuple[Start, Start], run: Run) -> Iterator[CoClusters]:
    """Yield states from many clusters down to the goal, merging on the side with more clusters.

    The top is a proper fit, because merges cannot repair a poor one. The next state may change the
    previous one: copy a state to keep it.
    """
    top = _top(goal[0]), _top(goal[1])
    state = CoClusterProblem(data, top).seeded(run)
    refine(state, run.sweeping(TOP_SWEEPS), "many clusters")
    yield from step_down(state, [start.k or 0 for start in goal], run)


def step_down(state: CoClusters, counts: Sequence[int], run: Run) -> Iterator[CoClusters]:
    """Yield this state and smaller ones, one merge at a time, down to the counts.

    The side with more clusters comes first, if it is above its count. Sweeps follow when at most a
    tenth of the clusters have been merged.
    """
    between, merges = merges_between_sweeps(state, counts, Budget.LEVELS), 0
    yield state
    while not run.stop():
        now = [side.k for side in state.sides()]
        free = [axis for axis in range(len(now)) if now[axis] > counts[axis]]
        if free:
            now[max(free, key=lambda axis: now[axis])] -= 1
        smaller = merge_cheapest(state, now, run.beta)
        if smaller is None:
            return
        state, merges = smaller, merges + 1
        if merges >= max(between, max(numbers_of(state)) // 10):
            refine(state, run.sweeping(LADDER_SWEEPS), "merge")
            merges = 0
        yield state


def _top(goal: Start) -> Start:
    assert goal.k is not None
    elements = int(goal.has_mass.sum())
    many = max(
        min(TOP_CLUSTERS, elements // TOP_MEMBERS),
        min(SMALL_TOP_CLUSTERS, elements // SMALL_TOP_MEMBERS),
        min(2, elements),
    )
    return replace(goal, k=max(many, goal.k))


def settle(state: CoClusters, fixed: Sequence[bool], evidence: Evidence, run: Run) -> CoClusters:
    """Merge, split and sweep while that shortens the description; fixed sides keep their k."""
    for beta in schedule(LOW, 0.1)[1:]:
        refine(state, run.at(beta).sweeping(2), "fewer or more")
    low = run.at(LOW).sweeping(2)
    least = evidence.description_length(*state.all_labels())
    for _ in range(SETTLE_ROUNDS):
        before = least
        for axis in (0, 1):
            for trial in [] if fixed[axis] else _changed(state, axis, low):
                if run.stop():
                    return state
                refine(trial, low, "fewer or more")
                nats = evidence.description_length(*trial.all_labels())
                if nats < least:
                    state, least = trial, nats
                    break
        if least == before:
            break
    return state


def _changed(state: CoClusters, axis: int, run: Run) -> Iterator[CoClusters]:
    """Yield states with one cluster more or less on a side, the most promising first."""
    side = state.sides()[axis]
    costs = side.merge_costs(state.cross(side), LOW)
    for place in np.argsort(costs, axis=None, kind="stable")[:TRIED_CHANGES]:
        i, j = divmod(int(place), side.k)
        if np.isfinite(costs[i, j]):
            yield state.merged(side, i, j).copy()
    splits = [split for split in state.splits(side, run) if split.leavers.size]
    for split in sorted(splits, key=lambda split: -split.gain)[:TRIED_CHANGES]:
        labels = side.labels.copy()
        labels[split.leavers] = side.k
        yield state.with_side(side, Side(side.joint, labels, side.k + 1, side.free)).copy()


def knee_of_kept(
    data: Joint, starts: tuple[Start, Start], axes: Sequence[int], run: Run
) -> tuple[list[int], list[list[int]]]:
    """Merge clusters on the given axes one by one down to two; return the numbers at the knee.

    The knee is where the information kept is highest above the line between its ends. If it is less
    than LEAST_KEPT there, take the smallest numbers that keep LEAST_KEPT. Also return, for each
    axis, all numbers that are about as high.
    """
    state = CoClusterProblem(data, starts).seeded(run)
    least = [min(k, 2) if axis in axes else k for axis, k in enumerate(numbers_of(state))]
    numbers, kept = [], []
    for level in step_down(state, least, run):
        numbers.append(numbers_of(level))
        kept.append(level.information().kept)
    merged = [sum(pair[axis] - 1 for axis in axes) for pair in numbers]
    share = np.divide(kept, kept[0]) if kept[0] > 0 else np.zeros(len(kept))
    height = share - np.divide(merged, max(merged[0], 1))
    best = int(np.argmax(height))
    near = height >= (1 - KNEE_TOLERANCE) * height[best]
    enough = np.array(kept) >= LEAST_KEPT
    if not enough[best] and enough.any():
        best = int(np.flatnonzero(enough)[-1])
        near = enough & near
        near[best] = True
    alike = [numbers[i] for i in np.flatnonzero(near)]
    return list(numbers[best]), [sorted(set(each)) for each in zip(*alike, strict=True)]


# --- halves of the columns ----------------------------------------------------------------------


class Gain(NamedTuple):
    """How well row clusters of one half predict the other."""

    mean: float  # nats per unit of mass
    z: float  # the number of standard errors above 0


@dataclass(frozen=True)
class Agreement:
    """The agreement of halves on each number of clusters, in every halving."""

    values: dict[int, np.ndarray]
    ceiling: int  #: the largest number of clusters tried

    def mean(self, k: int) -> float:
        """The mean over halvings; NaN for a number that was not tried."""
        return float(self.values[k].mean()) if k in self.values else np.nan

    @property
    def best(self) -> float:
        """The best mean."""
        return max((self.mean(k) for k in self.values), default=0.0)

    @property
    def is_clear(self) -> bool:
        """Do halves agree, by two standard errors?"""
        sure = (self.mean(k) - 2 * _standard_error(v) for k, v in self.values.items())
        return max(sure, default=0.0) >= AGREED

    @property
    def is_open(self) -> bool:
        """Is the agreement best for the largest number, so that more might be better?"""
        return not self.values or self._score(self.ceiling) >= max(map(self._score, self.values))

    def nearly_best(self) -> list[int]:
        """Return the numbers with nearly the best score; the less halves agree, the more of them.

        The score is the agreement times √log2(k), the geometric mean of the share and of the bits
        that halves have in common: few clusters are easier to agree on, but less informative.
        """
        if not self.is_clear:
            return []
        best = max(self.values, key=self._score)
        least = self._score(best) * (1 - SCORE_TOLERANCE * (1 - self.mean(best)))
        return [k for k in self.values if self._score(k) >= least]

    def choice(self) -> int | None:
        """Return the largest number with nearly the best score; None if it is near the ceiling.

        There, larger numbers might do as well, because the score has not fallen yet.
        """
        near = self.nearly_best()
        return near[-1] if near and near[-1] < IN_SIGHT * self.ceiling else None

    def _score(self, k: int) -> float:
        return float(self.mean(k) * np.sqrt(np.log2(k)))


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else 0.0


def can_be_halved(data: Joint, variables: np.ndarray | None = None) -> bool:
    """Are there enough columns, or variables, for halves, and enough rows for clusters?"""
    rows, columns = (np.count_nonzero(mass) for mass in (data.row_mass, data.column_mass))
    if variables is not None:
        return bool(rows >= 2 * MIN_MEMBERS and np.unique(variables).size >= MIN_VARIABLES)
    return bool(rows >= 2 * MIN_MEMBERS and columns >= MIN_HALVED)


# --- agreement --------------------------------------------------------------------------------


def agreement(
    data: Joint, halvings: Sequence[Run], variables: np.ndarray | None = None
) -> Agreement:
    """Measure for each number of row clusters how well two halves of the columns agree.

    Columns of the same variable, which exclude each other, are always in the same half.

    The measure is the mean of the adjusted Rand index and the adjusted mutual information. Each
    half clusters the rows by itself at β = 1, without column clusters.
    """
    ceiling = min(LADDER[-1], int(np.count_nonzero(data.row_mass)) // MIN_MEMBERS)
    pairs = _on_halves(data, halvings, partial(_levels, ceiling=ceiling), variables)
    numbers = set.intersection(*(a.keys() & b.keys() for a, b in pairs))
    values = {
        k: np.array([partition_agreement(a[k], b[k]) for a, b in pairs]) for k in sorted(numbers)
    }
    return Agreement(values, ceiling=max(numbers, default=1))


def _levels(data: Joint, run: Run, ceiling: int) -> dict[int, Labels]:
    """Return row labels for the numbers of LADDER: seeds at the top, then merges and sweeps."""
    levels: dict[int, Labels] = {}
    if data.total == 0:
        return levels
    alone = run.at(1.0)
    k = min(ceiling, int(np.count_nonzero(data.row_mass)))
    starts = free_start(k, data.row_mass), free_start(None, data.column_mass)
    state = CoClusterProblem(data, starts).with_labels([hellinger(data, k, run.rng), None])
    refine(state, alone.sweeping(HALVES_FIRST_SWEEPS), "halves")
    while not run.stop():
        assert state.rows is not None
        k = state.rows.k
        if k in LADDER or k == ceiling:
            refine(state, alone.sweeping(HALVES_SWEEPS), "halves")
            levels[k] = state.rows.labels.copy()
        smaller: CoClusters | None = merge_cheapest(state, [max(k - 1, 2)], 1.0)
        if smaller is None:
            break
        state = smaller
    return levels


# --- held-out gain ----------------------------------------------------------------------------


def held_out_gain(
    data: Joint,
    numbers: tuple[int, int],
    halvings: Sequence[Run],
    variables: np.ndarray | None = None,
) -> Gain:
    """Measure how well the other rows of its cluster predict a row, in held-out columns.

    Each half of the columns is co-clustered by itself. A row's masses in the column clusters of one
    half are predicted from the other rows of its cluster in the other half, and compared with the
    prediction from all other rows. All rows have the same weight.
    """
    pairs = _on_halves(data, halvings, lambda half, run: quick_fit(half, numbers, run), variables)
    parts = [
        _gains(known, unknown)
        for first, second in pairs
        for known, unknown in ((first, second), (second, first))
        if known is not None and unknown is not None
    ]
    gains = np.array(parts).reshape(-1, data.shape[0])
    times = np.count_nonzero(~np.isnan(gains), axis=0)
    rows = np.nansum(gains, axis=0)[times > 0] / times[times > 0]
    mean, error = float(rows.mean()) if rows.size else 0.0, _standard_error(rows)
    return Gain(mean, mean / error if error > 0 else 0.0)


def quick_fit(data: Joint, numbers: tuple[int, int], run: Run) -> CoClusters | None:
    """Return a quick co-clustering from one seeding of each side; None if there is no mass."""
    if data.total == 0:
        return None
    rows, columns = (
        free_start(min(k, int(np.count_nonzero(side.row_mass))), side.row_mass)
        for k, side in zip(numbers, (data, data.T), strict=True)
    )
    labels = [
        hellinger(side, start.k or 1, run.rng) for side, start in ((data, rows), (data.T, columns))
    ]
    state = CoClusterProblem(data, (rows, columns)).with_labels(labels)
    refine(state, run.at(1.0).sweeping(HALVES_FIRST_SWEEPS), "halves")
    lower(state, 1.0, run)
    return state


def _gains(known: CoClusters, unknown: CoClusters) -> np.ndarray:
    """Return the gain of each row, given its cluster in the other half; NaN for empty rows.

    The profile of a cluster is smoothed by that of all rows, with the mean mass of a row.
    """
    assert known.rows is not None
    assert unknown.columns is not None
    labels = known.rows.labels
    own = np.asarray(unknown.columns.masses, np.float64)
    mass = own.sum(axis=1)
    valid = (labels >= 0) & (mass > 0)
    result = np.full(labels.size, np.nan)
    if not valid.any():
        return result
    clusters = np.zeros((known.rows.k, own.shape[1]))
    np.add.at(clusters, labels[valid], own[valid])
    own, mass = own[valid], mass[valid]
    everyone = clusters.sum(axis=0) - own
    share = _shares(everyone + clusters.sum(axis=0) * 1e-9)
    nearby = _shares(clusters[labels[valid]] - own + mass.mean() * share)
    ratio = np.divide(nearby, share, out=np.ones_like(share), where=own > 0)
    result[valid] = (own * np.log(ratio)).sum(axis=1) / mass
    return result


def _shares(masses: np.ndarray) -> np.ndarray:
    masses = np.maximum(masses, 0.0)
    return np.asarray(masses / masses.sum(axis=1, keepdims=True))


# --- halves -----------------------------------------------------------------------------------


def _on_halves(
    data: Joint,
    halvings: Sequence[Run],
    work: Callable[[Joint, Run], T],
    variables: np.ndarray | None = None,
) -> list[tuple[T, T]]:
    """Do the work on both halves of the columns, or of the variables, for each halving."""
    variables = np.arange(data.shape[1]) if variables is None else variables

    def on_half(columns: np.ndarray, run: Run) -> T:
        return work(data.T.subset(columns, squeeze=False).T, run)

    parts, runs = [], []
    for run in halvings:
        halves = np.array_split(run.rng.permutation(int(variables.max(initial=-1)) + 1), 2)
        parts += [np.flatnonzero(np.isin(variables, half)) for half in halves]
        runs += [replace(run, rng=rng) for rng in run.rng.spawn(2)]
    with ThreadPoolExecutor(halvings[0].n_jobs) as pool:
        results = list(pool.map(on_half, parts, runs))
    return list(zip(results[::2], results[1::2], strict=True))
