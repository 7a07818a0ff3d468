"""Edge lists on workers: tables of names and weights, as bands of the rows of one matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...io.read.headers import MISSING_WORDS
from ...joint.messages import need, shortened, warn_user
from .dask_client import INSTALL, PURPOSE, Cluster, Task
from .dask_partition import Numbered

if TYPE_CHECKING:
    import pyarrow as pa


WHOLE_NUMBER_PATTERN = "^(0|-?[1-9][0-9]{0,17})$"  # a number that is written in one way only
EXACT_IDS = 2.0**53  # smaller floats represent whole numbers exactly


class Names(NamedTuple):
    """Distinct names, sorted: whole numbers as integers, all others as an Arrow array of text."""

    values: Any
    is_text: bool

    def listed(self) -> np.ndarray:
        """Return the names as strings."""
        if self.is_text:
            return self.values.to_numpy(zero_copy_only=False)
        return self.values.astype(str).astype(object)


def cleaned(column: pa.ChunkedArray, name: str) -> Any:
    """Return names as integers, or as text without surrounding blanks; missing ones are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_integer(kind):
        return column.cast(pa.uint64() if kind == pa.uint64() else pa.int64())
    if pa.types.is_floating(kind):
        return _whole(column, name)
    text = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    is_missing = pc.is_in(text, value_set=pa.array(MISSING_WORDS, pa.large_string()))
    return pc.if_else(is_missing, pa.scalar(None, pa.large_string()), text)


def _whole(column: pa.Array, name: str) -> pa.Array:
    """Return floats as integers: pandas stores ids with gaps as floats."""
    import pyarrow as pa

    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
    is_missing = np.isnan(values)
    wrong = values[~is_missing & ((values != np.floor(values)) | (np.abs(values) >= EXACT_IDS))]
    if wrong.size:
        raise ValueError(
            f"The column {name!r} of names holds {wrong[0]:g}, which is not a whole number. "
            f"Convert it to text: edges[{name!r}] = edges[{name!r}].astype(str)"
        )
    return pa.array(np.where(is_missing, 0, values).astype(np.int64), mask=is_missing)


def distinct(column: pa.Array) -> Names:
    """Return the distinct names of a column that has no missing ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(column.type):
        return Names(np.unique(column.to_numpy()), False)
    names = pc.unique(column)
    return Names(names.take(pc.sort_indices(names)), True)


def union(one: Names, other: Names) -> Names:
    """Return the names that are in either."""
    import pyarrow as pa

    if not one.is_text and not other.is_text:
        return Names(np.union1d(one.values, other.values), False)
    return distinct(pa.concat_arrays([_as_text(one), _as_text(other)]))


def numbered(names: Names) -> Names:
    """Return the names in their final order: by number if all are whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if (
        not names.is_text
        or not pc.all(pc.match_substring_regex(names.values, WHOLE_NUMBER_PATTERN)).as_py()
    ):
        return names
    order = np.argsort(names.values.cast(pa.int64()).to_numpy())
    return Names(names.values.take(pa.array(order)), True)


def codes(column: pa.Array, names: Names) -> np.ndarray:
    """Return the place of each name of a column among the sorted names."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not names.is_text:
        return np.searchsorted(names.values, column.to_numpy()).astype(np.int32)
    return pc.index_in(column.cast(pa.large_string()), value_set=names.values).to_numpy()


def _as_text(names: Names) -> pa.Array:
    import pyarrow as pa

    return names.values if names.is_text else pa.array(names.listed(), pa.large_string())


EDGE_BANDS = 2  # for each thread of the workers
EDGE_ROWS = 4_000_000  # of a Parquet file that one task reads


class DaskEdges(NamedTuple):
    """Edges with names or, later, with the numbers of their rows and columns."""

    rows: Any
    columns: Any
    weights: np.ndarray
    unnamed: int = 0  # lines that were skipped

    @property
    def sides(self) -> tuple[Any, Any]:
        """Rows and columns."""
        return self.rows, self.columns


class EdgeTable(NamedTuple):
    """Where edges come from: a task for each part of the list, and the columns to use."""

    parts: Sequence[Task]  # of data frames or Arrow tables
    columns: Sequence[str]  # rows, columns and, if there are any, weights
    source: str


# --- where edges come from ----------------------------------------------------------------------


def from_frame(frame: Any, cluster: Cluster) -> EdgeTable:
    """Return the edges of a Dask DataFrame, whose columns are rows, columns and weights."""
    columns = _three(list(frame.columns), "The Dask DataFrame", "X[['user', 'item', 'weight']]")
    return EdgeTable(cluster.compute(frame[columns].to_delayed()), columns, "a Dask DataFrame")


def from_parquet(folder: Path, cluster: Cluster, columns: Sequence[str] | None = None) -> EdgeTable:
    """Return the edges of all Parquet files in a folder that all workers can see."""
    need("Reading Parquet", "pyarrow", install=INSTALL)
    import pyarrow.parquet as pq

    files = sorted(folder.rglob("*.parquet"))
    if not files:
        raise ValueError(f"{folder} has no Parquet files. Give a folder with files *.parquet.")
    heads = []
    for file in files:
        with _damage_is_located(str(file)):
            heads.append(pq.read_metadata(file))
    chosen = columns or _three(
        heads[0].schema.to_arrow_schema().names, str(folder), "columns=['user', 'item', 'weight']"
    )
    pieces = [
        (str(file.absolute()), groups)
        for file, head in zip(files, heads, strict=True)
        for groups in _groups([head.row_group(i).num_rows for i in range(head.num_row_groups)])
    ]
    tables = cluster.map(_read_parquet, pieces, list(chosen))
    return EdgeTable(tables, list(chosen), folder.name)


def _three(columns: list[str], what: str, example: str) -> list[str]:
    if len(columns) in (2, 3):
        return columns
    raise ValueError(
        f"{what} has {len(columns)} columns ({', '.join(map(str, columns))}), but a list of edges "
        f"has two or three: rows, columns and weights. Choose them, for example {example}."
    )


def _groups(sizes: Sequence[int]) -> list[list[int]]:
    """Return row groups of a file, as many together as one task reads."""
    first = np.cumsum([0, *sizes[:-1]]) // EDGE_ROWS
    return (
        [np.flatnonzero(first == number).tolist() for number in np.unique(first)] if sizes else []
    )


def _read_parquet(piece: tuple[str, list[int]], columns: list[str]) -> pa.Table:
    import pyarrow.parquet as pq

    path, groups = piece
    with _damage_is_located(path), pq.ParquetFile(path) as file:
        table = file.read_row_groups(groups, columns=columns)
    missing = sorted(set(columns) - set(table.column_names))
    if missing:
        raise ValueError(
            f"{path} has no column {missing[0]!r}, which the first file of the folder has. Give "
            "all files the same columns."
        )
    return table


@contextmanager
def _damage_is_located(path: str) -> Iterator[None]:
    """Name the file in errors of Arrow, which does not."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = shortened(" ".join(str(error).split())).rstrip(".")
        raise ValueError(
            f"{path} cannot be read: {reason}. Write the file again, or remove it from the folder."
        ) from error


# --- from edges to bands of rows ------------------------------------------------------------------


def banded(table: EdgeTable, cluster: Cluster) -> Numbered:
    """Number the names in parallel, and bring the edges of each range of rows together."""
    need(PURPOSE, "pyarrow", install=INSTALL)
    edges = cluster.map(_complete, table.parts, table.columns)
    sides = [_numbered(edges, side, cluster) for side in (0, 1)]
    coded = cluster.map(_coded, edges, *sides)
    unnamed = sum(cluster.gather(cluster.map(_unnamed, edges)))
    row_names, column_names = (side.listed() for side in cluster.gather(sides))
    if not row_names.size:
        raise ValueError(f"{table.source} has no edges.")
    if unnamed:
        warn_user(f"{table.source}: {unnamed:,} lines without a name skipped.")
    counts = cluster.reduced(np.add, cluster.map(_row_counts, coded, row_names.size))
    bounds = _even(cluster.gather([counts])[0], EDGE_BANDS * len(cluster.workers))
    split = cluster.map(_split, coded, bounds)
    pieces = [
        (cluster.map(_piece, split, i), (int(stop - start), column_names.size))
        for i, (start, stop) in enumerate(pairwise(bounds))
    ]
    return Numbered(cluster.map(_band, pieces), row_names, column_names)


def _numbered(edges: Sequence[Task], side: int, cluster: Cluster) -> Task:
    parts = cluster.map(_distinct, edges, side)
    return cluster.submit(numbered, cluster.reduced(union, parts))


def _even(counts: np.ndarray, number: int) -> np.ndarray:
    """Return bounds between rows, so that as many edges are between all of them."""
    total = np.cumsum(counts)
    goals = total[-1] * np.arange(1, number) / number
    inner = np.searchsorted(total, goals) + 1
    return np.unique(np.concatenate([[0], inner, [counts.size]]))


# --- tasks ----------------------------------------------------------------------------------------


def _complete(part: Any, columns: Sequence[str]) -> DaskEdges:
    """Return the lines of a table that name a row and a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = part if isinstance(part, pa.Table) else pa.Table.from_pandas(part, preserve_index=False)
    sides = [cleaned(table[name], name) for name in columns[:2]]
    weights = _weights(table[columns[2]], columns[2]) if len(columns) > 2 else None
    is_named = pc.and_(*(pc.is_valid(side) for side in sides))
    weights = np.ones(len(table)) if weights is None else weights
    unnamed = len(table) - (pc.sum(is_named).as_py() or 0)
    if unnamed:
        sides = [side.filter(is_named) for side in sides]
        weights = weights[is_named.to_numpy(zero_copy_only=False)]
    _check(weights, columns)
    return DaskEdges(sides[0], sides[1], weights, unnamed)


def _weights(column: pa.ChunkedArray, name: str) -> np.ndarray:
    import pyarrow as pa

    try:
        return column.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise ValueError(f"The column {name!r} of weights is not numeric: {error}") from error


def _check(weights: np.ndarray, columns: Sequence[str]) -> None:
    """Raise an error about a number that is not a weight."""
    is_weight = np.isfinite(weights) & (weights >= 0)
    if is_weight.all():
        return
    wrong, name = weights[~is_weight][0], columns[2]
    what = "is missing" if np.isnan(wrong) else f"is {wrong:g}"
    raise ValueError(
        f"A weight in column {name!r} {what}, but weights are finite and not negative. Drop such "
        f"lines first: edges[edges[{name!r}] >= 0]"
    )


def _unnamed(edges: DaskEdges) -> int:
    return edges.unnamed


def _distinct(edges: DaskEdges, side: int) -> Names:
    return distinct(edges.sides[side])


def _coded(edges: DaskEdges, *sides: Names) -> DaskEdges:
    """Return the edges with numbers in place of names."""
    rows, columns = (codes(column, side) for column, side in zip(edges.sides, sides, strict=True))
    return DaskEdges(rows, columns, edges.weights)


def _row_counts(edges: DaskEdges, n: int) -> np.ndarray:
    return np.bincount(edges.rows, minlength=n)


def _split(edges: DaskEdges, bounds: np.ndarray) -> list[DaskEdges]:
    """Return the edges of each range of rows, in their order; rows are counted from its start."""
    band = np.searchsorted(bounds, edges.rows, side="right") - 1
    order = np.argsort(band, kind="stable")
    stops = np.cumsum(np.bincount(band, minlength=bounds.size - 1))
    return [
        DaskEdges(edges.rows[chosen] - start, edges.columns[chosen], edges.weights[chosen])
        for chosen, start in zip(np.split(order, stops[:-1]), bounds[:-1], strict=True)
    ]


def _piece(split: list[DaskEdges], i: int) -> DaskEdges:
    return split[i]


def _band(pieces_and_shape: tuple[list[DaskEdges], tuple[int, int]]) -> sp.csr_array:
    """Return a range of rows; the weights of an edge that occurs several times are added up."""
    pieces, shape = pieces_and_shape
    rows, columns, weights = (
        np.concatenate([piece[field] for piece in pieces]) for field in range(3)
    )
    csr = sp.coo_array((weights, (rows, columns)), shape=shape).tocsr()
    csr.eliminate_zeros()
    return csr
