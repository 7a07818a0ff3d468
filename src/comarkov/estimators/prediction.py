"""New rows and columns: their clusters in a fitted model, and how well they fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..costs.labels import check_side
from ..costs.objective import cost
from ..data.alignment import align, check_columns
from ..data.inputs import as_csr, in_parts
from ..data.joint import Joint, joint
from ..data.reading.fit_input import new_input
from ..data.weighting import Weighting
from ..model.confidence import posterior
from ..model.placing import Model


class Predicts(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Methods for new data, which use only fitted attributes."""

    reject: float | None
    beta_: float
    column_labels_: np.ndarray
    row_evidence_exponent_: float
    column_evidence_exponent_: float
    weighting_: Weighting | None
    _model: Model

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of each new row, where it costs least to insert; -1 for empty rows.

        With ``reject``, rows whose posterior for that cluster is lower get -1, too.

        Data with names are aligned by the names of columns: columns that the fit did not have are
        ignored with a warning, and missing columns count as 0. Then X is weighted as in the
        fit. For a list of texts, the words of the fit are counted. For a file,
        ``model.predict(comarkov.read(path, like=model))`` reads it like the data of the fit.
        """
        return self._placed_rows(X)[0]

    def predict_columns(self, X: Any) -> np.ndarray:
        """The cluster of each new column of X, whose rows are those of the fit; -1 if empty.

        With ``reject``, columns whose posterior for that cluster is lower get -1, too.

        Data with names are aligned by the names of rows, as ``predict`` aligns them by columns.
        Each column is weighted by the rows of X that have it and their lengths in the fit.
        """
        return self._placed_columns(self._new_columns(X))[0]

    def predict_with_confidence(self, X: Any, side: str = "rows") -> tuple[np.ndarray, np.ndarray]:
        """The cluster of each new row, or column, and the posterior of that cluster.

        Parameters
        ----------
        X : matrix, data frame or Data
            As for ``predict``, or for ``predict_columns``.
        side : {"rows", "columns"}, default="rows"
            Which side of X is new.

        Returns
        -------
        labels, confidence : ndarray
            Empty rows or columns have cluster -1 and confidence 0. The confidence is the posterior
            in ``row_confidence_``, with the same exponent, without the agreement with other
            results of the search, which is not known for new data.
        """
        check_side(side)
        if side == "rows":
            return self._placed_rows(X)
        return self._placed_columns(self._new_columns(X))

    def transform(self, X: Any) -> np.ndarray:
        """Soft membership of rows in row clusters: nonnegative, each row sums to 1.

        With c_a the cost of inserting the row into cluster a, in nats per unit of its mass, the
        membership in a is proportional to exp(-c_a), the rule of the soft information bottleneck.
        Memberships do not depend on the unit of the weights, if the fit used the same unit. Empty
        rows belong to all clusters equally.
        """
        _, new = self._new_rows(X)
        mass = np.where(new.row_mass > 0, new.row_mass, 1.0)
        return softmax(-self._model.row_costs(new) / mass[:, None], axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus L_β of X in bits, with rows in their predicted clusters and columns as fitted.

        It is the cost of the weighted X, with nothing rejected. Columns that were empty in the fit
        count as members of cluster 0. Scores cannot be used to choose β, numbers of clusters or
        weightings: a smaller β and more clusters always cost less, and another weighting makes
        another matrix.
        """
        weights, new = self._new_rows(X)
        rows = self._model.row_costs(new).argmin(axis=1)
        columns = self._model.column_labels
        if columns is None:
            columns = self.column_labels_
        return -cost(weights, rows, np.maximum(columns, 0), self.beta_)

    def _placed_rows(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The clusters of new rows and their posteriors; those of a store some at a time."""
        parts = []
        for some in in_parts(X):
            _, new = self._new_rows(some)
            costs = self._model.row_costs(new)
            parts.append(self._placed(new, costs, self.row_evidence_exponent_))
        labels, sure = zip(*parts, strict=True)
        return np.concatenate(labels), np.concatenate(sure)

    def _placed_columns(self, new: Joint) -> tuple[np.ndarray, np.ndarray]:
        return self._placed(new, self._model.column_costs(new), self.column_evidence_exponent_)

    def _placed(self, new: Joint, costs: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
        """The cluster of least cost and its posterior; -1 for empty and rejected elements."""
        has_mass = new.row_mass > 0
        sure = np.where(has_mass, posterior(costs, new.matrix, gamma).max(axis=1), 0.0)
        takes = has_mass if self.reject is None else has_mass & (sure >= self.reject)
        return np.where(takes, costs.argmin(axis=1), -1), sure

    def _new_rows(self, X: Any) -> tuple[sp.csr_array, Joint]:
        """The weights of X, with the columns of the fit, as a matrix and as a distribution."""
        check_is_fitted(self)
        weights = with_columns_of_fit(self, X, self._model.column_names)
        if self.weighting_ is not None:
            weights = self.weighting_.weigh_rows(weights)
        return weights, joint(weights, self._model.scale)

    def _new_columns(self, X: Any) -> Joint:
        """The weights of the columns of X, with the rows of the fit, as rows."""
        check_is_fitted(self)
        weights = align(new_input(X, None), self._model.row_names, axis=0)
        if self.weighting_ is not None:
            weights = self.weighting_.weigh_columns(weights)
        return joint(weights, self._model.scale).T


def with_columns_of_fit(estimator: Any, X: Any, names: np.ndarray | None) -> sp.csr_array:
    """The weights of new rows: columns matched by name if both have names, else by position."""
    X = new_input(X, names)
    aligned = align(X, names, axis=1)
    weights = as_csr(aligned)
    if aligned is X:
        check_columns(estimator, X, reset=False)
    return weights
