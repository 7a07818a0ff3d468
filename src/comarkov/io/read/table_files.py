"""Tables in files of any form, with the columns that the user has chosen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..read_options import ReadOptions
from . import databases, excel
from .delimited import from_lines
from .opened import SPREADSHEET, Opened, as_utf8
from .raw_tables import (
    RawTable,
    columns_to_drop,
    from_parquet,
    is_parquet,
    known_columns,
    without_columns,
)
from .texts import PROSE_ADVICE, is_prose


@contextmanager
def table_in(
    file: Opened, kind: str | None, options: ReadOptions, max_bytes: int | None
) -> Iterator[tuple[RawTable, str]]:
    """The table in a file, and the form of the file."""
    database = databases.kind_of_database(file.path)
    if database is not None:
        asked = databases.Asked(options.query, options.table)
        yield databases.from_database_file(database, file.path, asked, file.name), "a database"
    elif is_parquet(file.path):
        yield from_parquet(file), "Parquet"
    elif file.suffix == SPREADSHEET:
        with excel.as_csv(file, options.sheet, options.decimal, max_bytes) as sheet:
            yield _delimited(sheet, options, "an Excel file"), "an Excel file"
    else:
        with as_utf8(file, options.encoding) as text:
            try:
                yield _delimited(text, options, "delimited text"), "delimited text"
            except ValueError as error:
                if kind is None and " text=" not in str(error) and is_prose(text.path):
                    raise ValueError(f"{error} {PROSE_ADVICE}") from error
                raise


def _delimited(file: Opened, options: ReadOptions, form: str) -> RawTable:
    options.check_form(form)
    separator = options.separator if form == "delimited text" else ","
    chosen = [
        *(options.rows, options.columns, options.weights),
        *(options.names, options.text, options.time),
        *columns_to_drop(options.drop),
    ]
    expected = None if options.is_given("header") else options.header
    header = options.header if options.is_given("header") else None
    return from_lines(file, header, separator, chosen, expected)


def header_of(table: RawTable) -> dict[str, bool]:
    """Whether delimited text has a header, as a keyword of ``read``."""
    return {} if table.lines is None else {"header": table.has_headings}


def as_chosen(table: RawTable, options: ReadOptions) -> RawTable:
    """A table with the marks of numbers and without the columns that the user has chosen."""
    marked = replace(
        table, decimal=options.decimal, thousands=options.thousands, keeps_na=options.keep_na
    )
    drop = options.drop if options.is_given("drop") else known_columns(table, options.drop)
    return without_columns(marked, drop)
