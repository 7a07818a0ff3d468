"""Private interfaces of scikit-learn, numba and llvmlite: only this module imports them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from llvmlite import ir
from numba.core import cgutils, event
from numba.extending import intrinsic
from sklearn import base
from sklearn.utils import metaestimators
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

__all__ = [
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "available_if",
    "cgutils",
    "event",
    "fit_context",
    "intrinsic",
    "ir",
]

Method = TypeVar("Method", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Check the parameters of the estimator first, and those of estimators in it unless skipped.

    scikit-learn's own decorator, with types: its own would make every method Any.
    """
    return base._fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)


def available_if(check: Callable[[Any], Any]) -> Callable[[Method], Method]:
    """Only estimators that pass the check have the method."""
    return metaestimators.available_if(check)
