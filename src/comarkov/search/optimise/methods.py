"""The paper's algorithms: sGITCC (sequential moves) and AnnITCC (annealing in β)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..run import Purpose, Run
from ..state.coclusters import CoClusterProblem, CoClusters, Problem, Solution
from ..state.starts import Start
from .batch_updates import batch
from .ensemble import default_members, search
from .exact import with_optimum
from .refine import Labels, State, best_of, refine, schedule

NAMES = ("rows", "columns")


def sequential(problem: Problem[State], run: Run) -> Solution[State]:
    """sGITCC: from each start, sweep over each side in turn; keep the lowest cost."""
    return _from_starts(problem, run, [run.beta])


def annealed(problem: Problem[State], run: Run, beta_step: float) -> Solution[State]:
    """From each start, solve at α = 1 and lower α step by step to β; keep the lowest cost."""
    return _from_starts(problem, run, schedule(run.beta, beta_step))


def continued(
    problem: Problem[State], labels: Sequence[Labels | None], run: Run
) -> Solution[State]:
    """Sweep at β from the labels of an earlier search that did not end."""
    problem.prepare()
    state = problem.with_labels(labels)
    with run.monitor.watch(1):
        refine(state, run.drawing(Purpose.START, 0), "start 1")
    return Solution(state)


def _from_starts(problem: Problem[State], run: Run, alphas: Sequence[float]) -> Solution[State]:
    def start(i: int) -> State:
        own = run.drawing(Purpose.START, i)
        state = problem.begin(problem.starts, own.rng)
        for alpha in alphas:
            refine(state, own.at(alpha), f"start {i + 1}")
        return state

    problem.prepare()
    with run.monitor.watch(run.n_init):
        return Solution(best_of([start], [run.n_init], run, share=1.0)[0])


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
        refine(state, own, f"{NAMES[side]}, start {i + 1}")
        return state

    def only(side: int) -> list[Start]:
        return [replace(one, k=one.k if i == side else None) for i, one in enumerate(starts)]

    starts = problem.starts
    sides = [side for side in (0, 1) if starts[side].k is not None]
    counts = [1 if starts[side].is_given else run.n_init for side in sides]
    alphas = schedule(run.beta, beta_step) if len(sides) == 2 else [run.beta]
    problem.prepare()
    with run.monitor.watch(sum(counts) + len(alphas) - 1):
        share = 0.5 if len(alphas) > 1 else 1.0
        kinds = [partial(start, side) for side in sides]
        state = _joined(best_of(kinds, counts, run.at(1.0), share))
        path = [state.step(alphas[0])] if keep_path else []
        last = run.drawing(Purpose.FINISH)
        for alpha in alphas[1:]:
            refine(state, last.at(alpha), "anneal")
            run.monitor.advance()
            if keep_path:
                path.append(state.step(alpha))
    return Solution(state, path)


def _joined(sides: list[CoClusters]) -> CoClusters:
    """Combine the co-clusterings of both sides."""
    rows = next((side.rows for side in sides if side.rows is not None), None)
    columns = next((side.columns for side in sides if side.columns is not None), None)
    n_iter = max(side.n_iter for side in sides)
    return CoClusters(sides[0].joint, rows, columns, n_iter, all(side.converged for side in sides))


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
        if run.earlier_labels is not None:
            return continued(problem, run.earlier_labels, run)
        if self.name == "sequential":
            return sequential(problem, run)
        if not isinstance(problem, CoClusterProblem):
            return annealed(problem, run, self.beta_step)
        return anneal(problem, run, self.beta_step, self.keep_path)

    def n_starts(self, problem: Problem[State]) -> int:
        """Return the number of starts; several if they take only seconds."""
        if all(start.is_given for start in problem.starts):
            return 1
        if self.n_init == "auto":
            return default_members(problem) if self.name == "auto" else 1
        return int(self.n_init)
