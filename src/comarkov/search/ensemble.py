"""The default search: members that start differently, polished, and their consensus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.labels import matched
from ..data.joint import joint
from . import budgets
from .coarsening import coarsen, fine_count
from .coclusters import CoClusterProblem
from .polishing import polish
from .problem import Problem, Solution
from .refinement import Labels, State, lower, refine
from .run import Run, Settings
from .starts import Start, free_start
from .streams import Purpose

WAVE = 3  # members between one consensus and the next
RANDOM_STARTS = 30  # of a member that begins at random, if there is time
SEEDED = Settings(max_iter=20, tol=1e-4)
FEW = 0.01  # the share of elements in which members that agree may differ ...
SAME_COST = 1e-3  # ... and the share of the cost
HALF = 0.5  # the β at which only I(X̄;Ȳ) matters

Begin = Callable[[Problem[State], Run], State | None]


class Member(NamedTuple):
    """A clustering that was found."""

    cost: float
    labels: list[Labels | None]  # None for a set of elements that is not clustered


def search(problem: Problem[State], run: Run) -> Solution[State]:
    """Members from different starts, a consensus after every few of them; the least cost.

    Members and consensuses come in an order that does not depend on how many there are, so more
    never end at a higher cost. Nor does more time: the first member is quick, and of the others
    only those count that time was enough to begin; from there on a cost can only fall. If the run
    may settle, the search ends once the first two members agree: further ones would, too. It does
    not where the first kinds of starts can agree on what is far from the best.
    """
    ensemble = _Ensemble(problem, run)
    problem.prepare()
    with run.monitor.watch(run.n_init + run.n_init // WAVE), ThreadPoolExecutor(run.n_jobs) as pool:
        members: list[Member] = []
        for part in _parts(run.n_init, ensemble.may_settle):
            members += filter(None, pool.map(ensemble.member, part))
            if run.stop() or (ensemble.may_settle and _agree(members)):
                break
            if part.stop % WAVE == 0 and not ensemble.is_warm:
                members += filter(None, [ensemble.consensus(members, part.stop - WAVE)])
        best = min(members, key=lambda member: member.cost)
        state = problem.with_labels(best.labels)
        refine(state, run.to_the_end().drawing(Purpose.FINISH), "end")
    return Solution(state, others=[one.labels for one in members if one is not best])


def _parts(n_init: int, may_settle: bool) -> Iterator[range]:
    """Members that are made at a time: those of a wave, but the first two if they may suffice."""
    first = 0
    if may_settle and n_init > 2:
        yield range(2)
        first = 2
    while first < n_init:
        stop = min(first - first % WAVE + WAVE, n_init)
        yield range(first, stop)
        first = stop


def _agree(members: Sequence[Member]) -> bool:
    """Are there two members that differ in few elements of each side and hardly in cost?"""
    if len(members) != 2:
        return False
    one, other = members
    if abs(one.cost - other.cost) > SAME_COST * max(one.cost, other.cost):
        return False
    return all(
        first is None or second is None or _differ(first, second) <= FEW * first.size
        for first, second in zip(one.labels, other.labels, strict=True)
    )


def _differ(labels: Labels, others: Labels) -> int:
    """How many elements are in another cluster, clusters being matched one to one."""
    return int(np.count_nonzero(matched(others, labels) != labels))


class _Ensemble:
    """How the members of a search are made."""

    def __init__(self, problem: Problem[Any], run: Run) -> None:
        self.problem = problem
        self.run = run
        self.is_warm = any(start.has_numbers for start in problem.starts)
        self.first = _held(problem) if self.is_warm else problem
        self.kinds = _kinds(self.first, run.beta)
        self.may_settle = run.may_settle and random_starts not in self.kinds

    def member(self, i: int) -> Member | None:
        """The i-th member; None if it is not the first and there is no time left."""
        if i > 0 and self.run.stop():
            return None
        run = self.run.drawing(Purpose.START, i)
        with run.monitor.ending_all():
            state = self.kinds[i % len(self.kinds)](self.first, run)
            return None if i > 0 and run.stop() else self._finished(state, run)

    def consensus(self, members: Sequence[Member], number: int) -> Member | None:
        """What the members have in common; None if there is no time left."""
        run = self.run.drawing(Purpose.CONSENSUS, number)
        state = consensus(self.problem, members, run)
        return None if run.stop() else self._finished(state, run)

    def _finished(self, state: Any, run: Run) -> Member | None:
        """A polished member at which no single move lowers the cost."""
        if state is None:
            return None
        state = polish(state, run)
        if self.is_warm:  # from here on elements with given labels move too
            state = self.problem.with_labels(state.labels())
        refine(state, run.to_the_end(), "end")
        run.monitor.advance()
        return Member(state.cost(run.beta), state.labels())


def _held(problem: Problem[State]) -> Problem[State]:
    """The same, elements with given labels staying where they are until all others are found."""
    return problem.with_starts(
        [replace(start, fixed=start.labels >= 0) for start in problem.starts]
    )


def _kinds(problem: Problem[Any], beta: float) -> list[Begin[Any]]:
    """How members begin, in turn; the quickest that is good comes first.

    Seedings beyond the first are tried only once, as these starts hardly differ.
    """
    if all(start.is_given for start in problem.starts):
        return [random_start]
    usual, *once = [_seeded_by(i) for i in range(len(problem.seedings))]
    kinds = [*[usual] * problem.seeded_in_a_row, over_split]
    if _is_tiny(problem):
        kinds = [over_split, usual]
    if beta < HALF or once:
        kinds = [*kinds, *once, random_starts]
    return kinds


def _is_tiny(problem: Problem[Any]) -> bool:
    """Does over-splitting make short work of the data?"""
    fine = [_fine_count(start) or 0 for start in problem.starts]
    return problem.work(fine) * sum(fine) <= budgets.work(budgets.OVER_SPLIT_FIRST)


def default_members(problem: Problem[Any]) -> int:
    """So many that small data take seconds, and large data not much longer than one member."""
    sweep = problem.work([_fine_count(start) for start in problem.starts])
    return problem.waves * WAVE if sweep <= budgets.work(budgets.SEVERAL_MEMBERS) else 1


def _fine_count(start: Start) -> int | None:
    """How many clusters over-splitting begins with; no more than in the end if none may merge."""
    return start.k if start.has_numbers or start.k == 1 else fine_count(start)


# --- starts -----------------------------------------------------------------------------------


def random_start(problem: Problem[State], run: Run) -> State:
    """Given labels, and random ones where none are given."""
    return problem.begin(problem.starts, run.rng)


def _seeded_by(number: int) -> Begin[Any]:
    def seeded(problem: Problem[State], run: Run) -> State:
        state: State = problem.seedings[number](run)
        return state

    return seeded


def random_starts(problem: Problem[State], run: Run) -> State:
    """The best of random starts, each both at β and at 1/2 and annealed from there.

    Below 1/2 what is near at β = 1 may be far, and sweeps at β alone hardly leave a poor start.
    """
    half = replace(run.at(max(run.beta, HALF)), settings=SEEDED)
    best: State | None = None
    sweep = problem.work([start.k for start in problem.starts])
    for _ in range(budgets.times(budgets.RANDOM_STARTS, sweep, 1, RANDOM_STARTS)):
        begun = problem.begin(problem.starts, run.rng)
        for first in sorted({half.beta, run.beta}):
            state = begun.copy()
            refine(state, half.at(first), "random start")
            lower(state, first, run)
            if best is None or state.cost(run.beta) < best.cost(run.beta):
                best = state
        if run.stop():
            break
    assert best is not None
    return best


def over_split(problem: Problem[State], run: Run) -> State | None:
    """Start with many small clusters, merge the pair that costs least, sweep, and so on.

    Out of time, it merges the rest without sweeps if the data are tiny; else there is no result.
    """
    starts = problem.starts
    state = problem.begin([replace(start, k=_fine_count(start)) for start in starts], run.rng)
    counts = [start.k for start in starts if start.k is not None and start.free.size]
    return coarsen(state, counts, run, _is_tiny(problem))


# --- consensus --------------------------------------------------------------------------------


def consensus(problem: Problem[State], members: Sequence[Member], run: Run) -> State | None:
    """Cluster each side by which clusters its elements have in the members; None if out of time."""
    alone = run.at(1.0)
    labels: list[Labels | None] = []
    for start, every in zip(
        problem.starts, zip(*(member.labels for member in members), strict=True), strict=True
    ):
        if start.k is None:
            labels.append(None)
            continue
        votes = joint(_one_hot(np.array(every)))
        by_votes = CoClusterProblem(votes, (start, free_start(None, votes.column_mass)))
        state = over_split(by_votes, alone)
        if state is None:
            return None
        refine(state, alone.sweeping(20), "consensus")
        labels.append(state.labels()[0])
    return problem.with_labels(labels)


def _one_hot(labels: np.ndarray) -> sp.csr_array:
    """Elements by all clusters of all members: 1 where it was in. Labels are members x elements."""
    member, element = np.nonzero(labels >= 0)
    width = int(labels.max()) + 1
    column = member * width + labels[member, element]
    shape = (labels.shape[1], labels.shape[0] * width)
    matrix = sp.csr_array((np.ones(column.size, np.int32), (element, column)), shape)
    return matrix[:, np.flatnonzero(matrix.sum(axis=0))]
