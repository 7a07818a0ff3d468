"""Whether all states of a cluster go on alike, tested against SciPy and against chance."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2, chi2_contingency, kstest

from comarkov.costs import lumpability as tests
from comarkov.costs.lumpability import g_test, lumpability


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
    result = g_test(sp.csr_array(counts), labels, 2, rng)
    onto = counts @ np.eye(2)[labels]
    parts = [chi2_contingency(onto[labels == a], False, "log-likelihood") for a in (0, 1)]
    assert result.statistic == pytest.approx(sum(part.statistic for part in parts))
    assert result.degrees_of_freedom == sum(part.dof for part in parts) == 4
    assert result.n_transitions == counts.sum()


def test_many_transitions_have_the_p_value_of_scipy():
    rng = np.random.default_rng(0)
    counts, labels = rng.poisson(10**8, (4, 4)), np.array([0, 0, 1, 1])
    result = g_test(sp.csr_array(counts), labels, 2, rng)
    onto = counts @ np.eye(2, dtype=int)[labels]
    parts = [chi2_contingency(onto[labels == a], False, "log-likelihood") for a in (0, 1)]
    statistic, freedom = (sum(part[i] for part in parts) for i in (0, 2))
    assert result.p_value == pytest.approx(chi2.sf(statistic, freedom), rel=1e-6)
    assert result.expected == freedom == 2


def test_nothing_to_compare_is_no_agreement():
    """Every state seen once, or each cluster with one state or one next cluster: p is nan."""
    rng = np.random.default_rng(0)
    single = g_test(sp.csr_array(np.eye(4)[[1, 2, 3, 0]]), np.array([0, 0, 1, 1]), 2, rng)
    assert np.isnan(single.p_value)
    for labels in (np.arange(4), np.zeros(4, int)):
        result = g_test(sp.csr_array(rng.poisson(9, (4, 4))), labels, labels.max() + 1, rng)
        assert result.degrees_of_freedom == result.expected == result.statistic == 0
        assert np.isnan(result.p_value)


def sparse_counts(rng, labels, Q, steps):
    """Steps from states of very different masses; the next cluster depends on the cluster."""
    counts = rng.multinomial(steps, rng.dirichlet(np.full(labels.size, 0.5)))
    onto = np.array([rng.multinomial(n, q) for n, q in zip(counts, Q, strict=True)])
    counts = np.zeros((labels.size, labels.size))
    counts[:, [np.flatnonzero(labels == b)[0] for b in range(Q.shape[1])]] = onto
    return sp.csr_array(counts)


def test_p_values_are_uniform_if_states_are_many_and_rare(monkeypatch):
    monkeypatch.setattr(tests, "MAX_RANDOM_TABLES", tests.MIN_RANDOM_TABLES)
    rng = np.random.default_rng(1)
    labels = np.arange(200) % 3
    Q = rng.dirichlet(np.full(3, 0.5), size=3)[labels]
    results = [g_test(sparse_counts(rng, labels, Q, 1000), labels, 3, rng) for _ in range(150)]
    assert kstest([test.p_value for test in results], "uniform").pvalue > 0.01
    statistic, freedom, _, n, expected = np.mean(results, axis=0)
    assert n == 1000
    assert statistic == pytest.approx(expected, rel=0.01)
    assert abs(freedom / expected - 1) > 0.05  # the nominal number is far off
    Q[::2] = np.roll(Q[::2], 1, axis=1)
    assert g_test(sparse_counts(rng, labels, Q, 1000), labels, 3, rng).p_value < 1e-6
