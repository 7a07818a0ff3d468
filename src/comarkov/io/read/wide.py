"""Wide tables: a line for each row, a column for each column."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...joint.messages import listed, quote, warn_user
from ..read_options import ReadOptions
from .columns import FEW_RECORDS, mixed_units, profiles_of
from .data import Data
from .edge_lists import identifiers_in
from .headers import YEARS, is_missing, is_word_for_missing, kind_of, looks_like_number
from .naming import chosen_columns, columns_in
from .raw_tables import RawTable, no_lines, prose_column, weight_error, without

if TYPE_CHECKING:
    import polars as pl


TOTAL = re.compile(r"(.*\s|sub|grand)?-?totals?|sum", re.IGNORECASE)
ROLE_SAMPLE_RECORDS = 1000  # that show what a column holds
CELLS_AT_ONCE = 4_000_000
MAX_NUMBERS = 0.5  # the share of numbers in a column of text, such as titles of films


@dataclass(frozen=True)
class Layout:
    """The roles of the columns of a wide table."""

    names: str | None  #: the column that names the rows; None if there is none
    weights: list[str]
    texts: list[str]  #: columns of text, which are not weights
    identifiers: list[str]  #: columns of numbers that only count or name rows, left out as well
    groups: str | None = None  #: a column filled only in the first line of each group of rows


def from_table(table: RawTable, options: ReadOptions) -> Data:
    """The matrix of a wide table, whose first column, or the one chosen, names the rows.

    Columns of text are not weights, but may be classes of the rows. Rows without a name are left
    out. A table of numbers alone without a header is a matrix without names.
    """
    layout = _layout(table, options)
    if not layout.weights:
        prose = prose_column(table)
        text = table.label(table.kept[-1]) if prose is None else prose
        raise table.error(
            f"there is no column of numbers beside {quote(table.columns[0])}",
            f"For words in texts name their column, for example text={text!r}.",
        )
    names = _row_names(table, layout)
    is_named = np.array([name is not None for name in names], dtype=bool)
    classes = _classes(table, layout, options.row_classes, is_named)
    _explain(table, layout, classes, options.name_column is not None)
    _warn_of_totals(table, layout, names)
    matrix = _matrix(table, layout, options.missing_weights("0"))
    _warn_of_units(table, layout)
    if not matrix.shape[0]:
        raise no_lines(table)
    headings = [table.heading(field) for field in layout.weights] if table.has_headings else None
    has_title = layout.names is not None and table.has_headings
    are_years = headings and all(text.isdecimal() and int(text) in YEARS for text in headings)
    return Data(
        matrix if layout.names is None else matrix[is_named],
        None if layout.names is None else [name for name in names if name is not None],
        headings,
        kind_of(table.heading(layout.names or ""), "row") if has_title else "row",
        "year" if are_years else "column",
        table.name,
        row_classes=classes,
    )


def _layout(table: RawTable, options: ReadOptions) -> Layout:
    """The roles of the columns, from the first records of the table."""
    sample = table.frame.head(ROLE_SAMPLE_RECORDS).collect()
    classes = set(columns_in(options.row_classes))
    are_texts = set(_texts(table, sample)) | {f for f in table.kept if table.heading(f) in classes}
    texts = [field for field in table.kept if field in are_texts]
    first, names = table.kept[0], None
    if options.name_column is not None:
        names = table.field(options.name_column, "names")
    elif table.has_headings or texts:
        names = _default_names(table, sample, texts)
    has_groups = options.name_column is None and first in are_texts and names != first
    others = [field for field in table.kept if field != names]
    identifiers = [] if options.drop == "none" else identifiers_in(table, others)
    return Layout(
        names,
        [field for field in others if field not in are_texts and field not in identifiers],
        [field for field in others if field in are_texts],
        identifiers,
        first if has_groups else None,
    )


def _texts(table: RawTable, sample: pl.DataFrame) -> list[str]:
    """The columns in which most values are no numbers, nor anything that looks like one."""
    texts = [field for field in table.kept if field in table.texts]
    others = [field for field in table.kept if field not in table.texts]
    dates = [field for field in others if not table.is_number(field)]  # or lists, categories
    for some in (sample.head(5), sample):  # a few records are enough for most columns
        if texts and len(some):
            cells = table.numbers(some, texts)
            is_text = np.isfinite(cells).sum(axis=0) < MAX_NUMBERS * (~np.isnan(cells)).sum(axis=0)
            texts = [texts[i] for i in np.flatnonzero(is_text)]
    return dates + [field for field in texts if _is_text(sample[field].drop_nulls().to_list())]


def _is_text(cells: Sequence[str]) -> bool:
    values = [cell for cell in cells if not is_missing(cell)]
    return bool(values) and sum(map(looks_like_number, values)) < MAX_NUMBERS * len(values)


def _default_names(table: RawTable, sample: pl.DataFrame, texts: list[str]) -> str | None:
    """The first column; if that only numbers the rows, the first one of text without repeats.

    In a pivot table, which names groups only in their first lines, the first complete one of text.
    """
    first = table.kept[0]
    if first in texts and any(map(is_missing, sample[first])):
        own = [is_missing(cell) or not _is_total(cell) for cell in sample[first]]
        return next((f for f in texts if not any(map(is_missing, sample[f].filter(own)))), first)
    if first in texts:
        return first
    unique = next((f for f in texts if sample[f].n_unique() == len(sample)), None)
    if sample[first].drop_nulls().is_duplicated().any() and len(sample) >= FEW_RECORDS:
        return unique  # numbers that repeat are weights
    if not texts or not identifiers_in(table, [first]):
        return first
    return texts[0] if texts[0] == unique else first


def _is_total(name: str) -> bool:
    """Does a row or column seem to hold the sums of others?"""
    return TOTAL.fullmatch(name.strip()) is not None


def _explain(table: RawTable, layout: Layout, classes: Collection[str], is_chosen: bool) -> None:
    """A note about the columns that are not weights."""
    facts = []
    if classes:
        facts.append(f"{listed(classes, 5)} is read as classes of the rows")
    left_out = [field for field in layout.texts if table.heading(field) not in classes]
    if left_out:
        facts.append(f"text in {_titles(table, left_out)} is left out")
    if layout.identifiers:
        titles = _titles(table, layout.identifiers)
        facts.append(f"{titles} is left out as an identifier (drop='none' keeps it)")
    if facts and layout.names is not None:
        named = f"the rows are named by {_titles(table, [layout.names])}"
        if layout.texts and not is_chosen:
            named += f" (names={quote(table.label(layout.texts[0]))} chooses another column)"
        warn_user(f"{table.name}: {named}; {'; '.join(facts)}.")


def _titles(table: RawTable, fields: Sequence[str]) -> str:
    """What a note calls columns."""
    labels = map(table.label, fields)
    return listed([x if isinstance(x, str) else f"column {x}" for x in labels], 5)


def _warn_of_totals(table: RawTable, layout: Layout, row_names: Sequence[str | None]) -> None:
    """A note about rows and columns that seem to be sums of others, which count twice."""
    rows = [name for name in row_names if name is not None and _is_total(name)]
    columns = [f for f in layout.weights if table.has_headings and _is_total(table.heading(f))]
    about = "looks like a total, which counts others twice. If it is one,"
    if rows:
        warn_user(f"{table.name}: row {quote(rows[0])} {about} delete its line.")
    if columns:
        title = table.label(columns[0])
        how = f"leave it out with {without(table, title)}"
        warn_user(f"{table.name}: column {quote(title)} {about} {how}.")


def _warn_of_units(table: RawTable, layout: Layout) -> None:
    """A note if the columns are not of one unit, so that their sums mean nothing."""
    profiles = [each for each in profiles_of(table) if each.name in layout.weights]
    if len(profiles) > 1 and table.has_headings and (why := mixed_units(profiles)):
        warn_user(
            f"{table.name}: the columns seem to be in different units ({why}), but are read as "
            "weights of one unit. Use kind='records' if they are not."
        )


def _row_names(table: RawTable, layout: Layout) -> list[str | None]:
    """The names of the rows, None where one is missing; an error if one occurs twice."""
    import polars as pl

    if layout.names is None:
        return []
    columns = [table.text(layout.names).alias("name"), pl.col(layout.names).alias("cell")]
    if layout.groups is not None:
        columns.append(_fill(table, layout, layout.groups).alias("group"))
    frame = table.frame.select(columns).collect(engine="streaming")
    if layout.groups is not None and frame["name"].drop_nulls().is_duplicated().any():
        frame = frame.with_columns(pl.concat_str("group", "name", separator=" ").alias("name"))
    nameless = frame["cell"].cast(pl.String).filter(frame["name"].is_null())
    if len(nameless):
        has_words = any(map(is_word_for_missing, nameless))
        hint = " (if NA is a name, use keep_na=True)" if has_words else ""
        rows = f"{len(nameless):,} row{'s' if len(nameless) > 1 else ''}"
        warn_user(f"{table.name}: {rows} without a name skipped{hint}.")
    names: list[str | None] = frame["name"].to_list()
    is_repeated = ~frame["name"].is_first_distinct() & frame["name"].is_not_null()
    if is_repeated.any():
        number = is_repeated.arg_max() or 0
        other = f"for example names={quote(table.label((*layout.texts, *layout.weights)[0]))}"
        raise table.error(
            f"there is already a row {quote(names[number])}",
            f"Rename one of them, or choose another column that names the rows, {other}. If the "
            "columns describe each line, use kind='records'; if lines are edges, kind='edges'.",
            **table.place(number, layout.names),
        )
    return names


def _fill(table: RawTable, layout: Layout, field: str) -> pl.Expr:
    """A column of text; that of groups with each name repeated for all lines of the group."""
    text = table.text(field)
    return text.forward_fill() if field == layout.groups else text


def _classes(
    table: RawTable, layout: Layout, choice: Any, is_named: np.ndarray
) -> dict[str, np.ndarray]:
    """The columns of text that hold classes of the rows, by heading."""
    if layout.names is None or not layout.texts or not table.has_headings:
        return {}
    columns = [_fill(table, layout, field) for field in layout.texts]
    frame = table.frame.select(columns).collect(engine="streaming").filter(is_named)
    values = {table.heading(field): frame[field].fill_null("").to_list() for field in layout.texts}
    return chosen_columns(values, choice, int(is_named.sum()))


def _matrix(table: RawTable, layout: Layout, missing: str) -> sp.csr_array:
    """The matrix of all weights, with a note about missing ones."""
    import polars as pl

    size = max(1, CELLS_AT_ONCE // len(layout.weights))
    blank, done, parts = 0, 0, [sp.csr_array((0, len(layout.weights)))]
    for batch in table.batches([pl.all()], size):
        cells = table.numbers(batch, layout.weights)
        is_blank = np.isnan(cells)
        is_bad = (cells < 0) | np.isinf(cells) | (is_blank & (missing == "error"))
        if is_bad.any():
            line, column = np.argwhere(is_bad)[0]
            raise weight_error(table, done + int(line), layout.weights[column])
        cells[is_blank] = 0
        parts.append(sp.csr_array(cells))
        blank, done = blank + int(is_blank.sum()), done + len(batch)
    if blank:
        cells_read = f"{blank:,} missing cell{'s are' if blank > 1 else ' is'} read as 0"
        warn_user(f"{table.name}: {cells_read} (missing='error' refuses them).")
    return sp.vstack(parts, format="csr")
