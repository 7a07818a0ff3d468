"""What a fitted model shows of itself: in words, as features of clusters, and in a notebook."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .findings import Feature, Findings, findings
from .notebook import glance
from .recall import names_again
from .text import describe, top_features


class ShowsItself(BaseEstimator):
    """Methods that tell people what was found."""

    def describe(self, n: int = 5) -> str:
        """The clusters in words: sizes, shares of mass, typical members, what is distinctive.

        Members that add most to the information kept are the most typical; on a model of one side
        those that are surest. :class:`Results` says more, with the data at hand.

        Parameters
        ----------
        n : int, default=5
            How many names to list.

        Examples
        --------
        >>> from comarkov import CoClustering
        >>> model = CoClustering(2, random_state=0).fit([[5, 1], [3, 1], [1, 3], [1, 4]])
        >>> print(model.describe().splitlines()[0])
        4 rows in 2 clusters x 2 columns in 2 clusters: 98.0% of 0.2612 bits kept, β = 0.7,
        cost 0.005112 bits
        """
        check_is_fitted(self)
        return describe(self._findings(), n)

    def top_features(
        self, cluster: int | None = None, n: int = 10, side: str = "rows"
    ) -> list[Feature] | list[list[Feature]]:
        """The elements of the other side that tell most for a cluster.

        Parameters
        ----------
        cluster : int or None, default=None
            A cluster; None is a list for each of them.
        n : int, default=10
            How many, at most; only those that have more mass than by chance.
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
        return findings(self, names_again(self))

    def _glance(self) -> str:
        """The small report, above scikit-learn's diagram; nothing before the fit."""
        if not hasattr(self, "_model"):
            return ""
        are_named = hasattr(self, "row_names_in_"), hasattr(self, "feature_names_in_")
        return glance(self._findings(), are_named)
