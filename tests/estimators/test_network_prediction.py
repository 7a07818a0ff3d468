"""New elements of chains and of several types: where the cost of the fit is least with them."""

import numpy as np
import pandas as pd
import pytest
from helpers import refused, relation_cost
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

import comarkov
from comarkov import CoClustering, MarkovAggregation, MultiwayClustering
from comarkov.costs.objective import co_clustering, markov

TIE = 1e-11  # of costs in bits, which are sums of some hundred terms


@st.composite
def sparse_weights(draw, n, m):
    """Random weights with gaps; every row and every column has some."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    W = rng.integers(1, 9, (n, m)) * (rng.random((n, m)) < draw(st.sampled_from([0.4, 1.0])))
    W[np.arange(max(n, m)) % n, np.arange(max(n, m)) % m] += 1
    return W


# --- chains -------------------------------------------------------------------------------------


def chain_costs(model, P, row, beta):
    """L_β with a new state in each cluster, from which one in a million steps starts."""
    flow = model.stationary_distribution_[:, None] * P
    flow = np.vstack([flow, 1e-6 * row / row.sum()])
    k = model.n_clusters
    return np.array(
        [
            relation_cost(flow, np.append(model.labels_, a), model.labels_, markov(beta))
            for a in range(k)
        ]
    )


@given(st.data(), st.sampled_from([0.0, 0.3, 0.5, 0.8]))
@settings(max_examples=25)
def test_a_new_state_goes_where_the_chain_costs_least(data, beta):
    n = data.draw(st.integers(3, 7))
    W = data.draw(sparse_weights(n, n)) + np.roll(np.eye(n), 1, axis=1)
    P = W / W.sum(axis=1, keepdims=True)
    k = data.draw(st.integers(1, 3))
    model = MarkovAggregation(k, beta=beta, n_init=1, random_state=0).fit(P)
    new = data.draw(sparse_weights(4, n))
    labels, sure = model.predict(new, return_confidence=True)
    for row, label, confidence in zip(new, labels, sure, strict=True):
        costs = chain_costs(model, P, row, beta)
        assert costs[label] <= costs.min() + TIE
        nats = (costs - costs.min()) * np.log(2) / 1e-6 / (1 - beta)
        assert confidence == pytest.approx(softmax(-row.sum() * nats).max(), abs=1e-3)
        assert_allclose(chain_costs(model, P, row, 1.0) - chain_costs(model, P, row, 1.0)[0], 0)


WEATHER = pd.DataFrame(
    [[30, 10, 10, 50], [12, 30, 40, 8], [3, 50, 20, 27], [20, 15, 5, 60]],
    *(["fog", "rain", "storm", "sun"],) * 2,
)


def test_known_states_are_matched_by_name(tmp_path):
    model = MarkovAggregation(2, random_state=0).fit(WEATHER)
    new = WEATHER.iloc[[1, 3], ::-1].rename(index={"rain": "drizzle", "sun": "heat"})
    model.save(tmp_path / "model")
    stored = comarkov.load(tmp_path / "model")
    for each in (model, stored):
        assert_array_equal(each.predict(new), model.labels_[[1, 3]])
    with pytest.warns(UserWarning, match="hail"):
        labels, sure = model.predict(
            new.assign(hail=[0, 9]).drop(columns="fog"), return_confidence=True
        )
    assert_array_equal(labels, model.labels_[[1, 3]])
    nothing = pd.DataFrame({"fog": [0, 1]})
    labels, sure = model.predict(nothing, return_confidence=True)
    assert labels[0] == -1
    assert labels[1] >= 0
    assert sure[0] == 0 < sure[1]


def test_states_that_are_numbers_are_matched_with_text():
    model = MarkovAggregation(2, random_state=0).fit([0, 1, 0, 1, 1, 0, 2, 3, 2, 3, 2, 0, 1])
    row = np.array([[0, 0, 1, 5]])
    named = pd.DataFrame(row, columns=list("0123"))[list("3021")]
    assert model.predict(named) == model.predict(row) == model.labels_[2]


def test_states_outside_a_restricted_chain_do_not_count():
    chain = [["a", "b", "a", "b", "b", "a", "c", "d", "c", "d", "c", "a", "b"], ["b", "x"]]
    model = MarkovAggregation(2, restrict=True, random_state=0).fit(chain)
    assert model.labels_[model.states_.tolist().index("x")] == -1
    labels = model.predict(pd.DataFrame({"x": [5, 0, 5], "b": [0, 1, 1]}))
    assert labels[0] == -1
    assert labels[1] == labels[2] >= 0


def test_other_states_are_an_error_with_advice():
    model = MarkovAggregation(2, random_state=0).fit(["a", "b", "a", "c", "b", "c", "a"])
    with refused("3 states", "model.states_"):
        model.predict([[1, 2]])
    with refused("1 columns"):
        model.predict(pd.DataFrame({"z": [1]}))


# --- several types ------------------------------------------------------------------------------

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


@pytest.mark.parametrize("beta", [0.5, 0.6, 1.0])
def test_one_relation_predicts_as_co_clustering(beta):
    rng = np.random.default_rng(1)
    W = rng.poisson(np.where(np.arange(20)[:, None] % 3 == np.arange(15) % 3, 3.0, 0.5))
    one = CoClustering(3, beta=beta, random_state=0).fit(W)
    many = MultiwayClustering(3, beta=beta, random_state=0).fit({UI: W})
    new = rng.poisson(1.0, (30, 15))
    assert_array_equal(many.predict(new, "user"), one.predict(new))
    assert_array_equal(many.predict({UI: W}), many.labels_["user"])  # where no move lowers the cost
    assert_array_equal(many.predict({UI: W}, "item"), many.labels_["item"])
    assert_array_equal(many.predict({UI[::-1]: W.T}), many.labels_["item"])


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
