"""Thinned halves are binomial, a path is optimal at every step, and stability chooses β."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import counts_for, refused, weights
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import comarkov
from comarkov import CoClustering
from comarkov.joint.inputs import as_csr
from comarkov.joint.scale import halves
from comarkov.search.progress import BETA, CLUSTERING, Monitor
from comarkov.search.progress import PATH as PATH_STAGE
from comarkov.search.select import beta as coupling
from comarkov.search.select import choose_numbers as selection
from comarkov.search.select.beta import GRID
from comarkov.search.state.coclusters import Step
from comarkov.search.state.starts import free_start


def planted(seed=0):
    """Counts with 4 x 3 blocks, a row and a column without mass."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(4, size=60), rng.integers(3, size=40)
    X = rng.poisson(rng.gamma(0.5, 2.0, size=(4, 3))[rows][:, columns])
    X[7] = 0
    X[:, 11] = 0
    return X


@pytest.fixture(scope="module", autouse=True)
def _few_repeats():
    """Enough to test, in a fraction of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coupling, "MIN_MAX_THINNINGS", (2, 3))
        yield


@pytest.fixture(scope="module")
def auto():
    return CoClustering((4, 3), beta="auto", random_state=0).fit(planted())


# --- thinning -------------------------------------------------------------------------------


@given(st.integers(0, 1000))
def test_halves_sum_to_the_counts(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.choice([0.3, 3.0, 300.0]), (7, 5))
    if not X.any():
        return
    first, second = halves(as_csr(X), rng)
    assert_array_equal((first + second).toarray(), X)
    for half in (first, second):
        assert (half.data > 0).all()
        assert (half.toarray() <= X).all()


def test_halves_are_binomial():
    X = sp.csr_array(np.tile([1, 2, 10, 1000], (4000, 1)))
    first, second = (half.toarray() for half in halves(X, np.random.default_rng(0)))
    n = X.toarray()[0]
    assert_allclose(first.mean(axis=0), n / 2, atol=4.5 * np.sqrt(n / 4 / 4000).max(), rtol=0.03)
    assert_allclose(first.var(axis=0), n / 4, rtol=0.1)
    assert_allclose(np.mean((first - n / 2) * (second - n / 2), axis=0), -n / 4, rtol=0.1)


def test_weights_are_thinned_to_their_effective_number():
    w = np.random.default_rng(0).gamma(0.5, size=(30, 20))
    wholes = []
    for seed in range(400):
        first, second = halves(as_csr(w), np.random.default_rng(seed))
        assert first.dtype.kind == second.dtype.kind == "i"
        wholes.append((first + second).toarray())
    effective = w.sum() ** 2 / (w**2).sum()
    assert np.mean(wholes, axis=0).sum() == pytest.approx(effective, rel=0.01)
    assert_allclose(np.mean(wholes, axis=0), w * effective / w.sum(), atol=0.12)
    assert np.max(np.var(wholes, axis=0)) <= 0.27  # rounding up or down, no more


# --- paths ----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.data())
def test_every_step_is_an_optimum_for_single_moves(data):
    W = data.draw(weights())
    k, l = counts_for(data.draw, W)
    betas = data.draw(st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0]), min_size=1))
    path = CoClustering((k, l), n_init=1, random_state=0).beta_path(W, betas)
    assert [step.beta for step in path] == sorted(set(betas), reverse=True)
    for step in path:
        assert set(step.row_labels) - {-1} == set(range(k))
        assert set(step.column_labels) - {-1} == set(range(l))
        cost = comarkov.cost(W, step.row_labels, step.column_labels, step.beta)
        assert step.cost == pytest.approx(cost, abs=1e-9)
        labels = step.row_labels
        sizes = np.bincount(labels[labels >= 0], minlength=k)
        for x in np.flatnonzero((labels >= 0) & (sizes[labels] > 1)):
            for a in range(k):
                moved = np.where(np.arange(labels.size) == x, a, labels)
                assert comarkov.cost(W, moved, step.column_labels, step.beta) >= cost - 1e-9


@pytest.mark.parametrize("has_numbers", [False, True])
def test_each_step_is_numbered_like_the_next_unless_the_user_did(has_numbers):
    labels, mass = np.array([0, 0, 1, 1, 2]), np.ones(5)
    orders = ([1, 2, 0], [2, 1, 0], [0, 2, 1])
    path = [Step(0.5, 0.0, np.array(order)[labels], labels) for order in orders]
    start = free_start(3, mass)
    rows = replace(start, labels=labels) if has_numbers else start
    coupling._number_alike(path, (rows, free_start(None, mass)))
    for step, order in zip(path, orders, strict=True):
        expected = order if has_numbers else orders[-1]
        assert_array_equal(step.row_labels, np.array(expected)[labels])
        assert_array_equal(step.column_labels, labels)


def test_a_path_sets_nothing_and_weighs_as_a_fit_does():
    X = planted()
    model = CoClustering((4, 3), weighting="log", random_state=0)
    path = model.beta_path(X, [0.7])
    assert not [name for name in vars(model) if name.endswith("_")]
    assert path[0].cost == pytest.approx(model.fit(X).cost_, abs=1e-9)
    assert_array_equal(path[0].row_labels, model.row_labels_)


def test_a_path_has_the_numbers_of_clusters_that_a_fit_chooses(monkeypatch):
    X = planted()
    chosen = CoClustering("auto", random_state=0).beta_path(X, [0.7])
    model = CoClustering("auto", random_state=0).fit(X)
    assert_array_equal(chosen[0].row_labels, model.row_labels_)
    asked = []
    true = selection.select
    monkeypatch.setattr(
        selection, "select", lambda *given, **more: asked.append(1) or true(*given, **more)
    )
    assert_array_equal(model.beta_path(X, [0.7])[0].row_labels, model.row_labels_)
    assert not asked  # the fit has chosen already, but only for its own data
    assert len(model.beta_path(X[:20], [0.7])[0].row_labels) == 20
    assert asked


@pytest.mark.parametrize("betas", [[], [1.2], [-0.1], [[0.5]], [np.nan], 0.5])
def test_bad_betas_get_a_clear_error(betas):
    with refused(repr(betas)):
        CoClustering(2).beta_path(np.eye(4), betas)


# --- selection ------------------------------------------------------------------------------


def test_the_evidence_is_a_table(auto):
    table = auto.beta_selection_
    assert_array_equal(table["beta"], GRID)
    assert table["chosen"].sum() == 1
    assert auto.beta_ == table["beta"][table["chosen"]][0]
    assert_allclose(table["agreement"], (table["rows"] + table["columns"]) / 2)
    assert_allclose(table["behind"], table["agreement"].max() - table["agreement"])
    tied = table["behind"] <= table["standard_error"]
    distance = np.abs(table["beta"] - 0.7)
    assert distance[table["chosen"]][0] == distance[tied].min()
    frame = pd.DataFrame(table)
    assert frame.columns.tolist() == list(table.dtype.names)


def test_the_fit_is_that_of_the_chosen_beta(auto):
    X = planted()
    same = CoClustering((4, 3), beta=auto.beta_, random_state=0).fit(X)
    assert same.beta_ == auto.beta_
    assert_array_equal(same.row_labels_, auto.row_labels_)
    assert same.cost_ == auto.cost_
    assert auto.score(X) == same.score(X)
    assert_array_equal(auto.transform(X), same.transform(X))
    auto = CoClustering((4, 3), beta="auto", random_state=0).fit(X)
    assert not hasattr(auto.set_params(beta=0.7).fit(X), "beta_selection_")


def test_ties_go_to_the_default():
    blocks = np.kron(np.eye(3), np.full((5, 5), 9))
    model = CoClustering(3, beta="auto", random_state=0).fit(blocks)
    assert_allclose(model.beta_selection_["agreement"], 1)
    assert model.beta_ == 0.7
    one_sided = CoClustering((4, None), beta="auto", random_state=0).fit(planted())
    assert one_sided.beta_ == 0.7


def test_a_clear_best_is_taken_and_its_equals_are_not_forgotten():
    values = np.full((4, len(GRID), 2), 0.2)
    values[:, 0] = 0.9
    assert coupling._conclusion(values)["chosen"].tolist() == [True] + [False] * 8
    values[:, 1, 0] = [0.99, 0.8, 0.95, 0.8]  # behind by less than its standard error
    values[:, 1, 1] = 0.9
    assert coupling._conclusion(values)["chosen"].tolist() == [False, True] + [False] * 7
    nothing = coupling._conclusion(np.empty((0, len(GRID), 2)))
    assert nothing["beta"][nothing["chosen"]] == [0.7]


def test_a_value_that_agrees_less_than_the_default_and_less_surely_never_wins():
    values = np.full((4, len(GRID), 2), 0.2)
    default, next_to_it, best = (GRID.index(beta) for beta in (0.7, 0.65, 0.6))
    values[:, best] = 0.91
    values[:, default] = 0.9049
    values[:, next_to_it] = np.array([0.85, 0.95, 0.92, 0.8908])[:, None]
    table = coupling._conclusion(values)
    assert table["agreement"][next_to_it] < table["agreement"][default]
    assert table["behind"][next_to_it] < table["standard_error"][next_to_it]
    assert table["beta"][table["chosen"]] == [0.6]


def test_too_few_column_clusters_ask_for_a_large_beta():
    """Eight groups of rows that two column clusters cannot tell apart."""
    rng = np.random.default_rng(0)
    truth, columns = rng.integers(8, size=150), rng.integers(8, size=120)
    X = rng.poisson(np.where(truth[:, None] == columns, 1.5, 0.3))
    model = CoClustering((8, 2), beta="auto", random_state=0).fit(X)
    assert model.beta_ >= 0.6
    rows = model.beta_selection_["rows"]
    assert rows[:5].min() > 0.3
    assert rows[-1] < 0.1
    assert comarkov.evaluate.matching_accuracy(truth, model.row_labels_) > 0.99


def test_weighting_comes_after_thinning(monkeypatch, auto):
    seen = []
    true = coupling.halves
    monkeypatch.setattr(coupling, "halves", lambda X, rng: seen.append(X.copy()) or true(X, rng))
    X = planted()
    model = CoClustering((4, 3), beta="auto", weighting="bm25", random_state=0).fit(X)
    assert_array_equal(seen[0].toarray(), X)
    assert (model.beta_selection_["agreement"] != auto.beta_selection_["agreement"]).any()


def test_halves_that_are_too_small_are_an_error():
    for k, weighting, W in ((4, None, 3 * np.eye(4)), (2, "bm25", np.tile(np.eye(2), 2).T)):
        with refused("half"):
            CoClustering(k, beta="auto", weighting=weighting, random_state=1).fit(W)


def test_no_time_means_the_default():
    with pytest.warns(ConvergenceWarning):
        model = CoClustering((4, 3), beta="auto", max_time=1e-9, random_state=0).fit(planted())
    assert model.beta_ == 0.7
    assert np.isnan(model.beta_selection_["agreement"]).all()


def test_when_half_of_the_time_is_over_no_further_thinning_begins(monkeypatch):
    """The first one always does: without it there would be no evidence at all."""
    monkeypatch.setattr(Monitor, "is_late", lambda _, share: share == 0.5)
    begun = []
    true = coupling.halves
    monkeypatch.setattr(coupling, "halves", lambda X, rng: begun.append(1) or true(X, rng))
    table = CoClustering((4, 3), beta="auto", random_state=0).fit(planted()).beta_selection_
    assert begun == [1]
    assert np.isfinite(table["agreement"]).all()
    assert np.isnan(table["standard_error"]).all()


@pytest.mark.parametrize("stage", [BETA, PATH_STAGE])
def test_the_bar_ends_when_all_is_done(stage, monkeypatch):
    done, parts = [], []
    advance, watch = Monitor.advance, Monitor.watch

    def counted(monitor, number=1.0):
        done.append(number)
        advance(monitor, number)

    @contextmanager
    def watched(monitor, number, named=CLUSTERING):
        with watch(monitor, number, named):
            yield
        if named == stage:
            parts.append((number, sum(done)))

    monkeypatch.setattr(Monitor, "advance", counted)
    monkeypatch.setattr(Monitor, "watch", watched)
    if stage == BETA:
        CoClustering((4, 3), beta="auto", random_state=0).fit(planted())
    else:
        CoClustering((4, 3), n_init=3, random_state=0).beta_path(planted(), [0.9, 0.7])
    expected, counted_parts = parts[-1]
    assert counted_parts == expected
