"""Choose how many clusters there are. Each rule applies only if those before it cannot decide.

1. Without structure there is one cluster.
2. If blocks explain the data, take both numbers from the shortest description.
3. Otherwise take the numbers on which halves of the data agree, for rows and for columns.
4. If rows are too sparse for halves, take the numbers that stand out most from swapped tables.
5. If nothing decides, take a view: the knee of the information kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...costs.labels import SIDES
from ...costs.objective import NO_INFORMATION
from ...costs.selection import Evidence, is_independent, leftover
from ...joint.joint import Joint, sample_of
from ..progress import NUMBERS
from ..run import Budget, Purpose, Run
from ..state.coclusters import CoClusterProblem, CoClusters
from ..state.starts import Start, free_start
from . import swaps
from .number_ladder import (
    LADDER,
    MIN_HALVED,
    Agreement,
    Numbers,
    agreement,
    can_be_halved,
    evidence_of,
    held_out_gain,
    knee_of_kept,
    ladder,
    numbers_of,
    settle,
)
from .swaps import Contrast

OUT_OF_TIME = "There was no time to compare how many clusters fit."
NOTHING_IN_COMMON = "Clusters of one half of the data do not help to predict the other half."
INDEPENDENT_SIDES = "Rows and columns are independent."
BY_CHANCE = "Tables with the same sums that are filled at random look like this one."
INDEPENDENT = "The counts vary as they would by chance."
MAX_VIEW = 12  # clusters of a side in a view
EXPLAINED = 1.1  # leftover up to which blocks explain the data
UNEXPLAINED = 1.25  # leftover of both sides that no clusters can explain, however many
LIKE_COUNTS = 0.5  # for few elements: the least worth of weights, as a share of their counts
SURE_ERRORS = 1.64  # standard errors by which the held-out gain of each side must exceed 0
TESTED_CLUSTERS = 4  # clusters for the test of structure, if the description has only one
CHOICE_HALVINGS = 2, 4  # to choose a number of clusters, for large data and for small
LADDER_SHARE, HALVES_SHARE = 0.5, 0.2  # of the time: the ladder, and the halves of one side
GAIN_HALVINGS = 2, 8  # for the test of structure, of large data and of small

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


class Decision(NamedTuple):
    """The number of clusters of a side, the rule that chose it, and the reason in words."""

    number: int
    rule: str
    reason: str = ""


Decisions = tuple[Decision, Decision]


@dataclass(frozen=True)
class Selection:
    """The suggestion of how many clusters there are, and the evidence."""

    decisions: Decisions
    table: np.ndarray
    note: str = ""  # about the data by which they were chosen

    @property
    def numbers(self) -> Numbers:
        """How many row and column clusters there are."""
        return self.decisions[0].number, self.decisions[1].number

    @property
    def reason(self) -> str:
        """The reasons, in words."""
        reasons = dict.fromkeys(one.reason for one in self.decisions if one.reason)
        return " ".join([*reasons, self.note] if reasons and self.note else reasons)


class CandidateLevel(NamedTuple):
    """How many clusters there are, and the evidence."""

    numbers: Numbers
    cost: float
    kept: float
    description: float  # nats


def select(
    wanted: tuple[Any, Any], data: Joint, run: Run, variables: np.ndarray | None = None
) -> Selection:
    """Choose the numbers that are "auto"; given numbers stay.

    ``variables`` are those of the columns of records. A side that the user does not want clustered
    (None) is clustered here to help with the other. Large data are represented by a sample.
    """
    data, note = sample_of(data, run.drawing(Purpose.SAMPLE).rng, squeeze=variables is None)
    choice = _Choice(wanted, data, run, variables)
    with run.monitor.watch(1, NUMBERS):
        decisions = choice.decisions()
        table = choice.table(decisions)
    return Selection(decisions, table, note)


def shortest_description(data: Joint, run: Run) -> list[np.ndarray]:
    """Return the labels of both sides that describe data best; one cluster if time is over."""
    state = _Choice(("auto", "auto"), data, run)._shortest()
    none = [np.where(mass > 0, 0, -1) for mass in (data.row_mass, data.column_mass)]
    return none if state is None else list(state.all_labels())


class _Choice:
    """The question, and the evidence gathered so far; lists have an item for each axis."""

    def __init__(
        self, wanted: tuple[Any, Any], data: Joint, run: Run, variables: np.ndarray | None = None
    ) -> None:
        self.data, self.run = data, run
        self.facing = [data, data.T]  # with the elements of an axis as rows
        self.variables = [variables, None]  # of the columns of these
        self.are_records = variables is not None
        self.is_open = [bool(one == "auto") for one in wanted]
        self.is_given = [one not in ("auto", None) for one in wanted]
        counts = [
            int(one) if is_given else 1 for one, is_given in zip(wanted, self.is_given, strict=True)
        ]
        self.goal = free_start(counts[0], data.row_mass), free_start(counts[1], data.column_mass)
        self.elements = [int(start.has_mass.sum()) for start in self.goal]
        self.levels: list[CandidateLevel] = []
        self.evidence: Evidence | None = None
        self.agreements = [Agreement({}, 1)] * 2

    # --- the order of rules -------------------------------------------------------------------

    def decisions(self) -> Decisions:
        """Return both numbers, by the first rule that can decide."""
        state = self._shortest()
        self.run.monitor.stop_without_result()
        if state is None or self.run.stop():
            return self._one_cluster("time", OUT_OF_TIME)
        if self.data.information < NO_INFORMATION:
            return self._one_cluster("no structure", INDEPENDENT_SIDES)
        numbers = numbers_of(state)
        is_explained = min(numbers) > 1 and self._explains(state)
        chosen = [None if is_explained else self._agreed(axis) for axis in (0, 1)]
        is_open = chosen[0] is None if self.are_records else not any(chosen)
        if not is_explained and self._is_doubtful(chosen):
            contrast = swaps.contrast(self.data.csr, self.run.drawing(Purpose.NULL_TABLES, 1))
            if contrast and not contrast.shows_structure:
                return self._one_cluster("no structure", BY_CHANCE)
            if contrast and self._is_sparse(swaps.SPARSE_ENTRIES):
                return self._both(lambda axis: chosen[axis] or contrasted(axis, contrast))
            is_open = is_open and not contrast
        if is_open and (nothing := self._nothing(numbers)):
            return self._one_cluster("no structure", nothing)
        if is_explained:
            both = described([axis for axis in (0, 1) if self.is_open[axis]], numbers)
            return self._both(lambda axis: both[axis])
        completed = self._with_views(chosen)
        return self._both(lambda axis: completed[axis] or Decision(1, "none"))

    def _both(self, decide: Callable[[int], Decision]) -> Decisions:
        """Decide for both sides; given numbers stay."""
        rows, columns = (
            Decision(self.goal[axis].k or 1, "given") if self.is_given[axis] else decide(axis)
            for axis in (0, 1)
        )
        return rows, columns

    def _one_cluster(self, rule: str, reason: str) -> Decisions:
        return self._both(lambda axis: Decision(1, rule, reason))

    # --- structure and description --------------------------------------------------------------

    def _shortest(self) -> CoClusters | None:
        """Return the co-clustering with the shortest description; None if time is over."""
        best: tuple[float, CoClusters] | None = None
        run, steps = self.run.drawing(Purpose.LADDER), 0
        counts = [start.k or 0 for start in self.goal]
        for state in ladder(self.data, self.goal, run):
            self.evidence = self.evidence or evidence_of(state)
            level = self._level(state)
            steps = steps or sum(level.numbers) - sum(counts) + 1
            run.monitor.advance(LADDER_SHARE / steps)
            self.levels.append(level)
            is_valid = all(
                not self.is_given[axis] or level.numbers[axis] == counts[axis] for axis in (0, 1)
            )
            if is_valid and (best is None or level.description < best[0]):
                best = level.description, state.copy()
        if best is None or self.evidence is None:
            return None
        if self._is_unexplainable() or self._leftover(best[1])[0] > UNEXPLAINED:
            return best[1]
        return settle(best[1], self.is_given, self.evidence, run)

    def _explains(self, state: CoClusters) -> bool:
        """Do entries vary independently around the blocks?

        With few elements, sums over clusters are hardly more than entries; there it is enough that
        counts vary like counts.
        """
        assert self.evidence is not None
        if self._is_unexplainable():
            return False
        if min(self.elements) < MIN_HALVED:
            return self.data.is_count and self.evidence.total >= LIKE_COUNTS * self.data.total
        return self._leftover(state)[1] <= EXPLAINED

    def _is_unexplainable(self) -> bool:
        """Do values of a variable exclude each other, or would single words fit any block?"""
        has_few = not self.data.is_count and self._is_sparse(swaps.SPARSE_ENTRIES)
        return self.are_records or has_few

    def _is_sparse(self, least: int, axis: int = 0) -> bool:
        """Have rows fewer observations than this on average?"""
        observations = self.data.total if self.data.is_count else self.data.nnz
        return not self.are_records and bool(observations < least * self.elements[axis])

    def _is_doubtful(self, chosen: Sequence[Decision | None]) -> bool:
        """Do halves agree little or not at all, in a table whose zeros can tell something?"""
        if self.are_records or min(self.elements) < MIN_HALVED:
            return False
        has_zeros = self.data.nnz < swaps.MAX_DENSITY * self.elements[0] * self.elements[1]
        best = max(each.best for each in self.agreements)
        return bool(has_zeros and (not all(chosen) or best < swaps.CLEAR_AGREEMENT))

    def _leftover(self, state: CoClusters) -> list[float]:
        """Return the leftover of both sides, the smaller first and NaN last."""
        rows, columns = state.all_labels()
        left = leftover(self.data.csr, rows, columns), leftover(self.data.T.csr, columns, rows)
        return np.sort(left).tolist()

    def _nothing(self, numbers: Numbers) -> str:
        """Return the reason why there is no structure; empty if there is."""
        axes = (0,) if self.are_records else (0, 1)  # neighbouring intervals share rows
        if not all(can_be_halved(self.facing[axis], self.variables[axis]) for axis in axes):
            rng = self.run.drawing(Purpose.NULL_TABLES).rng
            return INDEPENDENT if is_independent(self.data.csr, rng) else ""
        tried = [k if k > 1 else TESTED_CLUSTERS for k in numbers]
        count = Budget.GAINS.times(self.data.nnz * sum(tried), *GAIN_HALVINGS)
        gains = []
        for axis in axes:
            runs = [self.run.drawing(Purpose.HELD_OUT, axis, i) for i in range(count)]
            pair = tried[axis], tried[1 - axis]
            gains.append(held_out_gain(self.facing[axis], pair, runs, self.variables[axis]))
        is_there = min(gain.z for gain in gains) > SURE_ERRORS
        return "" if is_there else NOTHING_IN_COMMON

    # --- agreement and views --------------------------------------------------------------------

    def _agreed(self, axis: int) -> Decision | None:
        """Return the number on which halves of the other side agree; None if they cannot decide."""
        facing, variables = self.facing[axis], self.variables[axis]
        is_hopeless = all(self._is_sparse(swaps.FEWEST_HALVED, each) for each in {0, axis})
        may_agree = can_be_halved(facing, variables) and not is_hopeless
        if not self.is_open[axis] or not may_agree or self.run.stop():
            return None
        count = Budget.HALVES.times(self.data.nnz * LADDER[-1], *CHOICE_HALVINGS)
        runs = [self.run.drawing(Purpose.HALVES, axis, i) for i in range(count)]
        measured = self.agreements[axis] = agreement(facing, runs, variables)
        self.run.monitor.advance(HALVES_SHARE)
        if self.are_records:
            return self._smallest_agreed(axis, None)
        k = measured.choice()
        return None if k is None else agreed(axis, k, measured)

    def _with_views(self, chosen: list[Decision | None]) -> list[Decision | None]:
        """Add a view of each side that has no decision yet."""
        completed = [
            one or self._smallest_agreed(axis, chosen[1 - axis]) for axis, one in enumerate(chosen)
        ]
        known = [one.number if one else None for one in completed]
        axes = [axis for axis in (0, 1) if known[axis] is None and self.is_open[axis]]
        if axes and not self.run.stop():
            starts = self._start(0, known[0]), self._start(1, known[1])
            knee, near = knee_of_kept(self.data, starts, axes, self.run.drawing(Purpose.LADDER, 1))
            for axis in axes:
                least = self._at_least(axis, chosen[1 - axis])
                k = min(max(knee[axis], least), near[axis][-1])
                completed[axis] = view(axis, k, near[axis], self.agreements[axis])
        return completed

    def _smallest_agreed(self, axis: int, other: Decision | None) -> Decision | None:
        """Return the smallest number on which halves agree nearly best, if it is small.

        There are not fewer clusters than on the other side.
        """
        measured = self.agreements[axis]
        near = measured.nearly_best()
        if (measured.is_open and not self.are_records) or not near or near[0] > MAX_VIEW:
            return None
        k = min(max(near[0], self._at_least(axis, other)), near[-1])
        return Decision(k, "view", f"{_range(axis, near, k)}.")

    def _at_least(self, axis: int, other: Decision | None) -> int:
        """Return the number of clusters of the other side, which fewer clusters would blur."""
        return min(other.number if other else 1, MAX_VIEW, self.elements[axis])

    def _start(self, axis: int, number: int | None) -> Start:
        """Return the start of a side in the search for a knee."""
        if self.is_given[axis]:
            return self.goal[axis]
        most = min(MAX_VIEW, self.elements[axis])
        return free_start(number or most, self.facing[axis].row_mass)

    # --- evidence -------------------------------------------------------------------------------

    def table(self, decisions: Decisions) -> np.ndarray:
        """Return all levels, including the suggested one."""
        chosen = decisions[0].number, decisions[1].number
        if chosen not in [level.numbers for level in self.levels] and self.evidence:
            rows, columns = (free_start(k, self.facing[a].row_mass) for a, k in enumerate(chosen))
            problem = CoClusterProblem(self.data, (rows, columns))
            self.levels.append(self._level(problem.seeded(self.run.drawing(Purpose.LADDER, 2))))
        entries = []
        for level in self.levels:
            is_chosen = level.numbers == chosen
            means = [self.agreements[axis].mean(level.numbers[axis]) for axis in (0, 1)]
            rules = [one.rule if is_chosen else "" for one in decisions]
            entries.append((*level.numbers, *level[1:], *means, is_chosen, *rules))
        return np.sort(np.array(entries, TABLE), order=["row_clusters", "column_clusters"])[::-1]

    def _level(self, state: CoClusters) -> CandidateLevel:
        assert self.evidence is not None
        information = state.information()
        nats = self.evidence.description_length(*state.all_labels())
        return CandidateLevel(
            numbers_of(state), information.cost(self.run.beta), information.kept, nats
        )


# --- reasons ----------------------------------------------------------------------------------


def described(axes: list[int], numbers: tuple[int, int]) -> list[Decision]:
    """The blocks explain the data: one reason for both sides, of which some are chosen."""
    counts = " and ".join(_clusters(axis, numbers[axis]) for axis in axes)
    reason = f"{counts} explain the data: what is left looks like chance."
    return [Decision(k, "description length", reason) for k in numbers]


def agreed(axis: int, k: int, measured: Agreement) -> Decision:
    """Halves of the other side agree on this number, or nearly as well on a few smaller ones."""
    reason = f"{_range(axis, measured.nearly_best(), k)} (on these, random halves of the "
    reason += f"{SIDES[1 - axis]} agree: {measured.mean(k):.2f} of 1)."
    return Decision(k, "agreement of halves", reason)


def contrasted(axis: int, contrast: Contrast) -> Decision:
    """As many as there are directions that stand out from tables filled at random."""
    k = contrast.number()
    reason = f"Compared with tables filled at random, {_range(axis, contrast.nearly_best(), k)}."
    return Decision(k, "swapped tables", reason)


def view(axis: int, k: int, near: Sequence[int], measured: Agreement) -> Decision:
    """Halves cannot decide: a view of numbers near the knee."""
    shown = f"We show {_clusters(axis, k)} for an overview"
    if measured.values and measured.is_clear:
        return Decision(k, "view", f"{shown}; finer ones also fit.")
    shown = _range(axis, near, k) if near[0] < near[-1] else shown
    return Decision(k, "view", f"{shown} ({_why(axis, measured)}).")


def _range(axis: int, near: Sequence[int], k: int) -> str:
    """The numbers that fit about equally well, and which one is shown."""
    least, most = near[0], near[-1]
    if least == most:
        return f"{_clusters(axis, k)} fit best"
    return f"{least} to {most} {SIDES[axis][:-1]} clusters fit about equally well; we show {k}"


def _why(axis: int, measured: Agreement) -> str:
    """Why halves cannot decide."""
    if not measured.values:
        return f"there are too few {SIDES[axis]} or {SIDES[1 - axis]} to tell"
    return f"random halves of the {SIDES[1 - axis]} lead to different clusters"


def _clusters(axis: int, k: int) -> str:
    return f"{k} {SIDES[axis][:-1]} cluster" + ("" if k == 1 else "s")
