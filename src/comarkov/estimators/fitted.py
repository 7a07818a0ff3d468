"""What a fit leaves: its attributes, and what can be done with them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import (
    BaseEstimator,
    BiclusterMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from ..costs.labels import renumbered
from ..costs.objective import cost
from ..costs.relations import Information
from ..data.joint import Joint, are_numbers, as_csr, check_columns, joint
from ..data.weighting import Weighting
from ..model.confidence import Confidence, confidences, posterior, rejected
from ..model.hierarchy import Hierarchy
from ..model.leaves import Leaves, take_leaves
from ..model.numbering import canonical_orders, renumbered_path
from ..model.placing import Model, align
from ..model.storage import Savable
from ..results.recall import data_again
from ..results.showing import ShowsItself
from ..search import ensemble as search
from ..search.coarsening import fine_count
from ..search.methods import warn_if_unfinished
from ..search.optimise import CoClusters, Seed, Settings, Start, Step
from ..search.progress import Monitor, Progress
from ..search.starts import pair, starts_for, still_fixed


class FittedCoClusters(
    ShowsItself,
    Savable,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BiclusterMixin,
    BaseEstimator,
):
    """Sets what a fit has found, and all methods that need no more than that."""

    n_clusters: Any
    method: str
    max_iter: int
    fixed: Any
    keep_path: bool
    reject: float | None
    max_time: float | None
    callback: Callable[[Progress], Any] | None
    random_state: Any
    verbose: int
    beta_: float
    row_labels_: np.ndarray
    column_labels_: np.ndarray
    cost_: float
    information_: Information
    hierarchy_: Hierarchy
    weighting_: Weighting | None
    _model: Model

    # --- what a fit sets --------------------------------------------------------------------

    def _keep(
        self, clusters: CoClusters, starts: tuple[Start, Start], beta: float, seed: Seed,
        monitor: Monitor,
    ) -> None:  # fmt: skip
        """Set the fitted attributes, clusters in canonical order."""
        self.information_ = clusters.information()
        self.beta_ = beta
        self.cost_ = self.information_.cost(self.beta_)
        self.n_iter_ = clusters.n_iter
        orders = canonical_orders(clusters, starts)
        self.row_labels_, self.column_labels_ = (
            renumbered(labels, order)
            for labels, order in zip(clusters.labels(), orders, strict=True)
        )
        path = clusters.path or [Step(self.beta_, self.cost_, *clusters.labels())]
        path = renumbered_path(path, orders)
        self._set_or_forget("path_", path if self.keep_path else None)
        names = clusters.joint.row_names
        self._set_or_forget("row_names_in_", None if names is None or are_numbers(names) else names)
        self._keep_confidence(clusters, orders, starts)
        self._keep_model(clusters, orders, starts, seed, monitor)

    def _keep_model(
        self, clusters: CoClusters, orders: list[np.ndarray | None], starts: tuple[Start, Start],
        seed: Seed, monitor: Monitor,
    ) -> None:  # fmt: skip
        """Set what new data and other levels need."""
        data = clusters.joint
        many = [fine_count(s) if self.method == "auto" else s.k for s in starts]
        with monitor.interruptible():
            rows, columns = take_leaves(clusters, orders, many, self.beta_, seed, monitor.stop)
        self.hierarchy_ = Hierarchy(rows, columns, self.beta_, self.information_)
        self._model = Model(
            rows, columns, 2 * self.beta_ - 1, data.scale, data.matrix.spread, data.row_names,
            data.column_names,
        )  # fmt: skip
        self._n_features_out = 0 if rows is None else rows.k

    def _keep_confidence(
        self, clusters: CoClusters, orders: list[np.ndarray | None], starts: tuple[Start, Start]
    ) -> None:
        """Set how sure it all is, and reject what is not."""
        both = confidences(clusters, self.beta_)
        for name, sure, order, start in zip(("row", "column"), both, orders, starts, strict=True):
            if sure and order is not None:
                sure = sure._replace(stability=sure.stability[order])
            for part in Confidence._fields:
                self._set_or_forget(f"{name}_{part}_", sure and getattr(sure, part))
            if sure and self.reject is not None:
                labels = getattr(self, f"{name}_labels_")
                kept = rejected(labels, sure.confidence, self.reject, start.fixed)
                setattr(self, f"{name}_labels_", kept)

    def _both(self, n_clusters: Any) -> tuple[Any, Any]:
        """Numbers of clusters, as a user gives them, for rows and for columns."""
        return pair(n_clusters, "n_clusters")

    def _set_or_forget(self, attribute: str, value: Any) -> None:
        """Set a fitted attribute, or delete what an earlier fit left there."""
        if value is not None:
            setattr(self, attribute, value)
        elif hasattr(self, attribute):
            delattr(self, attribute)

    def _report(self, clusters: CoClusters, starts: tuple[Start, Start], monitor: Monitor) -> None:
        """Warn of what the user may not expect."""
        warn_if_unfinished(clusters, monitor, self.max_iter, 4)
        empty = [int((~start.has_mass).sum()) for start in starts]
        if any(empty):
            (n, m) = clusters.joint.shape
            message = f"{empty[0]} of {n} rows and {empty[1]} of {m} columns have no mass"
            warnings.warn(f"{message}: their label is -1.", stacklevel=4)

    def _seed(self) -> Seed:
        return Seed.of(self.random_state)

    # --- new data ---------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of each new row: where it costs least to insert; -1 without mass.

        With ``reject`` also -1 where the posterior of that cluster is below it.

        Data frames are aligned by column names: columns that the fit did not see are ignored
        with a warning, columns that are missing count as 0. Then X is weighted as in the fit.
        """
        _, new = self._new_rows(X)
        return self._chosen(new, self._model.row_costs(new))

    def predict_columns(self, X: Any) -> np.ndarray:
        """The cluster of each new column of X, whose rows are those of the fit; -1 without mass.

        With ``reject`` also -1 where the posterior of that cluster is below it.

        Data frames are aligned by row names, as ``predict`` does by column names. Then X is
        weighted: by the rows of X that have each column, and by the lengths that rows had in the
        fit.
        """
        new = self._new_columns(X)
        return self._chosen(new, self._model.column_costs(new))

    def predict_with_confidence(self, X: Any, side: str = "rows") -> tuple[np.ndarray, np.ndarray]:
        """The cluster of each new row, or column, and the posterior of that cluster.

        Parameters
        ----------
        X : matrix, data frame or Data
            As for ``predict``, or for ``predict_columns``.
        side : {"rows", "columns"}, default="rows"
            What is new.

        Returns
        -------
        labels, confidence : ndarray
            Without mass the cluster is -1 and the confidence 0. It is what ``row_confidence_`` is
            without the agreement, of which nothing is known for new data.
        """
        if side == "rows":
            _, new = self._new_rows(X)
            costs = self._model.row_costs(new)
        else:
            new = self._new_columns(X)
            costs = self._model.column_costs(new)
        sure = posterior(costs, new.matrix).max(axis=1)
        return self._chosen(new, costs), np.where(new.row_mass > 0, sure, 0.0)

    def transform(self, X: Any) -> np.ndarray:
        """Soft membership of rows in row clusters: nonnegative, each row sums to 1.

        With c_a the cost of inserting the row into cluster a, in nats per unit of its mass, the
        score of a is proportional to exp(-c_a): the rule by which the information bottleneck
        assigns softly. Memberships do not depend on the unit of the weights, as long as the fit
        and the new rows have the same. Rows without mass are spread evenly.
        """
        _, new = self._new_rows(X)
        mass = np.where(new.row_mass > 0, new.row_mass, 1.0)
        return softmax(-self._model.row_costs(new) / mass[:, None], axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus L_β of X in bits, its rows in their predicted clusters, the columns as fitted.

        It is the cost of X as weighted, with nothing rejected. Columns that had no mass in the fit
        count as members of cluster 0. Scores at different β, for different numbers of clusters or
        for different weightings do not tell which of these is better: a smaller β and more
        clusters always cost less, and another weighting makes another matrix.
        """
        weights, new = self._new_rows(X)
        rows = self._model.row_costs(new).argmin(axis=1)
        columns = self._model.column_labels
        if columns is None:
            columns = self.column_labels_
        return -cost(weights, rows, np.maximum(columns, 0), self.beta_)

    def _chosen(self, new: Joint, costs: np.ndarray) -> np.ndarray:
        """The cluster of least cost for each row of the new; -1 where there is none to name."""
        takes = new.row_mass > 0
        if self.reject is not None:
            takes &= posterior(costs, new.matrix).max(axis=1) >= self.reject
        return np.where(takes, costs.argmin(axis=1), -1)

    def _new_rows(self, X: Any) -> tuple[sp.csr_array, Joint]:
        """The weights of X, with the columns of the fit, and the same as the kernels take it."""
        check_is_fitted(self)
        aligned = align(X, self._model.column_names, axis=1)
        weights = as_csr(aligned)
        if aligned is X:
            check_columns(self, X, reset=False)
        if self.weighting_ is not None:
            weights = self.weighting_.weigh_rows(weights)
        return weights, joint(weights, self._model.scale)

    def _new_columns(self, X: Any) -> Joint:
        """The weights of the columns of X, with the rows of the fit, as rows."""
        check_is_fitted(self)
        weights = align(X, self._model.row_names, axis=0)
        if self.weighting_ is not None:
            weights = self.weighting_.weigh_columns(weights)
        return joint(weights, self._model.scale).T

    # --- the hierarchy ----------------------------------------------------------------------

    def cut(self, n_clusters: int | tuple[int | None, int | None], X: Any = None) -> Self:
        """The co-clustering at another level of the hierarchy: a model of its own, fitted.

        It predicts, transforms and scores as this model does, which stays as it is. Each side may
        be cut anywhere between one cluster and its leaves. Clusters are numbered by falling mass,
        but on a side that is cut where the fit is as they are there. Cutting at the numbers of
        clusters of the fit gives the fit again.

        Parameters
        ----------
        n_clusters : int or pair of (int or None)
            The numbers of row and of column clusters; one number stands for both, and None for a
            side that is not clustered.
        X : matrix of the fit, default=None
            If given, the cut is refined: elements move, but for those in ``fixed``, until no
            single move lowers the cost. Clusters keep their numbers. What comes out has a
            hierarchy of its own.

        Examples
        --------
        >>> from comarkov import CoClustering, datasets
        >>> women = datasets.load("southern-women").matrix
        >>> model = CoClustering((4, 4), random_state=0).fit(women)
        >>> coarse = model.cut((2, 3))
        >>> print(coarse.predict(women[:6]), round(coarse.cost_, 3))
        [0 0 0 0 0 0] 0.94
        >>> round(model.cut((2, 3), women).cost_, 3)
        0.856
        """
        model = self._at(n_clusters)
        if X is not None:
            model._refine(X)
        return model

    def _refine(self, X: Any) -> None:
        """Move single elements as long as that lowers the cost."""
        data = data_again(self, X)
        labels = [side and side.labels for side in (self._model.rows, self._model.columns)]
        counts = self._both(self.n_clusters)
        starts = starts_for(data, counts, labels, still_fixed(self.fixed, labels))
        monitor = Monitor(self.max_time, self.callback, self.verbose)
        settings = Settings(self.max_iter, 0.0, shuffle=False)
        seed = self._seed()
        clusters = search.search(data, starts, self.beta_, settings, seed, 1, monitor)
        self._keep(clusters, starts, self.beta_, seed, monitor)
        self._report(clusters, starts, monitor)

    def _at(self, n_clusters: Any) -> Self:
        """A copy at another level of the hierarchy."""
        check_is_fitted(self)
        tree = self.hierarchy_
        wanted = tree.checked(self._both(n_clusters))
        rows, columns = tree.sides_at(wanted)
        model = copy(self)
        model.n_clusters = n_clusters
        model._model = replace(self._model, rows=rows, columns=columns)
        is_fit = wanted == tree.n_fitted
        whole = tree.information
        model.information_ = whole if is_fit else model._model.information(whole.rows_columns)
        model.cost_ = model.information_.cost(tree.beta)
        model.__dict__.pop("path_", None)
        if wanted != tuple(side and side.k for side in (self._model.rows, self._model.columns)):
            model._relabel(rows, columns)
        return model

    def _relabel(self, rows: Leaves | None, columns: Leaves | None) -> None:
        """Take labels from another level, of which nobody knows how sure they are."""
        for name, side in (("row", rows), ("column", columns)):
            if side is not None:
                setattr(self, f"{name}_labels_", side.labels)
            for part in Confidence._fields:
                self._set_or_forget(f"{name}_{part}_", None)
        self._n_features_out = 0 if rows is None else rows.k

    # --- biclusters -------------------------------------------------------------------------

    @property
    def rows_(self) -> np.ndarray:
        """Which rows each bicluster has."""
        return np.repeat(_members(self.row_labels_), _count(self.column_labels_), axis=0)

    @property
    def columns_(self) -> np.ndarray:
        """Which columns each bicluster has."""
        return np.tile(_members(self.column_labels_), (_count(self.row_labels_), 1))

    def get_indices(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the i-th bicluster, without making ``rows_`` and ``columns_``."""
        check_is_fitted(self)
        count = _count(self.row_labels_) * _count(self.column_labels_)
        row_cluster, column_cluster = divmod(range(count)[i], _count(self.column_labels_))
        return (
            np.flatnonzero(self.row_labels_ == row_cluster),
            np.flatnonzero(self.column_labels_ == column_cluster),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _count(labels: np.ndarray) -> int:
    return int(labels.max()) + 1


def _members(labels: np.ndarray) -> np.ndarray:
    return labels == np.arange(_count(labels))[:, None]
