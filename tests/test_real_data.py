"""The same promises on data that people have."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import comarkov
from comarkov import CoClustering, datasets
from comarkov.evaluate import matching_accuracy


@pytest.fixture
def ratings(data_file):
    """MovieLens 100k: users x movies."""
    return datasets.load("movielens", data_file("ml-100k.zip")).matrix


@pytest.fixture(scope="module")
def texts(data_file):
    """Three newsgroups: words counted, and the group of each text."""
    documents = datasets.load("newsgroups", data_file("20news-bydate.tar.gz"))
    groups = ["rec.autos", "sci.space", "talk.politics.mideast"]
    sample = datasets.newsgroups_sample(documents, groups, 600, 2000, random_state=0)
    return sample.matrix, sample.row_classes


def test_movielens(ratings):
    assert ratings.shape == (943, 1682)
    model = CoClustering((10, 19), beta=0.9, n_init=2, random_state=0, n_jobs=2).fit(ratings)
    assert set(model.row_labels_) == set(range(10))
    assert set(model.column_labels_) == set(range(19))
    cost = comarkov.cost(ratings, model.row_labels_, model.column_labels_, 0.9)
    assert model.cost_ == pytest.approx(cost, abs=1e-12)
    assert model.cost_ < 3.1905  # AnnITCC, best of 25
    assert_array_equal(
        model.row_labels_,
        CoClustering((10, 19), beta=0.9, n_init=2, random_state=0).fit(ratings * 1.0).row_labels_,
    )


@pytest.mark.parametrize("weighting", ["counts", "log"])
def test_newsgroups(texts, weighting):
    X, groups = texts
    if weighting == "log":
        X = X.astype(float)
        X.data = np.log1p(X.data)
    model = CoClustering((3, 10), n_init=3, random_state=0, n_jobs=2).fit(X)
    cost = comarkov.cost(X, model.row_labels_, model.column_labels_, 0.7)
    assert model.cost_ == pytest.approx(cost, abs=1e-10)
    has_words = model.row_labels_ >= 0
    if weighting == "log":  # long texts dominate raw counts
        assert matching_accuracy(groups[has_words], model.row_labels_[has_words]) > 0.9
    agreement = (model.predict(X) == model.row_labels_).mean()
    assert agreement > 0.98
