"""What entries are worth is measured on halves of them, and confidence is near the accuracy."""

import numpy as np
import pytest
from helpers import problems, run_at, started
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

import comarkov
from comarkov import CoClustering, datasets
from comarkov.costs.labels import matched
from comarkov.model import calibration
from comarkov.model.calibration import evidence_exponent
from comarkov.model.confidence import confidence

SIDES = ("row", "column")


def bursty(seed, noise):
    """Overdispersed counts in 5 x 4 blocks, and the truth of both sides."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(5, size=200), rng.integers(4, size=150)
    rate = (rng.gamma(0.7, size=(5, 4)) + noise)[rows][:, columns]
    return rng.poisson(rate * rng.gamma(0.3, 1 / 0.3, size=rate.shape)), rows, columns


def independent_posterior(X, model):
    """How sure rows are if all entries are taken for independent."""
    state = started(X, 5, 4, 0)
    rows, columns = (
        side.relabelled(labels)
        for side, labels in (
            (state.rows, model.row_labels_),
            (state.columns, model.column_labels_),
        )
    )
    return confidence(rows, columns.cross, model.beta_, []).confidence


# --- what it measures -------------------------------------------------------------------------


def costs_by_definition(W, rows, columns, beta, x):
    """What L_β of a matrix is with row x in each cluster, in nats per unit of its mass."""
    moved = [np.where(np.arange(rows.size) == x, a, rows) for a in range(rows.max() + 1)]
    nats = np.array([comarkov.cost(W, labels, columns, beta) for labels in moved]) * np.log(2)
    return nats * W.sum() / W[x].sum()


@pytest.mark.parametrize("is_one_sided", [False, True])
def test_halves_cost_what_their_part_of_the_matrix_does(is_one_sided):
    rng = np.random.default_rng(0)
    W, beta = rng.poisson(1.0, (12, 10)), 0.8
    W[3] = 0
    W[5, 1:] = 0  # has mass in one half only
    state = started(W, 3, 2, 0)
    side, other = state.rows, None if is_one_sided else state.columns
    sample = calibration._sample(side, other, beta, rng)
    rows, columns = state.labels()
    if is_one_sided:
        columns, beta = np.arange(10), 1.0
    first = rng.permutation(10) < 5

    class Known:
        """Draws the permutation that makes these halves."""

        def permutation(self, n):
            return np.where(first, 0, n)

    for items, half in zip((first, ~first), calibration._split(sample, Known()), strict=True):
        part, other_part = W[:, items], W[:, ~items]
        kept = np.flatnonzero((part.sum(1) > 0) & (other_part.sum(1) > 0))
        assert not {3, 5} & set(kept)
        assert len(half.placed) == kept.size
        for i, x in enumerate(kept):
            costs = costs_by_definition(part, rows, columns[items], beta, x)
            theirs = costs_by_definition(other_part, rows, columns[~items], beta, x)
            assert_allclose(half.costs[i] - half.costs[i, 0], costs - costs[0], atol=1e-4)
            assert_allclose(half.placed[i] @ theirs, theirs.min(), atol=1e-6)
            assert half.placed[i].sum() == pytest.approx(1)
            assert half.observations[i] == pytest.approx(part[x].sum() ** 2 / (part[x] ** 2).sum())


def test_the_exponent_is_where_halves_predict_each_other_best():
    X, *_ = bursty(0, 0.2)
    state = started(X, 5, 4, 0)
    for _ in range(5):
        for side in state.sides():
            state.sweep(side, run_at(0.7))
    gamma = evidence_exponent(state.rows, state.columns, 0.7, np.random.default_rng(0))
    rng = np.random.default_rng(0)
    sample = calibration._sample(state.rows, state.columns, 0.7, rng)
    halves = [half for _ in range(calibration.SPLITS) for half in calibration._split(sample, rng)]

    def gain(value):
        found = 0.0
        for half in halves:
            p = softmax(-half.costs * (half.observations**value)[:, None], axis=1)
            found += np.log((p * half.placed).sum(1)).sum() / len(halves)
        return found - np.log(value) ** 2 / 2

    grid = np.exp(np.linspace(-1, 0.5, 151))
    assert gamma == pytest.approx(grid[np.argmax([gain(value) for value in grid])], rel=0.011)


def test_nothing_to_measure_is_one():
    one_cluster = started(np.ones((4, 5), int), 1, 2, 0)
    no_halves = started(np.eye(6, dtype=int), 3, 3, 0)  # an entry is in one half only
    for state in (one_cluster, no_halves):
        gamma = evidence_exponent(state.rows, state.columns, 0.7, np.random.default_rng(0))
        assert gamma == pytest.approx(1.0, abs=1e-4)


def test_some_elements_are_enough(monkeypatch):
    X, *_ = bursty(1, 0.05)
    model = CoClustering((5, 4), random_state=0).fit(X)
    monkeypatch.setattr(calibration, "SAMPLE", 100)
    fewer = CoClustering((5, 4), random_state=0).fit(X)
    assert_array_equal(fewer.row_labels_, model.row_labels_)
    assert fewer.row_evidence_exponent_ != model.row_evidence_exponent_
    assert fewer.row_evidence_exponent_ == pytest.approx(model.row_evidence_exponent_, rel=0.15)


@settings(max_examples=25)
@given(problems(), st.integers(-60, 60))
def test_the_unit_of_the_weights_does_not_matter(problem, octave):
    W, k, l, beta, seed = problem
    gammas = []
    for unit in (1.0, 2.0**octave):
        state = started(W / W.max() * unit, k, l, seed)
        gammas.append(
            evidence_exponent(state.rows, state.columns, beta, np.random.default_rng(seed))
        )
    assert gammas[0] == pytest.approx(gammas[1], rel=1e-2)


def test_the_order_of_rows_and_columns_hardly_matters():
    X, *_ = bursty(2, 0.2)
    model = CoClustering((5, 4), random_state=0).fit(X)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(200), rng.permutation(150)
    labels = model.row_labels_[rows], model.column_labels_[columns]
    other = CoClustering((5, 4), init=labels, fixed=labels, random_state=0).fit(X[rows][:, columns])
    for name in SIDES:
        mine, theirs = (getattr(one, f"{name}_evidence_exponent_") for one in (model, other))
        assert mine == pytest.approx(theirs, rel=0.1)


# --- what it is good for ----------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_bursts_do_not_make_it_too_sure(noise):
    right, sure = [], []
    for seed in range(3):
        X, *truths = bursty(seed, noise)
        model = CoClustering((5, 4), random_state=seed).fit(X)
        for name, truth in zip(SIDES, truths, strict=True):
            right.append(matched(getattr(model, f"{name}_labels_"), truth) == truth)
            sure.append(getattr(model, f"{name}_confidence_"))
    assert np.concatenate(sure).mean() == pytest.approx(np.concatenate(right).mean(), abs=0.1)


def test_clusters_of_noise_are_not_sure():
    X = np.random.default_rng(0).poisson(0.4, (200, 150))
    model = CoClustering((5, 4), random_state=0).fit(X)
    assert independent_posterior(X, model).mean() > 0.7
    assert model.row_confidence_.mean() < 0.5


def test_many_counts_in_few_cells_are_sure():
    data = datasets.planted((60, 12), (3, 2), mean=2000, random_state=0)
    model = CoClustering((3, 2), random_state=0).fit(data.matrix)
    assert model.row_evidence_exponent_ > 1
    assert model.row_confidence_.min() > 0.99


def test_sides_that_are_not_clustered_have_no_exponent():
    X, *_ = bursty(0, 0.2)
    model = CoClustering((5, 4), random_state=0).fit(X)
    model.set_params(n_clusters=(5, None)).fit(X)
    assert 0 < model.row_evidence_exponent_ < 1
    assert not hasattr(model, "column_evidence_exponent_")


def test_cuts_and_stored_models_predict_with_the_same_exponent(tmp_path):
    X, *_ = bursty(0, 0.2)
    model = CoClustering((5, 4), random_state=0).fit(X)
    model.save(tmp_path / "model")
    again = comarkov.load(tmp_path / "model")
    assert again.row_evidence_exponent_ == model.row_evidence_exponent_
    assert_array_equal(again.predict_with_confidence(X)[1], model.predict_with_confidence(X)[1])
    assert model.cut((3, 4)).row_evidence_exponent_ == model.row_evidence_exponent_
