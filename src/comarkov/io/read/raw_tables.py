"""Tables: delimited text, Excel, Parquet, databases and data frames, as lazy frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...joint.messages import need, quote, shortened
from ...joint.objects import EDGE_COLUMNS, are_documents
from ..isolation import UnreadableError, check_in_child
from .opened import Opened
from .records import GAPS, MISSING, SIGNS, Lines, grouped

if TYPE_CHECKING:
    import polars as pl


PARQUET = b"PAR1"
SAMPLE = 100  # records that show whether a column holds prose


@dataclass(frozen=True)
class RawTable:
    """A lazy frame, the names of its columns, and where its lines are."""

    name: str  #: of the source, for messages
    frame: pl.LazyFrame
    fields: list[str]  #: names of columns in the frame
    columns: list[str]  #: headings, or positions if there are none
    lines: Lines | None = None  #: None if it is not delimited text
    has_headings: bool = False
    dropped: frozenset[str] = frozenset()  #: fields that are left out
    decimal: str = "."  #: the decimal mark of numbers that are text
    thousands: str = ""  #: the mark between their thousands
    keeps_na: bool = False  #: NA and the like are names, not missing names

    @property
    def kept(self) -> list[str]:
        """The fields that are not left out."""
        return [field for field in self.fields if field not in self.dropped]

    def field(self, which: str | int, role: str) -> str:
        """The column that a user means: by name, or by position from 0."""
        if isinstance(which, str) and which in self.columns:
            return self.fields[self.columns.index(which)]
        position = int(which) if isinstance(which, int) or which.isdecimal() else None
        if position is None or not 0 <= position < len(self.fields):
            example = self.label(self.kept[0]) if self.kept else 0
            raise ValueError(
                f"{self.name} has no column {quote(which)}: its columns are "
                f"{listed(self.columns)}. "
                f"Choose one of them, for example {role}={example!r}."
            )
        return self.fields[position]

    def position(self, field: str) -> int:
        """The place of a column, from 0."""
        return self.fields.index(field)

    def heading(self, field: str) -> str:
        """What people call a column."""
        return self.columns[self.position(field)]

    def label(self, field: str) -> str | int:
        """What a user can write to choose a column: its heading, or its position."""
        heading, position = self.heading(field), self.position(field)
        is_usable = self.has_headings and heading and self.columns.index(heading) == position
        return heading if is_usable else position

    def without_blank_lines(self) -> pl.LazyFrame:
        """All records; in delimited text, lines of nothing but separators are left out."""
        import polars as pl

        if self.lines is None:
            return self.frame
        return self.frame.filter(~pl.all_horizontal(pl.all().is_null()))

    def is_number(self, field: str) -> bool:
        """Does the column hold numbers by its type?"""
        import polars as pl

        dtype = self.frame.collect_schema()[field]
        return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)

    def text(self, field: str) -> pl.Expr:
        """A column as text; null where it is missing."""
        import polars as pl

        column = pl.col(field).cast(pl.String).str.strip_chars()
        is_float = self.frame.collect_schema()[field].is_float()
        if self.keeps_na and not is_float:  # an empty cell is missing in any case
            return column.replace("", None)
        return pl.when(~column.is_in(MISSING)).then(column).alias(field)

    def number(self, field: str) -> pl.Expr:
        """A column as numbers: NaN where it is missing, null where it holds something else."""
        import polars as pl

        column = pl.col(field)
        if self.frame.collect_schema()[field] == pl.String:
            text = column.str.strip_chars(SIGNS)
            number = self._plain(text).cast(pl.Float64, strict=False)
            is_gap = text.is_null() | text.is_in(GAPS)
            return pl.when(is_gap).then(float("nan")).otherwise(number).alias(field)
        if not self.is_number(field):  # a date could be cast, too
            dtype = self.frame.collect_schema()[field]
            raise ValueError(
                f"{self.name}, column {self.heading(field)}: a {dtype} is not a number. Leave the "
                f"column out with {without(self, self.label(field))}."
            )
        return column.cast(pl.Float64, strict=False).fill_null(float("nan"))

    def _plain(self, text: pl.Expr) -> pl.Expr:
        """Numbers as polars takes them, as ``values.plain`` does it with one cell."""
        import polars as pl

        if self.thousands:
            is_grouped = text.str.contains(grouped(self.decimal, self.thousands))
            joined = text.str.replace_all(self.thousands, "", literal=True)
            text = pl.when(is_grouped).then(joined).otherwise(text)
        if self.decimal == ",":
            text = text.str.replace_all(".", " ", literal=True)
            text = text.str.replace(",", ".", literal=True)
        return text


def without_columns(table: RawTable, drop: str | int | Iterable[str | int] | None) -> RawTable:
    """A table without the columns that the user leaves out, and without nameless empty ones."""
    fields = {table.field(which, "drop") for which in columns_to_drop(drop)}
    last = table.fields[-1:]
    while last and _is_nothing(table, last[0]):  # of commas at the ends of lines
        fields.add(last[0])
        last = table.fields[table.position(last[0]) - 1 : table.position(last[0])]
    smaller = replace(table, dropped=frozenset(fields))
    if not smaller.kept:
        raise ValueError(f"{table.name}: drop= leaves no column. Leave out fewer columns.")
    _refuse_repeats(smaller)
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


def known_columns(table: RawTable, drop: str | int | Sequence[str | int] | None) -> list[str | int]:
    """Columns to leave out that a table has; it is similar to the one they were chosen for."""
    return [which for which in columns_to_drop(drop) if which in table.columns]


def _is_nothing(table: RawTable, field: str) -> bool:
    """Has a column of delimited text neither a heading nor a value?"""
    import polars as pl

    has_title = table.has_headings and table.heading(field)
    if table.lines is None or has_title or len(table.fields) < 3:
        return False
    column = table.frame.select(field)
    for frame in (column.head(100), column):  # the beginning is enough for most tables
        filled = frame.filter(pl.col(field).is_not_null()).head(1)
        if len(filled.collect(engine="streaming")):
            return False
    return True


def _refuse_repeats(table: RawTable) -> None:
    """Refuse a heading that occurs twice."""
    if not table.has_headings:
        return
    seen: dict[str, int] = {}
    for field in table.kept:
        heading, position = table.heading(field), table.position(field)
        if heading in seen:
            where = "" if table.lines is None else f", line {table.lines.skipped + 1}"
            raise ValueError(
                f"{table.name}{where}, column {position + 1}: the heading {quote(heading)} occurs "
                f"already in column {seen[heading] + 1}. Rename one of them, or leave one out with "
                f"{without(table, position)} (positions count from 0)."
            )
        seen[heading] = position


def without(table: RawTable, column: str | int) -> str:
    """The keywords that leave a column out; with few columns left, a wide table must be stated."""
    is_wide, left = len(table.kept) > EDGE_COLUMNS, len(table.kept) - 1
    kind = ", kind='table'" if is_wide and left <= EDGE_COLUMNS else ""
    return f"drop={quote(column)}{kind}"


def prose_column(table: RawTable) -> str | int | None:
    """What a user can write to choose the column with the longest texts; None if there is none."""
    import polars as pl

    try:
        sample = table.without_blank_lines().select(table.kept).head(SAMPLE).collect()
    except pl.exceptions.PolarsError:  # the table is damaged, which is reported elsewhere
        return None
    texts = [each for each in sample if each.dtype == pl.String and are_documents(each.to_list())]
    longest = max(texts, key=lambda column: column.str.len_chars().sum(), default=None)
    return None if longest is None else table.label(longest.name)


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names for a message, not too many."""
    return ", ".join(map(shortened, names[:most])) + (", ..." if len(names) > most else "")


def is_parquet(path: Path) -> bool:
    """Does the file begin as Parquet does?"""
    with path.open("rb") as file:
        return file.read(4) == PARQUET


def from_parquet(file: Opened) -> RawTable:
    """A Parquet file."""
    need("Reading tables", "polars")
    import polars as pl

    try:
        check_in_child("parquet", file.path, 0)
        frame = pl.scan_parquet(file.path, low_memory=True, glob=False)
        names = frame.collect_schema().names()
    except (pl.exceptions.PolarsError, OSError, UnreadableError) as error:
        raise ValueError(
            f"{file.name} is not a Parquet file, or it is damaged: {first_line(error)}. Write it "
            "again, or save the table as CSV."
        ) from error
    return RawTable(file.name, frame, names, names, has_headings=True)


def from_frame(frame: Any, name: str) -> RawTable:
    """A polars or pandas data frame."""
    need("Reading tables", "polars")
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        lazy = frame
    elif isinstance(frame, pl.DataFrame):
        lazy = frame.lazy()
    else:
        return _from_pandas(frame, name)
    names = lazy.collect_schema().names()
    return RawTable(name, lazy, names, names, has_headings=True)


def _from_pandas(frame: Any, name: str) -> RawTable:
    """A pandas frame, whose columns may share a name."""
    import polars as pl

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


def reason(error: Exception) -> str:
    """What a library reports, with the type of its error where the text alone explains nothing."""
    text = first_line(error)
    is_clear = text and not isinstance(error, KeyError)
    return text if is_clear else f"{type(error).__name__} {text}".strip()


def first_line(error: Exception) -> str:
    """The first line of what a library reports, without its full stop."""
    return shortened(str(error).strip().split("\n")[0].rstrip("."))
