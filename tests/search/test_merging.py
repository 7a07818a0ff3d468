"""Merging the clusters of one side, against the cost in plain NumPy."""

import numpy as np
import pytest
from helpers import problem_of, run_at
from numpy.testing import assert_allclose, assert_array_equal

import comarkov
from comarkov.search.state import merging

RNG = np.random.default_rng(0)
W = RNG.poisson(2.0, size=(9, 8)) + np.eye(9, 8, dtype=int)
ROWS, COLUMNS = np.arange(9) % 4, np.arange(8) % 3


def f(v):
    return v * np.log(np.where(v > 0, v, 1.0))


def pair_terms(masses):
    """Σ_y g(A_yi, A_yj) for i < j."""
    i, j = np.triu_indices(masses.shape[1], 1)
    u, v = masses[:, i], masses[:, j]
    return (f(u + v) - f(u) - f(v)).sum(axis=0)


@pytest.mark.parametrize("beta", [0.0, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("which", [0, 1])
def test_a_merge_costs_the_difference_of_costs(beta, which):
    state = problem_of(W, 4, 3).with_labels([ROWS, COLUMNS])
    side = state.sides()[which]
    promised = state.merge_costs(side, beta)
    before = comarkov.cost(W, ROWS, COLUMNS, beta)
    assert np.isinf(promised[np.tril_indices(side.k)]).all()
    for i, j in zip(*np.triu_indices(side.k, 1), strict=True):
        labels = [ROWS.copy(), COLUMNS.copy()]
        labels[which][labels[which] == j] = i
        after = comarkov.cost(W, *labels, beta)
        assert promised[i, j] == pytest.approx(after - before, abs=1e-12)
        merged = merging.merged(side, i, j)
        assert merged.k == side.k - 1
        assert len(set(zip(labels[which], merged.labels, strict=True))) == side.k - 1


@pytest.mark.parametrize("items", [1, 2, 5, 100])
def test_pair_costs_are_sums_over_all_items_of_all_tables(items, monkeypatch):
    monkeypatch.setattr(merging, "ITEMS_COPIED", items)
    one, other = RNG.poisson(1.0, size=(5, 4)), RNG.gamma(1.0, size=(7, 4))
    costs = merging.sum_pair_terms([(one, 0.5), (other, -2.0), (np.full((1, 4), np.nan), 0.0)])
    expected = 0.5 * pair_terms(one) - 2.0 * pair_terms(other)
    assert_allclose(costs[np.triu_indices(4, 1)], expected, atol=1e-12)
    alone = merging.sum_pair_terms([(one, 1.0)])
    assert_allclose(alone[np.triu_indices(4, 1)], pair_terms(one), atol=1e-12)
    assert np.isposinf(costs[np.tril_indices(4)]).all()


@pytest.mark.parametrize("n", [2, 7, 40])
def test_random_halves_are_equal_and_in_random_order(n):
    halves = merging.random_halves(n, run_at(1.0))
    assert_array_equal(np.bincount(halves), [n - n // 2, n // 2])
    if n == 40:
        assert (np.diff(halves) == 0).any()
        assert not np.array_equal(halves, merging.random_halves(n, run_at(1.0, seed=1)))


@pytest.mark.parametrize(("moves", "sweeps"), [([0], 1), ([5, 0, 9], 2), ([5, 4, 3, 2, 1], 3)])
def test_sweeps_end_when_nothing_moves_or_after_a_few(moves, sweeps):
    left = iter(moves)
    merging.sweep_until_settled(lambda: next(left))
    assert len(list(left)) == len(moves) - sweeps
