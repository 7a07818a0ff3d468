"""New data beside those of a fit: the same columns, in the same order."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from .inputs import NamedMatrix, are_numbers, as_csr, named, names
from .messages import warn_user
from .objects import is_pandas


def check_columns(estimator: Any, X: Any, reset: bool = True) -> None:
    """Set n_features_in_ and feature_names_in_ of an estimator, or check X against them."""
    with_names = named(X)
    if with_names is None:
        _validate(estimator, X, reset)
    elif reset:
        estimator.n_features_in_ = with_names.matrix.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if with_names.column_names is not None:
            estimator.feature_names_in_ = with_names.column_names
    else:
        _check_same_columns(estimator, with_names)


def _validate(estimator: Any, X: Any, reset: bool) -> None:
    """Let scikit-learn check the columns; its error gets a hint if X is transposed."""
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except ValueError as error:
        if reset or not hasattr(X, "shape"):
            raise
        hint = _transposed(estimator, X.shape)
        if not hint:
            raise
        raise ValueError(f"{error}{hint}") from error


def _transposed(estimator: Any, shape: tuple[int, int]) -> str:
    """A hint if X has as many rows as the fit had columns."""
    n = estimator.n_features_in_
    if shape[1] == n or shape[0] != n:
        return ""
    return f" It has {n} rows: if these are the columns of the fit, pass X.T"


def _check_same_columns(estimator: Any, new: NamedMatrix) -> None:
    expected, width = estimator.n_features_in_, new.matrix.shape[1]
    if width != expected:
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting {expected} "
            f"features as input.{_transposed(estimator, new.matrix.shape)}"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and new.column_names is not None:
        wrong = np.flatnonzero(known != new.column_names)
        if wrong.size:
            raise ValueError(
                f"The column {new.column_names[wrong[0]]!r} of X is {known[wrong[0]]!r} in the "
                "fit: X must have the columns of the fit, in the same order."
            )


def align(X: Any, fitted: np.ndarray | None, axis: int) -> Any:
    """Bring the columns (axis 1) or rows (axis 0) of a data frame into the order of the fit.

    Input without names, and frames that are in that order already, come back as they are. So do
    frames with names if the fit had only numbers, and the other way round.
    """
    new = names(X)[axis]
    if fitted is None or new is None or np.array_equal(new, fitted):
        return X
    if are_numbers(fitted) and not all(isinstance(name, Integral) for name in new):
        return X
    if are_numbers(new) and not all(isinstance(name, Integral) for name in fitted):
        return X
    target = _places(X, new, fitted, "columns" if axis == 1 else "rows")
    known = np.flatnonzero(target >= 0)
    if known.size < new.size:
        _warn_of_unknown(new[target < 0], new.size, X, axis)
    entries = as_csr(_select(X, known, axis)).tocoo()
    places = list(entries.coords)
    places[axis] = target[known][places[axis]]
    shape = (entries.shape[0], fitted.size) if axis == 1 else (fitted.size, entries.shape[1])
    return sp.csr_array((entries.data, tuple(places)), shape)


def _places(X: Any, new: np.ndarray, fitted: np.ndarray, what: str) -> np.ndarray:
    """Where each name is in the fit; -1 for those that it did not have."""
    nameless = " Or pass the values without names, in the order of the fit: X.to_numpy()"
    advice = nameless if hasattr(X, "to_numpy") and new.size == fitted.size else ""
    position = {name: i for i, name in enumerate(fitted.tolist())}
    if len(position) < fitted.size or len(set(new.tolist())) < new.size:
        raise ValueError(
            f"Names of {what} are not unique, so X cannot be aligned with the fit by name. Name "
            f"each of the {what} differently.{advice}"
        )
    target = np.array([position.get(name, -1) for name in new.tolist()])
    if not (target >= 0).any():
        raise ValueError(
            f"None of the {new.size} {what} of X ({_first(new)}) was in the fit, which had "
            f"{_first(fitted)}. Pass data with the {what} of the fit, under the same "
            f"names.{advice}"
        )
    return target


def _warn_of_unknown(unknown: np.ndarray, size: int, X: Any, axis: int) -> None:
    kind = getattr(X, "column_kind" if axis == 1 else "row_kind", None)
    what = f"{kind}s" if isinstance(kind, str) else "columns" if axis == 1 else "rows"
    are, were = ("is", "was") if unknown.size == 1 else ("are", "were")
    count = f"{unknown.size:,} of {size:,} {what}"
    warn_user(f"{count} {are} not in the model and {were} ignored: {_first(unknown)}.")


def _first(names: np.ndarray) -> str:
    return ", ".join(map(str, names[:3])) + (" and others" if names.size > 3 else "")


def _select(frame: Any, which: np.ndarray, axis: int) -> Any:
    """Rows or columns of a data frame, or of an object that has a matrix and names."""
    if not hasattr(frame, "columns"):
        csr = as_csr(frame)
        return csr[:, which] if axis == 1 else csr[which]
    if is_pandas(frame):
        return frame.iloc[:, which] if axis == 1 else frame.iloc[which]
    return frame[:, which.tolist()]
