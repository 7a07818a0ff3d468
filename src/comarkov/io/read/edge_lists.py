"""Edge lists: two columns of ids and one of weights, as a sparse matrix, in one streaming pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...joint.messages import quote, warn_user
from .coding import BATCH, Growing, coding_of, renumber
from .data import Data
from .faults import Checks, fault
from .headers import kind_of, without_identifiers
from .raw_tables import RawTable, listed
from .records import is_number

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of an edge list that the user has chosen, by name or position."""

    rows: str | int | None = None
    columns: str | int | None = None
    weights: str | int | None = None


Fields = tuple[str, str, str | None]  # the columns of rows, columns and weights


class Edges(NamedTuple):
    """Some edges: the codes of their rows and of their columns, and their weights."""

    codes: Sequence[np.ndarray]
    weights: np.ndarray


def from_edges(table: RawTable, chosen: EdgeColumns, missing: str = "error") -> Data:
    """The matrix of an edge list. The weights of an edge that occurs several times are added up.

    Rows and columns are sorted by name, by number if all names are whole numbers. Lines without
    the name of a row or a column are skipped; ``missing`` sets what happens to missing weights.
    """
    fields = roles(table, chosen)
    codings = [coding_of(table, field) for field in fields[:2]]
    return as_matrix(
        codings, edge_batches(table, codings, fields, missing), facts_of(table, fields)
    )


def refuse_wide(data: Data, table: RawTable) -> None:
    """Refuse an edge list that nobody has called one, if it looks like a wide table of few columns.

    Its rows are texts that occur once, and what would name its columns are numbers.
    """
    names = [list(map(str, some)) for some in (data.row_names, data.column_names)]
    has_lines_of_rows = data.matrix.nnz <= len(names[0]) > 1 and not all(map(is_number, names[0]))
    if has_lines_of_rows and all(map(is_number, names[1])):
        column = quote(table.heading(roles(table, EdgeColumns())[1]))
        raise ValueError(
            f"{table.name} looks like a wide table: each row has a name of its own, and column "
            f"{column} holds numbers. Read it with kind='table', or with kind='edges' if these "
            "numbers are names."
        )


def as_matrix(codings: Sequence[Any], batches: Iterable[Edges], about: dict[str, Any]) -> Data:
    """The matrix of edges that come in batches, with these facts about it."""
    places, amounts = _collect(batches)
    if not amounts.size:
        raise no_edges(about["source"])
    names = []
    for coding, place in zip(codings, places, strict=True):
        sorted_names, rank = coding.finish(place)
        renumber(place, rank)
        names.append(sorted_names)
    edges = sp.coo_array((amounts, (places[0], places[1])), shape=(len(names[0]), len(names[1])))
    del places, amounts
    matrix = edges.tocsr()  # adds duplicates up
    del edges
    return Data(matrix, *names, **about)


def facts_of(table: RawTable, fields: Fields) -> dict[str, Any]:
    """What the rows, columns and weights of an edge list are, and where it comes from."""
    row_kind, column_kind = (
        kind_of(table.heading(field), side) if table.has_headings else side
        for field, side in zip(fields[:2], ("row", "column"), strict=True)
    )
    return {
        "row_kind": row_kind,
        "column_kind": column_kind,
        "source": table.name,
        "entry_kind": _entry_kind(table, fields[2]),
    }


def no_edges(name: str) -> ValueError:
    """The error about an edge list without edges."""
    return ValueError(f"{name} has no edges: give a file with a row and a column in each line.")


def _entry_kind(table: RawTable, weights: str | None) -> str:
    """What weights count: the heading of their column, or lines if there is none."""
    if weights is None:
        return "lines"
    return table.heading(weights) if table.has_headings else ""


def roles(table: RawTable, chosen: EdgeColumns) -> Fields:
    """The columns that hold rows, columns and weights."""
    kept = table.kept
    if chosen == EdgeColumns():
        if len(kept) not in (2, 3):
            raise ValueError(
                f"{table.name} has {len(kept)} columns ({listed(table.columns)}), but an edge list "
                f"has two or three. Choose them, for example "
                f"{edge_example(table, without_identifiers(table, kept))}."
            )
        return kept[0], kept[1], (*kept, None)[2]
    if chosen.rows is None or chosen.columns is None:
        has = chosen.rows if chosen.columns is None else chosen.columns
        other = next(f for f in [*kept, kept[0]] if table.label(f) != has)
        side, absent = ("columns", "rows") if chosen.rows is None else ("rows", "columns")
        given = f"{side}={quote(has)}, " if has is not None else ""
        raise ValueError(
            f"{table.name}: an edge list needs rows= and columns=. Name the column of {absent}, "
            f"too, for example {given}{absent}={table.label(other)!r}."
        )
    row, column = table.field(chosen.rows, "rows"), table.field(chosen.columns, "columns")
    weight = None if chosen.weights is None else table.field(chosen.weights, "weights")
    if row == column or weight in (row, column):
        raise ValueError(
            f"{table.name}: two of rows=, columns= and weights= name the same column. Choose "
            f"different ones of {listed(table.columns)}, for example {edge_example(table, kept)}."
        )
    return row, column, weight


def edge_example(table: RawTable, fields: Sequence[str]) -> str:
    """A choice of columns for an edge list, as a user can write it."""
    labels = map(table.label, fields)
    roles = zip(("rows", "columns", "weights"), labels, strict=False)
    return ", ".join(f"{role}={quote(label)}" for role, label in roles)


def _collect(batches: Iterable[Edges]) -> tuple[list[np.ndarray], np.ndarray]:
    """Codes of rows and columns and weights of all edges, in the order of the list."""
    places = [Growing(np.int32), Growing(np.int32)]
    amounts = Growing(np.float64)
    for edges in batches:
        for place, code in zip(places, edges.codes, strict=True):
            place.extend(code)
        amounts.extend(edges.weights)
    return [place.array() for place in places], amounts.array()


def edge_batches(
    table: RawTable, codings: Sequence[Any], fields: Fields, missing: str
) -> Iterator[Edges]:
    """Edges, many at a time; lines in which something is missing are skipped, with a note."""
    skipped = {"name": 0, "weight": 0}
    for batch in _batches(table, codings, fields):
        columns = batch.get_columns()
        codes = [coding.codes(c) for coding, c in zip(codings, columns, strict=False)]
        weights = np.ones(len(batch)) if fields[2] is None else columns[2].to_numpy()
        is_named = (codes[0] >= 0) & (codes[1] >= 0)
        has_weight = ~np.isnan(weights)
        if missing == "error" and not has_weight[is_named].all():
            raise fault(table, Checks(weights=[fields[2] or ""], unless_missing=fields[:2]))
        if missing == "0":
            weights = np.where(has_weight, weights, 0.0)
        is_edge = is_named & (has_weight | (missing == "0"))
        skipped["name"] += int((~is_named).sum())
        skipped["weight"] += int((is_named & ~has_weight).sum())
        if not is_edge.all():
            codes, weights = [code[is_edge] for code in codes], weights[is_edge]
        yield Edges(codes, weights)
    words = any(coding.has_words_for_missing for coding in codings)
    _report(table, skipped, missing, words)


def _report(table: RawTable, skipped: dict[str, int], missing: str, has_na: bool) -> None:
    """One note about the lines in which something is missing."""
    facts = []
    if skipped["name"]:
        hint = " (if NA is a name, use keep_na=True)" if has_na else ""
        facts.append(f"{lines_of(skipped['name'])} without a name skipped{hint}")
    if skipped["weight"]:
        deed = "read as 0" if missing == "0" else "skipped"
        facts.append(f"{lines_of(skipped['weight'])} without a weight {deed}")
    if facts:
        warn_user(f"{table.name}: {'; '.join(facts)}.")


def lines_of(count: int) -> str:
    """A number of lines, in words."""
    return f"{count:,} line{'s' if count > 1 else ''}"


def _batches(table: RawTable, codings: Sequence[Any], fields: Fields) -> Iterator[pl.DataFrame]:
    """Edges, many at a time; null is a missing name, NaN a missing weight."""
    import polars as pl

    weight = fields[2]
    checks = Checks(weights=[] if weight is None else [weight], allows_missing=True)
    chosen = [
        coding.expression(table, field).alias(f"id {i}")
        for i, (coding, field) in enumerate(zip(codings, fields, strict=False))
    ]
    if weight is not None:
        chosen.append(table.number(weight).alias("weight"))
    query = table.without_blank_lines().select(chosen)
    try:
        for batch in query.collect_batches(chunk_size=BATCH, engine="streaming"):
            if weight is not None and _is_bad(batch["weight"]):
                raise fault(table, checks)
            yield batch
    except pl.exceptions.NoDataError:  # nothing below the header, for some versions
        return
    except pl.exceptions.PolarsError as error:
        raise fault(table, checks, error) from error


def _is_bad(weights: pl.Series) -> bool:
    """Is a weight no number, negative or infinite? Missing ones, NaN, are counted elsewhere."""
    if weights.null_count():
        return True
    return bool(((weights < 0) | weights.is_infinite()).any())  # both are False for NaN
