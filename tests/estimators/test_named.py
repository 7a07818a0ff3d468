"""The contract of CoClustering, for every method that has a name."""

import pickle

import numpy as np
import pandas as pd
import pytest
from helpers import FORMATS, counts_for, weights
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import comarkov
from comarkov import AIB, IBCC, IDC, ITCC, SIB, CoClustering, IBDouble

ONE_SIDED = {
    "SIB": lambda k, l: SIB(k, random_state=0),
    "AIB": lambda k, l: AIB(k),
}
BOTH = {
    "ITCC": lambda k, l: ITCC((k, l), random_state=0),
    "IBDouble": lambda k, l: IBDouble((k, l)),
    "IDC": lambda k, l: IDC((k, l)),
    "IBCC": lambda k, l: IBCC((k, l)),
    "IBCC iterative": lambda k, l: IBCC((k, l), method="iterative", random_state=0),
    "batch": lambda k, l: CoClustering((k, l), method="batch", random_state=0),
}
NAMED = ONE_SIDED | BOTH


@pytest.fixture(scope="module")
def planted():
    """Counts with 4 x 3 blocks, a row and a column without mass."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(4, size=60), rng.integers(3, size=40)
    X = rng.poisson(rng.gamma(0.5, 2.0, size=(4, 3))[rows][:, columns])
    X[7] = 0
    X[:, 11] = 0
    return X


@pytest.fixture(params=NAMED.values(), ids=NAMED.keys())
def make(request):
    return request.param


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks_pass_without_exception(make, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    checks = list(estimator_checks_generator(make(2, 2), legacy=True))
    assert len(checks) > 40
    for estimator, check in checks:
        check(estimator)


def test_every_format_gives_the_same_answer(planted, make):
    first = make(4, 3).fit(planted)
    for read in FORMATS.values():
        model = make(4, 3).fit(read(planted))
        assert_array_equal(model.row_labels_, first.row_labels_)
        assert_array_equal(model.column_labels_, first.column_labels_)
        assert model.cost_ == first.cost_


@settings(max_examples=25)
@given(st.data(), st.sampled_from(list(NAMED)))
def test_labels_never_surprise(data, name):
    W = data.draw(weights())
    k, l = counts_for(data.draw, W)
    model = NAMED[name](k, l).fit(W)
    l = np.count_nonzero(W.sum(0)) if name in ONE_SIDED else l
    for labels, count, mass in (
        (model.row_labels_, k, W.sum(1)),
        (model.column_labels_, l, W.sum(0)),
    ):
        assert_array_equal(labels == -1, mass == 0)
        assert np.unique(labels[mass > 0]).size == count
    told = comarkov.information(W, model.row_labels_, model.column_labels_)
    assert_allclose(model.information_, told, atol=1e-10)
    assert_allclose(model.cost_, told.cost(model.beta_), atol=1e-10)


def test_threads_and_pickles_do_not_change_the_answer(planted, make):
    model = make(4, 3).fit(planted)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(planted), model.predict(planted))
    assert clone(model).get_params() == model.get_params()
    if "n_jobs" in model.get_params():
        one, two = (clone(model).set_params(n_jobs=n, n_init=5).fit(planted) for n in (1, 2))
        assert_array_equal(one.row_labels_, two.row_labels_)
        assert_array_equal(one.column_labels_, two.column_labels_)


def test_a_fit_is_a_model_like_any_other(planted, make):
    frame = pd.DataFrame(planted, columns=[f"c{i}" for i in range(40)])
    model = make(4, 3).fit(frame)
    assert_array_equal(model.predict(frame.iloc[:, ::-1]), model.predict(frame))
    assert_allclose(model.transform(frame).sum(axis=1), 1)
    assert set(model.row_labels_) == {-1, 0, 1, 2, 3}
    one_sided = model.hierarchy_.n_leaves[1] is None
    coarse = model.cut(2 if one_sided else (2, 2))
    assert set(coarse.row_labels_) == {-1, 0, 1}
    refined = model.cut(2 if one_sided else (2, 2), frame)
    assert refined.cost_ <= coarse.cost_ + 1e-12
    weighted = clone(model).set_params(weighting="bm25").fit(frame)
    assert weighted.weighting_.idf_.size == 40
    assert not hasattr(model, "beta_path") or type(model) is CoClustering


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((5, 5)), "no mass"),
        (-np.ones((5, 5)), "Negative values"),
        (np.full((5, 5), np.nan), "contains NaN"),
        (np.ones((3, 5)), "4 row clusters.*only 3 rows"),
    ],
)
def test_bad_input_gets_a_clear_error(make, X, message):
    with pytest.raises(ValueError, match=message):
        make(4, 3).fit(X)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SIB(0), "n_clusters"),
        (SIB((2, 2)), "n_clusters"),
        (ITCC(2, doublings=-1), "doublings"),
        (IBCC(2, method="magic"), "method"),
        (IDC(2, max_rounds=0), "max_rounds"),
    ],
)
def test_bad_parameters_get_a_clear_error(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(np.ones((4, 4)))


def test_names_stand_for_what_they_say(planted):
    """Each preset is CoClustering with the parameters that its docstring names."""
    sib = SIB(4, n_init=3, random_state=0).fit(planted)
    same = CoClustering((4, None), method="sequential", n_init=3, random_state=0).fit(planted)
    assert_array_equal(sib.row_labels_, same.row_labels_)
    for named, beta in (
        (ITCC((4, 3), doublings=0, random_state=0), 0.5),
        (IBCC((4, 3), method="iterative", random_state=0), 0.75),
    ):
        plain = CoClustering((4, 3), beta=beta, method="batch", random_state=0).fit(planted)
        assert_array_equal(named.fit(planted).row_labels_, plain.row_labels_)
        assert named.beta_ == beta


def test_sib_mostly_ends_below_aib(planted):
    sib = SIB(4, n_init=20, random_state=0).fit(planted)
    assert sib.cost_ <= AIB(4).fit(planted).cost_ + 1e-12
