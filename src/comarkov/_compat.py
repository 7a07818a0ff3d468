"""Private interfaces of scikit-learn, numba and llvmlite, and its base classes with types."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba.core import cgutils, event
from numba.extending import intrinsic
from sklearn.base import _fit_context
from sklearn.utils import _param_validation
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

__all__ = ["Interval", "InvalidParameterError", "StrOptions", "base", "cgutils", "event"]
__all__ += ["fit_context", "intrinsic", "ir", "validate_params"]

Method = TypeVar("Method", bound=Callable[..., Any])
MYPY = False  # mypy takes it as true

if MYPY:  # it knows no types of scikit-learn, and lets a dataclass on an untyped base take anything

    class Typed:
        class BaseEstimator:
            _validate_params, _repr_html_inner, _repr_mimebundle_ = cast(Any, ())
            __sklearn_tags__: Any

            def __getattr__(self, name: str) -> Any: ...

        class BiclusterMixin(BaseEstimator): ...

        class ClassNamePrefixFeaturesOutMixin(BaseEstimator): ...

        class OneToOneFeatureMixin(BaseEstimator): ...

        class TransformerMixin(BaseEstimator): ...

    base = Typed
else:
    from sklearn import base


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Check the parameters of the estimator first, and those of estimators in it unless skipped.

    scikit-learn's own decorator, with types: its own would make every method Any. The StopIteration
    of a callback, which generators turn into a RuntimeError, arrives as such.
    """
    check = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)

    def decorate(method: Method) -> Method:
        fit = check(method)

        @wraps(method)
        def with_own_errors(*arguments: Any, **keywords: Any) -> Any:
            try:
                return fit(*arguments, **keywords)
            except RuntimeError as error:
                if isinstance(error.__cause__, StopIteration):
                    raise error.__cause__ from None
                raise

        return cast(Method, with_own_errors)

    return decorate


def validate_params(**constraints: list[Any]) -> Callable[[Method], Method]:
    """Check the arguments of a function, with an error that names the parameter; with types."""
    return _param_validation.validate_params(constraints, prefer_skip_nested_validation=True)
