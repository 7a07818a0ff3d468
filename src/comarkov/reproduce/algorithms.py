"""The paper's Algorithms 1 and 2: by the library's search, and line by line in NumPy.

The two are tested equal, label for label. The transcription is slow, and shows the choices that the
paper leaves open as options: how ties are broken, and whether the last member may leave a cluster.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..estimators.base import Parameters
from ..joint.joint import joint
from ..search.optimise.refine import schedule
from ..search.state.coclusters import CoClusterProblem, Step
from ..search.state.starts import starts_for

Ties = Literal["stay", "first"]
TIE = 1e-10  # of an element's mass, in nats: costs that are this close are equal


def solve(
    X: Any, n_clusters: tuple[int | None, int | None], beta: float, method: str, **more: Any
) -> list[Step]:
    """Solve by ``CoClustering(sweeps="all", max_iter=20, tol=0)``: every step down to β.

    Unlike a fit this makes no model, which would take most of the time.
    """
    literal: dict[str, Any] = {"sweeps": "all", "max_iter": 20, "tol": 0.0, "keep_path": True}
    asked = Parameters(method=method, **literal | more)
    data = joint(X)
    problem = CoClusterProblem(data, starts_for(data, n_clusters, asked.init, None))
    solution = asked.search_method().solve(problem, asked.run(beta))
    return solution.path or [solution.state.step(beta)]


def sgitcc(
    P: np.ndarray,
    beta: float,
    labels: tuple[np.ndarray, np.ndarray],
    n_clusters: tuple[int, int],
    max_iter: int = 20,
    tol: float = 0.0,
    ties: Ties = "stay",
    may_empty: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Algorithm 1: move each row, then each column, to its cluster of least cost, and repeat.

    ``labels`` are the start. An element whose own cluster is among the best stays ("stay"), or goes
    to the first of these ("first"). Unless ``may_empty``, a last member never leaves its cluster.
    """
    rows, columns = (np.array(side) for side in labels)
    k, l = n_clusters
    for _ in range(max_iter):
        saved = _sweep(P, rows, columns, (k, l), 2 * beta - 1, ties, may_empty)
        saved += _sweep(P.T, columns, rows, (l, k), 2 * beta - 1, ties, may_empty)
        if saved / P.sum() / np.log(2) <= tol:
            break
    return rows, columns


def annitcc(
    P: np.ndarray,
    beta: float,
    labels: tuple[np.ndarray, np.ndarray],
    n_clusters: tuple[int, int],
    step: float = 0.1,
    max_iter: int = 20,
    tol: float = 0.0,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Algorithm 2: solve at α = 1, then lower α by ``step`` down to β; the labels at every α.

    The third line of the listing passes β to the first call; the text, and this, solve at 1.
    """
    path = []
    for alpha in schedule(beta, step):
        labels = sgitcc(P, alpha, labels, n_clusters, max_iter, tol)
        path.append(labels)
    return path


def _sweep(
    P: np.ndarray,
    label: np.ndarray,
    other: np.ndarray,
    n_clusters: tuple[int, int],
    coupling: float,
    ties: Ties,
    may_empty: bool,
) -> float:
    """Move each row to its cluster of least cost; return what that saves, in nats times mass."""
    k, l = n_clusters
    own, cross = np.eye(k)[label], P @ np.eye(l)[other]
    A, M = own.T @ P, own.T @ cross  # masses by (row cluster, column) and by block
    size, saved = np.bincount(label, minlength=k), 0.0
    for x, (weights, blocks) in enumerate(zip(P, cross, strict=True)):
        home, mass = label[x], weights.sum()
        if mass == 0 or (size[home] == 1 and not may_empty):
            continue
        A[home] -= weights
        M[home] -= blocks
        if size[home] == 1:
            A[home] = M[home] = 0.0
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


def _growth(mass: np.ndarray, more: np.ndarray | float) -> np.ndarray:
    """Return f(mass + more) - f(mass), for f(v) = v ln v."""
    return _xlogx(mass + more) - _xlogx(mass)


def _xlogx(v: np.ndarray) -> np.ndarray:
    return np.where(v > 0, v * np.log(np.where(v > 0, v, 1.0)), 0.0)
