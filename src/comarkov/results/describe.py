"""Findings in words, for a terminal, and as a piece of HTML, for a notebook."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from html import escape
from typing import Any, Literal, overload

from sklearn.utils.validation import check_is_fitted

from .._compat import base
from ..costs.labels import check_side
from ..joint.messages import InputError, listed
from .findings import Feature, Findings, SideFindings, findings_of
from .words.figures import (
    are_positions,
    bits_text,
    count_text,
    is_informative,
    lift_text,
    percent_text,
    short_name,
)
from .words.sentences import Weight, as_html, caution, explained, plain, strongest

Side = Literal["rows", "columns"]
SENTENCES = 3  # about the strongest blocks


def text_of(sentences: Sequence[str], clusters: Sequence[Sequence[str]]) -> str:
    """Sentences, then the heading of each cluster with indented lines."""
    blocks = ["\n".join([head, *(f"  {line}" for line in rest)]) for head, *rest in clusters]
    return "\n\n".join(["\n".join(sentences), *blocks])


def sentences_about(
    findings: Findings, reason: str = "", weight: Weight | None = None
) -> list[str]:
    """What was clustered and what was kept; ``reason`` explains how many clusters there are."""
    found = [each.sentence for each in strongest(findings, weight, SENTENCES)]
    found = [f"- {plain(each)}" for each in [*found, *explained(findings.rows)]]
    lines = [plain(caution(findings, reason)), headline(findings), *found, reason]
    return [line for line in lines if line]


def lines_about_clusters(findings: Findings, n: int) -> list[list[str]]:
    """A heading and lines about each cluster: figures, members and what is distinctive of it."""
    return [_lines_about(side, a, n) for side in findings.sides for a in side.cluster_order]


def _lines_about(side: SideFindings, cluster: int, n: int) -> list[str]:
    number, title = f"cluster {side.numbers[cluster]}", side.titles[cluster]
    size, share = count_text(side.sizes[cluster], "member"), percent_text(side.shares[cluster])
    lines = [f"{side.kind} {number}" + ("" if title == number else f", “{title}”")]
    lines.append(f"{size}, {share} of the weight")
    if not are_positions(side.names, side.kind):
        lines.append(f"typical: {listed(map(short, side.typical(cluster, n + 1)), n)}")
    features = side.distinctive(cluster, n)
    distinctive = features_text(features)
    if side.has_categories:  # with shares: "8 (97% of these, 27% of all)"
        distinctive = ", ".join(
            f"{short(each.name)} ({percent_text(each.share)} of these, "
            f"{percent_text(each.share / each.lift)} of all)"
            for each in features
        )
    return [*lines, f"distinctive: {distinctive or f'no {side.other_kind}'}"]


def headline(findings: Findings) -> str:
    """What was clustered, into how many clusters, and how much information they keep."""
    sizes = " and ".join(
        f"{count_text(side.labels.size)} {side.kind if side.labels.size == 1 else side.kinds}"
        + (f" in {count_text(side.n_clusters, 'cluster')}" if side.is_clustered else "")
        for side in findings.sides
    )
    information = findings.information
    if information.is_zero:
        return f"{sizes}: there is no information to keep (0 bits)."
    if all(side.n_clusters <= 1 for side in findings.sides):
        return f"{sizes}."
    bits = bits_text(information.row_clusters_column_clusters), bits_text(information.rows_columns)
    return (
        f"{sizes} keep {percent_text(information.kept)} of the information "
        f"({bits[0]} of {bits[1]} bits) at β = {findings.beta:g}."
    )


def features_text(features: Sequence[Feature]) -> str:
    """Names with their lifts, where these are informative."""
    strong = (each for each in features if is_informative(each.lift))
    return ", ".join(f"{short(each.name)} {lift_text(each.lift)}" for each in strong)


def short(name: str) -> str:
    """A name in one line, cut if it is long; quoted if it is blank."""
    return short_name(name) or repr(name)


def glance(findings: Findings, weight: Weight | None = None, picture: str = "") -> str:
    """The headline, the strongest findings and, if there is one, a picture."""
    warning = caution(findings)
    parts = [f"<p><b>{as_html(warning)}</b></p>"] if warning else []
    parts.append(f"<p>{escape(headline(findings))}</p>")
    if found := strongest(findings, weight, SENTENCES):
        items = "".join(f"<li>{as_html(each.sentence)}</li>" for each in found)
        parts.append(f"<ul>{items}</ul>")
    style = "font-family:system-ui,sans-serif;font-size:13px"
    return f'<div style="{style}">{"".join(parts)}{picture}</div>'


class TopFeaturesMixin:
    """A method that lists what is distinctive of clusters."""

    @abstractmethod
    def _findings(self) -> Findings:
        """The findings about all clusters."""

    @overload
    def top_features(self, cluster: int, n: int = 10, side: Side = "rows") -> list[Feature]: ...

    @overload
    def top_features(
        self, cluster: None = None, n: int = 10, side: Side = "rows"
    ) -> list[list[Feature]]: ...

    def top_features(
        self, cluster: int | None = None, n: int = 10, side: Side = "rows"
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
        check_side(side)
        chosen: SideFindings = getattr(self._findings(), side)
        if cluster is None:
            return [chosen.distinctive(a, n) for a in range(chosen.n_clusters)]
        if not 0 <= cluster < chosen.n_clusters:
            raise InputError(f"There are {chosen.n_clusters} clusters of {side}, no {cluster}.")
        return chosen.distinctive(cluster, n)


class DescribeMixin(TopFeaturesMixin, base.BaseEstimator):
    """Methods of an estimator that describe its clusters to people."""

    def describe(self, n: int = 5) -> str:
        """The results in sentences, then each cluster: title, size, members, what is distinctive.

        The most typical members add most to the information kept; in a model of one side they are
        those with the highest confidence. :class:`Results`, which has the data, has more.

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
        findings, reason = self._findings(), getattr(self, "selection_reason_", "")
        return text_of(sentences_about(findings, reason), lines_about_clusters(findings, n))

    def _repr_html_inner(self) -> str:
        return self._glance() + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._glance() + bundle["text/html"]
        return bundle

    def _findings(self) -> Findings:
        check_is_fitted(self)
        return findings_of(self)

    def _glance(self) -> str:
        """The small report, above scikit-learn's diagram; nothing before the fit."""
        return glance(self._findings()) if hasattr(self, "_model") else ""
