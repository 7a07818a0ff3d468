"""Do the blocks explain the matrix, or is there more structure inside them?

If they do, entries deviate independently from what the blocks predict, however strongly: the
squared sum of a row's deviations over a column cluster is then as large as the sum of their
squares. If rows of a cluster differ further, their deviations have a common sign and the squared
sum is larger.

    e_xy = n_x n_y M_ab / (N_a N_b)                 expected, x in a and y in b
    D_xb = Σ_y∈b (n_xy - e_xy),  V_xb = Σ_y∈b (n_xy - e_xy)²
    leftover = Σ_xb D²_xb / e_xb  /  Σ_xb (1 - q_b) V_xb / e_xb

q_b is the share of b, as the deviations of a row sum to 0. Row x is compared with the others of its
cluster. The ratio is 1 for independent counts, bursts and heavy tails, and needs no unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .labels import membership

Labels = np.ndarray

AT_ONCE = 1 << 14  # rows
MEMBERS = 3.0  # effective members of a column cluster, below which its sums are not informative
EXACT = 1e-9  # shares of mass below this are rounding


class Columns(NamedTuple):
    """Columns in clusters."""

    member: sp.csr_array  # (m, l): 1 where a column belongs
    mass: np.ndarray  # of each column
    squares: np.ndarray  # their sums by cluster
    total: np.ndarray  # the mass of each cluster

    @classmethod
    def of(cls, matrix: sp.csr_array, labels: Labels) -> Columns:
        """Take the columns of a matrix."""
        member = membership(labels, int(labels.max()) + 1)
        mass = np.asarray(matrix.sum(axis=0), np.float64).ravel()
        return cls(member, mass, member.T @ mass**2, member.T @ mass)

    def sums(self, rows: sp.csr_array) -> np.ndarray:
        """The masses of rows by cluster."""
        return np.asarray((rows @ self.member).toarray(), np.float64)


def leftover(matrix: sp.csr_array, row_labels: Labels, column_labels: Labels) -> float:
    """Return how much more rows vary between column clusters than independent entries would.

    NaN if there is nothing to compare.
    """
    columns = Columns.of(matrix, column_labels)
    blocks = columns.sums(membership(row_labels, int(row_labels.max()) + 1).T @ matrix)
    sizes = np.bincount(row_labels[row_labels >= 0])
    counts = columns.total**2 >= MEMBERS * columns.squares
    observed = expected = 0.0
    for start in range(0, matrix.shape[0], AT_ONCE):
        labels = row_labels[start : start + AT_ONCE]
        several = (labels >= 0) & (sizes[labels] > 1)
        part = matrix[start : start + AT_ONCE][several].astype(np.float64)
        together, one_by_one = _deviations(part, blocks[labels[several]], columns)
        observed += float(together[:, counts].sum())
        expected += float(one_by_one[:, counts].sum())
    return observed / expected if expected > 0 else np.nan


def _deviations(
    part: sp.csr_array, home: np.ndarray, columns: Columns
) -> tuple[np.ndarray, np.ndarray]:
    """Return D² / e and (1 - q) V / e of rows by column cluster; ``home`` are sums of clusters.

    D² is divided by 1 + n_x / N, as the N of the other rows varies too.
    """
    own = columns.sums(part)
    others = home - own
    others[others < EXACT * home] = 0.0
    mass, rest = own.sum(axis=1, keepdims=True), others.sum(axis=1, keepdims=True)
    share = _ratio(others, rest)
    expected = mass * share
    rate = _ratio(expected, columns.total)
    one_by_one = (
        columns.sums(part.power(2))
        - 2 * rate * columns.sums(sp.csr_array(part * columns.mass))
        + rate**2 * columns.squares
    )
    together = (own - expected) ** 2 / (1 + _ratio(mass, rest))
    return _ratio(together, expected), _ratio((1 - share) * one_by_one, expected)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a / b, and 0 where b is 0."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    return np.divide(a, b, out=np.zeros(shape), where=np.broadcast_to(b > 0, shape))
