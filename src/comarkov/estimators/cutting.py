"""Other levels of the hierarchy as fitted models of their own."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from ..model.confidence import Confidence
from ..model.leaves import Leaves
from ..results.fit_data import joint_of_fit
from ..search.coclusters import CoClusterProblem
from ..search.ensemble import search
from ..search.run import Settings
from ..search.starts import pair, starts_for, still_fixed
from .learning import Learns


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
