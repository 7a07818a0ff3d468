"""Databases: a table, or the answer to a query, from SQLite, DuckDB and PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from ...joint.messages import InputError, need, quote, similar_file
from ..read_options import ReadOptions
from .opened import Opened
from .raw_tables import RawTable, first_line, from_frame, pl

RECORDS_AT_ONCE = 100_000
CONNECT_SECONDS = 15  # to wait for a server
DATABASE_MARKS = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
EXTRA = "comarkov[databases]"
# Tables and views with their schemas, the schema empty where a name needs none.
TABLES_OF_SQLITE = """
    select '', name from sqlite_master
    where type in ('table', 'view') and name not like 'sqlite~_%' escape '~' order by 2
"""
TABLES_OF_OTHERS = """
    select case when table_schema = current_schema() then '' else table_schema end, table_name
    from information_schema.tables
    where table_schema not in ('information_schema', 'pg_catalog') order by 1, 2
"""


def is_address(source: Any) -> bool:
    """Is it an address such as postgresql://...?"""
    return isinstance(source, str) and "://" in source


def kind_of_database(file: Opened) -> str | None:
    """The kind of a database in a file, by its first bytes; None if it is something else."""
    start, marks = file.content[:16], DATABASE_MARKS.items()
    return next((kind for kind, (at, mark) in marks if start[at:].startswith(mark)), None)


def from_database(address: str, options: ReadOptions) -> RawTable:
    """A table from sqlite:///path, duckdb:///path or postgresql://..."""
    scheme, _, place = address.partition("://")
    kind = scheme.lower().partition("+")[0].replace("postgresql", "postgres")
    if kind in DATABASE_MARKS:
        return from_database_file(kind, Path(place.removeprefix("/")), options)
    if kind != "postgres":
        advice = "Pass what polars reads: comarkov.read(polars.read_database_uri(query, address))"
        problem = "it is neither SQLite, DuckDB nor PostgreSQL"
        raise InputError(problem, file=_public(address), advice=advice)
    need("Reading PostgreSQL databases", "polars", "psycopg", install=EXTRA)
    import psycopg

    return Database(psycopg, f"postgresql://{place}", _public(address)).read(options)


def from_database_file(kind: str, path: Path, options: ReadOptions, name: str = "") -> RawTable:
    """A table of an SQLite or DuckDB file, which is opened for reading only."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.{similar_file(path)}")
    if kind == "sqlite":
        address = f"{path.resolve().as_uri()}?mode=ro"
        return Database(sqlite3, address, name or str(path)).read(options)
    need("Reading DuckDB databases", "duckdb", "polars", install=EXTRA)
    import duckdb

    return Database(duckdb, str(path), name or str(path)).read(options)


class Database(NamedTuple):
    """The package that reads a database, its address or path, and its name in messages."""

    driver: Any
    address: str
    name: str

    def _connect(self, is_view: bool) -> Any:
        """A connection that can only read; for what may be a view it reads no other files."""
        if self.driver is sqlite3:
            return sqlite3.connect(self.address, uri=True)
        if self.driver.__name__ == "duckdb":
            connection = self.driver.connect(self.address, read_only=True)
            if is_view:
                connection.execute("set enable_external_access = false")
            return connection
        limit = {} if "connect_timeout" in self.address else {"connect_timeout": CONNECT_SECONDS}
        connection = self.driver.connect(self.address, **limit)
        connection.read_only = True
        return connection

    def read(self, options: ReadOptions) -> RawTable:
        """All records of a table or of the answer to a query."""
        if options.query is not None and options.table is not None:
            raise ValueError("query= and table= exclude each other: pass one of them.")
        try:
            with closing(self._connect(options.query is None)) as connection:
                query = options.query or self._whole(connection, options.table)
                # Without a name PostgreSQL would send the whole answer at once.
                named = {"name": "comarkov"} if self.driver.__name__ == "psycopg" else {}
                with closing(connection.cursor(**named)) as cursor:
                    cursor.execute(query)
                    return from_frame(self._fetch(cursor, query), self.name)
        except InputError:
            raise
        except (self.driver.Error, ValueError) as error:  # the second of values it cannot decode
            raise InputError(_public(first_line(error)), file=self.name) from error

    def _whole(self, connection: Any, wanted: str | None) -> str:
        """The query for a whole table: the one of this name, or the only one there is."""
        with closing(connection.cursor()) as cursor:
            cursor.execute(TABLES_OF_SQLITE if self.driver is sqlite3 else TABLES_OF_OTHERS)
            found = cursor.fetchall()
        tables = {".".join(filter(None, names)): names for names in found}
        if wanted is None and len(tables) == 1:
            wanted = next(iter(tables))
        if wanted in tables:
            return "select * from " + ".".join(map(_sql_name, filter(None, tables[wanted])))
        if not tables:
            advice = "Check the address, or pass a query=."
            raise InputError("there are no tables", file=self.name, advice=advice)
        problem = f"no table is {quote(wanted)}" if wanted else f"there are {len(tables)} tables"
        likely = [*get_close_matches(wanted or "", tables, n=1), *tables][0]
        choose = f"Choose one: table={_sql_name(likely)}"
        raise InputError(f"{problem}: {', '.join(tables)}", file=self.name, advice=choose)

    def _fetch(self, cursor: Any, query: str) -> pl.DataFrame:
        """The answer to a query."""
        if cursor.description is None:
            raise InputError(f"the query returns no table: {query}", file=self.name)
        headings = [column[0] for column in cursor.description]
        if len(set(headings)) < len(headings):
            problem = f"the query returns two columns of one name ({', '.join(headings)})"
            advice = "Name them differently: select a.id as user, b.id as item ..."
            raise InputError(problem, file=self.name, advice=advice)
        parts = [pl.DataFrame(schema=headings)]
        while records := cursor.fetchmany(RECORDS_AT_ONCE):
            columns = map(as_series, headings, zip(*records, strict=True))
            parts.append(pl.DataFrame(list(columns)))
        return pl.concat(parts, how="vertical_relaxed")


def as_series(name: str, values: Sequence[Any]) -> pl.Series:
    """Values of a column: numbers as numbers, all others and mixtures, as in SQLite, as text."""
    types = {type(value) for value in values} - {type(None)}
    if types <= {int, bool, float, Decimal}:
        series = pl.Series(name, values, strict=False)
        is_whole = series.dtype.is_integer() or series.dtype == pl.Null
        return series if is_whole else series.cast(pl.Float64)
    return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _public(address: str) -> str:
    """An address without its password."""
    start, mark, rest = address.partition("://")
    if not mark or "@" not in rest:
        return address
    user, _, place = rest.rpartition("@")
    return f"{start}://{user.split(':')[0]}@{place}"
