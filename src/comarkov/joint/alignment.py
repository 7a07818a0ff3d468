"""New data beside those of a fit: the same columns, in the same order."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from .inputs import are_numbers, as_csr, named, names
from .messages import InputError, listed, warn_user
from .objects import is_pandas


def check_columns(estimator: Any, X: Any, reset: bool = True) -> None:
    """Set n_features_in_ and feature_names_in_ of an estimator, or check X against them."""
    new = named(X)
    if new is not None and reset:
        estimator.n_features_in_ = new.matrix.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if new.column_names is not None:
            estimator.feature_names_in_ = new.column_names
        return
    shape: Any = getattr(X if new is None else new.matrix, "shape", ())
    if not reset and len(shape) == 2 and hasattr(estimator, "n_features_in_"):
        _check_width(estimator, shape)
    if new is None:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and new.column_names is not None:
        wrong = np.flatnonzero(known != new.column_names)
        if wrong.size:
            raise InputError(
                f"The column {new.column_names[wrong[0]]!r} of X is {known[wrong[0]]!r} in the fit",
                advice="X must have the columns of the fit, in the same order.",
            )


def _check_width(estimator: Any, shape: tuple[int, int]) -> None:
    """An error as of scikit-learn, with a hint if X is transposed."""
    n = estimator.n_features_in_
    if shape[1] != n:
        hint = f"It has {n} rows: if these are the columns of the fit, pass X.T"
        raise InputError(
            f"X has {shape[1]} features, but {type(estimator).__name__} is expecting {n} features "
            "as input",
            advice=hint if shape[0] == n else None,
        )


def align(X: Any, fitted: np.ndarray | None, axis: int) -> Any:
    """Bring the columns (axis 1) or rows (axis 0) of a data frame into the order of the fit.

    Input without names, and frames that are in that order already, come back as they are. So do
    frames with names if the fit had only numbers, and the other way round.
    """
    new = names(X)[axis]
    if fitted is None or new is None or np.array_equal(new, fitted):
        return X
    for one, other in ((fitted, new), (new, fitted)):
        if are_numbers(one) and not all(isinstance(name, Integral) for name in other):
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
    nameless = nameless if hasattr(X, "to_numpy") and new.size == fitted.size else ""
    position = {name: i for i, name in enumerate(fitted.tolist())}
    if len(position) < fitted.size or len(set(new.tolist())) < new.size:
        raise InputError(
            f"Names of {what} are not unique, so X cannot be aligned with the fit by name",
            advice=f"Name each of the {what} differently.{nameless}",
        )
    target = np.array([position.get(name, -1) for name in new.tolist()])
    if not (target >= 0).any():
        raise InputError(
            f"None of the {new.size} {what} of X ({listed(new)}) was in the fit, which had "
            f"{listed(fitted)}",
            advice=f"Pass data with the {what} of the fit, under the same names.{nameless}",
        )
    return target


def _warn_of_unknown(unknown: np.ndarray, size: int, X: Any, axis: int) -> None:
    kind = getattr(X, "column_kind" if axis == 1 else "row_kind", None)
    what = f"{kind}s" if isinstance(kind, str) else "columns" if axis == 1 else "rows"
    are, were = ("is", "was") if unknown.size == 1 else ("are", "were")
    count = f"{unknown.size:,} of {size:,} {what}"
    warn_user(f"{count} {are} not in the model and {were} ignored: {listed(unknown)}.")


def _select(frame: Any, which: np.ndarray, axis: int) -> Any:
    """Rows or columns of a data frame, or of an object that has a matrix and names."""
    if not hasattr(frame, "columns"):
        csr = as_csr(frame)
        return csr[:, which] if axis == 1 else csr[which]
    if is_pandas(frame):
        return frame.iloc[:, which] if axis == 1 else frame.iloc[which]
    return frame[:, which.tolist()]
