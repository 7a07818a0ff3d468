"""CoClustering beyond the contract: new data by name, given labels, bad input, pipelines."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import blocks_with_gaps, framed, refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import comarkov
from comarkov import CoClustering


@pytest.fixture(scope="module")
def planted():
    return blocks_with_gaps(60, 40)


@pytest.fixture(scope="module")
def fitted(planted):
    return CoClustering((4, 3), n_init=4, random_state=0).fit(planted)


def test_biclusters(planted, fitted):
    assert fitted.rows_.shape == (12, 60)
    assert fitted.columns_.shape == (12, 40)
    rows, columns = fitted.get_indices(5)
    assert_array_equal(rows, np.flatnonzero(fitted.rows_[5]))
    assert_array_equal(columns, np.flatnonzero(fitted.columns_[5]))
    assert fitted.get_shape(5) == (rows.size, columns.size)
    assert_array_equal(fitted.get_submatrix(5, planted), planted[np.ix_(rows, columns)])
    assert_array_equal(fitted.get_indices(-1)[0], np.flatnonzero(fitted.rows_[-1]))
    with pytest.raises(IndexError):
        fitted.get_indices(12)
    assert fitted.biclusters_[0].sum() == 3 * (fitted.row_labels_ >= 0).sum()


def test_predict_is_the_least_cost_of_insertion(planted, fitted):
    """By the definition: add the row to the matrix, in each cluster, and cost it."""
    new = np.random.default_rng(1).poisson(1.0, (12, 40))
    new[:, fitted.column_labels_ < 0] = 0  # of columns without mass the model knows nothing
    stacked = np.vstack([planted, new[:1]])
    columns = np.maximum(fitted.column_labels_, 0)
    for row, chosen in zip(new, fitted.predict(new), strict=True):
        stacked[-1] = row
        costs = [
            comarkov.cost(stacked, np.append(fitted.row_labels_, a), columns, 0.7) for a in range(4)
        ]
        assert chosen == np.argmin(costs)


def test_predict_columns_is_predict_of_the_transpose(planted, fitted):
    turned = CoClustering(
        (3, 4), init=(fitted.column_labels_, fitted.row_labels_), method="sequential"
    ).fit(planted.T)
    assert_array_equal(turned.row_labels_, fitted.column_labels_)
    new = np.random.default_rng(1).poisson(1.0, (60, 9))
    assert_array_equal(fitted.predict(new, "columns"), turned.predict(new.T))


def test_new_data_is_aligned_by_names(planted):
    frame = framed(planted)
    model = CoClustering((4, 3), random_state=0).fit(frame)
    assert_array_equal(model.feature_names_in_, frame.columns)
    assert_array_equal(model.row_names_in_, frame.index)
    expected = model.predict(frame)
    assert_array_equal(model.predict(frame.iloc[:, ::-1]), expected)
    assert_array_equal(
        model.predict(pl.DataFrame(frame.iloc[:, ::-1].reset_index(drop=True))), expected
    )
    assert_array_equal(model.predict(frame.iloc[::-1], "columns"), model.predict(frame, "columns"))
    less = frame.drop(columns="c3")
    assert_array_equal(model.predict(less), model.predict(frame.assign(c3=0)))
    for value in (5, "text", np.nan):
        with pytest.warns(UserWarning, match="new") as caught:
            assert_array_equal(model.predict(frame.assign(new=value)), expected)
        assert caught[0].filename == __file__
    with refused("40 columns"):
        model.predict(frame.rename(columns=lambda name: name + "?"))
    with refused("differently"):
        model.predict(frame.rename(columns={"c3": "c4"}))
    assert_allclose(model.score(frame.iloc[:, ::-1]), model.score(frame))
    with refused("differently"):
        model.predict(frame.rename(index={"r3": "r4"}), "columns")
    sparse = frame.iloc[:, ::-1].astype(pd.SparseDtype(int, 0))
    assert_array_equal(model.predict(sparse), expected)


def test_numbered_frames_are_aligned_by_number(planted):
    frame = pd.DataFrame(planted)
    model = CoClustering((4, 3), random_state=0).fit(frame)
    assert not hasattr(model, "row_names_in_")
    assert_array_equal(model.predict(frame.iloc[:, ::-1]), model.predict(planted))
    assert_array_equal(
        model.predict(frame.iloc[::-1], "columns"), model.predict(planted, "columns")
    )
    named = frame.rename(columns=str)
    with pytest.warns(UserWarning, match="feature names"):
        assert_array_equal(model.predict(named), model.predict(planted))


def test_score_is_minus_the_cost(planted, fitted):
    rows, columns = fitted.predict(planted), np.maximum(fitted.column_labels_, 0)
    assert fitted.score(planted) == -comarkov.cost(planted, rows, columns, 0.7)


def test_works_in_pipelines_and_grid_search(planted):
    texts = ["cat dog cat", "dog cat mouse", "car bus", "bus car train", "train car bus"]
    pipeline = make_pipeline(CountVectorizer(), CoClustering((2, 2), n_init=5, random_state=0))
    labels = pipeline.fit_predict(texts)
    assert_array_equal(labels == labels[0], [True, True, False, False, False])
    search = GridSearchCV(CoClustering(random_state=0), {"n_clusters": [(2, 2), (4, 3)]}, cv=3)
    assert search.fit(planted).best_params_ == {"n_clusters": (4, 3)}


def test_a_grid_search_gives_each_warning_once_at_the_line_of_the_user(planted):
    search = GridSearchCV(CoClustering(random_state=0), {"n_clusters": [(2, 2), (3, 2)]}, cv=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(planted)
    texts = [str(one.message) for one in caught]
    assert len(texts) == len(set(texts)) > 1
    assert {one.filename for one in caught} == {__file__}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": (60, 2)}, "at most 59"),
        ({"n_clusters": (2, 40)}, "at most 39"),
        ({"n_clusters": (2, 3, 4)}, "3 items"),
        ({"n_clusters": (2, "3")}, "column clusters"),
        ({"n_clusters": (None, None)}, ""),
        ({"beta": 1.2}, "beta"),
        ({"init": (np.zeros(5, int), None)}, "init row labels"),
        ({"init": (np.full(60, 9), None)}, "9"),
        ({"init": (np.zeros(60, int), None)}, "2 of 3 clusters"),
        ({"n_clusters": (None, 2), "fixed": (np.zeros(60), None)}, "rows"),
    ],
)
def test_bad_parameters_get_a_clear_error(planted, parameters, message):
    with refused(message):
        CoClustering(**{"n_clusters": 3} | parameters).fit(planted)


def test_names_that_cannot_be_kept_are_refused_before_the_search(planted):
    names = ["a", *range(1, planted.shape[1])]
    calls = []
    with pytest.raises(TypeError):
        CoClustering(2, callback=calls.append).fit(pd.DataFrame(planted, columns=names))
    assert calls == []


def test_bad_new_data_gets_a_clear_error(planted, fitted):
    with refused("40"):
        fitted.predict(planted[:, :5])
    with refused("60", "5"):
        fitted.predict(planted[:5], "columns")
    with refused("numpy.clip"):
        fitted.predict(-planted)
    one_sided = CoClustering((None, 3), random_state=0).fit(planted)
    with refused("rows"):
        one_sided.predict(planted)
