"""Data: known classes, texts and how they were read survive transposing, changing and saving."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import refusal, same
from hypothesis import given
from hypothesis import strategies as st
from refusals import noted

import comarkov
from comarkov import Data
from comarkov.io.read.data import MAX_TEXT

WORDS = st.text(max_size=5)
READING = st.dictionaries(
    WORDS, st.none() | st.booleans() | st.integers(-9, 9) | WORDS | st.lists(WORDS, max_size=2)
)
FIELDS = ("row_names", "column_names", "row_classes", "column_classes", "texts", "reading")
FIELDS += ("named", "row_kind", "column_kind", "weighting", "entry_kind")


@st.composite
def annotated(draw):
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    rows, columns = (
        draw(st.dictionaries(WORDS, st.lists(WORDS, min_size=size, max_size=size), max_size=3))
        for size in (n, m)
    )
    texts = draw(st.none() | st.lists(st.text(max_size=9), min_size=n, max_size=n))
    names = draw(st.none() | st.lists(WORDS, min_size=n, max_size=n))
    about = draw(st.sampled_from([{}, {"weighting": "bm25", "entry_kind": "reads"}]))
    about |= {"row_classes": rows, "column_classes": columns, "texts": texts}
    return Data(np.full((n, m), 0.5), names, None, "gene", "cell", reading=draw(READING), **about)


@pytest.mark.parametrize(
    "about",
    [
        {"row_names": ["a\ud800", "b"]},
        {"row_classes": {"x": ["a", "\udfff"]}},
        {"column_kind": "\ud800"},
        {"source": "\ud800"},
    ],
)
def test_halves_of_characters_are_refused_before_a_fit(about):
    error = refusal(Data, [[1, 2], [3, 4]], **about)
    name = next(text for text in ("a\ud800", "\udfff", "\ud800") if repr(text) in str(error))
    repaired = eval(re.search(r"name\..*\(\)", error.advice)[0], {"name": name})
    assert Data([[1, 2], [3, 4]], [repaired, "b"]).row_names[0] == repaired
    frame = pd.DataFrame([[1, 2], [3, 4]], [name, "b"])
    refusal(comarkov.CoClustering((1, 1)).fit, frame)


def test_texts_about_data_are_short(tmp_path):
    long = "x" * 10**6
    data = Data([[1, 2], [3, 4]], None, None, long, long, long, entry_kind=long)
    assert len(repr(data)) < 10_000
    texts = Data([[1], [2]], texts=["half \ud800", "b"]).texts  # they are only shown
    assert texts.tolist() == ["half ?", "b"]


@given(annotated())
def test_annotations_survive_saving_and_changing(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("npz") / "data.npz"
    data.save(path)
    again = comarkov.read(path)
    for field in FIELDS:
        assert same(getattr(again, field), getattr(data, field)), field
    assert (sp.load_npz(path) != data.matrix).nnz == 0


def test_missing_classes_are_empty():
    for missing in (None, float("nan"), pd.NA, pd.NaT):
        data = Data(np.ones((2, 1)), row_classes={"group": ["a", missing]})
        assert data.row_classes["group"].tolist() == ["a", ""]
    codes = pd.Categorical(["b", None])
    assert Data(np.ones((2, 1)), row_classes={"g": codes}).row_classes["g"].tolist() == ["b", ""]


@pytest.mark.parametrize(
    ("name", "value"),
    [("row_classes", {"group": ["a"]}), ("column_classes", ["a"]), ("texts", list("abc"))],
)
def test_wrong_annotations_are_refused(name, value):
    with pytest.raises((ValueError, TypeError)) as caught:
        Data(np.ones((2, 1)), **{name: value})
    assert str(caught.value).startswith(name)


def test_long_texts_are_cut_when_saved(tmp_path):
    Data(np.ones((1, 1)), texts=["é" * (MAX_TEXT + 1)]).save(tmp_path / "m.npz")
    assert comarkov.read(tmp_path / "m.npz").texts.tolist() == ["é" * MAX_TEXT]


def test_damaged_annotations_are_reported(tmp_path):
    path = tmp_path / "m.npz"
    Data(np.ones((2, 1)), row_classes={"group": ["a", "b"]}).save(path)
    with np.load(path) as archive:
        parts = {key: archive[key] for key in archive.files}
    for value in ("{}", "["):
        np.savez(path, **(parts | {"annotations": np.array(value)}))
        assert "annotations" in str(refusal(comarkov.read, path))
    np.savez(path, annotations=np.eye(2))  # not ours: one array under any name
    assert comarkov.read(path).shape == (2, 2)


@pytest.mark.parametrize("names", [[], ["who"]])
def test_fit_refuses_columns_of_the_same_name(names):
    lines = [["x", 1, 2, 0], ["y", 3, 0, 1], ["z", 0, 1, 2]]
    lines = [line[1 - len(names) :] for line in lines]
    with pytest.raises(ValueError, match=r"columns\.duplicated"):
        comarkov.CoClustering((2, 2)).fit(pd.DataFrame(lines, columns=[*names, "a", "a", "b"]))


def test_fit_warns_of_a_column_that_numbers_the_rows():
    frame = pd.DataFrame({"id": [0, 1, 2], "a": [1, 3, 0], "c": [2, 0, 1], "b": [0, 1, 2]})
    with noted("X.drop(columns=['id'])"):
        comarkov.CoClustering((2, 2)).fit(frame)
    comarkov.CoClustering((2, 2)).fit(frame.drop(columns="id"))


def test_data_are_shown_with_plurals():
    data = Data([[1, 2], [0, 3]], list("ab"), list("cd"), "woman", "city", "visits.csv")
    assert repr(data) == "Data(2 women x 2 cities, 3 entries, from visits.csv)"
