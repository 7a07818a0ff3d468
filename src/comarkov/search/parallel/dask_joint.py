"""Matrices for Dask: packed on the disk of the client, sent in parts, and as a peer has them.

What only the Dask engine takes is packed into a store. The results of tasks come to the client one
after another, so it needs room on its disk, but little memory. Everything is read as by ``pack``,
and so the fit is that of the same data in memory.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from ...io.files import is_store
from ...io.store.building import map_joint, write_blocks
from ...io.store.opening import Store, open_store
from ...io.store.packing import pack
from ...joint.inputs import as_csr
from ...joint.joint import Joint, linked
from ...joint.objects import is_dask
from ...joint.parts import count_parts, part_bounds
from ...kernels.matrix import Matrix, rows_between
from .dask_client import Cluster, Task

ALIGNMENT = 16  # bytes

#: What peers need to know of a matrix, beside its masses and the bounds of its parts.
FACTS = ("nnz", "scale", "is_count", "mass_dtype", "spread")

Result = TypeVar("Result")


# --- what only the Dask engine takes ------------------------------------------------------------


def is_distributed(X: Any) -> bool:
    """Is X an object of Dask, or a folder, rather than a matrix in memory?"""
    return is_dask(X) or isinstance(X, str | os.PathLike)


def local_store(X: Any, cluster: Cluster) -> Store:
    """Return a store with X, in temporary files unless X is the path of one.

    X is a Dask DataFrame of edges, a Dask array of sparse or dense blocks, a store, or a folder of
    Parquet or CSV files of edges.
    """
    if isinstance(X, str | os.PathLike) and is_store(Path(X)):
        return open_store(X)
    folder = Path(tempfile.mkdtemp(prefix="comarkov-"))
    try:
        if isinstance(X, str | os.PathLike):
            store = pack(X, folder / "store")
        elif hasattr(X, "columns"):
            store = _pack_frame(X, folder, cluster)
        else:
            store = _pack_array(X, folder, cluster)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(store.joint.matrix.indices, shutil.rmtree, folder, ignore_errors=True)
    return store


def _pack_frame(frame: Any, folder: Path, cluster: Cluster) -> Store:
    """Pack edges: the columns are rows, columns and, if there is a third, weights."""
    columns = list(frame.columns)
    if len(columns) not in (2, 3):
        raise ValueError(
            f"The Dask DataFrame has {len(columns)} columns ({', '.join(map(str, columns))}), but "
            "a list of edges has two or three: rows, columns and weights. Choose them, for "
            "example X[['user', 'item', 'weight']]."
        )
    edges = folder / "a Dask DataFrame"
    edges.mkdir()
    for i, (part,) in enumerate(_results([[part] for part in frame.to_delayed()], cluster)):
        part.rename(columns=str).to_parquet(edges / f"{i:09}.parquet", index=False)
    store = pack(edges, folder / "store", kind="edges")
    shutil.rmtree(edges)
    return store


def _pack_array(X: Any, folder: Path, cluster: Cluster) -> Store:
    if X.ndim != 2:
        raise ValueError(
            f"The Dask array has {X.ndim} dimensions. Pass one with two: rows, columns."
        )
    bands = (
        sp.csr_array(sp.hstack([as_csr(block) for block in blocks], format="csr"))
        for blocks in _results(X.to_delayed(), cluster)
    )
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    about = write_blocks(folder, bands, dtype)
    return Store.of(map_joint(folder, about), folder, about)


def _results(delayed: Iterable[Any], cluster: Cluster) -> Iterator[list[Any]]:
    """Yield the results of each of some rows of delayed values; workers compute all of them."""
    started = deque(cluster.client.compute(list(row)) for row in delayed)
    while started:
        yield cluster.client.gather(started.popleft())


# --- the client ---------------------------------------------------------------------------------


class SentParts:
    """The parts of a matrix that this process has, sent to workers, and again if one is lost."""

    def __init__(self, source: Joint, cluster: Cluster) -> None:
        #: part p has the rows from bounds[p] to bounds[p + 1], as in memory
        self.bounds = part_bounds(source.matrix.indptr, count_parts(source.nnz, source.shape[1]))
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
        """Send a copy of a part to the worker that is likely to compute it."""
        start, stop = int(self.bounds[p]), int(self.bounds[p + 1])
        rows = rows_between(self.source.matrix, start, stop)
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        entries = rows.indptr - first, rows.indices[first:last], rows.weights[first:last]
        arrays = map(np.array, (*entries, rows.ones, rows.twos, rows.mass))
        part = Matrix._make([*arrays, rows.spread])
        self.source.release_rows(start, stop)
        return self.cluster.scatter(part, p / (self.bounds.size - 1))


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

    @property
    def facts(self) -> dict[str, Any]:
        """What a peer needs to know of the matrix."""
        return {name: getattr(self, name) for name in FACTS} | {
            "shape": self.shape,
            "bounds": tuple(side.bounds for side in self.sides),
            "row_mass": np.array(self.row_mass),
            "column_mass": np.array(self.column_mass),
        }


def on_cluster(whole: Joint, cluster: Cluster) -> DaskJoint:
    """Send the parts of a matrix to workers."""
    data = DaskJoint(**{each.name: getattr(whole, each.name) for each in fields(whole)})
    sides = SentParts(whole, cluster), SentParts(whole.T, cluster)
    data.__dict__.update(sides=sides, cluster=cluster)  # frozen for all others
    linked(data, whole.T)
    return data


# --- a peer -------------------------------------------------------------------------------------


class PeerJoint(Joint):
    """A matrix as a peer has it: its ``worker`` has some parts, and exchanges results with others.

    What needs the whole matrix in one place gathers it.
    """

    bounds: tuple[np.ndarray, np.ndarray]  # of the parts of rows and columns
    worker: Any

    def __init__(self, facts: dict[str, Any]) -> None:
        self.__dict__.update(facts)  # frozen for all others

    @cached_property
    def T(self) -> Self:  # noqa: N802, as in NumPy
        """The transpose."""
        shape, bounds = self.shape[::-1], self.bounds[::-1]
        masses = {"row_mass": self.column_mass, "column_mass": self.row_mass}
        facts = {name: getattr(self, name) for name in FACTS}
        turned = type(self)({**facts, **masses, "shape": shape, "bounds": bounds})
        turned.__dict__["T"] = self
        return turned

    def _of_parts(self, work: Callable[[Matrix], Result]) -> Iterator[Result]:
        """Yield the results of work on the entries of each part of the rows."""
        yield from self.worker.each_part(lambda p: work(self.worker.part(p)))

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


class Box(NamedTuple):
    """A value as it is sent: Dask takes long for many small arrays, and little for a large one."""

    value: bytes  # pickled, without its arrays
    sizes: list[int]  # of the arrays, in bytes
    arrays: np.ndarray  # of bytes: one after another, each at a multiple of ALIGNMENT


NO_BOX = Box(b"", [], np.zeros(0, np.uint8))


def packed(value: Any) -> Box:
    """Pack a value for another peer."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts = [buffer.raw() for buffer in buffers]
    sizes = [part.nbytes for part in parts]
    places = _places(sizes)
    arrays = np.empty(places[-1].stop if places else 0, np.uint8)
    into = arrays.data
    for part, place in zip(parts, places, strict=True):
        into[place] = part
    return Box(pickled, sizes, arrays)


def unpacked(box: Box) -> Any:
    """Return the value of a box, with arrays as numba wants them."""
    value, sizes, arrays = box
    if arrays.ctypes.data % ALIGNMENT or not arrays.flags.writeable:
        arrays = arrays.copy()
    return pickle.loads(value, buffers=[arrays[place] for place in _places(sizes)])


def _places(sizes: Sequence[int]) -> list[slice]:
    """Return where the arrays of a box are."""
    room = [-(-size // ALIGNMENT) * ALIGNMENT for size in sizes]
    starts = (end - each for end, each in zip(accumulate(room), room, strict=True))
    return [slice(start, start + size) for start, size in zip(starts, sizes, strict=True)]


def joined(parts: Sequence[Matrix]) -> Matrix:
    """Return the whole matrix of parts that lie above each other."""
    starts = np.cumsum([0, *(part.indices.size for part in parts)])
    indptr = [part.indptr[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    rest = (np.concatenate(arrays) for arrays in zip(*(part[1:6] for part in parts), strict=True))
    return Matrix._make([np.concatenate([*indptr, starts[-1:]]), *rest, parts[0].spread])
