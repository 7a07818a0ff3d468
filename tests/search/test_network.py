"""The family: one cost of a relation, and moves that keep their promises in any network."""

import numpy as np
import pytest
from helpers import problems, relation_cost, run_at, started
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import comarkov
from comarkov.costs.objective import Coefficients, co_clustering, markov
from comarkov.joint.joint import joint
from comarkov.kernels import network as moves
from comarkov.kernels.compiling import kernel
from comarkov.search.optimise.refine import polish
from comarkov.search.progress import Monitor
from comarkov.search.state.network_state import Graph, Network, WeightedRelation, network
from comarkov.search.state.starts import free_start

BOTTLENECK = Coefficients(1.0, 0.0, 0.0)


@kernel()
def costs_of(x, star, partition, table, blocks, cross):
    """The cost of element x in every cluster, after removing it from its own."""
    weight, total = np.empty(cross.shape[1]), np.empty(partition.size.size)
    home = partition.label[x]
    moves._read_items(x, home, star, table, cross, weight)
    moves._change_blocks(x, home, False, star, blocks, weight)
    moves._cost_all(x, home, 0, star, table, blocks, weight, total)
    moves._change_blocks(x, home, True, star, blocks, weight)
    return total


@given(problems())
def test_co_clustering_is_a_row_of_the_table(problem):
    W, k, l, beta, seed = problem
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(k, size=W.shape[0]), rng.integers(l, size=W.shape[1])
    ours = relation_cost(W, rows, columns, co_clustering(beta))
    assert ours == pytest.approx(comarkov.cost(W, rows, columns, beta), abs=1e-10)
    parts = comarkov.information(W, rows, columns)
    assert co_clustering(beta).cost(parts) == pytest.approx(parts.cost(beta), abs=1e-12)
    lost = parts.rows_columns - parts.row_clusters_columns
    assert relation_cost(W, rows, columns, BOTTLENECK) == pytest.approx(lost, abs=1e-10)
    for asked in (BOTTLENECK, markov(beta), Coefficients(0.3, -0.2, 0.5)):
        turned = relation_cost(W.T, columns, rows, asked.transposed)
        assert relation_cost(W, rows, columns, asked) == pytest.approx(turned, abs=1e-10)
        expected = relation_cost(W, rows, columns, asked)
        assert asked.cost(parts) == pytest.approx(max(expected, 0), abs=1e-10)


# --- moves and merges in networks ---------------------------------------------------------------


@st.composite
def networks(draw):
    """Two types or one, with relations between them and to themselves, loops and gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(3, 7)), draw(st.integers(2, 5))
    weight = draw(st.sampled_from([0.7, 1.0]))

    def matrix(*shape):
        W = rng.gamma(0.5, size=shape) if draw(st.booleans()) else rng.poisson(1.0, shape) * 1.0
        W *= rng.random(shape) < draw(st.sampled_from([0.4, 1.0]))
        W[0, 0] += 1
        return joint(W)

    every = [
        WeightedRelation(0, 0, matrix(n, n), markov),
        WeightedRelation(0, 1, matrix(n, m), lambda beta: co_clustering(beta).times(weight)),
        WeightedRelation(1, 1, matrix(m, m), lambda beta: Coefficients(0.3, -0.2, 0.5)),
        WeightedRelation(1, 0, matrix(m, n), lambda beta: BOTTLENECK),
        WeightedRelation(0, 0, matrix(n, n), lambda beta: Coefficients(0.2, 0.1, beta)),
    ]
    chosen = draw(st.sampled_from([(0,), (0, 4), (1,), (1, 3), (0, 1, 2), (0, 1, 2, 3, 4)]))
    n_types = 1 if set(chosen) <= {0, 4} else 2
    graph = Graph(tuple(every[i] for i in chosen), n_types)
    has_mass = [weight > 0 for weight in graph.weights]
    counts = [min(k, present.sum()) for k, present in zip((3, 2), has_mass, strict=False)]
    labels = [np.zeros(present.size, int) for present in has_mass]
    for label, present, k in zip(labels, has_mass, counts, strict=True):
        label[present] = rng.permutation(np.arange(present.sum()) % k)
    starts = [free_start(k, weight) for k, weight in zip(counts, graph.weights, strict=True)]
    beta = draw(st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0]))
    return network(graph, starts, labels), labels, beta


def oracle(graph, labels, beta):
    return sum(
        relation_cost(data, labels[source], labels[target], asked(beta))
        for source, target, data, asked in graph.relations
    )


def with_label(labels, t, x, a):
    changed = [label.copy() for label in labels]
    changed[t][x] = a
    return changed


@given(networks())
@settings(max_examples=60)
def test_moves_and_merges_cost_what_they_promise(case):
    state, labels, beta = case
    graph = state.graph
    before = oracle(graph, labels, beta)
    parts = sum(
        asked(beta).cost(state.information(e)) for e, (*_, asked) in enumerate(graph.relations)
    )
    assert state.cost(beta) == pytest.approx(parts, abs=1e-10)
    for t in range(graph.n_types):
        star, blocks, cross = state._surroundings(t, beta)
        side = state.every_side()[t]
        for x in state.starts[t].free:
            costs = costs_of(x, star, state.partitions[t], state.tables[t], blocks, cross)
            promised = (costs - costs[labels[t][x]]) / np.log(2)
            for a in range(side.k):
                after = oracle(graph, with_label(labels, t, x, a), beta)
                assert promised[a] == pytest.approx(after - before, abs=1e-11)
        promised = state.merge_costs(side, beta)
        assert np.isinf(promised[np.tril_indices(side.k)]).all()
        for i, j in np.argwhere(np.isfinite(promised)):
            merged = state.merged(side, j, i)
            one = [label.copy() for label in labels]
            one[t][one[t] == j] = i
            assert promised[i, j] == pytest.approx(oracle(graph, one, beta) - before, abs=1e-11)
            assert merged.every_side()[t].k == side.k - 1


@given(networks())
@settings(max_examples=60)
def test_sweeps_save_what_they_say_and_keep_their_tables(case):
    state, _, beta = case
    cost = sum_of_losses(state, beta)
    for t in (*range(state.graph.n_types), 0):
        visit = state.sweep(state.every_side()[t], run_at(beta))
        now = sum_of_losses(state, beta)
        assert visit.complete
        assert visit.saved >= 0
        assert cost - now == pytest.approx(visit.saved, abs=1e-11)
        cost = now
        label, size, _ = state.partitions[t]
        assert_array_equal(np.bincount(label[label >= 0], minlength=size.size), size)
        assert size.min() > 0
        again = state.copy()
        np.testing.assert_allclose(state.tables[t].mass, again.tables[t].mass, atol=1e-12)


def sum_of_losses(state, beta):
    return oracle(state.graph, [partition.label for partition in state.partitions], beta)


@given(networks(), st.integers(0, 99))
@settings(max_examples=60)
def test_a_split_saves_what_it_promises(case, seed):
    state, labels, beta = case
    side = state.every_side()[0]
    for cluster, (gain, leavers) in enumerate(state.splits(side, run_at(beta, seed))):
        assert_array_equal(state.partitions[0].label[leavers], cluster)
        if leavers.size:
            after = [labels[0].copy(), *labels[1:]]
            after[0][leavers] = side.k
            more = free_start(side.k + 1, state.graph.weights[0])
            finer = network(state.graph, [more, *state.starts[1:]], after)
            assert gain == pytest.approx(state.cost(beta) - finer.cost(beta), abs=1e-11)


def test_a_polish_out_of_time_splits_no_further(monkeypatch):
    data = joint(np.random.default_rng(0).poisson(1.0, (40, 40)))
    labels = np.arange(40) % 5
    graph = Graph((WeightedRelation(0, 0, data, markov),), 1)
    state = network(graph, [free_start(5, graph.weights[0])], [labels])
    monitor, split, made = Monitor(), Network._split, []
    monkeypatch.setattr(Network, "_split", lambda *a: made.append(1) or split(*a))
    monkeypatch.setattr(monitor, "stop", lambda: len(made) == 2)
    polish(state, run_at(0.5, monitor=monitor))
    assert len(made) == 2
    assert (state.partitions[0].label == labels).all()


@given(problems())
def test_a_network_of_one_relation_moves_as_co_clustering_does(problem):
    """Complete sweeps of both kernels from the same start end at the same labels and costs."""
    W, k, l, beta, seed = problem
    state = started(W, k, l, seed)
    graph = Graph((WeightedRelation(0, 1, state.joint, co_clustering),), 2)
    starts = [free_start(count, mass) for count, mass in zip((k, l), graph.weights, strict=True)]
    ours = network(graph, starts, state.labels())
    assert ours.cost(beta) == pytest.approx(state.cost(beta), abs=1e-11)
    for _ in range(3):
        for t, side in enumerate(state.sides()):
            state.sweep(side, run_at(beta))
            ours.sweep(ours.every_side()[t], run_at(beta))
            assert_array_equal(ours.partitions[t].label, side.labels)
    assert ours.cost(beta) == pytest.approx(state.cost(beta), abs=1e-11)
