"""MarkovAggregation beyond the contract: its costs, what it finds, what it is given."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import lumpable, refused, relation_cost
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import ArpackNoConvergence

import comarkov
from comarkov import MarkovAggregation, evaluate
from comarkov.costs.objective import markov
from comarkov.joint.joint import joint
from comarkov.search.state import network_problem


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    labels = np.arange(30) % 3
    return rng.poisson(np.where(labels[:, None] == (labels + 1) % 3, 6.0, 0.5))


@pytest.fixture(scope="module")
def fitted(counts):
    return MarkovAggregation(3, n_init=1, random_state=0).fit(counts)


# --- what it costs ------------------------------------------------------------------------------


@st.composite
def chains(draw):
    """A random chain with loops and gaps, a number of clusters, β and a seed."""
    n = draw(st.integers(2, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    W = rng.gamma(0.5, size=(n, n)) * (rng.random((n, n)) < draw(st.sampled_from([0.3, 1.0])))
    W += np.roll(np.eye(n), 1, axis=1) * draw(st.sampled_from([0.01, 1.0]))
    k, beta = draw(st.integers(1, n)), draw(st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
    return W / W.sum(1, keepdims=True), k, beta, draw(st.integers(0, 99))


@given(chains(), st.sampled_from(["auto", "anneal", "sequential"]))
@settings(max_examples=40)
def test_attributes_are_what_they_are_called(case, method):
    P, k, beta, seed = case
    sweeps = {} if method == "auto" else {"tol": 0}
    model = MarkovAggregation(k, beta, method=method, n_init=1, random_state=seed, **sweeps).fit(P)
    mu, labels = model.stationary_distribution_, model.labels_
    assert_allclose(mu @ P, mu, atol=1e-12)
    assert set(labels) == set(range(k))
    W = mu[:, None] * P
    for value, asked in (
        (model.cost_, beta),
        (model.prediction_loss_, 1.0),
        (model.lumpability_loss_, 0.0),
    ):
        assert value == pytest.approx(relation_cost(W, labels, labels, markov(asked)), abs=1e-10)
    parts = comarkov.information(W, labels, labels)
    assert_allclose(model.information_, parts, atol=1e-10)
    both = beta * model.prediction_loss_ + (1 - beta) * model.lumpability_loss_
    assert model.cost_ == pytest.approx(both, abs=1e-10)
    member = labels == np.arange(k)[:, None]
    assert_allclose(model.cluster_distribution_, member @ mu)
    assert (np.diff(model.cluster_distribution_) <= 1e-12).all()
    assert_allclose(model.transition_matrix_, (member @ W @ member.T) / (member @ mu)[:, None])
    assert model.lumpability_.holds(1e-6) == (onto_spread(P, member) <= 1e-6)
    assert model.lumpability_.violation == pytest.approx(onto_spread(P, member), abs=1e-12)


def onto_spread(P, member):
    onto = P @ member.T
    return max(np.ptp(onto[part], axis=0).max() for part in member)


# --- what it finds ------------------------------------------------------------------------------


TWO = np.array([[0.7, 0.3], [0.4, 0.6]])


@pytest.mark.parametrize(
    ("k", "beta", "concentration", "Q", "seeds"),
    [
        (2, 0.0, 1.0, TWO, 6),
        (2, 0.3, 1.0, TWO, 4),
        (3, 0.0, 0.1, None, 8),
        (4, 0.0, 0.3, None, 4),
        (4, 0.0, 1.0, None, 4),
        (4, 0.3, 1.0, None, 4),
    ],
)
def test_lumpable_chains_are_found(k, beta, concentration, Q, seeds):
    for seed in range(seeds):
        P, labels, Q = lumpable(seed, 10 * k, k, concentration, Q if k == 2 else None)
        model = MarkovAggregation(k, beta=beta, random_state=seed).fit(P)
        assert evaluate.matching_accuracy(labels, model.labels_) == 1
        assert model.lumpability_loss_ < 1e-12
        assert model.lumpability_.holds()
        assert model.information_.row_clusters_column_clusters > 0.005  # not by saying nothing
        match = [model.labels_[labels == a][0] for a in range(k)]
        assert_allclose(model.transition_matrix_[np.ix_(match, match)], Q, atol=1e-10)


@pytest.mark.parametrize("n", [60, 600])  # all eigenvectors, or the leading ones
def test_eigenvectors_tell_lumpable_chains(n, monkeypatch):
    for k in (2, 3, 5):
        P, labels, _ = lumpable(k, n, k)
        result = network_problem.lumped(joint(P), k, np.random.default_rng(0))
        assert evaluate.matching_accuracy(labels, result) == 1
    assert network_problem.lumped(joint(P), 1, np.random.default_rng(0)) is None

    def fail(*arguments, **options):
        raise ArpackNoConvergence("no", [], [])

    monkeypatch.setattr(network_problem, "eigs", fail)
    assert (network_problem.lumped(joint(P), k, np.random.default_rng(0)) is None) == (n > 500)


# --- what it is given ---------------------------------------------------------------------------


def test_counts_and_probabilities_are_one_chain(counts, fitted):
    P = counts / counts.sum(1, keepdims=True)
    for X in (P, sp.csc_array(P), 7 * P, pd.DataFrame(P)):
        model = MarkovAggregation(3, random_state=0).fit(X)
        assert_array_equal(model.labels_, fitted.labels_)
        assert model.cost_ == pytest.approx(fitted.cost_, abs=1e-12)


def test_states_have_their_names(counts):
    names = [f"s{i}" for i in range(30)]
    model = MarkovAggregation(3, random_state=0).fit(pd.DataFrame(counts, columns=names))
    assert_array_equal(model.states_, names)
    assert_array_equal(model.feature_names_in_, names)
    model = MarkovAggregation(2, random_state=0).fit(list("abababcbcbabab"))
    assert_array_equal(model.states_, ["a", "b", "c"])
    assert_array_equal(model.labels_, [0, 1, 0])  # both have half of the weight: a comes first
    assert model.fit_predict(list("abababcbcbabab")).tolist() == [0, 1, 0]


def test_states_outside_get_no_label(counts):
    P = np.zeros((33, 33))
    P[:30, :30] = counts
    P[30, 0] = P[31, 31] = 1  # left for good; alone; nothing
    whole = MarkovAggregation(3, random_state=0).fit(P)
    assert whole.origin_ == "observed"
    assert whole.labels_[32] == -1
    assert (whole.labels_[:32] >= 0).all()
    model = MarkovAggregation(3, restrict=True, random_state=0).fit(P)
    whole = MarkovAggregation(3, random_state=0).fit(counts)
    assert_array_equal(model.labels_, [*whole.labels_, -1, -1, -1])
    with refused("at most 30"):
        MarkovAggregation(31, restrict=True).fit(P)
    assert_array_equal(model.stationary_distribution_[30:], 0)
    assert model.cost_ == whole.cost_


def metastable(sizes, stay, is_reversible, seed):
    """A chain that leaves the set of its state with probability 1 - stay, at most."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    W = rng.gamma(0.5, size=(truth.size, truth.size))
    if is_reversible:
        W = W + W.T
        share = np.minimum.outer(sizes, sizes) * (1 - stay) / (len(sizes) - 1)
        np.fill_diagonal(share, np.array(sizes) * stay)
        member = truth == np.arange(len(sizes))[:, None]
        W = W * (share / (member @ W @ member.T))[truth[:, None], truth]
    else:
        inside = truth[:, None] == truth
        for part, mass in ((inside, stay), (~inside, 1 - stay)):
            W[part] = (mass * W * part / (W * part).sum(axis=1, keepdims=True))[part]
    return W / W.sum(axis=1, keepdims=True), truth


@pytest.mark.parametrize("sizes", [(60, 5, 5, 5), (15, 15, 15), (40, 20, 10, 5)])
@pytest.mark.parametrize("is_reversible", [True, False])
def test_metastable_sets_are_found_without_options(sizes, is_reversible):
    P, truth = metastable(sizes, 0.97, is_reversible, 0)
    model = MarkovAggregation(random_state=0).fit(P)
    assert evaluate.adjusted_rand_index(truth, model.labels_) > 0.98
    assert model.selection_["clusters"][model.selection_["chosen"]] == len(sizes)
    assert str(len(sizes)) in model.selection_reason_


def test_a_small_beta_is_chosen_where_one_half_fails():
    x = np.linspace(0, 4, 120, endpoint=False) + 1 / 60
    energy = 2.5 * (1 + np.cos(2 * np.pi * x)) - 0.6 * np.floor(x)  # four wells of unequal depth
    up = np.minimum(1, np.exp(energy[:-1] - energy[1:])) / 2
    down = np.minimum(1, np.exp(energy[1:] - energy[:-1])) / 2
    P = np.diag(up, 1) + np.diag(down, -1)
    P += np.diag(1 - P.sum(axis=1))
    model = MarkovAggregation(4, random_state=0).fit(P)
    assert model.beta_ == 0.2
    assert evaluate.adjusted_rand_index(np.floor(x).astype(int), model.labels_) == 1
    assert model.cost_ == pytest.approx(
        0.2 * model.prediction_loss_ + 0.8 * model.lumpability_loss_
    )


def test_the_chain_of_clusters_can_be_used():
    P, _ = metastable((10, 10), 0.9, False, 3)
    frame = pd.DataFrame(P, columns=[f"s{i}" for i in range(20)])
    model = MarkovAggregation(2, random_state=0).fit(frame)
    chain, here = model.chain_, model.labels_[0]
    assert chain.predict_next("s0", 3) == pytest.approx(
        np.linalg.matrix_power(model.transition_matrix_, 3)[here]
    )
    walk = chain.simulate(5000, "s0", random_state=0)
    assert walk[0] == here
    stays = (walk[1:] == walk[:-1])[walk[:-1] == here].mean()
    assert stays == pytest.approx(model.transition_matrix_[here, here], abs=0.03)
    assert chain.time_scales() == pytest.approx(
        -1 / np.log(np.linalg.eigvals(model.transition_matrix_).min())
    )
    with refused("no state 'x'"):
        chain.predict_next("x")


def test_a_graph_is_a_random_walk():
    graph = nx.karate_club_graph()
    model = MarkovAggregation(2, random_state=0).fit(graph)
    club = [graph.nodes[node]["club"] == "Officer" for node in graph]
    assert evaluate.adjusted_rand_index(club, model.labels_) > 0.8
    degree = np.array([each for _, each in graph.degree(weight="weight")])
    assert_allclose(model.stationary_distribution_, degree / degree.sum())


@pytest.mark.parametrize("beta", [0.0, 0.3, 0.5, 1.0])
def test_walks_on_a_graph_in_parts_cost_half_of_the_co_clustering(beta):
    W = sp.block_diag(
        [np.random.default_rng(0).poisson(2.0, (5, 4)) + 1, np.ones((3, 3))]
    ).toarray()
    rows, columns = np.array([0, 0, 1, 1, 1, 0, 2, 2]), np.array([0, 1, 1, 0, 1, 0, 1])
    walk = np.block([[np.zeros((8, 8)), W], [W.T, np.zeros((7, 7))]])
    model = MarkovAggregation(5, beta, fixed=np.concatenate([rows, columns + 3])).fit(0.3 * walk)
    assert 2 * model.cost_ == pytest.approx(comarkov.cost(W, rows, columns, beta), abs=1e-12)


def test_the_stationary_distribution_of_a_chain_in_parts_can_be_given():
    P = np.array([[0.9, 0.1, 0, 0], [0.3, 0.7, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1]])
    model = MarkovAggregation(2, 0.5, stationary=[3, 1, 0, 4]).fit(P)
    assert model.origin_ == "given"
    np.testing.assert_allclose(model.stationary_distribution_, [0.375, 0.125, 0, 0.5])
    assert model.labels_[2] == -1
    assert model.labels_[0] == model.labels_[1] != model.labels_[3]
    flow, labels = np.diag([0.375, 0.125, 0, 0.5]) @ P, [0, 0, 0, 1]
    assert model.cost_ == pytest.approx(relation_cost(flow, labels, labels, markov(0.5)))


@pytest.mark.parametrize(
    ("start", "word"),
    [([0.5, 0.1, 0.4], "from 0.5 to 0.3"), ([1, 1], "3 states"), ([-1, 1, 1], "3 states")],
)
def test_a_start_that_is_not_stationary_is_an_error(start, word):
    P = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])
    with refused(word):
        MarkovAggregation(2, stationary=start).fit(P)
    with refused("restrict"):
        MarkovAggregation(2, stationary=[1, 1, 0], restrict=True).fit(P)


def test_visits_that_restart_are_a_stationary_chain():
    visits = [list("abcab"), list("abde"), list("abcde")] * 3
    model = MarkovAggregation(2, ends="restart", random_state=0).fit(visits)
    assert (MarkovAggregation(2, random_state=0).fit(visits).origin_, model.origin_) == (
        "observed",
        "stationary",
    )
    joined = [visit + visit[:1] for visit in visits]
    again = MarkovAggregation(2, random_state=0).fit(joined)
    assert_array_equal(model.labels_, again.labels_)
    assert model.cost_ == again.cost_
    results = model.results(visits)
    assert results.data.matrix.sum() == sum(map(len, visits))


def test_lumpable_chains_keep_the_slowest_process():
    rng = np.random.default_rng(0)
    inside = rng.dirichlet(np.ones(5), size=(10, 2))
    stay = np.array([[0.97, 0.03], [0.01, 0.99]])[np.arange(10) // 5]
    P = (inside * stay[..., None]).reshape(10, 10)
    model = MarkovAggregation(2, random_state=0).fit(P)
    assert model.lumpability_.holds()
    assert model.time_scales_ == pytest.approx(model.chain_.time_scales())
    assert model.time_scales_[0] == pytest.approx(-1 / np.log(0.96))
    slow = MarkovAggregation(2, kind="rates", random_state=0).fit((P - np.eye(10)) / 60)
    assert slow.time_scales_[0] / 60 == pytest.approx(-1 / np.log(0.96), rel=0.05)


def test_rates_do_not_look_like_going_back_and_forth():
    """Two fast pairs of states; seen at the pace of the fastest, each pair would alternate."""
    Q = np.array([[-1, 0.9, 0.1, 0], [0.9, -1, 0, 0.1], [0.01, 0, -1, 0.99], [0, 0.01, 0.99, -1]])
    model = MarkovAggregation(2, kind="rates", random_state=0).fit(Q)
    assert model.labels_.tolist() == [1, 1, 0, 0]
    assert model.time_scales_[0] == pytest.approx(model.chain_.time_scales()[0])
    assert model.time_scales_[0] == pytest.approx(1 / 0.11, rel=0.05)
    assert model.chain_.holding_times() == pytest.approx([1 / 0.01, 1 / 0.1], rel=1e-6)


def test_a_chain_of_clusters_that_alternates_never_forgets():
    model = MarkovAggregation(2, random_state=0).fit(np.roll(np.eye(4), 1, axis=1))
    assert model.chain_.time_scales()[0] == np.inf
