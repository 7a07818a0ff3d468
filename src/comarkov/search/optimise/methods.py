"""The search methods: the default ensemble of polished members, and the paper's algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.labels import SIDES, matched
from ...joint.joint import joint
from ..run import Budget, Purpose, Run
from ..state.coclusters import SEEDED_SWEEPS, CoClusterProblem, CoClusters, Problem, Solution
from ..state.starts import Start, free_start
from .batch_updates import batch
from .exact import with_optimum
from .refine import Labels, State, best_of, coarsen, fine_count, lower, polish, refine, schedule

WAVE = 3  # members between one consensus and the next
WAVES = 2  # of members, for small data
MAX_RANDOM_STARTS = 30  # of a member with random labels, if there is time
SAME_LABELS = 0.01  # members agree if they differ in at most this share of elements ...
SAME_COST = 1e-3  # ... and of the cost
HALF = 0.5  # the β at which only I(X̄;Ȳ) counts


class Member(NamedTuple):
    """The result of one start or consensus."""

    cost: float
    labels: list[Labels | None]  # None for a set of elements that is not clustered


def search(problem: Problem[State], run: Run) -> Solution[State]:
    """Return the best of several members and of the consensus after every few members.

    The order of members and consensuses does not depend on their number, so more of them never
    increase the cost. Neither does more time: the first member is quick, and any further one can
    only lower the cost. If the run may settle, the search ends once the first two members agree,
    unless their kinds of start can agree on a poor result.
    """
    ensemble = _Ensemble(problem, run)
    problem.prepare()
    with run.monitor.watch(parts_of(run.n_init)), ThreadPoolExecutor(run.n_jobs) as pool:
        members: list[Member] = []
        for part in _parts(run.n_init, ensemble.may_settle):
            each = pool.map if len(part) > 1 else map  # every thread keeps tables of its own
            members += filter(None, each(ensemble.member, part))
            if run.stop() or (ensemble.may_settle and _agree(members)):
                break
            if part.stop % WAVE == 0 and not ensemble.is_warm:
                members += filter(None, [ensemble.consensus(members, part.stop - WAVE)])
        best = min(members, key=lambda member: member.cost)
        state = problem.with_labels(best.labels)
        refine(state, run.to_the_end().drawing(Purpose.FINISH), "end")
    return Solution(state, others=[one.labels for one in members if one is not best])


def parts_of(n_init: int) -> int:
    """The members and consensuses of a search, for the progress bar; it may end before."""
    return n_init + n_init // WAVE


def _parts(n_init: int, may_settle: bool) -> Iterator[range]:
    """Yield the members of each wave; first only two, if these may suffice."""
    first = 0
    if may_settle and n_init > 2:
        yield range(2)
        first = 2
    while first < n_init:
        stop = min(first - first % WAVE + WAVE, n_init)
        yield range(first, stop)
        first = stop


def _agree(members: Sequence[Member]) -> bool:
    """Are there two members that differ in few elements of each side, and hardly in cost?"""
    if len(members) != 2:
        return False
    one, other = members
    if abs(one.cost - other.cost) > SAME_COST * max(one.cost, other.cost):
        return False
    return all(
        first is None
        or second is None
        or np.count_nonzero(matched(second, first) != first) <= SAME_LABELS * first.size
        for first, second in zip(one.labels, other.labels, strict=True)
    )


class _Ensemble:
    """Computes the members of a search."""

    def __init__(self, problem: Problem[Any], run: Run) -> None:
        self.problem = problem
        self.run = run
        self.is_warm = any(start.has_numbers for start in problem.starts)
        self.first = problem
        if self.is_warm:  # given labels are fixed until all other elements have clusters
            fixed = tuple(replace(start, fixed=start.labels >= 0) for start in problem.starts)
            given: Any = problem
            self.first = replace(given, starts=fixed)
        self.kinds = _kinds(self.first, run.beta)
        self.may_settle = run.may_settle and not _has_random_kind(self.first, run.beta)

    def member(self, i: int) -> Member | None:
        """Return the i-th member; None if time is over, except for the first."""
        if i > 0 and self.run.stop():
            return None
        run = self.run.drawing(Purpose.START, i)
        with run.monitor.ending_all():
            if i == 0 and run.earlier_labels is not None:
                state = self.first.with_labels(run.earlier_labels)
            else:
                state = self.kinds[i % len(self.kinds)](run)
            return None if i > 0 and run.stop() else self._finished(state, run)

    def consensus(self, members: Sequence[Member], number: int) -> Member | None:
        """Return the consensus of the members; None if time is over."""
        run = self.run.drawing(Purpose.CONSENSUS, number)
        state = consensus(self.problem, members, run)
        return None if run.stop() else self._finished(state, run)

    def _finished(self, state: Any, run: Run) -> Member | None:
        """Polish a member until no single move lowers the cost."""
        if state is None:
            return None
        polish(state, run)
        if self.is_warm:  # from now on, elements with given labels may move too
            state = self.problem.with_labels(state.labels())
        refine(state, run.to_the_end(), "end")
        run.monitor.advance()
        return Member(state.cost(run.beta), state.labels())


def _kinds(problem: Problem[Any], beta: float) -> list[Callable[[Run], Any]]:
    """Return the kinds of start that members take in turn; the fastest good one comes first.

    Seedings beyond the first are used only once, because these starts hardly differ.
    """
    if all(start.is_given for start in problem.starts):
        return [lambda run: problem.begin(problem.starts, run.rng)]
    usual, *once = problem.seedings
    many = partial(over_split, problem)
    kinds: list[Callable[[Run], Any]]
    kinds = [many, usual] if _is_tiny(problem) else [*[usual] * problem.seeded_in_a_row, many]
    if _has_random_kind(problem, beta):
        kinds += [*once, partial(random_starts, problem)]
    return kinds


def _has_random_kind(problem: Problem[Any], beta: float) -> bool:
    """Are random starts needed, as below 1/2 or if there are several seedings?"""
    is_given = all(start.is_given for start in problem.starts)
    return not is_given and (beta < HALF or len(problem.seedings) > 1)


def _is_tiny(problem: Problem[Any]) -> bool:
    """Is over-splitting fast for these data?"""
    fine = [_fine_count(start) or 0 for start in problem.starts]
    return problem.work(fine) * sum(fine) <= Budget.OVER_SPLIT_FIRST.terms


def _fine_count(start: Start) -> int | None:
    """Return the number of clusters at the start of over-splitting; k if none may merge."""
    return start.k if start.has_numbers or start.k == 1 else fine_count(start)


# --- starts -----------------------------------------------------------------------------------


def random_starts(problem: Problem[State], run: Run) -> State:
    """Return the best of random starts, each both at β and annealed from 1/2.

    Below 1/2, good clusters at β = 1 may be poor, and sweeps at β hardly improve a poor start.
    """
    half = replace(run.at(max(run.beta, HALF)), settings=SEEDED_SWEEPS)
    best: State | None = None
    sweep = problem.work([start.k for start in problem.starts])
    for _ in range(Budget.RANDOM_STARTS.times(sweep, 1, MAX_RANDOM_STARTS)):
        start = problem.begin(problem.starts, run.rng)
        for first in sorted({half.beta, run.beta}):
            state = start.copy()
            refine(state, half.at(first), "random start")
            lower(state, first, run)
            if best is None or state.cost(run.beta) < best.cost(run.beta):
                best = state
        if run.stop():
            break
    assert best is not None
    return best


def over_split(problem: Problem[State], run: Run) -> State | None:
    """Start with many small clusters, then alternate the cheapest merge and a sweep.

    When time is over, tiny data are merged without sweeps; for others there is no result.
    """
    starts = problem.starts
    state = problem.begin([replace(start, k=_fine_count(start)) for start in starts], run.rng)
    counts = [start.k for start in starts if start.k is not None and start.free.size]
    return coarsen(state, counts, run, _is_tiny(problem))


# --- consensus --------------------------------------------------------------------------------


def consensus(problem: Problem[State], members: Sequence[Member], run: Run) -> State | None:
    """Cluster each side by the clusters of its elements in the members; None if time is over."""
    alone = run.at(1.0)
    labels: list[Labels | None] = []
    for start, every in zip(
        problem.starts, zip(*(member.labels for member in members), strict=True), strict=True
    ):
        if start.k is None:
            labels.append(None)
            continue
        given = np.array(every)
        (count, n), width = given.shape, int(given.max()) + 1
        member, element = np.nonzero(given >= 0)
        column = member * width + given[member, element]
        matrix = sp.csr_array(
            (np.ones(column.size, np.int32), (element, column)), (n, count * width)
        )
        votes = joint(matrix[:, np.flatnonzero(matrix.sum(axis=0))])
        by_votes = CoClusterProblem(votes, (start, free_start(None, votes.column_mass)))
        state = over_split(by_votes, alone)
        if state is None:
            return None
        refine(state, alone.sweeping(20), "consensus")
        labels.append(state.labels()[0])
    return problem.with_labels(labels)


# --- the paper's algorithms: sGITCC (sequential moves) and AnnITCC (annealing in β) ---------------


def anneal_from_starts(
    problem: Problem[State], run: Run, alphas: Sequence[float]
) -> Solution[State]:
    """From each start, solve at the first α, then at each next; keep the lowest cost.

    With β alone this is sGITCC. An earlier search that did not end is the only start.
    """

    def start(i: int) -> State:
        own = run.drawing(Purpose.START, i)
        if run.earlier_labels is None:
            state = problem.begin(problem.starts, own.rng)
        else:
            state = problem.with_labels(run.earlier_labels)
        for alpha in alphas:
            refine(state, own.at(alpha), f"start {i + 1}")
        return state

    problem.prepare()
    count = run.n_init if run.earlier_labels is None else 1
    with run.monitor.watch(count):
        return Solution(best_of(start, count, run))


def anneal(problem: CoClusterProblem, run: Run, beta_step: float) -> Solution[CoClusters]:
    """AnnITCC: solve at α = 1, then lower α step by step to β, each time from the last result.

    With complete sweeps this is the paper's algorithm to the letter, which solves for both sides
    together at α = 1 and keeps the best pair. Otherwise each side has its own best.
    """
    sides = [side for side in (0, 1) if problem.starts[side].k is not None]
    alphas = schedule(run.beta, beta_step) if len(sides) == 2 else [run.beta]
    problem.prepare()
    with run.monitor.watch(len(sides) * run.n_init + len(alphas) - 1):
        first = run.at(1.0)
        if run.settings.complete:
            state = anneal_from_starts(problem, first, [1.0]).state
        else:
            state = _best_sides(problem, first, sides, 0.5 if len(alphas) > 1 else 1.0)
        path = [state.step(alphas[0])]
        last = run.drawing(Purpose.FINISH)
        for alpha in alphas[1:]:
            refine(state, last.at(alpha), "anneal")
            run.monitor.advance()
            path.append(state.step(alpha))
    return Solution(state, path)


def _best_sides(
    problem: CoClusterProblem, run: Run, sides: Sequence[int], share: float
) -> CoClusters:
    """Return the best of several starts of each side by itself, for α = 1.

    There the cost is one term for the rows plus one for the columns.
    """

    def start(side: int, i: int) -> CoClusters:
        own = run.drawing(Purpose.START, i, side)
        only = [replace(one, k=one.k if t == side else None) for t, one in enumerate(starts)]
        state = problem.begin(only, own.rng)
        refine(state, own, f"{SIDES[side]}, start {i + 1}")
        return state

    starts, both = problem.starts, CoClusters(problem.joint, None, None)
    for number, side in enumerate(sides, 1):
        count = 1 if starts[side].is_given else run.n_init
        best = best_of(partial(start, side), count, run, share * number / len(sides))
        both.rows, both.columns = both.rows or best.rows, both.columns or best.columns
        both.n_iter = max(both.n_iter, best.n_iter)
        both.converged = both.converged and best.converged
    return both


@dataclass(frozen=True)
class Method:
    """A search method and its parameters."""

    name: str = "auto"
    n_init: int | str = "auto"
    beta_step: float = 0.1  # of an annealing
    doublings: int = 0  # of column clusters, by "batch"

    def solve(self, problem: Problem[State], run: Run) -> Solution[Any]:
        """Return the best clustering that the method finds."""
        run = replace(run, n_init=self.n_starts(problem), may_settle=self.n_init == "auto")
        if self.name == "auto":
            return with_optimum(search(problem, run), problem, run)
        if self.name == "batch" and isinstance(problem, CoClusterProblem):
            return batch(problem, run, self.doublings)
        if self.name == "sequential" or run.earlier_labels is not None:
            return anneal_from_starts(problem, run, [run.beta])
        if isinstance(problem, CoClusterProblem):
            return anneal(problem, run, self.beta_step)
        return anneal_from_starts(problem, run, schedule(run.beta, self.beta_step))

    def n_starts(self, problem: Problem[State]) -> int:
        """Return the number of starts, or of members; several if they take only seconds."""
        if all(start.is_given for start in problem.starts):
            return 1
        if self.n_init != "auto":
            return int(self.n_init)
        sweep = problem.work([_fine_count(start) for start in problem.starts])
        has_time = self.name == "auto" and sweep <= Budget.SEVERAL_MEMBERS.terms
        return WAVES * WAVE if has_time else 1
