"""Databases, each a real one: SQLite, DuckDB and a PostgreSQL server."""

import gzip
import os
import socket
import sqlite3
import struct
import threading
from contextlib import closing
from decimal import Decimal

import postgres
import pytest
from numpy.testing import assert_array_equal
from refusals import advised, noted, refused

import comarkov
from comarkov.io.read.databases import as_series

duckdb = pytest.importorskip("duckdb")
psycopg = pytest.importorskip("psycopg")

SALES = [("Ann", "tea", 2), ("Bob", "rum", 1), ("Ann", "rum", 1), ("Ann", "tea", 3)]
EXPECTED = [[1, 5], [1, 0]]
KINDS = ("sqlite", "duckdb", "postgresql")


@pytest.fixture(scope="module")
def server():
    """A running PostgreSQL server."""
    if postgres.programs() is None:
        if os.environ.get("COMARKOV_NEEDS_POSTGRES"):
            pytest.fail(postgres.MISSING)
        pytest.skip(postgres.MISSING)
    with postgres.server() as address:
        yield address


@pytest.fixture(params=KINDS)
def shop(request, tmp_path):
    """A new database: its address, and a function that runs statements in it."""
    kind = request.param
    if kind == "postgresql":
        main = request.getfixturevalue("server")
        name = f"shop{abs(hash(request.node.name))}"
        address = main.replace(":///postgres", f":///{name}")
        _execute(lambda: psycopg.connect(main, autocommit=True), f"create database {name}")
    else:
        address = f"{kind}:///{tmp_path / 'shop.db'}"

    def connect():
        if kind == "postgresql":
            return psycopg.connect(address)
        driver = sqlite3 if kind == "sqlite" else duckdb
        return driver.connect(str(tmp_path / "shop.db"))

    def execute(*statements):
        _execute(connect, *statements)

    execute("create table sales (customer varchar(9), product varchar(9), n integer)")
    values = ", ".join(map(str, SALES))
    execute(f"insert into sales values {values}")
    return address, execute


def _execute(connect, *statements):
    with closing(connect()) as connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        is_sqlite = isinstance(connection, sqlite3.Connection)
        if is_sqlite or not getattr(connection, "autocommit", False):
            connection.commit()


def check(data, expected=EXPECTED, rows=("Ann", "Bob"), columns=("rum", "tea")):
    assert_array_equal(data.matrix.toarray(), expected)
    assert data.row_names.tolist() == list(rows)
    assert data.column_names.tolist() == list(columns)


def test_the_only_table_a_named_one_and_a_query(shop):
    address, execute = shop
    data = comarkov.read(address)
    check(data)
    assert (data.row_kind, data.column_kind) == ("customer", "product")
    check(comarkov.read(address, table="sales"))
    query = "select product, customer, sum(n) as n from sales where n > 1 group by 1, 2"
    check(comarkov.read(address, query=query), [[5]], ["tea"], ["Ann"])
    execute('create table "Other One" (a integer)', "create view big as select * from sales")
    check(comarkov.read(address, table="big"))


def test_the_error_lists_the_tables_with_a_call_that_works(shop):
    address, execute = shop
    execute("create table items (product varchar(9), price float)")
    for wanted, table in ((None, "items"), ("Sales", "sales")):
        error = refused(address, "items, sales", table=wanted)
        assert advised(error) == {"table": table}
    refused(address, "price", query="select price from sales")
    refused(address, "query=", "table=", query="select 1", table="sales")


def test_nothing_is_ever_changed(shop):
    address, _ = shop
    for query in ("delete from sales", "drop table sales"):
        refused(address, "shop", query=query)
    check(comarkov.read(address))


def test_records_come_in_parts(shop, monkeypatch):
    monkeypatch.setattr("comarkov.io.read.databases.RECORDS_AT_ONCE", 3)
    address, execute = shop
    check(comarkov.read(address))
    execute("insert into sales values ('Cid', null, 1)")
    with noted("1 line"):
        check(comarkov.read(address))
    refused(address, "no edges", query="select * from sales where n > 100")


def test_numbers_of_all_types(shop):
    address, _ = shop
    query = (
        "select customer, product, cast(n as decimal(9, 2)) / 2.0 as half from sales "
        "union all select 'Eve', 'gin', 0.25 union all select 'Eve', 'tea', 3"
    )
    expected = [[0, 0.5, 2.5], [0, 0.5, 0], [0.25, 0, 3]]
    names = ["Ann", "Bob", "Eve"], ["gin", "rum", "tea"]
    check(comarkov.read(address, query=query), expected, *names)


def test_two_columns_of_one_name(shop):
    refused(shop[0], "(customer, customer)", query="select customer, customer from sales")


def test_tables_of_other_schemas(server):
    _execute(
        lambda: psycopg.connect(server),
        "create schema store",
        "create table store.sales (customer text, product text, n numeric)",
        f"insert into store.sales values {', '.join(map(str, SALES))}",
    )
    check(comarkov.read(server))
    check(comarkov.read(server, table="store.sales"))
    check(comarkov.read(server.replace("postgresql:", "postgresql+psycopg:")))


def test_a_server_that_is_not_there_and_a_password(tmp_path):
    address = f"postgresql://ann:secret@/shop?host={tmp_path}"
    error = refused(address, "postgresql://ann@/shop", "connection", table="sales")
    assert "secret" not in str(error)


def answer(kind, *parts):
    """A message of a PostgreSQL server."""
    body = b"".join(parts)
    return kind + struct.pack("!I", len(body) + 4) + body


def described(*names, oid=25):
    about = [name + b"\0" + struct.pack("!IHIhIH", 0, 0, oid, -1, 2**32 - 1, 0) for name in names]
    return answer(b"T", struct.pack("!H", len(names)), *about)


def values(*cells):
    each = [struct.pack("!i", len(cell)) + cell for cell in cells]
    return answer(b"D", struct.pack("!H", len(cells)), *each)


READY, DONE = answer(b"Z", b"I"), answer(b"C", b"SELECT 1\0")
WELCOME = answer(b"R", bytes(4)) + answer(b"S", b"client_encoding\0UTF8\0") + READY
HOSTILE = {  # what a server sends at first, and as the answer to each query
    "no PostgreSQL": (b"HTTP/1.0 400 Bad\r\n\r\n" * 99, b""),
    "a huge message": (b"R" + struct.pack("!I", 2**31 - 1), b""),
    "control characters": (answer(b"E", b"SFATAL\0C28000\0M\x1b[31m\nred\0\0"), b""),
    "garbage": (WELCOME, b"\0\xff" * 50),
    "nothing": (WELCOME, READY),
    "values without names": (WELCOME, values(b"a", b"b") + DONE + READY),
    "too few values": (WELCOME, described(b"", b"t") + values(b"x") + DONE + READY),
    "no text": (WELCOME, described(b"\xff", b"n") + values(b"\xff", b"\xfe") + DONE + READY),
    "no number": (WELCOME, described(b"a", b"n", oid=23) + values(b"x", b"y") + DONE + READY),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_server(name):
    first, each = HOSTILE[name]

    def serve():
        connection, _ = listening.accept()
        with connection:
            while connection.recv(1 << 16)[4:8] == struct.pack("!I", 80877103):  # TLS?
                connection.sendall(b"N")
            connection.sendall(first)
            while each and connection.recv(1 << 16):
                connection.sendall(each)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        address = f"postgresql://ann:secret@127.0.0.1:{listening.getsockname()[1]}/shop"
        error = refused(address, "postgresql://ann@")
        thread.join(10)
    assert "secret" not in str(error)
    assert str(error).isprintable()


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_files_are_recognised_by_their_first_bytes(kind, tmp_path):
    path = tmp_path / "shop.data"
    driver = sqlite3 if kind == "sqlite" else duckdb
    _execute(
        lambda: driver.connect(str(path)),
        "create table sales (customer text, product text, n integer)",
        f"insert into sales values {', '.join(map(str, SALES))}",
    )
    check(comarkov.read(path))
    check(comarkov.read(path, table="sales"))
    packed = tmp_path / "shop.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert comarkov.read(packed).source == str(packed)
    with pytest.raises(FileNotFoundError):
        comarkov.read(f"{kind}:///nowhere.db", query="select 1")


def test_sqlite_may_mix_types(tmp_path, monkeypatch):
    monkeypatch.setattr("comarkov.io.read.databases.RECORDS_AT_ONCE", 2)
    edges = [(1, "a", 1), (2, "a", 2), ("x", "b", 0.5)]
    with closing(sqlite3.connect(tmp_path / "e.db")) as connection:
        connection.execute("create table edges (user, item, rating)")
        connection.executemany("insert into edges values (?, ?, ?)", edges)
        connection.commit()
    check(comarkov.read(tmp_path / "e.db"), [[1, 0], [2, 0], [0, 0.5]], ["1", "2", "x"], ["a", "b"])


def test_a_database_without_tables(tmp_path):
    with closing(sqlite3.connect(tmp_path / "e.db")) as connection:
        connection.execute("pragma user_version = 1")
        connection.commit()
    refused(tmp_path / "e.db", "no tables")


def test_addresses_of_other_databases():
    error = refused("mysql://ann:secret@host/db", "mysql://ann@host", "comarkov.read(polars.")
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, True, None], "Int64"),
        ([1, Decimal("0.5"), None], "Float64"),
        ([1, "x", None, 0.5], "String"),
        ([None], "Null"),
        ([2**70], "Int128"),
    ],
)
def test_columns_have_the_narrowest_type_of_their_values(values, dtype):
    series = as_series("n", values)
    assert str(series.dtype) == dtype
    texts = [None if value is None else str(value) for value in values]
    assert series.to_list() == (texts if dtype == "String" else values)
