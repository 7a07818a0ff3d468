"""The pairs of clusters as scikit-learn's biclusters."""

from __future__ import annotations

import numpy as np
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted


class HasBiclusters(BiclusterMixin):
    """One bicluster for each pair of a row cluster and a column cluster, computed on access."""

    row_labels_: np.ndarray
    column_labels_: np.ndarray

    @property
    def rows_(self) -> np.ndarray:
        """The rows of each bicluster, as a mask."""
        return np.repeat(_members(self.row_labels_), _count(self.column_labels_), axis=0)

    @property
    def columns_(self) -> np.ndarray:
        """The columns of each bicluster, as a mask."""
        return np.tile(_members(self.column_labels_), (_count(self.row_labels_), 1))

    def get_indices(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the i-th bicluster, without computing those of all others."""
        check_is_fitted(self)
        count = _count(self.row_labels_) * _count(self.column_labels_)
        row_cluster, column_cluster = divmod(range(count)[i], _count(self.column_labels_))
        return (
            np.flatnonzero(self.row_labels_ == row_cluster),
            np.flatnonzero(self.column_labels_ == column_cluster),
        )


def _count(labels: np.ndarray) -> int:
    return int(labels.max()) + 1


def _members(labels: np.ndarray) -> np.ndarray:
    return labels == np.arange(_count(labels))[:, None]
