"""Agreement of two partitions of the same elements, adjusted for chance.

Both measures are those of scikit-learn. Here they share one contingency table and skip the checks
of labels, which take longer than the measures when hundreds of partitions are compared.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def agreement(a: np.ndarray, b: np.ndarray) -> float:
    """Return the mean of the adjusted Rand index and the adjusted mutual information.

    Elements with a negative label in either partition are ignored.
    """
    both = (a >= 0) & (b >= 0)
    if not both.any():
        return 0.0
    table = _contingency(a[both], b[both])
    if np.count_nonzero(table) == table.shape[0] == table.shape[1]:
        return 1.0  # the same partition
    return (_adjusted_rand(table) + _adjusted_information(table)) / 2


def _contingency(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Count the elements by both labels, without empty clusters."""
    shape = int(a.max()) + 1, int(b.max()) + 1
    table = np.bincount(a.astype(np.int64) * shape[1] + b, minlength=shape[0] * shape[1])
    table = table.reshape(shape)
    return table[table.any(axis=1)][:, table.any(axis=0)]


def _adjusted_rand(table: np.ndarray) -> float:
    """(R - E[R]) / (max R - E[R]), where R counts the pairs that are together in both."""
    together, rows, columns, all_pairs = (
        float((n * (n - 1) / 2).sum())
        for n in (table, table.sum(axis=1), table.sum(axis=0), table.sum())
    )
    expected = rows * columns / all_pairs if all_pairs else 0.0
    most = (rows + columns) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)


def _adjusted_information(table: np.ndarray) -> float:
    """(I - E[I]) / (max I - E[I]), where I is the mutual information, max I the mean entropy."""
    from sklearn.metrics.cluster import expected_mutual_information  # slow to import

    n = table.sum()
    rows, columns = _entropy(table.sum(axis=1) / n), _entropy(table.sum(axis=0) / n)
    information = rows + columns - _entropy(table.ravel() / n)
    expected = float(expected_mutual_information(sp.csr_array(table), int(n)))
    room = (rows + columns) / 2 - expected
    room = min(room, -np.finfo(float).eps) if room < 0 else max(room, np.finfo(float).eps)
    return float((information - expected) / room)


def _entropy(shares: np.ndarray) -> float:
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())
