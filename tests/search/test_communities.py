"""Groups of the nodes of a network: the description, the moves, and what is found."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from helpers import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, xlogy
from sklearn.neighbors import kneighbors_graph

import comarkov
from comarkov import evaluate
from comarkov.io.read.fit_input import network_input
from comarkov.joint.joint import joint
from comarkov.search.run import Run, Seed
from comarkov.search.select import communities as module


def nats(W, labels):
    """The description of edges by groups, as in the docstring of the kernel."""
    n, groups, E = len(W), np.unique(labels), W.sum()
    member = (labels == groups[:, None]).astype(float)
    M = member @ W @ member.T
    a, b, m, size = M.sum(1), M.sum(0), np.diag(M), member.sum(1)
    e = a * b / E
    total = gammaln(a + 1) + gammaln(b + 1) - gammaln(a - m + 1) - gammaln(b - m + 1)
    total = total - gammaln(m + 1) - gammaln(size + 1)
    total += np.where(m < e, e - m + xlogy(m, np.divide(m, e, where=e > 0, out=np.ones_like(e))), 0)
    D, B = E - m.sum(), groups.size
    choices = gammaln(E + B + 1) - gammaln(B + 1) - gammaln(E + 1)
    choices += gammaln(n + B) - gammaln(B) - gammaln(n + 1)
    apart = 1 - ((a - m) * (b - m)).sum() / D**2 if D > 1e-9 else 1
    return total.sum() + choices + gammaln(D + 1) + D * np.log(apart)


@st.composite
def networks(draw):
    n = draw(st.integers(3, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    W = rng.gamma(1, size=(n, n)) * (rng.random((n, n)) < 0.5)
    W += np.roll(np.eye(n), 1, axis=1)
    W = W + W.T if draw(st.booleans()) else W
    return W, rng.integers(draw(st.integers(1, n)), size=n), rng


@pytest.mark.uncompiled
@given(networks())
@settings(max_examples=40, deadline=None)
def test_groups_shorten_the_description_and_no_single_move_is_left(case):
    W, labels, rng = case
    network = module._Network(module._nodes(sp.csr_array(W)))
    labels = np.unique(labels, return_inverse=True)[1]
    assert network.nats(labels) == pytest.approx(nats(W, labels), rel=1e-9)
    climbed, after = network.climb(labels, rng)
    assert after == pytest.approx(nats(W, climbed), rel=1e-9)
    assert after <= nats(W, labels) + 1e-6
    settled = network.settle(labels, rng)
    assert settled.saved == pytest.approx(nats(W, 0 * labels) - nats(W, settled.labels), abs=1e-6)
    if settled.labels.max() > 0:  # else the description of one group, which may be longer
        least = nats(W, settled.labels)
        for x, near in enumerate(W + W.T > 0):
            for r in np.unique(settled.labels[near]):
                moved = settled.labels.copy()
                moved[x] = r
                assert nats(W, moved) >= least - 1e-5


def test_more_evidence_is_the_same_edges_several_times():
    W = nx.to_numpy_array(nx.karate_club_graph())
    labels = np.arange(34) % 3
    twice = module._Network(module._nodes(sp.csr_array(W)), 2.0)
    assert twice.nats(labels) == pytest.approx(nats(2 * W, labels), rel=1e-12)


def found(graph, seed=0):
    data = network_input(graph).data
    return module.communities(joint(data.matrix), Run(0.5, Seed.of(seed)))


@pytest.mark.parametrize("is_directed", [False, True])
def test_planted_groups_are_found(is_directed):
    graph = nx.planted_partition_graph(8, 30, 0.3, 0.02, seed=0, directed=is_directed)
    groups = found(graph)
    assert evaluate.adjusted_rand_index(np.arange(240) // 30, groups.labels) > 0.98
    assert "8 groups" in groups.reason
    assert not groups.is_weak


def test_many_small_groups_are_not_merged():
    """Modularity merges cliques in a ring; their description does not."""
    groups = found(nx.ring_of_cliques(60, 8))
    assert groups.labels.max() == 59


def test_triangles_of_nearest_neighbours_do_not_divide_groups():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(8 * i, 1, (80, 5)) for i in range(5)])
    near = sp.csr_array(kneighbors_graph(points, 10))
    groups = found(near.maximum(near.T))
    assert np.array_equal(groups.labels, np.arange(400) // 80)


@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_have_one_group(seed):
    for graph in (
        nx.gnp_random_graph(200, 0.05, seed=seed),
        nx.barabasi_albert_graph(200, 4, seed),
    ):
        assert found(graph).labels.max() == 0


@pytest.mark.uncompiled
def test_weak_evidence_is_called_weak():
    karate = nx.karate_club_graph()
    club = [karate.nodes[node]["club"] == "Officer" for node in karate]
    groups = found(nx.to_scipy_sparse_array(karate, weight=None))
    assert evaluate.adjusted_rand_index(club, groups.labels) > 0.7
    assert "weak" in groups.reason


def test_communities_take_any_graph_and_name_their_groups():
    graph = nx.ring_of_cliques(4, 6)
    graph.add_node("alone")
    results = comarkov.communities(nx.relabel_nodes(graph, str))
    assert sorted(map(len, results.groups)) == [6, 6, 6, 6]
    assert "alone" in results.sentences[-1]
    edges = [(str(u), str(v)) for u, v in graph.edges]
    with pytest.warns(UserWarning, match="directed=True"):
        again = comarkov.communities(edges)
    assert {*map(frozenset, again.groups)} == {*map(frozenset, results.groups)}
    square = nx.to_scipy_sparse_array(graph)
    assert len(comarkov.communities(square).groups) == 4
    assert len(comarkov.communities(graph, 2).groups) == 2


def test_directions_are_known_detected_or_given():
    assert network_input(nx.DiGraph([("a", "b"), ("b", "c")])).is_directed
    one_way = comarkov.read([("a", "b", 2), ("b", "c", 1), ("c", "a", 1)])
    assert not network_input(one_way).is_directed
    directed = network_input(one_way, is_directed=True)
    assert directed.is_directed
    assert directed.data.matrix.nnz == 3
    some_both = comarkov.read([("a", "b", 2), ("b", "a", 1), ("c", "a", 1)])
    assert network_input(some_both).is_directed
    with refused("no name in common", "CoClustering"):
        network_input(comarkov.read([("ann", "tea", 2), ("bob", "rum", 1)]))


def test_numbers_are_chosen_for_several_types():
    rng = np.random.default_rng(0)
    users, items, tags = np.arange(60) % 3, np.arange(40) % 3, np.arange(30) % 3
    data = {
        ("user", "item"): rng.poisson(np.where(users[:, None] == items, 6, 0.5)),
        ("user", "tag"): rng.poisson(np.where(users[:, None] == tags, 6, 0.5)),
    }
    model = comarkov.MultiwayClustering("auto", random_state=0).fit(data)
    assert model.n_clusters_ == {"user": 3, "item": 3, "tag": 3}
    assert evaluate.adjusted_rand_index(users, model.labels_["user"]) == 1
    assert "user × item: " in model.selection_reason_


def test_senders_and_receivers_get_clusters_of_their_own_where_that_describes_edges_better():
    rng = np.random.default_rng(0)
    senders, receivers = (rng.permutation(np.arange(120) % k) for k in (3, 4))
    share = np.where(np.arange(12).reshape(3, 4) % 5 < 2, 0.25, 0.02)
    W = (rng.random((120, 120)) < share[senders[:, None], receivers]).astype(float)
    results = comarkov.communities(W, directed=True)
    for truth, (name, labels) in zip(
        (senders, receivers), results.fitted.labels_.items(), strict=True
    ):
        known = truth[results.fitted.names_[name].astype(int)]
        assert evaluate.adjusted_rand_index(known, labels) > 0.8
    assert list(comarkov.communities(W, directed=True, sides="one").titles) == ["node"]
    assert list(comarkov.communities(W, directed=False).titles) == ["node"]
    graph = nx.planted_partition_graph(4, 30, 0.3, 0.03, seed=0, directed=True)
    assert list(comarkov.communities(graph).titles) == ["node"]
    assert list(comarkov.communities(graph, 3, sides="two").titles) == ["sender", "receiver"]


def test_known_classes_of_nodes_are_compared_with_the_groups(tmp_path):
    graph = nx.karate_club_graph()
    (clubs,) = comarkov.communities(graph).agreements
    assert (clubs.title, clubs.counts.shape, clubs.counts.sum()) == ("club", (2, 2), 34)
    assert clubs.counts.max(axis=1).sum() == 33
    nx.write_gml(graph, tmp_path / "karate.gml")
    network = comarkov.read(tmp_path / "karate.gml", kind="network")
    (again,) = comarkov.communities(network).agreements
    assert (again.counts == clubs.counts).all()
    assert 0.8 < again.score < 1
    edges = ["from,to,club"] + [f"{u},{v},{graph.nodes[u]['club']}" for u, v in graph.edges]
    (tmp_path / "edges.csv").write_text("\n".join(edges))
    columns = {"rows": "from", "columns": "to", "row_classes": "club"}
    read = comarkov.read(tmp_path / "edges.csv", **columns)
    (partly,) = comarkov.communities(read, directed=False).agreements
    assert partly.counts.sum() == len({u for u, _ in graph.edges})


def test_weights_tell_senders_apart_where_all_nodes_are_linked():
    rng = np.random.default_rng(0)
    half = np.arange(12) // 6
    W = rng.poisson(np.where(half[:, None] == half, 90, 10)) + 1.0
    results = comarkov.communities(W, directed=True, sides="two")
    for labels in results.fitted.labels_.values():
        assert evaluate.adjusted_rand_index(half, labels) == 1
