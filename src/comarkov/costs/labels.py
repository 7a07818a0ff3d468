"""Check, renumber, compare and match cluster labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.special import xlogy

from ..joint.scale import are_whole

SIDES = ("rows", "columns")

#: How many row and column clusters there are; None for a side that is not clustered.
Counts = tuple[int | None, int | None]


def as_labels(values: ArrayLike, n: int, what: str) -> np.ndarray:
    """Check an array of n integer labels; -1 means no cluster."""
    array = np.asarray(values)
    if array.shape != (n,):
        raise ValueError(f"{what} must be a 1-D array of {n} labels, got shape {array.shape}.")
    if array.dtype.kind not in "iuf" or not are_whole(array):
        raise ValueError(f"{what} must be integers, got dtype {array.dtype}.")
    if array.size and array.min() < -1:
        raise ValueError(f"{what} must be 0 or more, or -1 for none, got {array.min()}.")
    return array.astype(np.int64)


def membership(labels: np.ndarray, k: int) -> sp.csr_array:
    """Return the matrix of elements by clusters, 1 for members; label -1 is in no cluster."""
    members = np.flatnonzero(labels >= 0)
    return sp.csr_array((np.ones(members.size), (members, labels[members])), (labels.size, k))


def merge_numbers(k: int, i: int, j: int) -> np.ndarray:
    """Return the new numbers of k clusters when j is merged with i; the lower number remains."""
    number = np.arange(k)
    number[max(i, j)] = min(i, j)
    number[max(i, j) + 1 :] -= 1
    return number


def ranks(order: np.ndarray) -> np.ndarray:
    """Return the position of each number in an order of them."""
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return ranks


def renumbered(labels: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    """Replace labels by the positions of their clusters in the order."""
    return labels if order is None else np.append(ranks(order), -1)[labels]


def overlaps(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Count the elements in cluster a of the first and b of the second; label -1 is ignored."""
    both = (labels >= 0) & (others >= 0)
    shape = int(labels.max(initial=-1)) + 1, int(others.max(initial=-1)) + 1
    pairs = labels[both].astype(np.int64) * shape[1] + others[both]
    return np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)


def matched(others: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Renumber the clusters of ``others`` so that most elements agree with ``labels``.

    Clusters are matched one to one. Clusters without a partner get the unused numbers, then new
    ones.
    """
    table = overlaps(labels, others)
    k, m = table.shape
    first, second = linear_sum_assignment(table, maximize=True)
    number = np.full(m + 1, -1)
    number[second] = first
    lone = np.flatnonzero(number[:m] < 0)
    number[lone] = np.setdiff1d(np.arange(k + m), first)[: lone.size]
    return number[others]


def check_side(side: str) -> None:
    """Refuse what is neither of the two sides of a matrix."""
    if side not in SIDES:
        raise ValueError(f'side must be "rows" or "columns", not {side!r}.')


def partition_agreement(a: np.ndarray, b: np.ndarray) -> float:
    """Return the mean of the adjusted Rand index and the adjusted mutual information.

    Elements with a negative label in either partition are ignored.
    """
    both = (a >= 0) & (b >= 0)
    if not both.any():
        return 0.0
    table = contingency(a[both], b[both])
    if np.count_nonzero(table) == table.shape[0] == table.shape[1]:
        return 1.0  # the same partition
    return (adjusted_rand(table) + _adjusted_information(table)) / 2


def contingency(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Count the elements by both labels, without empty clusters."""
    table = overlaps(a, b)
    return table[table.any(axis=1)][:, table.any(axis=0)]


def _adjusted_information(table: np.ndarray) -> float:
    """(I - E[I]) / (mean H - E[I]), with the information I that the partitions share."""
    from sklearn.metrics.cluster import expected_mutual_information  # slow to import

    rows, columns, both = (
        float(-xlogy(n, n / table.sum()).sum() / table.sum())
        for n in (table.sum(axis=1), table.sum(axis=0), table)
    )
    expected = float(expected_mutual_information(table, int(table.sum())))
    most = (rows + columns) / 2
    return (rows + columns - both - expected) / (most - expected) if most > expected else 0.0


def adjusted_rand(table: np.ndarray) -> float:
    """(R - E[R]) / (max R - E[R]), where R counts the pairs that are together in both."""
    together, rows, columns, all_pairs = (
        float((n * (n - 1) / 2).sum())
        for n in (table, table.sum(axis=1), table.sum(axis=0), table.sum())
    )
    expected = rows * columns / all_pairs if all_pairs else 0.0
    most = (rows + columns) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)
