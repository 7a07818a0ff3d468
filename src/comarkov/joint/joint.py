"""The joint distribution: any nonnegative matrix as canonical CSR, and its transpose."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from ..kernels.matrix import (
    Matrix,
    add_columns,
    add_rows,
    chosen_rows,
    count_by_column,
    group_counts,
    sum_xlogx,
    table_bits_of,
    turn,
)
from .inputs import NO_MASS, named_csr, names
from .machine import in_order
from .parts import PER_COLUMN, count_parts, part_bounds, total
from .scale import FAINTEST, INT32_MAX, Extent, count_unit, scaled, spread_of

Result = TypeVar("Result")
MIN_THREADED_ENTRIES = 1 << 20  # entries for which threads are worth starting


def transposed(matrix: Matrix, columns: int, threads: int = 1) -> Matrix:
    """Return the transpose, its rows grouped like those of the matrix, whatever the threads."""
    nnz, n = matrix.indices.size, matrix.mass.size
    chunks = threads if nnz > max(MIN_THREADED_ENTRIES, PER_COLUMN * columns * threads) else 1
    ranges = list(pairwise(part_bounds(matrix.indptr, chunks)))
    counts = np.zeros((chunks, 3, columns), np.int64)

    def count(i: int) -> None:
        count_by_column(matrix, *ranges[i], counts[i])

    list(in_order(count, range(chunks), chunks))
    by_group = counts.sum(axis=0)
    indptr = np.concatenate([[0], np.cumsum(by_group.sum(axis=0))])
    starts = indptr[:-1] + np.cumsum(by_group, axis=0) - by_group
    cursors = starts + np.cumsum(counts, axis=0) - counts
    indices = np.empty(nnz, index_dtype(n))
    weights = np.empty(nnz, matrix.weights.dtype)

    def write(i: int) -> None:
        turn(matrix, *ranges[i], cursors[i], indices, weights)

    list(in_order(write, range(chunks), chunks))
    ones, twos = by_group[:2].astype(np.int32)
    return Matrix(indptr, indices, weights, ones, twos, row_mass(indptr, weights), matrix.spread)


def index_dtype(dimension: int) -> type[np.unsignedinteger[Any]]:
    """Unsigned, because numba spends time on wrapping signed indices around."""
    return np.uint32 if dimension <= np.iinfo(np.uint32).max else np.uint64


def row_mass(indptr: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the row sums."""
    mass = np.empty(indptr.size - 1)
    add_rows(indptr, weights, mass)
    return mass


MAX_DOUBLE_ENTRIES = 1 << 14  # up to here all weights are float64: fewer kernels to compile


@dataclass(frozen=True, eq=False)
class Joint:
    """A matrix of weights, without explicit zeros or duplicates, ready for the kernels.

    ``matrix`` holds the weights in units of ``scale``, a power of two (see ``units``). They are
    counts if they are whole numbers of it.
    ``T`` is the transpose, made when first asked for, whose own ``T`` is this object.
    """

    matrix: Matrix
    shape: tuple[int, int]
    scale: float
    is_count: bool
    row_names: np.ndarray | None = None
    column_names: np.ndarray | None = None
    threads: int = 1  #: that work on it at the same time, if it is large
    pages: Any = None  #: what gives back the memory of mapped files; None for arrays in memory

    @cached_property
    def nnz(self) -> int:
        """The number of entries."""
        return self.matrix.indices.size

    def release_rows(self, start: int, stop: int) -> None:
        """Give back the memory of rows on disk, which are read again if needed."""
        if self.pages is not None:
            self.pages.release(int(self.matrix.indptr[start]), int(self.matrix.indptr[stop]))

    @cached_property
    def mass_dtype(self) -> type[np.int32 | np.float64]:
        """The type of sums of weights: int32 for weights of that type, else float64."""
        return np.int32 if self.matrix.weights.dtype == np.int32 else np.float64

    @cached_property
    def spread(self) -> float:
        """A bound on |ln v| + 1 over all sums v of weights."""
        return self.matrix.spread

    @cached_property
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
        sums = self._of_parts(lambda part: float(sum_xlogx(part.weights)))
        return table_bits_of(total(sums, operator.add), self.row_mass, self.column_mass)

    @cached_property
    def digest(self) -> str:
        """A digest of all entries, equal for the same matrix in memory, on disk and on workers."""
        whole = hashlib.sha256(f"{self.shape} {self.scale!r}".encode())
        for arrays in self._of_parts(lambda part: (part.indptr, part.indices, part.weights)):
            part = hashlib.sha256()
            for array in arrays:
                part.update(np.ascontiguousarray(array).data)
            whole.update(part.digest())
        return whole.hexdigest()

    def _of_parts(self, work: Callable[[Matrix], Result]) -> Iterator[Result]:
        """Yield the results of work on the entries of each part of the rows."""
        matrix = self.matrix
        bounds = part_bounds(matrix.indptr, count_parts(self.nnz, self.shape[1]))
        for start, stop in pairwise(bounds):
            first, last = matrix.indptr[[start, stop]]
            yield work(
                matrix._replace(
                    indptr=matrix.indptr[start : stop + 1] - first,
                    indices=matrix.indices[first:last],
                    weights=matrix.weights[first:last],
                )
            )
            self.release_rows(start, stop)

    @cached_property
    def T(self) -> Joint:  # noqa: N802, as in NumPy
        """The transpose."""
        matrix = transposed(self.matrix, self.shape[1], self.threads)
        turned = replace(self, matrix=matrix, shape=self.shape[::-1])
        return linked(with_names(turned, self.column_names, self.row_names), self)

    def compute(self, work: Callable[[Joint, Any], Result], run: Any) -> Result:
        """Return work(this matrix, run), which may be done where the matrix is."""
        return work(self, run)

    def close(self) -> None:
        """Let go of what other processes hold of the matrix, which cannot be used any more."""

    def with_threads(self, threads: int) -> Joint:
        """This matrix for another number of threads."""
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

    @property
    def unscaled(self) -> sp.csr_array:
        """The matrix in the unit of the data, which may take memory for the weights."""
        csr = self.csr
        if self.scale == 1.0:
            return csr
        return sp.csr_array((csr.data * self.scale, csr.indices, csr.indptr), self.shape)

    def subset(self, rows: np.ndarray, squeeze: bool = True) -> Joint:
        """These rows, with all columns or, to ``squeeze``, only those in which they have mass."""
        chosen = chosen_rows(self.matrix, rows)
        present = np.full(self.shape[1], not squeeze)
        present[chosen.indices] = True
        dtype = chosen.indices.dtype
        number = np.cumsum(present, dtype=dtype) - dtype.type(1)
        matrix = chosen._replace(indices=number[chosen.indices])
        return Joint(matrix, (rows.size, int(present.sum())), self.scale, self.is_count)


def linked(matrix: Joint, transpose: Joint) -> Joint:
    """A matrix that knows its transpose, which is not computed then."""
    matrix.__dict__["T"], transpose.__dict__["T"] = transpose, matrix
    return matrix


def joint(W: Any, scale: float | None = None, small: int | None = None) -> Joint:
    """Read a nonnegative matrix of weights: rows are samples.

    W is what ``fit`` takes, and never modified. Whole numbers are treated as counts, whatever their
    type; so are multiples of any power of two. With a ``scale`` the matrix is read as new rows of
    another: its weights are in units of ``scale``, are not counts, and may all be 0.

    Numba compiles each kernel once for each type of weights. A matrix of at most ``small`` entries
    (default: MAX_DOUBLE_ENTRIES) is stored as float64, so that small fits share one version.
    Larger counts are stored as int32 and float32 as it comes: both take less memory and time.
    """
    if isinstance(stored := getattr(W, "joint", None), Joint) and scale is None:
        return with_names(stored, *names(W))
    csr, row_names, column_names = named_csr(W)
    if csr.data.size == 0 and scale is None:
        raise ValueError(NO_MASS)
    is_small = csr.data.size <= (MAX_DOUBLE_ENTRIES if small is None else small)
    if is_small:
        csr = sp.csr_array((csr.data.astype(np.float64), csr.indices, csr.indptr), csr.shape)
    is_single = csr.data.dtype == np.float32
    if scale is not None:
        is_single = is_single and Extent.of(csr.data).fits_single(scale)
        matrix = of_weights(csr, scale, is_single, None)
        return Joint(matrix, csr.shape, scale, False, row_names, column_names)
    extent = Extent.of(csr.data)
    counted = count_unit(csr, extent)
    scale = counted or extent.unit
    if counted and not is_small:  # grouped in each row, first those that are 1, then 2
        counts = csr.data if scale == 1.0 else csr.data / scale
        plain = _ungrouped(csr, counts.astype(np.int32, copy=False))
        indices, weights = np.empty_like(plain.indices), np.empty_like(plain.weights)
        matrix = plain._replace(indices=indices, weights=weights)
        group_counts(plain.indptr, plain.indices, plain.weights, matrix)
    else:
        matrix = of_weights(csr, scale, is_single and extent.fits_single(scale))
    return Joint(matrix, csr.shape, scale, counted > 0, row_names, column_names)


def with_names(matrix: Joint, rows: np.ndarray | None, columns: np.ndarray | None) -> Joint:
    """A matrix with other names; its transpose, if it is known, has them, too."""
    named = replace(matrix, row_names=rows, column_names=columns)
    if "T" in matrix.__dict__:
        linked(named, replace(matrix.T, row_names=columns, column_names=rows))
    return named


def of_weights(
    csr: sp.csr_array, unit: float, is_single: bool, least: float | None = FAINTEST
) -> Matrix:
    """Weights in a unit (see ``scaled``), in single or in double precision."""
    weights = _plain(csr.data, np.float32 if is_single else np.float64)
    return _ungrouped(csr, scaled(weights, unit, least))


def _ungrouped(csr: sp.csr_array, weights: np.ndarray) -> Matrix:
    n, m = csr.shape
    indptr = _plain(csr.indptr, np.int64)
    indices = _plain(csr.indices.view(f"u{csr.indices.itemsize}"), index_dtype(m))
    ones, twos = np.zeros(n, np.int32), np.zeros(n, np.int32)
    mass = row_mass(indptr, weights)
    spread = spread_of(weights, mass.sum())
    return Matrix(indptr, indices, weights, ones, twos, mass, spread)


def _plain(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """The array, or a copy if it is read-only, for which numba would compile another version."""
    return np.require(array, dtype, ["C", "W"])


SAMPLE_ENTRIES = 1 << 24  # entries of a sample


class JointSample(NamedTuple):
    """Rows or columns of a matrix with all their entries."""

    data: Joint
    note: str  # about the sample, for people; empty if it is the whole


def sample_of(data: Joint, rng: np.random.Generator, squeeze: bool = True) -> JointSample:
    """Return a matrix, or if large, a sample of its rows, or of its columns if these are more."""
    if data.nnz <= SAMPLE_ENTRIES:
        return JointSample(data, "")
    is_tall = data.shape[0] >= data.shape[1]
    facing = data if is_tall else data.T
    elements = drawn(facing.shape[0], data.nnz, rng)
    part = facing.subset(elements, squeeze=squeeze).with_threads(data.threads)
    what = "rows" if is_tall else "columns"
    note = f"Chosen by a random sample of {elements.size:,} of {facing.shape[0]:,} {what}."
    return JointSample(part if is_tall else part.T, note)


def drawn(elements: int, entries: int, rng: np.random.Generator) -> np.ndarray:
    """Draw elements with about SAMPLE_ENTRIES of all entries, in ascending order."""
    size = max(1, int(elements * SAMPLE_ENTRIES / entries))
    return np.sort(rng.choice(elements, size, replace=False))
