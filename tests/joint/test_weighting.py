"""Weighting: its formulas, its formats, and what a co-clustering does with it."""

import pickle
from math import log

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import FORMATS, framed, refused, weights
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from comarkov import CoClustering, Weighting

SCHEMES = ["counts", "presence", "log", "uniform", "tfidf", "bm25"]
CHOICES = [*SCHEMES, Weighting("log", uniform=True), Weighting("bm25", uniform=True)]
COUNTS = np.array(
    [[2, 0, 1, 0, 0], [0, 0, 0, 0, 0], [1, 1, 0, 0, 3], [0, 5, 2, 0, 0], [9, 1, 0, 0, 1]]
)


@pytest.fixture(scope="module")
def planted():
    """Counts with 4 x 3 blocks, rows of very different lengths, and a column in one row only."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(4, size=60), rng.integers(3, size=40)
    means = rng.gamma(0.5, 2.0, size=(4, 3))[rows][:, columns]
    X = rng.poisson(means * rng.gamma(0.5, 2.0, size=(60, 1)))
    X[:, 11] = 0
    X[5, 11] = 3
    return X


@pytest.fixture(scope="module")
def frame(planted):
    return framed(planted)


def as_weighting(choice):
    return clone(choice) if isinstance(choice, Weighting) else Weighting(choice)


def slowly(fitted_on, rows, scheme, k1=1.2, b=0.75, min_df=2, uniform=False):
    """The weights of rows by the formulas, entry by entry."""
    N = len(fitted_on)
    df = [sum(row[y] > 0 for row in fitted_on) for y in range(len(fitted_on[0]))]
    mean = sum(map(sum, fitted_on)) / N
    out = np.zeros((len(rows), len(df)))
    for x, row in enumerate(rows):
        for y, n in enumerate(row):
            if n == 0:
                continue
            if scheme == "tfidf":
                out[x, y] = n * (log((1 + N) / (1 + df[y])) + 1)
            elif scheme == "bm25":
                idf = log(1 + (N - df[y] + 0.5) / (df[y] + 0.5)) if df[y] >= min_df else 0
                out[x, y] = idf * n * (k1 + 1) / (n + k1 * (1 - b + b * sum(row) / mean))
            else:
                out[x, y] = {"presence": 1, "log": np.log1p(n)}.get(scheme, n)
        if (uniform or scheme == "uniform") and out[x].any():
            out[x] /= out[x].sum()
    return out


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
@given(st.data())
def test_every_scheme_follows_its_formula(scheme, uniform, data):
    W = data.draw(weights())
    most = int((W > 0).sum(axis=0).max())
    parameters = {
        "uniform": uniform,
        "k1": data.draw(st.sampled_from([0.0, 0.5, 1.2, 3.0])),
        "b": data.draw(st.sampled_from([0.0, 0.3, 0.75, 1.0])),
        "min_df": data.draw(st.integers(1, most)),
    }
    weighting = Weighting(scheme, **parameters).fit(W)
    assert_allclose(
        weighting.transform(W), slowly(W.tolist(), W.tolist(), scheme, **parameters), rtol=1e-12
    )
    new = np.roll(W, 1, axis=1) * (np.arange(len(W)) + 1)[:, None]
    assert_allclose(
        weighting.transform(new), slowly(W.tolist(), new.tolist(), scheme, **parameters), rtol=1e-12
    )


@given(weights(), st.booleans())
def test_tfidf_is_that_of_scikit_learn(W, uniform):
    ours = Weighting("tfidf", uniform=uniform).fit_transform(sp.csr_array(W))
    theirs = TfidfTransformer(norm="l1" if uniform else None).fit_transform(sp.csr_array(W))
    assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-13)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS.keys())
def test_every_format_gives_the_same_weights(choice, make):
    X = make(COUNTS)
    weighted = as_weighting(choice).fit(X).transform(X)
    assert sp.issparse(weighted) == (sp.issparse(X) or hasattr(X, "sparse"))
    if sp.issparse(weighted):
        assert weighted.format == "csr"
        assert weighted.data.all()
        weighted = weighted.toarray()
    assert weighted.dtype == np.float64
    assert_array_equal(weighted, as_weighting(choice).fit_transform(COUNTS))


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, np.array])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_neither_the_input_nor_its_memory_is_touched(choice, make, dtype):
    X = make(COUNTS.astype(dtype))
    weighting = as_weighting(choice).fit(X)
    for weighted in (weighting.transform(X), weighting.weigh_columns(X)):
        parts = ("data", "indices", "indptr") if sp.issparse(weighted) else ("flat",)
        for part in parts:
            getattr(weighted, part)[:] = 0
    assert_array_equal(X.toarray() if sp.issparse(X) else X, COUNTS)


def test_sparse_input_is_not_made_dense():
    X = sp.coo_array(([1, 2, 4], ([0, 10**6, 1], [0, 0, 10**6])), shape=(10**6 + 1, 10**6 + 1))
    for choice in CHOICES:
        weighting = as_weighting(choice).fit(X)
        for weighted in (weighting.transform(X), weighting.weigh_columns(X)):
            assert weighted.nnz == (3 if weighting.scheme != "bm25" else 2)


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
@given(weights())
def test_rows_and_columns_of_the_fit_are_weighted_as_in_the_fit(scheme, uniform, W):
    weighting = Weighting(scheme, uniform=uniform, min_df=1).fit(W)
    weighted = weighting.transform(W)
    assert_array_equal(weighting.weigh_columns(W).toarray(), weighted)
    assert_array_equal(weighting.weigh_rows(W).toarray(), weighted)
    assert_array_equal(weighting.transform(W[:1]), weighted[:1])
    assert_array_equal(weighting.weigh_columns(W[:, :1]).toarray(), weighted[:, :1])


def test_new_columns_have_their_own_df_and_the_rows_of_the_fit():
    weighting = Weighting("bm25", uniform=True).fit(COUNTS)
    new = np.array([[1, 0], [7, 1], [2, 0], [0, 0], [0, 0]])
    idf = log(1 + 2.5 / 3.5)  # in three of five rows; the other column in one only
    lengths = COUNTS.sum(axis=1)
    masses = slowly(COUNTS.tolist(), COUNTS.tolist(), "bm25").sum(axis=1)
    expected = np.zeros((5, 2))
    for x in (0, 2):  # row 1 had no mass and gets none
        n = new[x, 0]
        local = n * 2.2 / (n + 1.2 * (0.25 + 0.75 * lengths[x] / lengths.mean()))
        expected[x, 0] = idf * local / masses[x]
    assert_allclose(weighting.weigh_columns(new).toarray(), expected)
    assert weighting.weigh_columns(new).nnz == 2


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks_pass_without_exception(scheme, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    checks = list(estimator_checks_generator(Weighting(scheme), legacy=True))
    assert len(checks) > 40
    for estimator, check in checks:
        check(estimator)


def test_names_are_kept(frame):
    weighting = Weighting().set_output(transform="pandas").fit(frame)
    weighted = weighting.transform(frame)
    assert weighted.index.equals(frame.index)
    assert weighted.columns.equals(frame.columns)
    assert_array_equal(weighting.get_feature_names_out(), frame.columns)
    with refused("feature names"):
        weighting.transform(frame.iloc[:, ::-1])
    copy = pickle.loads(pickle.dumps(weighting))
    assert_array_equal(copy.transform(frame), weighted)
    assert clone(Weighting("log", k1=3)).get_params() == Weighting("log", k1=3).get_params()


# --- in a co-clustering -----------------------------------------------------------------------


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_co_clustering_weights_as_one_would_by_hand(planted, choice):
    X, new = sp.coo_matrix(planted), np.random.default_rng(1).poisson(0.7, (12, 40))
    columns = np.random.default_rng(2).poisson(0.7, (60, 9))
    model = CoClustering((4, 3), weighting=choice, n_init=2, random_state=0).fit(X)
    by_hand = as_weighting(choice).fit(X)
    weighted = by_hand.transform(X)
    plain = CoClustering((4, 3), n_init=2, random_state=0).fit(weighted)
    assert_array_equal(model.row_labels_, plain.row_labels_)
    assert_array_equal(model.column_labels_, plain.column_labels_)
    assert model.cost_ == plain.cost_
    assert model.information_ == plain.information_
    assert_array_equal(model.predict(X), plain.predict(weighted))
    assert model.score(X) == plain.score(weighted)
    assert_array_equal(model.predict(new), plain.predict(by_hand.transform(new)))
    assert_array_equal(model.transform(new), plain.transform(by_hand.transform(new)))
    assert model.score(new) == plain.score(by_hand.transform(new))
    assert_array_equal(
        model.predict(columns, "columns"), plain.predict(by_hand.weigh_columns(columns), "columns")
    )


def test_what_loses_its_mass_belongs_nowhere(planted):
    with pytest.warns(UserWarning, match="14 of 60 rows and 1 of 40"):
        model = CoClustering((4, 3), weighting="bm25", random_state=0).fit(planted)
    assert model.column_labels_[11] == -1
    only_dropped = np.zeros((1, 40))
    only_dropped[0, 11] = 5
    assert_array_equal(model.predict(only_dropped), [-1])
    rare = np.zeros((60, 1))
    rare[3] = 8
    assert_array_equal(model.predict(rare, "columns"), [-1])


# --- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{"k1": -0.1}, {"b": 1.1}, {"min_df": 0.5}, {"min_df": 61}])
def test_bad_parameters_are_named(planted, parameters):
    weighting = Weighting(**parameters)
    for fit in (weighting.fit, CoClustering(2, weighting=weighting).fit):
        with refused(next(iter(parameters))):
            fit(planted)


def test_data_of_another_shape_are_refused(planted):
    weighting = Weighting().fit(planted)
    with refused("80", "40"):
        weighting.transform(np.hstack([planted, planted]))
    with refused("60 rows", "5"):
        weighting.weigh_columns(planted[:5])


@pytest.mark.parametrize("choice", ["bm25", "uniform"])
def test_sums_that_overflow_are_an_error(choice):
    with refused("X / X.max()"):
        Weighting(choice).fit(np.full((2, 2), 1e308))
