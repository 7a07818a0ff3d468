import numpy as np
import pytest
import scipy.sparse as sp
from helpers import problems, refused
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import comarkov
from comarkov import CoClustering
from comarkov.costs.objective import least_costs
from comarkov.joint.joint import joint
from comarkov.search.state.starts import _affinities


@st.composite
def labelled(draw):
    """A problem with arbitrary labels."""
    W, k, l, beta, seed = draw(problems())
    rng = np.random.default_rng(seed)
    return W, rng.integers(k, size=W.shape[0]), rng.integers(l, size=W.shape[1]), beta


@given(labelled())
def test_is_the_cost_of_the_markov_chain(case):
    """2 [β I(Z1;Z2) + (1-2β) I(Z1;Z̄2) - (1-β) I(Z̄1;Z̄2)] on the bipartite random walk."""
    W, rows, columns, beta = case
    n, m = W.shape
    P = W / W.max()
    P = P / P.sum()
    walk = np.block([[np.zeros((n, n)), P], [P.T, np.zeros((m, m))]]) / 2
    labels = np.concatenate([rows, columns + rows.max() + 1])

    def information(first, second):
        table = np.zeros((labels.max() + n + m, labels.max() + n + m))
        np.add.at(table, (first[:, None], second[None, :]), walk)
        a, b = np.nonzero(table)
        mass = table[a, b]
        return (mass * np.log2(mass / table.sum(1)[a] / table.sum(0)[b])).sum()

    states = np.arange(n + m)
    chain = (
        beta * information(states, states)
        + (1 - 2 * beta) * information(states, labels)
        - (1 - beta) * information(labels, labels)
    )
    assert_allclose(comarkov.cost(W, rows, columns, beta), 2 * chain, atol=1e-10)


@given(labelled())
def test_is_made_of_relevant_information_losses(case):
    W, rows, columns, beta = case
    parts = comarkov.information(W, rows, columns)
    elements, clusters = (
        sum(parts.loss(side, about) for side in ("rows", "columns"))
        for about in ("elements", "clusters")
    )
    assert_allclose(parts.cost(beta), beta * elements + (1 - beta) * clusters, atol=1e-10)
    turned = comarkov.information(W.T, columns, rows)
    assert_allclose(parts.loss("rows"), turned.loss("columns"), atol=1e-12)


@given(labelled())
def test_at_one_half_is_the_divergence_of_the_approximation(case):
    W, rows, columns, _ = case
    p = np.asarray(W, dtype=float) / W.max()
    p /= p.sum()
    kept = comarkov.approximation(W, rows, columns)
    q = kept.toarray()
    for axis in (0, 1):
        assert_allclose(q.sum(axis=axis), p.sum(axis=axis), atol=1e-12)
    divergence = (p[p > 0] * np.log2(p[p > 0] / q[p > 0])).sum()
    assert_allclose(divergence, comarkov.cost(W, rows, columns, 0.5), atol=1e-10)
    assert_allclose(kept.divergence(W), divergence, atol=1e-10)


def test_samples_have_the_distribution_of_the_approximation():
    """Counts of 20,000 draws: χ² of 23 cells is below its 99.99 % quantile."""
    W = np.random.default_rng(1).integers(1, 9, size=(6, 4))
    model = comarkov.CoClustering((3, 2), random_state=0).fit(W)
    kept = model.approximation()
    expected = comarkov.approximation(W, model.row_labels_, model.column_labels_).toarray()
    assert_allclose(kept.toarray(), expected, atol=1e-12)
    assert_allclose(kept.divergence(W), model.information_.cost(0.5), atol=1e-10)
    counts = kept.sample(20_000, random_state=0).toarray()
    assert counts.sum() == 20_000
    assert ((counts - 20_000 * expected) ** 2 / (20_000 * expected)).sum() < 57
    assert kept.divergence(np.eye(6)[:, :4] + W) > 0


@given(labelled(), st.integers(0, 99))
def test_least_costs_are_the_lower_envelope(case, seed):
    W, rows, columns, beta = case
    rng = np.random.default_rng(seed)
    every = [comarkov.information(W, rng.permutation(rows), columns) for _ in range(5)]
    starts = least_costs(every)
    assert [b for b, _ in starts] == sorted(b for b, _ in starts)
    i = [i for start, i in starts if start <= beta][-1]
    assert_allclose(every[i].cost(beta), min(each.cost(beta) for each in every), atol=1e-9)


@given(labelled())
def test_invariances(case):
    W, rows, columns, beta = case
    cost = comarkov.cost(W, rows, columns, beta)
    rng = np.random.default_rng(0)
    order = rng.permutation(W.shape[0])
    renamed = rng.permutation(rows.max() + 1)[rows]
    assert_allclose(comarkov.cost(W.T, columns, rows, beta), cost, atol=1e-12)
    assert_allclose(comarkov.cost(W[order], rows[order], columns, beta), cost, atol=1e-12)
    assert_allclose(comarkov.cost(W, renamed, columns, beta), cost, atol=1e-12)
    assert_allclose(comarkov.cost(W * 0.3, rows, columns, beta), cost, atol=1e-12)
    assert_allclose(comarkov.cost(sp.coo_array(W), rows, columns, beta), cost, atol=1e-12)


@given(labelled())
def test_is_linear_in_beta_and_clusters_lose_information(case):
    W, rows, columns, beta = case
    terms = comarkov.information(W, rows, columns)
    half, one = terms.cost(0.5), terms.cost(1.0)
    assert_allclose(terms.cost(beta), (2 * beta - 1) * one + (2 - 2 * beta) * half, atol=1e-12)
    whole, right, left, blocks = terms
    assert -1e-12 <= blocks <= min(left, right) + 1e-12
    assert max(left, right) <= whole + 1e-12
    assert_allclose(whole, joint(W).information, atol=1e-12)
    assert 0 <= terms.kept <= 1


@given(labelled())
def test_no_clustering_costs_nothing(case):
    W, *_, beta = case
    assert comarkov.cost(W, np.arange(W.shape[0]), np.arange(W.shape[1]), beta) < 1e-12


def test_single_precision_is_that_of_the_input_alone():
    """Weights of 4 bytes cost to the last digit what the same weights of 8 bytes do."""
    rng = np.random.default_rng(0)
    W = rng.random((60, 50), np.float32)
    same = W.astype(float)
    labels = rng.integers(3, size=60), rng.integers(3, size=50)
    assert comarkov.information(W, *labels) == comarkov.information(same, *labels)
    assert joint(W).information == joint(same).information
    assert_array_equal(_affinities(joint(W), 0), _affinities(joint(same), 0))
    one, other = (CoClustering(3, n_init=1, random_state=0).fit(X) for X in (W, same))
    assert one.cost_ == other.cost_
    assert_allclose(
        one.cost_, comarkov.cost(W, one.row_labels_, one.column_labels_, 0.7), rtol=1e-13
    )


def test_labels_and_weights_of_any_size():
    assert comarkov.cost([[1, 2], [3, 4]], [10**12, 0], [0, 1], 0.5) < 1e-12
    W = np.ones((4, 4))
    W[[0, 1, 2], [0, 1, 2]] = 1e200, 1e190, 1e195
    assert 0 <= comarkov.cost(W, [0, 0, 1, 1], [0, 1, 0, 1], 0.5) < 1e-3


def test_elements_without_mass_need_no_label():
    assert comarkov.cost([[1, 0, 0], [0, 1, 0], [0, 0, 0]], [0, 1, -1], [0, 1, -1], 0.7) == 0.0


@pytest.mark.parametrize(
    ("rows", "beta", "named"),
    [
        ([0, 1], 1.5, "beta"),
        ([0, 1], "auto", "'auto'"),
        ([0, 1, 1], 0.5, "row_labels"),
        ([0, -1], 0.5, "row_labels[1]"),
    ],
)
def test_bad_arguments(rows, beta, named):
    with refused(named):
        comarkov.cost([[1, 2], [3, 4]], rows, [0, 1], beta)
