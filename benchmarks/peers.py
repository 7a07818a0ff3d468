"""Newsgroups recovered by comarkov and by well-known methods, the same weights side by side.

Samples of 500 documents with seeds from 100 on, the 4,000 words that contribute most to I(D;W), the
number of groups given, one thread, mean accuracy under the best matching. Nothing is tuned on them.
"""

import sys

import numpy as np
import scipy.sparse as sp
from common import Report, documents, run
from sib import SIB
from sklearn.cluster import KMeans, SpectralCoclustering
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfTransformer
from sknetwork.clustering import Leiden

from comarkov import CoClustering, Weighting, datasets
from comarkov.evaluate import matching_accuracy

COLLECTIONS = ("Binary", "Multi5", "Multi10")
WORD_CLUSTERS = 20
STARTS = 10  # of sib and of k-means, which are their defaults or more
RESOLUTIONS = 20  # of Leiden, at most


def comarkov_labels(X, k, seed, weighting):
    model = CoClustering((k, WORD_CLUSTERS), weighting=weighting, random_state=seed, n_jobs=1)
    return model.fit(X).row_labels_


def sib_labels(X, k, seed, weighting):
    weighted = X if weighting == "counts" else Weighting(weighting).fit_transform(X)
    model = SIB(n_clusters=k, n_init=STARTS, n_jobs=1, random_state=seed)
    return model.fit(sp.csr_matrix(weighted)).labels_


def tfidf(X):
    return TfidfTransformer(sublinear_tf=True).fit_transform(sp.csr_matrix(X))


def largest_component(model, X):
    return model.fit_transform(X).argmax(axis=1)


def bm25_labels(X, k, cluster):
    """With the words that have weight; a document without any is in a cluster of its own."""
    weighted = sp.csr_matrix(Weighting("bm25").fit_transform(X))
    weighted = weighted[:, np.asarray(weighted.sum(axis=0)).ravel() > 0]
    has_weight = np.asarray(weighted.sum(axis=1)).ravel() > 0
    labels = np.full(X.shape[0], k)
    labels[has_weight] = cluster(weighted[has_weight])
    return labels


def spectral_labels(X, k, seed):
    model = SpectralCoclustering(k, random_state=seed)
    return bm25_labels(X, k, lambda weighted: model.fit(weighted).row_labels_)


def leiden_labels(X, k, seed):
    """At a resolution, found by bisection, with k groups of documents or as near as it gets."""

    def cluster(weighted):
        nearest, low, high = np.zeros(weighted.shape[0]), 0.0, 8.0
        for _ in range(RESOLUTIONS):
            resolution = (low + high) / 2
            labels = Leiden(resolution, random_state=seed).fit(weighted).labels_row_
            n_groups = len(np.unique(labels))
            if abs(n_groups - k) < abs(len(np.unique(nearest)) - k):
                nearest = labels
            if n_groups == k:
                break
            low, high = (resolution, high) if n_groups < k else (low, resolution)
        return nearest

    return bm25_labels(X, k, cluster)


METHODS = {
    "comarkov, counts": lambda X, k, seed: comarkov_labels(X, k, seed, "counts"),
    "IBM sib, counts": lambda X, k, seed: sib_labels(X, k, seed, "counts"),
    "comarkov, uniform": lambda X, k, seed: comarkov_labels(X, k, seed, "uniform"),
    "comarkov, bm25": lambda X, k, seed: comarkov_labels(X, k, seed, "bm25"),
    "IBM sib, bm25": lambda X, k, seed: sib_labels(X, k, seed, "bm25"),
    "tf-idf + k-means": lambda X, k, seed: KMeans(k, n_init=STARTS, random_state=seed).fit_predict(
        tfidf(X)
    ),
    "tf-idf + NMF": lambda X, k, seed: largest_component(
        NMF(k, init="nndsvda", random_state=seed), tfidf(X)
    ),
    "LDA, counts": lambda X, k, seed: largest_component(
        LatentDirichletAllocation(k, random_state=seed), sp.csr_matrix(X)
    ),
    "SpectralCoclustering, bm25": spectral_labels,
    "Leiden, bm25": leiden_labels,
}


def main(report: Report, wanted: list[str]) -> None:
    samples = int(wanted[0]) if wanted else 20
    texts = documents()
    report.title(f"Mean accuracy on {samples} samples of 500 documents: {', '.join(COLLECTIONS)}")
    scores = {name: np.zeros((len(COLLECTIONS), samples)) for name in METHODS}
    for c, collection in enumerate(COLLECTIONS):
        for i in range(samples):
            sample = datasets.newsgroups_sample(
                texts, collection, n_words=4000, random_state=100 + i
            )
            has_words = np.asarray(sample.matrix.sum(axis=1)).ravel() > 0
            X, truth = sample.matrix[has_words], np.asarray(sample.row_classes)[has_words]
            X = X[:, np.asarray(X.sum(axis=0)).ravel() > 0]
            for name, method in METHODS.items():
                labels = method(X, len(sample.class_names), 100 + i)
                scores[name][c, i] = matching_accuracy(truth, labels)
    for name, score in scores.items():
        errors = score.std(axis=1, ddof=1) / np.sqrt(samples)
        means = "  ".join(
            f"{m:.3f} ± {e:.3f}" for m, e in zip(score.mean(axis=1), errors, strict=True)
        )
        report.fact(name, means)


if __name__ == "__main__":
    run(main, sys.argv[1:])
