"""The small report: findings as a piece of HTML that a notebook shows."""

from __future__ import annotations

from html import escape

import numpy as np

from .findings import Findings, SideFindings

WIDE = 40  # letters of a name
MOST = 16  # clusters of a side whose blocks are drawn
LISTED = 8  # clusters of a side whose members are named
CELL = 44, 24  # pixels of a block
MORE, LESS = (201, 96, 10), (94, 76, 160)  # orange and purple, which all eyes tell apart


def glance(findings: Findings, are_named: tuple[bool, bool]) -> str:
    """Key figures, blocks by lift, and members where they have names."""
    parts = [_figures(findings)]
    sides = findings.rows, findings.columns
    if all(side.is_clustered and side.n_clusters <= MOST for side in sides):
        parts.append(_blocks(findings))
    parts += [_members(side) for side, named in zip(sides, are_named, strict=True) if named]
    return f'<div style="font-family:system-ui,sans-serif;font-size:13px">{"".join(parts)}</div>'


def _figures(findings: Findings) -> str:
    information = findings.information
    shape = " × ".join(
        f"{side.labels.size:,} {escape(side.kind)}s"
        + (f" in {side.n_clusters}" if side.is_clustered else "")
        for side in (findings.rows, findings.columns)
    )
    return (
        f"<p><b>{information.kept:.1%}</b> of {information.rows_columns:.3g} bits kept"
        f" · cost <b>{findings.cost:.3g}</b> bits · β = {findings.beta:g}<br>{shape}</p>"
    )


def _blocks(findings: Findings) -> str:
    """Blocks coloured by the logarithm of their lift."""
    lift = findings.lift
    wide, high = CELL
    k, m = lift.shape
    with np.errstate(divide="ignore"):
        octaves = np.log2(lift)
    far = max(1.0, float(np.abs(octaves[np.isfinite(octaves)]).max(initial=0.0)))
    marks = []
    for (a, b), value in np.ndenumerate(lift):
        red, green, blue = MORE if octaves[a, b] > 0 else LESS
        strength = min(1.0, abs(octaves[a, b]) / far)
        x, y = 24 + b * wide, 20 + a * high
        marks.append(
            f'<rect x="{x}" y="{y}" width="{wide - 1}" height="{high - 1}" '
            f'fill="rgba({red},{green},{blue},{0.85 * strength:.2f})" stroke="#9995">'
            f"<title>row cluster {a} × column cluster {b}: lift {value:.3g}</title></rect>"
            f'<text x="{x + wide / 2}" y="{y + 16}" text-anchor="middle">{value:.2g}</text>'
        )
    marks += [f'<text x="18" y="{36 + a * high}" text-anchor="end">{a}</text>' for a in range(k)]
    marks += [
        f'<text x="{24 + (b + 0.5) * wide}" y="14" text-anchor="middle">{b}</text>'
        for b in range(m)
    ]
    return (
        f'<svg role="img" aria-label="Blocks by lift" width="{26 + m * wide}" '
        f'height="{22 + k * high}" font-size="11" fill="currentColor">{"".join(marks)}</svg>'
        '<p style="opacity:.7">Lift of each block: orange is more than by chance, purple less.</p>'
    )


def _short(name: str) -> str:
    return name if len(name) <= WIDE else name[: WIDE - 1] + "…"


def _members(side: SideFindings) -> str:
    lines = "".join(
        f"<li>{', '.join(escape(_short(name)) for name in side.typical(a, 5))}"
        + (" …" if side.sizes[a] > 5 else "")
        + f" <span style='opacity:.6'>({side.sizes[a]:,})</span></li>"
        for a in range(min(side.n_clusters, LISTED))
    )
    if not lines:
        return ""
    more = "" if side.n_clusters <= LISTED else f"<p>and {side.n_clusters - LISTED} more</p>"
    return f"<b>{escape(side.kind)} clusters</b><ol start='0'>{lines}</ol>{more}"
