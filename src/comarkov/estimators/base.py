"""What all estimators share: the parameters of a search, and the run that they describe."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, InvalidParameterError, StrOptions
from ..joint.machine import n_threads
from ..model.storage import Savable
from ..search.optimise.methods import Method
from ..search.progress import Monitor, Progress
from ..search.run import Run, Seed, Settings

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


@dataclass(kw_only=True, eq=False, repr=False)
class SearchParameters:
    """Parameters of a search that every estimator has."""

    n_init: int | str = "auto"
    max_iter: int = 100
    tol: float = 1e-3
    max_time: float | None = None
    callback: Callable[[Progress], Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0


class Searches(Savable, BaseEstimator):
    """Turns parameters into a run; parameters that an estimator lacks have the values here."""

    n_init: Any = 1
    max_iter: Any = 100
    tol: Any = 1e-3
    beta_step: Any = 0.1
    max_time: Any = None
    callback: Any = None
    random_state: Any = 0
    n_jobs: Any = None
    verbose: Any = 0
    order: Any = "natural"
    keep_path: Any = False

    def _validate_params(self) -> None:
        """Check the parameters as scikit-learn does; an error ends with a value that works."""
        try:
            super()._validate_params()
        except InvalidParameterError as error:
            raise InvalidParameterError(f"{error}{_example(type(self), str(error))}") from error

    def _run(self, beta: float) -> Run:
        """The settings of a search at this β."""
        return Run(
            beta=beta,
            seed=Seed.of(self.random_state),
            monitor=Monitor(self.max_time, self.callback, self.verbose),
            settings=Settings(self.max_iter, self.tol, self.order == "shuffled"),
            n_jobs=n_threads(self.n_jobs),
        )

    def _method(self, name: str) -> Method:
        return Method(name, self.n_init, self.beta_step, self.keep_path)


def _example(kind: type[BaseEstimator], message: str) -> str:
    """A call with the default of the parameter that an error is about."""
    quoted = re.search(r"'(\w+)' parameter", message)
    defaults = {name: p.default for name, p in inspect.signature(kind).parameters.items()}
    name = quoted[1] if quoted else ""
    return f" For example: {kind.__name__}({name}={defaults[name]!r})" if name in defaults else ""


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkParameters(SearchParameters):
    """Parameters of a search in a network of relations."""

    beta: float = 0.5
    method: str = "auto"
    beta_step: float = 0.1


NETWORK: dict[str, list[Any]] = {
    **SEARCH,
    "beta": [Interval(Real, 0, 1, closed="both")],
    "method": [StrOptions({"auto", "anneal", "sequential"})],
}


class HasBiclusters(BiclusterMixin):
    """One bicluster for each pair of a row cluster and a column cluster, computed on access."""

    row_labels_: np.ndarray
    column_labels_: np.ndarray

    @property
    def rows_(self) -> np.ndarray:
        """The rows of each bicluster, as a mask."""
        return np.repeat(_members(self.row_labels_), _count(self.column_labels_), axis=0)

    @property
    def columns_(self) -> np.ndarray:
        """The columns of each bicluster, as a mask."""
        return np.tile(_members(self.column_labels_), (_count(self.row_labels_), 1))

    def get_indices(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the i-th bicluster, without computing those of all others."""
        check_is_fitted(self)
        count = _count(self.row_labels_) * _count(self.column_labels_)
        row_cluster, column_cluster = divmod(range(count)[i], _count(self.column_labels_))
        return (
            np.flatnonzero(self.row_labels_ == row_cluster),
            np.flatnonzero(self.column_labels_ == column_cluster),
        )


def _count(labels: np.ndarray) -> int:
    return int(labels.max()) + 1


def _members(labels: np.ndarray) -> np.ndarray:
    return labels == np.arange(_count(labels))[:, None]
