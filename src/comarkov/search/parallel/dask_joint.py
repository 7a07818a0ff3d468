"""A joint distribution whose parts are on the workers of a Dask cluster."""

from __future__ import annotations

import logging
import operator
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ...joint.inputs import NO_MASS
from ...joint.joint import MAX_DOUBLE_ENTRIES, Joint, of_counts, of_weights, part_digest
from ...joint.scale import FAINTEST, Extent, spread_of
from ...kernels.matrix import Matrix, sum_xlogx, table_bits_of
from .dask_client import Task
from .dask_parts import Parts, joined


class Facts(NamedTuple):
    """What is known of the entries of some bands of rows together."""

    shape: tuple[int, int]
    entries: np.ndarray  # int64 (columns,): their number in each column
    sums: np.ndarray  # float64 (columns,): of the entries
    extent: Extent
    dtype: np.dtype[Any]

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return int(self.entries.sum())

    def joined(self, other: Facts) -> Facts:
        """Return the facts of both together: one lies above the other."""
        if self.shape[1] != other.shape[1]:
            raise ValueError(
                f"Blocks of X have {self.shape[1]:,} and {other.shape[1]:,} columns. Give all rows "
                "the same columns."
            )
        return Facts(
            (self.shape[0] + other.shape[0], self.shape[1]),
            self.entries + other.entries,
            self.sums + other.sums,
            self.extent.union(other.extent),
            np.result_type(self.dtype, other.dtype),
        )


def facts_of(band: sp.csr_array) -> Facts:
    """Return what is known of the entries of a band."""
    return Facts(
        band.shape,
        np.bincount(band.indices, minlength=band.shape[1]),
        np.asarray(band.sum(axis=0, dtype=np.float64)),
        Extent.of(band.data),
        band.data.dtype,
    )


class Form(NamedTuple):
    """How weights are stored: that which ``joint`` chooses for the same matrix."""

    is_count: bool
    dtype: np.dtype[Any]  # of the weights
    scale: float
    spread: float = np.nan  # known when the masses of all rows are


def form_of(facts: Facts, row_sums: np.ndarray) -> Form:
    """Return the form of a matrix."""
    nnz, extent = facts.nnz, facts.extent
    if nnz == 0:
        raise ValueError(NO_MASS)
    is_count = extent.are_counts(facts.sums.sum, lambda: max(row_sums.max(), facts.sums.max()))
    scale = extent.divisor if is_count else extent.unit
    if nnz <= MAX_DOUBLE_ENTRIES:
        dtype: type = np.float64
    elif is_count:
        dtype = np.int32
    else:
        is_single = facts.dtype == np.float32 and extent.fits_single(scale)
        dtype = np.float32 if is_single else np.float64
    return Form(is_count, np.dtype(dtype), scale)


def form_of_joint(whole: Joint) -> Form:
    """Return the form of a matrix in memory or on disk."""
    return Form(whole.is_count, whole.matrix.weights.dtype, whole.scale, whole.spread)


def with_spread(form: Form, low: float, masses: np.ndarray) -> Form:
    """Return the form with the spread of all weights and sums."""
    least = np.array([max(low / form.scale, FAINTEST)], form.dtype)
    return form._replace(spread=spread_of(least, masses.sum()))


def formed(rows: sp.csr_array, form: Form) -> Matrix:
    """Return rows as the kernels take them."""
    if form.dtype == np.int32:
        matrix = of_counts(rows, form.scale)
    else:
        matrix = of_weights(rows, form.scale, form.dtype == np.float32)
    return matrix._replace(spread=form.spread)


ROW_BYTES = 24  # bytes, beside those of its entries


class DaskSide(NamedTuple):
    """The rows of a matrix: their parts, masses and names."""

    parts: Parts
    mass: np.ndarray
    names: np.ndarray | None = None


class ClusterJoint(Joint):
    """A :class:`Joint` whose parts are on workers. Rows and columns are partitioned once.

    What needs the whole matrix in one place gathers it: ``matrix`` logs how much memory that takes,
    and is an error if this machine has less.
    """

    def __init__(self, rows: DaskSide, columns: DaskSide, form: Form) -> None:
        self.__dict__.update(  # frozen for all others
            rows=rows,
            columns=columns,
            form=form,
            shape=(rows.mass.size, columns.mass.size),
            scale=form.scale,
            is_count=form.is_count,
            row_names=rows.names,
            column_names=columns.names,
            column_mass=columns.mass,
        )

    def __repr__(self) -> str:
        n, m = self.shape
        return f"ClusterJoint({n:,} rows x {m:,} columns, {self.nnz:,} entries)"

    @property
    def parts(self) -> Parts:
        """The parts of the rows."""
        side: DaskSide = self.__dict__["rows"]
        return side.parts

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return int(self.parts.indptr[-1])

    @property
    def mass_dtype(self) -> type[np.int32 | np.float64]:
        """The type of sums of weights: int32 for weights of that type, else float64."""
        return np.int32 if self._form.dtype == np.int32 else np.float64

    @property
    def spread(self) -> float:
        """A bound on |ln v| + 1 over all sums v of weights."""
        return self._form.spread

    @property
    def row_mass(self) -> np.ndarray:
        """Row sums, in units of ``scale``."""
        side: DaskSide = self.__dict__["rows"]
        return side.mass

    @cached_property
    def information(self) -> float:
        """I(X;Y) in bits."""
        cluster = self.parts.cluster

        def start() -> list[Task]:
            return [cluster.reduced(operator.add, cluster.map(_sum_xlogx, self.parts.futures))]

        (cells,) = self.parts.results(start) or [0.0]
        return table_bits_of(cells, self.row_mass, self.column_mass)

    @cached_property
    def digest(self) -> str:
        """A digest of all entries, equal for the same matrix in memory, on disk and on workers."""
        cluster = self.parts.cluster
        parts = self.parts.results(lambda: cluster.map(part_digest, self.parts.futures))
        return self.joined_digest(parts or [])

    @cached_property
    def T(self) -> Self:  # noqa: N802, as in NumPy
        """The transpose."""
        turned = type(self)(self.__dict__["columns"], self.__dict__["rows"], self._form)
        turned.__dict__["T"] = self
        return turned

    @cached_property
    def matrix(self) -> Matrix:
        """The whole matrix, in the memory of this process."""
        return self.gather().matrix

    def gather(self) -> Joint:
        """Return the whole in the memory of this process, after a message with what it takes.

        A matrix of only one part is so small that there is nothing to say.
        """
        check_memory(self.gathered_bytes, is_announced=len(self.parts.futures) > 1)
        matrix = joined(self.parts.results(lambda: self.parts.futures) or [])
        return Joint(
            matrix, self.shape, self.scale, self.is_count, self.row_names, self.column_names
        )

    def subset(self, rows: np.ndarray, squeeze: bool = True) -> Joint:
        """These rows, with all columns or, to ``squeeze``, only those in which they have mass."""
        matrix, places = self.parts.rows(rows)
        chosen = Joint(matrix, (rows.size, self.shape[1]), self.scale, self.is_count)
        return chosen.subset(places, squeeze)

    def with_threads(self, threads: int) -> Self:
        """Return this matrix: its workers have threads of their own."""
        return self

    @property
    def gathered_bytes(self) -> int:
        """The memory that the whole matrix takes in one place, without its transpose."""
        per_entry = self._form.dtype.itemsize + (4 if self.shape[1] < 1 << 32 else 8)
        return self.nnz * per_entry + self.shape[0] * ROW_BYTES

    @property
    def _form(self) -> Form:
        form: Form = self.__dict__["form"]
        return form


def check_memory(needed: int, is_announced: bool) -> None:
    """Raise an error if gathering a matrix takes more memory than there is; announce it if not."""
    import psutil  # which Dask requires

    size = f"{needed / 2**30:.2g} GB" if needed >= 2**30 else f"{needed / 2**20:.2g} MB"
    available = psutil.virtual_memory().available
    if needed > available:
        raise MemoryError(
            f"This step gathers the matrix from the Dask workers in one place, which takes {size}, "
            f"but this machine has {available / 2**30:.2g} GB left. Run it on a larger machine, or "
            "set n_clusters=(20, 20) and beta=0.7, which need no such step."
        )
    if is_announced:
        logging.getLogger("comarkov").warning(
            "The matrix is gathered from the Dask workers in one place, which takes %s of memory.",
            size,
        )


def _sum_xlogx(part: Matrix) -> float:
    return float(sum_xlogx(part.weights))
