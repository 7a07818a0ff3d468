"""Malformed input gets one line that names the file, the line and the column."""

import csv
import gzip
import io
import re
import zipfile
from dataclasses import replace
from datetime import date
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import comarkov
from comarkov.io.read.records import Lines, records, shape_of

FAULTS = {
    "a line that is too short": (
        b"user,item,n\na,b,1\nc,d\n",
        "e.csv, line 3 has 2 fields, but the first line has 3, separated by ','. Put names that "
        "contain ',' in double quotes, or choose what separates the fields, for example "
        "separator=';'.",
    ),
    "a line that is too long": (
        b"user,item,n\na,b,1\n\nc,d,2,9\n",
        "e.csv, line 4 has 4 fields, but the first line has 3",
    ),
    "text for a weight": (
        b"user,item,n\na,b,1\nc,d,x\n",
        "e.csv, line 3, column 3 (n): 'x' is not a number. Correct it. If the column holds no "
        "weights, leave it out with drop='n'.",
    ),
    "only a header of three words": (
        b"user,tea,milk\n",
        "e.csv has no lines below its header: give a file with data.",
    ),
    "text for a weight, far down": (
        b"user,item,n\n" + b"a,b,1\n" * 5000 + b"c,d,1O\n",
        "e.csv, line 5002, column 3 (n): '1O' is not a number.",
    ),
    "no header": (
        b"a,b,1\nc,d,2\nc,d,-2\n",
        "e.csv, line 3, column 3: the weight -2 is negative. If the "
        "column holds no weights, leave it out with drop=2.",
    ),
    "NaN": (b"user,item,n\na,b,nan\n", "e.csv, line 2, column 3 (n): the weight is missing. Use"),
    "infinity": (b"user,item,n\na,b,1e999\n", "e.csv, line 2, column 3 (n): infinity"),
    "no weight": (
        b"user,item,n\na,b,1\na,c,\n",
        "e.csv, line 3, column 3 (n): the weight is missing. Use missing='skip' to skip such "
        "lines, or missing='0' to read them as 0.",
    ),
    "after a line break in quotes": (
        b'user,item,n\n"a\nb",c,1\nd,e,?\n',
        "e.csv, line 4, column 3 (n): '?' is not a number.",
    ),
    "after comments": (b"# from SNAP\n# again\na\tb\t1\nc\td\tx\n", "e.csv, line 4, column 3: 'x'"),
    "a repeated heading": (
        b"user,item,user\na,b,c\n",
        "e.csv, line 1, column 3: the heading 'user' occurs already in column 1. Rename one of "
        "them, or leave one out with drop=2 (positions count from 0).",
    ),
    "full-width digits": (
        "user,item,n\na,b,1\na,c,１２\n".encode(),
        "e.csv, line 3, column 3 (n): '１２' is not a number.",
    ),
    "a quote never closed": (
        b'user,item\na,b\na,"5 inch\nb,c\n',
        "e.csv, line 3: a quote is opened and never closed",
    ),
    "a quote closed far away": (
        b'user,item,n\na,"b,1\nc,d,2\ne,"f",3\n',
        "e.csv, line 2: a quote is opened and never",
    ),
    "line ends of old Macs": (
        b"user,item,n\ra,b,1\rc,d,x\r",
        "e.csv, line 3, column 3 (n): 'x' is not a number.",
    ),
    "wrong encoding": (
        b"user,item,n\na,b,1\nRen\xe9,c,1\n",
        "e.csv, line 3: the byte 0xe9 is not UTF-8. Name the encoding of the file, for example "
        "encoding='latin-1'.",
    ),
    "UTF-16": ("user,item,n\na,b,1\n".encode("utf-16"), "e.csv, line 1 contains zero bytes"),
    "empty": (b"", "e.csv is empty: give"),
    "only blank lines": (b"\n\n", "e.csv is empty: give"),
    "only comments": (b"# one\n# two\n", "e.csv has only comments and blank lines: give"),
    "only a header": (b"user,item,n\n", "e.csv has no edges: give"),
    "all weights 0": (b"user,item,n\na,b,0\n", None),
    "damaged gzip": (gzip.compress(b"a,b,1\n" * 999)[:-9], "e.csv is damaged"),
    "damaged zstandard": (zstandard.compress(b"a,b,1\n" * 999)[:-9] + b"123", "e.csv is damaged"),
    "damaged Parquet": (b"PAR1" + b"\0" * 99, "e.csv is not a Parquet file, or it is damaged"),
    "a binary file": (bytes(range(256)), "e.csv, line 1 contains zero bytes"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_edge_lists(name, tmp_path, monkeypatch):
    content, message = FAULTS[name]
    (tmp_path / "e.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    if message is None:
        assert comarkov.read("e.csv").matrix.nnz == 0
        return
    with pytest.raises(ValueError, match=r"e\.csv") as error:
        comarkov.read("e.csv", kind="edges", encoding="utf-8")
    text = str(error.value)
    assert text.startswith(message)
    assert "\n" not in text


FIELDS = st.text(st.sampled_from('ab, \n\r"'), max_size=6)


@given(
    st.lists(st.lists(FIELDS, min_size=3, max_size=3), min_size=1, max_size=6), st.integers(1, 9)
)
def test_what_csv_writes_is_regular_in_chunks_of_any_size(rows, chunk):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("comarkov.io.read.records.CHUNK", chunk)
        lines = Lines(Path(folder) / "e.csv", ",", 0, False, 3)
        with lines.path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        assert shape_of(lines).is_regular
        assert [record for _, record in records(lines)] == [row for row in rows if any(row)]
        assert not shape_of(replace(lines, width=2)).is_regular


@given(st.text(st.sampled_from('ab,,\n\n""'), max_size=16), st.integers(1, 9))
def test_what_is_called_regular_is_strict(text, chunk):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("comarkov.io.read.records.CHUNK", chunk)
        lines = Lines(Path(folder) / "e.csv", ",", 0, False, 3)
        lines.path.write_text("a,b,c\n" + text)
        is_regular = shape_of(lines).is_regular
        try:
            result = list(csv.reader(StringIO("a,b,c\n" + text), strict=True))
        except csv.Error:
            result = [["wrong"]]
        has_stray_quotes = re.search(
            '[ab]"+[ab]?', re.sub('(^|[,\n])"([^"]|"")*"(?=[,\n]|$)', r"\1", text)
        )
        is_strict = all(len(record) in (0, 3) for record in result) and not has_stray_quotes
        assert is_regular == is_strict


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "number"), [("4,c,x,1,extra", 5), ("4,c,x", 3), ("4,SHIFT,c,x,1", 5), ("4", 1)]
)
def test_ragged_lines_where_columns_are_chosen(line, number, end, quote, tmp_path, monkeypatch):
    text = ["t,user,item,w", "1,a,x,1", "", "2,b,x,1", line, "3,b,y,1"]
    text = [",".join(f"{quote}{field}{quote}" for field in t.split(",")) if t else t for t in text]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_bytes(end.join(text).encode())
    with pytest.raises(ValueError, match=rf"^e\.csv, line 5 has {number} fields?, but the first"):
        comarkov.read("e.csv", rows="user", columns="item")


def test_ragged_lines_that_make_up_for_each_other_and_are_far_down(tmp_path, monkeypatch):
    monkeypatch.setattr("comarkov.io.read.records.CHUNK", 100)
    path = tmp_path / "e.csv"
    path.write_text("t,user,item\n" + "1,a,b\n" * 500 + "1,a\n1,a,b,c\n" + "1,a,b\n" * 500)
    with pytest.raises(ValueError, match="line 502 has 2 fields, but the first line has 3"):
        comarkov.read(path, rows="user", columns="item")
    path.write_text("t,user,item\n" + "1,a,b\n" * 500 + "1,a,b")
    assert comarkov.read(path, rows="user", columns="item").matrix.toarray() == [[501]]


def test_a_line_without_ids_is_not_blank(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("t,user,item\n1,a,b\n2,,\n,,\n")
    with pytest.warns(UserWarning, match=r": 1 line without a name skipped"):
        assert comarkov.read(path, rows="user", columns="item").matrix.sum() == 1


TABLES = {
    "text in a cell": (
        b"gene,x,y,z\na,1,2,3\nb,1,high,3\n",
        "t.csv, line 3, column 3 (y): 'high' is not a number.",
    ),
    "negative": (
        b"gene,x,y,z\na,1,2,-3\n",
        "t.csv, line 2, column 4 (z): the weight -3 is negative. If "
        "the column holds no weights, leave it out with drop='z', kind='table'.",
    ),
    "ragged": (
        b"gene,x,y,z\na,1,2,3\nb,1,2\n",
        "t.csv, line 3 has 3 fields, but",
    ),
    "a row twice": (
        b"gene,x,y,z\na,1,2,3\na,1,2,3\n",
        "t.csv, line 3, column 1 (gene): there is already a row 'a'. Rename one of them, or "
        "choose another column that names the rows, with names=. If each line is one entry of "
        "an edge list, choose its columns, for example rows='gene', columns='x', weights='y'.",
    ),
    "a row twice, beside another name": (
        b"gene,x,y,alias\na,1,2,u\na,1,2,v\n",
        "t.csv, line 3, column 1 (gene): there is already a row 'a'. Rename one of them, or "
        "choose another column that names the rows, for example names='alias'.",
    ),
    "a column twice": (b"gene,x,y,x\na,1,2,3\n", "t.csv, line 1, column 4: the heading 'x'"),
    "edges": (
        b"user,item,date,n\nAnn,tea,2026-01-01,3\n",
        "t.csv has 4 columns (user, item, date, n), but only one of numbers, so it is not a wide "
        "table. For an edge list choose its columns, for example rows='user', columns='item', "
        "weights='n'.",
    ),
    "only a header": (b"gene,x,y,z\n", "t.csv has no lines below its header: give"),
    "only a header, found": (b"gene,x,y,z\n", "t.csv has no lines below its header: give"),
    "one column": (
        b"gene\na\n",
        "t.csv has no column of numbers beside 'gene'. For words",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_wide_tables(name, tmp_path, monkeypatch):
    content, message = TABLES[name]
    (tmp_path / "t.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"t\.csv") as error:
        comarkov.read("t.csv", header=None if "found" in name else True)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"w": [1.0, None]}, "record 2, column w: the weight is missing. Use missing='skip'"),
        ({"w": [1.0, float("nan")]}, "record 2, column w: the weight is missing"),
        ({"w": [-1, 1]}, "record 1, column w: the weight -1 is negative"),
        ({"w": ["1", "x"]}, "record 2, column w: 'x' is not a number"),
        (
            {"w": [[1], [2]]},
            "column w: a List.* is not a number. Leave .* drop='w'",
        ),
        ({"w": [date(2026, 1, 1)] * 2}, "column w: a Date is not a number. Leave"),
    ],
)
def test_typed_tables(columns, message, tmp_path):
    table = pl.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "w": [1, 1]} | columns, strict=False)
    table.write_parquet(tmp_path / "e.parquet")
    with pytest.raises(ValueError, match=rf"e\.parquet, {message}"):
        comarkov.read(tmp_path / "e.parquet")
    with pytest.raises(ValueError, match=f"the data frame, {message}"):
        comarkov.read(table)


def test_columns_that_are_not_there(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("user,item,n\na,b,1\n")
    for wrong in ("usr", 3, "3", -1):
        with pytest.raises(
            ValueError,
            match=f"no column {wrong!r}: its columns are user, item, n. Choose .* rows='user'",
        ):
            comarkov.read(path, rows=wrong, columns="item")
    with pytest.raises(ValueError, match=r"column of columns, too, .* rows='user', columns='item'"):
        comarkov.read(path, rows="user")
    with pytest.raises(ValueError, match=r"name the same column.* columns='item', weights='n'"):
        comarkov.read(path, rows="user", columns=0)
    path.write_text("a,b,c,d\n1,2,3,4\n")
    with pytest.raises(ValueError, match=r"4 columns \(a, b, c, d\), but .* rows='a', columns"):
        comarkov.read(path, kind="edges")


def bomb_gzip(path):
    path.write_bytes(gzip.compress(b"a,b,1\n" * 100_000))


def bomb_zstandard(path):
    path.write_bytes(zstandard.compress(b"a,b,1\n" * 100_000))


def bomb_zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"a,b,1\n" * 100_000)


def bomb_npz(path):
    sp.save_npz(path, sp.csr_array(np.ones((300, 300))))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (bomb_gzip, "e.csv.gz"),
        (bomb_zstandard, "e.csv.zst"),
        (bomb_zip, "e.zip"),
        (bomb_npz, "e.npz"),
    ],
)
def test_what_unpacks_to_too_much_is_refused(make, name, tmp_path):
    make(tmp_path / name)
    with pytest.raises(ValueError, match=r"unpacks to .*500,000.* max_bytes="):
        comarkov.read(tmp_path / name, max_bytes=500_000)
    assert comarkov.read(tmp_path / name, max_bytes=10_000_000).matrix.nnz > 0


def test_the_limit_without_a_word_is_a_multiple_of_the_size(tmp_path, monkeypatch):
    monkeypatch.setattr("comarkov.io.read.opened.LEAST_LIMIT", 1000)
    monkeypatch.setattr("comarkov.io.read.opened.MOST_TIMES", 10)
    bomb_gzip(tmp_path / "e.csv.gz")
    limit = 10 * (tmp_path / "e.csv.gz").stat().st_size
    with pytest.raises(ValueError, match=f"more than {limit:,} bytes"):
        comarkov.read(tmp_path / "e.csv.gz")


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"^There is no file 'nowhere\.csv'"):
        comarkov.read("nowhere.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="folder: it is a folder, but kind='edges' needs a file"):
        comarkov.read("folder", kind="edges")
    with pytest.raises(ValueError, match="folder: it contains no files"):
        comarkov.read("folder")
    (tmp_path / "book.xls").write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(ValueError, match=r"\.xls files cannot be read"):
        comarkov.read("book.xls")
    with zipfile.ZipFile("two.zip", "w") as archive:
        archive.writestr("a", "")
        archive.writestr("b", "")
    with pytest.raises(ValueError, match=r"two\.zip contains 2 files\. Unpack it, and give one"):
        comarkov.read("two.zip")


def test_the_line_that_is_not_in_the_encoding_said(tmp_path):
    path = tmp_path / "e.csv"
    path.write_bytes("user,item\na,b\nc,Zoë\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"e\.csv, line 3: the byte 0xeb is not shift_jis\. Set"):
        comarkov.read(path, encoding="shift_jis")


def test_keywords_that_do_not_go_together():
    edges = io.BytesIO(b"user,item\na,b\n")
    with pytest.raises(ValueError, match="layer= applies to h5ad, but the source is read as edges"):
        comarkov.read(edges, layer="counts")
    with pytest.raises(ValueError, match=r"kind='csv' is unknown\. Use one of edges"):
        comarkov.read(edges, kind="csv")
    with pytest.raises(ValueError, match="n_words= applies to texts and document, but"):
        comarkov.read(np.eye(3), n_words=3)
    with pytest.raises(ValueError, match="There is no encoding 'utf-9'"):
        comarkov.read(io.BytesIO(b"a,b\n"), encoding="utf-9")
    with pytest.raises(ValueError, match="separator='::' must be one ASCII character, for example"):
        comarkov.read(io.BytesIO(b"a::b\n"), separator="::")
    with pytest.raises(ValueError, match="A dict cannot be read"):
        comarkov.read({})
