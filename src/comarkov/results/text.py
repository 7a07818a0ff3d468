"""Findings as text, for a terminal or a notebook."""

from __future__ import annotations

import numpy as np

from ..costs.labels import check_side
from .findings import Feature, Findings, SideFindings
from .words.figures import (
    bits_text,
    count_text,
    is_informative,
    lift_text,
    percent_text,
    short_name,
)
from .words.sentences import Weight, caution, plain, strongest

SENTENCES = 3  # about the strongest blocks


def describe(findings: Findings, n: int = 5, reason: str = "", weight: Weight | None = None) -> str:
    """The results in sentences, then each cluster with its members and what is distinctive of it.

    ``reason`` explains the numbers of clusters.
    """
    warning = caution(findings, reason)
    lines = [plain(warning)] if warning else []
    lines += [headline(findings), *([reason] if reason else [])]
    lines += [f"- {plain(each)}" for each in strongest(findings, weight, SENTENCES)]
    for side, other in ((findings.rows, findings.columns), (findings.columns, findings.rows)):
        for a in range(side.n_clusters):
            features = [feature_text(each) for each in side.distinctive(a, n)]
            lines += [
                "",
                f"{cluster_heading(side, a)}: {figures(side, a)}",
                f"  typical:     {_listed(side.typical(a, n), int(side.sizes[a]))}",
                f"  distinctive: {', '.join(features) or f'no {other.kind}'}",
            ]
    return "\n".join(lines)


def headline(findings: Findings) -> str:
    """What was clustered, into how many clusters, and how much information they keep."""
    sizes = [
        count_text(side.labels.size, side.kind)
        + (f" in {count_text(side.n_clusters, 'cluster')}" if side.is_clustered else "")
        for side in (findings.rows, findings.columns)
    ]
    known = findings.information
    if known.is_zero:
        return f"{sizes[0]} and {sizes[1]}: there is no information to keep (0 bits)."
    bits = bits_text(known.row_clusters_column_clusters), bits_text(known.rows_columns)
    return (
        f"{sizes[0]} and {sizes[1]} keep {percent_text(known.kept)} of the information "
        f"({bits[0]} of {bits[1]} bits) at β = {findings.beta:g}."
    )


def cluster_heading(side: SideFindings, cluster: int) -> str:
    """The number and the title of a cluster."""
    return f"{side.kind} cluster {cluster}, “{side.titles[cluster]}”"


def feature_text(feature: Feature) -> str:
    """A name, with its lift if that is informative."""
    lift = f" {lift_text(feature.lift)}" if is_informative(feature.lift) else ""
    return f"{short_name(feature.name)}{lift}"


def figures(side: SideFindings, cluster: int) -> str:
    """Size, share of mass and, if known, stability of a cluster."""
    size, share = int(side.sizes[cluster]), float(side.shares[cluster])
    text = f"{count_text(size, 'member')}, {percent_text(share)} of the weight"
    if side.stability is None or np.isnan(side.stability[cluster]):
        return text
    return f"{text}, stability {side.stability[cluster]:.2f}"


def top_features(
    findings: Findings, cluster: int | None = None, n: int = 10, side: str = "rows"
) -> list[Feature] | list[list[Feature]]:
    """The most distinctive elements of the other side for a cluster, or for each cluster."""
    check_side(side)
    chosen: SideFindings = getattr(findings, side)
    if cluster is None:
        return [chosen.distinctive(a, n) for a in range(chosen.n_clusters)]
    if not 0 <= cluster < chosen.n_clusters:
        raise ValueError(f"There are {chosen.n_clusters} clusters of {side}, no {cluster}.")
    return chosen.distinctive(cluster, n)


def _listed(names: list[str], size: int) -> str:
    text = ", ".join(short_name(name) for name in names)
    return f"{text}, and {count_text(size - len(names))} more" if size > len(names) else text
