"""Co-clusterings with any numbers of clusters: a walk from many to few, and the way to the best.

What is best is told by the description length, which merges and splits may lower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..costs.description import Evidence, cluster_sizes, description_length
from ..data.joint import Joint
from . import budgets
from .coarsening import merges_between_sweeps
from .coclusters import CoClusterProblem, CoClusters
from .merging import merge_costs, merged
from .refinement import refine, schedule
from .run import Run
from .side import Side
from .starts import Start

MANY = 64  # clusters that a walk begins with ...
MEMBERS = 8  # ... if there are so many elements for each; fewer look more alike than they are
FEW, FEW_MEMBERS = 12, 3  # of small data
HIGH = 0.9  # β of a walk
LOW = 0.5  # β at which the cost is the description length, but for what clusters take to tell
FIRST_SWEEPS = 8
TRIALS = 2  # merges and splits of a side that are tried before it is left alone
ROUNDS = 50  # at most


def evidence_of(state: CoClusters) -> Evidence:
    """The counts that the weights are worth, judged by how they vary inside these clusters."""
    columns, rows = (side.masses for side in state.sides())
    return Evidence.of(state.joint, state.all_labels(), (rows, columns))


def walk(
    data: Joint, goal: tuple[Start, Start], run: Run, many: int = MANY
) -> Iterator[CoClusters]:
    """From many clusters to the goal, each time by the merge that leaves least to describe.

    What is given changes when the walk goes on: copy what is to stay.
    """
    high = run.at(HIGH)
    fine = _more(goal[0], many), _more(goal[1], many)
    state = CoClusterProblem(data, fine).begin(fine, run.rng)
    refine(state, high.sweeping(FIRST_SWEEPS), "many clusters")
    evidence = evidence_of(state)
    counts = [start.k or 0 for start in goal]
    between, merges = merges_between_sweeps(state, counts, budgets.LEVELS), 0
    known: list[np.ndarray | None] = [None, None]
    yield state
    while not run.stop():
        smaller = _least_to_describe(state, counts, evidence, known)
        if smaller is None:
            return
        state, merges = smaller, merges + 1
        if merges % between == 0:
            refine(state, high.sweeping(1), "merge")
            known = [None, None]
        yield state


def _more(goal: Start, many: int) -> Start:
    assert goal.k is not None
    elements = int(goal.has_mass.sum())
    most = max(min(many, elements // MEMBERS), min(FEW, elements // FEW_MEMBERS))
    return replace(goal, k=max(most, min(2 * goal.k, elements)))


def _least_to_describe(
    state: CoClusters,
    counts: Sequence[int],
    evidence: Evidence,
    known: list[np.ndarray | None],
) -> CoClusters | None:
    """Of the cheapest merge of rows and that of columns, the one that describes the data best.

    ``known`` holds what merges cost since the last sweep.
    """
    labels = state.all_labels()
    blocks = evidence.blocks(*labels)
    sizes = cluster_sizes(labels[0]), cluster_sizes(labels[1])
    best: tuple[float, int, int, int] | None = None
    for axis, side in enumerate(state.sides()):
        if side.k == counts[axis]:
            continue
        costs = known[axis]
        if costs is None or np.isinf(costs).all():
            costs = known[axis] = merge_costs(side, state.cross(side), HIGH)
        i, j = divmod(int(costs.argmin()), side.k)
        fewer = [_merged(size, i, j) if at == axis else size for at, size in enumerate(sizes)]
        nats = description_length(_merged(blocks, i, j, axis), (fewer[0], fewer[1]))
        if best is None or nats < best[0]:
            best = nats, axis, i, j
    if best is None:
        return None
    _, axis, i, j = best
    known[axis] = _forgotten(known[axis], i, j)
    side = state.sides()[axis]
    return state.with_side(side, merged(side, i, j))


def _merged(table: np.ndarray, i: int, j: int, axis: int = 0) -> np.ndarray:
    """A table whose places i < j on an axis are added up."""
    moved = np.moveaxis(table, axis, 0).copy()
    moved[i] += moved[j]
    return np.moveaxis(np.delete(moved, j, axis=0), 0, axis)


def _forgotten(costs: np.ndarray | None, i: int, j: int) -> np.ndarray:
    """Costs after the merge of i < j: what merges with it cost is not known."""
    assert costs is not None
    left = np.delete(np.delete(costs, j, axis=0), j, axis=1)
    left[i] = left[:, i] = np.inf
    return left


def settle(state: CoClusters, fixed: Sequence[bool], evidence: Evidence, run: Run) -> CoClusters:
    """Merge, split and sweep as long as that leaves less to describe; fixed sides keep their k."""
    for beta in schedule(LOW, 0.1)[1:]:
        refine(state, run.at(beta).sweeping(2), "fewer or more")
    low = run.at(LOW).sweeping(2)
    least = evidence.description_length(*state.all_labels())
    for _ in range(ROUNDS):
        before = least
        for axis in (0, 1):
            for trial in [] if fixed[axis] else _changed(state, axis, evidence, low):
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


def _changed(state: CoClusters, axis: int, evidence: Evidence, run: Run) -> Iterator[CoClusters]:
    """With one more or one less cluster of a side, the most promising first."""
    side = state.sides()[axis]
    costs = merge_costs(side, state.cross(side), LOW)
    for place in np.argsort(costs, axis=None, kind="stable")[:TRIALS]:
        i, j = divmod(int(place), side.k)
        if np.isfinite(costs[i, j]):
            yield state.with_side(side, merged(side, i, j)).copy()
    splits = [state.split(side, a, run) for a in range(side.k)]
    order = sorted((s for s in splits if s.leavers.size), key=lambda s: -s.gain)
    several = _all_that_pay(state, axis, evidence, [s.leavers for s in order])
    for leaving in ([several] if len(several) > 1 else []) + [[s.leavers] for s in order[:TRIALS]]:
        yield _with_more(state, axis, leaving)


def _all_that_pay(
    state: CoClusters, axis: int, evidence: Evidence, leavers: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The splits that leave less to describe, each by itself."""
    now = evidence.description_length(*state.all_labels())
    return [
        some
        for some in leavers
        if evidence.description_length(*_with_more(state, axis, [some]).all_labels()) < now
    ]


def _with_more(state: CoClusters, axis: int, leaving: Sequence[np.ndarray]) -> CoClusters:
    """With a cluster more for each group of elements that leaves its own."""
    side = state.sides()[axis]
    labels = side.labels.copy()
    for number, leavers in enumerate(leaving, side.k):
        labels[leavers] = number
    more = Side(side.joint, labels, side.k + len(leaving), side.free)
    return state.with_side(side, more).copy()
