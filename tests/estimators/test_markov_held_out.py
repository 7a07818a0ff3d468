"""Transitions kept out of the fit test whether a chain is lumpable."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from helpers import lumpable, refused

from comarkov import MarkovAggregation, evaluate


def test_transitions_held_out_test_lumpability():
    rng = np.random.default_rng(0)
    P, labels, _ = lumpable(0, n=24, k=3)
    path = [0]
    for u in rng.random(30_000):
        path.append(int(np.searchsorted(np.cumsum(P[path[-1]]), u * (1 - 1e-12))))
    model = MarkovAggregation(3, held_out=0.5, random_state=0).fit(path)
    assert evaluate.matching_accuracy(labels, model.labels_) == 1
    assert model.lumpability_test_.p_value > 0.01
    assert model.lumpability_test_.n_transitions == 15_000
    again = model.test_lumpability(path[15_000:])
    assert again == model.lumpability_test_
    wrong = MarkovAggregation(3, fixed=np.arange(24) % 3, held_out=0.5).fit(path)
    assert wrong.lumpability_test_.p_value < 1e-10
    table = np.bincount(np.array(path[:-1]) * 24 + path[1:], minlength=576).reshape(24, 24)
    thinned = MarkovAggregation(3, held_out=0.3, random_state=0).fit(table)
    assert thinned.lumpability_test_.p_value > 0.01
    assert thinned.lumpability_test_.n_transitions == pytest.approx(9000, abs=300)
    assert not hasattr(thinned.set_params(held_out=0.0).fit(table), "lumpability_test_")
    with refused("99"):
        model.test_lumpability([0, 99, 0])
    with refused("2 states", "24"):
        model.test_lumpability(np.array([[3, 1], [1, 3]]))
    with refused("counts"):
        model.test_lumpability(P)


def test_any_kind_of_counts_can_be_tested():
    """Matrices after sequences and the other way round; names in any order; one answer."""
    rng = np.random.default_rng(0)
    states = ["sun", "rain", "snow", "fog"]
    counts = rng.poisson(40, (4, 4))
    P = counts / counts.sum(1, keepdims=True)
    path = ["sun"]
    for u in rng.random(500):
        path.append(states[np.searchsorted(np.cumsum(P[states.index(path[-1])]), u * (1 - 1e-9))])
    seen = pd.DataFrame(0, states, states)
    for s, t in pairwise(path):
        seen.loc[s, t] += 1
    frame = pd.DataFrame(P, states, states)
    asked = {"fixed": [0, 0, 1, 1], "random_state": 0}
    exact = MarkovAggregation(2, kind="probabilities", **asked).fit(frame)
    expected = exact.test_lumpability(seen)
    assert expected.n_transitions == 500
    turned = seen.loc[states[::-1], [*states[2:], *states[:2]]]
    assert exact.test_lumpability(path) == exact.test_lumpability(seen.to_numpy()) == expected
    assert exact.test_lumpability(turned) == expected
    assert MarkovAggregation(2, **asked).fit(P).test_lumpability(seen) == expected
    alphabetic = [asked["fixed"][states.index(s)] for s in sorted(states)]
    model = MarkovAggregation(2, kind="sequences", fixed=alphabetic, random_state=0).fit(path)
    again = model.test_lumpability(path)
    assert again.statistic == pytest.approx(expected.statistic)
    for X in ([path], turned, seen.sort_index(axis=1).sort_index().to_numpy()):
        assert model.test_lumpability(X) == again
    with refused("hail"):
        exact.test_lumpability(["sun", "hail", "sun"])


def test_nothing_of_an_earlier_fit_is_left():
    frame = pd.DataFrame([[3, 1], [1, 3]], list("ab"), list("ab"))
    model = MarkovAggregation(2, held_out=0.1, random_state=0).fit(frame)
    assert hasattr(model, "feature_names_in_")
    model.set_params(held_out=0.0).fit(list("abcabacba"))
    for name in ("n_features_in_", "feature_names_in_", "lumpability_test_"):
        assert not hasattr(model, name)


def test_steps_ahead_are_compared_with_held_out_sequences():
    """A chain of clusters that is lumpable predicts any number of steps; noise keeps nothing."""
    P, labels, _ = lumpable(0, k=2, Q=np.array([[0.9, 0.1], [0.3, 0.7]]))
    walk, rng = [0], np.random.default_rng(1)
    for _ in range(20_000):
        walk.append(int(rng.choice(len(P), p=P[walk[-1]])))
    model = MarkovAggregation(2, held_out=0.5, random_state=0).fit(walk)
    assert evaluate.adjusted_rand_index(model.labels_, labels) == 1
    assert model.step_test_["steps"].tolist() == [1, 2, 5, 10]
    assert (model.step_test_["error"] < 0.03).all()
    assert (np.diff(model.step_test_["kept"]) < 0.01).all()
    again = model.test_steps(walk[-10_001:])
    assert again["error"] == pytest.approx(model.step_test_["error"], abs=1e-3)
    shuffled = rng.permutation(walk)
    assert model.test_steps(shuffled)["kept"][0] < 0
