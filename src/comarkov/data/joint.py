"""The joint distribution: any nonnegative matrix as canonical CSR, and its transpose."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from ..kernels.matrix import Matrix, add_columns, group_counts, sum_xlogx
from .changes import total
from .inputs import named_csr, names
from .parts import count_parts, part_bounds
from .transposing import index_dtype, row_mass, transposed

INT32_MAX = np.iinfo(np.int32).max
EXPONENT = np.finfo(np.float64).maxexp - 1  # of the largest power of two
SMALL = 1 << 14  # entries up to which all weights are float64: fewer kernels to compile
SAFE_OCTAVES = 75  # weights and residues of them this far from 1 are normal in single precision
RANGE = 499  # octaves to both sides of 1 in which ratios and products of two weights are numbers
FAINTEST = 2.0**-500  # smaller weights are raised to it: no cost can tell beside the largest


class Pages(Protocol):
    """The memory of arrays that are mapped from files."""

    def release(self, start: int, stop: int) -> None:
        """Give back the memory of the entries from start to stop."""


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
    threads: int = 1  #: that work on it at the same time, if it is large
    pages: Pages | None = None  #: None for arrays in memory

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return self.matrix.indices.size

    def release_rows(self, start: int, stop: int) -> None:
        """Give back the memory of rows on disk, which are read again if needed."""
        if self.pages is not None:
            self.pages.release(int(self.matrix.indptr[start]), int(self.matrix.indptr[stop]))

    @property
    def mass_dtype(self) -> type[np.int32 | np.float64]:
        """The type of sums of weights: int32 for weights of that type, else float64."""
        return np.int32 if self.matrix.weights.dtype == np.int32 else np.float64

    @property
    def spread(self) -> float:
        """A bound on |ln v| + 1 over all sums v of weights."""
        return self.matrix.spread

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
        bounds = part_bounds(self.matrix.indptr, count_parts(self.nnz, self.shape[1]))

        def of_rows(start: int, stop: int) -> float:
            first, last = self.matrix.indptr[[start, stop]]
            value = sum_xlogx(self.matrix.weights[first:last])
            self.release_rows(start, stop)
            return float(value)

        sums = (of_rows(*rows) for rows in pairwise(bounds))
        return bits_of(total(sums, operator.add), self.row_mass, self.column_mass)

    @cached_property
    def T(self) -> Joint:  # noqa: N802, as in NumPy
        """The transpose."""
        n, m = self.shape
        matrix = transposed(self.matrix, m, self.threads)
        turned = replace(
            self,
            matrix=matrix,
            shape=(m, n),
            row_names=self.column_names,
            column_names=self.row_names,
        )
        return linked(turned, self)

    def with_threads(self, threads: int) -> Joint:
        """The same matrix for another number of threads."""
        other = replace(self, threads=threads)
        if "T" in self.__dict__:
            linked(other, replace(self.T, threads=threads))
        return other

    @property
    def csr(self) -> sp.csr_array:
        """The matrix as a SciPy array that shares memory; entries are in the kernels' order."""
        matrix = self.matrix
        indices = matrix.indices.view(f"i{matrix.indices.itemsize}")
        indptr = matrix.indptr
        if indices.size <= INT32_MAX:  # else SciPy would copy the indices to the type of indptr
            indptr = indptr.astype(indices.dtype)
        return sp.csr_array((matrix.weights, indices, indptr), self.shape)

    def subset(self, rows: np.ndarray, squeeze: bool = True) -> Joint:
        """These rows, with all columns or, to ``squeeze``, only those in which they have mass."""
        whole = self.matrix
        counts = np.diff(whole.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(whole.indptr[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        indices = whole.indices[places]
        present = np.full(self.shape[1], not squeeze)
        present[indices] = True
        number = np.cumsum(present, dtype=indices.dtype) - indices.dtype.type(1)
        ones, twos, mass = (array[rows] for array in (whole.ones, whole.twos, whole.mass))
        weights = whole.weights[places]
        matrix = Matrix(indptr, number[indices], weights, ones, twos, mass, whole.spread)
        return Joint(matrix, (rows.size, int(present.sum())), self.scale, self.is_count)


def linked(matrix: Joint, transpose: Joint) -> Joint:
    """A matrix that knows its transpose, which is not computed then."""
    matrix.__dict__["T"], transpose.__dict__["T"] = transpose, matrix
    return matrix


def joint(W: Any, scale: float | None = None, small: int | None = None) -> Joint:
    """Read a nonnegative matrix of weights: rows are samples.

    W may be a NumPy array, a SciPy sparse matrix of any format, a pandas or polars data frame, or
    an object with a matrix and names: :class:`Data`, AnnData, a networkx bipartite graph. It is
    never modified. Whole numbers are treated as counts, whatever their type.

    With a ``scale`` the matrix is read as new rows of another: its weights are in units of
    ``scale``, are not treated as counts, and may all be 0.

    Numba compiles each kernel once for each type of weights. A matrix of at most ``small`` entries
    (default: SMALL) is stored as float64, whatever it holds, so that small fits share one version.
    Larger counts are stored as int32 and float32 as it comes: both take less memory and time.
    """
    if isinstance(stored := getattr(W, "joint", None), Joint) and scale is None:
        return with_names(stored, *names(W))
    csr, row_names, column_names = named_csr(W)
    if csr.data.size == 0 and scale is None:
        raise ValueError("The matrix has no mass: all its entries are zero.")
    is_new = scale is not None
    is_small = csr.data.size <= (SMALL if small is None else small)
    is_count = scale is None and holds_counts(csr)
    if is_small:
        csr = sp.csr_array((csr.data.astype(np.float64), csr.indices, csr.indptr), csr.shape)
    if is_count and not is_small:
        scale, matrix = 1.0, of_counts(csr)
    else:
        scale = scale_of(Extent.of(csr.data)) if scale is None else scale
        matrix = of_weights(csr, scale, None if is_new else FAINTEST)
    return Joint(matrix, csr.shape, scale, is_count, row_names, column_names)


def with_names(matrix: Joint, rows: np.ndarray | None, columns: np.ndarray | None) -> Joint:
    """The same matrix with other names; its transpose, if it is known, too."""
    named = replace(matrix, row_names=rows, column_names=columns)
    if "T" in matrix.__dict__:
        linked(named, replace(matrix.T, row_names=columns, column_names=rows))
    return named


def of_counts(csr: sp.csr_array) -> Matrix:
    """Counts as the kernels need them: grouped in each row, first those that are 1, then 2."""
    matrix = _ungrouped(csr, csr.data.astype(np.int32, copy=False))
    grouped = matrix._replace(
        indices=np.empty_like(matrix.indices), weights=np.empty_like(matrix.weights)
    )
    group_counts(matrix.indptr, matrix.indices, matrix.weights, grouped)
    return grouped


def of_weights(csr: sp.csr_array, scale: float, least: float | None = FAINTEST) -> Matrix:
    """Weights in units of ``scale`` (see ``scaled``), in single precision if the input is."""
    if scale == 1.0 and csr.data.dtype == np.float32:
        return _ungrouped(csr, _plain(csr.data))
    return _ungrouped(csr, scaled(_plain(csr.data, np.float64), scale, least))


def _ungrouped(csr: sp.csr_array, weights: np.ndarray) -> Matrix:
    n, m = csr.shape
    indptr = _plain(csr.indptr, np.int64)
    indices = _plain(_unsigned(csr.indices, m))
    ones, twos = np.zeros(n, np.int32), np.zeros(n, np.int32)
    mass = row_mass(indptr, weights)
    spread = spread_of(weights, mass.sum())
    return Matrix(indptr, indices, weights, ones, twos, mass, spread)


def bits(cells: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> float:
    """Mutual information in bits of a table of masses: its positive cells and its two margins."""
    return bits_of(sum_xlogx(cells.ravel()), rows, columns)


def bits_of(cells: float, rows: np.ndarray, columns: np.ndarray) -> float:
    """The same if Σ v ln v over all cells v is known."""
    total = rows.sum()
    nats = cells - sum_xlogx(rows) - sum_xlogx(columns) + total * np.log(total)
    return max(float(nats / total / np.log(2)), 0.0)


def holds_counts(csr: sp.csr_array) -> bool:
    """Are all weights whole numbers, and all sums of them small enough for the integer kernel?"""
    data = csr.data
    if data.dtype.kind == "f" and not (data == np.floor(data)).all():
        return False
    if data.sum(dtype=np.float64) <= INT32_MAX:
        return True
    return all(csr.sum(axis=axis, dtype=np.float64).max() <= INT32_MAX for axis in (0, 1))


def scaled(weights: np.ndarray, scale: float, least: float | None = FAINTEST) -> np.ndarray:
    """Weights in units of ``scale``, none below ``least``; without it, relative to the largest.

    An error if some cannot be represented.
    """
    if scale == 1.0 or weights.size == 0:
        return weights
    with np.errstate(over="ignore", under="ignore"):
        quotients = weights / scale
        quotients = np.maximum(quotients, quotients.max() * FAINTEST**2 if least is None else least)
    if quotients.min() == 0 or np.isinf(quotients.max()):
        raise ValueError(
            f"The weights differ too much for one table, from {weights.min():g} to "
            f"{weights.max():g}. Set the smallest to 0, or multiply new data by the factor between "
            "their unit and that of the fit."
        )
    return quotients


class Extent(NamedTuple):
    """How many weights there are, and how large they are."""

    size: int
    least: float
    most: float
    mean_octave: Callable[[], float]  #: of log2 of all weights, which is rarely needed

    @classmethod
    def of(cls, data: np.ndarray) -> Extent:
        """The extent of an array."""
        return cls(data.size, data.min(), data.max(), lambda: float(np.log2(data).mean()))


def scale_of(weights: Extent) -> float:
    """1 if all sums of weights fit into single precision, else their geometric mean."""
    low, high = np.log2(np.float64(weights.least)), np.log2(np.float64(weights.most))
    if max(abs(low), abs(high + np.log2(weights.size))) <= SAFE_OCTAVES:
        return 1.0
    octave = np.clip(weights.mean_octave(), high - RANGE, max(low, high - 2 * RANGE) + RANGE)
    return float(2.0 ** min(np.rint(octave), EXPONENT))


def _unsigned(indices: np.ndarray, dimension: int) -> np.ndarray:
    dtype = index_dtype(dimension)
    if indices.itemsize == np.dtype(dtype).itemsize:
        return indices.view(dtype)
    return indices.astype(dtype)


def _plain(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """The array, or a copy if it is read-only, for which numba would compile another version."""
    return np.require(array, dtype, ["C", "W"])


def spread_of(weights: np.ndarray, total: float) -> float:
    """A bound on |ln v| + 1 for sums v of weights; infinite beyond single precision."""
    if weights.size == 0 or total == 0:
        return 1.0
    return spread_between(weights.min(), total)


def spread_between(least: float, total: float) -> float:
    """The same for weights of which the least and the sum are known."""
    octaves = max(abs(np.log2(least)), abs(np.log2(total)))
    return float(octaves * np.log(2) + 1) if octaves <= SAFE_OCTAVES else np.inf
