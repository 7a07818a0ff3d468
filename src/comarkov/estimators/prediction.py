"""A fitted co-clustering on new data and at other levels: predict, transform, score and cut."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal, Self, overload

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import BiclusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
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
from ..model.leaves import Orders, canonical_orders, renumbered_path, take_leaves
from ..model.placing import Model
from ..results.fit_data import joint_of_fit
from ..search.optimise.methods import search
from ..search.optimise.refine import fine_count
from ..search.run import Run, Settings
from ..search.state.coclusters import CoClusterProblem, CoClusters, Solution, Step
from ..search.state.starts import Start, pair, starts_for, still_fixed
from .base import Parameters, Searches, warn_if_unfinished

SideName = Literal["rows", "columns"]
Sides = tuple[Start, Start]


def learn(
    solution: Solution[CoClusters], starts: Sides, run: Run, asked: Parameters
) -> dict[str, Any]:
    """Return the fitted attributes, clusters in canonical order; None for those it lacks."""
    state, data = solution.state, solution.state.joint
    orders = canonical_orders((state.rows, state.columns), starts)
    labels = [renumbered(*both) for both in zip(state.all_labels(), orders, strict=True)]
    information = state.information()
    path = renumbered_path(solution.path or [state.step(run.beta)], orders)
    counts = [fine_count(start) if asked.method == "auto" else start.k for start in starts]
    confidence = _learn_confidence(solution, orders, run)
    with run.monitor.interruptible():
        rows, columns = take_leaves(solution, orders, counts, run)
    coupling = 2 * run.beta - 1
    for i, (name, start) in enumerate(zip(("row", "column"), starts, strict=True)):
        sure = confidence[f"{name}_confidence_"]
        if sure is not None and asked.reject is not None:
            labels[i] = rejected(labels[i], sure, asked.reject, start.fixed)
    return {
        "row_labels_": labels[0],
        "column_labels_": labels[1],
        "beta_": run.beta,
        "cost_": information.cost(run.beta),
        "information_": information,
        "n_iter_": state.n_iter,
        "path_": path if asked.keep_path else None,
        **confidence,
        "hierarchy_": Hierarchy(rows, columns, run.beta, information),
        "_model": Model(rows, columns, coupling, data.scale, data.spread, None, None),
        "_n_features_out": 0 if rows is None else rows.k,
    }


def names_of(data: Joint, model: Model) -> dict[str, Any]:
    """Return the fitted attributes that depend on names, which only this process has."""
    is_named = data.row_names is not None and not are_numbers(data.row_names)
    named = replace(model, row_names=data.row_names, column_names=data.column_names)
    return {"row_names_in_": data.row_names if is_named else None, "_model": named}


def _learn_confidence(solution: Solution[CoClusters], orders: Orders, run: Run) -> dict[str, Any]:
    """Return how certain labels are, for each side that is clustered."""
    learnt: dict[str, Any] = {}
    exponents = evidence_exponents(solution.state, run)
    both = confidences(solution, run.beta, exponents)
    for name, gamma, sure, order in zip(("row", "column"), exponents, both, orders, strict=True):
        learnt[f"{name}_evidence_exponent_"] = gamma
        if sure and order is not None:
            sure = sure._replace(stability=sure.stability[order])
        for part in Confidence._fields:
            learnt[f"{name}_{part}_"] = sure and getattr(sure, part)
    return learnt


class CoClustered(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BiclusterMixin, Searches):
    """The fitted attributes of a co-clustering, and the methods that need no others."""

    n_clusters: Any
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
    weighting_: Weighting | None
    reading_: dict[str, Any]
    _model: Model
    _n_features_out: int

    def _store(self, learnt: dict[str, Any]) -> None:
        """Set fitted attributes, and delete those of an earlier fit that are None now."""
        for name, value in learnt.items():
            if value is None:
                self.__dict__.pop(name, None)
            else:
                setattr(self, name, value)

    def _counts(self, n_clusters: Any) -> tuple[Any, Any]:
        """The parameter as a pair of numbers, for rows and for columns."""
        return pair(n_clusters, "n_clusters")

    # --- labels and biclusters ----------------------------------------------------------------

    @property
    def labels_(self) -> np.ndarray:
        """The row labels."""
        return self.row_labels_

    @property
    def n_row_clusters_(self) -> int:
        """The number of row clusters."""
        return int(self.row_labels_.max()) + 1

    @property
    def n_column_clusters_(self) -> int:
        """The number of column clusters."""
        return int(self.column_labels_.max()) + 1

    @property
    def rows_(self) -> np.ndarray:
        """The rows of each bicluster, as a mask."""
        members = self.row_labels_ == np.arange(self.n_row_clusters_)[:, None]
        return np.repeat(members, self.n_column_clusters_, axis=0)

    @property
    def columns_(self) -> np.ndarray:
        """The columns of each bicluster, as a mask."""
        members = self.column_labels_ == np.arange(self.n_column_clusters_)[:, None]
        return np.tile(members, (self.n_row_clusters_, 1))

    def get_indices(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the i-th bicluster, without computing those of all others."""
        check_is_fitted(self)
        number = range(self.n_row_clusters_ * self.n_column_clusters_)[i]
        row_cluster, column_cluster = divmod(number, self.n_column_clusters_)
        return (
            np.flatnonzero(self.row_labels_ == row_cluster),
            np.flatnonzero(self.column_labels_ == column_cluster),
        )

    # --- new data -----------------------------------------------------------------------------

    @overload
    def predict(
        self, X: Any, side: SideName = "rows", *, return_confidence: Literal[False] = False
    ) -> np.ndarray: ...
    @overload
    def predict(
        self, X: Any, side: SideName = "rows", *, return_confidence: Literal[True]
    ) -> tuple[np.ndarray, np.ndarray]: ...
    def predict(self, X: Any, side: SideName = "rows", *, return_confidence: bool = False) -> Any:
        """The cluster of each new row or column, where it costs least to insert; -1 if empty.

        With ``reject``, elements whose posterior for that cluster is lower get -1, too.

        Data with names are aligned by the names of the other side: columns, for new rows, that the
        fit did not have are ignored with a warning, and missing columns count as 0. Then X is
        weighted as in the fit. For a list of texts, the words of the fit are counted. For a file,
        ``model.predict(comarkov.read(path, like=model))`` reads it like the data of the fit.

        Parameters
        ----------
        X : matrix, data frame or Data
            New rows with the columns of the fit, or new columns with the rows of the fit.
        side : {"rows", "columns"}, default="rows"
            Which side of X is new.
        return_confidence : bool, default=False
            Also return the posterior of each cluster, as in ``row_confidence_`` but without the
            agreement with other results of the search, which is not known for new data.

        Returns
        -------
        labels : ndarray of int
        confidence : ndarray of float, if ``return_confidence``
            0 for empty rows or columns.
        """
        check_side(side)
        check_is_fitted(self)
        parts = [self._place(part, side) for part in (in_parts(X) if side == "rows" else [X])]
        labels, confidence = map(np.concatenate, zip(*parts, strict=True))
        return (labels, confidence) if return_confidence else labels

    def _place(self, X: Any, side: SideName) -> tuple[np.ndarray, np.ndarray]:
        """The cluster of least cost and its posterior; -1 for empty and rejected elements."""
        if side == "rows":
            new = self._new_rows(X)[1]
            costs, gamma = self._model.row_costs(new), self.row_evidence_exponent_
        else:
            new = self._new_columns(X)
            costs, gamma = self._model.column_costs(new), self.column_evidence_exponent_
        is_placed = new.row_mass > 0
        sure = np.where(is_placed, posterior(costs, new.matrix, gamma).max(axis=1), 0.0)
        reject = self._parameters().reject
        if reject is not None:
            is_placed &= sure >= reject
        return np.where(is_placed, costs.argmin(axis=1), -1), sure

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

    def _new_rows(self, X: Any) -> tuple[sp.csr_array, Joint]:
        """The weights of X, with the columns of the fit, as a matrix and as a distribution."""
        check_is_fitted(self)
        weights = with_columns_of_fit(self, X, self._model.column_names)
        if self.weighting_ is not None:
            weights = self.weighting_.weigh_rows(weights)
        return weights, joint(weights, self._model.scale)

    def _new_columns(self, X: Any) -> Joint:
        """The weights of the columns of X, with the rows of the fit, as rows."""
        weights = align(new_input(X, None), self._model.row_names, axis=0)
        if self.weighting_ is not None:
            weights = self.weighting_.weigh_columns(weights)
        return joint(weights, self._model.scale).T

    # --- other levels -------------------------------------------------------------------------

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
        check_is_fitted(self)
        model = self._at(n_clusters)
        if X is not None:
            model._refine(X)
        return model

    def _at(self, n_clusters: Any) -> Self:
        """A copy at another level of the hierarchy."""
        tree = self.hierarchy_
        wanted = tree.checked(self._counts(n_clusters))
        rows, columns = tree.sides_at(wanted)
        model = copy(self)
        model.n_clusters = n_clusters
        model._model = replace(self._model, rows=rows, columns=columns)
        model._store({"path_": None})
        if wanted == tree.n_fitted:
            model.information_ = tree.information
        else:  # reasons and evidence are those of the numbers of the fit
            model.information_ = model._model.information(tree.information.rows_columns)
            model._store({"selection_": None, "selection_reason_": None})
        model.cost_ = model.information_.cost(tree.beta)
        if wanted != tuple(side and side.k for side in (self._model.rows, self._model.columns)):
            for name, side in (("row", rows), ("column", columns)):
                if side is not None:
                    setattr(model, f"{name}_labels_", side.labels)
                model._store({f"{name}_{part}_": None for part in Confidence._fields})
            model._n_features_out = 0 if rows is None else rows.k
        return model

    def _refine(self, X: Any) -> None:
        """Move single elements as long as that lowers the cost."""
        data, asked = joint_of_fit(self, X), self._parameters()
        labels = [side and side.labels for side in (self._model.rows, self._model.columns)]
        counts = self._counts(asked.n_clusters)
        starts = starts_for(data, counts, labels, still_fixed(asked.fixed, labels))
        settings = Settings(asked.max_iter)
        run = replace(asked.run(self.beta_), settings=settings, n_init=1, n_jobs=1)
        solution = search(CoClusterProblem(data, starts), run)
        self._store(learn(solution, starts, run, asked))
        warn_of(solution.state, starts, run)


def warn_of(found: Any, starts: Sides, run: Run) -> None:
    """Warn of a search that was stopped, or has not converged, and of empty rows and columns."""
    warn_if_unfinished(found, run)
    empty = [int((~start.has_mass).sum()) for start in starts]
    if any(empty):
        shape = starts[0].has_mass.size, starts[1].has_mass.size
        warn_user(f"{without_mass(empty, shape)}: label -1.")


def with_columns_of_fit(estimator: Any, X: Any, names: np.ndarray | None) -> sp.csr_array:
    """The weights of new rows: columns matched by name if both have names, else by position."""
    X = new_input(X, names)
    aligned = align(X, names, axis=1)
    weights = as_csr(aligned)
    if aligned is X:
        check_columns(estimator, X, reset=False)
    return weights
