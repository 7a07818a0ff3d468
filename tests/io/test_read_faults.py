"""Malformed input gets one line that names the file, the line and the column, and what to do."""

import csv
import gzip
import io
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from refusals import advised, noted, refused

import comarkov
from comarkov.io.read.opened import Opened
from comarkov.io.read.table_files import from_lines

# The content of a file, the line and the column of the error, and a part of it.
EDGES = {
    "a line that is too short": (b"user,item,n\na,b,1\nc,d\n", (3, None), "2 fields"),
    "a line that is too long": (b"user,item,n\na,b,1\n\nc,d,2,9\n", (4, None), "4 fields"),
    "text for a weight": (b"user,item,n\na,b,1\nc,d,x\n", (3, "n"), "'x'"),
    "only a header of three words": (b"user,tea,milk\n", (1, 3), "'milk'"),
    "text far down": (b"user,item,n\n" + b"a,b,1\n" * 5000 + b"c,d,1O\n", (5002, "n"), "'1O'"),
    "no header": (b"a,b,1\nc,d,2\nc,d,-2\n", (3, 3), "rows=0, columns=1"),
    "NaN": (b"user,item,n\na,b,nan\n", (2, "n"), "missing"),
    "infinity": (b"user,item,n\na,b,1e999\n", (2, "n"), "infinity"),
    "no weight": (b"user,item,n\na,b,1\na,c,\n", (3, "n"), "missing='0'"),
    "after a line break in quotes": (b'user,item,n\n"a\nb",c,1\nd,e,?\n', (4, "n"), "'?'"),
    "after comments": (b"# from SNAP\n# again\na\tb\t1\nc\td\tx\n", (4, 3), "'x'"),
    "a repeated heading": (b"user,item,user\na,b,c\n", (1, 3), "drop=2"),
    "full-width digits": ("user,item,n\na,b,1\na,c,１２\n".encode(), (3, "n"), "'１２'"),
    "a quote never closed": (b'user,item\na,b\na,"5 inch\nb,c\n', (3, None), "quote"),
    "a quote closed far away": (b'user,item,n\na,"b,1\nc,d,2\ne,"f",3\n', (2, None), "quote"),
    "line ends of old Macs": (b"user,item,n\ra,b,1\rc,d,x\r", (3, "n"), "'x'"),
    "wrong encoding": (b"user,item,n\na,b,1\nRen\xe9,c,1\n", (3, None), "0xe9 is not utf-8"),
    "UTF-16": ("user,item,n\na,b,1\n".encode("utf-16"), (1, None), "zero bytes"),
    "empty": (b"", (None, None), "empty"),
    "only blank lines": (b"\n\n", (None, None), "empty"),
    "only comments": (b"# one\n# two\n", (None, None), "only comments"),
    "only a header": (b"user,item,n\n", (None, None), "no edges"),
    "damaged gzip": (gzip.compress(b"a,b,1\n" * 999)[:-9], (None, None), "unpacked"),
    "damaged zstandard": (zstandard.compress(b"a" * 999)[:-9] + b"12", (None, None), "unpacked"),
    "damaged Parquet": (b"PAR1" + b"\0" * 99, (None, None), "Parquet"),
    "a binary file": (bytes(range(256)), (1, None), "zero bytes"),
}
TABLES = {
    "text in a cell": (b"gene,x,y,z\na,1,2,3\nb,1,high,3\n", (3, "y"), "'high'"),
    "negative": (b"gene,x,y,z\na,1,2,-3\n", (2, "z"), "drop='z', kind='table'"),
    "ragged": (b"gene,x,y,z\na,1,2,3\nb,1,2\n", (3, None), "3 fields"),
    "a row twice": (b"gene,x,y,z\na,1,2,3\na,1,2,3\n", (3, "gene"), "'a'"),
    "a column twice": (b"gene,x,y,x\na,1,2,3\n", (1, 4), "'x'"),
    "only a header": (b"gene,x,y,z\n", (None, None), "no lines"),
    "one column": (b"gene\na\n", (None, None), "no column of numbers"),
}


@pytest.mark.parametrize("name", EDGES)
def test_edge_lists(name, here):
    content, at, part = EDGES[name]
    (here / "e.csv").write_bytes(content)
    error = refused("e.csv", part, at=at, kind="edges", encoding="utf-8")
    assert error.file == "e.csv"
    assert error.advice


@pytest.mark.parametrize("name", TABLES)
def test_wide_tables(name, here):
    content, at, part = TABLES[name]
    (here / "t.csv").write_bytes(content)
    for header in (True, None) if "only" in name else (True,):
        assert refused("t.csv", part, at=at, header=header).file == "t.csv"


@pytest.mark.parametrize(
    ("name", "shape"),
    [("no header", (2, 2)), ("no weight", (1, 1)), ("a repeated heading", (1, 1))],
)
@pytest.mark.filterwarnings("ignore:.*without a weight")
def test_the_advice_about_edge_lists_works(name, shape, here):
    (here / "e.csv").write_bytes(EDGES[name][0])
    keywords = advised(refused("e.csv", kind="edges"))
    assert keywords
    assert comarkov.read("e.csv", kind="edges", **keywords).shape == shape


@pytest.mark.filterwarnings("ignore")
def test_the_advice_about_tables_works(here):
    (here / "t.csv").write_bytes(TABLES["negative"][0])
    keywords = advised(refused("t.csv", header=True))
    assert comarkov.read("t.csv", header=True, **keywords).matrix.nnz > 0


def test_weights_that_are_all_0():
    assert comarkov.read(io.BytesIO(b"user,item,n\na,b,0\n")).matrix.nnz == 0


@pytest.mark.parametrize("is_eager", [True, False])
@given(st.text(st.sampled_from('ab,,\n\n""'), max_size=16))
def test_polars_reads_what_python_reads_or_the_line_is_named(is_eager, text):
    text = "x,y,z\n" + text
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("comarkov.io.read.table_files.EAGER_BYTES", 1 << 20 if is_eager else 0)
        (Path(folder) / "e.csv").write_text(text, newline="")
        expected = [record for record in csv.reader(io.StringIO(text)) if any(record)]
        table, line = None, None
        try:
            table = from_lines(Opened("e.csv", Path(folder) / "e.csv", ".csv"), False, ",")
        except comarkov.InputError as error:
            line = error.line
        if table is None:
            assert line
        else:
            rows = table.frame.collect().rows()
            assert [[cell or "" for cell in row] for row in rows] == expected


@given(st.lists(st.lists(st.text('ab, \n"', max_size=6), min_size=3, max_size=3), min_size=1))
def test_what_csv_writes_is_read(rows):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "e.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([["x", "y", "z"], *rows])
        table = from_lines(Opened("e.csv", path, ".csv"), False, ",")
        read = [[cell or "" for cell in row] for row in table.frame.collect().rows()]
        assert read[1:] == [row for row in rows if any(row)]


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "number"), [("4,c,x,1,extra", 5), ("4,c,x", 3), ("4,SHIFT,c,x,1", 5), ("4", 1)]
)
def test_ragged_lines_where_columns_are_chosen(line, number, end, quote, here):
    text = ["t,user,item,w", "1,a,x,1", "", "2,b,x,1", line, "3,b,y,1"]
    text = [",".join(f"{quote}{field}{quote}" for field in t.split(",")) if t else t for t in text]
    (here / "e.csv").write_bytes(end.join(text).encode())
    refused("e.csv", f"{number} field", at=(5, None), rows="user", columns="item")


def test_ragged_lines_that_make_up_for_each_other_and_are_far_down(tmp_path, monkeypatch):
    monkeypatch.setattr("comarkov.io.read.table_files.EAGER_BYTES", 0)
    path = tmp_path / "e.csv"
    path.write_text("t,user,item\n" + "1,a,b\n" * 500 + "1,a\n1,a,b,c\n" + "1,a,b\n" * 500)
    refused(path, "2 fields", at=(502, None), rows="user", columns="item")
    path.write_text("t,user,item\n" + "1,a,b\n" * 500 + "1,a,b")
    assert comarkov.read(path, rows="user", columns="item").matrix.toarray() == [[501]]


def test_a_line_without_ids_is_not_blank(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("t,user,item\n1,a,b\n2,,\n,,\n")
    with noted("1 line"):
        assert comarkov.read(path, rows="user", columns="item").matrix.sum() == 1


@pytest.mark.parametrize("name", ["text far down", "after comments", "no weight"])
def test_large_files_are_read_in_parts_with_the_same_errors(name, here, monkeypatch):
    monkeypatch.setattr("comarkov.io.read.table_files.EAGER_BYTES", 0)
    monkeypatch.setattr("comarkov.io.read.edge_lists.EDGES_AT_ONCE", 700)
    test_edge_lists(name, here)


@pytest.mark.parametrize(
    ("weights", "line", "part"),
    [
        ([1.0, None], 2, "missing='skip'"),
        ([1.0, float("nan")], 2, "missing='skip'"),
        ([-1, 1], 1, "-1"),
        (["1", "x"], 2, "'x'"),
        ([[1], [2]], None, "drop='w'"),
    ],
)
def test_typed_tables(weights, line, part, tmp_path):
    table = pl.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "w": weights}, strict=False)
    table.write_parquet(tmp_path / "e.parquet")
    assert refused(tmp_path / "e.parquet", part, at=(line, "w")).file.endswith("e.parquet")
    assert refused(table, part, at=(line, "w")).file == "the data frame"


def test_columns_that_are_not_there(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("user,item,n\na,b,1\n")
    for wrong in ("usr", 3, "3", -1):
        error = refused(path, repr(wrong), "user, item, n", rows=wrong, columns="item")
        assert advised(error) == {"rows": "user"}
    for keywords in ({"rows": "USER"}, {"columns": "item"}):
        assert comarkov.read(path, kind="edges", **keywords).column_names.tolist() == ["b"]
    assert advised(refused(path, rows="user", columns=0)) == {"rows": "user", "columns": "item"}


LARGE = b"a,b,1\n" * 100_000
BOMBS = {
    "e.csv.gz": lambda path: path.write_bytes(gzip.compress(LARGE)),
    "e.csv.zst": lambda path: path.write_bytes(zstandard.compress(LARGE)),
    "e.zip": lambda path: zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED).writestr("a.csv", LARGE),
    "e.npz": lambda path: sp.save_npz(path, sp.csr_array(np.ones((300, 300)))),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_unpacks_to_too_much_is_refused(name, tmp_path):
    BOMBS[name](tmp_path / name)
    refused(tmp_path / name, "500,000", "max_bytes=", max_bytes=500_000)
    assert comarkov.read(tmp_path / name, max_bytes=10_000_000).matrix.nnz > 0


def test_the_limit_is_a_multiple_of_the_size(tmp_path, monkeypatch):
    monkeypatch.setattr("comarkov.io.read.opened.FREE_UNPACKED_BYTES", 1000)
    monkeypatch.setattr("comarkov.io.read.opened.MAX_UNPACKED_RATIO", 10)
    BOMBS["e.csv.gz"](tmp_path / "e.csv.gz")
    limit = 10 * (tmp_path / "e.csv.gz").stat().st_size
    assert advised(refused(tmp_path / "e.csv.gz", f"{limit:,}")) == {"max_bytes": 10 * limit}


def test_files_that_cannot_be_read(here):
    with pytest.raises(FileNotFoundError):
        comarkov.read("nowhere.csv")
    (here / "folder").mkdir()
    assert advised(refused("folder", "folder", kind="edges")) == {"kind": "texts"}
    refused("folder", "folder")
    (here / "book.xls").write_bytes(b"\xd0\xcf\x11\xe0")
    refused("book.xls", "book.xls", ".xlsx")
    with zipfile.ZipFile("two.zip", "w") as archive:
        archive.writestr("a", "")
        archive.writestr("b", "")
    assert refused("two.zip", "2 files").file == "two.zip"


def test_the_line_that_is_not_in_the_stated_encoding(tmp_path):
    path = tmp_path / "e.csv"
    path.write_bytes("user,item\na,b\nc,Zoë\n".encode("latin-1"))
    error = refused(path, "0xeb", "shift_jis", at=(3, None), encoding="shift_jis")
    assert comarkov.read(path, **advised(error)).column_names.tolist() == ["Zoë", "b"]


@pytest.mark.parametrize(
    ("source", "keywords", "part"),
    [
        (b"user,item\na,b\n", {"layer": "counts"}, "layer= applies to h5ad"),
        (b"user,item\na,b\n", {"kind": "csv"}, "kind='csv'"),
        (np.eye(3), {"n_words": 3}, "n_words= applies to texts"),
        (b"a,b\n", {"encoding": "utf-9"}, "'utf-9'"),
        (b"a::b\n", {"separator": "::"}, "separator='::'"),
        ({}, {}, "dict"),
    ],
)
def test_keywords_that_do_not_go_together(source, keywords, part):
    refused(io.BytesIO(source) if isinstance(source, bytes) else source, part, **keywords)
