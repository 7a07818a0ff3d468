"""Where a table is wrong: a second, careful pass that finds the line and the column."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Collection
from typing import NamedTuple

from ...joint.messages import quote
from .raw_tables import SAMPLE, RawTable, first_line, prose_column, without
from .records import Lines, is_gap, is_missing, is_number, looks_like_number, plain, records


class Checks(NamedTuple):
    """What is checked in every record of a table."""

    names: Collection[str] = ()  #: columns in which nothing may be missing
    weights: Collection[str] = ()  #: columns of weights
    allows_missing: bool = False  #: a weight may be missing
    unless_missing: Collection[str] = ()  #: skip records where one of these columns is missing


NOTHING = Checks()


def fault(table: RawTable, checks: Checks = NOTHING, error: Exception | None = None) -> Exception:
    """The error that names the first wrong place of a table."""
    if table.lines is None:
        message = _in_frame(table, checks)
    else:
        message = _in_lines(table, table.lines, checks)
    if message and checks.weights and _is_header_alone(table):
        return no_lines(table)
    if message:
        return ValueError(message)
    if table.lines is not None and next(iter(records(table.lines)), None) is None:
        return no_lines(table)
    why = f": {first_line(error)}" if error is not None else ""
    return ValueError(
        f"{table.name} cannot be read as a table{why}. If it is something else, name its kind, for "
        "example kind='texts'."
    )


def _is_header_alone(table: RawTable) -> bool:
    """Is the only line of delimited text one of words, which was not taken for a header?"""
    if table.lines is None or table.has_headings:
        return False
    first = [record for _, record in itertools.islice(records(table.lines), 2)]
    return len(first) == 1 and not any(map(looks_like_number, first[0]))


def no_lines(table: RawTable) -> ValueError:
    """The error of a table that has nothing but a header."""
    return ValueError(f"{table.name} has no lines below its header: give a file with data.")


def refuse(table: RawTable) -> None:
    """Raise if lines of delimited text differ in their numbers of fields, or are not UTF-8."""
    assert table.lines is not None
    message = _in_lines(table, table.lines, NOTHING)
    if message:
        raise ValueError(message)


def _in_lines(table: RawTable, lines: Lines, checks: Checks) -> str | None:
    line = lines.skipped
    try:
        for line, record in records(lines):
            if len(record) != lines.width:
                return f"{table.name}, line {line} {_ragged(len(record), lines)}"
            cells = dict(zip(table.fields, record, strict=True))
            if any(is_missing(cells[field]) for field in checks.unless_missing):
                continue
            for field in (*checks.names, *checks.weights):
                problem = _problem(table, field, cells[field], checks)
                if problem:
                    return f"{_place(table, line, field)}: {problem}"
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        line = _line_of_bad_byte(lines)
        return (
            f"{table.name}, line {line}: the byte 0x{byte:02x} is not UTF-8. Name the encoding of "
            "the file, for example encoding='latin-1'."
        )
    except csv.Error as error:
        return f"{table.name}, line {line + 1}: {error}. Save the file as CSV again."
    return None


def _ragged(count: int, lines: Lines) -> str:
    """What is wrong with a line that has another number of fields than the first."""
    fields = f"{count} field{'' if count == 1 else 's'}"
    return (
        f"has {fields}, but the first line has {lines.width}, separated by {lines.separator!r}. "
        f"Put names that contain {lines.separator!r} in double quotes, or choose what separates "
        f"the fields, for example separator={';' if lines.separator == ',' else ','!r}."
    )


def place(table: RawTable, number: int, field: str) -> str:
    """Where a column of the record with this number, from 0, is."""
    if table.lines is None:
        return f"{table.name}, record {number + 1}, column {table.heading(field)}"
    line, _ = next(itertools.islice(records(table.lines), number, None))
    return _place(table, line, field)


def _place(table: RawTable, line: int, field: str) -> str:
    heading = table.heading(field) if table.has_headings else ""
    title = f" ({heading})" if heading else ""
    return f"{table.name}, line {line}, column {table.position(field) + 1}{title}"


def _line_of_bad_byte(lines: Lines) -> int:
    with lines.path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


def _problem(table: RawTable, field: str, cell: str | None, checks: Checks) -> str | None:
    """What is wrong with a cell, and what to do about it."""
    if field not in checks.weights:
        return "the name is missing. Fill it in, or delete the line." if is_missing(cell) else None
    if cell is None or is_gap(cell):
        if checks.allows_missing:
            return None
        return (
            "the weight is missing. Use missing='skip' to skip such lines, or missing='0' to read "
            "them as 0."
        )
    if not is_number(cell, table.decimal, table.thousands):
        return f"{quote(cell)} is not a number. {_advice(table, field, cell)}"
    problem = weight_problem(float(plain(cell, table.decimal, table.thousands)))
    return None if problem is None else f"{problem} {_without(table, field)}"


def _advice(table: RawTable, field: str, cell: str) -> str:
    """What to do about a cell that is not a number, but may be one with other marks."""
    readings = [
        ("'.'", ",", "."),
        ("','", ".", ","),
        ("an apostrophe", ".", "'"),
        ("a space", ".", " "),
    ]
    possible = [
        f"decimal={decimal!r}, thousands={mark!r} if {name} separates thousands"
        for name, decimal, mark in readings
        if re.fullmatch(rf"-?\d{{1,3}}([{mark}]\d{{3}})+([{decimal}]\d*)?", plain(cell))
    ]
    if is_number(cell, ","):
        instead = " instead of thousands=','" if table.thousands == "," else ""
        possible.insert(0, f"decimal=','{instead} if ',' is the decimal mark")
    if possible:
        return f"Use {', or '.join(possible)}."
    prose = prose_column(table)
    if prose is not None and not _holds_numbers(table, field):
        return f"To count the words of the texts in {quote(prose)}, use text={quote(prose)}."
    return f"Correct it. {_without(table, field)}"


def _holds_numbers(table: RawTable, field: str) -> bool:
    """Is there a number among the first cells of a column?"""
    numbers = table.frame.select(table.number(field)).head(SAMPLE).collect().to_series()
    return bool(numbers.is_not_nan().any())


def _without(table: RawTable, field: str) -> str:
    return (
        f"If the column holds no weights, leave it out with {without(table, table.label(field))}."
    )


def weight_problem(value: float) -> str | None:
    """What is wrong with a number as a weight."""
    if math.isnan(value):
        return "NaN is not a weight: write 0 where nothing was observed."
    if math.isinf(value):
        return "infinity is not a weight."
    if value < 0:
        return f"the weight {value:g} is negative."
    return None


def _in_frame(table: RawTable, checks: Checks) -> str | None:
    """The first record of a typed table that is wrong, counted from 1."""
    import polars as pl

    numbered = table.frame.with_row_index("comarkov:line")
    for field in checks.unless_missing:
        numbered = numbered.filter(table.text(field).is_not_null())
    for field in (*checks.names, *checks.weights):
        is_wrong = table.text(field).is_null()
        if field in checks.weights:
            number = table.number(field)
            is_gap = number.is_nan() & (not checks.allows_missing)
            is_wrong = number.is_null() | is_gap | number.is_infinite() | (number < 0)
        first = numbered.filter(is_wrong).select("comarkov:line", pl.col(field)).head(1).collect()
        if len(first):
            value = first[field][0]
            problem = _problem(table, field, None if value is None else str(value), checks)
            line = first["comarkov:line"][0] + 1
            return f"{table.name}, record {line}, column {table.heading(field)}: {problem}"
    return None
