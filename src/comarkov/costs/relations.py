"""The family of costs of a relation between two partitions, in bits, in plain NumPy.

A relation is a matrix of weights n_xy between elements X of one type and Y of another, or of the
same type. With f(v) = v ln v, N = Σ n_xy, X̄ and Ȳ the clusters, and coefficients c,

    N J = - c_T Σ f(n_xȲ) - c_S Σ f(n_X̄y) - c_ST Σ f(n_X̄Ȳ)
          + (c_S + c_ST) Σ f(n_X̄) + (c_T + c_ST) Σ f(n_Ȳ)

is, up to a constant, the information that is lost:

    L = (c_S + c_T + c_ST) I(X;Y) - c_T I(X;Ȳ) - c_S I(X̄;Y) - c_ST I(X̄;Ȳ)

| model                               | c_S  | c_T  | c_ST    |
|-------------------------------------|------|------|---------|
| co-clustering L_β                   | 2β-1 | 2β-1 | 2(1-β)  |
| Markov aggregation (Y is X's next)  | 0    | 2β-1 | 1-β     |
| multi-way clustering, for each      | 0    | 0    | weight  |
| information bottleneck of X         | 1    | 0    | 0       |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from ..joint.joint import Joint, joint
from .labels import as_labels

ROUNDING = 1e-12  # bits that may be 0


class Information(NamedTuple):
    """Mutual information, in bits, between rows or their clusters and columns or theirs.

    Examples
    --------
    >>> import comarkov
    >>> amounts = comarkov.information([[1, 0, 0], [0, 1, 1]], [0, 1], [0, 1, 1])
    >>> round(amounts.rows_columns, 3), amounts.kept, amounts.cost(beta=0.7)
    (0.918, 1.0, 0.0)
    """

    rows_columns: float  #: I(X;Y), the information of the matrix
    rows_column_clusters: float  #: I(X;Ȳ)
    row_clusters_columns: float  #: I(X̄;Y)
    row_clusters_column_clusters: float  #: I(X̄;Ȳ)

    @property
    def is_zero(self) -> bool:
        """Is I(X;Y) 0, but for rounding?"""
        return self.rows_columns < ROUNDING

    @property
    def kept(self) -> float:
        """The share I(X̄;Ȳ) / I(X;Y) that the blocks keep; 1 if I(X;Y) is 0."""
        if self.is_zero:
            return 1.0
        return min(self.row_clusters_column_clusters / self.rows_columns, 1.0)

    def cost(self, beta: float) -> float:
        """Return L_β of a co-clustering in bits; never negative for β in [0, 1]."""
        return co_clustering(beta).cost(self)


class Coefficients(NamedTuple):
    """The coefficients of one relation: a row of the table above."""

    source: float  #: c_S, of I(X̄;Y)
    target: float  #: c_T, of I(X;Ȳ)
    both: float  #: c_ST, of I(X̄;Ȳ)

    def cost(self, information: Information) -> float:
        """Return the loss L in bits, from the four informations; never negative."""
        loss = (
            sum(self) * information.rows_columns
            - self.target * information.rows_column_clusters
            - self.source * information.row_clusters_columns
            - self.both * information.row_clusters_column_clusters
        )
        return max(loss, 0.0)

    def times(self, weight: float) -> Coefficients:
        """Return the coefficients of a relation with this weight."""
        return Coefficients(*(weight * coefficient for coefficient in self))

    @property
    def transposed(self) -> Coefficients:
        """The coefficients of the transposed relation."""
        return Coefficients(self.target, self.source, self.both)


BOTTLENECK = Coefficients(1.0, 0.0, 0.0)


def co_clustering(beta: float) -> Coefficients:
    """Return the coefficients of co-clustering; at β = 1/2 those of multi-way clustering."""
    coupling = 2 * float(beta) - 1
    return Coefficients(coupling, coupling, 1 - coupling)


def markov(beta: float) -> Coefficients:
    """Return those of Markov aggregation; source and target are states before and after a step."""
    return Coefficients(0.0, 2 * float(beta) - 1, 1 - float(beta))


def relation_cost(
    W: Any, source_labels: ArrayLike, target_labels: ArrayLike, coefficients: Coefficients
) -> float:
    """Return the loss L of a relation in bits, straight from the formula.

    Examples
    --------
    >>> from comarkov.costs import relations
    >>> W = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]
    >>> cost = relations.relation_cost(W, [0, 0, 1], [0, 0, 1, 1], relations.co_clustering(0.5))
    >>> round(cost, 12)
    0.5
    """
    distribution = W if isinstance(W, Joint) else joint(W)
    n, m = distribution.shape
    rows = np.unique(as_labels(source_labels, n, "source_labels"), return_inverse=True)[1]
    columns = np.unique(as_labels(target_labels, m, "target_labels"), return_inverse=True)[1]
    matrix = distribution.matrix
    x = np.repeat(np.arange(n), np.diff(matrix.indptr))
    y = matrix.indices.astype(np.int64)
    w = matrix.weights.astype(np.float64) / distribution.total

    def f(one: np.ndarray, other: np.ndarray) -> float:
        cell = np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1]
        masses = np.bincount(cell, weights=w)
        return float(xlogy(masses, masses).sum())

    constant = np.zeros_like(x)  # one label for all entries
    source, target, both = coefficients
    varying = -target * f(x, columns[y]) - source * f(rows[x], y) - both * f(rows[x], columns[y])
    varying += (source + both) * f(rows[x], constant) + (target + both) * f(columns[y], constant)
    fixed = -(source + both) * f(x, constant) - (target + both) * f(y, constant)
    fixed += sum(coefficients) * f(x, y)
    return float((varying + fixed) / np.log(2))
