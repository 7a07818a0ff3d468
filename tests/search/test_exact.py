"""Tiny data: what is returned is the global optimum, by an oracle that tries all partitions."""

import itertools
import warnings
from math import inf

import numpy as np
import pytest
from helpers import problem_of, relation_cost, run_at, weights
from hypothesis import assume, example, given
from hypothesis import strategies as st

import comarkov
from comarkov import CoClustering, MarkovAggregation
from comarkov.costs.objective import markov
from comarkov.search.optimise import exact
from comarkov.search.optimise.exact import count, every_partition, optimum
from comarkov.search.optimise.methods import Method

BETA = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0, 1))
SAME = 1e-9  # costs that differ by less are equal; so are the optimum's, within a tenth of that


def canonical(labels):
    """Clusters numbered by their first elements; -1 stays."""
    number = {}
    return tuple(-1 if a < 0 else number.setdefault(a, len(number)) for a in labels)


def partitions(mass, k):
    """All labels of elements in k clusters, in lexicographic order; -1 without mass."""
    inside = np.flatnonzero(mass)
    for labels in itertools.product(range(k), repeat=inside.size):
        if list(dict.fromkeys(labels)) == list(range(k)):
            every = np.full(mass.size, -1)
            every[inside] = labels
            yield tuple(every.tolist())


def best_of_all(sides, cost):
    """The least cost, and the first labels that have it; none if it is not clear which cost it."""
    costs = {labels: cost(*labels) for labels in itertools.product(*sides)}
    least = min(costs.values())
    near = [labels for labels, value in costs.items() if value <= least + 10 * SAME]
    assume(all(costs[labels] <= least + SAME / 100 for labels in near))
    return least, min(near)


@st.composite
def tiny_problems(draw):
    W = draw(weights(max_rows=5, max_columns=4))
    k, l = (draw(st.integers(1, np.count_nonzero(W.sum(axis=axis)))) for axis in (1, 0))
    return W, k, l, draw(BETA)


def is_even(W):
    """Are costs that differ by less than rounding equal, not those of very small masses?"""
    return min(W.sum(axis=axis)[W.sum(axis=axis) > 0].min() for axis in (0, 1)) > 1e-3 * W.sum()


def fitted(model, W):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows and columns without mass
        return model.fit(W)


# Optima of several partitions of the columns, the first of which has not the first of the rows.
TIED = np.array([[0, 1, 0], [0, 1, 1], [1, 1, 0], [1, 0, 1], [1, 1, 1]])


@example((TIED, 2, 2, 0.0))
@given(tiny_problems())
def test_the_default_is_the_first_of_the_global_optima(problem):
    W, k, l, beta = problem
    sides = partitions(W.sum(axis=1), k), partitions(W.sum(axis=0), l)
    least, first = best_of_all(sides, lambda rows, columns: comarkov.cost(W, rows, columns, beta))
    model = fitted(CoClustering((k, l), beta=beta, n_init=1, random_state=0), W)
    assert model.cost_ == pytest.approx(least, abs=SAME)
    if is_even(W):
        assert (canonical(model.row_labels_), canonical(model.column_labels_)) == first


@given(tiny_problems())
def test_one_side_is_optimal_too(problem):
    W, k, _, beta = problem
    each = np.arange(W.shape[1])
    least, (first,) = best_of_all(
        [partitions(W.sum(axis=1), k)],
        lambda rows: comarkov.cost(W, rows, each, 0.5),  # the same at every β
    )
    rows = fitted(CoClustering((k, None), beta=beta, n_init=1, random_state=0), W)
    columns = fitted(CoClustering((None, k), beta=beta, n_init=1, random_state=0), W.T)
    assert rows.cost_ == pytest.approx(least, abs=SAME)
    assert columns.cost_ == pytest.approx(least, abs=SAME)
    if is_even(W):
        assert canonical(rows.row_labels_) == canonical(columns.column_labels_) == first


@given(st.integers(2, 6), BETA, st.integers(0, 2**32 - 1))
def test_chains_are_aggregated_at_the_least_cost(n, beta, seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, n + 1))
    P = rng.dirichlet(np.full(n, 0.3), n) + 1e-3
    P /= P.sum(axis=1, keepdims=True)
    model = MarkovAggregation(k, beta=beta, n_init=1, random_state=0).fit(P)
    flow = model.stationary_distribution_[:, None] * P
    least, (first,) = best_of_all(
        [partitions(np.ones(n), k)],
        lambda labels: relation_cost(flow, labels, labels, markov(beta)),
    )
    assert model.cost_ == pytest.approx(least, abs=SAME)
    assert canonical(model.labels_) == first


# --- what is left to the search ---------------------------------------------------------------

HARD = np.array([[2, 0, 0, 0], [1, 2, 1, 0], [1, 1, 2, 2], [2, 0, 2, 0], [1, 0, 0, 1]])
LEAST, SEARCHED = 0.0575, 0.1028  # at β = 0: the optimum, and what the search alone ends with


def test_labels_to_start_from_and_the_papers_methods_lead_where_they_lead(monkeypatch):
    least = CoClustering((3, 2), beta=0.0, random_state=0).fit(HARD).cost_
    start = [0, 1, 2, 2, 2], [0, 0, 0, 1]
    models = [
        CoClustering((3, 2), beta=0.0, init=start, random_state=0),
        *(
            CoClustering((3, 2), beta=0.0, method=method, random_state=0)
            for method in ("sequential", "anneal")
        ),
    ]
    before = [model.fit(HARD).cost_ for model in models]
    assert min(before) > least + 1e-3
    monkeypatch.setattr(exact, "optimum", lambda *_: None)
    assert before == [model.fit(HARD).cost_ for model in models]


def test_the_other_results_of_the_search_are_kept():
    problem = problem_of(HARD, 3, 2)
    solution = Method("auto", n_init=3).solve(problem, run_at(0.0))
    assert len(solution.others) == 3  # two members and their consensus, as without the optimum
    assert solution.state.n_iter > 0


def test_without_time_and_for_larger_data_there_is_no_optimum(monkeypatch):
    assert optimum(problem_of(HARD, 3, 2), run_at(0.0)) is not None
    assert optimum(problem_of(HARD, 3, 2), run_at(0.0, max_time=1e-9)) is None
    assert optimum(problem_of(np.ones((40, 30)), 3, 2), run_at(0.0)) is None
    assert optimum(problem_of(np.ones((300, 300)), 1, 1), run_at(0.0)) is None
    model = CoClustering((3, 2), beta=0.0, n_init=1, random_state=0)
    assert model.fit(HARD).cost_ == pytest.approx(LEAST, abs=1e-4)
    monkeypatch.setattr(exact, "optimum", lambda *_: None)
    assert model.fit(HARD).cost_ > SEARCHED - 1e-4


@pytest.mark.parametrize("n", range(1, 8))
def test_partitions_are_all_there_in_order(n):
    for k in range(1, n + 1):
        every = list(partitions(np.ones(n), k))
        assert [tuple(line) for line in every_partition(n, k)] == every
        assert count(n, k) == len(every)


def test_more_partitions_than_can_be_looked_at_are_infinitely_many():
    assert count(25, 2) == 2**24 - 1
    assert count(1000, 999) == 1000 * 999 / 2
    assert count(30, 15) == count(10**6, 10**6 - 1) == count(10**6, 2) == inf
    assert count(10**6, 1) == count(10**6, 10**6) == 1
