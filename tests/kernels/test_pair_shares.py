"""Costs of merging any two clusters in dense data: lower bounds, and exact where it matters."""

import itertools

import numpy as np
import pytest
from helpers import plain_merge_costs
from scipy.spatial.distance import squareform

from comarkov.joint.joint import joint
from comarkov.kernels import pair_shares, pairs
from comarkov.search.optimise.agglomeration import _shares


def begun(A):
    """Pairs and shares of the rows of a matrix, with bounds on all costs."""
    data, n = joint(A), len(A)
    size = n * (n - 1) // 2
    state = pairs.Pairs(
        data.row_mass.copy(),
        np.zeros(n, np.int64),
        np.empty(size),
        np.zeros(size, bool),
        np.empty(n),
        np.empty(n, np.int64),
    )
    shares = _shares(data, n)
    pair_shares.share(state, shares, data.matrix, data.column_mass)
    pair_shares.bound_all(state, shares)
    pairs.look_up_all(state)
    return state, shares


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [5, 40, 300])  # less and more than items are padded and summed
def test_the_cheapest_merge_is_that_of_exact_costs(seed, width):
    rng = np.random.default_rng(seed)
    A = rng.poisson(3.0, (11, width)) * 2.0 + 1  # more clusters than a tile has
    state, shares = begun(A)
    for _ in range(10):
        expected = plain_merge_costs(A, state.group >= 0)
        bounds = squareform(state.cost)
        scale = 1e-12 * A.sum()
        assert all(bounds[pair] <= cost + scale for pair, cost in expected.items())
        close = max(cost - bounds[pair] for pair, cost in expected.items())
        assert close <= 1e-4 * A.sum()  # single precision is not far off
        least, i, j = pair_shares.cheapest(state, shares)
        assert least == pytest.approx(min(expected.values()), abs=scale)
        assert (i, j) == min(expected, key=expected.get)
        exact = {pair for pair in expected if state.is_exact[_place(pair, len(A))]}
        assert (i, j) in exact
        for pair in exact:
            assert squareform(state.cost)[pair] == pytest.approx(expected[pair], abs=scale)
        pair_shares.join_shares(state, shares, i, j)
        pair_shares.bound_with(state, shares, i)
        pairs.renew_least(state, i, j)
        A[i] += A[j]
        A[j] = 0
    assert pair_shares.cheapest(state, shares)[0] == np.inf


def _place(pair, n):
    """The position of a pair in a condensed matrix."""
    return list(itertools.combinations(range(n), 2)).index(tuple(pair))


def test_ties_go_to_the_lowest_numbers():
    """Three pairs of equal rows merge for nothing; rounding may favour any of them."""
    rng = np.random.default_rng(0)
    profiles = rng.random((3, 40)) + 0.1
    A = profiles[[0, 1, 2, 1, 2, 0]] * np.array([1, 3, 0.7, 1.1, 2, 5])[:, None]
    state, shares = begun(A)
    assert pair_shares.cheapest(state, shares)[1:] == (0, 5)
    merged = []
    for _ in range(3):
        least, i, j = pair_shares.cheapest(state, shares)
        assert least == pytest.approx(0, abs=1e-9 * A.sum())
        merged.append((int(i), int(j)))
        pair_shares.join_shares(state, shares, i, j)
        pair_shares.bound_with(state, shares, i)
        pairs.renew_least(state, i, j)
    assert merged == [(0, 5), (1, 3), (2, 4)]
