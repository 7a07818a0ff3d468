"""Wide tables: a line for each row, a column for each column."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...joint.messages import quote, warn_user
from .data import Data
from .edge_lists import edge_example
from .faults import Checks, fault, no_lines, place
from .headers import SAMPLE, YEARS, is_identifier, kind_of, without_identifiers
from .naming import chosen_columns, columns_in
from .raw_tables import RawTable, listed, prose_column, without
from .records import is_missing, is_word_for_missing, looks_like_number

if TYPE_CHECKING:
    import polars as pl


TOTAL = re.compile(r"(.*\s|sub|grand)?-?totals?|sum", re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """The roles of the columns of a wide table."""

    names: str | None  #: the column that names the rows; None if there is none
    weights: list[str]
    texts: list[str]  #: columns of text, which are not weights
    identifiers: list[str]  #: columns of numbers that only count or name rows, left out as well
    groups: str | None = None  #: a column filled only in the first line of each group of rows


@dataclass(frozen=True)
class WideOptions:
    """What the user states about a wide table."""

    names: str | int | None = None  #: the column that names the rows
    classes: Any = None  #: of the rows: files, mappings, or columns of the table
    keeps_identifiers: bool = False  #: columns such as "id" hold weights
    is_stated: bool = False  #: that it is a wide table


def layout_of(table: RawTable, options: WideOptions) -> Layout:
    """The roles of the columns, from the first records of the table."""
    sample = table.without_blank_lines().select(table.kept).head(SAMPLE).collect()
    classes = columns_in(options.classes)
    texts = [
        field
        for field in table.kept
        if _is_text(table, sample[field]) or table.heading(field) in classes
    ]
    if options.names is not None:
        chosen: str | None = table.field(options.names, "names")
    elif not table.has_headings and not texts:
        chosen = None
    else:
        chosen = _default_names(table, sample, texts)
    first = table.kept[0]
    has_groups = options.names is None and first in texts and chosen != first
    others = [field for field in table.kept if field != chosen]
    identifiers = [
        field
        for field in others
        if not options.keeps_identifiers and _is_identifier(table, sample[field])
    ]
    return Layout(
        chosen,
        [field for field in others if field not in texts and field not in identifiers],
        [field for field in others if field in texts],
        identifiers,
        first if has_groups else None,
    )


def _is_text(table: RawTable, column: pl.Series) -> bool:
    """Is no value of a column a number, nor anything that looks like one?"""
    import polars as pl

    if table.is_number(column.name):
        return False
    if column.dtype != pl.String:  # dates, categories, lists
        return True
    values = [value for value in column.to_list() if not is_missing(value)]
    return bool(values) and not any(map(looks_like_number, values))


def _default_names(table: RawTable, sample: pl.DataFrame, texts: list[str]) -> str:
    """The first column; if that only numbers the rows, the first one of text without repeats.

    In a pivot table, which names groups only in their first lines, the first complete one of text.
    """
    first = table.kept[0]
    if first in texts and any(map(is_missing, sample[first])):
        own = [is_missing(cell) or not is_total(cell) for cell in sample[first]]
        return next((f for f in texts if not any(map(is_missing, sample[f].filter(own)))), first)
    if not texts or first in texts or not _is_identifier(table, sample[first]):
        return first
    return texts[0] if sample[texts[0]].n_unique() == len(sample) else first


def _is_identifier(table: RawTable, column: pl.Series) -> bool:
    """Does a column with a heading only number the rows?"""
    return table.has_headings and is_identifier(table.heading(column.name), column.to_list())


def is_total(name: str) -> bool:
    """Does a row or column seem to hold the sums of others?"""
    return TOTAL.fullmatch(name.strip()) is not None


def explain(table: RawTable, layout: Layout, classes: Collection[str], is_chosen: bool) -> None:
    """A note about the columns that are not weights."""
    facts = []
    if classes:
        facts.append(f"{listed(list(classes), 5)} is read as classes of the rows")
    left_out = [field for field in layout.texts if table.heading(field) not in classes]
    if left_out:
        facts.append(f"text in {listed([_title(table, f) for f in left_out], 5)} is left out")
    if layout.identifiers:
        identifiers = listed([_title(table, field) for field in layout.identifiers], 5)
        facts.append(f"{identifiers} is left out as an identifier (drop='none' keeps it)")
    if facts and layout.names is not None:
        named = f"the rows are named by {_title(table, layout.names)}"
        other = next(iter(layout.texts), None)
        if other is not None and not is_chosen:
            named += f" (names={quote(table.label(other))} chooses another column)"
        warn_user(f"{table.name}: {named}; {'; '.join(facts)}.")


def warn_of_totals(table: RawTable, layout: Layout, row_names: Sequence[str | None]) -> None:
    """A note about rows and columns that seem to be sums of others, which count twice."""
    rows = [name for name in row_names if name is not None and is_total(name)]
    columns = [f for f in layout.weights if table.has_headings and is_total(table.heading(f))]
    if rows:
        warn_user(
            f"{table.name}: row {quote(rows[0])} looks like a total, which counts others twice. "
            "If it "
            "is one, delete its line."
        )
    if columns:
        title = table.label(columns[0])
        warn_user(
            f"{table.name}: column {quote(title)} looks like a total, which counts others twice. "
            "If it "
            f"is one, leave it out with {without(table, title)}."
        )


def _title(table: RawTable, field: str) -> str:
    """What a note calls a column."""
    label = table.label(field)
    return label if isinstance(label, str) else f"column {label}"


def refuse_edges(table: RawTable, layout: Layout) -> None:
    """Refuse what is an edge list with more columns rather than a wide table."""
    if layout.names is None:
        labels = edge_example(table, table.kept[:3])
        raise ValueError(
            f"{table.name} has {len(table.kept)} columns of numbers and no header. For an edge "
            f"list choose its columns, for example {labels}; for a matrix use kind='table'."
        )
    if len(layout.weights) < 2 and layout.texts:
        prose = prose_column(table)
        words = "" if prose is None else f" For the words of texts, use text={quote(prose)}."
        raise ValueError(
            f"{table.name} has {len(table.kept)} columns ({listed(table.columns)}), but "
            f"{'only one' if layout.weights else 'none'} of numbers, so it is not a wide table. "
            f"For an edge list choose its columns, for example {as_edges(table, layout)}.{words}"
        )


def as_edges(table: RawTable, layout: Layout) -> str:
    """A choice of columns that reads the table as an edge list."""
    names = [] if layout.names is None else [layout.names]
    if len(layout.texts) > 1 and not without_identifiers(table, names):
        names = [layout.texts[0]]
        layout = replace(layout, texts=layout.texts[1:])
    if layout.texts:
        return edge_example(table, [*names, layout.texts[0], *layout.weights[-1:]][:3])
    return edge_example(table, [*names, *layout.weights[:2]])


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
