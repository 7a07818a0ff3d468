"""MultiwayClustering beyond the contract: co-clustering as its smallest case, its cost."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import counts_for, problems, refused, relation_cost, weights
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import comarkov
from comarkov import CoClustering, MultiwayClustering, evaluate
from comarkov.costs.objective import co_clustering

DW, DA, AW = ("documents", "words"), ("documents", "authors"), ("authors", "words")


def planted(seed=0, n=(60, 40, 20), k=3, signal=1.5):
    """Documents, words and authors in groups of their own kind."""
    rng = np.random.default_rng(seed)
    truth = [rng.permutation(np.arange(size) % k) for size in n]

    def counts(s, t):
        return rng.poisson(np.where(truth[s][:, None] == truth[t], signal, 0.3))

    X = {DW: counts(0, 1), DA: counts(0, 2), AW: counts(2, 1)}
    return X, dict(zip(("documents", "words", "authors"), truth, strict=True))


@pytest.fixture(scope="module")
def data():
    return planted()[0]


@pytest.fixture(scope="module")
def fitted(data):
    return MultiwayClustering(3, n_init=1, random_state=0).fit(data)


# --- its smallest case --------------------------------------------------------------------------


@given(problems(), st.sampled_from(["auto", "anneal", "sequential"]))
@settings(max_examples=60)
def test_one_relation_is_co_clustering(problem, method):
    """The same costs to the last digit and the same labels, by every method."""
    W, k, l, beta, seed = problem
    shared = {"method": method, "beta": beta, "n_init": 2, "random_state": seed}
    one = CoClustering((k, l), **shared).fit(W)
    many = MultiwayClustering({"a": k, "b": l}, **shared).fit({("a", "b"): W})
    assert_array_equal(many.labels_["a"], one.row_labels_)
    assert_array_equal(many.labels_["b"], one.column_labels_)
    assert many.cost_ == one.cost_
    assert many.information_["a", "b"] == one.information_
    assert many.n_iter_ == one.n_iter_


def test_elements_are_aligned_by_their_names(data):
    frames = {
        (s, t): pd.DataFrame(W).rename(
            index=lambda i, s=s: f"{s}{i}", columns=lambda i, t=t: f"{t}{i}"
        )
        for (s, t), W in data.items()
    }
    first, *others = frames
    shuffled = {first: frames[first]} | {
        key: frames[key].sample(frac=1, random_state=0).sample(frac=1, axis=1, random_state=1)
        for key in others
    }
    one, other = (
        MultiwayClustering(3, n_init=1, random_state=0).fit(X) for X in (frames, shuffled)
    )
    assert other.cost_ == pytest.approx(one.cost_, abs=1e-12)
    for name in first:
        assert_array_equal(other.labels_[name], one.labels_[name])
    wrong = frames[others[0]].rename(index=lambda name: name + "?", columns=lambda name: name + "?")
    with refused("two types"):
        MultiwayClustering(3).fit({first: frames[first], others[0]: wrong})


def test_named_elements_may_be_missing_in_some_relations():
    """They have no mass there, as if the relation had empty rows for them."""
    rng = np.random.default_rng(0)
    words = pd.DataFrame(rng.poisson(2, (6, 5)) + 1, list("abcdef"), list("vwxyz"))
    tags = pd.DataFrame(rng.poisson(2, (3, 4)) + 1, list("gca"), list("1234"))
    model = MultiwayClustering(2, random_state=0).fit({("d", "w"): words, ("d", "t"): tags})
    assert model.names_["d"].tolist() == list("abcdefg")
    full = [each.reindex(list("abcdefg"), fill_value=0) for each in (words, tags)]
    same = MultiwayClustering(2, random_state=0).fit({("d", "w"): full[0], ("d", "t"): full[1]})
    assert model.cost_ == same.cost_
    for name, labels in same.labels_.items():
        assert_array_equal(model.labels_[name], labels)


# --- its cost -----------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=40)
def test_the_cost_is_the_sum_over_relations(draws):
    first = draws.draw(weights(7, 6))
    rng = np.random.default_rng(draws.draw(st.integers(0, 99)))
    X = {("a", "b"): first, ("c", "a"): rng.poisson(1.0, (5, first.shape[0]))}
    X["c", "a"][0, 0] = 1
    X["b", "b"] = rng.poisson(1.0, (first.shape[1],) * 2) + np.eye(first.shape[1])
    k, _ = counts_for(draws.draw, first)
    beta = draws.draw(st.sampled_from([0.3, 0.5, 0.7]))
    share = {("a", "b"): 2.5, ("c", "a"): 0.5}
    counts = {"a": k, "b": 1, "c": 1}
    model = MultiwayClustering(counts, weights=share, beta=beta, n_init=1, random_state=0).fit(X)
    assert model.types_ == ["a", "b", "c"]
    total = 0.0
    for (s, t), W in X.items():
        asked = co_clustering(beta).times(share.get((s, t), 1.0))
        rows, columns = np.maximum(model.labels_[s], 0), np.maximum(model.labels_[t], 0)
        expected = relation_cost(W, rows, columns, asked)
        assert model.relation_costs_[s, t] == pytest.approx(expected, abs=1e-9)
        parts = comarkov.information(W, rows, columns)
        np.testing.assert_allclose(model.information_[s, t], parts, atol=1e-9)
        total += expected
    assert model.cost_ == pytest.approx(total, abs=1e-9)
    for name, count in counts.items():
        assert set(model.labels_[name]) - {-1} == set(range(count))


# --- what it finds ------------------------------------------------------------------------------


def test_a_relation_helps_and_its_weight_counts():
    """Authors tell what few words do not."""
    X, truth = planted(1, signal=0.55)
    X[DA] = planted(1)[0][DA]
    alone = CoClustering(3, beta=0.5, random_state=0).fit(X[DW]).row_labels_
    model = MultiwayClustering(3, random_state=0).fit({DW: X[DW], DA: X[DA]})
    scores = [
        evaluate.matching_accuracy(truth["documents"], labels)
        for labels in (alone, model.labels_["documents"])
    ]
    assert scores[1] > scores[0] + 0.1
    heavy = MultiwayClustering(3, weights={DW: 100.0}, random_state=0).fit({DW: X[DW], DA: X[DA]})
    assert heavy.relation_costs_[DW] < 100 * model.relation_costs_[DW]


def test_a_relation_of_a_type_to_itself():
    rng = np.random.default_rng(0)
    truth = np.arange(45) % 3
    cites = rng.poisson(np.where(truth[:, None] == (truth + 1) % 3, 1.0, 0.1))
    words = rng.poisson(np.where(truth[:, None] == np.arange(30) % 3, 1.0, 0.3))
    X = {("papers", "papers"): cites, ("papers", "words"): words}
    model = MultiwayClustering(3, random_state=0).fit(X)
    assert evaluate.matching_accuracy(truth, model.labels_["papers"]) == 1


# --- what it is given ---------------------------------------------------------------------------


def test_elements_without_mass_are_reported(data):
    X = {DW: data[DW].copy(), DA: data[DA].copy()}
    X[DW][4] = 0  # has authors
    X[DA][7] = X[DW][7] = 0
    X[DW][:, 5] = 0
    message = "1 of 60 documents and 1 of 40 words are empty"
    with pytest.warns(UserWarning, match=message) as caught:
        model = MultiwayClustering(3, random_state=0).fit(X)
    assert caught[0].filename == __file__
    assert_array_equal(np.flatnonzero(model.labels_["documents"] == -1), [7])
    assert_array_equal(np.flatnonzero(model.labels_["words"] == -1), [5])
    assert set(model.labels_["documents"]) == {-1, 0, 1, 2}


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 3)), "ndarray"),
        ({}, "dict of relations"),
        ({"documents": np.ones((3, 3))}, "pair of types"),
        ({("a", "b", "c"): np.ones((3, 3))}, "pair of types"),
        ({("a", "b"): -np.ones((3, 3))}, "('a', 'b'): Negative"),
        ({("a", "b"): np.zeros((3, 3))}, "('a', 'b')"),
        ({("a", "b"): np.ones((4, 3)), ("c", "a"): np.ones((4, 5))}, "4 in ('a', 'b')"),
        ({("a", "a"): np.ones((4, 3))}, "'a' has 3 elements"),
    ],
)
def test_bad_input_gets_a_clear_error(X, message):
    with refused(message):
        MultiwayClustering(2).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": {"documents": 3}}, "'words'"),
        ({"n_clusters": {"users": 3}}, "'users'"),
        ({"n_clusters": 21}, "at most 20"),
        ({"weights": {("words", "documents"): 2.0}}, "('words', 'documents')"),
        ({"weights": {DW: -1.0}}, "-1.0"),
        ({"fixed": {"authors": np.zeros(3, int)}}, "fixed 'authors' labels"),
    ],
)
def test_bad_parameters_get_a_clear_error(data, parameters, message):
    with refused(message):
        MultiwayClustering(**parameters).fit(data)


@pytest.mark.filterwarnings("ignore:Elements have no mass")
def test_large_sparse_relations_stay_sparse():
    """100,000 x 80,000 cells would take 64 GB."""
    rng = np.random.default_rng(0)
    places = rng.integers(100_000, size=300_000), rng.integers(80_000, size=300_000)
    W = sp.coo_array((np.ones(300_000), places), (100_000, 80_000))
    model = MultiwayClustering(3, method="sequential", max_iter=2, tol=1.0).fit({("a", "b"): W})
    assert set(model.labels_["b"]) == {-1, 0, 1, 2}
