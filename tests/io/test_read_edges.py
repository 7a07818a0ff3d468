"""Edge lists in every format give the same matrix; the roles of columns; stdin."""

import csv
import gzip
import io
import sqlite3
import sys
import zipfile
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from refusals import noted

import comarkov
from comarkov.io.read import edge_lists as edges_module

EDGES = [("Ann", "tea", 2), ("Bob", "rum", 1), ("Ann", "rum", 1.5), ("Ann", "tea", 3)]
MATRIX = [[1.5, 5], [1, 0]]


def lines(edges, separator=",", header=("user", "item", "rating")):
    rows = [separator.join(map(str, edge)) for edge in edges]
    return "\n".join([*([separator.join(header)] if header else []), *rows]) + "\n"


def check(data, matrix=MATRIX, rows=("Ann", "Bob"), columns=("rum", "tea")):
    assert data.row_names.tolist() == list(rows)
    assert data.column_names.tolist() == list(columns)
    assert_array_equal(data.matrix.toarray(), matrix)
    assert data.matrix.has_canonical_format
    assert data.matrix.dtype == np.float64


def frame(edges, header=("user", "item", "rating")):
    return pl.DataFrame(edges, schema=list(header), orient="row", strict=False)


def write_sqlite(path, edges):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table edges (user, item, rating)")
        connection.executemany("insert into edges values (?, ?, ?)", edges)
    connection.close()


WRITERS = {
    "edges.csv": lambda path, edges: path.write_text(lines(edges)),
    "bare.csv": lambda path, edges: path.write_text(lines(edges, header=None)),
    "edges.tsv": lambda path, edges: path.write_text(lines(edges, "\t")),
    "edges.txt": lambda path, edges: path.write_text("% bip\n\n" + lines(edges, " ", None)),
    "edges;.csv": lambda path, edges: path.write_text(lines(edges, ";")),
    "windows.csv": lambda path, edges: path.write_bytes(
        b"\xef\xbb\xbf" + lines(edges).replace("\n", "\r\n").encode()
    ),
    "edges.csv.gz": lambda path, edges: path.write_bytes(gzip.compress(lines(edges).encode())),
    "edges.csv.zst": lambda path, edges: path.write_bytes(
        zstandard.compress(lines(edges).encode())
    ),
    "edges.zip": lambda path, edges: zipfile.ZipFile(path, "w").writestr("e.csv", lines(edges)),
    "edges.parquet": lambda path, edges: frame(edges).write_parquet(path),
    "edges.db": write_sqlite,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_file_format_gives_the_same_matrix(name, tmp_path):
    WRITERS[name](tmp_path / name, EDGES)
    check(comarkov.read(tmp_path / name))
    check(comarkov.read(str(tmp_path / name), kind="edges"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=st.data())
def test_order_format_and_splitting_do_not_matter(data, tmp_path, monkeypatch):
    monkeypatch.setattr(edges_module, "EDGES_AT_ONCE", 5)
    texts = st.text("aé,;\"'|# \t", min_size=1, max_size=4).filter(lambda s: s == s.strip() != "")
    ids = data.draw(st.sampled_from([st.integers(-3, 12), st.sampled_from([-7, 10**15]), texts]))
    amounts = st.integers(1, 4) | st.sampled_from([0.25, 0.5])
    edges = data.draw(st.lists(st.tuples(ids, ids, amounts), min_size=1, max_size=25))
    expected = {}
    for row, column, amount in edges:
        place = str(row), str(column)
        expected[place] = expected.get(place, 0) + amount
    shuffled = data.draw(st.permutations(edges))
    table = frame(shuffled)
    if data.draw(st.booleans()):
        table.write_parquet(tmp_path / "edges")
    else:
        separator = data.draw(st.sampled_from(",;\t"))
        table.cast(pl.String).write_csv(
            tmp_path / "edges", separator=separator, quote_style="always"
        )
    result = comarkov.read(tmp_path / "edges", rows="user", columns="item", weights="rating")
    cells = result.matrix.tocoo()
    names = zip(result.row_names[cells.row], result.column_names[cells.col], strict=True)
    assert dict(zip(names, cells.data, strict=True)) == expected
    for names, k in ((result.row_names, 0), (result.column_names, 1)):
        assert names.tolist() == [str(one) for one in sorted({edge[k] for edge in edges})]


def test_whole_numbers_are_sorted_by_number_in_text_too(tmp_path):
    rows = [(10, "b", 1), (9, "a", 1), (-1, "c", 2)]
    (tmp_path / "e.csv").write_text(lines(rows))
    frame(rows).write_parquet(tmp_path / "e.parquet")
    for file in ("e.csv", "e.parquet"):
        assert comarkov.read(tmp_path / file).row_names.tolist() == ["-1", "9", "10"]
    (tmp_path / "e.csv").write_text(lines([*rows, ("010", "a", 1)]))
    assert comarkov.read(tmp_path / "e.csv").row_names.tolist() == ["-1", "010", "10", "9"]


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Boolean, pl.Float32, pl.Date])
def test_ids_of_every_type(dtype):
    ids = pl.Series([0, 1, 0]) if dtype != pl.Categorical else pl.Series(["0", "1", "0"])
    table = pl.DataFrame({"a": ids.cast(dtype), "b": ["x", "y", "y"]})
    dates = ["1970-01-01", "1970-01-02"]
    names = {pl.Boolean: ["false", "true"], pl.Date: dates}.get(dtype, ["0", "1"])
    check(comarkov.read(table), [[1, 1], [0, 1]], names, ["x", "y"])


@pytest.mark.parametrize(
    ("dtype", "ids"),
    [
        (pl.Int8, [-128, -10, 45, 127]),
        (pl.Int64, [-(2**63), 0, 2**63 - 1]),
        (pl.UInt64, [0, 2**63, 2**64 - 1]),
        (pl.Int128, [-(2**100), 5, 2**100]),
    ],
)
def test_ids_of_a_type_that_are_far_apart_stay_apart(dtype, ids, tmp_path):
    table = pl.DataFrame({"a": pl.Series(ids[::-1], dtype=dtype), "b": list("wxyz")[: len(ids)]})
    table.write_parquet(tmp_path / "e.parquet")
    for source in (table, tmp_path / "e.parquet"):
        data = comarkov.read(source)
        assert sorted(map(int, data.row_names)) == ids
        assert_array_equal(data.matrix.sum(axis=1), np.ones(len(ids)))
        pairs = {
            data.row_names[i]: data.column_names[j]
            for i, j in zip(*data.matrix.nonzero(), strict=False)
        }
        assert pairs == dict(zip(map(str, ids[::-1]), "wxyz", strict=False))


def test_columns_by_name_and_by_position(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,item,rating,user\n7,tea,2,Ann\n8,rum,1,Bob\n9,rum,1.5,Ann\n9,tea,3,Ann\n")
    by_name = comarkov.read(path, rows="user", columns="item", weights="rating")
    check(by_name)
    assert (by_name.row_kind, by_name.column_kind) == ("user", "item")
    check(comarkov.read(path, rows=3, columns=1, weights=2))
    check(comarkov.read(path, rows="3", columns="1", weights="2"))
    check(comarkov.read(path, rows="user", columns="item"), [[1, 2], [1, 0]])
    path.write_text("1,0,w\nAnn,tea,1\n")  # a name of digits is a name first
    check(comarkov.read(path, rows="1", columns="0", header=True), [[1]], ["Ann"], ["tea"])


def test_quotes_blank_lines_and_spaces_around_numbers(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text('user,item,n\n"Ann, the ""1st""",tea, 2\n\nBob,"two\nlines",1 \n\n')
    data = comarkov.read(path)
    assert data.row_names.tolist() == ['Ann, the "1st"', "Bob"]
    assert data.column_names.tolist() == ["tea", "two\nlines"]
    assert data.matrix.sum() == 3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_quotes_within_a_field(end, tmp_path):
    for field in ('5" disk', '5"', '"b"c', '"say ""hi"""', "it's", '"a,b"'):
        text = ["user,item,n", f"a,{field},1", "b,y,2", f"c,{field},3"]
        (tmp_path / "e.csv").write_text(end.join(text) + end, newline="")
        name = next(csv.reader([field]))[0]
        check(comarkov.read(tmp_path / "e.csv"), [[1, 0], [0, 2], [3, 0]], "abc", [name, "y"])


def test_frames_and_open_files():
    table = frame(EDGES)
    check(comarkov.read(table))
    check(comarkov.read(table.lazy()))
    check(comarkov.read(table.to_pandas()))
    check(comarkov.read(pd.DataFrame(EDGES, columns=["a", "b", "w"]).astype({"a": "category"})))
    missing = pd.DataFrame({"read": ["a", "b"], "gene": ["c", pd.NA]})
    with noted("1 line"):
        assert comarkov.read(missing).row_names.tolist() == ["a"]
    check(comarkov.read(missing.fillna("c")), [[1], [1]], ["a", "b"], ["c"])
    check(comarkov.read(io.BytesIO(lines(EDGES).encode())))
    check(comarkov.read(io.StringIO(lines(EDGES))))


@pytest.mark.parametrize("name", ["edges.csv.zst", "edges.parquet"])
def test_stdin(name, tmp_path, monkeypatch):
    WRITERS[name](tmp_path / name, EDGES)
    with (tmp_path / name).open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        data = comarkov.read("-")
    check(data)
    assert data.source == "stdin"


@pytest.mark.filterwarnings("ignore:.*are names")
@pytest.mark.parametrize("kind", [None, "edges"])
def test_a_serial_number_is_no_side(kind):
    content = b"id,user,item,qty\n1,Ann,tea,2\n2,Bob,rum,1\n3,Ann,rum,1\n"
    data = comarkov.read(io.BytesIO(content), kind=kind)
    assert {data.row_kind, data.column_kind} == {"user", "item"}


def test_wide_tables_take_as_many_queries_as_narrow_ones(tmp_path, monkeypatch):
    counts = []
    collect = pl.LazyFrame.collect
    monkeypatch.setattr(
        pl.LazyFrame, "collect", lambda *a, **k: counts.append(0) or collect(*a, **k)
    )
    numbers = []
    for width in (5, 500):
        names = ",".join(f"c{i}" for i in range(width))
        row = ",".join(["1"] * width)
        (tmp_path / "t.csv").write_text(f"name,{names}\nx,{row}\ny,{row}\n")
        counts.clear()
        assert comarkov.read(tmp_path / "t.csv").shape == (2, width)
        numbers.append(len(counts))
    assert numbers[0] == numbers[1] < 12
