"""Findings in words and tables, for a terminal or a notebook."""

from __future__ import annotations

import numpy as np

from .findings import Feature, Findings, SideFindings

WIDE = 24  # letters of a name


def describe(findings: Findings, n: int = 5, reason: str = "") -> str:
    """The clusters in words: sizes, shares, typical members and what is distinctive of each.

    ``reason`` explains their numbers.
    """
    lines = [headline(findings), *([reason] if reason else [])]
    for side, other in ((findings.rows, findings.columns), (findings.columns, findings.rows)):
        for a in range(side.n_clusters):
            features = [f"{_short(each.name)} ×{each.lift:.2g}" for each in side.distinctive(a, n)]
            lines += [
                "",
                f"{side.kind} cluster {a}: {figures(side, a)}",
                f"  typical:     {_list(side.typical(a, n), int(side.sizes[a]))}",
                f"  distinctive: {', '.join(features) or f'no {other.kind}'}",
            ]
    return "\n".join(lines)


def headline(findings: Findings) -> str:
    """What was co-clustered, into what, and what was kept."""
    sizes = [
        f"{_number(side.labels.size, what)}"
        + ("" if side.kind == what else f" ({side.kind})")
        + (f" in {_number(side.n_clusters, 'cluster')}" if side.is_clustered else "")
        for side, what in ((findings.rows, "row"), (findings.columns, "column"))
    ]
    kept = findings.information
    return (
        f"{sizes[0]} x {sizes[1]}: {kept.kept:.1%} of {kept.rows_columns:.4g} bits kept, "
        f"β = {findings.beta:g}, cost {findings.cost:.4g} bits"
    )


def figures(side: SideFindings, cluster: int) -> str:
    """Size, share of mass and, if known, stability of a cluster."""
    text = f"{_number(int(side.sizes[cluster]), 'member')}, {side.shares[cluster]:.1%} of the mass"
    if side.stability is None or np.isnan(side.stability[cluster]):
        return text
    return f"{text}, stability {side.stability[cluster]:.2f}"


def top_features(
    findings: Findings, cluster: int | None = None, n: int = 10, side: str = "rows"
) -> list[Feature] | list[list[Feature]]:
    """The elements of the other side that tell most for a cluster, or for each cluster."""
    if side not in ("rows", "columns"):
        raise ValueError(f'side must be "rows" or "columns", not {side!r}.')
    chosen: SideFindings = getattr(findings, side)
    if cluster is None:
        return [chosen.distinctive(a, n) for a in range(chosen.n_clusters)]
    if not 0 <= cluster < chosen.n_clusters:
        raise ValueError(f"There are {chosen.n_clusters} clusters of {side}, no {cluster}.")
    return chosen.distinctive(cluster, n)


def _list(names: list[str], size: int) -> str:
    text = ", ".join(_short(name) for name in names)
    return f"{text}, and {size - len(names)} more" if size > len(names) else text


def _short(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= WIDE else name[: WIDE - 1] + "…"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
