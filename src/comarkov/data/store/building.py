"""A matrix and its transpose on disk, from rows that come a block at a time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ...kernels.matrix import Matrix, add_columns, add_rows, group_counts
from ...kernels.sorting import count_keys, sort_by
from ..joint import SMALL, Joint, linked
from ..row_ranges import row_ranges
from ..units import Extent, scaled, spread_between
from .arrays import ArrayWriter, Written, mapped
from .buckets import Bucket, Buckets, Entries
from .layout import ARRAYS, COLUMNS, ROWS, Description
from .pages import Pages

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
        self.extent = self.extent.joined(Extent.of(weights))
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
    final = np.dtype(np.int32 if is_count and writer.size > SMALL else np.float64)
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
