"""Wide tables: a line for each row, a column for each column."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .data import Data
from .faults import fault, place
from .tables import RawTable, is_number

CELLS = 4_000_000  # at a time
EDGES = "Is it an edge list? Then say rows= and columns=, and weights= if it has them."


def from_table(table: RawTable, rows: str | int | None = None, is_said: bool = False) -> Data:
    """The matrix of a wide table, whose first column, or the one said, names the rows.

    A table without a header and with nothing but numbers is a bare matrix without names; but it
    can as well be an edge list with more columns, so the user must have said what it is.
    """
    is_bare = rows is None and _is_bare(table)
    if is_bare and not is_said:
        raise ValueError(
            f"{table.name} has {len(table.fields)} columns of numbers and no header: say rows= and "
            "columns= (and weights=) if it is an edge list, kind='table' if it is a matrix."
        )
    index = None if is_bare else table.fields[0] if rows is None else table.field(rows, "rows")
    numbers = [field for field in table.fields if field != index]
    if not numbers:
        raise ValueError(f"{table.name} has no column of weights beside the names of the rows.")
    try:
        matrix, names = _cells(table, index, numbers)
    except ValueError as error:
        if is_said or rows is not None or _begins_with_numbers(table, numbers):
            raise
        raise ValueError(f"{error} It was taken for a wide table. {EDGES}") from error
    _refuse_repeats(table, names, index)
    has_header = table.lines is None or table.lines.has_header
    return Data(
        matrix,
        None if is_bare else names,
        [table.heading(field) for field in numbers] if has_header else None,
        source=table.name,
    )


def _cells(
    table: RawTable, index: str | None, numbers: list[str]
) -> tuple[sp.csr_array, list[str]]:
    """The matrix of all numbers, and the names of its rows if there is a column of names."""
    import polars as pl

    ids = [] if index is None else [index]
    frame = table.frame
    if table.lines is not None:  # blank lines
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    chosen = [pl.col(index).cast(pl.String)] if index is not None else []
    query = frame.select(*chosen, *(table.number(field) for field in numbers))
    names: list[str] = []
    parts = []
    try:
        for batch in query.collect_batches(
            chunk_size=max(1, CELLS // len(numbers)), engine="streaming"
        ):
            cells = batch.select(numbers).to_numpy()
            if any(batch.null_count().row(0)) or not (cells >= 0).all() or np.isinf(cells).any():
                raise fault(table, ids, numbers)
            names += batch[index].to_list() if index is not None else []
            parts.append(sp.csr_array(cells))
    except pl.exceptions.NoDataError:  # nothing below the header, for some versions
        parts = []
    except pl.exceptions.PolarsError as error:
        raise fault(table, ids, numbers, error) from error
    if not parts:
        raise ValueError(f"{table.name} has no lines below its header.")
    return sp.vstack(parts, format="csr"), names


def _begins_with_numbers(table: RawTable, numbers: list[str]) -> bool:
    first = table.frame.select(numbers).head(1).collect()
    return all(is_number(str(value), table.decimal) for row in first.rows() for value in row)


def _is_bare(table: RawTable) -> bool:
    if table.lines is None or table.lines.has_header:
        return False
    first = table.frame.head(1).collect()
    return all(is_number(value or "") for value in first.row(0))


def _refuse_repeats(table: RawTable, names: list[str], index: str | None) -> None:
    if len(set(names)) == len(names) or index is None:
        return
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in seen:
            break
        seen[name] = i
    raise ValueError(f"{place(table, i, index)}: the row {name!r} is there already. {EDGES}")
