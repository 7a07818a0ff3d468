"""The paper's Algorithms 1 and 2, line by line in NumPy: slow, and an oracle for the search."""

import numpy as np

from comarkov.search.optimise.refine import schedule

TIE = 1e-10  # of an element's mass, in nats: costs that are this close are equal


def sgitcc(P, beta, labels, n_clusters, max_iter=20, tol=0.0, ties="stay"):
    """Algorithm 1: move each row, then each column, to its cluster of least cost, and repeat.

    ``labels`` are the start. An element whose own cluster is among the best stays, or goes to the
    first of them. A last member never leaves its cluster.
    """
    rows, columns = (np.array(side) for side in labels)
    for _ in range(max_iter):
        saved = _sweep(P, rows, columns, n_clusters, 2 * beta - 1, ties)
        saved += _sweep(P.T, columns, rows, n_clusters[::-1], 2 * beta - 1, ties)
        if saved / P.sum() / np.log(2) <= tol:
            break
    return rows, columns


def annitcc(P, beta, labels, n_clusters, step=0.1, **more):
    """Algorithm 2: solve at α = 1, then lower α by ``step`` down to β; the labels at β.

    The third line of the listing passes β to the first call; the text, and this, solve at 1.
    """
    for alpha in schedule(beta, step):
        labels = sgitcc(P, alpha, labels, n_clusters, **more)
    return labels


def _sweep(P, label, other, n_clusters, coupling, ties):
    """Move each row to its cluster of least cost; return what that saves, in nats times mass."""
    k, l = n_clusters
    own, cross = np.eye(k)[label], P @ np.eye(l)[other]
    A, M = own.T @ P, own.T @ cross  # masses by (row cluster, column) and by block
    size, saved = np.bincount(label, minlength=k), 0.0
    for x, (weights, blocks) in enumerate(zip(P, cross, strict=True)):
        home, mass = label[x], weights.sum()
        if mass == 0 or size[home] == 1:
            continue
        A[home] -= weights
        M[home] -= blocks
        costs = _growth(M.sum(axis=1), mass) - (1 - coupling) * _growth(M, blocks).sum(axis=1)
        costs -= coupling * _growth(A, weights).sum(axis=1)
        best = np.flatnonzero(costs <= costs.min() + TIE * mass)
        to = home if ties == "stay" and home in best else best[0]
        A[to] += weights
        M[to] += blocks
        size[home] -= 1
        size[to] += 1
        label[x], saved = to, saved + costs[home] - costs[to]
    return saved


def _growth(mass, more):
    """Return f(mass + more) - f(mass), for f(v) = v ln v."""
    return _xlogx(mass + more) - _xlogx(mass)


def _xlogx(v):
    return np.where(v > 0, v * np.log(np.where(v > 0, v, 1.0)), 0.0)
