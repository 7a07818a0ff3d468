"""Packing: edge lists of any size, sorted on disk, all or nothing."""

import os

import numpy as np
import polars as pl
import pytest
from helpers import assert_same_joints

import comarkov
from comarkov.io.store import building, packing
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


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [("counts", "parquet"), ("numbers", "parquet"), ("texts", "csv"), ("lines", "csv")],
)
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


@pytest.mark.filterwarnings("ignore:.*skipped")
def test_one_file_with_options(tmp_path):
    path = tmp_path / "ratings.csv"
    table = edges("texts").select("item", "stars", "user")
    table = table.with_columns(stars=pl.when(pl.col("stars") > 0).then("stars"))
    table.write_csv(path, separator=";")
    names = {"3": "Ann", "6": "Bob", "9": "Ann"}
    options = {"rows": "user", "columns": "item", "weights": 1, "missing": "skip"}
    options |= {"row_names": names, "row_classes": {"half": dict.fromkeys(names.values(), "first")}}
    data = comarkov.read(path, **options)
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
    "a total too large for integers": edges("lines").with_columns(n=pl.lit(200_001)),
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
    sizes, add = [], building.MatrixWriter.add

    def count(self, block):
        sizes.append(block.indices.size)
        add(self, block)

    monkeypatch.setattr(building.MatrixWriter, "add", count)
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
    with pytest.raises(InputError):
        comarkov.pack([first, second], tmp_path / "store")
    assert_same_joints(
        comarkov.pack([first, second], tmp_path / "store", rows="user", columns="item").joint,
        joint([[2.0]]),
    )
    (tmp_path / "text.jsonl").write_text('{"text": "a b"}\n')
    with pytest.raises(InputError) as caught:
        comarkov.pack([first, tmp_path / "text.jsonl"], tmp_path / "store2")
    assert caught.value.file == tmp_path / "text.jsonl"
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "b.csv", "store", "text.jsonl"]


def test_what_is_no_edge_list_is_read_first(tmp_path):
    texts = ["red apple", "green apple", "red pear", "green pear"]
    store = comarkov.pack(texts, tmp_path / "store")
    assert store.weighting == "bm25"
    assert store.column_names.tolist() == ["apple", "green", "pear", "red"]
    assert store.texts.tolist() == texts


# --- all or nothing ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*skipped")
@pytest.mark.parametrize("lines", ["a,b,1\na,c,-1\n", ",b,1\n", "a,b,0\n"])
def test_a_draft_of_bad_data_is_removed(tmp_path, lines):
    path = tmp_path / "bad.csv"
    path.write_text("user,item,n\n" + lines)
    with pytest.raises(InputError):
        comarkov.pack(path, tmp_path / "store")
    assert os.listdir(tmp_path) == ["bad.csv"]


@pytest.mark.parametrize("stage", ["Reading", "Sorting rows", "Sorting columns"])
def test_nothing_is_left_if_packing_is_interrupted(tmp_path, stage):
    source, target = folder_of("lines", "parquet", tmp_path / "edges"), tmp_path / "store"

    def interrupt(name, done, total):
        if name == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        comarkov.pack(source, target, progress=interrupt)
    assert os.listdir(tmp_path) == ["edges"]
    assert_packed(comarkov.pack(source, target), comarkov.read(source))


@pytest.mark.parametrize("limit", ["much", 1000, "31MB", -5])
def test_a_memory_limit_that_is_none(limit, tmp_path):
    with pytest.raises(ValueError, match=f"memory_limit={limit!r}"):
        comarkov.pack([[1, 2]], tmp_path / "store", memory_limit=limit)
