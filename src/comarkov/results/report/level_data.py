"""What the page needs to show any level of the hierarchy: the trees, and the blocks of leaves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ...costs.labels import ranks
from ...costs.objective import information_parts
from ..findings import Findings, SideFindings, strongest
from ..levels import SideLevels, block_shares
from ..words.titles import node_titles
from .payload import varints

FEATURES = 8  # elements that are listed as distinctive of a node
CHOSEN = 40  # elements of a side that is not clustered in the block matrix
GIVEN = ("given", "none")  # rules by which nothing was chosen
SHADES = 256  # by which elements are sorted by how typical they are


def level_sections(findings: Findings) -> dict[str, bytes]:
    """The packed sections: leaves and typicality of elements, blocks of leaves, and the trees."""
    parts = {}
    for side, order in zip(findings.sides, findings.orders, strict=True):
        leaf = getattr(side.tree, f"{side.axis}_leaves")
        if leaf is not None:
            parts[f"{side.axis} leaves"] = varints(leaf[order] + 1)
        parts[f"{side.axis} typicality"] = _typicality(side)[order].tobytes()
    tree = findings.rows.tree
    parts["leaf blocks"] = _leaf_blocks(findings, block_shares(tree.rows, tree.columns))
    trees = {f"{side.axis}s": _tree(findings, side) for side in findings.sides}
    parts["trees"] = json.dumps(trees, separators=(",", ":"), allow_nan=False).encode()
    return parts


def level_controls(results: Any) -> list[dict[str, Any]]:
    """For each side that can be shown at several levels: its leaves, and the suggested number."""
    controls = []
    for side in results.findings.sides:
        levels = SideLevels.of(side.tree, side.axis)
        if levels is not None and levels.n_leaves > 1:
            suggested = _suggested(results.selection, side.axis)
            facts = {"kind": side.kind, "leaves": levels.n_leaves, "suggested": suggested}
            controls.append({"id": f"{side.axis}s", "clusters": side.n_clusters} | facts)
    return controls


def _suggested(selection: np.ndarray | None, axis: str) -> int | None:
    """The number of clusters that the data suggest; None if the user gave it."""
    if selection is None:
        return None
    line = selection[selection["suggested"]][0]
    return None if line[f"{axis}_rule"] in GIVEN else int(line[f"{axis}_clusters"])


def shown_elements(findings: Findings, side: SideFindings) -> np.ndarray | None:
    """The elements that stand for a side that is not clustered in the block matrix, as drawn.

    They are those that add most to the information kept; None if the side is clustered.
    """
    if side.is_clustered or side.bits is None:
        return None
    best = np.argsort(-side.bits, kind="stable")[:CHOSEN]
    order = getattr(findings.orders, f"{side.axis}s")
    return np.asarray(order[np.isin(order, best)])


def _typicality(side: SideFindings) -> np.ndarray:
    """How typical each element is, from 0 for the most to 255, as a byte."""
    place = ranks(np.argsort(-side.typicality, kind="stable"))
    return (place * SHADES // max(place.size, 1)).astype(np.uint8)


def _leaf_blocks(findings: Findings, blocks: np.ndarray) -> bytes:
    """The shares of leaf blocks, then those of the leaves of each side.

    A side that is not clustered has the elements that are shown.
    """
    rows, columns = (
        np.arange(n) if (shown := shown_elements(findings, side)) is None else shown
        for side, n in zip(findings.sides, blocks.shape, strict=True)
    )
    parts = blocks[np.ix_(rows, columns)], blocks.sum(axis=1)[rows], blocks.sum(axis=0)[columns]
    return b"".join(part.astype("<f4").tobytes() for part in parts)


def _tree(findings: Findings, side: SideFindings) -> dict[str, Any] | None:
    """The nodes of a side and its merges; None if it is not clustered."""
    levels = SideLevels.of(side.tree, side.axis)
    if levels is None:
        return None
    other = findings.columns if side is findings.rows else findings.rows
    place = ranks(getattr(findings.orders, f"{other.axis}s"))
    features, bits = [], []
    other_mass = levels.leaves.masses.sum(axis=1, dtype=np.float64)
    other_mass /= other_mass.sum()
    for profile in levels.profiles():
        best, lift, _ = strongest(profile, other_mass, FEATURES)
        features.append([[int(place[i]), _digits(x)] for i, x in zip(best, lift, strict=True)])
        bits.append(_digits(information_parts(profile, profile.sum(), other_mass).sum(), 9))
    return {
        "order": getattr(findings.leaf_orders, f"{side.axis}s").tolist(),
        "merges": levels.merges.tolist(),
        "heights": [_digits(height) for height in levels.heights],
        "fitted": levels.nodes_at(levels.leaves.k).tolist(),
        "heaviest": levels.heaviest.tolist(),
        "titles": node_titles(side),
        "shares": [_digits(share) for share in levels.shares],
        "bits": bits,
        "features": features,
    }


def _digits(value: float, n: int = 6) -> float:
    """A number with so many significant digits, which takes less room."""
    return float(f"{value:.{n}g}")
