"""What all estimators share: the parameters of a search, and the run that they describe."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from sklearn.exceptions import ConvergenceWarning

from .._compat import Interval, InvalidParameterError, StrOptions, base
from ..joint.machine import n_threads
from ..joint.messages import InputError, quote, warn_user
from ..joint.weighting import Scheme, Weighting
from ..model.storage import Savable
from ..search.optimise.methods import Method
from ..search.progress import Monitor, Progress
from ..search.run import Run, Seed, Settings

Starts = int | Literal["auto"]
Callback = Callable[[Progress], Any]
NetworkMethod = Literal["auto", "anneal", "sequential"]

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
NETWORK: dict[str, list[Any]] = {
    **SEARCH,
    "beta": [Interval(Real, 0, 1, closed="both")],
    "method": [StrOptions({"auto", "anneal", "sequential"})],
}


@dataclass(kw_only=True, eq=False, repr=False)
class SearchParameters:
    """The parameters of all estimators that search from starts."""

    n_init: Starts = "auto"
    max_iter: int = 100
    tol: float = 1e-3
    max_time: float | None = None
    callback: Callback | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0


@dataclass(eq=False)
class Parameters(SearchParameters):
    """The parameters of a search; those that an estimator lacks have the values here."""

    n_clusters: Any = 3
    beta: float | str = 0.7
    method: str = "auto"
    weighting: Scheme | Weighting | None = None
    init: Any = None
    fixed: Any = None
    n_init: Starts = 1
    beta_step: float = 0.1
    sweeps: str = "due"
    ties: Literal["stay", "first"] = "stay"
    reject: float | None = None
    random_state: Any = 0
    engine: str = "local"
    checkpoint: Any = None
    doublings: int = 0

    def run(self, beta: float) -> Run:
        """Return the settings of a search at this β."""
        return Run(
            beta=beta,
            seed=Seed.of(self.random_state),
            monitor=Monitor(self.max_time, self.callback, self.verbose),
            settings=Settings(self.max_iter, self.tol, self.sweeps == "all", self.ties),
            n_jobs=n_threads(self.n_jobs),
        )

    def search_method(self, name: str = "") -> Method:
        """Return the method with its parameters, or another method with these parameters."""
        return Method(name or self.method, self.n_init, self.beta_step, self.doublings)

    def refuse_labels(self, example: Any) -> None:
        """Raise an error if elements have labels although the number of clusters is chosen."""
        if self.init is not None or self.fixed is not None:
            raise InputError(
                'n_clusters="auto" cannot be combined with labels in init or fixed',
                advice=f"Set the number of clusters: n_clusters={example}",
            )


class Searches(Savable, base.BaseEstimator):
    """An estimator whose parameters describe a search."""

    #: Values that the literature gives a method, for what are parameters elsewhere.
    _published: ClassVar[dict[str, Any]] = {}
    #: The methods that use a parameter, for parameters that not all of them use.
    _used_by: ClassVar[dict[str, tuple[str, ...]]] = {
        "tol": ("anneal", "sequential", "batch"),
        "sweeps": ("anneal", "sequential"),
        "ties": ("anneal", "sequential"),
        "beta_step": ("anneal",),
    }

    def _parameters(self) -> Parameters:
        own = {**self.get_params(deep=False), **self._published}
        return Parameters(**{f.name: own[f.name] for f in fields(Parameters) if f.name in own})

    def _validate_params(self) -> None:
        """Check the parameters as scikit-learn does; an error ends with a value that works."""
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        try:
            super()._validate_params()
        except InvalidParameterError as error:
            name = str(error).partition("'")[2].partition("' parameter")[0]
            call = f" For example: {type(self).__name__}({name}={defaults.get(name)!r})"
            raise InvalidParameterError(f"{error}{call if name in defaults else ''}") from error
        method = self._parameters().method
        for name, methods in self._used_by.items():
            if method in methods or name not in defaults:
                continue
            value, default = getattr(self, name), defaults[name]
            if value is not default and (default is None or value != default):
                raise InputError(
                    f"{name}={quote(value)} has no effect with method={method!r}",
                    advice=f"Leave it out, or set method={methods[0]!r}.",
                )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def warn_if_unfinished(converged: bool, run: Run) -> None:
    """Warn if the search was stopped early, or did not converge."""
    problem = f"No convergence in {run.settings.max_iter} sweeps: raise max_iter or tol."
    if reason := run.monitor.reason:
        problem = f"The fit was stopped because {reason}: the best so far is kept."
    if reason or not converged:
        warn_user(problem, ConvergenceWarning)
