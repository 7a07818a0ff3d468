"""What the estimators of the family share: parameters, seeds, the search, its warnings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from ..costs.labels import renumbered
from ..model.storage import Savable
from ..search.descent import default_starts, descend
from ..search.methods import warn_if_unfinished
from ..search.network import Graph, Network
from ..search.optimise import Seed, Settings, Start
from ..search.progress import Monitor, Progress

COUNT = Interval(Integral, 1, None, closed="left")


class NetworkEstimator(Savable, BaseEstimator):
    """Parameters of a search in a network of relations, and the search."""

    beta: float
    method: str
    n_init: int | str
    max_iter: int
    tol: float
    beta_step: float
    max_time: float | None
    callback: Callable[[Progress], Any] | None
    random_state: Any
    n_jobs: int | None
    verbose: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "beta": [Interval(Real, 0, 1, closed="both")],
        "method": [StrOptions({"auto", "anneal", "sequential"})],
        "n_init": [COUNT, StrOptions({"auto"})],
        "max_iter": [COUNT],
        "tol": [Interval(Real, 0, None, closed="left")],
        "beta_step": [Interval(Real, 0, None, closed="neither")],
        "max_time": [None, Interval(Real, 0, None, closed="neither")],
        "callback": [None, callable],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def _search(self, graph: Graph, starts: Sequence[Start], seed: Seed, level: int = 4) -> Network:
        """The best network that is found, with a warning if there was no time to find better.

        The user's line is so many calls up.
        """
        monitor = Monitor(self.max_time, self.callback, self.verbose)
        n_init = 1 if all(start.is_given for start in starts) else self.n_init
        if isinstance(n_init, str):
            n_init = default_starts(graph, starts) if self.method == "auto" else 1
        found = descend(
            graph, starts, float(self.beta), Settings(self.max_iter, self.tol, False), seed,
            int(n_init), monitor, effective_n_jobs(self.n_jobs), self.method, self.beta_step,
        )  # fmt: skip
        warn_if_unfinished(found, monitor, self.max_iter, level)
        return found


def canonical_order(state: Network, t: int) -> np.ndarray | None:
    """The clusters of a type by falling mass; None to leave the numbers that the user gave."""
    if state.numbered[t]:
        return None
    label, size, weight = state.partitions[t]
    some = label >= 0
    mass = np.bincount(label[some], weights=weight[some], minlength=size.size)
    return np.argsort(-mass, kind="stable")


def final_labels(state: Network, t: int) -> np.ndarray:
    """The labels of a type, clusters in canonical order."""
    return renumbered(state.partitions[t].label, canonical_order(state, t))
