"""Where a table is wrong: a second, careful pass that finds the line and the column."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Collection
from typing import Any

from .records import Lines, records
from .tables import RawTable, first_line, is_number


def fault(
    table: RawTable, ids: Collection[str], numbers: Collection[str], error: Any = None
) -> Exception:
    """The error that names the first wrong place of a table.

    ``ids`` are columns that must not be empty, ``numbers`` those that hold weights.
    """
    if table.lines is None:
        found = _in_frame(table, ids, numbers)
    else:
        found = _in_lines(table, table.lines, ids, numbers)
    if found:
        return ValueError(found)
    why = f": {first_line(error)}" if error is not None else ""
    return ValueError(f"{table.name} cannot be read{why}.")


def refuse(table: RawTable) -> None:
    """Raise if lines of delimited text differ in their numbers of fields, or are not UTF-8."""
    assert table.lines is not None
    found = _in_lines(table, table.lines, (), ())
    if found:
        raise ValueError(found)


def _in_lines(
    table: RawTable, lines: Lines, ids: Collection[str], numbers: Collection[str]
) -> str | None:
    line = lines.skipped
    try:
        for line, record in records(lines):
            where = f"{table.name}, line {line}"
            if len(record) != lines.width:
                return f"{where} has {len(record)} fields, not {lines.width} as the first line."
            for field in (*ids, *numbers):
                column = table.position(field)
                problem = _problem(record[column], field in numbers, table.decimal)
                if problem:
                    return f"{where}, column {column + 1}{_titled(table, field)}: {problem}"
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        line = _line_of_bad_byte(lines)
        return (
            f"{table.name}, line {line}: the byte 0x{byte:02x} is not UTF-8; say encoding=, for "
            'example "latin-1".'
        )
    except csv.Error as error:
        return f"{table.name}, line {line + 1}: {error}."
    return None


def place(table: RawTable, number: int, field: str) -> str:
    """Where a column of the record with this number, from 0, is."""
    if table.lines is None:
        return f"{table.name}, record {number + 1}, column {table.heading(field)}"
    line, _ = next(itertools.islice(records(table.lines), number, None))
    column = table.position(field)
    return f"{table.name}, line {line}, column {column + 1}{_titled(table, field)}"


def _line_of_bad_byte(lines: Lines) -> int:
    with lines.path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


def _problem(value: str, is_weight: bool, decimal: str) -> str | None:
    if not (value.strip() if is_weight else value):
        return "it is empty" + (": write 0 where nothing was observed." if is_weight else ".")
    if not is_weight:
        return None
    if not is_number(value, decimal):
        other = "." if decimal == "," else ","
        hint = f"; if {other!r} is before its decimals, say decimal={other!r}"
        return f"{value!r} is not a number{hint if is_number(value, other) else ''}."
    return weight_problem(float(value.replace(decimal, ".")))


def weight_problem(value: float) -> str | None:
    """What is wrong with a number as a weight."""
    if math.isnan(value):
        return "NaN is not a weight: write 0 where nothing was observed."
    if math.isinf(value):
        return "infinity is not a weight."
    if value < 0:
        return f"the weight {value:g} is negative."
    return None


def _titled(table: RawTable, field: str) -> str:
    heading = table.heading(field)
    return "" if heading == str(table.position(field)) else f" ({heading})"


def _in_frame(table: RawTable, ids: Collection[str], numbers: Collection[str]) -> str | None:
    """The first record of a typed table that is wrong, counted from 1."""
    import polars as pl

    numbered = table.frame.select(*ids, *numbers).with_row_index("comarkov:line")
    for field in (*ids, *numbers):
        is_wrong = pl.col(field).is_null()
        if field in numbers:
            number = table.number(field)
            is_wrong = number.is_null() | ~number.is_finite() | (number < 0)
        first = numbered.filter(is_wrong).head(1).collect()
        if len(first):
            value = first[field][0]
            text = "" if value is None else str(value)
            problem = _problem(text, field in numbers, table.decimal)
            line = first["comarkov:line"][0] + 1
            return f"{table.name}, record {line}, column {table.heading(field)}: {problem}"
    return None
