"""``comarkov pack``, and what other commands do with a store."""

import json
import os

import numpy as np
import polars as pl
import pytest
from commands import assert_refused, run

import comarkov
from comarkov.io.store import opening, packing


@pytest.fixture(scope="module")
def clicks(tmp_path_factory):
    """A folder with two files of clicks in two groups of users and pages."""
    folder = tmp_path_factory.mktemp("data") / "clicks"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(2):
        users, pages = rng.integers(0, 60, 900), rng.integers(0, 15, 900)
        pages = np.where(users % 2, pages, pages + 15)
        table = pl.DataFrame({"user": users, "page": [f"/{page}.html" for page in pages]})
        table.write_parquet(folder / f"{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def store(clicks):
    done = run("pack", clicks, "-o", "store", "--row-kind", "visitor", cwd=clicks.parent)
    assert done.returncode == 0, done.stderr
    facts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert (facts["rows"], facts["columns"], facts["weights"]) == ("60", "30", "counts")
    return clicks.parent / "store"


def test_a_fit_from_a_store(clicks, store, tmp_path):
    arguments = ["-k", 2, "-l", 2, "--row-kind", "visitor", "-o"]
    for source, out in ((clicks, "memory"), (store, "disk")):
        done = run("fit", source, *arguments, out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    for name in ("rows.csv", "columns.csv", "blocks.csv"):
        of_memory, of_disk = (tmp_path / out / name for out in ("memory", "disk"))
        assert of_disk.read_bytes() == of_memory.read_bytes()
    summary = json.loads((tmp_path / "disk" / "summary.json").read_text())
    assert summary["data"]["row_kind"] == "visitor"
    report = run("report", "disk", cwd=tmp_path)
    assert report.returncode == 0, report.stderr


def test_results_refer_to_a_large_store(store, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "LARGE_STORE", 1)
    arguments = ["-k", 2, "-l", 2, "--column-kind", "site", "-o", "out"]
    done = run("fit", store, *arguments, cwd=tmp_path)
    assert f"The results refer to the data in {store}" in " ".join(done.stderr.split())
    assert not (tmp_path / "out" / "data.npz").exists()
    assert run("report", "out", cwd=tmp_path).returncode == 0
    data = comarkov.read(tmp_path / "out")
    assert (data.path, data.column_kind) == (store, "site")
    other = store.rename(store.with_name("elsewhere"))
    try:
        assert_refused(run("report", "out", cwd=tmp_path), f"refers to the data in {store}")
    finally:
        other.rename(store)


def test_new_rows_from_a_store(clicks, store, tmp_path):
    assert run("fit", store, "-k", 2, "-l", 2, "-o", "out", cwd=tmp_path).returncode == 0
    labels = [run("predict", "out", source, cwd=tmp_path).stdout for source in (clicks, store)]
    assert labels[0].count("\n") > 60
    assert labels[0] == labels[1]


def test_info_prints_facts_and_finds_damage(store):
    done = run("info", store)
    assert "all files are as they were written" in done.stdout
    about = json.loads(run("info", store, "--json").stdout)
    assert (about["rows"], about["row_kind"]) == (60, "visitor")
    path = store / "columns" / "mass.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-2] + b"\0\0")
    try:
        done = run("info", store)
        assert_refused(done, "columns/mass.npy")
        assert "Pack its source again with --force." in done.stderr
    finally:
        path.write_bytes(content)


def test_an_existing_store_is_replaced_only_by_force(clicks, tmp_path):
    assert run("pack", clicks, "-o", "s", cwd=tmp_path).returncode == 0
    assert_refused(run("pack", clicks, "-o", "s", cwd=tmp_path), "Replace it with --force")
    done = run("pack", "southern-women", "-o", "s", "--force", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["row_kind"] == "woman"
    assert sorted(os.listdir(tmp_path)) == ["s"]


REFUSED = {
    "limit": (["--memory-limit", "much"], "--memory-limit much is not a size"),
    "small limit": (["--memory-limit", "1MB"], "for example --memory-limit 2GB"),
    "columns": (["--rows", "nobody", "--columns", "page"], "--rows user"),
    "missing": (["nowhere.csv"], "There is no file 'nowhere.csv'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_options(name, clicks, tmp_path):
    options, message = REFUSED[name]
    assert_refused(run("pack", clicks, *options, "-o", "s", cwd=tmp_path), message)
    assert os.listdir(tmp_path) == []


def test_ctrl_c_leaves_nothing(clicks, tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(packing, "_write_edges", interrupted)
    done = run("pack", clicks, "-o", "store", cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr == "Interrupted.\n"
    assert os.listdir(tmp_path) == []
