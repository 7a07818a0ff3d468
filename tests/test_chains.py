"""Chains: how they are read, where they stay, and whether clusters of them are chains."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.stats import chi2_contingency, kstest

from comarkov import chains
from comarkov.chains import chain, hold_out, read_transitions, stationary_distribution
from comarkov.lumpability import _pooled, g_test, lumpability


def ring(n, loops=0.0):
    """Round and round: period n without loops."""
    return sp.csr_array((1 - loops) * np.roll(np.eye(n), 1, axis=1) + loops * np.eye(n))


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.6]))
def test_the_stationary_distribution_stays(n, seed, gaps):
    rng = np.random.default_rng(seed)
    W = rng.gamma(0.3, size=(n, n)) * (rng.random((n, n)) >= gaps) + ring(n).toarray() * 1e-6
    P = W / W.sum(1, keepdims=True)
    mu = stationary_distribution(sp.csr_array(P))
    assert (mu > 0).all()
    assert_allclose(mu @ P, mu, rtol=1e-9)
    assert mu.sum() == pytest.approx(1)


@pytest.mark.parametrize("n", [2, 7, 401, 500])  # periodic, below and above the dense limit
def test_periodic_chains_have_one_too(n):
    assert_allclose(stationary_distribution(ring(n)), 1 / n, rtol=1e-9)


def test_large_periodic_chains_have_one_too():
    """Three groups of 200 in turn: the chain never settles, its distribution over time does."""
    rng = np.random.default_rng(0)
    group = np.arange(600) % 3
    P = rng.gamma(0.1, size=(600, 600)) * (group[:, None] == (group - 1) % 3)
    P /= P.sum(1, keepdims=True)
    mu = stationary_distribution(sp.csr_array(P))
    assert_allclose(mu, chains._eliminated(P.copy()), rtol=1e-8)
    assert_allclose(np.bincount(group, weights=mu), 1 / 3)


def test_large_and_slow_chains_have_one_too(monkeypatch):
    """Two halves of 300 that are left once in a million steps, and one is twice as likely."""
    rng = np.random.default_rng(0)
    P = np.zeros((600, 600))
    for half in (slice(0, 300), slice(300, 600)):
        P[half, half] = rng.dirichlet(np.ones(300), size=300)
    P *= 1 - np.repeat([1e-6, 2e-6], 300)[:, None]
    P[:300, 300:] = 1e-6 / 300
    P[300:, :300] = 2e-6 / 300
    mu = stationary_distribution(sp.csr_array(P))
    assert mu[:300].sum() == pytest.approx(2 / 3, rel=1e-7)
    assert_allclose(mu, chains._eliminated(P.copy()), rtol=1e-6)

    def fail(*arguments, **options):
        raise ArpackNoConvergence("no", [], [])

    monkeypatch.setattr(chains, "eigs", fail)  # then it is solved directly
    assert_allclose(stationary_distribution(sp.csr_array(P)), mu, rtol=1e-6)


def test_a_long_walk_has_one_too():
    """20,000 places in a row, two wells: an eigensolver would take ages, elimination does not."""
    n = 20_000
    mass = 1.5 + np.sin(np.linspace(0, 4 * np.pi, n))
    flow = np.minimum(mass[:-1], mass[1:]) / 4  # as much up as down: in balance
    walk = sp.diags_array([flow, flow], offsets=[-1, 1], format="csr")
    walk = walk + sp.diags_array(mass - walk.sum(axis=1))
    P = sp.csr_array(sp.diags_array(1 / mass) @ walk)
    assert_allclose(stationary_distribution(P), mass / mass.sum(), rtol=1e-7)


# --- reading ------------------------------------------------------------------------------------


def test_sequences_are_counted():
    data = read_transitions(["b", "a", "b", "b"], "auto")
    assert_array_equal(data.states, ["a", "b"])
    assert_array_equal(data.weights.toarray(), [[0, 1], [1, 1]])
    assert data.is_counted
    several = read_transitions([[5, 7, 5], np.array([7, 9])], "auto")
    assert_array_equal(several.states, [5, 7, 9])
    assert_array_equal(several.weights.toarray(), [[0, 1, 0], [1, 0, 1], [0, 0, 0]])
    one = read_transitions(pd.Series([3, 4, 3]), "auto")
    assert_array_equal(one.weights.toarray(), [[0, 1], [1, 0]])
    square = [[0, 1], [1, 0]]
    assert read_transitions(square, "auto").sequences is None
    assert_array_equal(read_transitions(square, "sequences").weights.toarray(), [[0, 1], [1, 0]])


def test_matrices_are_told_apart():
    assert not read_transitions(np.array([[0.5, 0.5], [1.0, 0.0]]), "auto").is_counted
    assert not read_transitions(np.eye(2)[::-1], "auto").is_counted  # rows sum to 1
    assert read_transitions(np.eye(2)[::-1], "counts").is_counted
    assert read_transitions(np.array([[3, 1], [2, 0]]), "auto").is_counted
    assert not read_transitions(np.array([[0.3, 1], [2, 0]]), "auto").is_counted
    frame = pd.DataFrame([[3, 1], [2, 0]], columns=["sun", "rain"])
    assert_array_equal(read_transitions(frame, "auto").states, ["sun", "rain"])


@pytest.mark.parametrize(
    ("X", "kind", "message"),
    [
        (np.ones((2, 3)), "auto", r"square matrix.*\(2, 3\).*kind=\"sequences\""),
        (np.zeros((2, 2)), "auto", "no mass"),
        (-np.eye(2), "auto", "Negative values"),
        (np.array([[1, np.nan], [1, 1]]), "auto", "NaN"),
        (np.array([[0.5, 0.5], [0.7, 0.2]]), "probabilities", "row 1 sums to 0.9"),
        (np.array([[0.5, 0.5], [0.7, 0.2]]), "counts", "whole numbers"),
        ([0.5, 1.5, 0.5], "auto", "whole numbers or strings"),
        ([1, "a", None], "sequences", "whole numbers or strings|one kind"),
        ([1], "auto", "no transitions"),
        ([[1], [2], [3]], "auto", "no transitions"),
        ([], "sequences", "1-D"),
    ],
)
def test_bad_chains_get_a_clear_error(X, kind, message):
    with pytest.raises(ValueError, match=message):
        read_transitions(X, kind)


def test_what_is_not_connected_is_named():
    P = np.zeros((6, 6))
    P[0, [1, 2]] = 0.5  # 0 is left for good
    P[1, 2] = P[2, 3] = P[3, 1] = 1
    P[4, 4] = 1  # alone, and 5 leads nowhere
    states = np.array(list("abcdef"))
    with pytest.raises(ValueError, match="falls apart") as caught:
        chain(sp.csr_array(P), states, False)
    said = str(caught.value)
    assert "of 6 states 1 can be left for good (a), 1 have no transition out (f)" in said
    assert "3 sets of states cannot be left" in said
    assert "has 3 (b, c, d): pass restrict=True" in said
    walk = chain(sp.csr_array(P), states, True)
    assert_array_equal(walk.inside, [1, 2, 3])
    assert_allclose(walk.stationary, 1 / 3)
    leaving = sp.csr_array([[0, 3, 0], [1, 0, 1], [0, 0, 0]])  # ends in 2
    walk = chain(leaving, np.arange(3), True)
    assert_array_equal(walk.transition.toarray(), [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="No two states"):
        chain(sp.csr_array(np.triu(np.ones((3, 3)), 1)), np.arange(3), True)


# --- holding out and testing --------------------------------------------------------------------


def test_what_is_held_out_and_what_is_kept_are_all():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(20, (30, 30)))
    kept, held = hold_out(read_transitions(counts, "auto"), 0.25, rng)
    assert_array_equal((kept + held).toarray(), counts.toarray())
    assert held.sum() / counts.sum() == pytest.approx(0.25, abs=0.02)
    data = read_transitions([[0, 1, 0, 0, 1], [1, 1, 0]], "sequences")
    kept, held = hold_out(data, 0.5, rng)
    assert_array_equal(kept.toarray(), [[0, 1], [1, 1]])  # 0-1, 1-0 and 1-1
    assert_array_equal(held.toarray(), [[1, 1], [1, 0]])
    with pytest.raises(ValueError, match="counts or sequences"):
        hold_out(read_transitions(np.full((2, 2), 0.5), "auto"), 0.5, rng)


def test_the_worst_violation_is_named():
    P = np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.1, 0.2, 0.7]])
    worst = lumpability(sp.csr_array(P), np.array([1, 1, 0]), 2)
    assert worst.violation == pytest.approx(0.1)
    assert (worst.cluster, worst.states) == (1, (0, 1) if worst.target == 1 else (1, 0))
    assert not worst.holds()
    assert worst.holds(0.11)
    P[1] = [0.3, 0.5, 0.2]
    assert lumpability(sp.csr_array(P), np.array([1, 1, 0]), 2).holds()


def test_g_is_that_of_scipy_where_nothing_is_rare():
    rng = np.random.default_rng(0)
    counts = rng.poisson(200, (6, 6))
    labels = np.array([0, 0, 0, 1, 1, 1])
    found = g_test(sp.csr_array(counts), labels, 2)
    onto = counts @ np.eye(2)[labels]
    parts = [chi2_contingency(onto[labels == a], False, "log-likelihood") for a in (0, 1)]
    assert found.statistic == pytest.approx(sum(part.statistic for part in parts))
    assert found.degrees_of_freedom == sum(part.dof for part in parts) == 4
    assert found.n_transitions == counts.sum()


def test_rare_states_and_rare_targets_are_pooled():
    table = np.array([[100, 100, 1], [90, 110, 0], [3, 2, 0], [1, 1, 1], [0, 0, 0]])
    pooled = _pooled(table)
    assert pooled.sum() == table.sum()
    expected = np.outer(pooled.sum(1), pooled.sum(0)) / pooled.sum()
    assert expected.min() >= 5
    assert pooled.shape == (2, 2)  # the rare ones are less than 5, so they join the smaller row
    assert _pooled(np.zeros((3, 2))).shape == (1, 1)


def test_p_values_are_uniform_for_lumpable_chains_and_small_for_others():
    rng = np.random.default_rng(0)
    labels = np.arange(12) % 3
    Q = rng.dirichlet(np.ones(3), size=3)
    within = rng.dirichlet(np.ones(4), size=(12, 3))  # which member, by state and next cluster
    P = np.zeros((12, 12))
    for b in range(3):
        P[:, labels == b] = Q[labels, b][:, None] * within[:, b]

    def p_value(P):
        counts = np.array([rng.multinomial(300, row / row.sum()) for row in P])
        return g_test(sp.csr_array(counts), labels, 3).p_value

    assert kstest([p_value(P) for _ in range(200)], "uniform").pvalue > 0.01
    P[0] = np.roll(P[0], 1)
    assert p_value(P) < 1e-6
