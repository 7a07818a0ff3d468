"""Clusters of two clusterings of the same elements, matched by what they have in common."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment


def overlaps(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How many elements are in cluster a of the first and in b of the second; -1 is in none."""
    both = (labels >= 0) & (others >= 0)
    shape = int(labels.max(initial=-1)) + 1, int(others.max(initial=-1)) + 1
    pairs = labels[both].astype(np.int64) * shape[1] + others[both]
    return np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)


def matched(others: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The second clustering with the numbers of the first, so that most elements agree.

    Clusters are matched one to one. What is left without a partner gets the numbers that are
    free, and new ones after that.
    """
    table = overlaps(labels, others)
    k, m = table.shape
    first, second = linear_sum_assignment(table, maximize=True)
    number = np.full(m + 1, -1)
    number[second] = first
    lone = np.flatnonzero(number[:m] < 0)
    number[lone] = np.setdiff1d(np.arange(k + m), first)[: lone.size]
    return number[others]


def jaccard(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each cluster of the first, the largest Jaccard similarity to one of the second."""
    table = overlaps(labels, others)
    union = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - table
    return (table / np.maximum(union, 1)).max(axis=1)
