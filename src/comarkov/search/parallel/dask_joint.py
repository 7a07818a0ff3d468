"""Joint distributions in parts: as the client has them, and as a peer on a worker does."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from ...joint.joint import Joint, linked
from ...joint.parts import count_parts, part_bounds, total
from ...kernels.matrix import Matrix, sum_xlogx, table_bits_of
from .dask_client import Cluster, Task

Result = TypeVar("Result")


class SentParts:
    """The parts of a matrix that this process has, sent to workers, and again if one is lost."""

    def __init__(self, source: Joint, cluster: Cluster) -> None:
        indptr, columns = source.matrix.indptr, source.shape[1]
        #: part p has the rows from bounds[p] to bounds[p + 1], as in memory
        self.bounds = part_bounds(indptr, count_parts(int(indptr[-1]), columns))
        self.source, self.cluster = source, cluster
        self.futures = [self._send(p) for p in range(self.bounds.size - 1)]

    def restore(self) -> None:
        """Send lost parts again."""
        lost = [p for p, future in enumerate(self.futures) if future.status == "cancelled"]
        if lost:
            self.cluster.refresh()
        for p in lost:
            self.futures[p] = self._send(p)

    def _send(self, p: int) -> Task:
        """Send a part to the worker that is likely to compute it."""
        start, stop = int(self.bounds[p]), int(self.bounds[p + 1])
        rows = rows_between(self.source.matrix, start, stop)
        self.source.release_rows(start, stop)
        return self.cluster.scatter(rows, p / (self.bounds.size - 1))


class DaskJoint(Joint):
    """A matrix in memory, or mapped from disk, whose parts are on workers, too: they fit it."""

    sides: tuple[SentParts, SentParts]  # of rows and of columns
    cluster: Cluster

    def compute(self, work: Callable[[Joint, Any], Result], run: Any) -> Result:
        """Return work(this matrix, run), done by all workers that have parts of it."""
        from .dask_fit import compute  # which needs this module

        return compute(self, work, run)

    def close(self) -> None:
        """Let workers forget the matrix."""
        for side in self.sides:
            side.futures.clear()

    def with_threads(self, threads: int) -> Self:
        """Return this matrix: its workers have threads of their own."""
        return self


def on_cluster(whole: Joint, cluster: Cluster) -> DaskJoint:
    """Send the parts of a matrix to workers."""
    data = DaskJoint(**{each.name: getattr(whole, each.name) for each in fields(whole)})
    sides = SentParts(whole, cluster), SentParts(whole.T, cluster)
    data.__dict__.update(sides=sides, cluster=cluster)  # frozen for all others
    linked(data, whole.T)
    return data


class PeerFacts(NamedTuple):
    """What peers need to know of a matrix."""

    entries: int
    scale: float
    is_count: bool
    mass_dtype: type[np.int32 | np.float64]
    spread: float
    bounds: tuple[np.ndarray, np.ndarray]  # of the parts of rows and columns
    masses: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, data: DaskJoint) -> Self:
        """The facts of a matrix on workers."""
        bounds = data.sides[0].bounds, data.sides[1].bounds
        masses = np.array(data.row_mass), np.array(data.column_mass)
        facts = data.nnz, data.scale, data.is_count, data.mass_dtype, data.spread
        return cls(*facts, bounds, masses)


class PeerJoint(Joint):
    """A matrix as a peer has it: its ``worker`` has some parts, and exchanges results with others.

    What needs the whole matrix in one place gathers it.
    """

    facts: PeerFacts
    worker: Any

    def __init__(self, facts: PeerFacts) -> None:
        rows, columns = facts.masses
        self.__dict__.update(  # frozen for all others
            facts=facts,
            shape=(rows.size, columns.size),
            scale=facts.scale,
            is_count=facts.is_count,
            column_mass=columns,
        )

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return self.facts.entries

    @property
    def mass_dtype(self) -> type[np.int32 | np.float64]:
        """The type of sums of weights: int32 for weights of that type, else float64."""
        return self.facts.mass_dtype

    @property
    def spread(self) -> float:
        """A bound on |ln v| + 1 over all sums v of weights."""
        return self.facts.spread

    @property
    def row_mass(self) -> np.ndarray:
        """Row sums, in units of ``scale``."""
        return self.facts.masses[0]

    @cached_property
    def T(self) -> Self:  # noqa: N802, as in NumPy
        """The transpose."""
        bounds, masses = self.facts.bounds[::-1], self.facts.masses[::-1]
        turned = type(self)(self.facts._replace(bounds=bounds, masses=masses))
        turned.__dict__["T"] = self
        return turned

    @cached_property
    def information(self) -> float:
        """I(X;Y) in bits."""
        part = self.worker.part
        sums = self.worker.each_part(lambda p: float(sum_xlogx(part(p).weights)))
        return table_bits_of(total(sums, operator.add), self.row_mass, self.column_mass)

    @cached_property
    def matrix(self) -> Matrix:
        """The whole matrix, in the memory of this process."""
        whole: Matrix = self.worker.rows(np.arange(self.shape[0]))[0]
        return whole

    def subset(self, rows: np.ndarray, squeeze: bool = True) -> Joint:
        """These rows, with all columns or, to ``squeeze``, only those in which they have mass."""
        matrix, places = self.worker.rows(rows)
        shape = matrix.mass.size, self.shape[1]
        return Joint(matrix, shape, self.scale, self.is_count).subset(places, squeeze)

    def with_threads(self, threads: int) -> Self:
        """Return this matrix: its worker has threads of its own."""
        return self


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
