"""Co-clusterings with decreasing numbers of clusters, and the one with the shortest description.

Further merges and splits may shorten the description.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...costs.selection import Evidence, cluster_sizes, description_length
from ...joint.joint import Joint
from .. import budgets
from ..optimise.refine import merge_cheapest, merges_between_sweeps, refine, schedule
from ..run import Run
from ..state.coclusters import CoClusterProblem, CoClusters
from ..state.side import Side
from ..state.starts import Start
from .halves import Agreement
from .swaps import Contrast

TOP_CLUSTERS = 40  # clusters at the top of a ladder ...
TOP_MEMBERS = 8  # ... but each with this many elements; smaller clusters look too homogeneous
SMALL_TOP_CLUSTERS, SMALL_TOP_MEMBERS = 12, 3  # the same for small data
LOW = 0.5  # β at which the cost is the leading term of the description length
TOP_SWEEPS, LADDER_SWEEPS = 8, 2
TRIED_CHANGES = 2  # merges and splits of a side that are tried in each round
SETTLE_ROUNDS = 50  # the largest number of rounds

Numbers = tuple[int, int]


def numbers_of(state: CoClusters) -> Numbers:
    """Return the numbers of row clusters and of column clusters."""
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

    Sweeps follow when at most a tenth of the clusters have been merged.
    """
    between, merges = merges_between_sweeps(state, counts, budgets.LEVELS_SECONDS), 0
    yield state
    while not run.stop():
        smaller = merge_cheapest(state, _next_counts(state, counts), run.beta)
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


def _next_counts(state: CoClusters, counts: Sequence[int]) -> list[int]:
    """Return counts with one cluster less on the larger side that is above its goal."""
    now = [side.k for side in state.sides()]
    free = [axis for axis in range(len(now)) if now[axis] > counts[axis]]
    if free:
        now[max(free, key=lambda axis: now[axis])] -= 1
    return now


def settle(state: CoClusters, fixed: Sequence[bool], evidence: Evidence, run: Run) -> CoClusters:
    """Merge, split and sweep while that shortens the description; fixed sides keep their k."""
    for beta in schedule(LOW, 0.1)[1:]:
        refine(state, run.at(beta).sweeping(2), "fewer or more")
    low = run.at(LOW).sweeping(2)
    least = evidence.description_length(*state.all_labels())
    for _ in range(SETTLE_ROUNDS):
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
    """Yield states with one cluster more or less on a side, the most promising first."""
    side = state.sides()[axis]
    costs = side.merge_costs(state.cross(side), LOW)
    for place in np.argsort(costs, axis=None, kind="stable")[:TRIED_CHANGES]:
        i, j = divmod(int(place), side.k)
        if np.isfinite(costs[i, j]):
            yield state.merged(side, i, j).copy()
    order = sorted((s for s in state.splits(side, run) if s.leavers.size), key=lambda s: -s.gain)
    several = _all_that_pay(state, axis, evidence, [s.leavers for s in order])
    for leaving in ([several] if len(several) > 1 else []) + [
        [s.leavers] for s in order[:TRIED_CHANGES]
    ]:
        yield _with_more(state, axis, leaving)


def _all_that_pay(
    state: CoClusters, axis: int, evidence: Evidence, splits: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Return the splits that each shorten the description, as the elements that leave."""
    labels = state.all_labels()
    blocks = np.moveaxis(evidence.blocks(*labels), axis, 0)
    sizes = cluster_sizes(labels[axis]), cluster_sizes(labels[1 - axis])
    now = description_length(blocks, sizes)
    counts = evidence.by_element(axis, labels[1 - axis], labels[axis].size)
    pay = []
    for leavers in splits:
        moved, home = counts[leavers].sum(axis=0), labels[axis][leavers[0]]
        after, fewer = np.vstack([blocks, moved]), np.append(sizes[0], leavers.size)
        after[home] -= moved
        fewer[home] -= leavers.size
        if description_length(np.maximum(after, 0.0), (fewer, sizes[1])) < now:
            pay.append(leavers)
    return pay


def _with_more(state: CoClusters, axis: int, leaving: Sequence[np.ndarray]) -> CoClusters:
    """Return the state with a new cluster for each group of leaving elements."""
    side = state.sides()[axis]
    labels = side.labels.copy()
    for number, leavers in enumerate(leaving, side.k):
        labels[leavers] = number
    more = Side(side.joint, labels, side.k + len(leaving), side.free)
    return state.with_side(side, more).copy()


SIDE_WORDS = ("row", "column")

OUT_OF_TIME = "There was no time to compare numbers of clusters."
NOTHING_IN_COMMON = "Clusters of one half of the data do not help to predict the other half."
INDEPENDENT_SIDES = "Rows and columns are independent."
BY_CHANCE = "Tables with the same sums that are filled at random look like this one."
INDEPENDENT = "The counts vary as they would by chance."


class Decision(NamedTuple):
    """The number of clusters of a side, the rule that chose it, and the reason in words."""

    number: int
    rule: str
    reason: str = ""


def described(axes: list[int], numbers: tuple[int, int]) -> list[Decision]:
    """The blocks explain the data: one reason for both sides, of which some are chosen."""
    counts = " and ".join(_clusters(axis, numbers[axis]) for axis in axes)
    reason = f"{counts} explain the data: what is left looks like chance."
    return [Decision(k, "description length", reason) for k in numbers]


def agreed(axis: int, k: int, agreement: Agreement) -> Decision:
    """Halves of the other side agree on this number, or nearly as well on a few smaller ones."""
    reason = f"{_range(axis, agreement.nearly_best(), k)} (on these, random halves of the "
    reason += f"{_others(axis)} agree: {agreement.mean(k):.2f} of 1)."
    return Decision(k, "agreement of halves", reason)


def smallest_agreed(axis: int, agreement: Agreement, least: int) -> Decision:
    """Halves agree on many numbers alike: the smallest, but not fewer than on the other side."""
    near = agreement.nearly_best()
    k = max(near[0], least)
    return Decision(k, "view", f"{_range(axis, near, k)}.{_raised(axis, near[0], k)}")


def contrasted(axis: int, contrast: Contrast) -> Decision:
    """The middle of the numbers that stand out most from tables filled at random."""
    near = contrast.nearly_best()
    k = near[len(near) // 2]
    reason = f"{_range(axis, near, k)} ({contrast.ratios[k]:.1f} times the information of chance)."
    return Decision(k, "swapped tables", reason)


def view(axis: int, knee: int, least: int, agreement: Agreement) -> Decision:
    """Halves cannot decide: the knee, but not fewer clusters than on the other side."""
    k = max(knee, least)
    reason = f"No number of {SIDE_WORDS[axis]} clusters stands out ({_why(axis, agreement)}). "
    reason += f"We show {_clusters(axis, k)}: "
    if k > knee:
        return Decision(k, "view", f"{reason}as many as of the {_others(axis)}.")
    return Decision(k, "view", f"{reason}with more, each adds little.")


def _range(axis: int, near: Sequence[int], k: int) -> str:
    """The numbers that fit about equally well, and which one is shown."""
    if len(near) < 2 or k not in range(near[0], near[-1] + 1):
        return f"{_clusters(axis, k)} fit best"
    numbers = f"{near[0]} to {near[-1]} {SIDE_WORDS[axis]} clusters fit about equally well"
    return f"{numbers}; we show {_clusters(axis, k)}"


def _raised(axis: int, number: int, k: int) -> str:
    return f" These are as many as of the {_others(axis)}." if k > number else ""


def _why(axis: int, agreement: Agreement) -> str:
    """Why halves cannot decide."""
    if not agreement.values:
        return f"there are too few {SIDE_WORDS[axis]}s or {_others(axis)} to tell"
    if not agreement.is_clear:
        return f"random halves of the {_others(axis)} lead to different clusters"
    return f"more than {agreement.ceiling} might fit as well"


def _clusters(axis: int, k: int) -> str:
    return f"{k} {SIDE_WORDS[axis]} cluster" + ("" if k == 1 else "s")


def _others(axis: int) -> str:
    return f"{SIDE_WORDS[1 - axis]}s"
