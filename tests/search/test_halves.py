"""Halves of the columns: what they agree on, and whether one predicts the other."""

import numpy as np
import pytest
from helpers import run_at

from comarkov import datasets
from comarkov.joint.joint import joint
from comarkov.search.select.number_ladder import Agreement, agreement, held_out_gain


def planted(n_clusters=(5, 4), shape=(200, 160), seed=0, **kind):
    return datasets.planted(shape, n_clusters, random_state=seed, **kind).matrix.toarray()


def test_halves_agree_on_what_is_there():
    data = joint(planted(mean=1.5))
    halvings = [run_at(0.7, seed) for seed in range(2)]
    measured = agreement(data, halvings)
    assert measured.mean(5) > 0.95
    assert measured.mean(5) > measured.mean(10) + 0.2
    assert measured.choice() == 5
    rng = np.random.default_rng(0)
    noise = agreement(joint(rng.poisson(1, size=(80, 80))), halvings)
    assert noise.best < 0.1
    assert noise.choice() is None


@pytest.mark.parametrize(
    ("values", "choice", "near"),
    [
        ({2: 0.9, 3: 0.5, 4: 0.3, 8: 0.2}, 2, [2]),
        ({2: 0.6, 3: 0.5, 4: 0.55, 8: 0.3}, 4, [4]),
        ({2: 0.8, 3: 0.65, 4: 0.2, 8: 0.1}, 3, [2, 3]),
        ({2: 0.5, 3: 0.5, 4: 0.5, 8: 0.5}, None, [8]),  # more might be better
        ({2: 0.5, 3: 0.5, 4: 0.5, 7: 0.4, 8: 0.3}, None, [4, 7]),  # too near the ceiling
        ({2: 0.1, 3: 0.15, 4: 0.1, 8: 0.0}, None, []),  # nothing in common
    ],
)
def test_the_largest_number_with_nearly_the_best_score_is_chosen(values, choice, near):
    measured = Agreement({k: np.full(4, value) for k, value in values.items()}, ceiling=8)
    assert measured.nearly_best() == near
    assert measured.choice() == choice


def test_rows_that_have_nothing_in_a_half_are_left_out_quietly():
    W = np.zeros((40, 40))
    W[np.arange(40), np.arange(40)] = 3  # each row is in one half only
    gain = held_out_gain(joint(W), (2, 2), [run_at(0.7, seed) for seed in range(2)])
    assert gain == (0.0, 0.0)
    assert gain.z == 0


def test_clusters_of_one_half_predict_the_other_if_there_are_any():
    runs = [run_at(0.7, seed) for seed in range(2)]
    gain = held_out_gain(joint(planted()), (5, 4), runs)
    assert gain.z > 10
    rng = np.random.default_rng(0)
    rates = np.outer(rng.lognormal(size=150), rng.lognormal(size=100))
    noise = held_out_gain(joint(rng.poisson(rates)), (5, 4), runs)
    assert noise.z < 2
    assert abs(noise.mean) < 0.01 * gain.mean
