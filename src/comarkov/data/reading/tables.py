"""Tables: delimited text, Parquet, databases and data frames, as lazy frames with column names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..extras import need
from .opening import Opened
from .records import Lines

if TYPE_CHECKING:
    import polars as pl

PARQUET = b"PAR1"


@dataclass(frozen=True)
class RawTable:
    """A lazy frame, the names of its columns, and where its lines are."""

    name: str  #: of the source, for messages
    frame: pl.LazyFrame
    fields: list[str]  #: names of columns in the frame
    columns: list[str]  #: names of columns for people, the same unless there is no header
    lines: Lines | None = None  #: None if it is not delimited text
    decimal: str = "."  #: what stands before the decimals of a number that is text

    def field(self, which: str | int, role: str) -> str:
        """The column that a user means: by name, or by position from 0."""
        if isinstance(which, str) and which in self.columns:
            return self.fields[self.columns.index(which)]
        position = int(which) if isinstance(which, int) or which.isdecimal() else None
        if position is None or not 0 <= position < len(self.fields):
            has = f"it has {len(self.columns)}: {listed(self.columns)}"
            raise ValueError(f"{self.name} has no column {which!r} for {role}=: {has}.")
        return self.fields[position]

    def position(self, field: str) -> int:
        """The place of a column, from 0."""
        return self.fields.index(field)

    def heading(self, field: str) -> str:
        """What people call a column."""
        return self.columns[self.position(field)]

    def number(self, field: str) -> pl.Expr:
        """A column as numbers, null where it holds something else."""
        import polars as pl

        column, dtype = pl.col(field), self.frame.collect_schema()[field]
        if dtype == pl.String:
            column = column.str.strip_chars()
            if self.decimal == ",":  # then a point, which may part thousands, makes it no number
                column = column.str.replace_all(".", " ", literal=True)
                column = column.str.replace(",", ".", literal=True)
        elif not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):  # a date can be cast, too
            raise ValueError(f"{self.name}, column {self.heading(field)}: {dtype} is no number.")
        return column.cast(pl.Float64, strict=False)


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names for a message, not too many."""
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def is_parquet(path: Path) -> bool:
    """Does the file begin as Parquet does?"""
    with path.open("rb") as file:
        return file.read(4) == PARQUET


def from_parquet(file: Opened) -> RawTable:
    """A Parquet file."""
    need("Reading tables", "polars")
    import polars as pl

    frame = pl.scan_parquet(file.path, low_memory=True, glob=False)
    try:
        names = frame.collect_schema().names()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ValueError(f"{file.name} is not Parquet, or damaged: {first_line(error)}.") from error
    return RawTable(file.name, frame, names, names)


def from_frame(frame: Any, name: str) -> RawTable:
    """A polars or pandas data frame."""
    need("Reading tables", "polars")
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        lazy = frame
    elif isinstance(frame, pl.DataFrame):
        lazy = frame.lazy()
    else:
        columns = [str(column) for column in frame.columns]
        refuse_repeats(columns, name, "")
        data = {c: _as_series(frame.iloc[:, i]) for i, c in enumerate(columns)}
        lazy = pl.DataFrame(data).lazy()
    names = lazy.collect_schema().names()
    return RawTable(name, lazy, names, names)


def _as_series(column: Any) -> pl.Series:
    """A pandas column, without the help of pyarrow."""
    import polars as pl

    if column.dtype.kind in "iufb" and not hasattr(column.dtype, "na_value"):
        return pl.Series(column.to_numpy())
    pairs = zip(column.astype(object), column.isna(), strict=True)
    return pl.Series([None if is_missing else value for value, is_missing in pairs], strict=False)


def is_number(field: str, decimal: str = ".") -> bool:
    """Can a field be read as a number?"""
    if decimal == ",":
        field = field.replace(".", " ").replace(",", ".", 1)
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field and field.strip().isascii()  # polars takes no digits of other scripts


def refuse_repeats(columns: Sequence[str], name: str, where: str) -> None:
    """Refuse a heading that is there twice."""
    seen: dict[str, int] = {}
    for i, column in enumerate(columns):
        if column in seen:
            raise ValueError(
                f"{name}{where}, column {i + 1}: the name {column!r} is there already, in column "
                f"{seen[column] + 1}."
            )
        seen[column] = i


def reason(error: Exception) -> str:
    """What a library says, and the kind of its error where that is all that tells something."""
    said = first_line(error)
    is_told = said and not isinstance(error, KeyError)
    return said if is_told else f"{type(error).__name__} {said}".strip()


def first_line(error: Exception) -> str:
    """The first line of what a library says, without its full stop."""
    return str(error).strip().split("\n")[0].rstrip(".")
