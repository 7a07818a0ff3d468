"""Findings in words, for a terminal, and as a piece of HTML, for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Literal, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..costs.labels import check_side
from ..costs.lift import octaves
from ..joint.messages import listed
from .findings import Feature, Findings, SideFindings, findings_of
from .fit_data import names_of_fit
from .words.figures import (
    bits_text,
    count_text,
    is_informative,
    lift_text,
    percent_text,
    short_name,
)
from .words.sentences import Sentence, Weight, caution, explained, plain, strongest

Side = Literal["rows", "columns"]
SENTENCES = 3  # about the strongest blocks
GLANCE_NAME = 40  # characters
GLANCE_BLOCKS = 16  # clusters of a side whose blocks are drawn
GLANCE_CLUSTERS = 8  # of a side that are described
GLANCE_MEMBERS = 5  # of a cluster that are named
FURTHEST_OCTAVE = 4.0  # of lift at either end of the colours
BLOCK_TITLE = 26  # characters of a title beside or above the blocks
OPAQUE = 0.6  # of the strongest colours: black and white text can be read on them
MORE, LESS = (201, 96, 10), (94, 76, 160)  # orange and purple, which all eyes tell apart


def text_of(sentences: Sequence[str], clusters: Sequence[Sequence[str]]) -> str:
    """Sentences, then the heading of each cluster with indented lines."""
    blocks = ["\n".join([head, *(f"  {line}" for line in rest)]) for head, *rest in clusters]
    return "\n\n".join(["\n".join(sentences), *blocks])


def sentences_about(
    findings: Findings, reason: str = "", weight: Weight | None = None
) -> list[str]:
    """What was clustered and what was kept; ``reason`` explains how many clusters there are."""
    warning = caution(findings, reason)
    found = [f"- {plain(each.sentence)}" for each in strongest(findings, weight, SENTENCES)]
    found += [f"- {plain(each)}" for each in explained(findings.rows)]
    return [
        *([plain(warning)] if warning else []),
        headline(findings),
        *found,
        *filter(None, [reason]),
    ]


def lines_about_clusters(findings: Findings, n: int) -> list[list[str]]:
    """A heading and lines about each cluster: figures, members and what is distinctive of it."""
    return [
        [
            cluster_heading(side, a),
            cluster_size_text(side, a),
            f"typical: {listed(map(short, side.typical(a, n + 1)), n)}",
            f"distinctive: {_distinctive_text(side, a, n) or f'no {side.other_kind}'}",
        ]
        for side in findings.sides
        for a in range(side.n_clusters)
    ]


def headline(findings: Findings) -> str:
    """What was clustered, into how many clusters, and how much information they keep."""
    sizes = [
        count_text(side.labels.size, side.kind)
        + (f" in {count_text(side.n_clusters, 'cluster')}" if side.is_clustered else "")
        for side in findings.sides
    ]
    information = findings.information
    if all(side.n_clusters <= 1 for side in findings.sides) and not information.is_zero:
        return f"{sizes[0]} and {sizes[1]}."
    if information.is_zero:
        return f"{sizes[0]} and {sizes[1]}: there is no information to keep (0 bits)."
    bits = bits_text(information.row_clusters_column_clusters), bits_text(information.rows_columns)
    return (
        f"{sizes[0]} and {sizes[1]} keep {percent_text(information.kept)} of the information "
        f"({bits[0]} of {bits[1]} bits) at β = {findings.beta:g}."
    )


def cluster_heading(side: SideFindings, cluster: int) -> str:
    """The number and the title of a cluster."""
    return f"{side.kind} cluster {cluster}, “{side.titles[cluster]}”"


def _distinctive_text(side: SideFindings, cluster: int, n: int) -> str:
    """What is distinctive of a cluster, with shares for records: "8 (97% of these, 27% of all)"."""
    features = side.distinctive(cluster, n)
    if side.other_variables is None:
        return features_text(features)
    return ", ".join(
        f"{short(each.name)} ({percent_text(each.share)} of these, "
        f"{percent_text(each.share / each.lift)} of all)"
        for each in features
    )


def features_text(features: Sequence[Feature]) -> str:
    """Names with their lifts, where these are informative."""
    strong = (each for each in features if is_informative(each.lift))
    return ", ".join(f"{short(each.name)} {lift_text(each.lift)}" for each in strong)


def short(name: str) -> str:
    """A name in one line, cut if it is long; quoted if it is blank."""
    return short_name(name) or repr(name)


def cluster_size_text(side: SideFindings, cluster: int) -> str:
    """Size, share of mass and, if known, stability of a cluster."""
    size, share = int(side.sizes[cluster]), float(side.shares[cluster])
    text = f"{count_text(size, 'member')}, {percent_text(share)} of the weight"
    if side.n_clusters == 1 or side.stability is None or np.isnan(side.stability[cluster]):
        return text
    return f"{text}, stability {side.stability[cluster]:.2f}"


def top_features(
    findings: Findings, cluster: int | None = None, n: int = 10, side: Side = "rows"
) -> list[Feature] | list[list[Feature]]:
    """The most distinctive elements of the other side for a cluster, or for each cluster."""
    check_side(side)
    chosen: SideFindings = getattr(findings, side)
    if cluster is None:
        return [chosen.distinctive(a, n) for a in range(chosen.n_clusters)]
    if not 0 <= cluster < chosen.n_clusters:
        raise ValueError(f"There are {chosen.n_clusters} clusters of {side}, no {cluster}.")
    return chosen.distinctive(cluster, n)


def glance(findings: Findings, are_named: tuple[bool, bool], weight: Weight | None = None) -> str:
    """The headline, the strongest findings, blocks by lift, and the clusters of named sides."""
    warning = caution(findings)
    parts = [f"<p><b>{_html(warning)}</b></p>"] if warning else []
    parts.append(f"<p>{escape(headline(findings))}</p>")
    found = strongest(findings, weight, SENTENCES)
    items = "".join(f"<li>{_html(each.sentence)}</li>" for each in found)
    parts.append(f"<ul>{items}</ul>" if items else "")
    sides = findings.sides
    if all(side.is_clustered and side.n_clusters <= GLANCE_BLOCKS for side in sides):
        parts.append(_blocks(findings))
    parts += [_clusters(side) for side, named in zip(sides, are_named, strict=True) if named]
    return f'<div style="font-family:system-ui,sans-serif;font-size:13px">{"".join(parts)}</div>'


def _html(sentence: Sentence) -> str:
    """A sentence whose names are kept apart from the text around them."""
    return "".join(
        f"<bdi>{escape(part.text)}</bdi>" if part.is_name else escape(part.text)
        for part in sentence
    )


def _blocks(findings: Findings) -> str:
    """Blocks coloured by the logarithm of their lift, with the titles of their clusters."""
    rows, columns = (
        [
            f"<b>{a}</b> {escape(short_name(title, BLOCK_TITLE))}"
            for a, title in enumerate(each.titles)
        ]
        for each in findings.sides
    )
    far = np.clip(np.abs(octaves(findings.lift)).max(initial=0.0), 1.0, FURTHEST_OCTAVE)
    heads = "".join(f"<th>{title}</th>" for title in columns)
    lines = (
        f"<tr><th style='text-align:right'>{title}</th>"
        + "".join(_block(value, far) for value in lifts.tolist())
        for title, lifts in zip(rows, findings.lift, strict=True)
    )
    return (
        f"<table aria-label='Blocks by lift'><tr><td></td>{heads}</tr>{'</tr>'.join(lines)}</table>"
        "<p style='opacity:.7'>How many times as much as expected: orange is more, purple less.</p>"
    )


def _block(lift: float, far: float) -> str:
    red, green, blue = MORE if lift > 1 else LESS
    strength = min(1.0, abs(float(octaves(np.array(lift)))) / far) if lift > 0 else 1.0
    colour = f"rgba({red},{green},{blue},{OPAQUE * strength:.2f})"
    return f"<td style='text-align:center;background:{colour}'>{lift_text(lift)}</td>"


def _clusters(side: SideFindings) -> str:
    """The clusters of a side: title, size, share and the most typical members."""
    lines = "".join(_cluster(side, a) for a in range(min(side.n_clusters, GLANCE_CLUSTERS)))
    if not lines:
        return ""
    more = side.n_clusters - GLANCE_CLUSTERS
    rest = f"<p>and {count_text(more, 'more cluster')}</p>" if more > 0 else ""
    return f"<b>{escape(side.kind)} clusters</b><ol start='0'>{lines}</ol>{rest}"


def _cluster(side: SideFindings, cluster: int) -> str:
    size, share = int(side.sizes[cluster]), float(side.shares[cluster])
    names = [
        escape(short_name(name, GLANCE_NAME)) for name in side.typical(cluster, GLANCE_MEMBERS)
    ]
    return (
        f"<li><b>{escape(side.titles[cluster])}</b> <span style='opacity:.7'>"
        f"{count_text(size, 'member')}, {percent_text(share)}</span><br>"
        + ", ".join(f"<bdi>{name}</bdi>" for name in names)
        + (" …" if size > GLANCE_MEMBERS else "")
        + "</li>"
    )


class DescribeMixin(BaseEstimator):
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
        check_is_fitted(self)
        findings, reason = self._findings(), getattr(self, "selection_reason_", "")
        return text_of(sentences_about(findings, reason), lines_about_clusters(findings, n))

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
