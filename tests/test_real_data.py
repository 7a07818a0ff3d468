"""The same promises on data that people have."""

import io
import tarfile
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer

import comarkov
from comarkov import CoClustering
from comarkov.evaluate import matching_accuracy


@pytest.fixture
def ratings(data_file):
    """MovieLens 100k: users x movies."""
    with zipfile.ZipFile(data_file("ml-100k.zip")) as archive:
        table = np.loadtxt(io.BytesIO(archive.read("ml-100k/u.data")), dtype=int)
    return sp.coo_array((table[:, 2], (table[:, 0] - 1, table[:, 1] - 1)))


@pytest.fixture
def texts(data_file):
    """Three newsgroups: words counted, and the group of each text."""
    wanted = ("rec.autos", "sci.space", "talk.politics.mideast")
    documents, groups = [], []
    with tarfile.open(data_file("20news-bydate.tar.gz")) as archive:
        for member in archive:
            group = member.name.split("/")[1] if "/" in member.name else ""
            if member.isfile() and group in wanted and "train" in member.name:
                documents.append(archive.extractfile(member).read().decode("latin-1"))
                groups.append(wanted.index(group))
    return CountVectorizer(max_features=3000).fit_transform(documents), np.array(groups)


def test_movielens(ratings):
    assert ratings.shape == (943, 1682)
    model = CoClustering((10, 19), beta=0.9, n_init=4, random_state=0, n_jobs=2).fit(ratings)
    assert set(model.row_labels_) == set(range(10))
    assert set(model.column_labels_) == set(range(19))
    cost = comarkov.cost(ratings, model.row_labels_, model.column_labels_, 0.9)
    assert model.cost_ == pytest.approx(cost, abs=1e-12)
    assert model.cost_ < 3.25  # the best of 25 starts has 3.19
    assert_array_equal(
        model.row_labels_,
        CoClustering((10, 19), beta=0.9, n_init=4, random_state=0).fit(ratings * 1.0).row_labels_,
    )


@pytest.mark.parametrize("weighting", ["counts", "log"])
def test_newsgroups(texts, weighting):
    X, groups = texts
    if weighting == "log":
        X = X.astype(float)
        X.data = np.log1p(X.data)
    model = CoClustering((3, 10), n_init=10, random_state=0, n_jobs=2).fit(X)
    cost = comarkov.cost(X, model.row_labels_, model.column_labels_, 0.7)
    assert model.cost_ == pytest.approx(cost, abs=1e-10)
    has_words = model.row_labels_ >= 0
    if weighting == "log":  # long texts dominate raw counts
        assert matching_accuracy(groups[has_words], model.row_labels_[has_words]) > 0.9
    agreement = (model.predict(X) == model.row_labels_).mean()
    assert agreement > 0.98
