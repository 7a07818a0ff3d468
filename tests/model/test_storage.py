"""Models are kept in files, and come back equal in everything."""

import json
import os
import tempfile

import numpy as np
import pandas as pd
import pytest
from helpers import framed, models, same
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import comarkov
from comarkov import CoClustering, Weighting
from comarkov.joint.messages import InputError
from comarkov.joint.weighting import SCHEMES
from comarkov.model import storage
from comarkov.model.serialise import Packer, unpack


def kept(model):
    """A model after it was saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        return comarkov.load(f"{folder}/model")


def assert_does_the_same(model, loaded, X):
    assert same(model, loaded)
    rows, columns = model._model.rows, model._model.columns
    if rows is not None:
        assert same(model.predict(X), loaded.predict(X))
        assert same(model.transform(X), loaded.transform(X))
        assert same(model.score(X), loaded.score(X))
    if columns is not None:
        assert same(model.predict(X, "columns"), loaded.predict(X, "columns"))
    assert same(model.hierarchy_.levels, loaded.hierarchy_.levels)
    assert same(model.hierarchy_.merges, loaded.hierarchy_.merges)
    least = tuple(side and 1 for side in (rows, columns))
    most = model.hierarchy_.n_leaves
    for counts in (least, most):
        assert same(vars(model.cut(counts)), vars(loaded.cut(counts)))


@settings(max_examples=40)
@given(models(), st.sampled_from([None, *SCHEMES]), st.sampled_from([None, 0.6]), st.booleans())
def test_a_loaded_model_is_the_saved_one(problem, weighting, reject, named):
    W, model = problem
    if weighting == "bm25":
        weighting = Weighting("bm25", min_df=1, uniform=named)
    if named:
        W = framed(W)
    model.set_params(weighting=weighting, reject=reject)
    try:
        model.fit(W)
    except ValueError:  # a weighting may leave too little mass for so many clusters
        return
    assert_does_the_same(model, kept(model), W)


@pytest.mark.parametrize(
    "estimator",
    [
        CoClustering("auto", beta="auto", random_state=0),
        CoClustering((np.int32(2), None), random_state=0),
        CoClustering(2, init=([0, 1] * 9, None), random_state=0),
    ],
)
def test_all_evidence_is_kept(women, estimator):
    model = estimator.fit(women)
    assert same(model, kept(model))


def test_what_was_fixed_and_the_seed_are_kept(women):
    fixed = pd.Series([1] + [-1] * 13)
    seed = np.random.RandomState(1)
    model = CoClustering(3, fixed=(None, fixed), random_state=seed).fit(women)
    loaded = kept(model)
    assert loaded.fixed[1].tolist() == fixed.tolist()
    refined = model.cut((2, 2), women), loaded.cut((2, 2), women)
    assert same(refined[0].row_labels_, refined[1].row_labels_)
    assert model.random_state.randint(1000) == loaded.random_state.randint(1000)


def test_names_of_all_kinds(women):
    rows = pd.MultiIndex.from_product([["é", "<script>"], range(9)])
    frame = pd.DataFrame(women, rows, [f"c{i}" for i in range(14)])
    model = CoClustering((2, 3), random_state=0).fit(frame)
    loaded = kept(model)
    assert same(model.row_names_in_, loaded.row_names_in_)
    assert loaded.row_names_in_[0] == ("é", 0)
    assert same(model.feature_names_in_, loaded.feature_names_in_)


def test_what_cannot_be_kept_is_refused_and_leaves_nothing(tmp_path, women):
    frame = pd.DataFrame(women, pd.date_range("2020", periods=18))
    model = CoClustering((2, 3), random_state=0).fit(frame.rename(columns=str))
    with pytest.raises(TypeError):
        model.save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        CoClustering(2).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_arrays_are_kept_once_and_written_alike(tmp_path, model):
    model.save(tmp_path / "one")
    model.save(tmp_path / "two")
    loaded = comarkov.load(tmp_path / "one")
    assert loaded._model.rows.masses is loaded.hierarchy_.rows.masses
    for name in ("model.json", "arrays.npz"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_plain_values_come_back(value):
    packer = Packer()
    tree = json.loads(json.dumps(packer.pack(value), allow_nan=False))
    assert same(unpack(tree, packer.arrays), value)


def test_a_path_in_one_file(tmp_path, women):
    path = CoClustering((2, 3), random_state=0).beta_path(women, [1, 0.5])
    storage.save_value(path, tmp_path / "path.npz")
    assert same(storage.load_value(tmp_path / "path.npz"), path)
    (tmp_path / "path.npz").write_bytes(b"")
    with pytest.raises(InputError) as caught:
        storage.load_value(tmp_path / "path.npz")
    assert caught.value.file == tmp_path / "path.npz"


# --- where it is written ----------------------------------------------------------------------


def test_only_models_are_replaced_and_only_if_allowed(tmp_path, model, women):
    target = tmp_path / "deep" / "model"
    model.save(target)
    with pytest.raises(FileExistsError):
        model.save(target)
    CoClustering((3, 3), random_state=0).fit(women).save(target, overwrite=True)
    assert comarkov.load(target).n_clusters == (3, 3)
    (target.parent / "thesis").mkdir()
    (target.parent / "thesis" / "chapter").write_text("years of work")
    (target.parent / "file").write_text("a file")
    for name in ("thesis", "file"):
        with pytest.raises(FileExistsError):
            model.save(target.parent / name, overwrite=True)
    assert (target.parent / "thesis" / "chapter").read_text() == "years of work"
    assert sorted(os.listdir(target.parent)) == ["file", "model", "thesis"]


def test_what_fails_in_the_middle_leaves_what_was_there(tmp_path, model, monkeypatch):
    model.save(tmp_path / "model")
    before = (tmp_path / "model" / "model.json").read_bytes()

    def full(path, arrays):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage, "_write_arrays", full)
    for name in ("model", "new"):
        with pytest.raises(OSError):  # noqa: PT011, as above
            model.save(tmp_path / name, overwrite=True)
    assert os.listdir(tmp_path) == ["model"]
    assert (tmp_path / "model" / "model.json").read_bytes() == before
