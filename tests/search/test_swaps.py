"""Sparse rows against tables with the same margins."""

import numpy as np
import scipy.sparse as sp
from helpers import run_at

from comarkov import CoClustering
from comarkov.search.select.swaps import DIRECTIONS, contrast, swap

RNG = np.random.default_rng(0)


def short_texts(n=240, words=200, length=6, topics=3, own=0.6):
    """Rows of a few words: most from the words of a topic, others from all."""
    topic = np.repeat(np.arange(topics), n // topics)
    size = words // topics
    drawn = RNG.integers(0, words, (n, length))
    from_topic = topic[:, None] * size + RNG.integers(0, size, (n, length))
    columns = np.where(RNG.random((n, length)) < own, from_topic, drawn)
    rows = np.repeat(np.arange(n), length)
    return sp.csr_array((np.ones(rows.size), (rows, columns.ravel())), (n, words)), topic


def bursty():
    rates = np.outer(RNG.lognormal(0, 1.3, 300), RNG.lognormal(0, 1.3, 398))
    rates *= 40_000 / rates.sum()
    return sp.csr_array(RNG.poisson(rates * RNG.gamma(0.3, 1 / 0.3, rates.shape)))


def test_swapped_tables_have_the_same_margins():
    table = sp.csr_array((RNG.random((40, 30)) < 0.2).astype(float))
    swapped = swap(table, np.random.default_rng(1))
    assert swapped.max() == 1
    for axis in (0, 1):
        np.testing.assert_array_equal(swapped.sum(axis=axis), table.sum(axis=axis))
    assert (swapped != table).nnz > table.nnz / 2


def test_structure_stands_out_and_noise_does_not():
    texts, _ = short_texts()
    assert contrast(texts, run_at(0.7)).shows_structure
    assert not contrast(swap(texts.sign(), RNG), run_at(0.7)).shows_structure
    assert not contrast(bursty(), run_at(0.7)).shows_structure
    assert contrast(sp.csr_array(np.eye(4)), run_at(0.7)) is None


def test_topics_are_directions_that_stand_out():
    texts, _ = short_texts(topics=4, own=0.9)
    measured = contrast(texts, run_at(0.7))
    assert measured.number() == 4
    assert measured.nearly_best()[0] <= 4 <= measured.nearly_best()[-1]
    dense = table_of(texts)
    values = np.linalg.svd(dense, compute_uv=False)[:DIRECTIONS]
    np.testing.assert_allclose(measured.squares, values**2, rtol=1e-3)


def table_of(texts):
    """The table whose singular values are compared, by its definition."""
    present = texts.sign().toarray()
    present = present[:, present.sum(axis=0) > 1]
    rows, columns = present.sum(axis=1, keepdims=True), present.sum(axis=0)
    expected = rows * columns / present.sum()
    return (present - expected) / np.sqrt((rows + rows.mean()) * (columns + columns.mean()))


def test_short_texts_have_clusters_and_bursts_have_none():
    texts, _ = short_texts()
    model = CoClustering(random_state=0, weighting="bm25").fit(texts)
    assert 2 <= model.n_row_clusters_ <= 5
    for noise in (bursty(), swap(texts.sign(), np.random.default_rng(2))):
        model = CoClustering(random_state=0).fit(noise)
        assert (model.n_row_clusters_, model.n_column_clusters_) == (1, 1)
