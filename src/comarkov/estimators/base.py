"""What all estimators share: the parameters of a search, and the run that they ask for."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from ..model.storage import Savable
from ..search.methods import Method
from ..search.progress import Monitor, Progress
from ..search.run import Run, Settings
from ..search.streams import Seed

COUNT = Interval(Integral, 1, None, closed="left")
SEARCH: dict[str, list[Any]] = {
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


class Searches(Savable, BaseEstimator):
    """Parameters of a search."""

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
    order = "natural"
    keep_path = False

    def _run(self, beta: float) -> Run:
        """What a search at this β needs to know."""
        return Run(
            beta=beta,
            seed=Seed.of(self.random_state),
            monitor=Monitor(self.max_time, self.callback, self.verbose),
            settings=Settings(self.max_iter, self.tol, self.order == "shuffled"),
            n_jobs=effective_n_jobs(self.n_jobs),
        )

    def _method(self, name: str) -> Method:
        return Method(name, self.n_init, self.beta_step, self.keep_path)


class NetworkEstimator(Searches):
    """Parameters of a search in a network of relations."""

    beta: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SEARCH,
        "beta": [Interval(Real, 0, 1, closed="both")],
        "method": [StrOptions({"auto", "anneal", "sequential"})],
    }
