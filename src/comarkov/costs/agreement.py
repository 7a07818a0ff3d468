"""Agreement of a clustering with known classes.

T[c, a] is the number of elements with class c in cluster a, and n the number of all elements.
Elements without a cluster (label -1) count as wrong in MAP and MAP'; in NMI and ARI they are one
more cluster.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_consistent_length

from .labels import adjusted_rand, contingency


def matching_accuracy(classes: ArrayLike, clusters: ArrayLike) -> float:
    """MAP, the micro-averaged precision: accuracy under the best one-to-one matching.

        MAP = max_π (1/n) Σ_a T[π(a), a]

    The matching π of clusters and classes is found by the Hungarian algorithm.

    Examples
    --------
    >>> from comarkov import evaluate
    >>> evaluate.matching_accuracy([0, 0, 1, 1], [1, 1, 0, 1])
    0.75
    """
    table = _table(classes, clusters)
    matched = table[linear_sum_assignment(table, maximize=True)]
    return float(matched.sum() / np.size(clusters))


def purity(classes: ArrayLike, clusters: ArrayLike) -> float:
    """MAP': the share of elements whose class is the most frequent one of their cluster.

        MAP' = (1/n) Σ_a max_c T[c, a]

    If elements have several classes, ``classes`` is a table of 0 and 1, elements x classes, and an
    element counts for each of its classes.

    Examples
    --------
    >>> from comarkov import evaluate
    >>> evaluate.purity([0, 0, 1, 1], [0, 0, 1, 2])
    1.0
    >>> evaluate.purity([[1, 0], [1, 1], [0, 1]], [0, 0, 0])
    0.6666666666666666
    """
    return float(_table(classes, clusters).max(axis=0).sum() / np.size(clusters))


def normalized_mutual_information(classes: ArrayLike, clusters: ArrayLike) -> float:
    """NMI = 2 I(class; cluster) / [H(class) + H(cluster)].

    Examples
    --------
    >>> from comarkov import evaluate
    >>> evaluate.normalized_mutual_information([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import normalized_mutual_info_score  # slow to import

    return float(normalized_mutual_info_score(classes, clusters))


def adjusted_rand_index(classes: ArrayLike, clusters: ArrayLike) -> float:
    """ARI = (R - E[R]) / (max R - E[R]): 1 for equal clusterings, about 0 for random ones.

    R = Σ_ca C(T[c, a], 2) is the number of pairs that share both class and cluster, and E[R] its
    mean for random clusters of the same sizes. max R is the mean of two numbers of pairs: those
    that share a class, and those that share a cluster.

    Examples
    --------
    >>> from comarkov import evaluate
    >>> evaluate.adjusted_rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    check_consistent_length(classes, clusters)
    pairs = (np.unique(labels, return_inverse=True)[1] for labels in (classes, clusters))
    return adjusted_rand(contingency(*pairs))


def _table(classes: ArrayLike, clusters: ArrayLike) -> np.ndarray:
    """Return T: the number of elements that have class c and are in cluster a."""
    check_consistent_length(classes, clusters)
    if np.size(classes) == 0:
        raise ValueError("There are no labels to compare.")
    has_class, cluster = np.asarray(classes), np.asarray(clusters)
    if has_class.ndim == 1:
        has_class = has_class[:, None] == np.unique(has_class)
    labels = np.unique(cluster)
    if labels.dtype.kind in "if":
        labels = labels[labels != -1]
    return has_class.T.astype(np.int64) @ (cluster[:, None] == labels)
