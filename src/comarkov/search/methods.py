"""The search methods that users can choose."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .batch import batch
from .coclusters import CoClusterProblem
from .ensemble import default_members, search
from .exact import with_optimum
from .paper import anneal, annealed, continued, sequential
from .problem import Problem, Solution
from .refinement import Clustering, State
from .run import Run


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


def warn_if_unfinished(state: Clustering, run: Run, level: int) -> None:
    """Warn if the search was stopped early; the user's code is ``level`` calls up."""
    problem = ""
    if run.monitor.reason:
        problem = f"The fit was stopped because {run.monitor.reason}: the best so far is kept."
    elif not state.converged:
        problem = f"No convergence in {run.settings.max_iter} sweeps: raise max_iter or tol."
    if problem:
        warnings.warn(problem, ConvergenceWarning, stacklevel=level + 1)
