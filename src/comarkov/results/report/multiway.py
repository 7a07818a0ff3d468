"""The page of a clustering of several types of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..findings import expected_of
from . import network
from .rendering import Page

if TYPE_CHECKING:
    from ..network.multiway import MultiwayResults
    from ..network.relation import Relation

SCRIPTS = {
    "page": ("elements", "tooltip", "arrows"),
    "data": ("numbers",),
    "drawing": ("lab", "colours", "canvas", "svg", "axis"),
    "heatmap": ("marks",),
    "charts": ("lift", "block_margins", "blocks"),
    "controls": ("downloads",),
    "network": ("about", "types"),
}
PAGE = Page("multiway.html.j2", SCRIPTS, "network/multiway", network.STYLES)
STRONGEST = 3  # blocks that are named in words


def render(results: MultiwayResults) -> str:
    """The page of these results."""
    shown = {
        "relations": [_relation(results, i, each) for i, each in enumerate(results.relations)],
        "types": [_type(results, i, name) for i, name in enumerate(results.fitted.types_)],
    }
    return network.render(PAGE, results, shown, _about(results))


def _about(results: MultiwayResults) -> dict[str, Any]:
    """What the script needs."""
    types = results.fitted.types_
    relations = [
        {
            "types": [types.index(name) for name in each.key],
            "kept": each.information.kept,
            "share": each.blocks.round(9).tolist(),
            "expected": expected_of(each.blocks).round(9).tolist(),
        }
        for each in results.relations
    ]
    return {
        "types": [
            {
                "name": name,
                "elements": int(results.fitted.labels_[name].size),
                "titles": results.titles[name],
            }
            for name in types
        ],
        "relations": relations,
    }


def _relation(results: MultiwayResults, number: int, relation: Relation) -> dict[str, Any]:
    rows, columns = relation.key
    return {
        "number": number,
        "name": relation.name,
        "rows": rows,
        "columns": columns,
        "source": results.data[relation.key].source,
        "entries": int(relation.share.nnz),
        "information": relation.information,
        "weight": relation.weight,
        "strongest": [
            (a, results.titles[rows][a], b, results.titles[columns][b], lift)
            for a, b, lift in relation.strongest(STRONGEST)
        ],
    }


def _type(results: MultiwayResults, number: int, name: str) -> dict[str, Any]:
    labels = results.fitted.labels_[name]
    cards = [
        {
            "cluster": a,
            "title": results.titles[name][a],
            "share": results.share(name, a),
            "typical": results.member_names(name, a, network.CARD),
            "members": results.member_names(name, a),
            "distinctive": results.distinctive(name, a, network.CARD),
        }
        for a in range(results.n_clusters(name))
    ]
    return {"number": number, "name": name, "cards": cards, "outside": int((labels < 0).sum())}
