"""The cost L_β of a co-clustering and its four mutual informations, in bits, in plain NumPy.

    L_β(Φ,Ψ) = 2β I(X;Y) + (1-2β) [I(X;Ȳ) + I(X̄;Y)] - 2(1-β) I(X̄;Ȳ)

X and Y are the row and the column of a unit of mass drawn from the matrix, X̄ = Φ(X) and
Ȳ = Ψ(Y) their clusters. L_β is a row of the table in `relations`; kernels, moves and reports are
tested equal to what is computed here.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..joint.joint import Joint, joint
from .labels import as_labels
from .relations import Information


def information(W: Any, row_labels: ArrayLike, column_labels: ArrayLike) -> Information:
    """Return the four mutual informations of a co-clustering, in bits.

    Parameters
    ----------
    W : array-like or sparse matrix of shape (n_rows, n_columns)
        Nonnegative weights; they need not sum to 1.
    row_labels, column_labels : array-like of int
        The cluster of each row and of each column. Empty rows and columns may have any label,
        including -1.

    Examples
    --------
    >>> import comarkov
    >>> comarkov.information([[1, 0, 0], [0, 1, 1]], [0, 1], [0, 1, 1]).kept
    1.0
    """
    distribution = W if isinstance(W, Joint) else joint(W)
    matrix = distribution.matrix
    rows = _checked(row_labels, distribution.row_mass, "row_labels")
    columns = _checked(column_labels, distribution.column_mass, "column_labels")
    x = np.repeat(np.arange(rows.size), np.diff(matrix.indptr))
    y = matrix.indices.astype(np.int64)
    w = matrix.weights.astype(np.float64) / distribution.total
    return Information(
        _mutual_information(x, y, w),
        _mutual_information(x, columns[y], w),
        _mutual_information(rows[x], y, w),
        _mutual_information(rows[x], columns[y], w),
    )


def cost(W: Any, row_labels: ArrayLike, column_labels: ArrayLike, beta: float) -> float:
    """Return the cost L_β of a co-clustering, in bits: the information that the clusters lose.

    Parameters
    ----------
    W : array-like or sparse matrix of shape (n_rows, n_columns)
        Nonnegative weights; they need not sum to 1.
    row_labels, column_labels : array-like of int
        The cluster of each row and of each column.
    beta : float in [0, 1]
        1 costs the two clusterings independently of each other (information bottleneck), 3/4 is
        IBCC, 1/2 is ITCC, 0 asks for lumpability.

    Examples
    --------
    >>> import numpy as np, comarkov
    >>> P = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]) / 4
    >>> comarkov.cost(P, [0, 0, 1], [0, 0, 1, 1], beta=0.5)
    0.5
    """
    if not isinstance(beta, Real) or not 0 <= beta <= 1:
        raise ValueError(f"beta must be a number in [0, 1], got {beta!r}.")
    return information(W, row_labels, column_labels).cost(beta)


def _checked(values: ArrayLike, mass: np.ndarray, what: str) -> np.ndarray:
    array = as_labels(values, mass.size, what)
    if (array[mass > 0] < 0).any():
        which = int(np.flatnonzero((array < 0) & (mass > 0))[0])
        raise ValueError(f"{what}[{which}] is -1, but the element is not empty: give it a cluster.")
    return np.unique(array, return_inverse=True)[1]


def _mutual_information(x: np.ndarray, y: np.ndarray, p: np.ndarray) -> float:
    """Return the mutual information in bits of two labellings of entries with probabilities p."""
    width = int(y.max()) + 1
    cells, cell = np.unique(x * width + y, return_inverse=True)
    p_xy = np.bincount(cell, weights=p)
    p_x = np.bincount(x, weights=p)[cells // width]
    p_y = np.bincount(y, weights=p)[cells % width]
    return max(float((p_xy * np.log2(p_xy / p_x / p_y)).sum()), 0.0)
