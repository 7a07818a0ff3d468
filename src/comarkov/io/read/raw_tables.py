"""Tables of any origin as lazy frames: their columns, their numbers, and where a cell is wrong."""

from __future__ import annotations

import codecs
import csv
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ...joint.messages import InputError, listed, need, quote, shortened
from ...joint.objects import EDGE_COLUMNS
from .headers import GAPS, MISSING_WORDS, SIGNS, group_pattern, looks_like_number
from .opened import Opened, decoded

if TYPE_CHECKING:
    import polars

    pl = polars
else:

    class _Polars:
        """polars, which is imported when it is first used."""

        def __getattr__(self, name: str) -> Any:
            need("Reading tables", "polars")
            setattr(self, name, value := getattr(import_module("polars"), name))
            return value

    pl = _Polars()

csv.field_size_limit(1 << 30)
MAX_REPORTED = 10_000  # characters of what a library reports
NO_NUMBER = -math.inf  # in place of a cell that is not a number


@dataclass(frozen=True)
class Lines:
    """Where the records of a delimited file are."""

    file: Opened  #: in UTF-8
    separator: str
    skipped: int  #: lines before the first record
    width: int  #: fields in a record
    header_line: int | None = None  #: from 1; None if there is no header


def records(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    """The number of the line on which each record begins, and its fields; blank ones left out."""
    with lines.file.path.open(encoding="utf-8-sig", newline="") as file:
        for _ in range(lines.skipped):
            next(file)
        reader = csv.reader(file, delimiter=lines.separator)
        begins = lines.skipped + 1
        for record in reader:
            if any(record):
                yield begins, record
            begins = lines.skipped + reader.line_num + 1


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

    def unsuitable(
        self, message: str, ways: Sequence[Mapping[str, Any]] = (), **place: Any
    ) -> InputError:
        """An error about a table that may be readable in other ways."""
        error = self.error(message, **place)
        error.ways = ways
        return error

    @cached_property
    def position(self) -> dict[str, int]:
        """The place of each field, from 0."""
        return {field: position for position, field in enumerate(self.fields)}

    def heading(self, field: str) -> str:
        """What people call a column."""
        return self.columns[self.position[field]]

    def label(self, field: str) -> str | int:
        """What a user can write to choose a column: its heading, or its position."""
        heading, position = self.heading(field), self.position[field]
        is_usable = self.has_headings and heading and self.columns.index(heading) == position
        return heading if is_usable else position

    def place(self, number: int, field: str) -> dict[str, Any]:
        """The line and column of a cell, in the record with this number from 0, for ``error``."""
        heading = self.heading(field) if self.has_headings else ""
        line = number + 1
        if self.lines is not None:
            line, _ = next(itertools.islice(records(self.lines), number, None))
        return {"line": line, "column": heading or self.position[field] + 1}

    def is_number(self, field: str) -> bool:
        """Does the column hold numbers by its type?"""
        dtype = self.schema[field]
        return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)

    def text(self, field: str) -> pl.Expr:
        """A column as text; null where it is missing."""
        column = pl.col(field).cast(pl.String).str.strip_chars()
        if self.keeps_na and not self.schema[field].is_float():  # an empty cell is always missing
            return column.replace("", None)
        return pl.when(~column.is_in(MISSING_WORDS)).then(column).alias(field)

    def batches(self, columns: Sequence[Any], size: int) -> Iterator[pl.DataFrame]:
        """Columns of all records, so many at a time."""
        with suppress(pl.exceptions.NoDataError):  # nothing below the header, for some versions
            query = self.frame.select(columns)
            yield from query.collect_batches(chunk_size=size, engine="streaming")

    def cells(self, field: str) -> pl.Series:
        """A column of all records."""
        return self.frame.select(field).collect(engine="streaming").to_series()

    def numbers(self, frame: pl.DataFrame, fields: Sequence[str]) -> np.ndarray:
        """Some records as a matrix: NaN where a cell is missing, -inf where it is no number."""
        texts = [i for i, field in enumerate(fields) if field in self.texts]
        typed = [i for i, field in enumerate(fields) if field not in self.texts]
        for i in typed:
            if not self.is_number(fields[i]):  # a date could be cast, too
                problem, drop = f"a {self.schema[fields[i]]} is not a number", self.label(fields[i])
                raise self.unsuitable(problem, [{"drop": drop}], column=self.heading(fields[i]))
        matrix = np.empty((len(frame), len(fields)))
        for i in typed:
            matrix[:, i] = frame.get_column(fields[i]).cast(pl.Float64, strict=False).to_numpy()
        if texts and len(frame):
            cells = pl.concat([frame.get_column(fields[i]) for i in texts]).alias("cell")
            matrix[:, texts] = self._parse_all(cells).reshape(-1, len(frame)).T
        return matrix

    def _parse_all(self, cells: pl.Series) -> np.ndarray:
        """Many cells of text as numbers; only those that are not plain need a closer look."""
        numbers = cells.cast(pl.Float64, strict=False)
        if self.decimal == ",":
            numbers = numbers.clear(len(cells))
        values = numbers.fill_null(NO_NUMBER).to_numpy(writable=True)
        is_open = numbers.is_null()
        if is_open.any():
            others = cells.filter(is_open).to_frame().select(self._parsed_cell())
            values[is_open.to_numpy()] = others.to_series().to_numpy()
        return values

    def _parsed_cell(self) -> pl.Expr:
        """The text of a cell as a number, with other marks, a currency or a percent sign."""
        cell = text = pl.col("cell").str.strip_chars(SIGNS)
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
    # of commas at the ends of lines
    for field in [] if table.lines is None else reversed(table.fields[2:]):
        filled = table.frame.select(field).drop_nulls().head(1)
        is_titled = table.has_headings and table.heading(field)
        if is_titled or len(filled.collect(engine="streaming")):
            break
        fields.add(field)
    smaller = replace(table, dropped=frozenset(fields))
    if not smaller.kept:
        raise table.error("drop= leaves no column", "Drop fewer columns.")
    seen: dict[str, int] = {}
    is_unclear = table.has_headings and len(set(table.columns)) < len(table.columns)
    for field in smaller.kept if is_unclear else ():
        heading, position = table.heading(field), table.position[field]
        if heading in seen:
            raise table.error(
                f"the heading {quote(heading)} occurs already in column {seen[heading] + 1}",
                f"Rename one of them, or leave one out with {without(smaller, position)} "
                "(positions count from 0).",
                line=None if table.lines is None else table.lines.header_line,
                column=position + 1,
            )
        seen[heading] = position
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


def without(table: RawTable, column: str | int) -> str:
    """The keywords that leave a column out; with few columns left, a wide table must be stated."""
    is_wide, left = len(table.kept) > EDGE_COLUMNS, len(table.kept) - 1
    kind = ", kind='table'" if is_wide and left <= EDGE_COLUMNS else ""
    return f"drop={quote(column)}{kind}"


# --- errors -----------------------------------------------------------------------------------


def refuse_wrong_line(lines: Lines) -> None:
    """An error about the first line that is not a record of the table, if there is one."""
    line, name, separator = lines.skipped, lines.file.name, lines.separator
    try:
        for line, record in records(lines):
            if len(record) != lines.width:
                fields = f"{len(record)} field{'' if len(record) == 1 else 's'}"
                advice = f"Put names that contain {separator!r} in double quotes"
                if 1 < len(record) < lines.width:
                    advice = f"Write {separator!r} for each field that is missing at its end"
                other = ";" if separator == "," else ","
                advice += f", or choose what separates the fields, such as separator={other!r}."
                if lines.file.suffix == ".txt":
                    advice += " For prose use kind='texts'."
                problem = f"the line has {fields}, but the first line has {lines.width}, "
                problem += f"separated by {separator!r}"
                raise InputError(problem, file=name, line=line, advice=advice)
    except UnicodeDecodeError:
        decoded(lines.file.content[:], name, "utf-8")  # raises with the line of the byte
    except csv.Error as error:
        advice = "Save it as CSV again."
        raise InputError(str(error), file=name, line=line + 1, advice=advice) from error


def irregular_records(lines: Lines) -> list[list[str]]:
    """All records of a file with quotes that polars reads wrongly; or an error."""
    content, end = lines.file.content, quotes_end(lines, is_strict=False)
    if end < len(content):
        problem, line = "a quote is opened and never closed", content[:end].count(b"\n") + 1
        advice = 'Write a quote inside a name twice and put the name in quotes: "5"" disk".'
        raise InputError(problem, file=lines.file.name, line=line, advice=advice)
    refuse_wrong_line(lines)
    return [record for _, record in records(lines)]


def quotes_end(lines: Lines, is_strict: bool = True) -> int:
    """The byte up to which quotes stand around fields only: the size of the file if all do.

    Not strictly, quotes may also be inside fields. A quote at the beginning of a field must have
    another that closes it; if text follows that one, it must be in the same line.
    """
    content = lines.file.content
    if content.find(b'"') < 0:
        return len(content)
    ends = rb"\r\n" + re.escape(lines.separator.encode())
    proper = rb'(?<![^%b])"(?:[^"]++|"")*+"(?![^%b])' % (ends, ends)
    improper = rb'(?<![^%b])"(?:[^"\r\n]++|"")*+"[^%b]++|(?<=[^%b])"' % (ends, ends, ends)
    pattern = rb'(?:[^"]++|%b)*+' % (proper if is_strict else proper + b"|" + improper)
    begin = len(codecs.BOM_UTF8) if content[:3] == codecs.BOM_UTF8 else 0
    for _ in range(lines.skipped):
        begin = content.find(b"\n", begin) + 1
    with memoryview(content) as whole, whole[begin:] as rest:
        match = re.match(pattern, rest)
        end = begin + (match.end() if match else 0)
        del match
    return end


@contextmanager
def errors_of_polars(table: RawTable) -> Iterator[None]:
    """Errors about a table that polars cannot read, also where it only finds out on the way."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        if table.lines is not None:
            refuse_wrong_line(table.lines)
            if next(records(table.lines), None) is None:
                raise no_lines(table) from error
        problem = f"it cannot be read as a table: {first_line(error)}"
        advice = "If it is something else, state its kind, for example kind='texts'."
        raise table.error(problem, advice) from error


def no_lines(table: RawTable) -> InputError:
    """The error of a table that has nothing but a header."""
    return table.error("there are no lines below the header", "Give a file with data.")


def weight_error(table: RawTable, number: int, field: str, kind: str = "edges") -> InputError:
    """What is wrong with the weight in a column of the record with this number, from 0."""
    cell = table.frame.select(field).slice(number, 1).collect()
    place, text = table.place(number, field), str(cell.item())
    weight = float(table.numbers(cell, [field])[0, 0])
    if math.isnan(weight):
        skipped = [{"missing": "skip"}, {"missing": "0"}]
        return table.unsuitable("the weight is missing", skipped, **place)
    ways: list[Mapping[str, Any]] = []
    if kind == "table":
        is_narrow = len(table.kept) - 1 <= EDGE_COLUMNS  # so that the kind must be stated
        ways.append({"drop": table.label(field), **({"kind": kind} if is_narrow else {})})
    if weight == NO_NUMBER and cell.item() != NO_NUMBER:
        marks = [{"decimal": ","}, {"thousands": ","}] if looks_like_number(text) else []
        return table.unsuitable(f"{quote(text)} is not a number", [*marks, *ways], **place)
    return table.unsuitable(weight_problem(weight), ways, **place)


def weight_problem(value: float) -> str:
    """What is wrong with a number as a weight."""
    if math.isnan(value):
        return "NaN is not a weight: write 0 where nothing was observed."
    if math.isinf(value):
        return "infinity is not a weight."
    return f"the weight {value:g} is negative."


def reason(error: BaseException) -> str:
    """What a library reports, with the type of its error where the text alone explains nothing."""
    text = first_line(error)
    is_clear = text and not isinstance(error, KeyError)
    return text if is_clear else f"{type(error).__name__} {text}".strip()


def first_line(error: BaseException) -> str:
    """The first line of what a library reports, without its full stop and control characters."""
    line = str(error).strip().split("\n")[0].rstrip(".")
    return shortened("".join(c if c.isprintable() else "?" for c in line[:MAX_REPORTED]))


# --- data frames ------------------------------------------------------------------------------


def from_frame(frame: Any, name: str) -> RawTable:
    """A polars or pandas data frame; columns of the latter may share a name."""
    if isinstance(frame, pl.LazyFrame | pl.DataFrame):
        names = frame.lazy().collect_schema().names()
        return RawTable(name, frame.lazy(), names, names, has_headings=True)
    fields = [str(i) for i in range(frame.shape[1])]
    data = {field: _as_series(frame.iloc[:, i]) for i, field in enumerate(fields)}
    columns = [str(column) for column in frame.columns]
    return RawTable(name, pl.DataFrame(data).lazy(), fields, columns, has_headings=True)


def _as_series(column: Any) -> pl.Series:
    """A pandas column, without the help of pyarrow."""
    if column.dtype.kind in "iufb" and not hasattr(column.dtype, "na_value"):
        return pl.Series(column.to_numpy())
    pairs = zip(column.astype(object), column.isna(), strict=True)
    return pl.Series([None if is_na else value for value, is_na in pairs], strict=False)
