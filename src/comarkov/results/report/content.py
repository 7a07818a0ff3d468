"""What the report shows and what its script needs, as plain data and as sections of bytes."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any

import numpy as np

from ...costs.labels import ranks
from ...costs.objective import cluster_lift, octaves
from ...joint.messages import need
from ...model.hierarchy import block_shares
from ...search.select.choose_numbers import OUT_OF_TIME
from ..findings import Findings, SideFindings
from ..findings import strongest as strongest_elements
from ..levels import SideLevels
from ..pictures import COMPARED_PIXELS, best_colour, binned, far_lift
from ..results import known_classes
from ..words.figures import are_readable, short_name
from ..words.sentences import (
    beta_reason,
    caution,
    certainty,
    explained,
    next_steps,
    strongest,
    weight_of,
)
from .payload import compress, map_sections, pack_cells, pack_snippets, varints
from .rendering import Page, digest

MAX_TABLE_BYTES = 250_000  # compressed; a larger table of blocks is only in the folder
NODE_FEATURES = 8  # elements that are listed as distinctive of a node
BLOCK_ELEMENTS = 40  # of a side that is not clustered, in the block matrix
TYPICALITY_STEPS = 256  # by which elements are sorted by how typical they are
GIVEN_RULES = ("given", "none")  # by which no number of clusters was chosen

MAX_PAGE_BYTES = 4_800_000  # as long as names leave room for cells
REPORT_PAGE = Page(
    "report.html.j2",
    scripts=(
        *("page", "numbers", "reading", "tree", "titles", "data"),
        *("colours", "drawing", "saving", "span", "picture", "heatmap", "navigation"),
        *("blocks", "map", "classes", "class_table"),
        *("members", "cards", "search", "highlight", "levels", "main"),
    ),
    styles=("report", "cards", "classes", "print"),
)


def render(results: Any, tables: dict[str, str]) -> str:
    """The page of these :class:`Results`, with the tables to be downloaded."""
    need("The report", "jinja2")
    maps = map_sections(results)
    parts = sections(results, tables) | maps.sections
    facts = about(results) | maps.facts | {"texts": 0}
    if results.data.texts is not None:
        texts = pack_snippets(results.data.texts, results.findings.rows)
        parts["row texts"], facts["texts"] = texts
    shown = page(results, parts) | maps.facts
    bare = _page(shown, facts, parts)
    room = (MAX_PAGE_BYTES - len(bare.encode())) * 3 // 4  # four letters hold three bytes
    cells = pack_cells(results.matrix, results.findings.orders, room)
    return _page(shown, facts | cells.facts, parts | cells.sections)


def _page(shown: dict[str, Any], facts: dict[str, Any], parts: dict[str, bytes]) -> str:
    """The page with all sections compressed, as letters that HTML leaves alone."""
    data = base64.b64encode(compress(b"".join(parts.values()))).decode("ascii")
    layout = [(name, len(part)) for name, part in parts.items()]
    return REPORT_PAGE.render(
        shown | {"data": data}, facts | {"layout": layout, "digest": digest(data)}
    )


def sections(results: Any, tables: dict[str, str]) -> dict[str, bytes]:
    """The tables, orders, classes, and trees, as bytes."""
    findings: Findings = results.findings
    parts = {name: text.encode() for name, text in tables.items()}
    if len(compress(parts["blocks.csv"])) > MAX_TABLE_BYTES:
        del parts["blocks.csv"]
    for side, order in zip(findings.sides, findings.orders, strict=True):
        parts[f"{side.axis} order"] = varints(order)
        if side.levels is not None:
            parts[f"{side.axis} leaves"] = varints(side.levels.leaves.leaf[order] + 1)
        place = ranks(np.argsort(-side.typicality, kind="stable"))[order]
        shade = place * TYPICALITY_STEPS // max(place.size, 1)  # 0 for the most typical
        parts[f"{side.axis} typicality"] = shade.astype(np.uint8).tobytes()
        for i, classes in enumerate(known_classes(results.data, side.axis).values()):
            code = {each: n for n, each in enumerate(["", *_by_size(classes)])}  # 0 is unknown
            codes = np.array([code[each] for each in classes.tolist()], np.int64)
            parts[f"{side.axis} classes {i}"] = varints(codes)
    parts["leaf blocks"] = _leaf_blocks(findings)
    trees = {f"{side.axis}s": _tree(results, side) for side in findings.sides}
    parts["trees"] = json.dumps(trees, separators=(",", ":"), allow_nan=False).encode()
    return parts


def about(results: Any) -> dict[str, Any]:
    """What the script needs to know beside the packed data."""
    findings: Findings = results.findings
    facts: dict[str, Any] = {
        "fit": {"beta": findings.beta, "cost": findings.cost, "kept": findings.information.kept},
        "information": findings.information.rows_columns,
        "colour": best_colour(findings, results.matrix),
        "far": far_lift(binned(results.matrix, *findings.orders, COMPARED_PIXELS)),
        "entry": f"mean {weight_of(results).noun}",
        "classes": {},
    }
    for side in findings.sides:
        shown = shown_elements(findings, side)
        facts[f"{side.axis}s"] = {
            "kind": side.kind,
            "kinds": side.kinds,
            "readable": are_readable(side.names, side.kind),
            "clusters": side.n_clusters,
            "shown": None if shown is None else shown.tolist(),
        }
        facts["classes"][f"{side.axis}s"] = [
            {"title": title, "classes": _by_size(each)}
            for title, each in known_classes(results.data, side.axis).items()
        ]
    return facts


def page(results: Any, parts: dict[str, bytes]) -> dict[str, Any]:
    """What the template shows."""
    findings: Findings = results.findings
    alone = [side for side in findings.sides if not side.is_clustered and side.bits is not None]
    return {
        "results": results,
        "findings": findings,
        "chosen_few": {x.axis: BLOCK_ELEMENTS for x in alone if x.names.size > BLOCK_ELEMENTS},
        "nothing": all(side.n_clusters <= 1 for side in findings.sides),
        "colour": best_colour(findings, results.matrix),
        "out_of_time": results.selection_reason == OUT_OF_TIME,
        "level_controls": _level_controls(results),
        "caution": caution(findings, results.selection_reason),
        "strongest": strongest(findings, weight_of(results)),
        "certainty": [*explained(findings.rows), *certainty(findings)],
        "beta_reason": beta_reason(results),
        "steps": next_steps(results),
        "has_classes": any(known_classes(results.data, side.axis) for side in findings.sides),
        "downloads": [name for name in parts if name.endswith(".csv")],
    }


def _by_size(classes: np.ndarray) -> list[str]:
    counts = Counter(classes[classes != ""].tolist())
    return sorted(counts, key=lambda each: (-counts[each], each))


def shown_elements(findings: Findings, side: SideFindings) -> np.ndarray | None:
    """The elements that stand for a side that is not clustered in the block matrix, as drawn.

    They are those that add most to the information kept; None if the side is clustered.
    """
    if side.is_clustered or side.bits is None:
        return None
    best = np.argsort(-side.bits, kind="stable")[:BLOCK_ELEMENTS]
    order = getattr(findings.orders, f"{side.axis}s")
    return np.asarray(order[np.isin(order, best)])


def _leaf_blocks(findings: Findings) -> bytes:
    """The shares of pairs of leaves, and of some elements on a side that is not clustered."""
    tree = findings.rows.tree
    blocks = block_shares(tree.rows, tree.columns)
    rows, columns = (
        np.arange(n) if (shown := shown_elements(findings, side)) is None else shown
        for side, n in zip(findings.sides, blocks.shape, strict=True)
    )
    parts = blocks[np.ix_(rows, columns)], blocks.sum(axis=1)[rows], blocks.sum(axis=0)[columns]
    return b"".join(part.astype("<f4").tobytes() for part in parts)


def _level_controls(results: Any) -> list[dict[str, Any]]:
    """For each side that can be shown at several levels: its leaves, and the suggested number."""
    controls, selection = [], results.selection
    for side in results.findings.sides:
        if side.levels is None or side.levels.n_leaves == 1:
            continue
        suggested = None  # the user gave the number
        if selection is not None:
            line = selection[selection["suggested"]][0]
            if line[f"{side.axis}_rule"] not in GIVEN_RULES:
                suggested = int(line[f"{side.axis}_clusters"])
        facts = {"id": f"{side.axis}s", "clusters": side.n_clusters, "kind": side.kind}
        controls.append(facts | {"leaves": side.levels.n_leaves, "suggested": suggested})
    return controls


def _tree(results: Any, side: SideFindings) -> dict[str, Any] | None:
    levels = side.levels
    if levels is None:
        return None
    other_mass = levels.leaves.masses.sum(axis=1, dtype=np.float64)
    other_mass /= other_mass.sum()
    features, bits = [], []
    shown = levels.nodes_at(side.n_clusters)  # other ones than those of the fit if this is a cut
    for node, profile in enumerate(levels.profiles()):
        cluster = np.flatnonzero(shown == node)
        features.append(_node_features(results, side, profile, other_mass, cluster))
        bits.append(_digits(float(profile @ octaves(cluster_lift(profile, other_mass))), 9))
    return {
        "order": side.leaf_order.tolist(),
        "merges": levels.merges.tolist(),
        "heights": [_digits(height) for height in levels.linkage[:, 2]],
        "titles": node_titles(side, levels),
        "shares": [_digits(share) for share in levels.shares],
        "bits": bits,
        "features": features,
    }


def _node_features(
    results: Any, side: SideFindings, mass: np.ndarray, usual: np.ndarray, cluster: np.ndarray
) -> list[list[Any]]:
    """What is distinctive of a node: place, lift and, of a cluster of the fit, p-value.

    Of records, categories with their name and their shares in the node and overall; those of one
    variable stand together.
    """
    known = side.categories if side.has_categories else None
    place = ranks(results.findings.orders[int(side.axis == "row")])
    if known is not None:
        place = place[np.unique(known.category, return_index=True)[1]]
        mass, usual = known.sums(mass), known.sums(usual)
    best, lifts, _ = strongest_elements(mass, usual, NODE_FEATURES)
    test, p = results._indicator_tests.get(f"{side.axis}s"), np.full(best.size, None)
    if test is not None and cluster.size:
        p = np.array([_digits(each) for each in test.p_values[cluster[0], best]])
    numbers = zip(place[best].tolist(), map(_digits, lifts), p.tolist(), strict=True)
    found: list[list[Any]] = [list(each) for each in numbers]
    if known is None:
        return found
    shares, overall = known.shares(mass), known.shares(usual)
    more = [[str(known.names[j]), _digits(shares[j]), _digits(overall[j])] for j in best]
    variables = known.variable[best].tolist()
    order = sorted(range(best.size), key=lambda j: variables.index(variables[j]))
    return [found[j] + more[j] for j in order]


def _digits(value: float, n: int = 6) -> float:
    """A number with so many significant digits, which takes less room."""
    return float(f"{value:.{n}g}")


def node_titles(side: SideFindings, levels: SideLevels) -> list[str]:
    """A title for each node of a side's tree, made of the titles of its clusters.

    Merged clusters are listed, "tea + rum"; a part of a cluster is named after its most typical
    member, "Assam (tea)".
    """
    cluster = np.empty(levels.n_leaves, np.int64)
    for a, node in enumerate(levels.nodes_at(side.n_clusters)):
        cluster[levels.members[node]] = a
    order = np.argsort(-side.typicality, kind="stable")
    leaf = levels.leaves.leaf[order]
    sizes = np.bincount(cluster)
    titles = []
    for leaves in levels.members:
        inside = np.unique(cluster[leaves])
        title = side.titles[inside[0]]
        if 1 < inside.size == side.n_clusters:
            title = f"all {side.kinds}"
        elif inside.size > 1:
            more = side.titles[inside[1]] if inside.size == 2 else f"{inside.size - 1} more"
            title = f"{title} + {more}"
        elif leaves.size < sizes[inside[0]]:
            member = short_name(side.names[order[np.isin(leaf, leaves).argmax()]])
            member = member if any(map(str.isalpha, member)) else f"{side.kind} {member}"
            title = f"{member} ({title})"
        titles.append(title)
    return titles
