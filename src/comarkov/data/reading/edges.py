"""Edge lists: two columns of ids and one of weights, as a sparse matrix, in one streaming pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp

from .data import Data
from .faults import fault
from .tables import RawTable

if TYPE_CHECKING:
    import polars as pl

BATCH = 1_000_000  # edges at a time
WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")  # a number that is written in one way only
LOOKUP = 8  # a table of numbers may have this many times as many places as there are ids


def from_edges(
    table: RawTable,
    rows: str | int | None = None,
    columns: str | int | None = None,
    weights: str | int | None = None,
) -> Data:
    """The matrix of an edge list. The weights of an edge that is there several times are added up.

    Rows and columns are sorted by name, by number if all names are whole numbers.
    """
    fields = _roles(table, rows, columns, weights)
    ids, weight = fields[:2], fields[2]
    codings = [_coding(table, field) for field in ids]
    places, amounts = _collect(table, codings, weight)
    if not amounts.size:
        raise ValueError(f"{table.name} has no edges.")
    names = []
    for coding, place in zip(codings, places, strict=True):
        sorted_names, rank = coding.finish()
        _renumber(place, rank)
        names.append(sorted_names)
    edges = sp.coo_array((amounts, (places[0], places[1])), shape=(len(names[0]), len(names[1])))
    del places, amounts
    matrix = edges.tocsr()  # adds duplicates up
    del edges
    kinds = [_kind(table, field, kind) for field, kind in zip(ids, ("row", "column"), strict=True)]
    return Data(matrix, names[0], names[1], kinds[0], kinds[1], table.name)


def _roles(
    table: RawTable, rows: str | int | None, columns: str | int | None, weights: str | int | None
) -> tuple[str, str, str | None]:
    """The columns that hold rows, columns and weights."""
    if rows is None and columns is None and weights is None:
        if len(table.fields) not in (2, 3):
            raise ValueError(
                f"{table.name} has {len(table.fields)} columns, an edge list two or three: say "
                f"rows=, columns= and weights= (columns are {', '.join(table.columns[:10])})."
            )
        return table.fields[0], table.fields[1], (*table.fields, None)[2]
    if rows is None or columns is None:
        missing = "rows" if rows is None else "columns"
        raise ValueError(f"Say {missing}= too: which column of {table.name} has them?")
    row, column = table.field(rows, "rows"), table.field(columns, "columns")
    weight = None if weights is None else table.field(weights, "weights")
    if row == column or weight in (row, column):
        raise ValueError(f"{table.name}: rows=, columns= and weights= name the same column.")
    return row, column, weight


def _kind(table: RawTable, field: str, default: str) -> str:
    """What rows or columns are, as the header says."""
    heading = table.heading(field).strip()
    if not heading or heading == str(table.position(field)):
        return default
    return re.sub("[_ ]?id$", "", heading, flags=re.IGNORECASE) or default


def _collect(table: RawTable, codings: list[Any], weight: str | None) -> Any:
    """Codes of rows and columns and weights of all edges, in the order of the list."""
    places = [Growing(np.int32), Growing(np.int32)]
    amounts = Growing(np.float64)
    for batch in _batches(table, codings, weight):
        columns = batch.get_columns()
        for coding, place, column in zip(codings, places, columns, strict=False):
            place.extend(coding.codes(column))
        if weight is None:
            amounts.extend(np.ones(len(batch)))
        else:
            amounts.extend(columns[2].to_numpy())
    return [place.array() for place in places], amounts.array()


def _batches(table: RawTable, codings: list[Any], weight: str | None) -> Iterator[pl.DataFrame]:
    """Edges that are whole, some at a time."""
    import polars as pl

    ids = [coding.field for coding in codings]
    numbers = [] if weight is None else [weight]
    frame = table.frame
    if table.lines is not None:  # blank lines
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    chosen = [coding.column.alias(f"id {i}") for i, coding in enumerate(codings)]
    if weight is not None:
        chosen.append(table.number(weight).alias("weight"))
    query = frame.select(chosen)
    try:
        for batch in query.collect_batches(chunk_size=BATCH, engine="streaming"):
            if any(batch.null_count().row(0)) or (weight is not None and _is_bad(batch["weight"])):
                _blame(table, ids, numbers)
            yield batch
    except pl.exceptions.NoDataError:  # nothing below the header, for some versions
        return
    except pl.exceptions.PolarsError as error:
        _blame(table, ids, numbers, error)


def _is_bad(weights: pl.Series) -> bool:
    low, high = weights.min(), weights.max()
    return not (low >= 0 and high < np.inf) or bool(weights.is_nan().any())  # type: ignore[operator]


def _blame(
    table: RawTable, ids: list[str], numbers: list[str], error: Exception | None = None
) -> NoReturn:
    raise fault(table, ids, numbers, error) from error


def _renumber(codes: np.ndarray, rank: np.ndarray | None) -> None:
    """Codes replaced in place, a part at a time."""
    if rank is not None:
        for i in range(0, codes.size, BATCH):
            codes[i : i + BATCH] = rank[codes[i : i + BATCH]]


class Growing:
    """An array that grows at its end; what is not written to takes no memory."""

    def __init__(self, dtype: Any) -> None:
        self.values = np.empty(BATCH, dtype)
        self.size = 0

    def extend(self, values: np.ndarray) -> None:
        """Append values."""
        end = self.size + values.size
        if end > self.values.size:
            self.values.resize(max(end, self.values.size * 3 // 2), refcheck=False)
        self.values[self.size : end] = values
        self.size = end

    def array(self) -> np.ndarray:
        """All values."""
        self.values.resize(self.size, refcheck=False)
        return self.values


def _coding(table: RawTable, field: str) -> Any:
    import polars as pl

    dtype = table.frame.collect_schema()[field]
    is_number = dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)  # numpy has no such
    return _Numbers(table, field) if is_number else _Texts(field)


class _Texts:
    """Codes of text, given by polars in the order of appearance."""

    def __init__(self, field: str) -> None:
        import polars as pl

        self.field = field
        # its own numbering: codes are dense, and forgotten with this object
        category = pl.Categorical(pl.Categories.random())
        self.column = pl.col(field).cast(pl.String).cast(category)
        self.names = np.empty(0, dtype=object)
        self.is_known = np.zeros(0, dtype=bool)

    def codes(self, column: pl.Series) -> np.ndarray:
        codes = column.to_physical().to_numpy()
        if codes.size:
            self._make_room(int(codes.max()) + 1)
            if not self.is_known[codes].all():
                self._learn(column)
        return codes

    def _make_room(self, size: int) -> None:
        if size > self.names.size:
            more = max(size, 2 * self.names.size) - self.names.size
            self.names = np.concatenate([self.names, np.empty(more, dtype=object)])
            self.is_known = np.concatenate([self.is_known, np.zeros(more, dtype=bool)])

    def _learn(self, column: pl.Series) -> None:
        """The names of codes that are new. Batches run in parallel: they need not be the last."""
        import polars as pl

        distinct = column.unique()
        new = distinct.filter(~pl.Series(self.is_known[distinct.to_physical().to_numpy()]))
        codes = new.to_physical().to_numpy()
        self.names[codes] = new.cast(pl.String).to_numpy()
        self.is_known[codes] = True

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """Names in their order, and the place of each code in it."""
        import polars as pl

        known = np.flatnonzero(self.is_known)
        names = self.names[known]
        if all(WHOLE.fullmatch(name) for name in names):
            order = np.argsort(names.astype(np.int64))
        else:
            order = pl.Series(names.tolist(), dtype=pl.String).arg_sort().to_numpy()
        rank = np.empty(self.names.size, np.int32)
        rank[known[order]] = np.arange(order.size, dtype=np.int32)
        return names[order], rank


class _Numbers:
    """Codes of whole numbers: their places among all that there are, which are found first."""

    def __init__(self, table: RawTable, field: str) -> None:
        import polars as pl

        self.field = field
        is_large = table.frame.collect_schema()[field] == pl.UInt64
        # differences of the ids must not wrap around, as they do in small types
        self.column = pl.col(field).cast(pl.UInt64 if is_large else pl.Int64)
        distinct = table.frame.select(self.column.drop_nulls().unique()).collect(engine="streaming")
        self.ids = np.sort(distinct.to_series().to_numpy())
        self.places: np.ndarray | None = None
        if self.ids.size:
            self.least, span = int(self.ids[0]), int(self.ids[-1]) - int(self.ids[0]) + 1
            if span <= LOOKUP * self.ids.size + BATCH:
                self.places = np.zeros(span, np.int32)
                self.places[self.ids - self.ids[0]] = np.arange(self.ids.size, dtype=np.int32)

    def codes(self, column: pl.Series) -> np.ndarray:
        values = column.to_numpy()
        if self.places is None:
            return np.searchsorted(self.ids, values)
        return self.places[values - self.ids[0]]

    def finish(self) -> tuple[np.ndarray, None]:
        return self.ids.astype(str).astype(object), None
