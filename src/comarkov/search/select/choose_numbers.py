"""Choose the numbers of clusters. Each rule applies only if those before it cannot decide.

1. Without structure there is one cluster.
2. If blocks explain the data, take both numbers from the shortest description.
3. Otherwise take the numbers on which halves of the data agree, for rows and for columns.
4. If rows are too sparse for halves, take the numbers that stand out most from swapped tables.
5. If nothing decides, take a view: the knee of the information kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...costs.objective import NO_INFORMATION
from ...costs.selection import Evidence, is_independent, leftover
from ...joint.joint import Joint
from ...joint.resample import sample_of
from .. import budgets
from ..progress import NUMBERS
from ..run import Purpose, Run
from ..state.coclusters import CoClusterProblem, CoClusters
from ..state.starts import Start, free_start
from . import halves, number_ladder, swaps
from .halves import Agreement
from .number_ladder import Decision, Numbers, evidence_of, ladder, numbers_of, settle, step_down

MAX_VIEW = 12  # clusters of a side in a view
LEAST_KEPT = 0.3  # the least share of information to keep, if that is possible


def knee_of_kept(
    data: Joint, starts: tuple[Start, Start], axes: Sequence[int], run: Run
) -> list[int]:
    """Merge clusters on the given axes one by one down to two; return the numbers at the knee.

    The knee is where the information kept is highest above the line between its ends. If it is less
    than LEAST_KEPT there, return the smallest numbers that keep LEAST_KEPT.
    """
    state = CoClusterProblem(data, starts).seeded(run)
    least = [min(k, 2) if axis in axes else k for axis, k in enumerate(numbers_of(state))]
    numbers, kept = [], []
    for level in step_down(state, least, run):
        numbers.append(numbers_of(level))
        kept.append(level.information().kept)
    merged = [sum(pair[axis] - 1 for axis in axes) for pair in numbers]
    share = np.divide(kept, kept[0]) if kept[0] > 0 else np.zeros(len(kept))
    best = int(np.argmax(share - np.divide(merged, max(merged[0], 1))))
    enough = np.flatnonzero(np.array(kept) >= LEAST_KEPT)
    if kept[best] < LEAST_KEPT and enough.size:
        best = int(enough[-1])
    return list(numbers[best])


EXPLAINED = 1.1  # leftover up to which blocks explain the data
UNEXPLAINED = 1.25  # leftover of both sides that no numbers of clusters can explain
LIKE_COUNTS = 0.5  # for few elements: the least worth of weights, as a share of their counts
SURE_ERRORS = 1.64  # standard errors by which the held-out gain of each side must exceed 0
TESTED_CLUSTERS = 4  # clusters for the test of structure, if the description has only one
CHOICE_HALVINGS = 2, 4  # to choose a number of clusters, for large data and for small
LADDER_SHARE, HALVES_SHARE = 0.5, 0.2  # of the time: the ladder, and the halves of one side
GAIN_HALVINGS = 2, 8  # for the test of structure, of large data and of small

Decisions = tuple[Decision, Decision]
TABLE = np.dtype(
    [
        ("row_clusters", int),
        ("column_clusters", int),
        ("cost", float),
        ("kept", float),
        ("description_length", float),
        ("row_agreement", float),
        ("column_agreement", float),
        ("suggested", bool),
        ("row_rule", "U24"),
        ("column_rule", "U24"),
    ]
)


@dataclass(frozen=True)
class Selection:
    """The suggested numbers of clusters and the evidence."""

    decisions: Decisions
    table: np.ndarray
    note: str = ""  # about the data by which they were chosen

    @property
    def numbers(self) -> Numbers:
        """The numbers of row and of column clusters."""
        return self.decisions[0].number, self.decisions[1].number

    @property
    def reason(self) -> str:
        """The reasons, in words."""
        reasons = dict.fromkeys(one.reason for one in self.decisions if one.reason)
        return " ".join([*reasons, self.note] if reasons and self.note else reasons)


class CandidateLevel(NamedTuple):
    """Numbers of clusters, and the evidence for them."""

    numbers: Numbers
    cost: float
    kept: float
    description: float  # nats


def select(
    wanted: tuple[Any, Any], data: Joint, run: Run, variables: np.ndarray | None = None
) -> Selection:
    """Choose the numbers that are "auto"; given numbers stay.

    ``variables`` are those of the columns of records.

    A side that the user does not want clustered (None) is clustered here to help with the other.
    Large data are represented by a sample.
    """
    data, note = sample_of(data, run.drawing(Purpose.SAMPLE).rng, squeeze=variables is None)
    goal = _goal(data.row_mass, wanted[0]), _goal(data.column_mass, wanted[1])
    CoClusterProblem(data, goal).prepare()
    choice = _Choice(data, wanted, goal, run, variables)
    with run.monitor.watch(1, NUMBERS):
        decisions = choice.decisions()
        table = choice.table(decisions)
    return Selection(decisions, table, note)


@dataclass
class _Choice:
    """The state of a choice, with the evidence gathered so far."""

    data: Joint
    wanted: tuple[Any, Any]
    goal: tuple[Start, Start]
    run: Run
    variables: np.ndarray | None = None
    levels: list[CandidateLevel] = field(default_factory=list)
    evidence: Evidence | None = None
    agreements: list[Agreement] = field(default_factory=lambda: [Agreement({}, 1)] * 2)

    # --- the order of rules -------------------------------------------------------------------

    def decisions(self) -> Decisions:
        """Return both numbers, by the first rule that can decide."""
        state = self._shortest()
        self.run.monitor.stop_without_result()
        if state is None or self.run.stop():
            return self._both(lambda axis: Decision(1, "time", number_ladder.OUT_OF_TIME))
        if self.data.information < NO_INFORMATION:
            independent = Decision(1, "no structure", number_ladder.INDEPENDENT_SIDES)
            return self._both(lambda axis: independent)
        numbers = numbers_of(state)
        is_explained = min(numbers) > 1 and self._explains(state)
        agreed = [None if is_explained else self._agreed(axis) for axis in (0, 1)]
        if not is_explained and self._is_doubtful(agreed):
            contrast = swaps.contrast(self.data.csr, self.run.drawing(Purpose.NULL_TABLES, 1))
            if contrast.ratios and not contrast.shows_structure:
                return self._both(lambda axis: Decision(1, "no structure", number_ladder.BY_CHANCE))
            if contrast.ratios and self._is_sparse():
                return self._both(
                    lambda axis: agreed[axis] or number_ladder.contrasted(axis, contrast)
                )
        is_open = agreed[0] is None if self.variables is not None else not any(agreed)
        if is_open and (nothing := self._nothing(numbers)):
            return self._both(lambda axis: Decision(1, "no structure", nothing))
        if is_explained:
            axes = [axis for axis in (0, 1) if self._is_open(axis)]
            described = number_ladder.described(axes, numbers)
            return self._both(lambda axis: described[axis])
        completed = self._with_views(agreed)
        return self._both(lambda axis: completed[axis] or Decision(1, "none"))

    def _both(self, decide: Callable[[int], Decision]) -> Decisions:
        """Decide for both sides; given numbers stay."""
        rows, columns = (
            Decision(self.goal[axis].k or 1, "given") if self._is_fixed(axis) else decide(axis)
            for axis in (0, 1)
        )
        return rows, columns

    # --- structure and description --------------------------------------------------------------

    def _shortest(self) -> CoClusters | None:
        """Return the co-clustering with the shortest description; None if time is over."""
        best: tuple[float, CoClusters] | None = None
        run, steps = self.run.drawing(Purpose.LADDER), 0
        for state in ladder(self.data, self.goal, run):
            self.evidence = self.evidence or evidence_of(state)
            level = self._level(state)
            steps = steps or sum(level.numbers) - sum(start.k or 0 for start in self.goal) + 1
            run.monitor.advance(LADDER_SHARE / steps)
            self.levels.append(level)
            if self._has_given(level.numbers) and (best is None or level.description < best[0]):
                best = level.description, state.copy()
        if best is None or self.evidence is None:
            return None
        if self._leftover(best[1])[0] > UNEXPLAINED:
            return best[1]
        return settle(best[1], [self._is_fixed(axis) for axis in (0, 1)], self.evidence, run)

    def _explains(self, state: CoClusters) -> bool:
        """Do entries vary independently around the blocks?

        With few elements, sums over clusters are hardly more than entries; there it is enough that
        counts vary like counts.
        """
        assert self.evidence is not None
        if self.variables is not None or (self._is_sparse() and not self.data.is_count):
            return False  # values of a variable exclude each other, and single words fit any block
        if self._is_small():
            return self.data.is_count and self.evidence.total >= LIKE_COUNTS * self.data.total
        return self._leftover(state)[1] <= EXPLAINED

    def _is_sparse(self) -> bool:
        """Have rows too few observations for two halves?"""
        rows = max(int(np.count_nonzero(self.data.row_mass)), 1)
        observations = self.data.total if self.data.is_count else self.data.nnz
        return self.variables is None and observations < swaps.SPARSE_ENTRIES * rows

    def _is_doubtful(self, agreed: Sequence[Decision | None]) -> bool:
        """Is it unclear whether there is structure, in a table that has zeros?"""
        if self.variables is not None or self._is_small():
            return False
        has_zeros = self.data.nnz < swaps.MAX_DENSITY * self._elements(0) * self._elements(1)
        best = max(each.best for each in self.agreements)
        is_weak = not all(agreed) or best < swaps.CLEAR_AGREEMENT
        return bool(has_zeros and is_weak and (self._is_sparse() or any(agreed)))

    def _is_small(self) -> bool:
        """Are there too few rows or columns to see how entries vary around blocks?"""
        return min(map(self._elements, (0, 1))) < halves.MIN_HALVED

    def _leftover(self, state: CoClusters) -> list[float]:
        """Return the leftover of both sides, the smaller first and NaN last."""
        rows, columns = state.all_labels()
        left = leftover(self.data.csr, rows, columns), leftover(self.data.T.csr, columns, rows)
        return np.sort(left).tolist()

    def _nothing(self, numbers: Numbers) -> str:
        """Return the reason why there is no structure; empty if there is."""
        axes = (0, 1) if self.variables is None else (0,)  # neighbouring intervals share rows
        if not all(halves.can_be_halved(self._facing(a), self._variables_facing(a)) for a in axes):
            rng = self.run.drawing(Purpose.NULL_TABLES).rng
            return number_ladder.INDEPENDENT if is_independent(self.data.csr, rng) else ""
        tried = [k if k > 1 else TESTED_CLUSTERS for k in numbers]
        work = self.data.nnz * sum(tried)
        count = budgets.times(budgets.GAINS_SECONDS, work, *GAIN_HALVINGS)
        gains = []
        for axis in axes:
            runs = [self.run.drawing(Purpose.HELD_OUT, axis, i) for i in range(count)]
            pair = tried[axis], tried[1 - axis]
            variables = self._variables_facing(axis)
            gains.append(halves.held_out_gain(self._facing(axis), pair, runs, variables))
        is_there = min(gain.z for gain in gains) > SURE_ERRORS
        return "" if is_there else number_ladder.NOTHING_IN_COMMON

    # --- agreement and views --------------------------------------------------------------------

    def _agreed(self, axis: int) -> Decision | None:
        """Return the number on which halves of the other side agree; None if they cannot decide."""
        facing = self._facing(axis)
        variables = self._variables_facing(axis)
        is_possible = halves.can_be_halved(facing, variables)
        if not self._is_open(axis) or not is_possible or self.run.stop():
            return None
        work = self.data.nnz * halves.LADDER[-1]
        count = budgets.times(budgets.HALVES_SECONDS, work, *CHOICE_HALVINGS)
        runs = [self.run.drawing(Purpose.HALVES, axis, i) for i in range(count)]
        agreement = halves.agreement(facing, runs, variables)
        self.agreements[axis] = agreement
        self.run.monitor.advance(HALVES_SHARE)
        if self.variables is not None:
            return self._smallest_agreed(axis, None)
        k = agreement.choice()
        return None if k is None else number_ladder.agreed(axis, k, agreement)

    def _with_views(self, agreed: list[Decision | None]) -> list[Decision | None]:
        """Add a view of each side that has no decision yet."""
        completed = [
            one or self._smallest_agreed(axis, agreed[1 - axis]) for axis, one in enumerate(agreed)
        ]
        known = [one.number if one else None for one in completed]
        axes = [axis for axis in (0, 1) if known[axis] is None and self._is_open(axis)]
        if axes and not self.run.stop():
            starts = self._start(0, known[0]), self._start(1, known[1])
            knee = knee_of_kept(self.data, starts, axes, self.run.drawing(Purpose.LADDER, 1))
            for axis in axes:
                least = self._at_least(axis, agreed[1 - axis])
                agreement = self.agreements[axis]
                completed[axis] = number_ladder.view(axis, knee[axis], least, agreement)
        return completed

    def _smallest_agreed(self, axis: int, other: Decision | None) -> Decision | None:
        """Return the smallest number on which halves agree nearly best, if it is small."""
        agreement = self.agreements[axis]
        near = agreement.nearly_best()
        is_open = agreement.is_open and self.variables is None
        if is_open or not near or near[0] > MAX_VIEW:
            return None
        return number_ladder.smallest_agreed(axis, agreement, self._at_least(axis, other))

    def _at_least(self, axis: int, other: Decision | None) -> int:
        """Return the number of clusters of the other side, which fewer clusters would blur."""
        return min(other.number if other else 1, MAX_VIEW, self._elements(axis))

    def _start(self, axis: int, number: int | None) -> Start:
        """Return the start of a side in the search for a knee."""
        if self._is_fixed(axis):
            return self.goal[axis]
        most = min(MAX_VIEW, self._elements(axis))
        return free_start(number or most, self._facing(axis).row_mass)

    # --- evidence -------------------------------------------------------------------------------

    def table(self, decisions: Decisions) -> np.ndarray:
        """Return all levels, including the suggested one."""
        chosen = decisions[0].number, decisions[1].number
        if chosen not in [level.numbers for level in self.levels] and self.evidence:
            rows, columns = (free_start(k, self._facing(a).row_mass) for a, k in enumerate(chosen))
            fit = CoClusterProblem(self.data, (rows, columns)).seeded(
                self.run.drawing(Purpose.LADDER, 2)
            )
            self.levels.append(self._level(fit))
        entries = []
        for level in self.levels:
            is_chosen = level.numbers == chosen
            agreed = [self.agreements[axis].mean(level.numbers[axis]) for axis in (0, 1)]
            rules = [one.rule if is_chosen else "" for one in decisions]
            entries.append((*level.numbers, *level[1:], *agreed, is_chosen, *rules))
        return np.sort(np.array(entries, TABLE), order=["row_clusters", "column_clusters"])[::-1]

    def _level(self, state: CoClusters) -> CandidateLevel:
        assert self.evidence is not None
        information = state.information()
        nats = self.evidence.description_length(*state.all_labels())
        return CandidateLevel(
            numbers_of(state), information.cost(self.run.beta), information.kept, nats
        )

    # --- the question ---------------------------------------------------------------------------

    def _is_open(self, axis: int) -> bool:
        """Must this number be chosen?"""
        return bool(self.wanted[axis] == "auto")

    def _is_fixed(self, axis: int) -> bool:
        """Is this number given?"""
        return self.wanted[axis] not in ("auto", None)

    def _has_given(self, numbers: Numbers) -> bool:
        return all(not self._is_fixed(a) or numbers[a] == self.goal[a].k for a in (0, 1))

    def _facing(self, axis: int) -> Joint:
        """The matrix whose rows are the elements of a side."""
        return self.data.T if axis else self.data

    def _variables_facing(self, axis: int) -> np.ndarray | None:
        """The variables of the columns of ``_facing``, if there are any."""
        return None if axis else self.variables

    def _elements(self, axis: int) -> int:
        return int(self.goal[axis].has_mass.sum())


def _goal(mass: np.ndarray, wanted: Any) -> Start:
    return free_start(1 if wanted in ("auto", None) else int(wanted), mass)
