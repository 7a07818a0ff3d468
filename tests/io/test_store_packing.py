"""Packing: edge lists of any size, sorted on disk, continued after an interruption."""

import os
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from helpers import assert_same_joints

import comarkov
from comarkov.io.store import building, packing
from comarkov.io.store.edge_runs import draft_of, has_draft
from comarkov.joint import parts
from comarkov.joint.joint import joint
from comarkov.joint.messages import InputError

EDGES = 20_000  # in a file: together they are more than what is always stored as float64
FACTS = ("row_kind", "column_kind", "source", "weighting", "named", "entry_kind", "reading")


def edges(kind, seed=0):
    """A table of edges, many of which occur several times."""
    rng = np.random.default_rng(seed)
    users, items = rng.integers(0, 900, EDGES) * 3, rng.integers(0, 150, EDGES)
    table = {"user": users, "item": items, "stars": rng.integers(0, 5, EDGES)}
    if kind == "texts":
        table["item"] = [f" item {i} " if i % 7 else "ü" * (i + 1) for i in items]
    if kind == "numbers":
        table["stars"] = rng.random(EDGES)
    if kind == "lines":
        del table["stars"]
    return pl.DataFrame(table)


def write(table, path):
    table.write_parquet(path) if path.suffix == ".parquet" else table.write_csv(path)


def folder_of(kind, suffix, folder):
    """Three files of edges."""
    folder.mkdir()
    for i in range(3):
        write(edges(kind, i), folder / f"part-{i}.{suffix}")
    return folder


def assert_packed(store, data):
    """The same matrix, names and facts as in memory."""
    assert_same_joints(store.joint, joint(data))
    for name in ("row_names", "column_names"):
        assert getattr(store, name).tolist() == getattr(data, name).tolist()
    for name in FACTS:
        assert getattr(store, name) == getattr(data, name)


@pytest.fixture
def small_memory(monkeypatch):
    """Buckets of a few thousand entries, and blocks of about a thousand."""
    monkeypatch.setattr(packing, "SORTING_SHARE", 0.003)
    monkeypatch.setattr(parts, "ENTRIES", 1000)


@pytest.mark.parametrize("kind", ["counts", "numbers", "texts", "lines"])
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_folder_of_files_is_packed_as_it_is_read(kind, suffix, tmp_path, small_memory):
    source = folder_of(kind, suffix, tmp_path / "edges")
    store = comarkov.pack(source, tmp_path / "store", memory_limit="32MB")
    data = comarkov.read(source)
    assert_packed(store, data)
    assert sorted(os.listdir(tmp_path)) == ["edges", "store"]
    table = pl.concat([edges(kind, i) for i in range(3)])
    table = table.with_columns(pl.col("item").cast(pl.String).str.strip_chars())
    weights = pl.col("stars").sum() if kind != "lines" else pl.len().alias("stars")
    cells = table.group_by("user", "item").agg(weights).filter(pl.col("stars") > 0)
    assert data.shape == (table["user"].n_unique(), table["item"].n_unique())
    assert data.matrix.nnz == len(cells)
    user, item, stars = cells.row(0)
    place = data.row_names.tolist().index(str(user)), data.column_names.tolist().index(item)
    assert data.matrix[*place] == pytest.approx(stars)


def test_one_file_with_options(tmp_path):
    path = tmp_path / "ratings.csv"
    table = edges("texts").select("item", "stars", "user")
    table = table.with_columns(stars=pl.when(pl.col("stars") > 0).then("stars"))
    table.write_csv(path, separator=";")
    names = {"3": "Ann", "6": "Bob", "9": "Ann"}
    options = {"rows": "user", "columns": "item", "weights": 1, "missing": "skip"}
    options |= {"row_names": names, "row_classes": {"half": dict.fromkeys(names.values(), "first")}}
    with pytest.warns(UserWarning, match="skipped"):
        data = comarkov.read(path, **options)
    with pytest.warns(UserWarning, match="skipped"):
        store = comarkov.pack(path, tmp_path / "store", entry_kind="points", **options)
    assert store.entry_kind == "points"
    assert_packed(store.changed(entry_kind=data.entry_kind), data)
    assert "Ann [3]" in store.row_names
    assert store.row_classes["half"].tolist() == data.row_classes["half"].tolist()


UNUSUAL = {
    "few": pl.DataFrame({"a": ["x", "y", "x"], "b": ["u", "u", "v"], "n": [1, 2, 3]}),
    "halves that add up to counts": pl.concat(
        [edges("lines").with_columns(n=pl.lit(0.5)) for _ in range(2)]
    ),
    "quarters": edges("counts").with_columns(stars=pl.col("stars") / 4),
    "even numbers": edges("counts").with_columns(stars=pl.col("stars") * 6),
    "sums too large for integers": edges("lines").with_columns(n=pl.lit(10**8)),
    "one weight too large for integers": edges("lines").with_columns(n=pl.lit(10**10)),
    "very different numbers": edges("numbers")
    .with_columns(n=2.0 ** pl.Series(np.random.default_rng(0).integers(-90, 90, EDGES)))
    .drop("stars"),
    "ids far apart": edges("counts").with_columns(pl.col("user") * 2**40),
    "large ids": edges("counts").with_columns(pl.col("user").cast(pl.UInt64) + 2**63),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_weights_and_ids(name, tmp_path, small_memory):
    path = tmp_path / "edges.parquet"
    UNUSUAL[name].write_parquet(path)
    assert_packed(comarkov.pack(path, tmp_path / "store"), comarkov.read(path))


def test_sorting_keeps_to_the_memory_limit(tmp_path, small_memory, monkeypatch):
    sizes = []

    gather = building._gather

    def spy(path, parts, dtype):
        sizes.append(sum(parts))
        return gather(path, parts, dtype)

    monkeypatch.setattr(building, "_gather", spy)
    source = folder_of("counts", "parquet", tmp_path / "edges")
    comarkov.pack(source, tmp_path / "store", memory_limit="50MB")
    assert max(sizes) <= 50_000_000 * packing.SORTING_SHARE / building.SORTING_BYTES
    assert len(sizes) > 20  # of rows and of columns


def test_ranges_of_keys_have_no_more_entries_than_they_may():
    counts = np.array([5, 0, 3, 9, 1, 1, 0, 0])
    assert building.bucket_bounds(counts, 8).tolist() == [0, 3, 4, 8]
    assert building.bucket_bounds(counts, 100).tolist() == [0, 8]
    assert building.bucket_bounds(counts, 1).tolist() == [0, 1, 2, 3, 4, 5, 8]
    assert building.bucket_bounds(np.ones(10**5, int), 1).size <= building.MAX_BUCKETS + 1


# --- several sources ----------------------------------------------------------------------------


def test_several_sources_are_one_edge_list(tmp_path):
    source = folder_of("texts", "csv", tmp_path / "edges")
    extra = tmp_path / "more.parquet"
    edges("texts", 7).write_parquet(extra)
    store = comarkov.pack([source, extra], tmp_path / "store")
    whole = tmp_path / "whole.csv"
    pl.concat([edges("texts", i) for i in (0, 1, 2, 7)]).write_csv(whole)
    assert_same_joints(store.joint, joint(comarkov.read(whole)))
    assert store.source == f"{source}, {extra}"


def test_sources_that_do_not_go_together(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("user,item\nx,y\n")
    second.write_text("item,user\ny,x\n")
    with pytest.raises(ValueError, match="item, user"):
        comarkov.pack([first, second], tmp_path / "store")
    assert_same_joints(
        comarkov.pack([first, second], tmp_path / "store", rows="user", columns="item").joint,
        joint([[2.0]]),
    )
    (tmp_path / "text.jsonl").write_text('{"text": "a b"}\n')
    with pytest.raises(InputError) as caught:
        comarkov.pack([first, tmp_path / "text.jsonl"], tmp_path / "store2")
    assert caught.value.file == tmp_path / "text.jsonl"
    with pytest.raises(ValueError, match="row_classes='group'"):
        comarkov.pack([first, second], tmp_path / "store2", row_classes="group")
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "b.csv", "store", "text.jsonl"]


def test_what_is_no_edge_list_is_read_first(tmp_path):
    texts = ["red apple", "green apple", "red pear", "green pear"]
    store = comarkov.pack(texts, tmp_path / "store")
    assert (store.weighting, store.column_names.tolist()) == (
        "bm25",
        ["apple", "green", "pear", "red"],
    )
    assert store.texts.tolist() == texts


# --- all or nothing, and again ------------------------------------------------------------------

KILLED = """
import os, signal, sys, comarkov
from comarkov.io.store import packing
packing.SORTING_SHARE = 0.003

def kill(stage, done, total):
    if stage == sys.argv[3] and done > float(sys.argv[4]) * total:
        os.kill(os.getpid(), signal.SIGKILL)

comarkov.pack(sys.argv[1], sys.argv[2], progress=kill)
"""


@pytest.mark.parametrize(
    ("stage", "suffix"),
    [("Reading", "csv"), ("Sorting rows", "csv"), ("Sorting columns", "parquet")],
)
def test_packing_that_was_killed_goes_on(stage, suffix, tmp_path, small_memory):
    source, target = folder_of("texts", suffix, tmp_path / "edges"), tmp_path / "store"
    arguments = [sys.executable, "-c", KILLED, source, target, stage, "0.4"]
    killed = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert has_draft(target)
    assert not target.exists()
    before = {path: path.stat().st_mtime_ns for path in draft_of(target).glob("runs/*")}
    stages = []
    store = comarkov.pack(source, target, progress=lambda *step: stages.append(step))
    assert_packed(store, comarkov.read(source))
    if stage == "Sorting columns":
        assert {name for name, *_ in stages} == {"Sorting columns"}
    else:
        assert len(before) in (2, 3)  # runs: one at least was complete
        assert stages[0][1] > 0
    assert sorted(os.listdir(tmp_path)) == ["edges", "store"]


class StopError(Exception):
    """An error that packing does not know."""


def stop_at(stage, error):
    def progress(name, done, total):
        if name == stage:
            raise error

    return progress


def test_complete_steps_are_not_repeated(tmp_path):
    source, target = folder_of("counts", "parquet", tmp_path / "edges"), tmp_path / "store"
    with pytest.raises(KeyboardInterrupt):
        comarkov.pack(source, target, progress=stop_at("Sorting rows", KeyboardInterrupt))
    runs = draft_of(target) / "runs"
    written = {path.name: path.stat().st_mtime_ns for path in runs.iterdir()}
    with pytest.raises(KeyboardInterrupt):
        comarkov.pack(source, target, progress=stop_at("Sorting rows", KeyboardInterrupt))
    assert written == {path.name: path.stat().st_mtime_ns for path in runs.iterdir()}
    again = stop_at("Sorting rows", KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):  # another task begins anew
        comarkov.pack(source, target, progress=again, rows="item", columns="user")
    assert written != {path.name: path.stat().st_mtime_ns for path in runs.iterdir()}
    edges("counts", 9).write_parquet(source / "part-0.parquet")  # and so does another file
    assert_packed(comarkov.pack(source, target), comarkov.read(source))


@pytest.mark.filterwarnings("ignore:.*skipped")
@pytest.mark.parametrize(
    ("lines", "word"), [("a,b,1\na,c,-1\n", "-1"), (",b,1\n", "edges"), ("a,b,0\n", "weights=")]
)
def test_a_draft_of_bad_data_is_removed(tmp_path, lines, word):
    path = tmp_path / "bad.csv"
    path.write_text("user,item,n\n" + lines)
    with pytest.raises(ValueError, match=word):
        comarkov.pack(path, tmp_path / "store")
    assert os.listdir(tmp_path) == ["bad.csv"]


def test_a_draft_is_removed_after_an_unknown_error(tmp_path):
    source = folder_of("lines", "csv", tmp_path / "edges")
    with pytest.raises(StopError):
        comarkov.pack(source, tmp_path / "store", progress=stop_at("Reading", StopError))
    assert os.listdir(tmp_path) == ["edges"]


def test_two_at_the_same_time(tmp_path):
    source, target = folder_of("lines", "parquet", tmp_path / "edges"), tmp_path / "store"

    def again(*step):
        comarkov.pack(source, target)

    with pytest.raises(BlockingIOError, match="another process"):
        comarkov.pack(source, target, progress=again)
    assert_packed(comarkov.pack(source, target), comarkov.read(source))


def test_an_existing_store_is_replaced_only_if_allowed(tmp_path):
    comarkov.pack([[1, 2], [3, 4]], tmp_path / "store")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        comarkov.pack([[1, 2]], tmp_path / "store")
    comarkov.pack([[5, 6]], tmp_path / "store", overwrite=True)
    assert comarkov.read(tmp_path / "store").matrix.toarray().tolist() == [[5, 6]]


@pytest.mark.parametrize("limit", ["much", 1000, "31MB", -5])
def test_a_memory_limit_that_is_none(limit, tmp_path):
    with pytest.raises(ValueError, match=f"memory_limit={limit!r}"):
        comarkov.pack([[1, 2]], tmp_path / "store", memory_limit=limit)
