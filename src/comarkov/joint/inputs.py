"""Input objects: read as canonical CSR with names, and aligned with those of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .graphs import GraphEdges, from_graph
from .messages import InputError, listed, warn_user
from .objects import (
    NOT_IN_NUMPY,
    as_objects,
    is_anndata,
    is_frame,
    is_graph,
    is_pandas,
    layers,
    refuse_surrogates,
    refuse_unsuitable,
)
from .parts import row_ranges

NO_MASS = "The matrix is empty: all its entries are zero."
TOO_LARGE = "The sum of all entries is too large. Divide them first: X / X.max()"


class NamedMatrix(NamedTuple):
    """A matrix with the names of its rows and columns; None where they have none."""

    matrix: Any
    row_names: np.ndarray | None
    column_names: np.ndarray | None


# --- what an object is ------------------------------------------------------------------------


def is_matrix(X: Any) -> bool:
    """Is X a sparse matrix or a data frame, and therefore no list of sequences?"""
    return sp.issparse(X) or hasattr(X, "columns")


def is_data(X: Any) -> bool:
    """Is X an array, a sparse matrix, a data frame, or an object with a matrix and names?"""
    return hasattr(X, "__array__") or is_matrix(X) or named(X) is not None


def is_on_disk(X: Any) -> bool:
    """Is X a store, whose matrix was checked when it was packed?"""
    return hasattr(X, "joint") and hasattr(X, "matrix")


def in_parts(X: Any) -> Iterator[Any]:
    """Yield X itself or, of a store, some rows at a time as a matrix with the names of columns."""
    if not is_on_disk(X):
        yield X
        return
    columns = X.column_names if X.named[1] else None
    for rows in row_ranges(X.matrix.indptr):
        yield NamedMatrix(X.matrix[rows], None, columns)


# --- names ------------------------------------------------------------------------------------


def named(X: Any) -> NamedMatrix | None:
    """The matrix and the names of an object that has both; None for all other input.

    Nothing is imported: objects are recognised by their attributes.
    """
    if isinstance(X, NamedMatrix):
        return X
    if all(hasattr(X, part) for part in ("matrix", "row_names", "column_names")):
        has_names = getattr(X, "named", (True, True))
        rows, columns = (
            np.asarray(names, dtype=object) if is_named else None
            for names, is_named in zip((X.row_names, X.column_names), has_names, strict=True)
        )
        return NamedMatrix(X.matrix, rows, columns)
    if is_anndata(X):
        every = layers(X)
        if "X" not in every:
            problem, advice = "The AnnData object has no X", "Read a layer: comarkov.read(X, layer="
            raise InputError(problem, advice=f"{advice}{[*every, 'counts'][0]!r})")
        matrix, rows, columns = every["X"]
        return NamedMatrix(matrix, as_objects(rows), as_objects(columns))
    if is_graph(X):
        matrix, *nodes = from_graph(GraphEdges.of(X))
        return NamedMatrix(matrix, *map(as_objects, nodes))
    return None


def names(W: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Row and column names of data frames, Data, AnnData and graphs; None for other input."""
    with_names = named(W)
    if with_names is not None:
        return with_names.row_names, with_names.column_names
    if not hasattr(W, "columns"):
        return None, None
    rows = np.asarray(W.index, dtype=object) if hasattr(W, "index") else None
    columns = np.asarray(W.columns, dtype=object)
    for of_side in (rows, columns):
        if of_side is not None:
            refuse_surrogates(of_side, "X")
    return rows, columns


def are_numbers(names: np.ndarray) -> bool:
    """Are names just 0, 1, 2, ..., as in a data frame without names?"""
    return all(type(name) is int for name in names) and names.tolist() == list(range(names.size))


# --- weights ----------------------------------------------------------------------------------


def as_csr(W: Any) -> sp.csr_array:
    """Check a matrix of weights and read it as canonical CSR, that of a store as it is."""
    return named_csr(W).matrix


def sorted_csr(W: Any) -> sp.csr_array:
    """Weights as CSR in memory, entries in the order of columns."""
    csr = as_csr(W)
    return csr.sorted_indices() if is_on_disk(W) else csr


def named_csr(W: Any) -> NamedMatrix:
    """Weights as canonical CSR, with the names of rows and columns."""
    with_names = named(W) or NamedMatrix(W, *names(W))
    if is_on_disk(W):
        return with_names
    return with_names._replace(matrix=_canonical(_check(with_names.matrix)))


def _check(W: Any) -> Any:
    """A 2-D numeric array or sparse array of weights, or an error with the call to use."""
    if sp.issparse(W) and W.ndim == 2:
        W = sound_csr(W)
    elif np.ma.isMaskedArray(W):
        raise InputError("X is a masked array", advice="Fill the gaps: pass X.filled(0)")
    else:
        refuse_unsuitable(W)
        if is_frame(W) and not is_pandas(W):
            types = zip(W.columns, W.dtypes, strict=True)
            wide = {name: float for name, kind in types if str(kind).startswith(NOT_IN_NUMPY)}
            W = W.cast(wide) if wide else W
    if getattr(getattr(W, "dtype", None), "kind", None) == "c":
        raise InputError("Complex data not supported", advice="Pass the real parts: X.real")
    try:
        array = check_array(W, accept_sparse="csr", ensure_all_finite=False, input_name="X")
        if array.dtype.kind not in "biuf":  # Python objects that are numbers become floats
            casting: Any = "unsafe" if array.dtype.kind == "O" else "safe"
            array = array.astype(np.float64, casting=casting)
    except OverflowError as error:
        raise ValueError(TOO_LARGE) from error
    except TypeError as error:
        raise TypeError(
            f"X holds values that are not numbers ({error}). Leave out such rows or columns."
        ) from error
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        with np.errstate(over="ignore"):
            array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    _check_weights(array.data if sp.issparse(array) else array, W)
    return array


def sound_csr(W: Any) -> Any:
    """A sparse matrix of any format as CSR whose indices are sound: kernels trust them."""
    try:
        W = _checked(W)
        if W.format in ("coo", "bsr"):  # whose conversion adds duplicates up, in their own type
            W = W.astype(np.float64)
        csr = W.tocsr()
        return csr if csr is W else _checked(csr)
    except (IndexError, OverflowError, TypeError, ValueError) as error:
        raise InputError(
            f"X is a damaged sparse matrix of {W.shape[0]:,} rows and {W.shape[1]:,} columns "
            f"({error})",
            advice="Make it again, for example from its coordinates.",
        ) from error


def _checked(W: Any) -> Any:
    """A sparse matrix that shares the arrays of another, which SciPy has checked."""
    if W.format == "coo":
        return sp.coo_array((W.data, (W.row, W.col)), W.shape)
    if W.format == "dia":
        return sp.dia_array((W.data, W.offsets), W.shape)
    if W.format == "lil" and list(map(len, W.rows)) != list(map(len, W.data)):
        raise ValueError("lists of columns and of values differ in length")
    if W.format in ("csr", "csc", "bsr"):
        kind = getattr(sp, f"{W.format}_array")
        W = kind((W.data, W.indices, W.indptr), W.shape)
        W.check_format(full_check=True)
    return W


def _check_weights(values: np.ndarray, X: Any) -> None:
    """An error if a number is not a weight, or if all together are too large."""
    if values.size == 0:
        return
    missing, infinite, negative = _repairs(X)
    low, high = values.min(), values.max()
    if np.isnan(low) or np.isnan(high):
        raise InputError(
            "Input X contains NaN, and a missing value is not a weight",
            advice=f"If it means that nothing was observed, write 0: {missing}",
        )
    if np.isinf(high):
        raise InputError(
            "Input X contains infinity or a value too large for its dtype",
            advice=f"If it stands for a missing value, write 0: {infinite}",
        )
    if high > np.finfo(np.float64).max / values.size:
        with np.errstate(over="ignore"):
            total = values.sum(dtype=np.float64)
        if np.isinf(total):
            raise ValueError(TOO_LARGE)
    if low < 0:
        raise InputError(
            f"Negative values in data passed to comarkov (smallest: {low:g}). Weights are counts, "
            "ratings or other amounts: pass the data as they were before centring or scaling",
            advice=f"To keep only what is above 0: {negative}",
        )


def _repairs(X: Any) -> tuple[str, str, str]:
    """Calls that replace missing, infinite and negative values in an input of this type."""
    if sp.issparse(X):
        data = "X.data = numpy.nan_to_num(X.data, posinf=0)"
        return data, data, "X.maximum(0)"
    if is_frame(X) and is_pandas(X):
        return "X.fillna(0)", "X.replace(numpy.inf, 0)", "X.clip(lower=0)"
    filled, infinite = "X.fill_null(0).fill_nan(0)", "numpy.nan_to_num(X, posinf=0)"
    if is_frame(X):
        return filled, infinite, "X.select(polars.all().clip(lower_bound=0))"
    return "numpy.nan_to_num(X)", infinite, "numpy.clip(X, 0, None)"


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


# --- beside the data of a fit -------------------------------------------------------------------


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
    if not reset and len(shape) == 2 and shape[1] != getattr(estimator, "n_features_in_", shape[1]):
        n, name = estimator.n_features_in_, type(estimator).__name__
        hint = f"It has {n} rows: if these are the columns of the fit, pass X.T"
        raise InputError(  # as of scikit-learn
            f"X has {shape[1]} features, but {name} is expecting {n} features as input",
            advice=hint if shape[0] == n else None,
        )
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
    if unknown := new.size - known.size:
        kind = getattr(X, "column_kind" if axis == 1 else "row_kind", None)
        what = f"{kind}s" if isinstance(kind, str) else "columns" if axis == 1 else "rows"
        verbs = ("is", "was") if unknown == 1 else ("are", "were")
        count = f"{unknown:,} of {new.size:,} {what} {verbs[0]} not in the model and {verbs[1]}"
        warn_user(f"{count} ignored: {listed(new[target < 0])}.")
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


def _select(frame: Any, which: np.ndarray, axis: int) -> Any:
    """Rows or columns of a data frame, or of an object that has a matrix and names."""
    if not hasattr(frame, "columns"):
        csr = as_csr(frame)
        return csr[:, which] if axis == 1 else csr[which]
    if is_pandas(frame):
        return frame.iloc[:, which] if axis == 1 else frame.iloc[which]
    return frame[:, which.tolist()]
