"""Delimited text: its separator and its header are found, and its lines read by polars."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ..extras import need
from .faults import refuse
from .opening import Opened
from .records import Lines, records, shape_of
from .tables import RawTable, is_number, refuse_repeats

SEPARATORS = ("\t", "|", ";", ",", " ")  # those that names and numbers hold least, first
SAMPLE = 100  # lines that tell the separator and the header

# Words that make a first line of text a header where nothing else does, also with "id" or "_id".
_HEADINGS = (
    "id name row column col user item customer product source target from to node weight value "
    "count n rating score document doc word term text title body gene cell sample movie author "
    "paper tag key label"
)
HEADINGS = set(_HEADINGS.split())


def from_lines(
    file: Opened, header: bool | None, separator: str | None, said: Sequence[str | int | None] = ()
) -> RawTable:
    """Delimited text in UTF-8. ``said`` are columns that the user has named."""
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
    first = [record for record in csv.reader(sample, delimiter=separator) if record]
    has_header = _has_header(first, said) if header is None else header
    width = len(first[0])
    columns = [str(i) for i in range(width)]
    if has_header:
        columns = [field.strip() for field in first[0]]
        refuse_repeats(columns, file.name, f", line {skipped + 1}")
    return _read(file, Lines(file.path, separator, skipped, has_header, width), columns)


def _read(file: Opened, lines: Lines, columns: list[str]) -> RawTable:
    """All lines: by polars if they are regular, else by Python, or an error that says where."""
    need("Reading tables", "polars")
    import polars as pl

    shape = shape_of(lines)
    fields = [f"{i}" for i in range(lines.width)]
    schema = dict.fromkeys(fields, pl.String)
    frame = pl.scan_csv(
        file.path,
        has_header=False,
        separator=lines.separator,
        quote_char='"' if shape.has_quotes else None,
        skip_rows=int(lines.has_header),
        skip_lines=lines.skipped,
        schema=schema,
        null_values="",
        glob=False,
    )
    table = RawTable(file.name, frame, fields, columns, lines)
    if shape.is_regular:
        return table
    if shape.unclosed is not None:
        raise ValueError(
            f"{file.name}, line {shape.unclosed}: a quote is opened and never closed; one that "
            "belongs to a name is written twice, and the name put in quotes."
        )
    refuse(table)
    held = pl.DataFrame([record for _, record in records(lines)], schema, orient="row")
    return replace(table, frame=held.select(pl.all().replace("", None)).lazy())


def _sample(file: Opened) -> list[str]:
    """The first lines, as far as they can be read."""
    with file.path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        lines = [line for line, _ in zip(_bounded(stream), range(SAMPLE), strict=False)]
    wrong = next((i for i, line in enumerate(lines, 1) if "\0" in line), None)
    if wrong is not None:
        raise ValueError(
            f"{file.name}, line {wrong} has zero bytes: it is no text in UTF-8; say encoding= or "
            "kind=."
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
    one of which may be wrong), if all its fields are usual headings, if those of a wide table are
    numbers that rise, or if it is all there is of a wide table and holds no numbers.
    """
    first, rest = records[0], records[1:]
    if not rest and len(first) > 3:  # a table of which nothing else is left
        return not any(map(_is_number, first[1:]))
    names = [column for column in said if isinstance(column, str) and not column.isdecimal()]
    if names or not first[0].strip():
        return True
    if all(_is_heading(field) for field in first) or is_numbered(first):
        return True
    return any(
        not _is_number(field) and _are_numbers([r[i] for r in rest if i < len(r)], mostly=i >= 2)
        for i, field in enumerate(first)
    )


def _are_numbers(values: list[str], mostly: bool) -> bool:
    filled = [value for value in values if value.strip()]
    count = sum(map(_is_number, filled))
    return 2 * count >= len(filled) > 0 if mostly else count == len(filled) > 0


def _is_number(field: str) -> bool:
    """With a decimal comma, too: that weights cannot be read so is told when they are."""
    return is_number(field) or is_number(field, ",")


def is_numbered(first: Sequence[str]) -> bool:
    """Are these headings of a wide table that are whole numbers, as years or ids are?

    Weights can rise as well, but seldom six of them, or by the same step, or after a heading.
    """
    numbers = [int(field) for field in first[1:] if field.strip().isdecimal()]
    if len(first) < 4 or len(numbers) < len(first) - 1 or is_number(first[0]):
        return False
    steps = {after - before for before, after in pairwise(numbers)}
    return min(steps) > 0 and (len(numbers) > 5 or len(steps) == 1 or _is_heading(first[0]))


def _is_heading(field: str) -> bool:
    word = field.strip().lower()
    return bool(word) and (word in HEADINGS or word.removesuffix("id").rstrip("_ ") in HEADINGS)
