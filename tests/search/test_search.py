"""Merges and splits cost what they promise, and what is found is a local optimum as asked for."""

import itertools
import tracemalloc
import warnings

import numpy as np
import pytest
from helpers import problem_of, problems, run_at, started
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import xlogy

import comarkov
from comarkov import CoClustering, datasets
from comarkov.costs import objective
from comarkov.reproduce.experiments.synthetic import CIRCULANT_TRUTH, circulant_blocks
from comarkov.search.optimise.methods import Member, _agree, consensus, over_split, search
from comarkov.search.optimise.refine import Swap, polish
from comarkov.search.state.side import Side


@given(problems())
def test_a_merge_costs_what_it_promises(problem):
    W, k, l, beta, seed = problem
    assume(k >= 2)
    state = started(W, k, l, seed)
    side = state.rows
    promised = state.merge_costs(side, beta)
    assert np.isinf(promised[np.tril_indices(k)]).all()
    before = state.information().cost(beta)
    for i in range(k):
        for j in range(i + 1, k):
            after = state.with_side(side, side.merged(j, i))
            labels = np.where(side.labels == j, i, side.labels)
            assert_array_equal(after.rows.labels, np.where(labels > j, labels - 1, labels))
            cost = comarkov.cost(W, *after.labels(), beta)
            assert cost - before == pytest.approx(promised[i, j], abs=1e-9)


@given(problems())
def test_a_split_saves_what_it_promises(problem):
    W, k, l, beta, seed = problem
    state = started(W, k, l, seed)
    side = state.rows
    before = state.cost(beta)
    for a, (gain, leavers) in enumerate(state.splits(side, run_at(beta, seed))):
        if leavers.size == 0:
            assert (side.labels == a).sum() == 1
            continue
        assert 0 < leavers.size < (side.labels == a).sum()
        assert (side.labels[leavers] == a).all()
        labels = side.labels.copy()
        labels[leavers] = k
        after = state.with_side(side, Side(side.joint, labels, k + 1, side.free))
        assert before - after.cost(beta) == pytest.approx(gain, abs=1e-9)


def test_a_copy_shares_nothing():
    state = started(np.random.default_rng(0).poisson(1.0, (30, 20)), 4, 3, 0)
    labels, cost = state.rows.labels.copy(), state.cost(0.7)
    other = state.copy()
    assert other.sweep(other.rows, run_at(0.7)).moves > 0
    assert_array_equal(state.rows.labels, labels)
    assert state.cost(0.7) == cost


def test_after_new_labels_only_clusters_that_changed_are_due():
    state = started(np.random.default_rng(0).poisson(1.0, (60, 20)), 6, 3, 0)
    labels = state.rows.labels.copy()
    labels[np.flatnonzero(labels == 4)[:3]] = 2
    side = state.rows.relabelled(labels)
    away = ~np.isin(labels, [2, 4])
    side.sweep(None, run_at(1.0), complete=False)
    assert_array_equal(side.labels[away], labels[away])
    assert np.isinf(side.clusters.margin[away]).all()
    assert not np.isinf(side.clusters.margin[~away]).any()
    assert side.sweep(None, run_at(1.0)).complete


def test_a_swap_never_empties_a_cluster():
    labels = np.array([0, 0, 0, 1, 1, 2])
    swap = Swap(0.0, 0, (1, 2), np.array([0]))
    assert_array_equal(swap.applied(labels), [2, 0, 0, 1, 1, 1])
    assert swap.applied(np.array([1, 0, 0, 1, 1, 2])) is None  # who was to leave has left
    assert swap.applied(np.array([0, 1, 1, 1, 1, 2])) is None  # nobody else is left


@given(problems(), st.booleans())
def test_every_result_is_a_local_optimum_with_the_clusters_asked_for(problem, one_side):
    W, k, l, beta, seed = problem
    counts = (k, None) if one_side else (k, l)
    model = CoClustering(counts, beta=beta, random_state=seed).fit(W)
    assert set(model.row_labels_) - {-1} == set(range(k))
    if not one_side:
        assert set(model.column_labels_) - {-1} == set(range(l))
    cost = comarkov.cost(W, model.row_labels_, model.column_labels_, beta)
    assert model.cost_ == pytest.approx(cost, abs=1e-9)
    sizes = np.bincount(model.row_labels_[model.row_labels_ >= 0])
    for x in np.flatnonzero(model.row_labels_ >= 0):
        for a in range(k):
            labels = model.row_labels_.copy()
            if sizes[labels[x]] > 1:
                labels[x] = a
                moved = comarkov.cost(W, labels, model.column_labels_, beta)
                assert moved >= cost - 1e-9


def test_more_members_never_cost_more():
    """In noise members differ, so that the last is often not the best."""
    gains = []
    for seed in range(3):
        W = np.random.default_rng(seed).poisson(0.4, (60, 40)) + np.eye(60, 40, dtype=int)
        costs = [
            CoClustering((6, 5), n_init=n, random_state=seed).fit(W).cost_ for n in (1, 2, 3, 4, 6)
        ]
        gains += [less - more for less, more in itertools.pairwise(costs)]
    assert min(gains) >= -1e-9
    assert max(gains) > 1e-4


def results(W, **options):
    """How many members and consensuses a search makes, but for the best."""
    return len(search(problem_of(W, 4, 4), run_at(0.7, n_init=3, **options)).others)


def test_a_search_that_may_settle_ends_once_two_members_agree():
    rng = np.random.default_rng(0)
    blocks = rng.poisson(np.where(np.eye(4), 3.0, 0.2)[np.arange(120) % 4][:, np.arange(80) % 4])
    noise = rng.poisson(0.4, (120, 80))
    assert results(blocks, may_settle=True) == 1
    assert results(blocks) == 3
    assert results(noise, may_settle=True) == 3


def test_members_agree_up_to_a_few_elements():
    rows, columns = np.arange(300) % 3, np.arange(50) % 2
    one = Member(1.0, [rows, columns])
    near, far = (rows + 1) % 3, (rows + 1) % 3
    near[:9:3] = far[:12:3] = 2  # three and four elements
    assert _agree([one, Member(1.0005, [near, columns])])
    assert _agree([one, Member(1.0, [near, None])])
    assert not _agree([one, Member(1.0, [far, 1 - columns])])
    assert not _agree([one, Member(1.002, [near, columns])])


@pytest.mark.parametrize("k", [3, 6])
@pytest.mark.parametrize("beta", [0.9, 0.7, 0.5, 0.2])
def test_circulant_blocks_are_found_every_time(k, beta):
    X = circulant_blocks(k)
    for seed in range(3):
        model = CoClustering(3, beta=beta, n_init=1, random_state=seed).fit(X)
        for labels in (model.row_labels_, model.column_labels_):
            assert comarkov.evaluate.matching_accuracy(CIRCULANT_TRUTH, labels) == 1


def test_polish_leaves_a_local_optimum_and_holds_two_tables_at_a_time():
    """Of the large side: that of the state, and that of a trial or a copy."""
    rng = np.random.default_rng(0)
    columns = np.arange(60) // 10
    W = rng.poisson(np.where(np.arange(6000)[:, None] % 6 == columns, 1.0, 0.2))
    start = started(W, 6, 6, 0)
    wrong = np.where(columns == 5, 4, columns)  # two groups as one, another in two
    wrong[:5] = 5
    start.rows = Side(start.joint, np.arange(6000) % 6, 6, start.rows.free)
    start.columns = Side(start.joint.T, wrong, 6, start.columns.free)
    polish(start.copy(), run_at(0.7))  # which may compile
    tracemalloc.start()
    state = start.copy()
    size, _ = tracemalloc.get_traced_memory()
    polish(state, run_at(0.7))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert comarkov.evaluate.matching_accuracy(columns, state.columns.labels) == 1
    assert peak < 2.4 * size


def test_consensus_of_equal_members_is_that_member():
    W = np.random.default_rng(0).poisson(0.5, (50, 40))
    W[3] = 0
    problem = problem_of(W, 5, 4)
    rows, columns = over_split(problem, run_at(0.7)).labels()
    renamed = np.where(rows < 0, -1, (rows + 1) % 5)
    members = [Member(0.0, [rows, columns]), Member(0.0, [renamed, columns])]
    state = consensus(problem, members, run_at(0.7, seed=1))
    assert comarkov.evaluate.adjusted_rand_index(rows, state.rows.labels) == 1
    assert comarkov.evaluate.adjusted_rand_index(columns, state.columns.labels) == 1


def test_more_time_never_costs_more():
    """The fit ends after so many sweeps, as when time is over."""
    W = np.random.default_rng(0).poisson(0.4, (60, 40))
    costs = []
    for last in range(1, 400, 19):
        seen = itertools.count(1)
        model = CoClustering(
            (5, 4), random_state=0, callback=lambda _, seen=seen, last=last: next(seen) >= last
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            costs.append(model.fit(W).cost_)
    settled = costs[2:]  # the first member's seeds take some sweeps
    assert all(more <= less + 1e-9 for less, more in itertools.pairwise(settled))
    assert settled[-1] < settled[0]


@pytest.mark.parametrize("beta", [0.1, 0.2, 0.3])
def test_below_one_half_what_is_far_from_the_optimum_at_one_is_found(beta):
    women = datasets.load("southern-women").matrix
    rows = np.isin(np.arange(18), [*range(9), 15])
    columns = np.repeat([0, 1, 2], [5, 4, 5])
    model = CoClustering((2, 3), beta=beta, random_state=0).fit(women)
    assert model.cost_ <= comarkov.cost(women, ~rows * 1, columns, beta) + 1e-9


@pytest.mark.parametrize("counts", [(5, 4), (5, None), (None, 4), (300, 200)])
def test_the_first_member_is_as_asked_for_also_when_there_is_no_time(counts):
    W = np.random.default_rng(0).poisson(0.5, (300, 200))
    state = problem_of(W, *counts).seeded(run_at(0.7, max_time=1e-9))
    for side, k in zip((state.rows, state.columns), counts, strict=True):
        assert (side is None) == (k is None)
        assert side is None or set(side.labels) == set(range(k))


def test_over_split_without_time_merges_only_tiny_data():
    late = run_at(0.7, max_time=1e-9)
    rng = np.random.default_rng(0)
    assert over_split(problem_of(rng.poisson(0.5, (300, 200)), 5, 4), late) is None
    state = over_split(problem_of(rng.poisson(0.5, (30, 20)), 5, 4), late)
    assert set(state.rows.labels) - {-1} == set(range(5))
    assert set(state.columns.labels) - {-1} == set(range(4))


def test_labels_of_one_side_are_where_it_starts():
    """On a side that is given clusters keep their numbers, and the other side is found to them."""
    rates = np.array([[3, 0.5, 0.5], [0.5, 3, 0.5], [0.5, 0.5, 3], [2, 2, 0.5]])
    W = np.random.default_rng(0).poisson(rates[np.arange(60) % 4][:, np.arange(40) % 3])
    first = CoClustering((4, 3), random_state=0).fit(W)
    rows = np.array([2, 0, 3, 1])[first.row_labels_]
    half = CoClustering((4, 3), init=(rows, None), random_state=1).fit(W)
    assert_array_equal(half.row_labels_, rows)
    assert_array_equal(half.column_labels_, first.column_labels_)


def pair_terms(masses):
    """Σ_y g(A_yi, A_yj) for i < j."""
    i, j = np.triu_indices(masses.shape[1], 1)
    u, v = masses[:, i], masses[:, j]
    return (xlogy(u + v, u + v) - xlogy(u, u) - xlogy(v, v)).sum(axis=0)


@pytest.mark.parametrize("items", [1, 2, 5, 100])
def test_pair_costs_are_sums_over_all_items_of_all_tables(items, monkeypatch):
    monkeypatch.setattr(objective, "ITEMS_COPIED", items)
    rng = np.random.default_rng(0)
    one, other = rng.poisson(1.0, size=(5, 4)), rng.gamma(1.0, size=(7, 4))
    costs = objective.sum_pair_terms([(one, 0.5), (other, -2.0), (np.full((1, 4), np.nan), 0.0)])
    expected = 0.5 * pair_terms(one) - 2.0 * pair_terms(other)
    assert_allclose(costs[np.triu_indices(4, 1)], expected, atol=1e-12)
    alone = objective.sum_pair_terms([(one, 1.0)])
    assert_allclose(alone[np.triu_indices(4, 1)], pair_terms(one), atol=1e-12)
    assert np.isposinf(costs[np.tril_indices(4)]).all()
