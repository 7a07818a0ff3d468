"""The joint distribution: any nonnegative matrix as canonical CSR, and its transpose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ..kernels.matrix import Matrix, add_columns, add_rows, group_counts, sum_xlogx, transpose
from .inputs import Named, named

INT32_MAX = np.iinfo(np.int32).max
LARGEST = np.finfo(np.float64).max
EXPONENT = np.finfo(np.float64).maxexp - 1  # of the largest power of two
SAFE_OCTAVES = 75  # weights and residues of them this far from 1 are normal in single precision


@dataclass(frozen=True, eq=False)
class Joint:
    """A matrix of weights, without explicit zeros or duplicates, ready for the kernels.

    ``matrix`` holds the weights divided by ``scale``, a power of two that is 1 for counts.
    ``T`` is the transpose, made when first asked for, whose own ``T`` is this object.
    """

    matrix: Matrix
    shape: tuple[int, int]
    scale: float
    is_count: bool
    row_names: np.ndarray | None = None
    column_names: np.ndarray | None = None

    @property
    def row_mass(self) -> np.ndarray:
        """Row sums, in units of ``scale``."""
        return self.matrix.mass

    @cached_property
    def column_mass(self) -> np.ndarray:
        """Column sums, in units of ``scale``."""
        if "T" in self.__dict__:
            return self.T.row_mass
        mass = np.zeros(self.shape[1])
        add_columns(self.matrix.indices, self.matrix.weights, mass)
        return mass

    @cached_property
    def total(self) -> float:
        """The sum of all weights, in units of ``scale``."""
        return float(self.row_mass.sum())

    @cached_property
    def information(self) -> float:
        """I(X;Y) in bits."""
        return bits(self.matrix.weights, self.row_mass, self.column_mass)

    @cached_property
    def T(self) -> Joint:  # noqa: N802, as in NumPy
        """The transpose."""
        n, m = self.shape
        nnz = self.matrix.indices.size
        indptr = np.zeros(m + 1, np.int64)
        indices = np.empty(nnz, _index_dtype(n))
        weights = np.empty(nnz, self.matrix.weights.dtype)
        ones, twos = np.zeros(m, np.int32), np.zeros(m, np.int32)
        transpose(self.matrix, indptr, indices, weights, ones, twos)
        matrix = self.matrix._replace(
            indptr=indptr, indices=indices, weights=weights, ones=ones, twos=twos,
            mass=_row_mass(indptr, weights),
        )  # fmt: skip
        turned = replace(
            self,
            matrix=matrix,
            shape=(m, n),
            row_names=self.column_names,
            column_names=self.row_names,
        )
        turned.__dict__["T"] = self
        return turned

    @property
    def csr(self) -> sp.csr_array:
        """The matrix as SciPy has it, its entries in the order of the kernels; shares memory."""
        matrix = self.matrix
        indices = matrix.indices.view(f"i{matrix.indices.itemsize}")
        return sp.csr_array((matrix.weights, indices, matrix.indptr), self.shape)

    def subset(self, rows: np.ndarray, squeeze: bool = True) -> Joint:
        """Some of the rows; with only those columns in which they have mass, or with all."""
        whole = self.matrix
        counts = np.diff(whole.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(whole.indptr[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        indices = whole.indices[places]
        present = np.full(self.shape[1], not squeeze)
        present[indices] = True
        number = np.cumsum(present, dtype=indices.dtype) - indices.dtype.type(1)
        matrix = Matrix(
            indptr, number[indices], whole.weights[places],
            whole.ones[rows], whole.twos[rows], whole.mass[rows], whole.spread,
        )  # fmt: skip
        return Joint(matrix, (rows.size, int(present.sum())), self.scale, self.is_count)


def joint(W: Any, scale: float | None = None) -> Joint:
    """Read a nonnegative matrix of weights: rows are samples.

    Takes NumPy arrays, every SciPy sparse format, pandas and polars data frames, and what holds a
    matrix with names: :class:`Data`, AnnData, networkx bipartite graphs. The input is never
    modified. Weights that are whole numbers, whatever their type, count as counts.

    With a ``scale`` the matrix is read as rows to be added to another: its weights stay
    weights, in units of ``scale``, and it may be empty of mass.
    """
    row_names, column_names = names(W)
    csr = as_csr(W)
    if csr.data.size == 0 and scale is None:
        raise ValueError("The matrix has no mass: all its entries are zero.")
    n, m = csr.shape
    indptr = _plain(csr.indptr, np.int64)
    indices = _plain(_unsigned(csr.indices, m))
    ones, twos = np.zeros(n, np.int32), np.zeros(n, np.int32)
    is_count = scale is None and holds_counts(csr)
    if is_count:
        scale, weights = 1.0, csr.data.astype(np.int32)
        grouped = Matrix(
            indptr, np.empty_like(indices), np.empty_like(weights), ones, twos, np.empty(0), 0.0
        )
        group_counts(indptr, indices, weights, grouped)
        indices, weights = grouped.indices, grouped.weights
    else:
        if scale is None:
            scale = _scale_of(csr.data)
        if scale == 1.0 and csr.data.dtype == np.float32:
            weights = _plain(csr.data)
        else:
            weights = _scaled(_plain(csr.data, np.float64), scale)
    mass = _row_mass(indptr, weights)
    spread = spread_of(weights, mass.sum())
    matrix = Matrix(indptr, indices, weights, ones, twos, mass, spread)
    return Joint(matrix, (n, m), scale, is_count, row_names, column_names)


def bits(cells: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> float:
    """Mutual information in bits of a table of masses: its positive cells and its two margins."""
    total = rows.sum()
    nats = sum_xlogx(cells.ravel()) - sum_xlogx(rows) - sum_xlogx(columns) + total * np.log(total)
    return max(float(nats / total / np.log(2)), 0.0)


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


def as_csr(W: Any) -> sp.csr_array:
    """Check a matrix of weights and read it as canonical CSR."""
    held = named(W)
    return _canonical(_checked(W if held is None else held.matrix))


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


def _check_same_columns(estimator: Any, held: Named) -> None:
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


def _checked(W: Any) -> Any:
    """A 2-D numeric array or sparse array, or an error that says what to do."""
    if sp.issparse(W) and W.ndim == 2:
        if W.format in ("coo", "bsr"):  # whose conversion adds duplicates up, in their own type
            W = W.astype(np.float64)
        W = W.tocsr()
    elif np.ma.isMaskedArray(W):
        raise ValueError("Masked arrays are not taken: fill the gaps, for example X.filled(0).")
    array = check_array(
        W, accept_sparse="csr", accept_large_sparse=True, dtype="numeric",
        ensure_all_finite=False, input_name="X",
    )  # fmt: skip
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        with np.errstate(over="ignore"):
            array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    values = array.data if sp.issparse(array) else array
    if values.size == 0:
        return array
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
    return array


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


def holds_counts(csr: sp.csr_array) -> bool:
    """Are all weights whole numbers, and all sums of them small enough for the integer kernel?"""
    data = csr.data
    if data.dtype.kind == "f" and not (data == np.floor(data)).all():
        return False
    if data.sum(dtype=np.float64) <= INT32_MAX:
        return True
    return all(csr.sum(axis=axis, dtype=np.float64).max() <= INT32_MAX for axis in (0, 1))


def _scaled(weights: np.ndarray, scale: float) -> np.ndarray:
    if scale == 1.0 or weights.size == 0:
        return weights
    with np.errstate(over="ignore", under="ignore"):
        scaled = weights / scale
    if scaled.min() == 0 or np.isinf(scaled.max()):
        raise ValueError(
            f"The weights differ too much for one table, from {weights.min():g} to "
            f"{weights.max():g}: drop the smallest, or bring new data to the scale of the fit."
        )
    return scaled


def _scale_of(data: np.ndarray) -> float:
    """1 if single precision can reach all sums of the weights, else their geometric mean."""
    low, high = np.log2(np.float64(data.min())), np.log2(np.float64(data.max()))
    if max(abs(low), abs(high + np.log2(data.size))) <= SAFE_OCTAVES:
        return 1.0
    return float(2.0 ** min(np.rint(np.log2(data).mean()), EXPONENT))


def _index_dtype(dimension: int) -> type[np.unsignedinteger[Any]]:
    """Unsigned, because numba wraps signed indices around at a price."""
    return np.uint32 if dimension <= np.iinfo(np.uint32).max else np.uint64


def _unsigned(indices: np.ndarray, dimension: int) -> np.ndarray:
    dtype = _index_dtype(dimension)
    if indices.itemsize == np.dtype(dtype).itemsize:
        return indices.view(dtype)
    return indices.astype(dtype)


def _plain(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """The array itself if it can be, else a copy: numba compiles anew for read-only arrays."""
    return np.require(array, dtype, ["C", "W"])


def _row_mass(indptr: np.ndarray, weights: np.ndarray) -> np.ndarray:
    mass = np.empty(indptr.size - 1)
    add_rows(indptr, weights, mass)
    return mass


def spread_of(weights: np.ndarray, total: float) -> float:
    """A bound on |ln v| + 1 for what tables can hold; infinite if out of single precision."""
    if weights.size == 0 or total == 0:
        return 1.0
    octaves = max(abs(np.log2(weights.min())), abs(np.log2(total)))
    return float(octaves * np.log(2) + 1) if octaves <= SAFE_OCTAVES else np.inf
