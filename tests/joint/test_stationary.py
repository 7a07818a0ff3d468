"""Where a chain stays, however slowly it gets there."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from comarkov.joint import chains
from comarkov.joint.chains import stationary_distribution


def ring(n, loops=0.0):
    """Round and round: period n without loops."""
    return sp.csr_array((1 - loops) * np.roll(np.eye(n), 1, axis=1) + loops * np.eye(n))


def eliminated(P):
    """The masses of a small chain: the same method, in the plainest form."""
    P = P.copy()
    for last in range(len(P) - 1, 0, -1):
        P[:last, last] /= P[last, :last].sum()
        P[:last, :last] += np.outer(P[:last, last], P[last, :last])
    mu = np.ones(len(P))
    for state in range(1, len(P)):
        mu[state] = mu[:state] @ P[:state, state]
    return mu / mu.sum()


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.6]))
def test_the_stationary_distribution_stays(n, seed, gaps):
    rng = np.random.default_rng(seed)
    W = rng.gamma(0.3, size=(n, n)) * (rng.random((n, n)) >= gaps) + ring(n).toarray() * 1e-6
    P = W / W.sum(1, keepdims=True)
    mu = stationary_distribution(sp.csr_array(P))
    assert (mu > 0).all()
    assert_allclose(mu @ P, mu, rtol=1e-9)
    assert_allclose(mu, eliminated(P), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 401, 3500])
def test_periodic_chains_have_one_too(n):
    assert_allclose(stationary_distribution(ring(n)), 1 / n, rtol=1e-12)


def in_turn(n):
    """Three groups in turn: the chain never settles, its distribution over time does."""
    group = np.arange(n) % 3
    P = np.random.default_rng(0).gamma(0.1, size=(n, n)) * (group[:, None] == (group - 1) % 3)
    return P / P.sum(1, keepdims=True)


def halves(leave, n=251):
    """Two halves that are left rarely, one three times as likely as the other."""
    rng = np.random.default_rng(0)
    P = np.zeros((2 * n, 2 * n))
    for half in (slice(0, n), slice(n, 2 * n)):
        P[half, half] = rng.dirichlet(np.ones(n), size=n)
    P *= 1 - np.repeat([leave, 3 * leave], n)[:, None]
    P[:n, n:] = leave / n
    P[n:, :n] = 3 * leave / n
    return P


def sticky(n):
    """States that are left as rarely as once in 1e13 steps."""
    rng = np.random.default_rng(0)
    rate = 10 ** (-13 * rng.random(n))[:, None]
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.02) + 0.01 * ring(n).toarray()
    np.fill_diagonal(W, 0)
    return rate * W / W.sum(1, keepdims=True) + (1 - rate) * np.eye(n)


SLOW = {
    "in turn": in_turn(600),
    "halves": halves(1e-6),
    "halves that hardly know": halves(1e-13),
    "sticky": sticky(700),
}


@pytest.mark.parametrize("P", SLOW.values(), ids=SLOW.keys())
def test_slow_chains_have_one_too(P):
    assert_allclose(stationary_distribution(sp.csr_array(P)), eliminated(P), rtol=1e-9)


@pytest.mark.parametrize("name", ["in turn", "halves", "sticky"])
def test_large_chains_are_iterated_or_solved(name, monkeypatch):
    P = SLOW[name]
    monkeypatch.setattr(chains, "MAX_ELIMINATED", 100)
    assert_allclose(stationary_distribution(sp.csr_array(P)), eliminated(P), rtol=1e-7)
    monkeypatch.setattr(chains, "_iterated", lambda P: None)
    assert_allclose(stationary_distribution(sp.csr_array(P)), eliminated(P), rtol=1e-7)


def walk_in(mass):
    """A walk along places in a row, with this stationary distribution: as much up as down."""
    flow = np.minimum(mass[:-1], mass[1:]) / 4
    walk = sp.diags_array([flow, flow], offsets=[-1, 1], format="csr")
    walk = walk + sp.diags_array(mass - walk.sum(axis=1))
    return sp.csr_array(sp.diags_array(1 / mass) @ walk)


def test_long_walks_have_one_too():
    """Two wells: wide ones along 20,000 places, and deep ones, as a row and as a shuffled grid."""
    wide = 1.5 + np.sin(np.linspace(0, 4 * np.pi, 20_000))
    assert_allclose(stationary_distribution(walk_in(wide)), wide / wide.sum(), rtol=1e-7)
    x = np.linspace(-1.5, 1.5, 1000)
    deep = np.exp(-36 * (x**2 - 1) ** 2 - 0.3 * x)
    deep /= deep.sum()
    assert_allclose(stationary_distribution(walk_in(deep)), deep, rtol=1e-12)
    deep = deep[::25] / deep[::25].sum()
    grid = sp.csr_array(sp.kron(walk_in(deep), walk_in(deep)) / 2 + sp.eye_array(1600) / 2)
    order = np.random.default_rng(0).permutation(1600)
    result = stationary_distribution(grid[order][:, order])
    assert_allclose(result, np.outer(deep, deep).ravel()[order], rtol=1e-12)


def drift(n, up, down):
    P = np.diag(np.full(n - 1, up), 1) + np.diag(np.full(n - 1, down), -1)
    return P + np.diag(1 - P.sum(1))


@pytest.mark.parametrize(
    ("n", "up", "down"), [(120, 0.9, 0.001), (350, 0.9, 0.05), (900, 0.9, 0.1)]
)
def test_masses_may_differ_by_more_than_numbers_can(n, up, down):
    """Those that underflow are tiny, but are there."""
    logs = np.maximum(np.log(down / up) * np.arange(n)[::-1], np.log(chains.MIN_STATE_MASS))
    exact = np.exp(logs) / np.exp(logs).sum()
    rng = np.random.default_rng(0)
    for order in (np.arange(n), np.arange(n)[::-1], rng.permutation(n)):
        P = drift(n, up, down)[np.ix_(order, order)]
        assert_allclose(
            stationary_distribution(sp.csr_array(P)), exact[order], rtol=1e-10, atol=1e-250
        )
