"""Samples of large data, by which numbers of clusters and β are chosen."""

import numpy as np
import pytest

from comarkov import CoClustering
from comarkov.joint import joint as samples
from comarkov.joint.joint import joint


def blocks(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    rates = 0.2 + 3.0 * np.eye(4)
    return rng.poisson(rates[rng.integers(4, size=rows)][:, rng.integers(4, size=columns)])


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch):
    monkeypatch.setattr(samples, "SAMPLE_ENTRIES", 8_000)


@pytest.mark.parametrize("shape", [(900, 60), (60, 900)])
def test_the_sample_has_whole_rows_of_the_longer_side(shape):
    data = joint(blocks(*shape))
    sample, note = samples.sample_of(data, np.random.default_rng(0))
    assert 7_000 < sample.nnz < 9_000
    longer = int(shape[1] > shape[0])
    assert sample.shape[1 - longer] == 60
    what = ("rows", "columns")[longer]
    assert note == f"Chosen by a random sample of {sample.shape[longer]:,} of 900 {what}."


def test_small_data_are_their_own_sample():
    data = joint(blocks(50, 40))
    assert samples.sample_of(data, np.random.default_rng(0)) == (data, "")


def test_numbers_of_large_data_are_chosen_by_a_sample():
    X = blocks(900, 60)
    model = CoClustering(random_state=0).fit(X)
    assert model.hierarchy_.n_fitted == (4, 4)
    assert model.selection_reason_.endswith("of 900 rows.")
    assert model.row_labels_.size == 900


def test_beta_of_large_data_is_chosen_by_a_sample(monkeypatch):
    seen, drawn = [], samples.drawn
    monkeypatch.setattr(samples, "drawn", lambda *a: seen.append(a[0]) or drawn(*a))
    model = CoClustering((4, 4), beta="auto", random_state=0).fit(blocks(900, 60))
    assert seen == [900]
    assert model.beta_selection_["chosen"].sum() == 1
