"""The confidence of each element, the stability of clusters, and which elements to reject.

For an element x of mass n_x, removed from its cluster, c_a is the cost of inserting it into
cluster a, and

    v_x = n_x² / Σ_y n_xy²                    its effective number of observations
    p_x(a) ∝ exp(-v_x^γ c_a / n_x)            the posterior of its clusters

v_x counts the entries that carry the mass: n_x if all are ones, fewer if some are large. It does
not depend on the unit of the weights, and a word that occurs often in one document does not count
as many independent observations. Different words of one document are not independent either:
γ, which ``calibration`` estimates, reduces v to the number of independent ones.

The confidence is the posterior of an element's cluster times the share of all results of the
search, the best included, that have it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from ..costs.labels import jaccard, matched
from ..kernels.matrix import Matrix, observations
from ..search.coclusters import CoClusters
from ..search.problem import Solution
from ..search.side import Side


class Confidence(NamedTuple):
    """The confidence of a side, per element (0 if empty) and per cluster."""

    margins: np.ndarray  # the extra cost of the best other cluster, in nats per unit of mass
    agreement: np.ndarray  # the share of other results that agree; NaN if there are none
    confidence: np.ndarray  # the posterior of its cluster times the share of results that agree
    stability: np.ndarray  # (k,): mean Jaccard similarity to other results; NaN if none


def confidences(
    solution: Solution[CoClusters], beta: float, exponents: Sequence[float | None]
) -> list[Confidence | None]:
    """Return the confidence of rows and columns, given γ; None for a side that is not clustered."""
    state = solution.state
    others: list[Any] = list(zip(*solution.others, strict=True)) or [(), ()]
    return [
        None
        if side is None or gamma is None
        else confidence(side, state.cross(side), beta, every, gamma)
        for side, every, gamma in zip((state.rows, state.columns), others, exponents, strict=True)
    ]


def confidence(
    side: Side,
    cross: np.ndarray | None,
    beta: float,
    others: Sequence[np.ndarray],
    gamma: float = 1.0,
) -> Confidence:
    """Return the confidence of a side, given the labels of other results."""
    margins, sure = side.each_row(partial(_against_others, gamma=gamma), cross, beta)
    has_mass = side.labels >= 0
    agreement, stability = _repeated(side, others)
    if others:
        sure *= (1 + len(others) * agreement) / (1 + len(others))
    return Confidence(
        np.where(has_mass, margins, 0.0), agreement, np.where(has_mass, sure, 0.0), stability
    )


def posterior(costs: np.ndarray, matrix: Matrix, gamma: float) -> np.ndarray:
    """Return p_x(a) of the rows of a matrix, from their costs c_a in nats times mass."""
    mass = np.where(matrix.mass > 0, matrix.mass, 1.0)
    return np.asarray(softmax(-costs * (observations(matrix) ** gamma / mass)[:, None], axis=1))


def rejected(
    labels: np.ndarray, sure: np.ndarray, threshold: float, fixed: np.ndarray
) -> np.ndarray:
    """Return the labels, with -1 for elements whose confidence is below the threshold.

    Fixed elements stay, and so does the element of highest confidence in each cluster (the first
    one, if several): no cluster becomes empty.
    """
    order = np.lexsort((-sure, labels))
    _, first = np.unique(labels[order], return_index=True)
    stays = fixed | (sure >= threshold)
    stays[order[first]] = True
    return np.where(stays, labels, -1)


def _against_others(
    home: np.ndarray, rows: Matrix, costs: np.ndarray, gamma: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the margins of rows, and the posterior of their own clusters."""
    each = np.arange(home.size)
    sure = posterior(costs, rows, gamma)[each, home]
    here = costs[each, home]
    costs[each, home] = np.inf
    with np.errstate(invalid="ignore", divide="ignore"):  # no mass, no margin
        return (costs.min(axis=1) - here) / rows.mass, sure


def _repeated(side: Side, others: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of other results that agree on each element, and the stability."""
    labels = side.labels
    if not others:
        return np.where(labels >= 0, np.nan, 0.0), np.full(side.k, np.nan)
    agree = np.mean([matched(other, labels) == labels for other in others], axis=0)
    stability = np.mean([jaccard(labels, other) for other in others], axis=0)
    return np.where(labels >= 0, agree, 0.0), stability
