"""Damaged stores: one error that names the file."""

import json

import numpy as np
import pytest

import comarkov
from comarkov.io.store import layout, opening
from comarkov.io.store.layout import Description, write_array
from comarkov.io.store.opening import Store, open_store
from comarkov.joint.messages import InputError


@pytest.fixture
def folder(tmp_path):
    data = comarkov.Data([[1, 2], [0, 4]], ["a", "b"], row_classes={"c": ["x", "y"]})
    comarkov.pack(data, tmp_path / "store")
    return tmp_path / "store"


def files_of(folder):
    return [path for path in folder.rglob("*.npy") if path.stat().st_size > 128]


def assert_damaged(use, folder, *paths):
    """An error about one of the files, with advice."""
    with pytest.raises(InputError) as caught:
        use(folder)
    assert caught.value.file in paths
    assert "overwrite=True" in caught.value.advice


def change_description(folder, is_digest_corrected=True, **change):
    about = json.loads((folder / "store.json").read_text()) | change
    if is_digest_corrected:
        content = {name: about[name] for name in about if name not in ("format", "digest")}
        about["digest"] = layout._digest(content)
    (folder / "store.json").write_text(json.dumps(about))


def test_a_store_that_is_replaced_stays_as_it_was_where_it_is_open(folder):
    store = comarkov.read(folder)
    comarkov.pack(comarkov.Data([[7, 1], [2, 5]], ["x", "y"]), folder, overwrite=True)
    assert store.row_names.tolist() == ["a", "b"]
    assert store.matrix.toarray().tolist() == [[1, 2], [0, 4]]
    assert comarkov.read(folder).row_names.tolist() == ["x", "y"]


def test_a_small_store_may_be_edited_or_cut_off_while_it_is_used(folder):
    store = comarkov.read(folder)
    for path in folder.rglob("*.npy"):
        path.write_bytes(b"\xff" * 9)
    model = comarkov.CoClustering((2, 2), random_state=0).fit(store)
    assert (model.row_labels_.size, store.row_names.tolist()) == (2, ["a", "b"])


def test_every_file_has_a_checksum(folder):
    about = Description.read(folder)
    about.verify(folder)
    assert {folder / name for name in about.files} == set(folder.rglob("*.npy"))


@pytest.mark.parametrize(
    "look", [comarkov.read, lambda folder: Description.read(folder).verify(folder)]
)
def test_values_that_changed_are_found(folder, look):
    for path in files_of(folder):
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        assert_damaged(look, folder, path)
        path.write_bytes(content)


def test_files_that_are_short_missing_or_without_a_header(folder):
    for path in files_of(folder):
        content = path.read_bytes()
        for bad in (b"(", b"\x93NUMPX", content[:10] + b"{" * 20):
            path.write_bytes(bad + content[len(bad) :])
            assert_damaged(lambda folder: list(comarkov.read(folder).row_names), folder, path)
        path.write_bytes(content[:-1])
        assert_damaged(comarkov.read, folder, path)
        path.unlink()
        assert_damaged(comarkov.read, folder, path)
        path.write_bytes(content)
    assert isinstance(comarkov.read(folder), Store)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("rows/indices", lambda values: values + 2),
        ("columns/indices", lambda values: values + 2),
        ("rows/indptr", lambda values: values[::-1].copy()),
        ("columns/indptr", lambda values: values + 1),
        ("rows/ones", lambda values: values - 9),
        ("rows/twos", lambda values: values + 9),
        ("rows/mass", lambda values: values.astype(np.float32)),
        ("columns/weights", lambda values: values.astype(np.int64)),
        ("rows/weights", lambda values: values * np.nan),
        ("columns/weights", lambda values: -values),
        ("columns/mass", lambda values: values * np.nan),
        ("rows/mass", lambda values: -values),
    ],
)
def test_what_would_lead_out_of_an_array_is_found_in_large_stores(
    folder, file, change, monkeypatch
):
    """Checksums of large stores are not compared."""
    monkeypatch.setattr(opening, "MAX_COMPARED_BYTES", 0)
    path = folder / f"{file}.npy"
    write_array(path, change(np.load(path)))
    files = json.loads((folder / "store.json").read_text())["files"]
    files[f"{file}.npy"]["bytes"] = path.stat().st_size
    change_description(folder, files=files)
    assert_damaged(comarkov.read, folder, *path.parent.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [2]},
        {"shape": [2, -2]},
        {"shape": "22"},
        {"entries": 3.0},
        {"scale": "1"},
        {"spread": 10**30},  # no float, which kernels need
        {"scale": -1.0},
        {"scale": float("nan")},
        {"spread": float("nan")},
        {"files": {}},  # no checksums
        {"is_count": 1},
        {"weights": "object"},
        {"row_kind": None},
        {"files": {"../../etc/passwd": {"bytes": 1, "sha256": ""}}},
        {"row_kind": "x", "is_digest_corrected": False},
        {"spread": 1e-9, "is_digest_corrected": False},
    ],
)
def test_a_description_with_wrong_parts(folder, change):
    change_description(folder, **change)
    assert_damaged(comarkov.read, folder, folder / "store.json")


@pytest.mark.parametrize(
    "text", ["", "[]", "[" * 100_000, "{}", '{"format": 2}', '{"format": 2, "shape": 5}']
)
def test_a_description_that_is_none(text, folder):
    (folder / "store.json").write_text(text)
    assert_damaged(open_store, folder, folder / "store.json")


def test_a_store_of_another_version(folder):
    change_description(folder, format=9)
    with pytest.raises(InputError) as caught:
        comarkov.read(folder)
    assert caught.value.file == folder


def test_options_do_not_apply_to_a_store(folder):
    with pytest.raises(ValueError, match="rows= applies to"):
        comarkov.read(folder, rows="user")
    renamed = comarkov.read(folder, row_names={"a": "Ann"}, row_classes={"d": ["p", "q"]})
    assert renamed.row_names.tolist() == ["Ann", "b"]
    assert list(renamed.row_classes) == ["d"]
    assert isinstance(renamed, Store)
