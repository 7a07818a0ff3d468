"""Weights as large, small, unequal and tied as they come: finite, monotone, deterministic."""

from itertools import groupby, pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import comarkov
from comarkov import CoClustering, MarkovAggregation
from comarkov.joint.messages import InternalError
from comarkov.search.optimise import refine
from comarkov.search.optimise.refine import Visit, check_descent
from comarkov.search.state.coclusters import CoClusters

RNG = np.random.default_rng(0)


def dominated(shape):
    """One entry has nearly all of the mass."""
    W = RNG.gamma(1.0, size=shape)
    W[3, 4] = 1e15
    return W


EXTREMES = {
    "tiny": RNG.gamma(1.0, size=(30, 20)) * 1e-300,
    "huge": RNG.gamma(1.0, size=(30, 20)) * 1e300,
    "from 1e-300 to 1": 10.0 ** RNG.uniform(-300, 0, (30, 20)),
    "from 1 to 1e300": 10.0 ** RNG.uniform(0, 300, (30, 20)),
    "from 1e-300 to 1e300": 10.0 ** RNG.uniform(-300, 300, (30, 20)),
    "counts up to 2^53": RNG.integers(1, 2**53, (30, 20)),
    "largest counts": np.full((30, 20), 2**53) - RNG.integers(0, 3, (30, 20)),
    "dominated": dominated((30, 20)),
    "ties": np.ones((30, 20)),
    "ties of blocks": np.kron(np.eye(3), np.ones((10, 6))) + 1,
}


def fitted(X, **parameters):
    costs = []
    model = CoClustering(
        (4, 3), random_state=0, callback=lambda progress: costs.append(progress), **parameters
    ).fit(X)
    return model, costs


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("beta", [0.2, 1.0])
def test_results_are_finite_and_costs_fall(name, beta):
    X = EXTREMES[name]
    model, reports = fitted(X, beta=beta)
    assert np.isfinite(model.cost_)
    assert model.cost_ >= 0
    assert model.cost_ == pytest.approx(
        comarkov.cost(X, model.row_labels_, model.column_labels_, beta), abs=1e-9
    )
    assert set(model.row_labels_) == set(range(4))
    assert set(model.column_labels_) == set(range(3))
    assert set(model.predict(X)) <= set(range(4))
    for _, stage in groupby(reports, key=lambda report: (report.stage, report.beta)):
        for before, after in pairwise(stage):
            if after.iteration == before.iteration + 1:
                assert after.cost <= before.cost + 1e-9
    again, _ = fitted(X, beta=beta)
    assert np.array_equal(model.row_labels_, again.row_labels_)
    assert model.cost_ == again.cost_


@pytest.mark.nightly
def test_a_row_of_ten_million_entries():
    """The largest row of a matrix of which all others are short."""
    n = 10**7
    long = sp.csr_array(np.arange(n, dtype=float)[None] % 7 + 1)
    short = sp.random_array(
        (5, n), density=1e-4, format="csr", random_state=np.random.default_rng(0)
    )
    model = CoClustering((3, None), n_init=1, random_state=0).fit(sp.vstack([long, short]))
    assert np.isfinite(model.cost_)
    assert set(model.row_labels_) == {0, 1, 2}
    assert (model.row_labels_ == model.row_labels_[0]).sum() < 5


# --- Markov chains ------------------------------------------------------------------------------


@pytest.mark.parametrize("down", [1e-2, 1e-4])
def test_chains_with_masses_below_1e_200_converge(down):
    """A walk that drifts to one end; a search that does not converge would warn."""
    n = 160
    P = np.diag(np.full(n - 1, 0.9), 1) + np.diag(np.full(n - 1, down), -1)
    P += np.diag(1 - P.sum(1))
    model = MarkovAggregation(3, random_state=0).fit(P)
    assert 0 < model.stationary_distribution_.min() < 1e-200
    assert model.stationary_distribution_ @ P == pytest.approx(model.stationary_distribution_)
    assert np.isfinite(model.cost_)
    assert set(model.labels_) == {0, 1, 2}


# --- internal errors ----------------------------------------------------------------------------


def test_a_cost_that_rises_is_an_internal_error_with_a_report(monkeypatch):
    monkeypatch.setattr(CoClusters, "sweep", lambda *_: Visit(1, -1e-3, True))
    with pytest.raises(InternalError) as error:
        CoClustering((4, 3), beta=0.7, random_state=0).fit(EXTREMES["dominated"])
    message = str(error.value)
    for part in ("Please report", "comarkov 0", "Seed(entropy=", "max_iter="):
        assert part in message


@pytest.mark.parametrize("after", [2.0 + 1e-7, np.nan, np.inf])
def test_what_is_no_descent(after):
    run = refine.Run(0.5, None)
    check_descent(2.0, 2.0 + 1e-9, run, "polish")  # rounding
    with pytest.raises(InternalError):
        check_descent(2.0, after, run, "polish")
