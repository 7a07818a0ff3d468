"""New rows and columns: their clusters in a fitted model, and how well they fit."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..costs.labels import check_side, renumbered
from ..costs.objective import Information, cost
from ..io.read.fit_input import new_input
from ..joint.alignment import align, check_columns
from ..joint.inputs import are_numbers, as_csr, in_parts
from ..joint.joint import Joint, joint
from ..joint.messages import warn_user, without_mass
from ..joint.weighting import Weighting
from ..model.confidence import Confidence, confidences, evidence_exponents, posterior, rejected
from ..model.hierarchy import Hierarchy
from ..model.leaves import Leaves, Orders, canonical_orders, renumbered_path, take_leaves
from ..model.placing import Model
from ..results.fit_data import joint_of_fit
from ..search.optimise.ensemble import search
from ..search.optimise.methods import warn_if_unfinished
from ..search.optimise.refine import fine_count
from ..search.run import Run, Settings
from ..search.state.coclusters import CoClusterProblem, CoClusters, Solution, Step
from ..search.state.starts import Start, pair, starts_for, still_fixed
from .base import Searches


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


Starts = tuple[Start, Start]


class Learns(Searches):
    """Keeps the solution of a search as fitted attributes."""

    reject: float | None
    beta_: float
    row_labels_: np.ndarray
    column_labels_: np.ndarray
    row_confidence_: np.ndarray
    column_confidence_: np.ndarray
    row_margins_: np.ndarray
    column_margins_: np.ndarray
    row_agreement_: np.ndarray
    column_agreement_: np.ndarray
    row_stability_: np.ndarray
    column_stability_: np.ndarray
    row_evidence_exponent_: float
    column_evidence_exponent_: float
    row_names_in_: np.ndarray
    feature_names_in_: np.ndarray
    n_features_in_: int
    path_: list[Step]
    selection_: np.ndarray
    selection_reason_: str
    beta_selection_: np.ndarray
    cost_: float
    information_: Information
    hierarchy_: Hierarchy
    n_iter_: int
    _model: Model
    _n_features_out: int

    def _keep(self, solution: Solution[CoClusters], starts: Starts, run: Run) -> None:
        """Set the fitted attributes, clusters in canonical order."""
        state = solution.state
        self.information_ = state.information()
        self.beta_ = run.beta
        self.cost_ = self.information_.cost(run.beta)
        self.n_iter_ = state.n_iter
        orders = canonical_orders((state.rows, state.columns), starts)
        self.row_labels_, self.column_labels_ = (
            renumbered(labels, order)
            for labels, order in zip(state.all_labels(), orders, strict=True)
        )
        path = renumbered_path(solution.path or [state.step(run.beta)], orders)
        self._set_or_forget("path_", path if self.keep_path else None)
        names = state.joint.row_names
        self._set_or_forget("row_names_in_", None if names is None or are_numbers(names) else names)
        self._keep_confidence(solution, orders, starts, run)
        self._keep_model(solution, orders, starts, run)

    def _keep_model(
        self, solution: Solution[CoClusters], orders: Orders, starts: Starts, run: Run
    ) -> None:
        """Set the attributes for new data and other levels."""
        data = solution.state.joint
        counts = [fine_count(s) if self.method == "auto" else s.k for s in starts]
        with run.monitor.interruptible():
            rows, columns = take_leaves(solution, orders, counts, run)
        self.hierarchy_ = Hierarchy(rows, columns, run.beta, self.information_)
        self._model = Model(
            rows,
            columns,
            2 * run.beta - 1,
            data.scale,
            data.spread,
            data.row_names,
            data.column_names,
        )
        self._n_features_out = 0 if rows is None else rows.k

    def _keep_confidence(
        self, solution: Solution[CoClusters], orders: Orders, starts: Starts, run: Run
    ) -> None:
        """Set the confidence of labels, and reject those below the limit."""
        exponents = evidence_exponents(solution.state, run)
        for name, gamma in zip(("row", "column"), exponents, strict=True):
            self._set_or_forget(f"{name}_evidence_exponent_", gamma)
        both = confidences(solution, run.beta, exponents)
        for name, sure, order, start in zip(("row", "column"), both, orders, starts, strict=True):
            if sure and order is not None:
                sure = sure._replace(stability=sure.stability[order])
            for part in Confidence._fields:
                self._set_or_forget(f"{name}_{part}_", sure and getattr(sure, part))
            if sure and self.reject is not None:
                labels = getattr(self, f"{name}_labels_")
                kept = rejected(labels, sure.confidence, self.reject, start.fixed)
                setattr(self, f"{name}_labels_", kept)

    def _report(self, state: CoClusters, starts: Starts, run: Run, level: int = 4) -> None:
        """Warn of a search that was stopped, and of empty rows and columns.

        ``level`` is the number of calls between the user's line and this one.
        """
        warn_if_unfinished(state, run, level)
        empty = [int((~start.has_mass).sum()) for start in starts]
        if any(empty):
            warn_user(f"{without_mass(empty, state.joint.shape)}: label -1.")

    def _set_or_forget(self, attribute: str, value: Any) -> None:
        """Set a fitted attribute, or delete that of an earlier fit."""
        if value is not None:
            setattr(self, attribute, value)
        elif hasattr(self, attribute):
            delattr(self, attribute)


class Cuts(Learns):
    """Cutting the tree of a fit."""

    n_clusters: Any
    fixed: Any

    def _both(self, n_clusters: Any) -> tuple[Any, Any]:
        """The parameter as a pair of numbers, for rows and for columns."""
        return pair(n_clusters, "n_clusters")

    def cut(self, n_clusters: int | tuple[int | None, int | None], X: Any = None) -> Self:
        """The co-clustering at another level of the hierarchy, as a fitted model of its own.

        This model does not change. Each side can have any number of clusters from one to the
        number of its leaves. Clusters are numbered by decreasing mass; a side with the number of
        clusters of the fit keeps their numbers.

        Parameters
        ----------
        n_clusters : int or pair of (int or None)
            The numbers of row and of column clusters; one number is used for both, and None for a
            side that is not clustered.
        X : matrix of the fit, default=None
            With it the cut is refined: elements, except those in ``fixed``, move until no single
            move lowers the cost. Clusters keep their numbers. The new model has a hierarchy of its
            own.

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
        if isinstance(X, Integral):
            raise ValueError(f"cut takes a pair of numbers: cut(({n_clusters}, {X}))")
        model = self._at(n_clusters)
        if X is not None:
            model._refine(X)
        return model

    def _refine(self, X: Any) -> None:
        """Move single elements as long as that lowers the cost."""
        data = joint_of_fit(self, X)
        labels = [side and side.labels for side in (self._model.rows, self._model.columns)]
        counts = self._both(self.n_clusters)
        starts = starts_for(data, counts, labels, still_fixed(self.fixed, labels))
        run = self._run(self.beta_)
        run = replace(run, settings=Settings(self.max_iter), n_init=1, n_jobs=1)
        solution = search(CoClusterProblem(data, starts), run)
        self._keep(solution, starts, run)
        self._report(solution.state, starts, run)

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
        if not is_fit:  # reasons and evidence are those of the numbers of the fit
            for attribute in ("selection_", "selection_reason_"):
                model.__dict__.pop(attribute, None)
        if wanted != tuple(side and side.k for side in (self._model.rows, self._model.columns)):
            model._relabel(rows, columns)
        return model

    def _relabel(self, rows: Leaves | None, columns: Leaves | None) -> None:
        """Set the labels of another level, whose confidence is not known."""
        for name, side in (("row", rows), ("column", columns)):
            if side is not None:
                setattr(self, f"{name}_labels_", side.labels)
            for part in Confidence._fields:
                self._set_or_forget(f"{name}_{part}_", None)
        self._n_features_out = 0 if rows is None else rows.k
