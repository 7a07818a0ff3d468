"""Databases: the answer to a query as a table; SQLite with nothing else installed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from .tables import Table, first_line, from_frame

SQLITE = b"SQLite format 3\0"


def is_uri(source: Any) -> bool:
    """Is it an address such as postgresql://...?"""
    return isinstance(source, str) and "://" in source


def is_sqlite(path: Path) -> bool:
    """Does the file begin as SQLite does?"""
    with path.open("rb") as file:
        return file.read(16) == SQLITE


def from_database(source: str, query: str | None) -> Table:
    """The answer of a database, named by sqlite:///path or any address that polars takes."""
    if source.startswith("sqlite://"):
        return from_sqlite(Path(source.removeprefix("sqlite://").removeprefix("/")), query)
    if query is None:
        raise ValueError(f"{_public(source)} is a database: say query=.")
    import polars as pl

    try:
        frame = pl.read_database_uri(query, source)
    except ImportError as error:
        raise ValueError(
            f"{_public(source)}: {first_line(error)}. Databases other than SQLite need "
            "connectorx, or an ADBC driver."
        ) from error
    except Exception as error:  # of whatever driver it is
        raise ValueError(f"{_public(source)}: {_public(first_line(error))}.") from error
    return from_frame(frame, _public(source))


def _public(address: str) -> str:
    """An address without its password."""
    start, mark, rest = address.partition("://")
    if not mark or "@" not in rest:
        return address
    user, _, place = rest.rpartition("@")
    return f"{start}://{user.split(':')[0]}@{place}"


def from_sqlite(path: Path, query: str | None) -> Table:
    """The answer of an SQLite file, which is opened for reading only."""
    import polars as pl

    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file.")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            if query is None:
                query = _only_table(connection, path)
            cursor = connection.execute(query)
            if cursor.description is None:
                raise ValueError(f"{path}: the query gives no table: {query}")
            columns = [column[0] for column in cursor.description]
            records = cursor.fetchall()
        except sqlite3.Error as error:
            raise ValueError(f"{path}: {first_line(error)}.") from error
    if len(set(columns)) < len(columns):
        raise ValueError(f"{path}: the query names a column twice: {', '.join(columns)}.")
    series = [_column(name, [r[i] for r in records]) for i, name in enumerate(columns)]
    return from_frame(pl.DataFrame(series), str(path))


def _column(name: str, values: list[Any]) -> Any:
    """Values of one type as they are; of several, as SQLite may have them, as text."""
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(name, values, dtype=pl.Float64)
    return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)


def _only_table(connection: sqlite3.Connection, path: Path) -> str:
    found = connection.execute("select name from sqlite_master where type in ('table', 'view')")
    tables = sorted(name for (name,) in found if not name.startswith("sqlite_"))
    if len(tables) != 1:
        raise ValueError(f"{path} has {len(tables)} tables ({', '.join(tables)}): say query=.")
    quoted = tables[0].replace('"', '""')
    return f'select * from "{quoted}"'
