"""Seedings: as many clusters as asked for, the same by the same seed, near where classes are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from comarkov.evaluate import matching_accuracy
from comarkov.joint.joint import joint
from comarkov.search.state.starts import _affinities, hellinger, spectral

SEEDINGS = [hellinger, spectral]


@st.composite
def matrices(draw):
    """A few counts, often with equal rows, rows without mass, or a single column."""
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    W = rng.poisson(draw(st.sampled_from([0.3, 1.0, 5.0])), (n, m))
    W[rng.integers(n)] = rng.integers(0, 2)  # a row without mass, or one like others
    W[rng.integers(n), rng.integers(m)] = 1
    k = draw(st.integers(1, int((W.sum(axis=1) > 0).sum())))
    return W, k


@pytest.mark.parametrize("seeding", SEEDINGS)
@given(matrices(), st.integers(0, 100))
def test_as_many_clusters_as_asked_for_and_always_the_same(seeding, problem, seed):
    W, k = problem
    for data in (joint(W), joint(W * 0.37)):
        labels = seeding(data, k, np.random.default_rng(seed))
        assert_array_equal(labels < 0, W.sum(axis=1) == 0)
        assert set(labels) - {-1} == set(range(k))
        assert_array_equal(labels, seeding(data, k, np.random.default_rng(seed)))


@given(matrices())
def test_affinities_are_those_of_square_roots_of_profiles(problem):
    W, _ = problem
    mass = np.maximum(W.sum(axis=1, keepdims=True), 1)
    roots = np.sqrt(W / mass)
    for x in np.flatnonzero(W.sum(axis=1) > 0):
        assert_allclose(_affinities(joint(W), x), roots @ roots[x], atol=1e-12)


def test_singular_vectors_find_planted_classes():
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 5
    W = rng.poisson(np.where(truth[:, None] == np.arange(100) // 20, 0.6, 0.1))
    W[7] = 0
    labels = spectral(joint(W), 5, np.random.default_rng(1))
    assert labels[7] == -1
    assert matching_accuracy(np.delete(truth, 7), np.delete(labels, 7)) > 0.95
