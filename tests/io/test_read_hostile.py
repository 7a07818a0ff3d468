"""Files that crash or hang the library that reads them, or lead out of themselves."""

import os
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
import zipfile
import zlib
from contextlib import closing

import anndata
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
from commands import assert_refused, run
from refusals import refused

import comarkov
from comarkov.io import isolation
from comarkov.io.read import databases

ENDLESS = "with recursive c(a) as (select 1 union all select a + 1 from c) select a, a as b from c"
SILENT = f"{ENDLESS} where a < 0"


@pytest.mark.parametrize("entry", ["2 2 1\0", "2 \0 2", "\0"])
def test_a_byte_0_in_matrix_market_is_refused_before_scipy_reads_it(entry, here):
    header = "%%MatrixMarket matrix coordinate real general\n"
    (here / "m.mtx").write_text(f"{header}3 3 3\n1 1 1\n{entry}\n3 3 1\n")
    refused("m.mtx", "m.mtx", "line 4", "byte 0")


def test_a_zip_member_without_a_name_is_read(here):
    content = b"Ann,tea,1\nBob,rum,2\n"
    sizes = struct.pack("<III", zlib.crc32(content), len(content), len(content))
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 0, 0, 0) + sizes + bytes(4) + content
    central = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 0, 0, 0) + sizes + bytes(18)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    (here / "e.zip").write_bytes(local + central + end)
    assert comarkov.read("e.zip").row_names.tolist() == ["Ann", "Bob"]


@pytest.mark.parametrize("suffix", ["npz", "xlsx", "zip"])
def test_zip_files_of_a_later_version(suffix, here):
    with zipfile.ZipFile(f"m.{suffix}", "w") as archive:
        archive.writestr("X.npy", "")
    content = bytearray((here / f"m.{suffix}").read_bytes())
    content[content.index(b"PK\1\2") + 6] = 110
    (here / f"m.{suffix}").write_bytes(content)
    refused(f"m.{suffix}", f"m.{suffix}", "zip file version 11.0")


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_headers_of_arrays_that_are_no_python(suffix, here):
    np.save("m.npy", np.eye(3))
    (here / "m.npy").write_bytes((here / "m.npy").read_bytes().replace(b"}", b"{", 1))
    with zipfile.ZipFile("m.npz", "w") as archive:
        archive.write("m.npy")
    refused(f"m.{suffix}", f"m.{suffix}", "not a")
    if suffix == "npy":
        assert_refused(
            run("chain", "m.npy", "-k", 2, "-o", "out"), "m.npy: not a readable npy file"
        )


# --- databases ---------------------------------------------------------------------------------


def view(path, query):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"create view v as {query}")


@pytest.mark.parametrize("query", [ENDLESS, SILENT])
def test_a_view_without_an_end(query, here, monkeypatch):
    monkeypatch.setattr(databases, "VIEW_SECONDS", 0.3)
    view("v.db", query)
    refused("v.db", "v.db", "0 seconds", "query=")


def test_a_view_with_far_more_values_than_its_file(here, monkeypatch):
    monkeypatch.setattr(databases, "BYTES_PER_VALUE", 1 << 12)
    view("v.db", ENDLESS)
    refused("v.db", "v.db", "200,000 values", "query='select")
    limited = comarkov.read("v.db", query="select * from v limit 100000")
    assert limited.shape == (100_000, 100_000)


def test_ctrl_c_ends_a_statement_of_sqlite(here):
    view("v.db", SILENT)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        comarkov.read("v.db", query="select * from v")
    timer.join()


def test_views_of_duckdb_read_no_other_file(here):
    duckdb = pytest.importorskip("duckdb")
    (here / "secret.csv").write_text("user,item\nAnn,tea\n")
    with closing(duckdb.connect("v.duckdb")) as connection:
        connection.execute("create view v as select * from read_csv('secret.csv')")
    refused("v.duckdb", "v.duckdb: ")
    asked = comarkov.read("v.duckdb", query="select * from read_csv('secret.csv')")
    assert asked.row_names.tolist() == ["Ann"]


# --- HDF5 --------------------------------------------------------------------------------------


@pytest.fixture
def cells(here):
    """An h5ad file, and another whose values are nobody's business."""
    names = pd.DataFrame(index=list("abc")), pd.DataFrame(index=list("xyz"))
    anndata.AnnData(np.eye(3), *names).write_h5ad("cells.h5ad")
    with h5py.File("secret.h5", "w") as file:
        file["X"] = np.full((3, 3), 7.0)
        file["X"].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    (here / "secret.bin").write_bytes(np.full((3, 3), 7.0).tobytes())
    return here / "cells.h5ad"


def replace_x(path, put):
    with h5py.File(path, "r+") as file:
        attributes = dict(file["X"].attrs)
        file.move("X", "uns/X")
        put(file)
        if isinstance(file.get("X", getlink=True), h5py.HardLink):
            file["X"].attrs.update(attributes)


def external_link(file):
    file["X"] = h5py.ExternalLink("secret.h5", "/X")


def external_storage(file):
    file.create_dataset("X", (3, 3), float, external=[("secret.bin", 0, 72)])


def virtual(file):
    layout = h5py.VirtualLayout((3, 3), float)
    layout[:] = h5py.VirtualSource("secret.h5", "X", (3, 3))
    file.create_virtual_dataset("X", layout)


@pytest.mark.parametrize(
    ("put", "problem"),
    [
        (external_link, "secret.h5"),
        (external_storage, "secret.bin"),
        (virtual, "virtual"),
    ],
)
def test_h5ad_files_whose_values_are_elsewhere(put, problem, cells):
    replace_x(cells, put)
    assert anndata.read_h5ad(cells).X[0, 1] == 7  # what it would have been
    refused("cells.h5ad", "cells.h5ad", "/X", problem)
    assert_refused(run("fit", "cells.h5ad", "-o", "out"), problem)


def test_h5ad_files_with_links_to_themselves(cells):
    def link(file):
        file["X"] = h5py.SoftLink("/uns/X")

    replace_x(cells, link)
    assert comarkov.read("cells.h5ad").matrix.toarray().tolist() == np.eye(3).tolist()


def test_h5ad_files_that_claim_too_much(cells):
    with h5py.File(cells, "r+") as file:
        file.create_dataset("layers/large", (1 << 20, 1 << 20), float, chunks=(64, 64))
    refused("cells.h5ad", "268,435,456 bytes", "max_bytes=2684354560")


# --- children ----------------------------------------------------------------------------------


def test_parquet_that_crashes_polars(here, capfd):
    table = pl.DataFrame({"user": ["Ann", "Bob"] * 50, "item": ["tea", "rum"] * 50})
    table.write_parquet("e.parquet")
    assert comarkov.read("e.parquet").shape == (2, 2)
    good = (here / "e.parquet").read_bytes()
    for place, value in ((48, 255), (len(good) - 7, 255)):
        content = bytearray(good)
        content[place] = value
        (here / "e.parquet").write_bytes(content)
        refused("e.parquet", "e.parquet", "not a Parquet file")
    assert capfd.readouterr().err == ""


@pytest.fixture
def child(tmp_path, monkeypatch):
    """A function that runs a check of our own, given as code, on a file."""

    def run_check(code):
        script = tmp_path / "check.py"
        script.write_text(code)
        monkeypatch.setattr(isolation, "command", lambda check: [sys.executable, str(script)])
        isolation.check_in_child("check", script, 1)

    return run_check


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os; os.abort()", "it crashes the program that reads it"),
        ("while True: pass", "reading it takes more than 1 seconds"),
        ("print('it is green'); raise SystemExit(3)", "it is green"),
    ],
)
def test_what_a_child_does_is_an_error_of_one_line(code, problem, child, monkeypatch):
    monkeypatch.setattr(isolation, "CHILD_SECONDS", 1.0)
    with pytest.raises(isolation.UnreadableError, match=problem):
        child(code)


def test_scripts_need_no_main_guard(cells, here):
    (here / "script.py").write_text("import comarkov\nprint(comarkov.read('cells.h5ad').shape)\n")
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("(3, 3)\n", "")
