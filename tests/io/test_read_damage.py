"""Files that are damaged or something else get one line, whatever library stumbles over them."""

import io
import json
import zipfile

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import refusal
from refusals import noted, refused

import comarkov
from comarkov import Data

EYE = np.eye(3)


def with_bytes(path, at, value):
    """Change some bytes of a zip file, in both places where it has them."""
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        begin = content.index(mark) + at + offset
        content[begin : begin + len(value)] = value
    path.write_bytes(content)


@pytest.mark.parametrize("encoding", ["base64", "rot13", "utf-9"])
def test_what_is_no_encoding_of_text(encoding, here):
    (here / "e.csv").write_text("user,item\na,b\n")
    (here / "t.jsonl").write_text('{"text": "a"}\n')
    (here / "texts").mkdir()
    (here / "texts" / "a.txt").write_text("sun")
    for name in ("e.csv", "t.jsonl", "texts"):
        refused(name, f"'{encoding}'", encoding=encoding)


def test_zip_files_that_cannot_be_unpacked(here):
    with zipfile.ZipFile("e.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a" * 3000 + ".csv", "a,b,1\n" * 100)
    content = (here / "e.zip").read_bytes()
    (here / "e.zip").write_bytes(content.replace(b"a" * 3000, b"\xe9" * 3000, 1))
    assert len(str(refused("e.zip", "e.zip"))) < 400  # another name inside, of thousands of bytes
    with_bytes(here / "e.zip", 8, b"\x63\x00")
    refused("e.zip", "e.zip")  # of an unknown method


@pytest.mark.parametrize("end", [b"", b" ", b" 2", b" x", b"\t\t", b"\x84g\x8f"])
def test_matrix_market_with_a_last_line_that_does_not_end(here, end):
    """SciPy's reader alone goes on beyond it, and crashes now and then."""
    header = b"%%MatrixMarket matrix array real general\n20 20\n"
    (here / "m.mtx").write_bytes(header + b"1\n" * 399 + b"1" + end)
    assert comarkov.read("m.mtx").matrix.sum() == 400


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("2 2 1\n1 1 x\n", "Matrix Market"),
        ("2 2 1\n3 1 1\n", "Matrix Market"),
        ("2 2 2\n1 1 1\n", "Matrix Market"),
        ("two\n", "Matrix Market"),
        ("2 1 1\n1\x05\n", "line 4: not text: it has the byte 5"),
        ("3 3 1\n2 \0 2\n", "line 4: not text: it has the byte 0"),  # which crashes SciPy
        ("2000000000 2000000000 1\n1 1 1\n", "too many"),
        ("3 3 9000000000000\n1 1 1\n", "Matrix Market"),
    ],
)
def test_matrix_market_that_is_wrong(text, part, here):
    header = "%%MatrixMarket matrix coordinate real general\n% Zoë\n"
    (here / "m.mtx").write_text(header + text)
    assert refused("m.mtx", part).file == "m.mtx"
    (here / "m.mtx").write_text(header + "2 1 1\n1 1 1\n")
    assert comarkov.read("m.mtx").shape == (2, 1)


def test_npz_that_cannot_be_opened(here):
    for at, value in ((6, b"\x01\x00"), (8, b"\x63\x00")):  # encrypted, an unknown method
        np.savez_compressed("m.npz", X=EYE)
        with_bytes(here / "m.npz", at, value)
        refused("m.npz", "m.npz")
    Data(EYE, list("abc")).save("m.npz")
    with np.load("m.npz") as archive:
        parts = {key: archive[key] for key in archive.files}
    del parts["row_name_ends"]
    np.savez("m.npz", **parts)
    refused("m.npz", "m.npz", "row_name_ends")
    np.savez("m.npz", X=EYE, row_kind=np.full(3, 0x7FFFFFFF, np.uint32).view("<U1"))
    refused("m.npz", "m.npz")  # characters beyond the last one of Unicode


@pytest.mark.filterwarnings("ignore")  # anndata's own: the file may be of an old format
def test_hdf5_that_is_no_anndata(here):
    with h5py.File("x.h5ad", "w") as file:
        file["X"] = 7
        file["obs"] = 8
    refused("x.h5ad", "x.h5ad", "h5ad file")


def test_json_lines_that_are_wrong(here):
    good = [json.dumps({"text": "sun and sea"})] * 4
    lines = "\n".join(good).encode() + b'\n{"text": "Zo\xeb"}\n'
    (here / "t.jsonl").write_bytes(lines)
    refused("t.jsonl", "0xeb", at=(5, None), encoding="utf-8")
    with noted("t.jsonl", "Windows-1252"):
        assert comarkov.read("t.jsonl").shape == (5, 2)
    assert comarkov.read("t.jsonl", encoding="latin-1").shape == (5, 2)
    (here / "t.jsonl").write_text('{"text": ' + "[" * 200_000 + "\n")
    refused("t.jsonl", "t.jsonl, line 1", "nested")


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("utf-8", "t.log"), ("utf-8-sig", "t.log"), ("utf-8-sig", "t.jsonl"), ("utf-16", "t.jsonl")],
)
def test_json_lines_with_a_byte_order_mark(encoding, name, here):
    text = "\n" * 70 + "\n".join([json.dumps({"text": "sun and sea"})] * 2)
    (here / name).write_text(text, encoding=encoding)
    text = encoding if encoding == "utf-16" else "utf-8"
    assert comarkov.read(name, encoding=text).column_names.tolist() == ["sea", "sun"]


@pytest.mark.parametrize(("weight", "problem"), [("inf", "infinity"), ("nan", "NaN"), ("-1", "-1")])
def test_where_a_matrix_is_wrong(weight, problem, here):
    header = "%%MatrixMarket matrix coordinate real general\n"
    (here / "m.mtx").write_text(f"{header}3 3 2\n1 1 1\n2 3 {weight}\n")
    refused("m.mtx", "m.mtx", "row 2", "column 3", problem)
    wrong = EYE.copy()
    wrong[1, 2] = float(weight)
    np.savez("m.npz", X=wrong)
    refused("m.npz", "m.npz", "row 2", "column 3", problem)
    sp.save_npz("m.npz", sp.csc_array(wrong))
    refused("m.npz", "m.npz", "row 2", "column 3", problem)
    tables = pd.DataFrame(index=list("abc")), pd.DataFrame(index=list("xyz"))
    anndata.AnnData(sp.csr_matrix(wrong), *tables).write_h5ad("m.h5ad")
    refused("m.h5ad", "m.h5ad", "row 2 (b)", "column 3 (z)", problem)


def test_faults_of_a_file_of_names_are_its_own(here):
    edges = io.BytesIO(b"1,7,1\n2,8,1\n")
    for content, message in (
        (b"1|Ann\n2|Zo\xeb\n", "0xeb"),
        (b"1|Ann\n2\n", "1 field"),
        (b'1|Ann\n2|"Bob\n', "quote"),
    ):
        (here / "n.txt").write_bytes(content)
        edges.seek(0)
        error = refused(edges, message, at=(2, None), row_names="n.txt", encoding="utf-8")
        assert error.file == "n.txt"
    (here / "n.txt").write_text('1|Ann "A"\n2|5" disk\n')
    edges.seek(0)
    assert comarkov.read(edges, row_names="n.txt").row_names.tolist() == ['Ann "A"', '5" disk']


def test_names_that_are_there_twice_are_told_apart(here):
    (here / "t.jsonl").write_text('{"text": "sun sea", "id": 7}\n' * 2)
    assert comarkov.read("t.jsonl", rows="id").row_names.tolist() == ["7 [0]", "7 [1]"]
    frame = pd.DataFrame(EYE, index=["a", "a", "a [0]"], columns=list("xyz")).assign(w=1.0)
    names = comarkov.read(frame).row_names
    assert len(set(names)) == 3
    anndata_names = pd.DataFrame(index=["a", "b", "a"]), pd.DataFrame(index=list("xyz"))
    with noted("not unique"):
        annotated = anndata.AnnData(EYE, *anndata_names)
    data = comarkov.read(annotated)
    assert data.row_names.tolist() == ["a [0]", "b", "a [2]"]
    model = comarkov.CoClustering((2, 2), random_state=0).fit(data)
    comarkov.write_h5ad(annotated, None, model)
    assert annotated.obs["comarkov"].astype(int).tolist() == model.row_labels_.tolist()
    annotated.obs_names = ["a", "c", "a"]
    refusal(comarkov.write_h5ad, annotated, None, model)


def test_keywords_that_a_source_has_no_use_for(here):
    (here / "folder").mkdir()
    (here / "folder" / "a.txt").write_text("sun sea")
    (here / "t.jsonl").write_text('{"text": "sun sea"}\n')
    (here / "e.csv").write_text("user,item\na,b\n")
    for form, source, name, value in (
        ("a folder", "folder", "text", "x"),
        ("JSON lines", "t.jsonl", "separator", ","),
        ("delimited text", "e.csv", "query", "select 1"),
        ("a list of texts", ["sun", "sea"], "rows", 0),
        ("a data frame", pd.DataFrame({"user": ["a"], "item": ["b"]}), "header", False),
    ):
        refused(source, f"{name}=", form, **{name: value})
        refused(Data(EYE), f"{name}=", **{name: value})


def test_an_npz_cannot_claim_to_be_huge(tmp_path):
    eye = sp.eye_array(3, format="csr")
    for width, message in ((10**12, "100,000,000"), (10**7, "10,000,000 columns for 3")):
        wide = sp.csr_array((eye.data, eye.indices.astype(np.int64), eye.indptr), (3, width))
        sp.save_npz(tmp_path / "m.npz", wide)
        refused(tmp_path / "m.npz", "m.npz", message)
    hashed = sp.csr_array((eye.data, eye.indices, eye.indptr), (3, 1 << 20))  # as of a hash
    assert Data(hashed).column_names[-1] == str((1 << 20) - 1)
