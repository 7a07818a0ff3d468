"""The small report: results as a piece of HTML that a notebook shows, without network or script."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .findings import Feature, Findings, SideFindings, findings_of
from .fit_data import names_of_fit
from .text import describe, headline, top_features
from .words.figures import count_text, lift_text, percent_text, short_name
from .words.sentences import Sentence, Weight, caution, strongest

WIDE = 40  # characters of a name
MOST = 16  # clusters of a side whose blocks are drawn
LISTED = 8  # clusters of a side that are described
MEMBERS = 5  # of a cluster that are named
SENTENCES = 3  # about the strongest blocks
FURTHEST = 4.0  # octaves of lift at either end of the colours
CELL = 48, 24  # pixels of a block
TITLE = 26  # characters of a title beside or above the blocks
LETTER = 6.2  # pixels, roughly
OPAQUE = 0.6  # of the strongest colours: black and white text can be read on them
MORE, LESS = (201, 96, 10), (94, 76, 160)  # orange and purple, which all eyes tell apart


def glance(findings: Findings, are_named: tuple[bool, bool], weight: Weight | None = None) -> str:
    """The headline, the strongest findings, blocks by lift, and the clusters of named sides."""
    warning = caution(findings)
    parts = [f"<p><b>{_html(warning)}</b></p>"] if warning else []
    parts.append(f"<p>{escape(headline(findings))}</p>")
    items = "".join(f"<li>{_html(each)}</li>" for each in strongest(findings, weight, SENTENCES))
    parts.append(f"<ul>{items}</ul>" if items else "")
    sides = findings.rows, findings.columns
    if all(side.is_clustered and side.n_clusters <= MOST for side in sides):
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
    lift = findings.lift
    titles = [
        [short_name(t, TITLE) for t in side.titles] for side in (findings.rows, findings.columns)
    ]
    left, top = (30 + LETTER * max(map(len, side)) for side in titles)
    top = 16 + 0.72 * (top - 16)  # titles above are slanted
    wide, high = CELL
    k, m = lift.shape
    labels = [
        f'<text x="{left - 6:.0f}" y="{top + a * high + 16:.0f}" text-anchor="end">'
        f"{escape(title)} <tspan font-weight='600'>{a}</tspan></text>"
        for a, title in enumerate(titles[0])
    ]
    for b, title in enumerate(titles[1]):
        x, y = left + (b + 0.5) * wide, top - 6
        labels.append(
            f'<text transform="translate({x:.0f},{y:.0f}) rotate(-45)">'
            f"<tspan font-weight='600'>{b}</tspan> {escape(title)}</text>"
        )
    width = left + m * wide + 0.72 * (LETTER * max(map(len, titles[1])) + 20)
    return (
        f'<svg role="img" aria-label="Blocks by lift" width="{width:.0f}" '
        f'height="{top + k * high + 2:.0f}" font-size="11" fill="currentColor">'
        f"{_fields(findings, left, top)}{''.join(labels)}</svg>"
        '<p style="opacity:.7">How many times as much as expected: orange is more, purple less.</p>'
    )


def _fields(findings: Findings, left: float, top: float) -> str:
    """The coloured fields with their lifts."""
    lift, (wide, high) = findings.lift, CELL
    with np.errstate(divide="ignore"):
        octaves = np.log2(lift)
    far = min(max(1.0, float(np.abs(octaves[np.isfinite(octaves)]).max(initial=0.0))), FURTHEST)
    fields = []
    for (a, b), value in np.ndenumerate(lift):
        red, green, blue = MORE if octaves[a, b] > 0 else LESS
        strength = min(1.0, abs(octaves[a, b]) / far)
        x, y = left + b * wide, top + a * high
        hint = f"{findings.rows.kind} cluster {a}, {findings.columns.kind} cluster {b}"
        fields.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide - 1}" height="{high - 1}" '
            f'fill="rgba({red},{green},{blue},{OPAQUE * strength:.2f})" stroke="#9995">'
            f"<title>{escape(hint)}: {lift_text(value)}</title></rect>"
            f'<text x="{x + wide / 2:.0f}" y="{y + 16:.0f}" text-anchor="middle">'
            f"{lift_text(value)}</text>"
        )
    return "".join(fields)


def _clusters(side: SideFindings) -> str:
    """The clusters of a side: title, size, share and the most typical members."""
    lines = "".join(_cluster(side, a) for a in range(min(side.n_clusters, LISTED)))
    if not lines:
        return ""
    more = side.n_clusters - LISTED
    rest = f"<p>and {count_text(more, 'more cluster')}</p>" if more > 0 else ""
    return f"<b>{escape(side.kind)} clusters</b><ol start='0'>{lines}</ol>{rest}"


def _cluster(side: SideFindings, cluster: int) -> str:
    size, share = int(side.sizes[cluster]), float(side.shares[cluster])
    names = [escape(short_name(name, WIDE)) for name in side.typical(cluster, MEMBERS)]
    return (
        f"<li><b>{escape(side.titles[cluster])}</b> <span style='opacity:.7'>"
        f"{count_text(size, 'member')}, {percent_text(share)}</span><br>"
        + ", ".join(f"<bdi>{name}</bdi>" for name in names)
        + (" …" if size > MEMBERS else "")
        + "</li>"
    )


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
