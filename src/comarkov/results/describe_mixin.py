"""How an estimator describes its clusters: in sentences, by features, and in a notebook."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .findings import Feature, Findings, findings_of
from .fit_data import names_of_fit
from .notebook import glance
from .text import describe, top_features


class DescribeMixin(BaseEstimator):
    """Methods of an estimator that describe its clusters to people."""

    def describe(self, n: int = 5) -> str:
        """The results in sentences, then each cluster: title, size, members, what is distinctive.

        The most typical members add most to the information kept; in a model of one side they are
        those with the highest confidence. :class:`Results`, which has the data, tells more.

        Parameters
        ----------
        n : int, default=5
            The number of names to list.

        Examples
        --------
        >>> from comarkov import CoClustering
        >>> model = CoClustering(2, random_state=0).fit([[5, 1], [3, 1], [1, 3], [1, 4]])
        >>> print(model.describe().splitlines()[0])
        4 rows in 2 clusters and 2 columns in 2 clusters keep 98.0% of the information (0.256 of
        0.261 bits) at β = 0.7.
        """
        check_is_fitted(self)
        return describe(self._findings(), n, getattr(self, "selection_reason_", ""))

    def top_features(
        self, cluster: int | None = None, n: int = 10, side: str = "rows"
    ) -> list[Feature] | list[list[Feature]]:
        """The elements of the other side that are most distinctive of a cluster.

        Parameters
        ----------
        cluster : int or None, default=None
            A cluster; None returns a list for each cluster.
        n : int, default=10
            The largest number of elements; only those with more mass than expected are listed.
        side : {"rows", "columns"}, default="rows"
            Whose clusters: features of row clusters are columns.

        Returns
        -------
        list of Feature
            (name, share, lift, bits), most bits first: the part P(x̄,y) log2 lift of I(X̄;Y).
        """
        check_is_fitted(self)
        return top_features(self._findings(), cluster, n, side)

    def _repr_html_inner(self) -> str:
        return self._glance() + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._glance() + bundle["text/html"]
        return bundle

    def _findings(self) -> Findings:
        return findings_of(self, names_of_fit(self))

    def _glance(self) -> str:
        """The small report, above scikit-learn's diagram; nothing before the fit."""
        if not hasattr(self, "_model"):
            return ""
        are_named = hasattr(self, "row_names_in_"), hasattr(self, "feature_names_in_")
        return glance(self._findings(), are_named)
