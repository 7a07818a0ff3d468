import numpy as np
import pytest
from helpers import run_at
from numpy.testing import assert_array_equal
from paper_algorithms import annitcc, sgitcc

import comarkov
from comarkov import CoClustering
from comarkov.joint.joint import joint
from comarkov.reproduce.experiment import solve
from comarkov.reproduce.experiments.synthetic import circulant_blocks
from comarkov.search.optimise.refine import schedule
from comarkov.search.state.side import Side


@pytest.mark.parametrize(
    ("beta", "step", "expected"),
    [
        (1.0, 0.1, [1.0]),
        (0.7, 0.1, [1.0, 0.9, 0.8, 0.7]),
        (0.75, 0.1, [1.0, 0.9, 0.8, 0.75]),
        (0.0, 0.5, [1.0, 0.5, 0.0]),
        (0.9, 5.0, [1.0, 0.9]),
        (0.0, 1e12, [1.0, 0.0]),
    ],
)
def test_schedule(beta, step, expected):
    assert schedule(beta, step) == expected


@pytest.mark.filterwarnings("ignore:No convergence")
@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("ties", ["stay", "first"])
@pytest.mark.parametrize("method", ["sequential", "anneal"])
def test_complete_sweeps_are_the_algorithms_of_the_paper(method, ties, seed):
    """Label for label; sweeps that skip rows end elsewhere in a third of these problems."""
    rng = np.random.default_rng(seed)
    shape, counts = rng.integers(20, 60, 2), tuple(int(k) for k in rng.integers(2, 6, 2))
    blocks = rng.integers(4, size=(4, 4))[np.ix_(*(np.arange(n) % 4 for n in shape))]  # has ties
    P = (rng.gamma(0.3, size=shape), rng.poisson(1.0, shape), blocks)[seed % 3].astype(float)
    P[:, 0] += 1  # no row is empty
    P[0] += 1
    start = tuple(rng.permutation(np.arange(n) % k) for n, k in zip(shape, counts, strict=True))
    beta, tol = float(rng.choice([0, 0.2, 0.5, 0.7, 1])), float(rng.choice([0, 1e-3]))
    settings = {"init": start, "sweeps": "all", "tol": tol, "max_iter": 20, "ties": ties}
    model = CoClustering(counts, beta, method=method, **settings).fit(P)
    if method == "sequential":
        expected = sgitcc(P, beta, start, counts, tol=tol, ties=ties)
    else:
        expected = annitcc(P, beta, start, counts, tol=tol, ties=ties)
    assert_array_equal(model.row_labels_, expected[0])
    assert_array_equal(model.column_labels_, expected[1])


def test_the_transcribed_algorithm_chooses_the_least_cost():
    """One sweep over the rows of a matrix with ties, by the cost function alone."""
    P = np.kron(np.eye(3), np.ones((2, 2))) + np.eye(6)[::-1]
    rows, columns = np.array([0, 1, 2, 0, 0, 0]), np.array([0, 0, 1, 1, 1, 1])
    expected = rows.copy()
    for x in range(6):
        home = expected[x]
        if (expected == home).sum() == 1:
            continue
        trials = [np.where(np.arange(6) == x, a, expected) for a in range(3)]
        costs = np.array([comarkov.cost(P, trial, columns, 0.4) for trial in trials])
        best = np.flatnonzero(costs < costs.min() + 1e-9)
        expected[x] = home if home in best else best[0]
    moved, _ = sgitcc(P, 0.4, (rows, columns), (3, 2), 1)
    assert_array_equal(moved, expected)


def test_the_path_leads_from_one_to_beta():
    X = circulant_blocks(6)
    path = solve(X, (3, 3), 0.75, "anneal", random_state=0)
    assert [step.beta for step in path] == [1.0, 0.9, 0.8, 0.75]
    for step in path:
        cost = comarkov.cost(X, step.row_labels, step.column_labels, step.beta)
        assert step.cost == pytest.approx(cost, abs=1e-12)
    alone = solve(X, (3, 3), 1.0, "anneal", random_state=0)
    assert path[0].cost == pytest.approx(alone[-1].cost, abs=1e-12)


def test_late_sweeps_visit_few_rows_and_the_end_is_certified():
    rng = np.random.default_rng(0)
    centres = rng.gamma(0.3, size=(8, 60))
    X = rng.poisson(centres[rng.integers(8, size=3000)] * 0.5)
    X = X[X.sum(1) > 0]
    side = Side(joint(X), rng.integers(8, size=X.shape[0]), 8, np.arange(X.shape[0]))
    complete, visits = True, []
    for _ in range(200):
        visits.append(side.sweep(None, run_at(1.0), complete))
        complete = visits[-1].moves == 0
        if complete and visits[-1].complete:
            break
    assert sum(not visit.complete for visit in visits) > 1
    assert side.sweep(None, run_at(1.0)).moves == 0
    assert side.sweep(None, run_at(1.0)).moves == 0


def test_given_labels_need_one_start():
    X = circulant_blocks(3)
    X[5] = 0
    labels = np.where(X.sum(1) > 0, np.arange(90) % 3, -1)
    stages = set()
    CoClustering(
        3,
        method="anneal",
        n_init=4,
        init=(labels, None),
        callback=lambda progress: stages.add(progress.stage),
    ).fit(X)
    assert "rows, start 2" not in stages
    assert "columns, start 4" in stages
