"""Databases: the answer to a query as a table; SQLite with nothing else installed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..extras import need
from .tables import RawTable, first_line, from_frame

if TYPE_CHECKING:
    import polars as pl

RECORDS = 100_000  # at a time
NOT_DATABASES = ("http", "https", "ftp", "s3", "gs", "file")
SQLITE = b"SQLite format 3\0"


def is_uri(source: Any) -> bool:
    """Is it an address such as postgresql://...?"""
    return isinstance(source, str) and "://" in source


def is_sqlite(path: Path) -> bool:
    """Does the file begin as SQLite does?"""
    with path.open("rb") as file:
        return file.read(16) == SQLITE


def from_database(source: str, query: str | None) -> RawTable:
    """The answer of a database, named by sqlite:///path or any address that polars takes."""
    if source.startswith("sqlite://"):
        return from_sqlite(Path(source.removeprefix("sqlite://").removeprefix("/")), query)
    if source.partition("://")[0].lower() in NOT_DATABASES:
        raise ValueError(f"{_public(source)} is no database: download the file, and read that.")
    if query is None:
        raise ValueError(f"{_public(source)} is a database: say query=.")
    need("Reading databases", "polars")
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


def from_sqlite(path: Path, query: str | None, name: str = "") -> RawTable:
    """The answer of an SQLite file, which is opened for reading only."""
    need("Reading databases", "polars")
    import polars as pl

    name = name or str(path)
    if not path.exists():
        raise FileNotFoundError(f"{name}: there is no such file.")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            cursor = connection.execute(query or _only_table(connection, name))
            if cursor.description is None:
                raise ValueError(f"{name}: the query gives no table: {query}")
            columns = [column[0] for column in cursor.description]
            if len(set(columns)) < len(columns):
                raise ValueError(f"{name}: the query names a column twice: {', '.join(columns)}.")
            parts: list[list[pl.Series]] = [[] for _ in columns]
            while records := cursor.fetchmany(RECORDS):
                for part, values in zip(parts, zip(*records, strict=True), strict=True):
                    part.append(_series(values))
        except sqlite3.Error as error:
            raise ValueError(f"{name}: {first_line(error)}.") from error
    series = [_joined(part).alias(column) for part, column in zip(parts, columns, strict=True)]
    return from_frame(pl.DataFrame(series), name)


def _series(values: Sequence[Any]) -> pl.Series:
    """Values of one type as they are; of several, as SQLite may have them, as text."""
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        return pl.Series(values, dtype=pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(values, dtype=pl.Float64)
    return pl.Series([None if v is None else str(v) for v in values], dtype=pl.String)


def _joined(parts: list[pl.Series]) -> pl.Series:
    """One series of a type that all parts can be turned into."""
    import polars as pl

    types = {part.dtype for part in parts}
    widest = next((t for t in (pl.String, pl.Float64, pl.Int64) if t in types), pl.String)
    return (
        pl.concat([part.cast(widest) for part in parts]) if parts else pl.Series([], dtype=widest)
    )


def _only_table(connection: sqlite3.Connection, name: str) -> str:
    found = connection.execute("select name from sqlite_master where type in ('table', 'view')")
    tables = sorted(table for (table,) in found if not table.startswith("sqlite_"))
    if len(tables) != 1:
        raise ValueError(f"{name} has {len(tables)} tables ({', '.join(tables)}): say query=.")
    quoted = tables[0].replace('"', '""')
    return f'select * from "{quoted}"'
