"""Damaged stores: one error that names the file."""

import json

import numpy as np
import pytest

import comarkov
from comarkov.io.store import layout as array_writing
from comarkov.io.store import opening
from comarkov.io.store.layout import Description
from comarkov.io.store.opening import Store, open_store


@pytest.fixture
def folder(tmp_path):
    data = comarkov.Data([[1, 2], [0, 4]], ["a", "b"], row_classes={"c": ["x", "y"]})
    comarkov.pack(data, tmp_path / "store")
    return tmp_path / "store"


def files_of(folder):
    return [path for path in folder.rglob("*.npy") if path.stat().st_size > 128]


def test_every_file_has_a_checksum(folder):
    about = Description.read(folder)
    about.verify(folder)
    named = {folder / name for name in about.files}
    assert named == set(folder.rglob("*.npy"))


@pytest.mark.parametrize(
    "look", [comarkov.read, lambda folder: Description.read(folder).verify(folder)]
)
def test_values_that_changed_are_found(folder, look):
    for path in files_of(folder):
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(ValueError, match=f"{path} is damaged or missing"):
            look(folder)
        path.write_bytes(content)


def test_headers_that_are_no_headers(folder):
    for path in files_of(folder):
        content = path.read_bytes()
        for bad in (b"(", b"\x93NUMPX", content[:10] + b"{" * 20):
            path.write_bytes(bad + content[len(bad) :])
            with pytest.raises(ValueError, match=f"{path} is damaged or missing"):
                list(comarkov.read(folder).row_names)
        path.write_bytes(content)


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
    ],
)
@pytest.mark.parametrize("is_checked", ["when opened", "before a fit"])
def test_what_would_lead_out_of_an_array_is_found_in_large_stores(
    folder, file, change, is_checked, monkeypatch
):
    """Checksums of large stores are not compared."""
    monkeypatch.setattr(opening, "COMPARED", 0)
    monkeypatch.setattr(opening, "CHECKED", 0 if is_checked == "before a fit" else 10**8)
    path = folder / f"{file}.npy"
    array_writing.write_array(path, change(np.load(path)))
    about = json.loads((folder / "store.json").read_text())
    about["files"][f"{file}.npy"]["bytes"] = path.stat().st_size
    (folder / "store.json").write_text(json.dumps(about))
    with pytest.raises(ValueError, match=f"{folder}/{file.split('/')[0]}/.* is damaged"):
        comarkov.CoClustering(1).fit(comarkov.read(folder))


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [2]},
        {"shape": [2, -2]},
        {"shape": "22"},
        {"entries": 3.0},
        {"scale": "1"},
        {"scale": -1.0},
        {"is_count": 1},
        {"weights": "object"},
        {"row_kind": None},
        {"files": {"../../etc/passwd": {"bytes": 1, "sha256": ""}}},
    ],
)
def test_a_description_with_wrong_parts(folder, change):
    about = folder / "store.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | change))
    with pytest.raises(ValueError, match=r"store.json is damaged or missing"):
        comarkov.read(folder)


def test_a_file_that_is_too_short_or_missing(folder):
    for path in files_of(folder):
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        with pytest.raises(ValueError, match=f"{path} is damaged .*Pack its source again"):
            comarkov.read(folder)
        path.unlink()
        with pytest.raises(ValueError, match=f"{path} is damaged or missing"):
            comarkov.read(folder)
        path.write_bytes(content)
    assert isinstance(comarkov.read(folder), Store)


def test_an_array_of_another_length(folder):
    about = folder / "store.json"
    content = json.loads(about.read_text())
    about.write_text(json.dumps(content | {"entries": 2}))
    with pytest.raises(ValueError, match=r"rows/indices.npy is damaged"):
        open_store(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 1, "shape": 5}'])
def test_a_description_that_is_none(text, folder):
    (folder / "store.json").write_text(text)
    with pytest.raises(ValueError, match=r"store.json is damaged or missing"):
        open_store(folder)


def test_a_store_of_another_version(folder):
    about = folder / "store.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"format": 9}))
    with pytest.raises(ValueError, match=r"store of format 9, but this version.* reads format 1"):
        comarkov.read(folder)


def test_options_do_not_apply_to_a_store(folder):
    with pytest.raises(ValueError, match="Leave out kind='edges'"):
        comarkov.read(folder, kind="edges")
    with pytest.raises(ValueError, match="rows= applies to"):
        comarkov.read(folder, rows="user")
    renamed = comarkov.read(folder, row_names={"a": "Ann"}, row_classes={"d": ["p", "q"]})
    assert renamed.row_names.tolist() == ["Ann", "b"]
    assert list(renamed.row_classes) == ["d"]
    assert isinstance(renamed, Store)
