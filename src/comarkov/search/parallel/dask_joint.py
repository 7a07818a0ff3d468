"""A joint distribution whose parts are on the workers of a Dask cluster."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from ...joint.inputs import NO_MASS
from ...joint.joint import MAX_DOUBLE_ENTRIES, Joint, of_counts, of_weights, part_digest
from ...joint.parts import count_parts, part_bounds, total
from ...joint.scale import FAINTEST, Extent, spread_of
from ...kernels.matrix import Matrix, sum_xlogx, table_bits_of
from .dask_client import Cluster, Task
from .worker import placed_rows

Result = TypeVar("Result")


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


@dataclass(eq=False)
class Parts:
    """Tasks whose results are the parts of a matrix, which stay on their workers.

    ``source`` is the matrix if it is in the memory of this process: parts are sent again if their
    worker is lost. Without it the scheduler computes lost parts again.
    """

    cluster: Cluster
    bounds: np.ndarray  # part p has the rows from bounds[p] to bounds[p + 1]
    futures: list[Task]
    source: Joint | None = None

    def gathered(self) -> list[Matrix]:
        """Return all parts in this process."""
        self.restore()
        return aligned(self.cluster.gather(self.futures))

    def rows(self, numbers: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Return a matrix in this process that has these rows, and where they are in it."""
        self.restore()
        chosen, places = placed_rows(self.bounds, numbers)
        tasks = [
            self.cluster.submit(chosen_rows, *both)
            for both in zip(self.futures, chosen, strict=True)
        ]
        return joined(aligned(self.cluster.results(tasks))), places

    def restore(self) -> bool:
        """Send lost parts again; return whether there were any."""
        lost = [p for p, future in enumerate(self.futures) if future.status == "cancelled"]
        if self.source is None or not lost:
            return False
        self.cluster.refresh()
        for p in lost:
            self.futures[p] = self.sent(p)
        return True

    def sent(self, p: int) -> Task:
        """Send a part to the worker that is likely to compute it."""
        assert self.source is not None
        rows = rows_between(self.source.matrix, int(self.bounds[p]), int(self.bounds[p + 1]))
        return self.cluster.scatter(rows, p / (self.bounds.size - 1))


def sent_parts(source: Joint, cluster: Cluster) -> Parts:
    """Send the parts of a matrix in memory to workers."""
    bounds = bounds_of(source.matrix.indptr, source.shape[1])
    parts = Parts(cluster, bounds, [], source)
    parts.futures = [parts.sent(p) for p in range(bounds.size - 1)]
    return parts


class DaskSide(NamedTuple):
    """The rows of a matrix: where their parts begin and end, their masses and names."""

    bounds: np.ndarray
    mass: np.ndarray
    names: np.ndarray | None = None
    parts: Parts | None = None  # None on a worker


class ClusterJoint(Joint):
    """A :class:`Joint` whose parts are on workers. Rows and columns are partitioned once.

    What needs the whole matrix in one place gathers it: ``matrix`` logs how much memory that takes,
    and is an error if this machine has less.
    """

    def __init__(self, rows: DaskSide, columns: DaskSide, form: Form, nnz: int) -> None:
        self.__dict__.update(  # frozen for all others
            rows=rows,
            columns=columns,
            form=form,
            entries=nnz,
            shape=(rows.mass.size, columns.mass.size),
            scale=form.scale,
            is_count=form.is_count,
            row_names=rows.names,
            column_names=columns.names,
            column_mass=columns.mass,
        )

    def __reduce__(self) -> Any:
        """Only what workers need: no names, and no tasks."""
        own = self.__dict__
        sides = (own[side]._replace(names=None, parts=None) for side in ("rows", "columns"))
        return type(self), (*sides, self.form, self.nnz)

    def __repr__(self) -> str:
        n, m = self.shape
        return f"ClusterJoint({n:,} rows x {m:,} columns, {self.nnz:,} entries)"

    form: Form

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return int(self.__dict__["entries"])

    @property
    def parts(self) -> Parts:
        """The parts of the rows, for the process of the client."""
        parts: Parts = self.__dict__["rows"].parts
        return parts

    @property
    def bounds(self) -> np.ndarray:
        """Where parts of the rows begin and end."""
        bounds: np.ndarray = self.__dict__["rows"].bounds
        return bounds

    @property
    def mass_dtype(self) -> type[np.int32 | np.float64]:
        """The type of sums of weights: int32 for weights of that type, else float64."""
        return np.int32 if self.form.dtype == np.int32 else np.float64

    @property
    def spread(self) -> float:
        """A bound on |ln v| + 1 over all sums v of weights."""
        return self.form.spread

    @property
    def row_mass(self) -> np.ndarray:
        """Row sums, in units of ``scale``."""
        mass: np.ndarray = self.__dict__["rows"].mass
        return mass

    @cached_property
    def information(self) -> float:
        """I(X;Y) in bits."""
        if "worker" not in self.__dict__:
            return self.gather().information
        sums = self._worker.map(_sum_xlogx, [()] * (self.bounds.size - 1))
        return table_bits_of(total(sums, operator.add), self.row_mass, self.column_mass)

    @cached_property
    def digest(self) -> str:
        """A digest of all entries, equal for the same matrix in memory, on disk and on workers."""
        cluster = self.parts.cluster
        self.parts.restore()
        return self.joined_digest(cluster.results(cluster.map(part_digest, self.parts.futures)))

    @cached_property
    def T(self) -> Self:  # noqa: N802, as in NumPy
        """The transpose."""
        turned = type(self)(self.__dict__["columns"], self.__dict__["rows"], self.form, self.nnz)
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
        count = self.bounds.size - 1
        check_memory(self.gathered_bytes, is_announced=count > 1)
        if "worker" in self.__dict__:
            every = list(self._worker.map(_itself, [()] * count))
        else:
            every = self.parts.gathered()
        names = self.row_names, self.column_names
        return Joint(joined(every), self.shape, self.scale, self.is_count, *names)

    def subset(self, rows: np.ndarray, squeeze: bool = True) -> Joint:
        """These rows, with all columns or, to ``squeeze``, only those in which they have mass."""
        matrix, places = self.__dict__.get("worker", self.parts).rows(rows)
        n = matrix.mass.size
        chosen = Joint(matrix, (n, self.shape[1]), self.scale, self.is_count)
        return chosen.subset(places, squeeze)

    def compute(self, work: Callable[[Joint, Any], Result], run: Any) -> Result:
        """Return work(this matrix, run), done by all workers that have parts of it."""
        from .dask_fit import compute  # which needs this module

        return compute(self, work, run)

    def close(self) -> None:
        """Let workers forget the matrix, which cannot be used any more."""
        for side in (self, self.T):
            side.parts.futures.clear()

    def with_threads(self, threads: int) -> Self:
        """Return this matrix: its workers have threads of their own."""
        return self

    @property
    def gathered_bytes(self) -> int:
        """The memory that the whole matrix takes in one place, without its transpose."""
        per_entry = self.form.dtype.itemsize + (4 if self.shape[1] < 1 << 32 else 8)
        return self.nnz * per_entry + self.shape[0] * ROW_BYTES

    @property
    def _worker(self) -> Any:
        """What computes parts in this process, which is one of the cluster's."""
        return self.__dict__["worker"]


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


def _itself(part: Matrix) -> Matrix:
    return part


def aligned(value: Any) -> Any:
    """Return an array, or a tuple of arrays, as numba wants it.

    Arrays that come from other processes may begin at any byte. Numba would compile kernels for
    these again, and they would be slow.
    """
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["A", "C", "W"])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(aligned, value))
    return [aligned(each) for each in value] if isinstance(value, list) else value


def chosen_rows(part: Matrix, positions: np.ndarray) -> Matrix:
    """Return some rows of a part."""
    counts = np.diff(part.indptr)[positions]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    places = np.repeat(part.indptr[positions] - indptr[:-1], counts) + np.arange(indptr[-1])
    return part._replace(
        indptr=indptr,
        indices=part.indices[places],
        weights=part.weights[places],
        ones=part.ones[positions],
        twos=part.twos[positions],
        mass=part.mass[positions],
    )


def bounds_of(indptr: np.ndarray, columns: int) -> np.ndarray:
    """Return where parts begin and end: as for the same matrix in memory."""
    return part_bounds(indptr, count_parts(int(indptr[-1]), columns))


def rows_between(matrix: Matrix, start: int, stop: int) -> Matrix:
    """Return a copy of a range of rows."""
    first, last = int(matrix.indptr[start]), int(matrix.indptr[stop])
    return matrix._replace(
        indptr=matrix.indptr[start : stop + 1] - first,
        indices=np.array(matrix.indices[first:last]),
        weights=np.array(matrix.weights[first:last]),
        ones=np.array(matrix.ones[start:stop]),
        twos=np.array(matrix.twos[start:stop]),
        mass=np.array(matrix.mass[start:stop]),
    )


def joined(parts: Sequence[Matrix]) -> Matrix:
    """Return the whole matrix of parts that lie above each other."""
    starts = np.cumsum([0, *(part.indices.size for part in parts)])
    indptr = [part.indptr[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    fields = ("indices", "weights", "ones", "twos", "mass")
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    return Matrix(np.concatenate([*indptr, starts[-1:]]), spread=parts[0].spread, **arrays)
