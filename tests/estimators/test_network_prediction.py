"""New elements of one of several types: where the cost of the fit is least with them."""

import numpy as np
import pandas as pd
import pytest
from helpers import refused, relation_cost
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import comarkov
from comarkov import CoClustering, MultiwayClustering
from comarkov.costs.objective import co_clustering

TIE = 1e-11  # of costs in bits, which are sums of some hundred terms


@st.composite
def sparse_weights(draw, n, m):
    """Random weights with gaps; every row and every column has some."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    W = rng.integers(1, 9, (n, m)) * (rng.random((n, m)) < draw(st.sampled_from([0.4, 1.0])))
    W[np.arange(max(n, m)) % n, np.arange(max(n, m)) % m] += 1
    return W


UI, UT, UU = ("user", "item"), ("user", "tag"), ("user", "user")


def costs_with(model, data, new, kind):
    """The cost of the fit with one new element of a type in each cluster."""
    costs = np.zeros(model.labels_[kind].max() + 1)
    for key, row in new.items():
        axis = key.index(kind)
        W = np.vstack([data[key], row]) if axis == 0 else np.column_stack([data[key], row])
        coefficients = co_clustering(model.beta).times((model.weights or {}).get(key, 1.0))
        for a in range(costs.size):
            labels = [model.labels_[name] for name in key]
            labels[axis] = np.append(labels[axis], a)
            costs[a] += relation_cost(W, *labels, coefficients)
    return costs


@given(st.data(), st.sampled_from([0.2, 0.5, 0.7, 1.0]))
@settings(max_examples=20)
def test_a_new_element_goes_where_all_relations_cost_least(data, beta):
    X = {UI: data.draw(sparse_weights(6, 5)), UT: data.draw(sparse_weights(6, 4))}
    X[UU] = data.draw(sparse_weights(6, 6))
    weights = {UT: data.draw(st.sampled_from([0.5, 3.0]))}
    model = MultiwayClustering(2, weights=weights, beta=beta, n_init=1, random_state=0).fit(X)
    new = {key: data.draw(sparse_weights(3, W.shape[1])) for key, W in X.items()}
    new[UI] *= 50  # so much that the total of the relation matters
    for x, label in enumerate(model.predict(new, "user")):
        costs = costs_with(model, X, {key: W[x] for key, W in new.items()}, "user")
        assert costs[label] <= costs.min() + TIE
    items = data.draw(sparse_weights(3, 6))
    for row, label in zip(items, model.predict(items, "item"), strict=True):
        costs = costs_with(model, X, {UI: row}, "item")
        assert costs[label] <= costs.min() + TIE


def test_one_relation_predicts_as_co_clustering():
    rng = np.random.default_rng(1)
    W = rng.poisson(np.where(np.arange(20)[:, None] % 3 == np.arange(15) % 3, 3.0, 0.5))
    one = CoClustering(3, beta=0.6, random_state=0).fit(W)
    many = MultiwayClustering(3, beta=0.6, random_state=0).fit({UI: W})
    assert_array_equal(many.predict({UI: W}), one.predict(W))
    assert_array_equal(many.predict({UI[::-1]: W.T}), one.predict(W, "columns"))


def frames():
    ratings = pd.DataFrame(
        [[5, 4, 0, 0], [4, 5, 0, 1], [0, 0, 5, 3], [0, 1, 4, 5]],
        ["Ann", "Bob", "Cid", "Dan"],
        ["tea", "milk", "beer", "ale"],
    )
    tags = pd.DataFrame([[2, 0], [0, 3], [1, 2]], ["Ann", "Cid", "Eve"], ["calm", "loud"])
    return {UI: ratings, UT: tags}


@pytest.mark.parametrize("beta", [0.5, 0.8])
def test_elements_are_matched_by_name_and_stored_models_agree(tmp_path, beta):
    model = MultiwayClustering(2, beta=beta, random_state=0).fit(frames())
    calm, loud = model.labels_["user"][[0, 2]]
    new = {
        UI: pd.DataFrame([[3, 0], [0, 9]], ["Fay", "Gil"], ["milk", "beer"]),
        UT: pd.DataFrame([[1, 0], [0, 0]], ["Hal", "Ida"], ["loud", "calm"]),
    }
    model.save(tmp_path / "model")
    for each in (model, comarkov.load(tmp_path / "model")):
        assert_array_equal(each.predict(new), [calm, loud, loud, -1])
    sides = [side for part in model._models.values() for side in (part.rows, part.columns)]
    elements = {side.masses.shape[0] for side in sides}
    assert elements == ({2} if beta == 0.5 else {4, 5, 2})  # clusters are enough at 1/2


MISTAKES = [
    ({("user", "place"): [[1]]}, None, "('user', 'place')"),
    ({UI: [[1, 2]]}, None, "2 elements of type 'item'"),
    ({UI: [[1, 0, 0, 0]], UT: [[1, 0]]}, "item", "model.predict("),
    ([[1, 0, 0, 0]], "user", "model.predict({('user', 'item'): X}"),
    ([[1, 0, 0, 0]], "place", "'place'"),
    ({UI: [[1, 0, 0, 0]], UT: [[1, 0], [0, 1]]}, None, "1, 2"),
    ({}, None, "model.predict("),
]


@pytest.mark.parametrize(("X", "kind", "message"), MISTAKES)
def test_mistakes_get_a_call_that_works(X, kind, message):
    model = MultiwayClustering(2, random_state=0).fit(frames())
    with refused(message):
        model.predict(X, kind)


def test_confidence_adds_up_the_evidence_of_all_relations():
    rng = np.random.default_rng(0)
    topic = np.arange(30) % 3
    tables = {
        ("document", other): rng.poisson(np.where(topic[:, None] == np.arange(12) % 3, 4, 0.5))
        for other in ("word", "author")
    }
    model = MultiwayClustering(3, random_state=0).fit(tables)
    labels, sure = model.predict(tables, return_confidence=True)
    assert_array_equal(labels, model.predict(tables))
    alone = [model.predict({key: W}, return_confidence=True)[1] for key, W in tables.items()]
    assert sure.mean() > max(each.mean() for each in alone)
    mixed = {key: W[topic == 0][:1] + W[topic == 1][:1] for key, W in tables.items()}
    assert model.predict(mixed, return_confidence=True)[1][0] < sure.min()
    empty = {key: np.zeros((1, 12)) for key in tables}
    assert model.predict(empty, return_confidence=True) == ([-1], [0.0])
