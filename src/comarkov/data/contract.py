"""scikit-learn's decorators of methods, with types: its own would make every method Any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn import base
from sklearn.utils import metaestimators

Method = TypeVar("Method", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Check the parameters of the estimator first, and those of estimators in it unless skipped."""
    return base._fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)


def available_if(check: Callable[[Any], Any]) -> Callable[[Method], Method]:
    """Only estimators that pass the check have the method."""
    return metaestimators.available_if(check)
