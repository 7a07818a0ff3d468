import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from comarkov import datasets
from comarkov.datasets import Dataset
from comarkov.io.datasets.collections import COLLECTIONS


def test_movielens(data_file):
    movies = datasets.load("movielens", data_file("ml-100k.zip"))
    assert movies.matrix.shape == (943, 1682)
    assert movies.matrix.nnz == 100_000
    assert set(movies.matrix.data) == {1, 2, 3, 4, 5}
    assert movies.column_names[0] == "Toy Story (1995)"
    counts = dict(zip(movies.class_names, movies.column_classes.sum(axis=0), strict=True))
    assert (counts["Drama"], counts["Comedy"], counts["Film-Noir"]) == (725, 505, 24)


@pytest.fixture(scope="module")
def documents(data_file):
    return datasets.load("newsgroups", data_file("20news-bydate.tar.gz"))


def test_newsgroups(documents):
    assert documents.matrix.shape[0] == 18_846
    assert len(documents.class_names) == 20
    assert set().union(*COLLECTIONS.values()) < set(documents.class_names)
    for row in (0, 9999, 18_845):
        group = documents.class_names[documents.row_classes[row]]
        assert documents.row_names[row].startswith(f"{group}/")
    assert all(word == word.lower() for word in documents.column_names[:1000])


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_samples_have_the_sizes_of_the_paper(documents, collection):
    sample = datasets.newsgroups_sample(documents, collection, random_state=3)
    again = datasets.newsgroups_sample(documents, collection, random_state=3)
    assert sample.matrix.shape == (500, 2000)
    groups = COLLECTIONS[collection]
    assert_array_equal(np.bincount(sample.row_classes), [500 // len(groups)] * len(groups))
    for row in (0, 250, 499):
        assert sample.row_names[row].startswith(groups[sample.row_classes[row]] + "/")
    assert (sample.matrix != again.matrix).nnz == 0
    other = datasets.newsgroups_sample(documents, collection, random_state=4)
    assert sample.row_names != other.row_names


# --- the paper's preparation, on any counts ---------------------------------------------------


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(0.3, (60, 40)))
    names = [f"g{i // 20}/{i}" for i in range(60)]
    words = [f"w{j:02}" for j in range(40)]
    return Dataset(counts, names, words, np.arange(60) // 20, class_names=("g0", "g1", "g2"))


def test_samples_are_drawn_without_replacement_from_the_groups_alone(small):
    sample = datasets.newsgroups_sample(small, ["g0", "g2"], 40, 10, random_state=0)
    assert len(set(sample.row_names)) == 40
    assert {name.split("/")[0] for name in sample.row_names} == {"g0", "g2"}
    assert sample.class_names == ("g0", "g2")


@pytest.mark.parametrize(
    ("groups", "count", "word"), [("Multi7", 500, "Multi7"), (["g9"], 5, "g9"), (["g0"], 21, "21")]
)
def test_errors_of_samples(groups, count, word, small):
    with pytest.raises(ValueError, match=word):
        datasets.newsgroups_sample(small, groups, count)


def test_planted_clusters_have_the_sizes_and_rates_that_are_asked():
    kind = {"unequal": 2.0, "diagonal": 9.0, "mean": 1.0}
    data = datasets.planted((140, 400), (3, 6), random_state=0, **kind)
    rows, columns = data.row_classes, data.column_classes
    np.testing.assert_allclose(np.bincount(rows), [80, 40, 20], atol=2)
    dense, own = data.matrix.toarray(), rows[:, None] == columns // 2
    assert dense[own].mean() / dense[~own].mean() == pytest.approx(9, rel=0.1)
