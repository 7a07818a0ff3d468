"""The paper's algorithms: sGITCC (sequential moves) and AnnITCC (annealing in β)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...costs.labels import SIDES
from ..run import Purpose, Run
from ..state.coclusters import CoClusterProblem, CoClusters, Problem, Solution
from ..state.starts import Start
from .batch_updates import batch
from .ensemble import default_members, search
from .exact import with_optimum
from .refine import State, best_of, refine, schedule


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
        return Solution(best_of([start], [count], run, share=1.0)[0])


def anneal(
    problem: CoClusterProblem, run: Run, beta_step: float, keep_path: bool
) -> Solution[CoClusters]:
    """AnnITCC: solve at α = 1, then lower α step by step to β, each time from the last result.

    At α = 1 the cost is one term for the rows plus one for the columns, so each side has its
    own starts and its own best.
    """

    def start(side: int, i: int) -> CoClusters:
        own = run.at(1.0).drawing(Purpose.START, i, side)
        state = problem.begin(only(side), own.rng)
        refine(state, own, f"{SIDES[side]}, start {i + 1}")
        return state

    def only(side: int) -> list[Start]:
        return [replace(one, k=one.k if i == side else None) for i, one in enumerate(starts)]

    starts = problem.starts
    sides = [side for side in (0, 1) if starts[side].k is not None]
    counts = [1 if starts[side].is_given else run.n_init for side in sides]
    alphas = schedule(run.beta, beta_step) if len(sides) == 2 else [run.beta]
    problem.prepare()
    with run.monitor.watch(sum(counts) + len(alphas) - 1):
        kinds = [partial(start, side) for side in sides]
        alone = best_of(kinds, counts, run.at(1.0), 0.5 if len(alphas) > 1 else 1.0)
        rows, columns = (
            next((one.every_side()[i] for one in alone if one.every_side()[i]), None)
            for i in (0, 1)
        )
        state = CoClusters(problem.joint, rows, columns, max(one.n_iter for one in alone))
        state.converged = all(one.converged for one in alone)
        path = [state.step(alphas[0])] if keep_path else []
        last = run.drawing(Purpose.FINISH)
        for alpha in alphas[1:]:
            refine(state, last.at(alpha), "anneal")
            run.monitor.advance()
            if keep_path:
                path.append(state.step(alpha))
    return Solution(state, path)


@dataclass(frozen=True)
class Method:
    """A search method and its parameters."""

    name: str = "auto"
    n_init: int | str = "auto"
    beta_step: float = 0.1  # of an annealing
    keep_path: bool = False  # of an annealing
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
            return anneal(problem, run, self.beta_step, self.keep_path)
        return anneal_from_starts(problem, run, schedule(run.beta, self.beta_step))

    def n_starts(self, problem: Problem[State]) -> int:
        """Return the number of starts; several if they take only seconds."""
        if all(start.is_given for start in problem.starts):
            return 1
        if self.n_init == "auto":
            return default_members(problem) if self.name == "auto" else 1
        return int(self.n_init)
