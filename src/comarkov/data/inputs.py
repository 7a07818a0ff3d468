"""What users give as data: objects told by their parts, and read as canonical CSR with names."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .graphs import from_graph

LARGEST = np.finfo(np.float64).max


class NamedMatrix(NamedTuple):
    """A matrix with the names of its rows and columns; None where they have none."""

    matrix: Any
    row_names: np.ndarray | None
    column_names: np.ndarray | None


# --- what an object is ------------------------------------------------------------------------


def is_anndata(X: Any) -> bool:
    """Is X an AnnData object?"""
    return all(hasattr(X, part) for part in ("X", "obs_names", "var_names"))


def is_graph(X: Any) -> bool:
    """Is X a networkx graph?"""
    return all(hasattr(X, part) for part in ("nodes", "edges", "adj", "is_directed"))


def is_frame(X: Any) -> bool:
    """Is X a data frame, of pandas or polars, lazy or not?"""
    return hasattr(X, "collect_schema") or hasattr(X, "columns")


def frame_width(frame: Any) -> int:
    """How many columns a data frame has."""
    is_lazy = hasattr(frame, "collect_schema")  # which warns of .columns
    return len(frame.collect_schema() if is_lazy else frame.columns)


def is_matrix(X: Any) -> bool:
    """Is X a sparse matrix or a data frame, and so no sequences for sure?"""
    return sp.issparse(X) or hasattr(X, "columns")


def is_data(X: Any) -> bool:
    """Is X an array, a sparse matrix, a data frame, or an object that holds one with names?"""
    return hasattr(X, "__array__") or is_matrix(X) or named(X) is not None


def is_sparse(X: Any) -> bool:
    """Is X a SciPy sparse matrix or a data frame of sparse columns?"""
    return sp.issparse(X) or hasattr(X, "sparse")


def suggested_weighting(X: Any) -> str | None:
    """The weighting that suits the data, where they say so."""
    return getattr(X, "weighting", None) if hasattr(X, "row_kind") else None


# --- names ------------------------------------------------------------------------------------


def named(X: Any) -> NamedMatrix | None:
    """What an object that holds a matrix and names has in it; None for all other input.

    Nothing is imported: objects are known by their attributes.
    """
    if all(hasattr(X, part) for part in ("matrix", "row_names", "column_names")):
        has_names = getattr(X, "named", (True, True))
        rows, columns = (
            np.asarray(side, dtype=object) if known else None
            for side, known in zip((X.row_names, X.column_names), has_names, strict=True)
        )
        return NamedMatrix(X.matrix, rows, columns)
    if is_anndata(X):
        return NamedMatrix(X.X, _as_objects(X.obs_names), _as_objects(X.var_names))
    if is_graph(X):
        matrix, *nodes = from_graph(X)
        return NamedMatrix(matrix, *map(_as_objects, nodes))
    return None


def names(W: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Row and column names of data frames, Data, AnnData and graphs; None for what has none."""
    held = named(W)
    if held is not None:
        return held.row_names, held.column_names
    if not hasattr(W, "columns"):
        return None, None
    rows = np.asarray(W.index, dtype=object) if hasattr(W, "index") else None
    return rows, np.asarray(W.columns, dtype=object)


def are_numbers(names: np.ndarray) -> bool:
    """Are names just 0, 1, 2, ..., as of a data frame that was given none?"""
    return all(type(name) is int for name in names) and names.tolist() == list(range(names.size))


def _as_objects(names: Any) -> np.ndarray:
    listed = list(names)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


# --- weights ----------------------------------------------------------------------------------


def as_csr(W: Any) -> sp.csr_array:
    """Check a matrix of weights and read it as canonical CSR."""
    held = named(W)
    return _canonical(_checked(W if held is None else held.matrix))


def named_csr(W: Any) -> NamedMatrix:
    """The same with the names of rows and columns."""
    held = named(W) or NamedMatrix(W, *names(W))
    return held._replace(matrix=_canonical(_checked(held.matrix)))


def _checked(W: Any) -> Any:
    """A 2-D numeric array or sparse array of weights, or an error that says what to do."""
    if sp.issparse(W) and W.ndim == 2:
        if W.format in ("coo", "bsr"):  # whose conversion adds duplicates up, in their own type
            W = W.astype(np.float64)
        W = W.tocsr()
    elif np.ma.isMaskedArray(W):
        raise ValueError("Masked arrays are not taken: fill the gaps, for example X.filled(0).")
    array = check_array(
        W,
        accept_sparse="csr",
        accept_large_sparse=True,
        dtype="numeric",
        ensure_all_finite=False,
        input_name="X",
    )
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        with np.errstate(over="ignore"):
            array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    _check_weights(array.data if sp.issparse(array) else array)
    return array


def _check_weights(values: np.ndarray) -> None:
    """An error if a number is no weight, or if all together are too large."""
    if values.size == 0:
        return
    low, high = values.min(), values.max()
    if np.isnan(low) or np.isnan(high):
        raise ValueError(
            "Input X contains NaN. A missing entry is not a weight: write 0 where nothing was "
            "observed (X.fillna(0), numpy.nan_to_num(X)), or leave it out of a sparse matrix."
        )
    if np.isinf(high):
        raise ValueError("Input X contains infinity or a value too large for its dtype.")
    if high > LARGEST / values.size:
        _check_sum(values)
    if low < 0:
        raise ValueError(
            f"Negative values in data passed to comarkov (smallest: {low:g}). Weights are counts, "
            "ratings or other masses; shift or clip the data, or use its absolute values."
        )


def _check_sum(values: np.ndarray) -> None:
    with np.errstate(over="ignore"):
        total = values.sum(dtype=np.float64)
    if np.isinf(total):
        raise ValueError("The entries are too large to be added: divide them by one number.")


def _canonical(array: Any) -> sp.csr_array:
    """CSR with sorted indices, no duplicates and no explicit zeros, sharing memory if it can."""
    csr = sp.csr_array(array.astype(array.dtype.newbyteorder("="), copy=False))
    if csr.data.dtype.kind == "b":
        csr = csr.astype(np.int8)
    if sp.issparse(array):  # the flags that scipy caches belong to the user's object
        csr = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    if not csr.has_canonical_format:
        csr = csr.astype(np.float64, copy=True)  # sums of integers could wrap around
        csr.sum_duplicates()
    if csr.data.size and not csr.data.all():
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr


# --- columns and rows of a fit ----------------------------------------------------------------


def check_columns(estimator: Any, X: Any, reset: bool = True) -> None:
    """Set n_features_in_ and feature_names_in_ of an estimator, or check X against them."""
    held = named(X)
    if held is None:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        estimator.n_features_in_ = held.matrix.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if held.column_names is not None:
            estimator.feature_names_in_ = held.column_names
    else:
        _check_same_columns(estimator, held)


def _check_same_columns(estimator: Any, held: NamedMatrix) -> None:
    expected, found = estimator.n_features_in_, held.matrix.shape[1]
    if found != expected:
        raise ValueError(
            f"X has {found} features, but {type(estimator).__name__} is expecting {expected} "
            "features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and held.column_names is not None:
        wrong = np.flatnonzero(known != held.column_names)
        if wrong.size:
            raise ValueError(
                f"The column {held.column_names[wrong[0]]!r} of X is {known[wrong[0]]!r} in the "
                "fit: X must have the columns of the fit, in the same order."
            )


def align(X: Any, fitted: np.ndarray | None, axis: int) -> Any:
    """Bring the columns (axis 1) or rows (axis 0) of a data frame into the order of the fit.

    What has no names, and frames that are in that order already, come back as they are. So do
    frames with names if the fit had only numbers, and the other way round.
    """
    found = names(X)[axis]
    if fitted is None or found is None or np.array_equal(found, fitted):
        return X
    if are_numbers(fitted) and not all(isinstance(name, Integral) for name in found):
        return X
    if are_numbers(found) and not all(isinstance(name, Integral) for name in fitted):
        return X
    position = {name: i for i, name in enumerate(fitted.tolist())}
    if len(position) < fitted.size or len(set(found.tolist())) < found.size:
        raise ValueError("Names are not unique, so the data cannot be aligned with the fit.")
    target = np.array([position.get(name, -1) for name in found.tolist()])
    known = np.flatnonzero(target >= 0)
    if known.size == 0:
        raise ValueError(f"None of the {found.size} names in X was seen in the fit.")
    if known.size < found.size:
        ignored = found[target < 0]
        some = ", ".join(map(str, ignored[:3])) + (", ..." if ignored.size > 3 else "")
        message = f"Ignored, because the fit did not see them: {some} ({ignored.size} in all)."
        warnings.warn(message, stacklevel=4)
    entries = as_csr(_select(X, known, axis)).tocoo()
    places = list(entries.coords)
    places[axis] = target[known][places[axis]]
    shape = (entries.shape[0], fitted.size) if axis == 1 else (fitted.size, entries.shape[1])
    return sp.csr_array((entries.data, tuple(places)), shape)


def _select(frame: Any, which: np.ndarray, axis: int) -> Any:
    """Some rows or columns of a data frame, or of what holds a matrix with names."""
    if not hasattr(frame, "columns"):
        csr = as_csr(frame)
        return csr[:, which] if axis == 1 else csr[which]
    if hasattr(frame, "iloc"):
        return frame.iloc[:, which] if axis == 1 else frame.iloc[which]
    return frame[:, which.tolist()]
