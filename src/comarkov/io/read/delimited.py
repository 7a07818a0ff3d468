"""Delimited text: its separator and its header are detected, and its lines read by polars."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import TYPE_CHECKING, Any, NamedTuple

from ...joint.messages import need, warn_user
from .faults import fault, refuse
from .headers import CountWords, HeaderGuess, guess_header
from .opened import Opened
from .raw_tables import RawTable, listed
from .records import Lines, Shape, records, shape_of

if TYPE_CHECKING:
    import polars as pl


SEPARATORS = ("\t", "|", ";", ",", " ")  # those that names and numbers contain least, first
SAMPLE = 100  # lines from which the separator and the header are detected
TITLES = 10  # lines above a table that may have fewer fields, such as its title


class _Start(NamedTuple):
    """Where a table begins in its file."""

    skipped: int  #: lines before the first record
    lines: int  #: of the first record, and blank ones below it
    first: list[str]
    rest: list[list[str]]  #: further records of the sample
    is_short: bool  #: the first record lacks the heading of the first column, as R writes it


def from_lines(
    file: Opened,
    header: bool | None,
    separator: str | None,
    chosen: Sequence[str | int | None] = (),
    expected: bool | None = None,
) -> RawTable:
    """Delimited text in UTF-8.

    ``chosen`` are the columns that the user has named; a header is ``expected`` if a similar file
    had one, but a first line that is clearly something else is not a header.
    """
    sample = _sample(file)
    if not any(map(str.strip, sample)):
        raise ValueError(f"{file.name} is empty: give a file with one line for each entry.")
    separator = separator or _separator(sample, file.suffix)
    if len(separator.encode()) != 1:
        raise ValueError(
            f"separator={separator!r} must be one ASCII character, for example separator=';'."
        )
    start = _start(sample, separator, file.name)
    if start.is_short and header is not False:
        lines = Lines(
            file.path, separator, start.skipped + start.lines, False, len(start.first) + 1
        )
        table = _read(file, lines, shape_of(lines))
        return replace(table, columns=["", *map(str.strip, start.first)], has_headings=True)
    lines = Lines(file.path, separator, start.skipped, True, len(start.first), start.lines)
    shape = shape_of(lines)
    body = _read(file, lines, shape)
    if header is None:
        has_names = any(isinstance(name, str) and not name.isdecimal() for name in chosen)
        header = has_names or _detect_header(body, start.first, start.rest, expected)
    if header:
        return replace(body, columns=[cell.strip() for cell in start.first], has_headings=True)
    return _read(file, replace(lines, has_header=False), shape)


def _start(sample: list[str], separator: str, name: str) -> _Start:
    """The first line of the table, after comments, blank lines and lines with a title."""
    reader = csv.reader(sample, delimiter=separator)
    begins, records = [0], []
    for record in reader:
        records.append(record)
        begins.append(reader.line_num)
    numbered = enumerate(records)
    filled = [(begins[i], record) for i, record in numbered if any(map(str.strip, record))]
    filled = list(dropwhile(lambda pair: _is_comment(sample[pair[0]]), filled))
    if not filled:
        raise ValueError(f"{name} has only comments and blank lines: give a file with data.")
    widths = [len(record) for _, record in filled]
    width = Counter(widths).most_common(1)[0][0]
    titles = next((i for i, pair in enumerate(filled) if not _is_title(pair[1], width)), 0)
    is_uneven = (
        0 < titles <= TITLES and len(widths) > titles + 1 and set(widths[titles:]) == {width}
    )
    is_short = is_uneven and widths[: titles + 1] == [width - 1, width] and width > 2
    if is_uneven and not is_short:
        filled = filled[titles:]
        warn_user(f"{name}: the table starts at line {filled[0][0] + 1}, below its title.")
    skipped, first = filled[0]
    end = filled[1][0] if len(filled) > 1 else begins[-1]
    return _Start(skipped, end - skipped, first, [record for _, record in filled[1:]], is_short)


def _is_title(record: list[str], width: int) -> bool:
    """Has a line fewer fields than the table, or only one that is not empty?"""
    return len(record) < width or (width > 2 and sum(map(bool, record)) == 1)


def _detect_header(
    body: RawTable, first: list[str], rest: list[list[str]], expected: bool | None
) -> bool:
    guess = HeaderGuess(False) if expected is False else guess_header(first, rest, _counter(body))
    if expected and (guess.is_header or not guess.is_sure):
        return True
    if not guess.is_sure or expected:
        read_as, other = (
            ("the header", "header=False if it is data")
            if guess.is_header
            else ("data", "header=True if it is a header")
        )
        warn_user(
            f"{body.name}: the first line ({listed(first, 5)}) is read as {read_as}; use {other}."
        )
    return guess.is_header


def _counter(body: RawTable) -> CountWords:
    """How often words occur in the columns of a table, in one pass over all of it."""

    def count(words: Mapping[int, Sequence[str]]) -> dict[int, dict[str, int]]:
        import polars as pl

        counts = {}
        for position, wanted in words.items():
            column = pl.col(body.fields[position])
            query = body.frame.select(column).filter(column.is_in(list(wanted)))
            try:
                tally = query.group_by(column).len().collect(engine="streaming")
            except pl.exceptions.PolarsError as error:  # a byte that is not UTF-8
                raise fault(body, error=error) from error
            counts[position] = dict(tally.iter_rows())
        return counts

    return count


def _read(file: Opened, lines: Lines, shape: Shape) -> RawTable:
    """All lines: by polars if they are regular, else by Python, or an error that says where."""
    need("Reading tables", "polars")
    import polars as pl

    fields = [f"{i}" for i in range(lines.width)]
    schema = dict.fromkeys(fields, pl.String)
    frame = pl.scan_csv(
        file.path,
        has_header=False,
        separator=lines.separator,
        quote_char='"' if shape.has_quotes else None,
        skip_lines=lines.skipped + (lines.header_lines if lines.has_header else 0),
        schema=schema,
        null_values="",
        glob=False,
    )
    table = RawTable(file.name, frame, fields, fields, lines)
    if shape.is_regular:
        return table
    if shape.unclosed is not None:
        raise ValueError(
            f"{file.name}, line {shape.unclosed}: a quote is opened and never closed. Write a "
            'quote inside a name twice and put the name in quotes: "5"" disk".'
        )
    refuse(table)
    return replace(table, frame=_in_memory(lines, schema))


def _in_memory(lines: Lines, schema: Mapping[str, Any]) -> pl.LazyFrame:
    """The records that polars cannot read, as read by Python."""
    import polars as pl

    frame = pl.DataFrame([record for _, record in records(lines)], schema, orient="row")
    return frame.select(pl.all().replace("", None)).lazy()


def _sample(file: Opened) -> list[str]:
    """The first lines, as far as they can be read."""
    with file.path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        lines = [line for line, _ in zip(_bounded(stream), range(SAMPLE), strict=False)]
    wrong = next((i for i, line in enumerate(lines, 1) if "\0" in line), None)
    if wrong is not None:
        raise ValueError(
            f"{file.name}, line {wrong} contains zero bytes, so it is not text in UTF-8. If it is "
            "text in another encoding, name it, for example encoding='utf-16'."
        )
    return lines


def _bounded(stream: Any) -> Iterator[str]:
    """Lines of a file that may have no line ends at all."""
    while line := stream.readline(1 << 26):
        yield line


def _is_comment(line: str) -> bool:
    """Is it blank or a comment, as at the beginning of SNAP's and KONECT's files?"""
    return not line.strip() or line.startswith(("# ", "% "))


def _separator(sample: list[str], suffix: str) -> str:
    """What splits most lines into the same number of fields; of equals the first in the list."""
    if suffix in (".tsv", ".tab"):
        return "\t"

    def agreeing(separator: str) -> int:
        widths = Counter(len(record) for record in csv.reader(sample, delimiter=separator))
        return max((count for width, count in widths.items() if width > 1), default=0)

    scores = {separator: agreeing(separator) for separator in SEPARATORS}
    best = max(scores, key=lambda separator: scores[separator])
    return best if scores[best] > 0 else ","
