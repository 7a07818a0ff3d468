"""Batch updates: the published formulas, a cost that never rises, no empty clusters."""

import itertools

import numpy as np
import pytest
from helpers import problem_of, problems, started
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import comarkov
from comarkov import ITCC, CoClustering
from comarkov.joint.joint import joint
from comarkov.search.optimise.batch_updates import Batch, halved, nearest, without_empty


def kl(p, q):
    """KL(p ‖ q) in nats of all lines of p with all columns of q."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = p[:, :, None] * np.log(p[:, :, None] / q[None])
    return np.where(p[:, :, None] > 0, terms, 0.0).sum(axis=1)


def begun(W, k, l, seed):
    """The state of batch updates from a random start."""
    state = started(W, k, l, seed)
    return Batch(problem_of(W, k, l), state.labels())


def with_moderate_weights(problem):
    """Weights that differ by so much that the plain formulas fail are for other tests."""
    positive = problem[0][problem[0] > 0]
    return positive.max() < 1e9 * positive.min()


@given(problems().filter(with_moderate_weights), st.sampled_from([0.0, 0.4, 1.0]))
def test_profiles_are_compared_as_published(problem, coupling):
    W, k, l, _, seed = problem
    state = begun(W, k, l, seed)
    side, other = state.rows, state.columns
    P = joint(W).csr.toarray()
    has_mass = P.sum(axis=1) > 0
    rows = np.eye(k)[side.labels] * has_mass[:, None]
    columns = np.eye(l)[other.labels] * (P.sum(axis=0) > 0)[:, None]
    d = np.zeros((has_mass.sum(), k))
    for share, table in ((coupling, P), (1 - coupling, P @ columns)):
        if share > 0:
            profile = (table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300))[has_mass]
            cluster = table.T @ rows
            d += share * kl(profile, cluster / cluster.sum(axis=0))
    every, home = np.arange(has_mass.sum()), side.labels[has_mass]
    chosen = nearest(side, other, state.blocks, coupling)
    labels, gain = chosen.label[has_mass], chosen.gain[has_mass] / P.sum(1)[has_mass]
    may_move = np.bincount(home, minlength=k)[home] > 1
    assert_array_equal(labels[~may_move], home[~may_move])
    assert_allclose(gain[may_move], (d[every, home] - d.min(axis=1))[may_move], atol=1e-8)
    assert_allclose(d[every, labels], np.where(may_move, d.min(axis=1), d[every, home]), atol=1e-8)
    assert_allclose(chosen.blocks, np.eye(k)[labels].T @ (P @ columns)[has_mass])


@given(problems(), st.floats(0, 1))
def test_masses_that_moved_are_those_of_the_labels(problem, share):
    W, k, l, _, seed = problem
    state = begun(W, k, l, seed)
    rng = np.random.default_rng(seed)
    for side, count in ((state.rows, k), (state.columns, l)):
        _ = side.masses
        moves = (side.labels >= 0) & (rng.random(side.labels.size) < share)
        side.move(np.where(moves, rng.integers(count, size=moves.size), side.labels))
        members = side.labels[:, None] == np.arange(count)
        expected = side.data.csr.toarray().T.astype(float) @ members
        assert_allclose(side.masses, expected, rtol=1e-12)
        assert_array_equal(side.masses, expected) if side.data.is_count else None


@given(problems())
def test_the_cost_never_rises_and_no_cluster_is_empty(problem):
    W, k, l, beta, seed = problem
    beta = max(beta, 1 - beta)
    seen = []
    model = CoClustering(
        (k, l),
        beta=beta,
        method="batch",
        tol=0,
        random_state=seed,
        n_init=2,
        callback=lambda progress: seen.append(progress),
    ).fit(W)
    for before, after in itertools.pairwise(seen):
        if before.stage == after.stage:
            assert after.cost <= before.cost + 1e-12
    assert set(model.row_labels_) - {-1} == set(range(k))
    assert set(model.column_labels_) - {-1} == set(range(l))
    start = begun(W, k, l, seed)
    costs = [start.cost(beta)]
    for _ in range(4):
        start.update(start.rows, start.columns, beta)
        costs.append(comarkov.cost(W, start.rows.labels, start.columns.labels, beta))
        assert start.cost(beta) == pytest.approx(costs[-1], abs=1e-9)
        start.update(start.columns, start.rows, beta)
        costs.append(comarkov.cost(W, start.rows.labels, start.columns.labels, beta))
    assert (np.diff(costs) <= 1e-9).all()


@pytest.mark.parametrize(("numbers", "beta"), [((4, 3), 0.3), ((4, None), 1.0)])
def test_batch_updates_need_two_sides_and_at_least_one_half(numbers, beta):
    model = CoClustering(numbers, beta=beta, method="batch")
    with pytest.raises(comarkov.InputError) as caught:
        model.fit(np.eye(5))
    assert "method='sequential'" in caught.value.advice
    model.set_params(method="sequential").fit(np.eye(5))


def test_who_gains_least_by_leaving_stays():
    home = np.array([0, 0, 1, 1, 2, -1])
    wanted = np.array([1, 1, 2, 2, 2, -1])
    gain = np.array([2.0, 1.0, 5.0, 6.0, 0.0, 0.0])
    assert_array_equal(without_empty(home, wanted, gain, 3), [1, 0, 2, 2, 2, -1])
    # row 0 was all that cluster 1 would have had
    wanted = np.array([1, 2, 2, 2, 2, -1])
    gain[0] = 0.5
    assert_array_equal(without_empty(home, wanted, gain, 3), [0, 2, 1, 2, 2, -1])


def test_each_cluster_is_split_once():
    labels = np.repeat([0, 1, 2, -1], [6, 1, 4, 1])
    more = halved(labels, 3, 5, np.random.default_rng(0))
    assert_array_equal(np.bincount(more + 1), [1, 3, 1, 2, 3, 2])
    assert (more[labels < 0] == -1).all()
    assert np.unique(labels * 10 + more).size == 6  # inside old clusters
    assert_array_equal(np.bincount(halved(labels, 3, 9, np.random.default_rng(0)) + 1).max(), 2)


def test_doublings_go_on_from_half_as_many():
    W = np.random.default_rng(0).poisson(0.6, (60, 40))
    seen = []
    model = ITCC((4, 9), doublings=2, tol=0, random_state=0, callback=seen.append).fit(W)
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    assert stages == ["start 1", "start 1, 5 column clusters", "start 1, 9 column clusters"]
    costs = [progress.cost for progress in seen]
    assert (np.diff(costs) <= 1e-12).all()
    assert set(model.column_labels_) == set(range(9))
    given_labels = ITCC((4, 9), doublings=2, init=(None, np.arange(40) % 9), random_state=0).fit(W)
    plain = CoClustering(
        (4, 9), beta=0.5, method="batch", init=(None, np.arange(40) % 9), random_state=0
    ).fit(W)
    assert_array_equal(given_labels.row_labels_, plain.row_labels_)


def test_fixed_elements_do_not_move():
    W = np.random.default_rng(0).poisson(1.0, (30, 20))
    fixed = np.where(np.arange(30) < 6, np.arange(30) % 3, -1)
    for beta in (0.5, 0.8):
        model = CoClustering(3, beta=beta, method="batch", fixed=(fixed, None), random_state=0)
        assert_array_equal(model.fit(W).row_labels_[:6], fixed[:6])
