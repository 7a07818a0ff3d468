"""Models that are damaged, edited or hostile: one clear error, and nothing is executed."""

import json
import os
import pickle
import shutil
import zipfile
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import comarkov
from comarkov.joint.messages import InputError
from comarkov.model import storage


@pytest.fixture
def folder(tmp_path, model):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def edit(folder, change):
    """Change the document of a model as somebody would who knows of the digest."""
    path = folder / "model.json"
    document = json.loads(path.read_text())
    change(document)
    with open(folder / "arrays.npz", "rb") as file:
        document["digest"] = storage._digest(document["value"], storage._read_arrays(file))
    path.write_text(json.dumps(document))


def array_bytes(array, allow_pickle=False):
    file = BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=allow_pickle)
    return file.getvalue()


def put(folder, content, method=zipfile.ZIP_STORED):
    """Put something else in the place of the first array."""
    with zipfile.ZipFile(folder / "arrays.npz") as archive:
        others = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(folder / "arrays.npz", "w", method) as archive:
        for name, old in others.items():
            archive.writestr(name, content if name == "a0.npy" else old)


class Harm:
    def __reduce__(self):
        return (Path.touch, (Path("harm"),))


def set_value(key, value):
    return lambda folder: edit(folder, lambda document: document.update({key: value}))


def promise_too_much(folder):
    content = array_bytes(np.zeros(5, np.int64))
    put(folder, content.replace(b"(5,)", b"(9" + b"9" * 11 + b",)").replace(b" " * 11, b"", 1))


def edit_without_digest(folder):
    text = (folder / "model.json").read_text()
    (folder / "model.json").write_text(text.replace('"beta": 0.7', '"beta": 0.6', 1))


DAMAGES = {
    "an edited parameter": edit_without_digest,
    "a newer version": set_value("version", 2),
    "another format": set_value("format", "pickle"),
    "an unknown class": set_value("value", {"is": "os.system"}),
    "no class": set_value("value", {"is": []}),
    "no model": set_value("value", {"is": "Step", "parts": {}}),
    "only data": set_value("value", [1, 2]),
    "a method for an attribute": lambda f: edit(
        f, lambda d: d["value"]["learnt"].update(predict=1)
    ),
    "a parameter that there is not": lambda f: edit(
        f, lambda d: d["value"]["parameters"].update(harm=1)
    ),
    "an array that is not there": lambda f: edit(
        f, lambda d: d["value"]["learnt"]["row_labels_"].update(name="../a")
    ),
    "JSON that is cut": lambda f: os.truncate(f / "model.json", 99),
    "JSON that is deep": lambda f: (f / "model.json").write_text("[" * 10**5),
    "JSON that is not text": lambda f: (f / "model.json").write_bytes(b"\xff\xfe"),
    "arrays that are cut": lambda f: os.truncate(f / "arrays.npz", 200),
    "another array": lambda f: put(f, array_bytes(np.ones(3))),
    "a pickle": lambda f: put(f, array_bytes(np.array([Harm()], object), True)),
    "a bare pickle": lambda f: put(f, pickle.dumps(Harm())),
    "compressed arrays": lambda f: put(f, bytes(10**6), zipfile.ZIP_DEFLATED),
    "a promise": promise_too_much,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_or_hostile_is_one_clear_error(folder, damage, monkeypatch):
    monkeypatch.chdir(folder.parent)
    DAMAGES[damage](folder)
    with pytest.raises(InputError) as caught:
        comarkov.load(folder)
    assert caught.value.file == folder
    assert caught.value.advice
    assert "\n" not in str(caught.value)
    assert not Path("harm").exists()


@pytest.mark.parametrize("lose", [lambda f: (f / "arrays.npz").unlink(), shutil.rmtree])
def test_a_missing_model_is_named(folder, lose):
    lose(folder)
    with pytest.raises(FileNotFoundError) as caught:
        comarkov.load(folder)
    assert str(folder) in str(caught.value)


PARTS = [None, -1, 10**9, 1.5, float("1e300"), "x", [], {}, True, {"is": "tuple", "items": []}]


def places(tree, path=()):
    """The paths to all parts of a tree."""
    yield path
    if isinstance(tree, dict | list):
        for key, child in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(child, (*path, key))


def replace_a_part(rng, document):
    every = [path for path in places(document["value"]) if path]
    *path, last = every[rng.integers(len(every))]
    node = document["value"]
    for key in path:
        node = node[key]
    choices = PARTS + [{"is": "array", "name": f"a{i}"} for i in range(6)]
    node[last] = choices[rng.integers(len(choices))]


@pytest.mark.parametrize("seed", range(8))
def test_edited_models_work_or_are_refused_in_one_line(folder, women, seed):
    """Parts that are replaced by others: nothing but a ValueError comes out of that."""
    rng = np.random.default_rng(seed)
    whole = (folder / "model.json").read_text()
    for _ in range(25):
        (folder / "model.json").write_text(whole)
        edit(folder, partial(replace_a_part, rng))
        assert "\n" not in complaint(folder, women)


def complaint(folder, women):
    """What is wrong with a model; nothing if it works."""
    try:
        model = comarkov.load(folder)
        model.predict(women)
        model.predict(women, "columns")
        model.describe()
        _ = model.hierarchy_.levels
    except ValueError as error:
        return str(error)
    return ""
