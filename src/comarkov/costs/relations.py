"""The family: what a relation between two partitions costs, in bits, in plain NumPy.

A relation is a matrix of weights n_xy between elements X of one type and Y of another, or of the
same type. With f(v) = v ln v, N = Σ n_xy, X̄ and Ȳ the clusters, and coefficients c,

    N J = - c_T Σ f(n_xȲ) - c_S Σ f(n_X̄y) - c_ST Σ f(n_X̄Ȳ)
          + (c_S + c_ST) Σ f(n_X̄) + (c_T + c_ST) Σ f(n_Ȳ)

is, but for what no clustering changes, the information that is lost:

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

from ..data.joint import Joint, joint
from .labels import as_labels


class Information(NamedTuple):
    """Mutual information, in bits, between what is known of the row and of the column."""

    rows_columns: float  #: I(X;Y), all there is
    rows_column_clusters: float  #: I(X;Ȳ)
    row_clusters_columns: float  #: I(X̄;Y)
    row_clusters_column_clusters: float  #: I(X̄;Ȳ)

    @property
    def kept(self) -> float:
        """The share I(X̄;Ȳ) / I(X;Y) that the block matrix keeps; 1 if there is nothing to keep."""
        if self.rows_columns < 1e-12:
            return 1.0
        return min(self.row_clusters_column_clusters / self.rows_columns, 1.0)

    def cost(self, beta: float) -> float:
        """L_β of a co-clustering in bits: not below 0 for any β in [0, 1]."""
        return co_clustering(beta).cost(self)


class Coefficients(NamedTuple):
    """What a relation asks of its two partitions: a row of the family's table."""

    source: float  #: c_S, of I(X̄;Y)
    target: float  #: c_T, of I(X;Ȳ)
    both: float  #: c_ST, of I(X̄;Ȳ)

    def cost(self, information: Information) -> float:
        """The loss L in bits, from the four informations. Rounding aside, 0 is 0."""
        loss = (
            sum(self) * information.rows_columns
            - self.target * information.rows_column_clusters
            - self.source * information.row_clusters_columns
            - self.both * information.row_clusters_column_clusters
        )
        return max(loss, 0.0)

    def times(self, weight: float) -> Coefficients:
        """The same, of a relation that counts so many times."""
        return Coefficients(*(weight * coefficient for coefficient in self))

    @property
    def turned(self) -> Coefficients:
        """The same for the transposed relation."""
        return Coefficients(self.target, self.source, self.both)


BOTTLENECK = Coefficients(1.0, 0.0, 0.0)


def co_clustering(beta: float) -> Coefficients:
    """L_β of a co-clustering; at β = 1/2 multi-way clustering of one relation."""
    coupling = 2 * float(beta) - 1
    return Coefficients(coupling, coupling, 1 - coupling)


def markov(beta: float) -> Coefficients:
    """L_β of a Markov aggregation: source and target are the states before and after a step."""
    return Coefficients(0.0, 2 * float(beta) - 1, 1 - float(beta))


def relation_cost(
    W: Any, source_labels: ArrayLike, target_labels: ArrayLike, coefficients: Coefficients
) -> float:
    """The loss L of a relation in bits, straight from its formula.

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

    nothing = np.zeros_like(x)
    source, target, both = coefficients
    changing = -target * f(x, columns[y]) - source * f(rows[x], y) - both * f(rows[x], columns[y])
    changing += (source + both) * f(rows[x], nothing) + (target + both) * f(columns[y], nothing)
    fixed = -(source + both) * f(x, nothing) - (target + both) * f(y, nothing)
    fixed += sum(coefficients) * f(x, y)
    return float((changing + fixed) / np.log(2))
