"""A matrix and its transpose on disk, from rows that come a block at a time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ...joint.joint import MAX_DOUBLE_ENTRIES, Joint, linked
from ...joint.messages import InputError
from ...joint.parts import row_ranges
from ...joint.scale import Extent, scaled, spread_of
from ...kernels.matrix import Matrix, add_columns, add_rows, group_counts
from ..read.data import NOTES, Data, annotation_parts, string_parts
from .layout import (
    COLUMNS_FOLDER,
    FACTS,
    MATRIX_TYPES,
    NAMES_FOLDER,
    ROWS_FOLDER,
    ArrayWriter,
    Description,
    MappedPages,
    Written,
    map_array,
    write_names,
)

SORTING_BYTES = 40  # that sorting needs for each entry of a bucket
TRANSPOSE_MEMORY = 1 << 28  # bytes for sorting
MAX_BUCKETS = 500  # files that are open at the same time
INDEX_TYPE = np.int32

#: Called with how much is done, and how much there is.
AdvanceSorting = Callable[[int, int], None]


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
        self._stack = ExitStack()
        self._writers: dict[str, ArrayWriter] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        for name, dtype in MATRIX_TYPES.items():
            writer = ArrayWriter(self.folder / f"{name}.npy", dtype or self.dtype)
            self._writers[name] = self._stack.enter_context(writer)
        self._writers["indptr"].append(np.zeros(1, np.int64))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def add(self, block: Block) -> None:
        """Add rows, with their entries in the order of columns."""
        weights = block.weights.astype(self.dtype, copy=False)
        matrix = _as_matrix(block._replace(weights=weights))
        for name, writer in self._writers.items():
            values = getattr(matrix, name)
            writer.append(values[1:] + self.size if name == "indptr" else values)
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
        empty = np.empty_like(indices), np.empty_like(block.weights)
        matrix = matrix._replace(indices=empty[0], weights=empty[1])
        group_counts(indptr, indices, block.weights, matrix)
    add_rows(matrix.indptr, matrix.weights, matrix.mass)
    return matrix


def map_matrix(folder: Path, spread: float = 0.0) -> Matrix:
    """The arrays of a matrix, mapped into memory."""
    return Matrix(
        **{name: map_array(folder / f"{name}.npy") for name in MATRIX_TYPES}, spread=spread
    )


def map_joint(folder: Path, about: Description) -> Joint:
    """A matrix and its transpose, mapped into memory."""
    sides = []
    for side, shape in ((ROWS_FOLDER, about.shape), (COLUMNS_FOLDER, about.shape[::-1])):
        matrix = map_matrix(folder / side, about.spread)
        pages = MappedPages((matrix.indices, matrix.weights))
        sides.append(Joint(matrix, shape, about.scale, about.is_count, pages=pages))
    return linked(*sides)


def row_blocks(matrix: Matrix) -> Iterator[tuple[slice, Block]]:
    """Yield some rows at a time, as they are on disk; their memory is given back afterwards."""
    indptr, pages = matrix.indptr, MappedPages((matrix.indices, matrix.weights))
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
        data, indices = block.weights.astype(np.float64) * scale, block.indices.astype(np.int32)
        csr = sp.csr_array((data, indices, block.indptr), (rows.stop - rows.start, columns))
        csr.sort_indices()
        yield rows, csr


def settle(folder: Path, shape: tuple[int, int], writer: MatrixWriter) -> Description:
    """Bring the rows in a folder into the form in which ``joint`` has them, and describe them."""
    if writer.size == 0:
        advice = "If they are an edge list, choose the column with the weights: weights='count'."
        raise InputError("The data have no weight above 0", advice=advice)
    rows, extent = folder / ROWS_FOLDER, writer.extent

    def largest_sum() -> float:
        matrix, columns = map_matrix(rows), np.zeros(shape[1])
        for _, block in row_blocks(matrix):
            add_columns(block.indices, block.weights, columns)
        return float(max(matrix.mass.max(), columns.max()))

    is_count = extent.are_counts(lambda: writer.total, largest_sum)
    scale = extent.divisor if is_count else extent.unit
    is_single = writer.dtype == np.float32 and extent.fits_single(scale)
    final = np.dtype(np.float32 if is_single else np.float64)
    if is_count or writer.size <= MAX_DOUBLE_ENTRIES:
        final = np.dtype(np.int32 if writer.size > MAX_DOUBLE_ENTRIES else np.float64)
    if final != writer.dtype or scale != 1.0:
        writer = _rewrite(rows, shape, final, scale)
    least = np.array([writer.extent.least], final)
    spread = spread_of(least, map_array(rows / "mass.npy").sum())
    return Description(shape, writer.size, is_count, scale, spread, final.name, files=writer.files)


def _rewrite(
    rows: Path, shape: tuple[int, int], dtype: np.dtype[Any], scale: float
) -> MatrixWriter:
    """Write rows again, with another type or unit of weights."""
    draft = rows.with_name(f"{rows.name}-again")
    with MatrixWriter(draft, dtype) as writer:
        for _, csr in canonical_blocks(map_matrix(rows), shape[1]):
            writer.add(Block(csr.indptr, csr.indices, scaled(csr.data, scale)))
    shutil.rmtree(rows)
    writer.folder = draft.rename(rows)
    return writer


# --- sorting on disk ----------------------------------------------------------------------------


def keyed_entries(keys: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Records of entries: the key, which is a row or a column, the other of the two, the weight."""
    dtype = [("key", INDEX_TYPE), ("other", INDEX_TYPE), ("weight", weights.dtype)]
    entries = np.empty(keys.size, dtype)
    entries["key"], entries["other"], entries["weight"] = keys, others, weights
    return entries


def sort_on_disk(
    folder: Path,
    counts: np.ndarray,
    entries: Iterable[np.ndarray],
    width: int,
    memory: int,
    advance: AdvanceSorting,
) -> Iterator[Block]:
    """Yield entries as the rows of a matrix with so many columns, in blocks that fit into memory.

    The rows are the keys, with ``counts`` entries each. Entries of the same place are added up.
    The folder is there only in the meantime.
    """
    bounds = bucket_bounds(counts, max(memory // SORTING_BYTES, 1))
    bucket_of = np.repeat(np.arange(bounds.size - 1, dtype=np.int16), np.diff(bounds))
    total, done = 2 * int(counts.sum()), 0
    folder.mkdir(exist_ok=True)
    paths = [folder / str(b) for b in range(bounds.size - 1)]
    dtype = None
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for part in entries:
            buckets = bucket_of[part["key"]]
            ordered, dtype = part[np.argsort(buckets, kind="stable")], part.dtype
            ends = np.cumsum(np.bincount(buckets, minlength=len(files)))
            for file, some in zip(files, np.split(ordered, ends[:-1]), strict=True):
                file.write(some.tobytes())
            done += part.size
            advance(done, total)
    for path, (start, stop) in zip(paths, pairwise(bounds.tolist()), strict=True):
        bucket = np.fromfile(path, dtype)
        places = bucket["key"] - INDEX_TYPE(start), bucket["other"]
        csr = sp.coo_array((bucket["weight"], places), (stop - start, width)).tocsr()
        csr.eliminate_zeros()
        yield Block(csr.indptr, csr.indices, csr.data)
        path.unlink()
        done += bucket.size
        advance(done, total)
    folder.rmdir()


def bucket_bounds(counts: np.ndarray, most: int) -> np.ndarray:
    """Where ranges of keys begin and end that have at most so many entries each, or one key."""
    ends = np.cumsum(counts)
    most = max(most, int(ends[-1]) // MAX_BUCKETS + 1) if ends.size else most
    bounds = [0]
    while bounds[-1] < counts.size:
        before = int(ends[bounds[-1] - 1]) if bounds[-1] else 0
        stop = int(np.searchsorted(ends, before + most, side="right"))
        bounds.append(max(stop, bounds[-1] + 1))
    return np.array(bounds)


def write_columns(
    folder: Path, about: Description, memory: int, advance: AdvanceSorting
) -> Description:
    """Write the transpose of the rows in a folder, and add it to their description."""
    rows, m = map_matrix(folder / ROWS_FOLDER), about.shape[1]
    counts, sums = np.zeros(m, np.int64), np.zeros(m)
    for _, block in row_blocks(rows):
        tally_keys(block.indices.view(np.int32), block.weights, counts, sums)

    def by_column() -> Iterator[np.ndarray]:
        for part, block in row_blocks(rows):
            others = np.repeat(np.arange(part.start, part.stop), np.diff(block.indptr))
            yield keyed_entries(block.indices.view(np.int32), others, block.weights)

    entries = by_column()
    blocks = sort_on_disk(folder / "buckets", counts, entries, about.shape[0], memory, advance)
    with MatrixWriter(folder / COLUMNS_FOLDER, about.weights) as writer:
        for block in blocks:
            writer.add(block)
    return replace(about, files=about.files | writer.files)


def tally_keys(keys: np.ndarray, weights: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> None:
    """Add how often each key occurs, and its weights."""
    counts += np.bincount(keys, minlength=counts.size)
    sums += np.bincount(keys, weights, sums.size)


def write_blocks(folder: Path, blocks: Iterable[sp.csr_array], dtype: Any) -> Description:
    """Write a matrix, whose rows come a block at a time, and its transpose, into a folder."""
    n = m = 0
    with MatrixWriter(folder / ROWS_FOLDER, dtype) as writer:
        for csr in blocks:
            writer.add(Block(csr.indptr, csr.indices, csr.data))
            n, m = n + csr.shape[0], csr.shape[1]
    about = settle(folder, (n, m), writer)
    return write_columns(folder, about, TRANSPOSE_MEMORY, lambda *_: None)


def finish(data: Data, about: Description, folder: Path) -> None:
    """Write the names of data and, as the last file, the description of the store."""
    parts = annotation_parts(data, {})
    if NOTES in parts:
        parts[NOTES] = np.frombuffer(str(parts[NOTES]).encode("utf-8"), np.uint8)
    for side, is_named in zip(("row", "column"), data.named, strict=True):
        is_new = f"{NAMES_FOLDER}/{side}_names.npy" not in about.files or f"{side}_names" in vars(
            data
        )
        if is_named and is_new:  # else they are in the folder already
            parts |= string_parts(getattr(data, f"{side}_names"), side)
    files = about.files | write_names(folder, parts)
    replace(about, files=files, **{name: getattr(data, name) for name in FACTS}).write(folder)
