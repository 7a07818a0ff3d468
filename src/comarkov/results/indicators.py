"""Indicators of clusters: the species, words or categories that mark a cluster, with a test.

The indicator value of Dufrêne and Legendre (1997) of an element y for a cluster a is

    IndVal = specificity x fidelity
    specificity = mean weight of y in the members of a / sum of these means over all clusters
    fidelity    = share of the members of a in which y occurs; of records, the share that have y

The p-value is the chance of a value that stands out so far, for any element and cluster, if the
members were dealt to clusters of these sizes at random (maxT of Westfall and Young). So it is
corrected for all tests together. The clusters are taken as given, though they were found in these
data: p-values rank elements, they do not prove that there are clusters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .findings import Findings, SideFindings
from .words.figures import are_positions

PERMUTATIONS = 199
TESTED_ENTRIES = 200_000  # of the matrix; of a larger one, members are sampled
MIN_OCCURRENCES = 3  # an element in fewer members is not tested
LEAST_SPREAD = 1e-12  # of the values of an element over permutations
SIGNIFICANT = 0.05
MAX_ENTRIES = 20_000_000  # of larger matrices nothing is tested


class Indicator(NamedTuple):
    """An element of the other side that marks a cluster."""

    cluster: int
    name: str
    share: float  #: of the weight of the cluster; of records, of its members
    lift: float  #: the share over that of all
    indval: float  #: specificity x fidelity, from 0 to 1
    p_value: float  #: from permutations, corrected for all elements and clusters


class IndicatorTest(NamedTuple):
    """The indicator values of all elements, by (cluster, element), and their p-values."""

    values: np.ndarray
    p_values: np.ndarray


def tests_of(findings: Findings, matrix: sp.csr_array) -> dict[str, IndicatorTest]:
    """The tests of "rows" and of "columns", if these have clusters and the others have names."""
    tests = {}
    for side, other in zip(findings.sides, findings.sides[::-1], strict=True):
        is_named = not are_positions(other.names, other.kind)
        if side.n_clusters < 2 or not is_named or matrix.nnz > MAX_ENTRIES:
            continue
        weights = matrix if side.axis == "row" else sp.csr_array(matrix.T)
        known = side.categories if side.has_categories else None
        if known is not None:
            weights = sp.csr_array(
                known.sums(weights) / np.where(known.weight > 0, known.weight, 1)
            )
        test = indicator_test(weights, side.labels, side.n_clusters, are_shares=known is not None)
        tests[f"{side.axis}s"] = test
    return tests


def significant(side: SideFindings, test: IndicatorTest) -> list[Indicator]:
    """The indicators of each cluster; an element only for the cluster with its largest value."""
    best = test.values.argmax(axis=0)
    places = best, np.arange(best.size)
    values, p_values = (each[places] for each in test)
    if side.has_categories:
        shares, usual = side.shares_in_variables
    else:
        shares = side.shown / np.maximum(side.shares, np.finfo(float).tiny)[:, None]
        usual = side.shown.sum(axis=0)
    order = np.lexsort((-values, best))
    order = order[p_values[order] <= SIGNIFICANT]
    share = shares[places][order]
    columns = best[order], share, share / usual[order], values[order], p_values[order]
    clusters, *numbers = (each.tolist() for each in columns)
    names = map(str, side.shown_names[order])
    return [Indicator(*each) for each in zip(clusters, names, *numbers, strict=True)]


def indicator_test(
    weights: sp.csr_array, labels: np.ndarray, k: int, are_shares: bool = False
) -> IndicatorTest:
    """The indicator values, given the weights by (member, element), and their p-values.

    With ``are_shares``, weights are shares of members, as those of records, and not amounts.
    """
    rng, p_values = np.random.default_rng(0), np.ones((k, weights.shape[1]))
    values = _values(weights, labels, k, are_shares)
    if k < 2 or not weights.nnz:
        return IndicatorTest(values, p_values)
    if weights.nnz > TESTED_ENTRIES:
        size = min(max(2 * k, weights.shape[0] * TESTED_ENTRIES // weights.nnz), labels.size)
        chosen = np.sort(rng.choice(labels.size, size, replace=False))
        weights, labels = sp.csr_array(weights[chosen]), labels[chosen]
    often = np.bincount(weights.indices, minlength=weights.shape[1]) >= MIN_OCCURRENCES
    weights = sp.csr_array(weights[:, often])
    orders = [labels, *(rng.permutation(labels) for _ in range(PERMUTATIONS))]
    mean = squares = np.zeros((k, int(often.sum())))
    for n, order in enumerate(orders, 1):  # one at a time, as there may be many elements
        dealt = _values(weights, order, k, are_shares)
        difference = dealt - mean
        mean = mean + difference / n
        squares = squares + difference * (dealt - mean)
    spread = np.sqrt(squares / len(orders))
    scale = np.where(spread > LEAST_SPREAD, spread, np.inf)

    def far(order: np.ndarray) -> np.ndarray:
        return (_values(weights, order, k, are_shares) - mean) / scale

    farthest = np.sort([far(order).max(initial=0) for order in orders])
    as_far = len(orders) - np.searchsorted(farthest, far(labels), side="left")
    p_values[:, often] = as_far / len(orders)
    return IndicatorTest(values, p_values)


def _values(weights: sp.csr_array, labels: np.ndarray, k: int, are_shares: bool) -> np.ndarray:
    """Specificity x fidelity by (cluster, element)."""
    n = weights.shape[1]
    places = np.where(labels < 0, k, labels).astype(np.int64)
    sizes = np.maximum(np.bincount(places, minlength=k + 1), 1)[:, None]
    cells = np.repeat(places, np.diff(weights.indptr)) * n + weights.indices
    amounts = np.asarray(weights.data, np.float64)
    means, fidelity = (
        (np.bincount(cells, each, (k + 1) * n).reshape(k + 1, n) / sizes)[:k]
        for each in (amounts, amounts if are_shares else amounts > 0)
    )
    sums = means.sum(axis=0)
    return np.divide(means, sums, out=np.zeros_like(means), where=sums > 0) * fidelity
