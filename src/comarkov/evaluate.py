"""How well a clustering agrees with known classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_consistent_length


def matching_accuracy(classes: ArrayLike, clusters: ArrayLike) -> float:
    """MAP, the micro-averaged precision: accuracy under the best one-to-one matching.

        MAP = max_π (1/n) Σ_i [π(cluster of i) = class of i]

    The matching π of clusters and classes is found by the Hungarian algorithm.

    Examples
    --------
    >>> matching_accuracy([0, 0, 1, 1], [1, 1, 0, 1])
    0.75
    """
    check_consistent_length(classes, clusters)
    if np.size(classes) == 0:
        raise ValueError("There are no labels to compare.")
    _, first = np.unique(np.asarray(classes), return_inverse=True)
    _, second = np.unique(np.asarray(clusters), return_inverse=True)
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1)
    matched = table[linear_sum_assignment(table, maximize=True)]
    return float(matched.sum() / table.sum())
