"""Wide tables: a line for each row, a column for each column."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...joint.messages import listed, quote, warn_user
from ..read_options import ReadOptions
from .columns import FEW_RECORDS, ColumnProfile, doubtful_units, profiles_of
from .data import Data
from .headers import YEARS, kind_of
from .naming import chosen_columns, columns_in
from .raw_tables import RawTable, no_lines, pl, weight_error, without

TOTAL = re.compile(r"(.*\s|sub|grand)?-?totals?|sum", re.IGNORECASE)
CELLS_AT_ONCE = 4_000_000


class Layout(NamedTuple):
    """The roles of the columns of a wide table."""

    names: str | None  #: the column that names the rows; None if there is none
    weights: list[str]
    texts: list[str]  #: columns of text, which are not weights
    identifiers: list[str]  #: columns of numbers that only count or name rows, left out as well


def from_table(table: RawTable, options: ReadOptions) -> Data:
    """The matrix of a wide table, whose first column, or the one chosen, names the rows.

    Columns of text are not weights, but may be classes of the rows. Rows without a name are left
    out. A table of numbers alone without a header is a matrix without names.
    """
    layout = _layout(table, options)
    if not layout.weights:
        problem = f"there is no column of numbers beside {quote(table.columns[0])}"
        raise table.unsuitable(problem, [{"text": table.label(table.kept[-1])}])
    names = _row_names(table, layout)
    is_named = np.array([name is not None for name in names], dtype=bool)
    classes = _classes(table, layout, options.row_classes, is_named)
    _explain(table, layout, classes, options.name_column is not None)
    _warn_of_totals(table, layout, names)
    matrix = _matrix(table, layout, options.missing_weights("0"))
    warn_of_units(table, layout.weights)
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
    """The roles of the columns."""
    profiles = {profile.name: profile for profile in profiles_of(table)}
    classes = set(columns_in(options.row_classes))
    texts = [f for f in table.kept if profiles[f].is_text or table.heading(f) in classes]
    names = None
    if options.name_column is not None:
        names = table.field(options.name_column, "names")
    elif table.has_headings or texts:
        names = _default_names(table, texts, profiles)
    others = [field for field in table.kept if field != names]
    numbering = [f for f in others if profiles[f].is_numbering and options.drop != "none"]
    weights = [field for field in others if field not in texts and field not in numbering]
    return Layout(names, weights, [field for field in others if field in texts], numbering)


def _default_names(
    table: RawTable, texts: list[str], profiles: Mapping[str, ColumnProfile]
) -> str | None:
    """The first column; if that only numbers the rows, the first one that differs in all rows.

    If names are missing in a first column of text, as in a pivot table, the fullest one.
    """
    first = profiles[table.kept[0]]
    others = (profiles[f] for f in table.kept if f in texts or profiles[f].names_rows)
    unique = next((each.name for each in others if each.distinct == each.filled), None)
    if first.name in texts:
        fullest = max(texts, key=lambda field: profiles[field].filled)
        is_pivot = profiles[fullest].filled > first.filled
        return fullest if is_pivot or first.distinct == first.filled else unique or first.name
    is_in_order = first.is_whole or (np.diff(first.numbers) > 0).all()
    if first.filled >= FEW_RECORDS and (first.distinct < first.filled or not is_in_order):
        return unique  # numbers that repeat are weights, and so are decimals in any order
    is_no_name = first.is_numbering or first.distinct < first.filled
    return unique if unique and is_no_name else first.name


def _explain(table: RawTable, layout: Layout, classes: Collection[str], is_chosen: bool) -> None:
    """A note about the columns that are not weights."""
    facts = [f"{listed(classes, 5)} is read as classes of the rows"] if classes else []
    if left_out := [field for field in layout.texts if table.heading(field) not in classes]:
        facts.append(f"text in {_titles(table, left_out)} is left out")
    if layout.identifiers:
        titles = _titles(table, layout.identifiers)
        facts.append(f"{titles} is left out as an identifier (drop='none' keeps it)")
    if facts and layout.names is not None:
        named = f"the rows are named by {_titles(table, [layout.names])}"
        if layout.texts and not is_chosen:
            named += f" (names={quote(table.label(layout.texts[0]))} chooses another column)"
        warn_user(f"{table.name}: {named}; {'; '.join(facts)}.")


def warn_of_units(table: RawTable, weights: Collection[str]) -> None:
    """A note about columns that may be in different units."""
    fields = set(weights)
    profiles = [profile for profile in profiles_of(table) if profile.name in fields]
    if len(profiles) > 1 and table.has_headings and (units := doubtful_units(profiles)):
        fact = f"the columns seem to be in different units ({units})"
        advice = "Use kind='records' if they are not."
        warn_user(f"{table.name}: {fact}, but are read as weights of one unit. {advice}")


def _titles(table: RawTable, fields: Sequence[str]) -> str:
    labels = map(table.label, fields)
    return listed([x if isinstance(x, str) else f"column {x}" for x in labels], 5)


def _warn_of_totals(table: RawTable, layout: Layout, row_names: Sequence[str | None]) -> None:
    """A note about rows and columns that seem to be sums of others, which count twice."""
    rows = [name for name in row_names if name and TOTAL.fullmatch(name)]
    columns = [f for f in layout.weights if TOTAL.fullmatch(table.heading(f).strip())]
    about = "looks like a total, which counts others twice. If it is one,"
    if rows:
        warn_user(f"{table.name}: row {quote(rows[0])} {about} delete its line.")
    if columns:
        title = table.label(columns[0])
        how = f"leave it out with {without(table, title)}"
        warn_user(f"{table.name}: column {quote(title)} {about} {how}.")


def _row_names(table: RawTable, layout: Layout) -> list[str | None]:
    """The names of the rows, None where one is missing; an error if one occurs twice."""
    if layout.names is None:
        return []
    frame = table.frame.select(table.text(layout.names).alias("name")).collect(engine="streaming")
    nameless = frame["name"].null_count()
    if nameless:
        rows = f"{nameless:,} row{'s' if nameless > 1 else ''} without a name skipped"
        warn_user(f"{table.name}: {rows} (if NA is a name, use keep_na=True).")
    names: list[str | None] = frame["name"].to_list()
    is_repeated = ~frame["name"].is_first_distinct() & frame["name"].is_not_null()
    if is_repeated.any():
        number = is_repeated.arg_max() or 0
        ways = [{"names": table.label(field)} for field in layout.texts[:3]]
        place = table.place(number, layout.names)
        raise table.unsuitable(f"there is already a row {quote(names[number])}", ways, **place)
    return names


def _classes(
    table: RawTable, layout: Layout, choice: Any, is_named: np.ndarray
) -> dict[str, np.ndarray]:
    """The columns of text that hold classes of the rows, by heading."""
    if layout.names is None or not layout.texts or not table.has_headings:
        return {}
    frame = table.frame.select(map(table.text, layout.texts)).collect(engine="streaming")
    cells = frame.filter(is_named).fill_null("")
    values = {table.heading(field): cells[field].to_list() for field in layout.texts}
    return chosen_columns(values, choice, int(is_named.sum()))


def _matrix(table: RawTable, layout: Layout, missing: str) -> sp.csr_array:
    """The matrix of all weights, with a note about missing ones."""
    size = max(1, CELLS_AT_ONCE // len(layout.weights))
    blank, done, parts = 0, 0, [sp.csr_array((0, len(layout.weights)))]
    for batch in table.batches([pl.all()], size):
        cells = table.numbers(batch, layout.weights)
        is_blank = np.isnan(cells)
        is_bad = (cells < 0) | np.isinf(cells) | (is_blank & (missing == "error"))
        if is_bad.any():
            line, column = np.argwhere(is_bad)[0]
            raise weight_error(table, done + int(line), layout.weights[column], "table")
        cells[is_blank] = 0
        parts.append(sp.csr_array(cells))
        blank, done = blank + int(is_blank.sum()), done + len(batch)
    if blank:
        cells_read = f"{blank:,} missing cell{'s are' if blank > 1 else ' is'} read as 0"
        warn_user(f"{table.name}: {cells_read} (missing='error' refuses them).")
    return sp.vstack(parts, format="csr")
