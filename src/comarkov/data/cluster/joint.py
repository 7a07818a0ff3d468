"""A joint distribution whose parts are on the workers of a cluster."""

from __future__ import annotations

import logging
import operator
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from ...kernels.matrix import Matrix, sum_xlogx
from ..joint import Joint, bits_of
from .client import Task
from .forms import Form
from .parts import Parts, joined

PER_ROW = 24  # bytes, beside those of its entries


class Side(NamedTuple):
    """The rows of a matrix: their parts, masses and names."""

    parts: Parts
    mass: np.ndarray
    names: np.ndarray | None = None


class ClusterJoint(Joint):
    """The same as a :class:`Joint`, in parts on workers. Rows and columns are partitioned once.

    What needs the whole matrix in one place gathers it: ``matrix`` logs how much memory that takes,
    and is an error if this machine has less.
    """

    def __init__(self, rows: Side, columns: Side, form: Form) -> None:
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
        side: Side = self.__dict__["rows"]
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
        side: Side = self.__dict__["rows"]
        return side.mass

    @cached_property
    def information(self) -> float:
        """I(X;Y) in bits."""
        cluster = self.parts.cluster

        def start() -> list[Task]:
            return [cluster.reduced(operator.add, cluster.map(_sum_xlogx, self.parts.futures))]

        (cells,) = self.parts.results(start) or [0.0]
        return bits_of(cells, self.row_mass, self.column_mass)

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
        """The same matrix: its workers have threads of their own."""
        return self

    @property
    def gathered_bytes(self) -> int:
        """The memory that the whole matrix takes in one place, without its transpose."""
        per_entry = self._form.dtype.itemsize + (4 if self.shape[1] < 1 << 32 else 8)
        return self.nnz * per_entry + self.shape[0] * PER_ROW

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
