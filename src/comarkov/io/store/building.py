"""A matrix and its transpose on disk, from rows that come a block at a time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ...joint.joint import MAX_DOUBLE_ENTRIES, Joint, joint, linked
from ...joint.parts import row_ranges
from ...joint.scale import Extent, scaled, spread_between
from ...kernels.matrix import (
    Matrix,
    add_columns,
    add_rows,
    count_keys,
    group_counts,
    partition,
    sort_by,
)
from ..read.data import Annotations, Data
from .layout import (
    ARRAYS,
    COLUMNS,
    FACTS,
    NAMES,
    ROWS,
    ArrayWriter,
    Description,
    Pages,
    Written,
    mapped,
    names_file,
    write_annotations,
    write_array,
    write_names,
)

PER_ENTRY = 40  # bytes that sorting needs for each entry of a bucket
MOST_BUCKETS = 500  # files that are open at the same time
INDEX = np.int32


class Entries(NamedTuple):
    """Places and weights: by a key, which is a row or a column, and the other of the two."""

    keys: np.ndarray
    others: np.ndarray
    weights: np.ndarray

    @classmethod
    def empty(cls, size: int, dtype: Any) -> Self:
        """Room for this many."""
        return cls(np.empty(size, INDEX), np.empty(size, INDEX), np.empty(size, dtype))


class Bucket(NamedTuple):
    """The entries of a range of keys."""

    start: int
    stop: int
    entries: Entries


def bucket_bounds(counts: np.ndarray, most: int) -> np.ndarray:
    """Where ranges of keys begin and end that have at most so many entries each, or one key."""
    ends = np.cumsum(counts)
    most = max(most, int(ends[-1]) // MOST_BUCKETS + 1) if ends.size else most
    bounds = [0]
    while bounds[-1] < counts.size:
        before = int(ends[bounds[-1] - 1]) if bounds[-1] else 0
        stop = int(np.searchsorted(ends, before + most, side="right"))
        bounds.append(max(stop, bounds[-1] + 1))
    return np.array(bounds)


class Buckets:
    """Files of entries, one for each range of keys."""

    def __init__(self, folder: Path, counts: np.ndarray, memory: int, dtype: Any) -> None:
        """``counts`` are the numbers of entries by key, of which memory limits a bucket."""
        self.bounds = bucket_bounds(counts, max(memory // PER_ENTRY, 1))
        self.dtype = np.dtype(dtype)
        self.folder = folder
        self._bucket_of = np.repeat(np.arange(self.count, dtype=np.int16), np.diff(self.bounds))
        self._sizes: list[list[int]] = [[] for _ in range(self.count)]  # of parts
        self._files: list[IO[bytes]] = []
        self._stack = ExitStack()

    @property
    def count(self) -> int:
        """The number of buckets."""
        return self.bounds.size - 1

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        self._files = [
            self._stack.enter_context((self.folder / str(b)).open("wb")) for b in range(self.count)
        ]
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def add(self, entries: Entries) -> None:
        """Write entries to the files of their buckets."""
        sizes = np.empty(self.count, np.int64)
        ordered = Entries.empty(entries.keys.size, self.dtype)
        partition(self._bucket_of, tuple(entries), sizes, tuple(ordered))
        ends = np.cumsum(sizes)
        for b in np.flatnonzero(sizes).tolist():
            part = slice(ends[b] - sizes[b], ends[b])
            for array in ordered:
                self._files[b].write(array[part].data.cast("B"))
            self._sizes[b].append(int(sizes[b]))

    def read(self) -> Iterator[Bucket]:
        """The buckets in order, each with its entries in the order in which they were added.

        The file of each is deleted when it has been read.
        """
        self._stack.close()
        for b, sizes in enumerate(self._sizes):
            path = self.folder / str(b)
            entries = Entries.empty(sum(sizes), self.dtype)
            place = 0
            with path.open("rb") as file:
                for size in sizes:
                    for array in entries:
                        file.readinto(array[place : place + size].data.cast("B"))
                    place += size
            path.unlink()
            yield Bucket(int(self.bounds[b]), int(self.bounds[b + 1]), entries)
        self.folder.rmdir()


TYPES = {"indptr": np.int64, "ones": np.int32, "twos": np.int32, "mass": np.float64}

#: Called with how much is done, and how much there is.
Advance = Callable[[int, int], None]


class Block(NamedTuple):
    """Some rows: where each begins among the entries, from 0, and the entries."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray


class MatrixWriter:
    """The arrays of a matrix, as kernels take them, in a folder; rows are added in order."""

    def __init__(self, folder: Path, dtype: Any) -> None:
        self.folder = folder
        self.extent, self.total = Extent(), 0.0
        self.dtype = np.dtype(dtype)
        self._types = {"indices": np.uint32, "weights": self.dtype, **TYPES}
        self._stack = ExitStack()
        self._writers: dict[str, ArrayWriter] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        for name in ARRAYS:
            path = self.folder / f"{name}.npy"
            writer = ArrayWriter.to(path, self._types[name])
            self._writers[name] = self._stack.enter_context(writer)
        self._writers["indptr"].append(np.zeros(1, np.int64))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def add(self, block: Block) -> None:
        """Add rows, with their entries in the order of columns."""
        weights = block.weights.astype(self.dtype, copy=False)
        matrix = _as_matrix(block._replace(weights=weights))
        self._writers["indptr"].append(matrix.indptr[1:] + self.size)
        for name in ARRAYS[1:]:
            self._writers[name].append(getattr(matrix, name))
        self.extent = self.extent.union(Extent.of(weights))
        self.total += float(matrix.mass.sum())

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.extent.size

    @property
    def files(self) -> dict[str, Written]:
        """What is known about the files, by their names in the store."""
        folder = self.folder.name
        return {f"{folder}/{name}.npy": writer.written for name, writer in self._writers.items()}


def _as_matrix(block: Block) -> Matrix:
    """Rows as kernels take them; counts are grouped."""
    n = block.indptr.size - 1
    ones, twos, mass = np.zeros(n, np.int32), np.zeros(n, np.int32), np.empty(n)
    indptr = block.indptr.astype(np.int64, copy=False)
    indices = block.indices.astype(np.int32, copy=False).view(np.uint32)
    matrix = Matrix(indptr, indices, block.weights, ones, twos, mass, 0.0)
    if block.weights.dtype == np.int32:
        grouped = matrix._replace(
            indices=np.empty_like(indices), weights=np.empty_like(block.weights)
        )
        group_counts(indptr, indices, block.weights, grouped)
        matrix = grouped
    add_rows(matrix.indptr, matrix.weights, matrix.mass)
    return matrix


def mapped_matrix(folder: Path, spread: float = 0.0) -> Matrix:
    """The arrays of a matrix, mapped into memory."""
    return Matrix(**{name: mapped(folder / f"{name}.npy") for name in ARRAYS}, spread=spread)


def mapped_joint(folder: Path, about: Description) -> Joint:
    """A matrix and its transpose, mapped into memory."""
    sides = (ROWS, about.shape), (COLUMNS, about.shape[::-1])
    return linked(*(_side(folder / side, shape, about) for side, shape in sides))


def _side(folder: Path, shape: tuple[int, int], about: Description) -> Joint:
    matrix = mapped_matrix(folder, about.spread)
    pages = Pages((matrix.indices, matrix.weights))
    return Joint(matrix, shape, about.scale, about.is_count, pages=pages)


def row_blocks(matrix: Matrix) -> Iterator[tuple[slice, Block]]:
    """Yield some rows at a time, as they are on disk; their memory is given back afterwards."""
    indptr, pages = matrix.indptr, Pages((matrix.indices, matrix.weights))
    for rows in row_ranges(indptr):
        part = slice(int(indptr[rows.start]), int(indptr[rows.stop]))
        places = indptr[rows.start : rows.stop + 1] - part.start
        yield rows, Block(places, matrix.indices[part], matrix.weights[part])
        pages.release(part.start, part.stop)


def canonical_blocks(
    matrix: Matrix, columns: int, scale: float = 1.0
) -> Iterator[tuple[slice, sp.csr_array]]:
    """Yield some rows at a time as CSR in double precision with sorted indices."""
    for rows, block in row_blocks(matrix):
        data = block.weights.astype(np.float64) * scale
        csr = sp.csr_array(
            (data, block.indices.astype(np.int32), block.indptr), (rows.stop - rows.start, columns)
        )
        csr.sort_indices()
        yield rows, csr


def settled(folder: Path, shape: tuple[int, int], writer: MatrixWriter) -> Description:
    """Bring the rows in a folder into the form in which ``joint`` has them, and describe them."""
    if writer.size == 0:
        raise ValueError(
            "The data have no weight above 0. If they are an edge list, choose the column with the "
            "weights, for example weights='count'."
        )
    rows, extent = folder / ROWS, writer.extent
    is_count = extent.are_counts(lambda: writer.total, lambda: _largest_sum(rows, shape))
    final = np.dtype(np.int32 if is_count and writer.size > MAX_DOUBLE_ENTRIES else np.float64)
    scale = extent.divisor if is_count else extent.unit
    if final != writer.dtype or scale != 1.0:
        writer = _rewritten(rows, shape, final, scale)
    spread = spread_between(writer.extent.least, mapped(rows / "mass.npy").sum())
    return Description(shape, writer.size, is_count, scale, spread, final.name, files=writer.files)


def _largest_sum(rows: Path, shape: tuple[int, int]) -> float:
    """The largest sum of a row or column."""
    matrix, columns = mapped_matrix(rows), np.zeros(shape[1])
    for _, block in row_blocks(matrix):
        add_columns(block.indices, block.weights, columns)
    return float(max(matrix.mass.max(), columns.max()))


def _rewritten(rows: Path, shape: tuple[int, int], dtype: np.dtype[Any], scale: float) -> Any:
    """Write rows again, with another type or unit of weights."""
    draft = rows.with_name(f"{rows.name}-again")
    with MatrixWriter(draft, dtype) as writer:
        for _, csr in canonical_blocks(mapped_matrix(rows), shape[1]):
            writer.add(Block(csr.indptr, csr.indices, scaled(csr.data, scale)))
    shutil.rmtree(rows)
    writer.folder = draft.rename(rows)
    return writer


def with_columns(folder: Path, about: Description, memory: int, advance: Advance) -> Description:
    """Write the transpose of the rows in a folder, sorted in buckets that fit into memory."""
    rows, m = mapped_matrix(folder / ROWS), about.shape[1]
    counts, sums = np.zeros(m, np.int64), np.zeros(m)
    for _, block in row_blocks(rows):
        count_keys(block.indices.view(np.int32), block.weights, counts, sums)
    dtype, done = np.dtype(about.weights), 0
    with Buckets(folder / "buckets", counts, memory, dtype) as buckets:
        for part, block in row_blocks(rows):
            places = np.arange(part.start, part.stop, dtype=np.int32)
            keys = block.indices.view(np.int32)
            buckets.add(Entries(keys, np.repeat(places, np.diff(block.indptr)), block.weights))
            done += block.indices.size
            advance(done, 2 * about.entries)
        with MatrixWriter(folder / COLUMNS, dtype) as writer:
            for bucket in buckets.read():
                writer.add(_sorted(bucket))
                advance(about.entries + writer.size, 2 * about.entries)
    return replace(about, files=about.files | writer.files)


def _sorted(bucket: Bucket) -> Block:
    """The entries of a bucket as rows, each in the order in which its entries came."""
    keys, *entries = bucket.entries
    indptr = np.empty(bucket.stop - bucket.start + 1, np.int64)
    out = np.empty_like(entries[0]), np.empty_like(entries[1])
    sort_by(keys, tuple(entries), bucket.start, indptr, out)
    return Block(indptr, *out)


def write_data(data: Data, folder: Path) -> None:
    """Write data in memory as a store, into an existing folder."""
    matrix = joint(data)
    for name in (ROWS, COLUMNS, NAMES):
        (folder / name).mkdir(exist_ok=True)
    files = write_matrix(folder / ROWS, matrix.matrix) | write_matrix(
        folder / COLUMNS, matrix.T.matrix
    )
    finish(data, replace(describe(matrix), files=files), folder)


def write_matrix(folder: Path, matrix: Matrix) -> dict[str, Written]:
    """Write the arrays of a matrix; the names of the files begin with that of the folder."""
    return {
        f"{folder.name}/{name}.npy": write_array(folder / f"{name}.npy", getattr(matrix, name))
        for name in ARRAYS
    }


def describe(matrix: Joint) -> Description:
    """The description of a matrix, without that of its names."""
    return Description(
        matrix.shape,
        matrix.matrix.indices.size,
        matrix.is_count,
        matrix.scale,
        matrix.matrix.spread,
        matrix.matrix.weights.dtype.name,
    )


def finish(data: Data, about: Description, folder: Path) -> None:
    """Write the names of data and, as the last file, the description of the store."""
    files = dict(about.files)
    for side, is_named in zip(("row", "column"), data.named, strict=True):
        is_new = names_file(side) not in files or f"{side}_names" in vars(data)
        if is_named and is_new:  # else they are in the folder already
            files |= write_names(folder, side, getattr(data, f"{side}_names"))
    classes = {"row": data.row_classes, "column": data.column_classes}
    files |= write_annotations(folder, Annotations(classes, data.texts, {}))
    replace(about, files=files, **{name: getattr(data, name) for name in FACTS}).write(folder)
