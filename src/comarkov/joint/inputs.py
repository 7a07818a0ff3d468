"""Input objects: recognised by their attributes, and read as canonical CSR with names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from .messages import InputError
from .objects import (
    as_objects,
    from_graph,
    is_anndata,
    is_frame,
    is_graph,
    is_pandas,
    refuse_surrogates,
    weights_of,
    with_numpy_numbers,
)
from .parts import row_ranges
from .unsuitable import refuse_unsuitable

NO_MASS = "The matrix has no mass: all its entries are zero."
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


def is_sparse(X: Any) -> bool:
    """Is X a SciPy sparse matrix or a data frame of sparse columns?"""
    return sp.issparse(X) or hasattr(X, "sparse")


def is_on_disk(X: Any) -> bool:
    """Is X a store, whose matrix was checked when it was packed?"""
    return hasattr(X, "joint") and hasattr(X, "matrix")


def suggested_weighting(X: Any) -> Any:
    """The weighting that suits the data, if they suggest one, as texts do."""
    return getattr(X, "weighting", None) if hasattr(X, "row_kind") else None


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
        layer = weights_of(X)
        return NamedMatrix(
            layer.matrix, as_objects(layer.row_names), as_objects(layer.column_names)
        )
    if is_graph(X):
        matrix, *nodes = from_graph(X)
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
    if is_on_disk(W):
        return W.matrix
    with_names = named(W)
    return _canonical(_check(W if with_names is None else with_names.matrix))


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
        if is_frame(W):
            W = with_numpy_numbers(W)
    if getattr(getattr(W, "dtype", None), "kind", None) == "c":
        raise InputError("Complex data not supported", advice="Pass the real parts: X.real")
    array = _numbers(W)
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        with np.errstate(over="ignore"):
            array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    _check_weights(array.data if sp.issparse(array) else array, W)
    return array


def _numbers(W: Any) -> Any:
    """A 2-D array of numbers; Python objects that are numbers become floats."""
    try:
        array = check_array(
            W,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype="numeric",
            ensure_all_finite=False,
            input_name="X",
        )
        if array.dtype.kind in "biuf":
            return array
        return array.astype(np.float64, casting="unsafe" if array.dtype.kind == "O" else "safe")
    except OverflowError as error:
        raise ValueError(TOO_LARGE) from error
    except TypeError as error:
        raise TypeError(
            f"X holds values that are not numbers ({error}). Leave out such rows or columns."
        ) from error


def sound_csr(W: Any) -> Any:
    """A sparse matrix of any format as CSR whose indices are sound: kernels trust them."""
    if _is_sound(W):
        if W.format in ("coo", "bsr"):  # whose conversion adds duplicates up, in their own type
            W = W.astype(np.float64)
        try:
            csr = W.tocsr()
        except (IndexError, OverflowError, TypeError, ValueError):  # as SciPy checks DOK
            csr = None
        if csr is not None and (W.format != "lil" or _is_sound(csr)):
            return csr
    raise InputError(
        f"X is a damaged sparse matrix: its indices lead out of {W.shape[0]:,} rows and "
        f"{W.shape[1]:,} columns",
        advice="Make it again, for example from its coordinates.",
    )


def _is_sound(W: Any) -> bool:
    """Can SciPy convert a sparse matrix without reading or writing outside of its arrays?"""
    if W.format == "coo":
        return W.row.shape == W.col.shape == W.data.shape and all(
            _are_below(places, size) for places, size in zip((W.row, W.col), W.shape, strict=True)
        )
    if W.format == "dia":
        return W.data.ndim == 2 and W.offsets.shape == W.data.shape[:1]
    if W.format == "lil":
        return W.rows.shape == W.data.shape == W.shape[:1] and all(
            len(places) == len(values) for places, values in zip(W.rows, W.data, strict=True)
        )
    if W.format not in ("csr", "csc", "bsr"):
        return True
    height, width = W.shape[::-1] if W.format == "csc" else W.shape
    if W.format == "bsr":
        height, width = height // W.data.shape[1], width // W.data.shape[2]
    pointers, indices = W.indptr, W.indices
    return bool(
        pointers.size == height + 1
        and pointers[0] == 0
        and pointers[-1] <= min(indices.size, len(W.data))
        and (np.diff(pointers) >= 0).all()
        and _are_below(indices, width)
    )


def _are_below(places: np.ndarray, size: int) -> bool:
    return places.size == 0 or bool(places.min() >= 0 and places.max() < size)


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
