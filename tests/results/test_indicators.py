"""Indicators of clusters: against their definition, on noise, and on records."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import comarkov
from comarkov import CoClustering, Results
from comarkov.results.indicators import indicator_test

RNG = np.random.default_rng(5)


def test_values_are_specificity_times_fidelity():
    weights, labels = RNG.poisson(0.8, (30, 12)).astype(float), RNG.integers(-1, 3, 30)
    test = indicator_test(sp.csr_array(weights), labels, 3)
    means = np.array([weights[labels == a].mean(axis=0) for a in range(3)])
    fidelity = np.array([(weights[labels == a] > 0).mean(axis=0) for a in range(3)])
    np.testing.assert_allclose(test.values, means / means.sum(axis=0) * fidelity)
    shares = indicator_test(sp.csr_array(weights), labels, 3, are_shares=True)
    np.testing.assert_allclose(shares.values, means / means.sum(axis=0) * means)


def test_p_values_are_corrected_for_all_elements():
    clusters = np.repeat(np.arange(3), 25)
    noise = [RNG.poisson(RNG.gamma(0.5, 1.0, 60), (75, 60)) for _ in range(40)]
    tests = [indicator_test(sp.csr_array(each), clusters, 3) for each in noise]
    assert sum((test.p_values <= 0.05).any() for test in tests) <= 6  # 2 are expected
    planted = noise[0].astype(float)
    planted[:, :3] += 2 * (clusters[:, None] == np.arange(3))
    p_values = indicator_test(sp.csr_array(planted), clusters, 3).p_values
    assert (p_values[np.arange(3), np.arange(3)] <= 0.05).all()
    assert p_values.min() == pytest.approx(1 / 200)


def test_what_cannot_be_tested_has_no_indicators():
    data = comarkov.Data(RNG.poisson(1, (20, 20)), [f"r{i}" for i in range(20)], None)
    results = Results.of(CoClustering((2, 2), random_state=0).fit(data), data)
    assert results.indicators() == []  # columns without names
    one = Results.of(results.fitted.cut((1, 1)), data)
    assert one.tables()["indicators.csv"].count("\n") == 1


def test_neighbouring_intervals_of_one_cluster_are_one_category():
    size = np.repeat([0, 1], 60)
    frame = {
        "weight": size * 1000 + RNG.integers(1000, 1900, 120),
        "length": size * 10 + RNG.normal(50, 2, 120).round(1),
        "origin": np.where(size, "USA", "Europe"),
    }
    data = comarkov.records(pd.DataFrame(frame))
    results = Results.of(CoClustering((2, 2), random_state=0).fit(data), data)
    names = {each.name: each for each in results.indicators()}
    weights = sorted(name for name in names if name.startswith("weight "))
    assert [names[name].share > 0.75 for name in weights] == [True, True]
    assert weights[1].startswith("weight below")
    assert weights[0].endswith(" or more")
    assert names["origin = USA"].lift == pytest.approx(2)
    assert set(results.summary()["rows"]["explained"]) == {"weight", "length", "origin"}
