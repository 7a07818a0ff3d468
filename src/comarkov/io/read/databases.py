"""Databases: a table, or the answer to a query, from SQLite, DuckDB, PostgreSQL and others."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...joint.messages import InputError, need, quote, similar_file
from .opened import Opened, unpacking_limit
from .raw_tables import RawTable, first_line, from_frame

if TYPE_CHECKING:
    import polars as pl

    from ..read_options import ReadOptions


RECORDS_AT_ONCE = 100_000
VIEW_SECONDS = 60.0  # to wait for all records of a view
VIEW_BYTES_PER_SECOND = 1_000_000  # of the file, for which it may take a second more
BYTES_PER_VALUE = 50  # in Python, about
SQLITE_STEPS = 100_000  # between two checks of signals such as Ctrl-C
CONNECT_SECONDS = 15  # to wait for a server
NOT_DATABASES = ("http", "https", "ftp", "s3", "gs", "file")
DATABASE_MARKS = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
EXTRA = "comarkov[databases]"
TRUST = "If you trust it, state what to read: query='select ...'"
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


class Database(NamedTuple):
    """One database: its kind, its address or path, and its name in messages."""

    kind: str
    address: str
    name: str

    @contextmanager
    def cursor(self, is_limited: bool = False) -> Iterator[Any]:
        """A cursor of a connection that can only read.

        It ``is_limited`` if it may be that of a view, which must end and not read other files.
        """
        with ExitStack() as stack:
            connection = stack.enter_context(closing(CONNECT[self.kind](self.address)))
            if self.kind == "duckdb" and is_limited:
                connection.execute("set enable_external_access = false")
            if self.kind in DATABASE_MARKS:
                stack.enter_context(self._interruptible(connection, is_limited))
            # Without a name PostgreSQL would send the whole answer at once.
            named = {"name": "comarkov"} if self.kind == "postgresql" else {}
            yield stack.enter_context(closing(connection.cursor(**named)))

    @contextmanager
    def _interruptible(self, connection: Any, is_limited: bool) -> Iterator[None]:
        """Let Ctrl-C end a statement, and a limit of time that of a view."""
        seconds = VIEW_SECONDS + Path(self.address).stat().st_size / VIEW_BYTES_PER_SECOND
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            connection.interrupt()

        timer = threading.Timer(seconds, expire)
        timer.daemon = True
        if self.kind == "sqlite":  # Python handles signals only while it runs code of its own
            connection.set_progress_handler(lambda: 0, SQLITE_STEPS)
        if is_limited:
            timer.start()
        try:
            yield
        except _errors(self.kind) as error:
            if "interrupted" not in str(error).lower():
                raise
            if not expired.is_set():
                raise KeyboardInterrupt from error
            raise InputError(
                f"reading it takes more than {seconds:.0f} seconds, so its view may be endless",
                file=self.name,
                advice=TRUST,
            ) from error
        finally:
            timer.cancel()

    def tables(self) -> list[tuple[str, str]]:
        """The schemas and names of all tables and views."""
        with self.cursor() as cursor:
            cursor.execute(TABLES_OF_SQLITE if self.kind == "sqlite" else TABLES_OF_OTHERS)
            return [(schema, table) for schema, table in cursor.fetchall()]


def is_address(source: Any) -> bool:
    """Is it an address such as postgresql://...?"""
    return isinstance(source, str) and "://" in source


def kind_of_database(file: Opened) -> str | None:
    """The kind of a database in a file, by its first bytes; None if it is something else."""
    start, marks = file.content[:16], DATABASE_MARKS.items()
    return next((kind for kind, (at, mark) in marks if start[at:].startswith(mark)), None)


def from_database(address: str, options: ReadOptions) -> RawTable:
    """A table from sqlite:///path, duckdb:///path, postgresql://... or what polars can read."""
    scheme, _, place = address.partition("://")
    kind = {"postgres": "postgresql"}.get(base := scheme.lower().partition("+")[0], base)
    name = _public(address)
    if kind in DATABASE_MARKS:
        return from_database_file(kind, Path(place.removeprefix("/")), options)
    if kind in NOT_DATABASES:
        advice = "Download the file first, and read the copy."
        raise InputError("it is not a database", file=name, advice=advice)
    if kind in CONNECT:
        return _read(Database(kind, f"{kind}://{place}", name), options)
    query = options.query or (options.table and f"select * from {options.table}")
    if not query:
        advice = "Choose what to read: table= or query=."
        raise InputError("it is a database", file=name, advice=advice)
    need("Reading other databases", "polars")
    need("Reading other databases", "connectorx", install="connectorx")
    import polars as pl

    try:
        return from_frame(pl.read_database_uri(query, address), name)
    except Exception as error:  # each driver has its own
        raise InputError(_public(first_line(error)), file=name) from error


def from_database_file(kind: str, path: Path, options: ReadOptions, name: str = "") -> RawTable:
    """A table of an SQLite or DuckDB file, which is opened for reading only."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.{similar_file(path)}")
    return _read(Database(kind, str(path), name or str(path)), options)


def _read(database: Database, options: ReadOptions) -> RawTable:
    """All records of a table or of the answer to a query."""
    if options.query is not None and options.table is not None:
        raise ValueError("query= and table= exclude each other: pass one of them.")
    error_types = _errors(database.kind)
    is_limited = options.query is None and database.kind in DATABASE_MARKS
    limit = unpacking_limit(Path(database.address), None) if is_limited else None
    try:
        query = options.query or _whole(database, options.table)
        with database.cursor(is_limited) as cursor:
            return from_frame(_fetch(cursor, query, database.name, limit), database.name)
    except error_types as error:
        raise InputError(_public(first_line(error)), file=database.name) from error


def _fetch(cursor: Any, query: str, name: str, limit: int | None) -> pl.DataFrame:
    """The answer to a query, of at most so many bytes if there is a limit."""
    import polars as pl

    cursor.execute(query)
    if cursor.description is None:
        raise InputError(f"the query returns no table: {query}", file=name)
    headings = [column[0] for column in cursor.description]
    if len(set(headings)) < len(headings):
        raise InputError(
            f"the query returns two columns of one name ({', '.join(headings)})",
            file=name,
            advice="Name them differently: select a.id as user, b.id as item ...",
        )
    parts, values = [pl.DataFrame(schema=headings)], 0
    while records := cursor.fetchmany(RECORDS_AT_ONCE):
        columns = map(as_series, headings, zip(*records, strict=True))
        parts.append(pl.DataFrame(list(columns)))
        values += len(records) * len(headings)
        if limit is not None and BYTES_PER_VALUE * values > limit:
            raise InputError(
                f"the view has more than {values:,} values, far more than its file, and may be "
                "endless",
                file=name,
                advice=TRUST,
            )
    return pl.concat(parts, how="vertical_relaxed")


def as_series(name: str, values: Sequence[Any]) -> pl.Series:
    """Values of a column: numbers as numbers, all others and mixtures, as in SQLite, as text."""
    import polars as pl

    types = {type(value) for value in values} - {type(None)}
    if types <= {int, bool, float, Decimal}:
        series = pl.Series(name, values, strict=False)
        is_whole = series.dtype.is_integer() or series.dtype == pl.Null
        return series if is_whole else series.cast(pl.Float64)
    return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)


def _whole(database: Database, wanted: str | None) -> str:
    """The query for a whole table: the one of this name, or the only one there is."""
    tables = {_title(*table): table for table in database.tables()}
    if wanted is None and len(tables) == 1:
        wanted = next(iter(tables))
    if wanted in tables:
        return "select * from " + ".".join(_sql_name(part) for part in tables[wanted] if part)
    if not tables:
        advice = "Check the address, or pass a query=."
        raise InputError("there are no tables", file=database.name, advice=advice)
    has = (
        f"there is no table {quote(wanted)} among" if wanted else f"there are {len(tables)} tables:"
    )
    likely = next((t for t in tables if wanted and t.lower() == wanted.lower()), next(iter(tables)))
    advice = f"Choose one: table={_sql_name(likely)}"
    raise InputError(f"{has} {', '.join(tables)}", file=database.name, advice=advice)


def _title(schema: str, table: str) -> str:
    return f"{schema}.{table}" if schema else table


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sqlite(address: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{Path(address).resolve().as_uri()}?mode=ro", uri=True)


def _duckdb(address: str) -> Any:
    import duckdb

    return duckdb.connect(address, read_only=True)


def _postgresql(address: str) -> Any:
    import psycopg

    limit: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS}
    connection = psycopg.connect(address, **({} if "connect_timeout" in address else limit))
    connection.read_only = True
    return connection


CONNECT = {"sqlite": _sqlite, "duckdb": _duckdb, "postgresql": _postgresql}


def _errors(kind: str) -> type[Exception]:
    """The class of all errors of a driver, which must be installed."""
    if kind == "duckdb":
        need("Reading DuckDB databases", "duckdb", "polars", install=EXTRA)
        import duckdb

        return duckdb.Error
    if kind == "postgresql":
        need("Reading PostgreSQL databases", "polars", "psycopg", install=EXTRA)
        import psycopg

        return psycopg.Error
    need("Reading databases", "polars")
    return sqlite3.Error


def _public(address: str) -> str:
    """An address without its password."""
    start, mark, rest = address.partition("://")
    if not mark or "@" not in rest:
        return address
    user, _, place = rest.rpartition("@")
    return f"{start}://{user.split(':')[0]}@{place}"
