"""Count, enumerate and encode the partitions of a few elements into k clusters.

Clusters are numbered by their first elements, so every partition has exactly one labelling.
"""

from __future__ import annotations

from math import comb, inf, log

import numpy as np
from scipy.special import xlogy

from ..kernels.partitions import Subsets

MOST = 1e9  # larger numbers of partitions count as infinite
LARGEST = 1000  # with more elements, only 1 or n clusters have few enough partitions
CODE_BITS = 62


def count(n: int, k: int) -> float:
    """Return the number of partitions of n elements into k clusters; infinite above MOST."""
    if k in (1, n):
        return 1
    if n > LARGEST or (n - k) * log(k) > log(MOST):  # k^(n-k) place all but k elements that differ
        return inf
    sums = [1] + [0] * (n - k)  # of all products of so many of the numbers up to i
    for i in range(1, k + 1):
        for d in range(1, n - k + 1):
            sums[d] += i * sums[d - 1]
    return sums[-1] if sums[-1] <= MOST else inf


def every_partition(n: int, k: int, apart: np.ndarray) -> np.ndarray:
    """Return the labels of all partitions, one per line, in lexicographic order.

    Elements with ``apart`` are all in different clusters.
    """
    labels, used = np.zeros((1, 0), np.int16), np.zeros(1, np.int64)
    for x in range(n):
        fewest = np.where(k - used > n - x - 1, used, 0)  # every remaining element opens a cluster
        choices = np.minimum(used + 1, k) - fewest
        parent = np.repeat(np.arange(used.size), choices)
        place = np.arange(parent.size) - np.repeat(np.cumsum(choices) - choices, choices)
        label = (fewest[parent] + place).astype(np.int16)
        labels = np.column_stack([labels[parent], label])
        used = np.maximum(used[parent], label + 1)
        if apart[x]:
            clash = (labels[:, :x][:, apart[:x]] == label[:, None]).any(axis=1)
            labels, used = labels[~clash], used[~clash]
    return np.ascontiguousarray(labels)


# --- through subsets --------------------------------------------------------------------------


def can_encode(n: int, k: int) -> bool:
    """Do the labels fit into a code?"""
    return n * _digit(k) <= CODE_BITS


def steps(n: int, k: int) -> int:
    """Return the number of pairs of subsets that ``best_partitions`` compares."""
    levels = range(2, k)
    return 2 ** (n - 1) + sum(
        comb(n - 1, size) * 2 ** (size - 1) for j in levels for size in range(j, n - k + j + 1)
    )


def subsets_of(masses: np.ndarray, factors: np.ndarray, k: int, apart: np.ndarray) -> Subsets:
    """Return all subsets of the rows of ``masses``, their fixed costs, and scratch memory.

    The cost is Σ_y factors[y] f(mass in y), f(v) = v ln v; infinite with two elements of ``apart``.
    """
    n = masses.shape[0]
    digit = _digit(k)
    alone = np.zeros(1 << n)
    for column, factor in zip(masses.T, factors, strict=True):
        mass = _sums(column)
        alone += factor * xlogy(mass, mass)
    alone[_sums(apart.astype(np.int64)) > 1] = np.inf
    return Subsets(
        size=_sums(np.ones(n, np.int64)),
        ones=_sums(1 << (digit * np.arange(n - 1, -1, -1))),
        alone=alone,
        mass=np.empty(1 << n),
        cost=np.empty((3, 1 << n)),
        code=np.zeros((3, 1 << n), np.int64),
    )


def decoded(code: int, n: int, k: int) -> np.ndarray:
    """Return the labels of a code."""
    digit = _digit(k)
    return code >> (digit * np.arange(n - 1, -1, -1)) & ((1 << digit) - 1)


def _digit(k: int) -> int:
    """Return the number of bits of a label in a code."""
    return (k - 1).bit_length()


def _sums(values: np.ndarray) -> np.ndarray:
    """Return the sum of the values over each subset."""
    sums = np.zeros(1, values.dtype)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums
