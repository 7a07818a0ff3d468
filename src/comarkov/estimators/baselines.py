"""Methods that readers know, with other objectives: to compare ours with, not to choose from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

Labels = tuple[np.ndarray, np.ndarray]
MODULARITY_STARTS = 20


def baseline(name: str, weights: sp.csr_array, counts: tuple[int, int], seed: int) -> Labels:
    """Return row and column labels by one of `BASELINES`; -1 for empty rows and columns."""
    rows, columns = (np.flatnonzero(weights.sum(axis=axis)) for axis in (1, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence of scikit-learn's methods
        found = BASELINES[name](weights[rows][:, columns].astype(float), counts, seed)
    labels = np.full(weights.shape[0], -1), np.full(weights.shape[1], -1)
    for side, kept, own in zip(labels, (rows, columns), found, strict=True):
        side[kept] = np.unique(own, return_inverse=True)[1]
    return labels


def _spectral(X: sp.csr_array, counts: tuple[int, int], seed: int) -> Labels:
    """Spectral co-clustering (Dhillon 2001): the same number of clusters on both sides."""
    from sklearn.cluster import SpectralCoclustering

    model = SpectralCoclustering(max(counts), random_state=seed).fit(sp.csr_matrix(X))
    return model.row_labels_, model.column_labels_


def _k_means(X: sp.csr_array, counts: tuple[int, int], seed: int) -> Labels:
    """k-means on tf-idf, for the rows and for the columns."""
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfTransformer

    def one_side(table: sp.csr_array, k: int) -> np.ndarray:
        points = TfidfTransformer().fit_transform(sp.csr_matrix(table))
        labels: np.ndarray = KMeans(k, n_init=10, random_state=seed).fit_predict(points)
        return labels

    return one_side(X, counts[0]), one_side(X.T.tocsr(), counts[1])


def _nmf(X: sp.csr_array, counts: tuple[int, int], seed: int) -> Labels:
    """Nonnegative matrix factorisation: rows and columns by their largest factor."""
    from sklearn.decomposition import NMF

    return _by_largest(NMF(counts[0], init="nndsvda", random_state=seed), X)


def _lda(X: sp.csr_array, counts: tuple[int, int], seed: int) -> Labels:
    """Latent Dirichlet allocation: rows and columns by their likeliest topic."""
    from sklearn.decomposition import LatentDirichletAllocation

    return _by_largest(LatentDirichletAllocation(counts[0], random_state=seed), X)


def _by_largest(model: Any, X: sp.csr_array) -> Labels:
    return model.fit_transform(sp.csr_matrix(X)).argmax(axis=1), model.components_.argmax(axis=0)


def _modularity(X: sp.csr_array, counts: tuple[int, int], seed: int) -> Labels:
    rng = np.random.default_rng(seed)
    return best_modules(X, max(counts), MODULARITY_STARTS, rng)[:2]


BASELINES: dict[str, Callable[[sp.csr_array, tuple[int, int], int], Labels]] = {
    "spectral": _spectral,
    "k-means": _k_means,
    "nmf": _nmf,
    "lda": _lda,
    "modularity": _modularity,
}


def best_modules(
    weights: sp.csr_array, n_modules: int, n_starts: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return modules of rows and columns with the highest bipartite modularity found, and it.

    Q = Σ_xy [p(x,y) - p(x) p(y)] [module of x = module of y]   (Barber 2007)

    If the modules of one side are given, each element of the other is best where it gains most.
    So the two sides alternate, from random modules, until Q stops rising.
    """
    P = weights / weights.sum()
    rows, columns = (np.asarray(P.sum(axis=axis)).ravel() for axis in (1, 0))
    best: tuple[np.ndarray, np.ndarray, float] | None = None
    for _ in range(n_starts):
        of_column, before = rng.integers(n_modules, size=columns.size), -np.inf
        while True:
            of_row = _gains(P, rows, columns, of_column, n_modules).argmax(axis=1)
            gains = _gains(P.T, columns, rows, of_row, n_modules)
            of_column, value = gains.argmax(axis=1), float(gains.max(axis=1).sum())
            if value <= before + 1e-12:
                break
            before = value
        if best is None or value > best[2] + 1e-12:
            best = of_row, of_column, value
    assert best is not None
    return best


def _gains(
    P: sp.csr_array, own: np.ndarray, other: np.ndarray, labels: np.ndarray, k: int
) -> np.ndarray:
    """Return what each row adds to the modularity in each module."""
    member = np.eye(k)[labels]
    gains: np.ndarray = P @ member - np.outer(own, other @ member)
    return gains
