"""Tables: delimited text, Parquet, databases and data frames, as lazy frames with column names."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .opening import Opened

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = ("\t", ",", ";", "|", " ")
SAMPLE = 100  # lines that tell the separator and the header
PARQUET = b"PAR1"
csv.field_size_limit(1 << 30)

# Words that make a first line of text a header where nothing else does, also with "id" or "_id".
HEADINGS = {
    "id", "name", "row", "column", "col", "user", "item", "customer", "product", "source", "target",
    "from", "to", "node", "weight", "value", "count", "n", "rating", "score", "document", "doc",
    "word", "term", "text", "title", "body", "gene", "cell", "sample", "movie", "author", "paper",
    "tag", "key", "label",
}  # fmt: skip


@dataclass(frozen=True)
class Lines:
    """How the lines of a delimited file are read."""

    path: Path
    separator: str
    skipped: int  #: comment lines before the header
    has_header: bool
    width: int  #: fields in a line


@dataclass(frozen=True)
class Table:
    """A lazy frame, the names of its columns, and where its lines are."""

    name: str  #: of the source, for messages
    frame: pl.LazyFrame
    fields: list[str]  #: names of columns in the frame
    columns: list[str]  #: names of columns for people, the same unless there is no header
    lines: Lines | None = None  #: None if it is not delimited text

    def field(self, which: str | int, role: str) -> str:
        """The column that a user means: by name, or by position from 0."""
        if isinstance(which, str) and which in self.columns:
            return self.fields[self.columns.index(which)]
        position = int(which) if isinstance(which, int) or which.isdecimal() else None
        if position is None or not 0 <= position < len(self.fields):
            has = f"it has {len(self.columns)}: {_listed(self.columns)}"
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
        elif not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):  # a date can be cast, too
            raise ValueError(f"{self.name}, column {self.heading(field)}: {dtype} is no number.")
        return column.cast(pl.Float64, strict=False)


def _listed(names: Sequence[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def is_parquet(path: Path) -> bool:
    """Does the file begin as Parquet does?"""
    with path.open("rb") as file:
        return file.read(4) == PARQUET


def from_parquet(file: Opened) -> Table:
    """A Parquet file."""
    import polars as pl

    frame = pl.scan_parquet(file.path, low_memory=True, glob=False)
    try:
        names = frame.collect_schema().names()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ValueError(f"{file.name} is not Parquet, or damaged: {first_line(error)}.") from error
    return Table(file.name, frame, names, names)


def from_frame(frame: Any, name: str) -> Table:
    """A polars or pandas data frame."""
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        lazy = frame
    elif isinstance(frame, pl.DataFrame):
        lazy = frame.lazy()
    else:
        columns = [str(column) for column in frame.columns]
        _refuse_repeats(columns, name, "")
        data = {c: _as_series(frame.iloc[:, i]) for i, c in enumerate(columns)}
        lazy = pl.DataFrame(data).lazy()
    names = lazy.collect_schema().names()
    return Table(name, lazy, names, names)


def _as_series(column: Any) -> pl.Series:
    """A pandas column, without the help of pyarrow."""
    import polars as pl

    if column.dtype.kind in "iufb" and not hasattr(column.dtype, "na_value"):
        return pl.Series(column.to_numpy())
    pairs = zip(column.astype(object), column.isna(), strict=True)
    return pl.Series([None if is_missing else value for value, is_missing in pairs], strict=False)


def from_lines(
    file: Opened, header: bool | None, separator: str | None, said: Sequence[str | int | None] = ()
) -> Table:
    """Delimited text in UTF-8. ``said`` are columns that the user has named."""
    import polars as pl

    sample = _sample(file)
    if not sample:
        raise ValueError(f"{file.name} is empty.")
    skipped = next((i for i, line in enumerate(sample) if not _is_comment(line)), len(sample))
    sample = [line for line in sample[skipped:] if line.strip()]
    if not sample:
        raise ValueError(f"{file.name} has no lines but comments.")
    separator = separator or _separator(sample, file.suffix)
    if len(separator.encode()) != 1:
        raise ValueError(f"The separator {separator!r} must be one character.")
    records = [record for record in csv.reader(sample, delimiter=separator) if record]
    has_header = _has_header(records, said) if header is None else header
    width = len(records[0])
    columns = records[0] if has_header else [str(i) for i in range(width)]
    if has_header:
        _refuse_repeats(columns, file.name, f", line {skipped + 1}")
    fields = [f"{i}" for i in range(width)]
    frame = pl.scan_csv(
        file.path, has_header=False, separator=separator, skip_lines=skipped, glob=False,
        skip_rows=int(has_header), schema=dict.fromkeys(fields, pl.String), quote_char='"',
    )  # fmt: skip
    lines = Lines(file.path, separator, skipped, has_header, width)
    return Table(file.name, frame, fields, columns, lines)


def _sample(file: Opened) -> list[str]:
    """The first lines, as far as they can be read."""
    with file.path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        lines = [line for line, _ in zip(_bounded(stream), range(SAMPLE), strict=False)]
    if lines and "\0" in lines[0]:
        raise ValueError(
            f"{file.name}, line 1 has zero bytes: it is no text in UTF-8; say encoding= or kind=."
        )
    return lines


def _bounded(stream: Any) -> Iterator[str]:
    """Lines of a file that may have no line ends at all."""
    while line := stream.readline(1 << 26):
        yield line


def _is_comment(line: str) -> bool:
    """A blank line or a remark, as at the beginning of SNAP's and KONECT's files."""
    return not line.strip() or line.startswith(("# ", "% "))


def _separator(sample: list[str], suffix: str) -> str:
    """What splits most lines into as many fields as the first, of equals the first of the list."""
    if suffix in (".tsv", ".tab"):
        return "\t"

    def agreeing(separator: str) -> float:
        widths = [len(record) for record in csv.reader(sample, delimiter=separator) if record]
        return 0.0 if widths[0] < 2 else sum(width == widths[0] for width in widths)

    scores = {separator: agreeing(separator) for separator in SEPARATORS}
    best = max(scores, key=lambda separator: scores[separator])
    return best if scores[best] > 0 else ","


def _has_header(records: list[list[str]], said: Sequence[str | int | None]) -> bool:
    """Is the first line a header?

    It is if a column is named by the user, if it begins with an empty field, if some field is no
    number but has only numbers below it (from the third column on: mostly, as there are weights,
    one of which may be wrong), or if all its fields are usual headings.
    """
    first, rest = records[0], records[1:]
    names = [column for column in said if isinstance(column, str) and not column.isdecimal()]
    if names or not first[0].strip():
        return True
    if all(_is_heading(field) for field in first):
        return True
    return any(
        not is_number(field) and _are_numbers([r[i] for r in rest if i < len(r)], mostly=i >= 2)
        for i, field in enumerate(first)
    )


def _are_numbers(values: list[str], mostly: bool) -> bool:
    filled = [value for value in values if value.strip()]
    count = sum(is_number(value) for value in filled)
    return 2 * count >= len(filled) > 0 if mostly else count == len(filled) > 0


def _is_heading(field: str) -> bool:
    word = field.strip().lower()
    return bool(word) and (word in HEADINGS or word.removesuffix("id").rstrip("_ ") in HEADINGS)


def is_number(field: str) -> bool:
    """Can a field be read as a number?"""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def _refuse_repeats(columns: Sequence[str], name: str, where: str) -> None:
    seen: dict[str, int] = {}
    for i, column in enumerate(columns):
        if column in seen:
            raise ValueError(
                f"{name}{where}, column {i + 1}: the name {column!r} is there already, in column "
                f"{seen[column] + 1}."
            )
        seen[column] = i


def first_line(error: Exception) -> str:
    """The first line of what a library says, without its full stop."""
    return str(error).strip().split("\n")[0].rstrip(".")
