"""Tables of any origin as lazy frames: their columns, their numbers, and where a cell is wrong."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...joint.messages import InputError, listed, need, quote, shortened
from ...joint.objects import EDGE_COLUMNS
from .headers import GAPS, MISSING_WORDS, SIGNS, group_pattern, looks_like_number
from .lines import Lines, line_error, records

if TYPE_CHECKING:
    import polars as pl


NO_NUMBER = -math.inf  # in place of a cell that is not a number


@dataclass(frozen=True)
class RawTable:
    """A lazy frame, the names of its columns, and where its lines are."""

    name: str  #: of the source, for messages
    frame: pl.LazyFrame  #: without blank lines
    fields: list[str]  #: names of columns in the frame
    columns: list[str]  #: headings, or positions if there are none
    lines: Lines | None = None  #: None if it is not delimited text
    has_headings: bool = False
    dropped: frozenset[str] = frozenset()  #: fields that are left out
    decimal: str = "."  #: the decimal mark of numbers that are text
    thousands: str = ""  #: the mark between their thousands
    keeps_na: bool = False  #: NA and the like are names, not missing names

    @cached_property
    def kept(self) -> list[str]:
        """The fields that are not left out."""
        return [field for field in self.fields if field not in self.dropped]

    @cached_property
    def schema(self) -> pl.Schema:
        """The types of all fields."""
        return self.frame.collect_schema()

    @cached_property
    def texts(self) -> frozenset[str]:
        """The fields of text, which may hold numbers as well."""
        import polars as pl

        if self.lines is not None:
            return frozenset(self.fields)
        return frozenset(field for field, dtype in self.schema.items() if dtype == pl.String)

    def field(self, which: str | int, role: str) -> str:
        """The column that a user means: by name, or by position from 0."""
        if isinstance(which, str) and which in self.columns:
            return self.fields[self.columns.index(which)]
        position = int(which) if isinstance(which, int) or which.isdecimal() else None
        if position is None or not 0 <= position < len(self.fields):
            similar = [c for c in self.columns if c.casefold() == str(which).casefold()]
            if len(similar) == 1:
                return self.fields[self.columns.index(similar[0])]
            close = get_close_matches(str(which), self.columns, n=1)
            example = close[0] if close else self.label(self.kept[0])
            raise self.error(
                f"there is no column {quote(which)}: the columns are {listed(self.columns, 10)}",
                f"Choose one of them, for example {role}={example!r}.",
            )
        return self.fields[position]

    def error(self, message: str, advice: str | None = None, **place: Any) -> InputError:
        """An error about the table, at a place in it."""
        return InputError(message, file=self.name, advice=advice, **place)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {field: position for position, field in enumerate(self.fields)}

    def position(self, field: str) -> int:
        """The place of a column, from 0."""
        return self._positions[field]

    def heading(self, field: str) -> str:
        """What people call a column."""
        return self.columns[self.position(field)]

    def label(self, field: str) -> str | int:
        """What a user can write to choose a column: its heading, or its position."""
        heading, position = self.heading(field), self.position(field)
        is_usable = self.has_headings and heading and self.columns.index(heading) == position
        return heading if is_usable else position

    def place(self, number: int, field: str) -> dict[str, Any]:
        """The line and column of a cell, in the record with this number from 0, for ``error``."""
        heading = self.heading(field) if self.has_headings else ""
        line = number + 1
        if self.lines is not None:
            line, _ = next(itertools.islice(records(self.lines), number, None))
        return {"line": line, "column": heading or self.position(field) + 1}

    def is_number(self, field: str) -> bool:
        """Does the column hold numbers by its type?"""
        import polars as pl

        dtype = self.schema[field]
        return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)

    def text(self, field: str) -> pl.Expr:
        """A column as text; null where it is missing."""
        import polars as pl

        column = pl.col(field).cast(pl.String).str.strip_chars()
        if self.keeps_na and not self.schema[field].is_float():  # an empty cell is always missing
            return column.replace("", None)
        return pl.when(~column.is_in(MISSING_WORDS)).then(column).alias(field)

    def batches(self, columns: Sequence[Any], size: int) -> Iterator[pl.DataFrame]:
        """Columns of all records, so many at a time."""
        from polars.exceptions import NoDataError

        with suppress(NoDataError):  # nothing below the header, for some versions
            query = self.frame.select(columns)
            yield from query.collect_batches(chunk_size=size, engine="streaming")

    def numbers(self, frame: pl.DataFrame, fields: Sequence[str]) -> np.ndarray:
        """Some records as a matrix: NaN where a cell is missing, -inf where it is no number."""
        import polars as pl

        texts = [i for i, field in enumerate(fields) if field in self.texts]
        typed = [i for i, field in enumerate(fields) if field not in self.texts]
        for i in typed:
            if not self.is_number(fields[i]):  # a date could be cast, too
                problem, drop = f"a {self.schema[fields[i]]} is not a number", self.label(fields[i])
                raise unsuitable(self, problem, [{"drop": drop}], column=self.heading(fields[i]))
        matrix = np.empty((len(frame), len(fields)))
        for i in typed:
            matrix[:, i] = frame.get_column(fields[i]).cast(pl.Float64, strict=False).to_numpy()
        if texts and len(frame):
            cells = pl.concat([frame.get_column(fields[i]) for i in texts]).alias("cell")
            matrix[:, texts] = self._parse_all(cells).reshape(-1, len(frame)).T
        return matrix

    def _parse_all(self, cells: pl.Series) -> np.ndarray:
        """Many cells of text as numbers; only those that are not plain need a closer look."""
        import polars as pl

        numbers = cells.cast(pl.Float64, strict=False)
        if self.decimal == ",":
            numbers = numbers.clear(len(cells))
        values = numbers.fill_null(NO_NUMBER).to_numpy(writable=True)
        is_open = numbers.is_null()
        if is_open.any():
            others = cells.filter(is_open).to_frame().select(self._parse(pl.col("cell")))
            values[is_open.to_numpy()] = others.to_series().to_numpy()
        return values

    def _parse(self, column: pl.Expr) -> pl.Expr:
        """Text as numbers, with other marks, a currency or a percent sign."""
        import polars as pl

        cell = text = column.str.strip_chars(SIGNS)
        if self.thousands:
            is_grouped = text.str.contains(group_pattern(self.decimal, self.thousands))
            joined = text.str.replace_all(self.thousands, "", literal=True)
            text = pl.when(is_grouped).then(joined).otherwise(text)
        if self.decimal == ",":
            text = text.str.replace_all(".", " ", literal=True)
            text = text.str.replace(",", ".", literal=True)
        number = text.cast(pl.Float64, strict=False).fill_null(NO_NUMBER)
        is_gap = cell.is_null() | cell.is_in(GAPS)
        return pl.when(is_gap).then(float("nan")).otherwise(number)


# --- columns that are left out ----------------------------------------------------------------


def without_columns(table: RawTable, drop: str | int | Iterable[str | int] | None) -> RawTable:
    """A table without the columns that the user leaves out, and without nameless empty ones."""
    fields = {table.field(which, "drop") for which in columns_to_drop(drop)}
    for field in reversed(table.fields):  # of commas at the ends of lines
        if not _is_nothing(table, field):
            break
        fields.add(field)
    smaller = replace(table, dropped=frozenset(fields))
    if not smaller.kept:
        raise table.error("drop= leaves no column", "Drop fewer columns.")
    _refuse_repeated_headings(smaller)
    return smaller


def columns_to_drop(drop: str | int | Iterable[str | int] | None) -> list[str | int]:
    """The columns in a list, or in a text with commas; "none" is none."""
    if drop is None or drop == "none":
        return []
    if isinstance(drop, int):
        return [drop]
    if isinstance(drop, str):
        return [part.strip() for part in drop.split(",") if part.strip()]
    return list(drop)


def _is_nothing(table: RawTable, field: str) -> bool:
    """Has a column of delimited text neither a heading nor a value?"""
    import polars as pl

    has_title = table.has_headings and table.heading(field)
    if table.lines is None or has_title or table.position(field) < 2:
        return False
    filled = table.frame.select(field).filter(pl.col(field).is_not_null()).head(1)
    return not len(filled.collect(engine="streaming"))


def _refuse_repeated_headings(table: RawTable) -> None:
    if not table.has_headings or len(set(table.columns)) == len(table.columns):
        return
    seen: dict[str, int] = {}
    for field in table.kept:
        heading, position = table.heading(field), table.position(field)
        if heading in seen:
            raise table.error(
                f"the heading {quote(heading)} occurs already in column {seen[heading] + 1}",
                f"Rename one of them, or leave one out with {without(table, position)} (positions "
                "count from 0).",
                line=None if table.lines is None else table.lines.header_line,
                column=position + 1,
            )
        seen[heading] = position


def without(table: RawTable, column: str | int) -> str:
    """The keywords that leave a column out; with few columns left, a wide table must be stated."""
    is_wide, left = len(table.kept) > EDGE_COLUMNS, len(table.kept) - 1
    kind = ", kind='table'" if is_wide and left <= EDGE_COLUMNS else ""
    return f"drop={quote(column)}{kind}"


# --- errors -----------------------------------------------------------------------------------


@contextmanager
def errors_of_polars(table: RawTable) -> Iterator[None]:
    """Errors about a table that polars cannot read, also where it only finds out on the way."""
    from polars.exceptions import PanicException, PolarsError

    try:
        yield
    except (PolarsError, PanicException) as error:
        raise table_error(table, error) from error


def table_error(table: RawTable, error: BaseException) -> InputError:
    """The error about a table that polars cannot read, with the line that is wrong."""
    if table.lines is not None:
        problem = line_error(table.lines)
        if problem is not None:
            return problem
        if next(records(table.lines), None) is None:
            return no_lines(table)
    return table.error(
        f"it cannot be read as a table: {first_line(error)}",
        "If it is something else, state its kind, for example kind='texts'.",
    )


def no_lines(table: RawTable) -> InputError:
    """The error of a table that has nothing but a header."""
    return table.error("there are no lines below the header", "Give a file with data.")


def unsuitable(
    table: RawTable, message: str, ways: Sequence[Mapping[str, Any]] = (), **place: Any
) -> InputError:
    """An error about a table that may be readable in other ways."""
    error = InputError(message, file=table.name, **place)
    error.ways = ways
    return error


def weight_error(table: RawTable, number: int, field: str, kind: str = "edges") -> InputError:
    """What is wrong with the weight in a column of the record with this number, from 0."""
    cell = table.frame.select(field).slice(number, 1).collect()
    place, text = table.place(number, field), str(cell.item())
    weight = float(table.numbers(cell, [field])[0, 0])
    if math.isnan(weight):
        skipped = [{"missing": "skip"}, {"missing": "0"}]
        return unsuitable(table, "the weight is missing", skipped, **place)
    ways: list[Mapping[str, Any]] = []
    if kind == "table":
        is_narrow = len(table.kept) - 1 <= EDGE_COLUMNS  # so that the kind must be stated
        ways.append({"drop": table.label(field), **({"kind": kind} if is_narrow else {})})
    if weight == NO_NUMBER and cell.item() != NO_NUMBER:
        marks = [{"decimal": ","}, {"thousands": ","}] if looks_like_number(text) else []
        return unsuitable(table, f"{quote(text)} is not a number", [*marks, *ways], **place)
    return unsuitable(table, weight_problem(weight) or "", ways, **place)


def weight_problem(value: float) -> str | None:
    """What is wrong with a number as a weight."""
    if math.isnan(value):
        return "NaN is not a weight: write 0 where nothing was observed."
    if math.isinf(value):
        return "infinity is not a weight."
    if value < 0:
        return f"the weight {value:g} is negative."
    return None


def reason(error: BaseException) -> str:
    """What a library reports, with the type of its error where the text alone explains nothing."""
    text = first_line(error)
    is_clear = text and not isinstance(error, KeyError)
    return text if is_clear else f"{type(error).__name__} {text}".strip()


def first_line(error: BaseException) -> str:
    """The first line of what a library reports, without its full stop."""
    return shortened(str(error).strip().split("\n")[0].rstrip("."))


# --- data frames ------------------------------------------------------------------------------


def from_frame(frame: Any, name: str) -> RawTable:
    """A polars or pandas data frame; columns of the latter may share a name."""
    need("Reading tables", "polars")
    import polars as pl

    if isinstance(frame, pl.LazyFrame | pl.DataFrame):
        names = frame.lazy().collect_schema().names()
        return RawTable(name, frame.lazy(), names, names, has_headings=True)
    fields = [str(i) for i in range(frame.shape[1])]
    data = {field: _as_series(frame.iloc[:, i]) for i, field in enumerate(fields)}
    columns = [str(column) for column in frame.columns]
    return RawTable(name, pl.DataFrame(data).lazy(), fields, columns, has_headings=True)


def _as_series(column: Any) -> pl.Series:
    """A pandas column, without the help of pyarrow."""
    import polars as pl

    if column.dtype.kind in "iufb" and not hasattr(column.dtype, "na_value"):
        return pl.Series(column.to_numpy())
    pairs = zip(column.astype(object), column.isna(), strict=True)
    return pl.Series([None if is_na else value for value, is_na in pairs], strict=False)
