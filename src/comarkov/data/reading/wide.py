"""Wide tables: a line for each row, a column for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..quoting import quote
from ..user_warnings import warn_user
from .classes import chosen_columns
from .data import Data
from .faults import Checks, fault, no_lines, place
from .headers import YEARS, kind_of
from .layout import Layout, WideOptions, as_edges, explain, layout_of, refuse_edges, warn_of_totals
from .tables import RawTable, prose_column
from .values import is_word_for_missing

if TYPE_CHECKING:
    import polars as pl

CELLS = 4_000_000  # at a time


def from_table(table: RawTable, options: WideOptions, missing: str = "0") -> Data:
    """The matrix of a wide table, whose first column, or the one chosen, names the rows.

    Columns of text are not weights, but may be classes of the rows. Rows without a name are left
    out. A table of numbers alone without a header is a matrix without names; it can as well be an
    edge list with more columns, so the user must have stated that it is a table.
    """
    layout = layout_of(table, options)
    if not options.is_stated and options.names is None:
        refuse_edges(table, layout)
    if not layout.weights:
        prose = prose_column(table)
        text = table.label(table.kept[-1]) if prose is None else prose
        raise ValueError(
            f"{table.name} has no column of numbers beside {quote(table.columns[0])}. For words in "
            f"texts name their column, for example text={text!r}."
        )
    row_names = _row_names(table, layout)
    is_kept = np.array([name is not None for name in row_names], dtype=bool)
    classes = _classes(table, layout, options, is_kept)
    explain(table, layout, classes, options.names is not None)
    warn_of_totals(table, layout, row_names)
    matrix = _cells(table, layout, missing)
    if not matrix.shape[0]:
        raise no_lines(table)
    return Data(
        matrix if layout.names is None else matrix[is_kept],
        None if layout.names is None else [name for name in row_names if name is not None],
        [table.heading(field) for field in layout.weights] if table.has_headings else None,
        _row_kind(table, layout),
        _column_kind(table, layout),
        table.name,
        row_classes=classes,
    )


def _classes(
    table: RawTable, layout: Layout, options: WideOptions, is_kept: np.ndarray
) -> dict[str, np.ndarray]:
    """The columns of text that hold classes of the rows, by heading."""
    if layout.names is None or not layout.texts or not table.has_headings:
        return {}
    columns = [_filled(table, layout, field) for field in layout.texts]
    frame = table.without_blank_lines().select(columns).collect(engine="streaming").filter(is_kept)
    values = {table.heading(field): frame[field].fill_null("").to_list() for field in layout.texts}
    return chosen_columns(values, options.classes, int(is_kept.sum()))


def _row_names(table: RawTable, layout: Layout) -> list[str | None]:
    """The names of the rows, None where one is missing; an error if one occurs twice."""
    import polars as pl

    if layout.names is None:
        return []
    columns = [table.text(layout.names).alias("name"), pl.col(layout.names).alias("cell")]
    if layout.groups is not None:
        columns.append(_filled(table, layout, layout.groups).alias("group"))
    frame = table.without_blank_lines().select(columns).collect(engine="streaming")
    if layout.groups is not None and frame["name"].drop_nulls().is_duplicated().any():
        frame = frame.with_columns(pl.concat_str("group", "name", separator=" ").alias("name"))
    names: list[str | None] = frame["name"].to_list()
    nameless = frame["cell"].cast(pl.String).filter(frame["name"].is_null())
    if len(nameless):
        hint = " (if NA is a name, use keep_na=True)"
        hint = hint if any(map(is_word_for_missing, nameless)) else ""
        rows = f"{len(nameless):,} row{'s' if len(nameless) > 1 else ''}"
        warn_user(f"{table.name}: {rows} without a name skipped{hint}.")
    _refuse_repeats(table, layout, names)
    return names


def _filled(table: RawTable, layout: Layout, field: str) -> pl.Expr:
    """A column of text; that of groups with each name repeated for all lines of the group."""
    text = table.text(field)
    return text.forward_fill() if field == layout.groups else text


def _refuse_repeats(table: RawTable, layout: Layout, names: list[str | None]) -> None:
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen and layout.names is not None:
            raise ValueError(
                f"{place(table, i, layout.names)}: there is already a row {quote(name)}. "
                f"{_advice_about_names(table, layout)} If each line is one entry of an edge list, "
                f"choose its columns, for example {as_edges(table, layout)}."
            )
        if name is not None:
            seen.add(name)


def _advice_about_names(table: RawTable, layout: Layout) -> str:
    """What to do about two rows of the same name."""
    choice = "with names="
    if layout.texts:
        choice = f"for example names={quote(table.label(layout.texts[0]))}"
    return f"Rename one of them, or choose another column that names the rows, {choice}."


def _cells(table: RawTable, layout: Layout, missing: str) -> sp.csr_array:
    """The matrix of all weights, with a note about missing ones."""
    import polars as pl

    checks = Checks(weights=layout.weights, allows_missing=missing != "error")
    query = table.without_blank_lines().select(table.number(field) for field in layout.weights)
    size = max(1, CELLS // len(layout.weights))
    blank, parts = 0, [sp.csr_array((0, len(layout.weights)))]
    try:
        for batch in query.collect_batches(chunk_size=size, engine="streaming"):
            cells = batch.to_numpy(writable=True)
            is_blank = np.isnan(cells)
            blank += int(is_blank.sum())
            is_bad = any(batch.null_count().row(0)) or (cells < 0).any() or np.isinf(cells).any()
            if is_bad or (blank and missing == "error"):
                raise fault(table, checks)
            cells[is_blank] = 0
            parts.append(sp.csr_array(cells))
    except pl.exceptions.NoDataError:  # nothing below the header, for some versions
        pass
    except pl.exceptions.PolarsError as error:
        raise fault(table, checks, error) from error
    if blank:
        cells_read = f"{blank:,} missing cell{'s are' if blank > 1 else ' is'} read as 0"
        warn_user(f"{table.name}: {cells_read} (missing='error' refuses them).")
    return sp.vstack(parts, format="csr")


def _row_kind(table: RawTable, layout: Layout) -> str:
    """What a row is, by the heading of the names."""
    if layout.names is None or not table.has_headings:
        return "row"
    return kind_of(table.heading(layout.names), "row")


def _column_kind(table: RawTable, layout: Layout) -> str:
    """What a column is: years can be recognised."""
    headings = [table.heading(field) for field in layout.weights] if table.has_headings else []
    are_years = headings and all(text.isdecimal() and int(text) in YEARS for text in headings)
    return "year" if are_years else "column"
