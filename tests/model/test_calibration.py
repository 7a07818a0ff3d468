"""Entries that come together count for less, independent ones for what they are."""

import numpy as np
import pytest
from helpers import costs_by_definition, started
from numpy.testing import assert_allclose, assert_array_equal

from comarkov import CoClustering, datasets, evaluate
from comarkov.model import confidence as calibration
from comarkov.model.confidence import evidence_exponent, posterior


def together(seed):
    """Counts in 5 x 4 blocks where columns of a theme come together, and the truth of both sides.

    Themes are random groups of columns; rows differ in how much they have of each.
    """
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(5, size=200), rng.integers(4, size=600)
    themes = np.exp(1.5 * rng.standard_normal((200, 20)))[:, rng.integers(20, size=600)]
    rate = (rng.gamma(0.7, size=(5, 4)) + 1.0)[rows][:, columns]
    return rng.poisson(0.1 * rate * themes), rows, columns


# --- what it measures -------------------------------------------------------------------------


@pytest.mark.parametrize("is_one_sided", [False, True])
def test_deviations_are_those_of_the_cost(is_one_sided):
    rng = np.random.default_rng(0)
    W, beta = rng.poisson(1.0, (12, 10)), 0.8
    W[3] = 0
    state = started(W, 3, 2, 0)
    sample = calibration._sample(state.rows, None if is_one_sided else state.columns, beta, rng)
    rows, columns = state.labels()
    if is_one_sided:
        columns, beta = np.arange(10), 1.0
    squares, observations = calibration._deviations(sample, sample.entries)
    kept = np.delete(np.arange(12), 3)
    assert_array_equal(sample.home, rows[kept])
    assert_allclose(observations, W[kept].sum(1) ** 2 / (W[kept] ** 2).sum(1))
    costs = np.array([costs_by_definition(W, rows, columns, beta, x) for x in kept])
    margins = costs - costs[np.arange(11), rows[kept]][:, None]
    for a in range(3):
        members = rows[kept] == a
        mean = np.average(margins[members], axis=0, weights=observations[members])
        assert_allclose(squares[members], (margins[members] - mean) ** 2, atol=1e-4)


@pytest.mark.parametrize("most", [0.0, 1.0])
@pytest.mark.parametrize("gamma", [0.4, 0.8, 1.0, 1.3])
def test_the_exponent_is_that_of_the_variance(gamma, most):
    rng = np.random.default_rng(0)
    observations = rng.uniform(5, 200, 5000)
    scale = rng.gamma(1.0, size=(5000, 3))
    scale[:, 0] = 0  # at home
    deviations = rng.standard_normal((5000, 3)) * np.sqrt(scale / observations[:, None] ** gamma)
    expected = min(gamma, np.exp(most))
    measured = calibration._exponent(deviations**2, observations, scale, most)
    assert measured == pytest.approx(expected, abs=0.01)


# --- what it is good for ----------------------------------------------------------------------


@pytest.mark.parametrize("bursts", [0, 4])
def test_independent_entries_are_left_alone(bursts):
    gammas = []
    for seed in range(4):
        data = datasets.planted((200, 150), mean=0.2, bursts=bursts, random_state=seed)
        model = CoClustering((5, 4), random_state=seed).fit(data.matrix)
        gammas.append((model.row_evidence_exponent_, model.column_evidence_exponent_))
    assert (np.mean(gammas, axis=0) > 0.95).all()
    assert np.max(gammas) <= 1


def test_measurements_vary_less_than_counts():
    """Each cell is a number with an error of its own; with γ = 1 the confidence would be 0.18."""
    facts = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows, columns = rng.integers(0, 5, 200), rng.integers(0, 4, 150)
        X = rng.normal(rng.normal(8, 0.3, (5, 4))[rows][:, columns], 0.8)
        model = CoClustering((5, 4), random_state=seed).fit(X)
        right = evaluate.matching_accuracy(rows, model.row_labels_)
        facts.append((model.row_evidence_exponent_, right, model.row_confidence_.mean()))
    gamma, right, sure = np.mean(facts, axis=0)
    assert gamma > 1.5
    assert sure == pytest.approx(right, abs=0.1)


def test_entries_that_come_together_do_not_make_it_too_sure():
    facts = []
    for seed in range(4):
        X, *truths = together(seed)
        state = started(X, 5, 4, 0)
        rows, columns = (
            side.relabelled(truth) for side, truth in zip(state.sides(), truths, strict=True)
        )
        gamma = evidence_exponent(rows, columns, 0.7, np.random.default_rng(0))
        (costs,) = rows.each_row(lambda home, part, costs: (costs,), columns.cross, 0.7)
        matrix = rows.joint.matrix
        sure, independent = (posterior(costs, matrix, value).max(1) for value in (gamma, 1.0))
        facts.append(
            (gamma, (costs.argmin(1) == truths[0]).mean(), sure.mean(), independent.mean())
        )
    gamma, right, sure, independent = np.mean(facts, axis=0)
    assert gamma < 0.9
    assert right - 0.02 < sure < right + 0.5 * (independent - right)
    assert independent > right + 0.15
