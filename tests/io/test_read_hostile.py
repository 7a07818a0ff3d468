"""Files that crash or hang the library that reads them, or lead out of themselves."""

import shutil
import zipfile
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
from comarkov.io.read.headers import in_order, looks_like_number
from comarkov.joint.messages import InputError


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


@pytest.mark.parametrize("use", [comarkov.read, lambda path: comarkov.pack(path, "store")])
def test_parquet_whose_pages_are_damaged(use, here):
    edges = pl.DataFrame({"user": ["Ann", "Bob"] * 50, "item": ["tea", "rum", "gin", "ale"] * 25})
    edges.write_parquet("e.parquet", compression="snappy", use_pyarrow=False)
    content = (here / "e.parquet").read_bytes()
    errors = []
    for place in range(4, content.index(b"PAR1", 4), 3):
        (here / "e.parquet").write_bytes(content[:place] + b"\xff" + content[place + 1 :])
        shutil.rmtree("store", ignore_errors=True)
        try:
            use("e.parquet")
        except InputError as error:
            errors.append(error)
    assert errors
    assert {error.file for error in errors} == {"e.parquet"}


def test_cells_of_millions_of_characters(here):
    """Patterns of numbers and intervals took a minute for a cell of 64 MB."""
    cell = "9" * 10**6 + "x"
    assert not looks_like_number("9" * 10**6)
    assert in_order(["1 to 2", "1" * 10**6, "0 to 1"])[0] == "1 to 2"  # left as they are
    (here / "e.csv").write_text(f"user,item,n\nann,tea,1\nbob,rum,{cell}\n")
    assert len(str(refused("e.csv", "characters)", at=(3, "n")))) < 500


# --- databases ---------------------------------------------------------------------------------


def test_views_of_duckdb_read_no_other_file(here):
    duckdb = pytest.importorskip("duckdb")
    (here / "secret.csv").write_text("user,item\nAnn,tea\n")
    with closing(duckdb.connect("v.duckdb")) as connection:
        connection.execute("create view v as select * from read_csv('secret.csv')")
    refused("v.duckdb", "v.duckdb: ")
    asked = comarkov.read("v.duckdb", query="select * from read_csv('secret.csv')")
    assert asked.row_names.tolist() == ["Ann"]


def test_an_infinite_weight_in_a_database(here):
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect("w.duckdb")) as connection:
        connection.execute("create table t as select 'u' u, 'i' i, 'infinity'::double n")
    refused("w.duckdb", "w.duckdb", "line 1, column n", "infinity")


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


@pytest.mark.parametrize("put", [external_link, external_storage, virtual])
def test_h5ad_files_whose_values_are_elsewhere(put, cells):
    replace_x(cells, put)
    assert anndata.read_h5ad(cells).X[0, 1] == 7  # what it would have been
    refused("cells.h5ad", "cells.h5ad", "/X", "another file")
    assert_refused(run("fit", "cells.h5ad", "-o", "out"), "another file")


def test_h5ad_files_with_links_to_themselves(cells):
    def link(file):
        file["X"] = h5py.SoftLink("/uns/X")

    replace_x(cells, link)
    assert comarkov.read("cells.h5ad").matrix.toarray().tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("size", [0, 1 << 63])
def test_h5ad_files_whose_strings_never_end(cells, size):
    """HDF5 looks for the next string at the place of the last one for ever."""
    content = bytearray(cells.read_bytes())
    place = content.index(b"GCOL") + 16
    while content[place : place + 2] != b"\0\0":
        length = int.from_bytes(content[place + 8 : place + 16], "little")
        place += 16 + -(-length // 8) * 8
    content[place + 8 : place + 16] = size.to_bytes(8, "little")
    cells.write_bytes(content)
    refused("cells.h5ad", "not a valid h5ad file", "strings")


def test_h5ad_files_that_claim_too_much(cells):
    with h5py.File(cells, "r+") as file:
        file.create_dataset("layers/large", (1 << 20, 1 << 20), float, chunks=(64, 64))
    refused("cells.h5ad", "268,435,456 bytes")
    refused("cells.h5ad", "1,000 bytes", max_bytes=1000)
