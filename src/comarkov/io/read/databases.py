"""Databases: a table, or the answer to a query, from SQLite, DuckDB, PostgreSQL and others."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...joint.messages import need, quote, similar_file
from .opened import unpacking_limit
from .raw_tables import RawTable, first_line, from_frame

if TYPE_CHECKING:
    import polars as pl


class Column:
    """A column that grows part by part; each part is of one type, and so is the whole at last."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: list[pl.Series] = []

    def append(self, values: Sequence[Any]) -> None:
        """Add values: numbers as numbers, all others and mixtures, as SQLite allows, as text."""
        self.parts.append(_series(values))

    def whole(self) -> pl.Series:
        """One series, of the narrowest type that all parts can be cast to."""
        import polars as pl

        types = {part.dtype for part in self.parts if part.dtype != pl.Null}
        widest = next((t for t in (pl.String, pl.Float64, pl.Int64) if t in types), pl.String)
        cast = [part.cast(widest) for part in self.parts]
        series = pl.concat(cast) if cast else pl.Series([], dtype=widest)
        return series.alias(self.name)


def as_table(columns: Sequence[Column]) -> pl.DataFrame:
    """The columns side by side."""
    import polars as pl

    return pl.DataFrame([column.whole() for column in columns])


def _series(values: Sequence[Any]) -> pl.Series:
    import polars as pl

    types = {type(value) for value in values if value is not None}
    if not types:
        return pl.Series(values, dtype=pl.Null)
    if types <= {int, bool}:
        try:
            whole = values if bool not in types else [None if v is None else int(v) for v in values]
            return pl.Series(whole, dtype=pl.Int64)
        except (OverflowError, TypeError, pl.exceptions.PolarsError):
            pass  # DuckDB has integers of 128 bits
    if types <= {int, bool, float, Decimal}:
        return pl.Series([None if v is None else float(v) for v in values], dtype=pl.Float64)
    return pl.Series([None if v is None else str(v) for v in values], dtype=pl.String)


SECONDS = 60.0  # to wait for all records of a view
BYTES_PER_SECOND = 1_000_000  # of the file, for which it may take a second more
STEPS = 100_000  # of SQLite between two looks at signals such as Ctrl-C
CELL = 50  # bytes of a value in Python, about


class Impatient:
    """Waits for a cursor as long as a whole table can take; a query of users may take longer."""

    def __init__(self, cursor: Any, name: str, path: Path | None) -> None:
        self.cursor, self.name = cursor, name
        self.path = path  #: the file of a table or view; None without limits
        self.cells = 0
        self.seconds = SECONDS + (path.stat().st_size / BYTES_PER_SECOND if path else 0.0)
        self.start = time.monotonic()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of ``function``, which waits for the database."""
        if self.path is None:
            return function(*arguments)
        ended = threading.Event()
        connection = getattr(self.cursor, "connection", self.cursor)

        def end() -> None:
            ended.set()
            connection.interrupt()

        timer = threading.Timer(self.start + self.seconds - time.monotonic(), end)
        timer.daemon = True
        timer.start()
        try:
            return function(*arguments)
        except Exception as error:
            if ended.is_set():
                raise ValueError(
                    f"{self.name}: reading it takes more than {self.seconds:.0f} seconds, so its "
                    "view may be endless. If you trust it, state what to read: query='select ...'"
                ) from error
            raise
        finally:
            timer.cancel()

    def batches(self, size: int) -> Iterator[list[Any]]:
        """The records of the answer, many at a time."""
        while records := self.call(self.cursor.fetchmany, size):
            self._count(records)
            yield records

    def _count(self, records: list[Any]) -> None:
        self.cells += len(records) * len(records[0])
        if self.path is not None and CELL * self.cells > unpacking_limit(self.path, None):
            raise ValueError(
                f"{self.name}: the view has more than {self.cells:,} values, far more than its "
                "file, and may be endless. If you trust it, state what to read: query='select ...'"
            )


@contextmanager
def heeding_signals(connection: Any) -> Iterator[None]:
    """Let Ctrl-C end a statement of SQLite, which knows no signals by itself."""
    signals: list[KeyboardInterrupt] = []

    def look() -> int:
        try:
            for _ in range(2):  # Python calls handlers of signals between steps of a loop
                pass
        except KeyboardInterrupt as signal:
            signals.append(signal)
        return len(signals)

    connection.set_progress_handler(look, STEPS)
    try:
        yield
    except Exception as error:
        if signals or "interrupted" in str(error):
            raise KeyboardInterrupt from error
        raise


RECORDS = 100_000  # at a time
NOT_DATABASES = ("http", "https", "ftp", "s3", "gs", "file")
MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
EXTRA = "comarkov[databases]"
CONNECT_SECONDS = 15  # to wait for a server
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


class Asked(NamedTuple):
    """What to read from a database: the answer to a query, or a table; None if not stated."""

    query: str | None = None
    table: str | None = None

    def check(self) -> None:
        """Refuse both at once."""
        if self.query is not None and self.table is not None:
            raise ValueError("query= and table= exclude each other: pass one of them.")


class Database(NamedTuple):
    """One database: its kind, its address or path, and its name in messages."""

    kind: str
    address: str
    name: str

    @contextmanager
    def cursor(self, is_asked: bool = True) -> Iterator[Any]:
        """A cursor of a connection that can only read; ``is_asked`` if users wrote the query.

        Else it may be that of a view, which must not read other files.
        """
        with ExitStack() as stack:
            connection = stack.enter_context(closing(CONNECT[self.kind](self.address)))
            if self.kind == "sqlite":
                stack.enter_context(heeding_signals(connection))
            elif self.kind == "duckdb" and not is_asked:
                connection.execute("set enable_external_access = false")
            # Without a name PostgreSQL would send the whole answer at once.
            named = {"name": "comarkov"} if self.kind == "postgresql" else {}
            yield stack.enter_context(closing(connection.cursor(**named)))

    def tables(self) -> list[tuple[str, str]]:
        """The schemas and names of all tables and views."""
        with self.cursor() as cursor:
            cursor.execute(TABLES_OF_SQLITE if self.kind == "sqlite" else TABLES_OF_OTHERS)
            return [(schema, table) for schema, table in cursor.fetchall()]


def is_address(source: Any) -> bool:
    """Is it an address such as postgresql://...?"""
    return isinstance(source, str) and "://" in source


def kind_of_database(path: Path) -> str | None:
    """The kind of a database in a file, by its first bytes; None if it is something else."""
    with path.open("rb") as file:
        start = file.read(16)
    return next((kind for kind, (at, mark) in MAGIC.items() if start[at:].startswith(mark)), None)


def from_database(address: str, asked: Asked) -> RawTable:
    """A table from sqlite:///path, duckdb:///path, postgresql://... or what polars can read."""
    asked.check()
    scheme, _, place = address.partition("://")
    kind = {"postgres": "postgresql"}.get(base := scheme.lower().partition("+")[0], base)
    if kind in MAGIC:
        return from_database_file(kind, Path(place.removeprefix("/")), asked)
    if kind in NOT_DATABASES:
        raise ValueError(
            f"{_public(address)} is not a database. Download the file first, and read the copy."
        )
    if kind in CONNECT:
        return _read(Database(kind, f"{kind}://{place}", _public(address)), asked)
    return _by_polars(address, asked)


def from_database_file(kind: str, path: Path, asked: Asked, name: str = "") -> RawTable:
    """A table of an SQLite or DuckDB file, which is opened for reading only."""
    asked.check()
    name = name or str(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {name!r}.{similar_file(path)}")
    return _read(Database(kind, str(path), name), asked)


def _read(database: Database, asked: Asked) -> RawTable:
    """All records of a table or of the answer to a query."""
    error_types = _errors(database.kind)
    try:
        query = asked.query or _whole(database, asked.table)
        with database.cursor(is_asked=asked.query is not None) as cursor:
            has_limits = asked.query is None and database.kind in MAGIC
            path = Path(database.address) if has_limits else None
            return _fetched(Impatient(cursor, database.name, path), query)
    except error_types as error:
        why = _public(first_line(error))
        raise ValueError(f"{database.name}: {why}.{_tables_hint(database, asked)}") from error


def _fetched(answer: Impatient, query: str) -> RawTable:
    cursor, name = answer.cursor, answer.name
    answer.call(cursor.execute, query)
    if cursor.description is None:
        raise ValueError(f"{name}: the query returns no table: {query}")
    headings = [column[0] for column in cursor.description]
    if len(set(headings)) < len(headings):
        raise ValueError(
            f"{name}: the query returns two columns of one name ({', '.join(headings)}). Name them "
            "differently: select a.id as user, b.id as item ..."
        )
    columns = [Column(heading) for heading in headings]
    for records in answer.batches(RECORDS):
        for column, values in zip(columns, zip(*records, strict=True), strict=True):
            column.append(values)
    return from_frame(as_table(columns), name)


# --- tables -----------------------------------------------------------------------------------


def _whole(database: Database, wanted: str | None) -> str:
    """The query for a whole table: the one of this name, or the only one there is."""
    tables = {_shown(schema, table): (schema, table) for schema, table in database.tables()}
    if wanted is None and len(tables) == 1:
        wanted = next(iter(tables))
    if wanted is None or wanted not in tables:
        raise ValueError(_choice(database.name, wanted, list(tables)))
    return "select * from " + ".".join(map(_quoted, filter(None, tables[wanted])))


def _choice(name: str, wanted: str | None, tables: list[str]) -> str:
    if not tables:
        return f"{name} has no tables. Check the address, or pass a query=."
    has = f"no table {quote(wanted)}. It has" if wanted else f"{len(tables)} tables:"
    likely = next((t for t in tables if wanted and t.lower() == wanted.lower()), tables[0])
    return f"{name} has {has} {', '.join(tables)}. Choose one: table={_quoted(likely)}"


def _tables_hint(database: Database, asked: Asked) -> str:
    """The tables that there are, after a query that failed; nothing if they cannot be listed."""
    if asked.query is None:
        return ""
    try:
        tables = [_shown(*table) for table in database.tables()]
    except _errors(database.kind):  # the connection is the problem, which the first error states
        return ""
    if not tables:
        return " It has no tables."
    return f" It has the tables {', '.join(tables)}. To read one: table={_quoted(tables[0])}"


def _shown(schema: str, table: str) -> str:
    return f"{schema}.{table}" if schema else table


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- connections ------------------------------------------------------------------------------


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


def _by_polars(address: str, asked: Asked) -> RawTable:
    """The answer of any other database, by connectorx or an ADBC driver."""
    name = _public(address)
    if asked == Asked():
        raise ValueError(f"{name} is a database. Choose what to read: table= or query=.")
    need("Reading databases", "polars")
    import polars as pl

    try:
        query = asked.query or f"select * from {asked.table}"
        return from_frame(pl.read_database_uri(query, address), name)
    except ImportError as error:
        raise ValueError(
            f"{name}: {first_line(error)}. Databases other than SQLite, DuckDB and PostgreSQL are "
            "read by connectorx. Run: pip install connectorx"
        ) from error
    except Exception as error:  # each driver has its own
        raise ValueError(f"{name}: {_public(first_line(error))}.") from error


def _public(address: str) -> str:
    """An address without its password."""
    start, mark, rest = address.partition("://")
    if not mark or "@" not in rest:
        return address
    user, _, place = rest.rpartition("@")
    return f"{start}://{user.split(':')[0]}@{place}"
