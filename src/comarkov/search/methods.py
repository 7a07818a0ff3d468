"""A co-clustering by the method that the user names."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from ..data.joint import Joint
from .batch import batch
from .ensemble import default_members, search
from .optimise import Clustering, CoClusters, Seed, Settings, Start, anneal, sequential
from .progress import Monitor


@dataclass(frozen=True)
class Recipe:
    """How to look for a co-clustering."""

    method: str
    n_init: int | str
    settings: Settings
    n_jobs: int | None
    beta_step: float = 0.1
    keep_path: bool = False
    doublings: int = 0  # of column clusters, by "batch"

    def solve(
        self, data: Joint, starts: tuple[Start, Start], beta: float, seed: Seed, monitor: Monitor
    ) -> CoClusters:
        """The best co-clustering that is found."""
        n_init = self.n_starts(data, starts)
        n_jobs = effective_n_jobs(self.n_jobs)
        common = (data, starts, beta, self.settings, seed, n_init, monitor, n_jobs)
        if self.method == "auto":
            return search(*common)
        if self.method == "sequential":
            return sequential(*common)
        if self.method == "batch":
            return batch(*common, self.doublings)
        return anneal(*common, self.beta_step, self.keep_path)

    def n_starts(self, data: Joint, starts: tuple[Start, Start]) -> int:
        """How often to start; several times if that takes seconds."""
        if all(start.is_given for start in starts):
            return 1
        if self.n_init == "auto":
            return default_members(data, starts) if self.method == "auto" else 1
        return int(self.n_init)


def warn_if_unfinished(found: Clustering, monitor: Monitor, max_iter: int, level: int) -> None:
    """Warn if there was no time to find better."""
    problem = ""
    if monitor.reason:
        problem = f"The fit was stopped because {monitor.reason}: the best so far is kept."
    elif not found.converged:
        problem = f"No convergence in {max_iter} sweeps: raise max_iter or tol."
    if problem:
        warnings.warn(problem, ConvergenceWarning, stacklevel=level + 1)
