"""A fitted co-clustering on new data and at other levels: predict, transform, score and cut."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._compat import base
from ..costs.labels import check_side
from ..costs.objective import Approximation, cost
from ..io.read.fit_input import new_input
from ..joint.inputs import align, as_csr, check_columns, in_parts
from ..joint.joint import Joint, joint
from ..joint.weighting import times_rows
from ..model.confidence import Confidence, posterior
from ..results.describe import DescribeMixin
from ..results.findings import joint_of_fit
from ..search.optimise.methods import search
from ..search.run import Settings
from ..search.state.coclusters import CoClusterProblem
from ..search.state.starts import starts_for, still_fixed
from .fitting import CoClusterFit, learn, warn_of

if TYPE_CHECKING:
    from ..results.results import Results
    from ..results.words.titles import Titles

SideName = Literal["rows", "columns"]


class CoClusterEstimator(
    DescribeMixin,
    base.ClassNamePrefixFeaturesOutMixin,
    base.TransformerMixin,
    base.BiclusterMixin,
    CoClusterFit,
):
    """An estimator of rows and columns: what a fitted model does."""

    def results(self, X: Any, *, titles: Titles | None = None) -> Results:
        """The results of this model on the data of its fit, in words, tables, pictures and files.

        X is what was passed to ``fit``, or the same weights in another form. ``titles`` are yours
        by number from 1 or in a list, ``{"rows": {1: "..."}, "columns": [...]}``, or a JSON file.
        """
        from ..results.results import Results

        return Results.of(self, X, titles=titles)

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

    def approximation(self) -> Approximation:
        """The distribution that the blocks keep, q(x,y) = p(x̄,ȳ) p(x|x̄) p(y|ȳ), of both margins.

        Its ``divergence`` from the weights of the fit is L_½ in bits; ``sample`` draws from it.

        Examples
        --------
        >>> from comarkov import CoClustering
        >>> W = [[5, 1], [3, 1], [1, 3], [1, 4]]
        >>> model = CoClustering(2, beta=0.5, random_state=0).fit(W)
        >>> q = model.approximation()
        >>> abs(q.divergence(W) - model.cost_) < 1e-9
        True
        >>> q.sample(100, random_state=0).shape
        (4, 2)
        """
        check_is_fitted(self)
        return self._model.approximation()

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
            Also return the posterior of each label, as in ``row_confidence_`` but without the
            agreement with other results of the search; 0 for empty rows or columns.
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
            weights = align(new_input(X, None), self._model.row_names, axis=0)
            if self.weighting_ is not None:
                weights = self.weighting_.weigh_columns(weights)
            if hasattr(self, "sample_weight_"):
                weights = times_rows(as_csr(weights), self.sample_weight_)
            new = joint(weights, self._model.scale).T
            costs, gamma = self._model.column_costs(new), self.column_evidence_exponent_
        sure = np.where(new.row_mass > 0, posterior(costs, new.matrix, gamma).max(axis=1), 0.0)
        is_placed = (new.row_mass > 0) & (sure >= (self._parameters().reject or 0.0))
        return np.where(is_placed, costs.argmin(axis=1), -1), sure

    def transform(self, X: Any) -> np.ndarray:
        """Soft membership of rows in row clusters: nonnegative, each row sums to 1.

        The membership is the posterior of each cluster, whose largest value is the confidence of
        ``predict(X, return_confidence=True)``. Empty rows belong to all clusters equally.
        """
        _, new = self._new_rows(X)
        return posterior(self._model.row_costs(new), new.matrix, self.row_evidence_exponent_)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus L_β of X in bits, with rows in their predicted clusters and columns as fitted.

        Nothing is rejected, and columns that were empty in the fit are in cluster 0. Do not choose
        β, how many clusters, or a weighting by it: a smaller β and more clusters always cost less.
        """
        weights, new = self._new_rows(X)
        rows = self._model.row_costs(new).argmin(axis=1)
        fitted = self._model.columns
        columns = self.column_labels_ if fitted is None else fitted.labels
        return -cost(weights, rows, np.maximum(columns, 0), self.beta_)

    def _new_rows(self, X: Any) -> tuple[sp.csr_array, Joint]:
        """The weights of X, with the columns of the fit, as a matrix and as a distribution."""
        check_is_fitted(self)
        names = self._model.column_names
        X = new_input(X, names)
        aligned = align(X, names, axis=1)  # by position where either has no names
        weights = as_csr(aligned)
        if aligned is X:
            check_columns(self, X, reset=False)
        if self.weighting_ is not None:
            weights = self.weighting_.weigh_rows(weights)
        return weights, joint(weights, self._model.scale)

    # --- other levels -------------------------------------------------------------------------

    def cut(self, n_clusters: int | tuple[int | None, int | None], X: Any = None) -> Self:
        """The co-clustering at another level of the hierarchy, as a fitted model of its own.

        Each side can have any number of clusters from one to the number of its leaves. They are
        numbered by decreasing mass; a side with the number of clusters of the fit keeps theirs.

        Parameters
        ----------
        n_clusters : int or pair of (int or None)
            How many row and column clusters, as in ``fit``.
        X : matrix of the fit, default=None
            With it the cut is refined: elements, except those in ``fixed``, move until no single
            move lowers the cost. Clusters keep their numbers. The new model has a hierarchy of its
            own.

        Examples
        --------
        >>> from comarkov import CoClustering, datasets
        >>> women = datasets.load("southern-women").matrix
        >>> model = CoClustering((4, 4), random_state=0).fit(women)
        >>> [round(cut.cost_, 3) for cut in (model.cut((2, 3)), model.cut((2, 3), women))]
        [0.94, 0.856]
        """
        if isinstance(X, Integral):
            raise ValueError(f"cut takes a pair of numbers: cut(({n_clusters}, {X}))")
        check_is_fitted(self)
        model = self._at(n_clusters)
        if X is not None:
            model._refine(X)
        return model

    def _at(self, n_clusters: Any) -> Self:
        tree = self.hierarchy_
        wanted = tree.checked(self._counts(n_clusters))
        rows, columns = tree.sides_at(wanted)
        model = copy(self).set_params(n_clusters=n_clusters)
        model._model = replace(self._model, rows=rows, columns=columns)
        if wanted == tree.n_fitted:
            model.information_ = tree.information
        else:  # reasons and evidence are those of the fit
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
        warn_of(solution.state.converged, starts, run)
