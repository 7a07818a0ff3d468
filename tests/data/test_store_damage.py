"""Damaged stores: one error that names the file."""

import json

import pytest

import comarkov
from comarkov.data.store.layout import Description
from comarkov.data.store.opening import Store, open_store


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
    for path in files_of(folder):
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(ValueError, match=f"{path} is damaged or missing"):
            about.verify(folder)
        path.write_bytes(content)


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
    with pytest.raises(ValueError, match="leave out kind='edges'"):
        comarkov.read(folder, kind="edges")
    with pytest.raises(ValueError, match="rows= applies to"):
        comarkov.read(folder, rows="user")
    renamed = comarkov.read(folder, row_names={"a": "Ann"}, row_classes={"d": ["p", "q"]})
    assert renamed.row_names.tolist() == ["Ann", "b"]
    assert list(renamed.row_classes) == ["d"]
    assert isinstance(renamed, Store)
