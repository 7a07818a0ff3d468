"""Costs of merging any two clusters in sparse data, against their definition."""

import itertools

import numpy as np
import pytest
from helpers import plain_merge_costs
from scipy.spatial.distance import squareform
from scipy.special import xlogy

from comarkov.joint.joint import joint
from comarkov.kernels import pairs
from comarkov.search.optimise.agglomeration import _entries

KNOWN = {"looked up": xlogy(np.arange(50.0), np.arange(50.0)), "computed": np.empty(0)}


@pytest.fixture(params=KNOWN)
def known(request):
    return KNOWN[request.param]


def g(u, v):
    return xlogy(u + v, u + v) - xlogy(u, u) - xlogy(v, v)


def assert_costs_are(state, expected):
    costs = squareform(state.cost)
    for pair, cost in expected.items():
        assert costs[pair] == pytest.approx(cost, abs=1e-12)
    for i in np.flatnonzero(state.group >= 0):
        later = [cost for (first, _), cost in expected.items() if first == i]
        if state.near[i] >= 0:
            assert state.least[i] == pytest.approx(min(later), abs=1e-12)
            nearest = expected[i, state.near[i]]
            assert nearest == pytest.approx(min(later), abs=1e-12)
        else:
            assert state.least[i] <= min(later, default=np.inf) + 1e-12


def empty_pairs(mass):
    n = mass.size
    cost = np.zeros(n * (n - 1) // 2)
    nothing = np.empty(n), np.empty(n, np.int64)
    return pairs.Pairs(mass.copy(), np.zeros(n, np.int64), cost, np.zeros(0, bool), *nothing)


@pytest.mark.parametrize("seed", range(4))
def test_costs_follow_merges_down_to_two_clusters(seed, known):
    rng = np.random.default_rng(seed)
    A = rng.poisson(0.6, (9, 7)).astype(float)
    A[:, 0] += 1
    A[1, 1:] = 0  # shares one item
    data = joint(A)
    entries, state = _entries(data), empty_pairs(A.sum(axis=1))
    pairs.fill(state, entries, data.matrix, 1.0, known)
    assert_costs_are(state, plain_merge_costs(A, state.group >= 0))
    shared, seen = np.zeros(9), np.zeros(7, bool)
    for _ in range(7):
        i, j = sorted(rng.choice(np.flatnonzero(state.group >= 0), 2, replace=False))
        pairs.join_entries(entries, i, j, shared, seen, known)
        pairs.settle(state, i, j, shared, known)
        A[i] += A[j]
        A[j] = 0
        assert not seen.any()
        assert_costs_are(state, plain_merge_costs(A, state.group >= 0))


def test_blocks_share_what_they_have_in_common(known):
    rng = np.random.default_rng(0)
    M = rng.poisson(1.0, (5, 6)).astype(float)
    M[:, 2] = [0, 3, 0, 4, 5]  # only in the second of the two
    M[:, 3] = [0, 0, 1, 0, 2]  # in neither
    blocks, shared = M.copy(), np.full(5, 10.0)
    pairs.join_blocks(blocks, 0, 3, 0.6, shared, known)
    union = M[0] + M[3]
    np.testing.assert_array_equal(blocks[0], union)
    np.testing.assert_array_equal(blocks[3], 0)
    for k in (1, 2, 4):
        assert shared[k] == pytest.approx(10 + 0.6 * g(union, M[k]).sum())
    assert shared[0] == shared[3] == 10


def test_a_line_adds_what_pairs_share_in_it(known):
    line = np.array([2.0, 0, 3, 1, 0])
    state = empty_pairs(np.ones(5))
    state.cost[:] = 7
    pairs.add_line(state, line, -0.4, known)
    for i, j in itertools.combinations(range(5), 2):
        expected = 7 - 0.4 * g(line[i], line[j])
        assert squareform(state.cost)[i, j] == pytest.approx(expected)
