"""The report: all results on one page, which needs no network."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...joint.inputs import is_on_disk
from ...joint.messages import need
from . import content
from .content import class_facts, class_sections
from .payload import Packed, map_sections, pack_cells, pack_profiles
from .rendering import Page, digest
from .snippets import pack_snippets

LIMIT = 4_800_000  # bytes of a page, as long as names leave room for cells
SCRIPTS = {  # each folder's after those of the folders before
    "page": ("elements", "tooltip", "arrows", "longlist", "sections"),
    "data": (
        "numbers",
        "csv",
        "unpacking",
        "titles",
        "profile",
        "tree",
        "sides",
        "cells",
        "arranging",
        "blocks",
        "data",
    ),
    "drawing": ("lab", "colours", "palette", "canvas", "svg", "axis"),
    "heatmap": (
        "span",
        "binning",
        "overview",
        "picture",
        "marks",
        "labels",
        "heatmap",
        "navigation",
    ),
    "charts": ("lift", "block_margins", "blocks", "dendrogram", "pairs", "curve", "map"),
    "classes": ("classes", "scores", "strip", "legend", "table"),
    "cards": ("title", "snippet", "members", "card", "cards"),
    "controls": ("search", "highlight", "figures", "path", "downloads", "level_files", "levels"),
}
STYLES = (  # later ones override earlier ones
    "report",
    "layout",
    "opening",
    "cards",
    "classes",
    "map",
    "levels",
    "print",
)


def render(results: Any, tables: dict[str, str]) -> str:
    """The page of these :class:`Results`, with the tables to be downloaded."""
    need("The report", "jinja2")
    maps = map_sections(results)
    parts = content.sections(results, tables) | class_sections(results) | maps.sections
    about = content.about(results) | maps.facts
    about |= {"classes": class_facts(results), "texts": 0}
    if results.data.texts is not None:
        parts["row texts"], about["texts"] = pack_snippets(
            results.data.texts, results.findings.rows
        )
    shown = content.page(results, parts) | maps.facts
    shown |= {"results": results, "findings": results.findings}
    bare = _page(shown, about, Packed(parts, {}))
    room = (LIMIT - len(bare.encode())) * 3 // 4  # four letters hold three bytes
    turned = results.data.T.matrix if is_on_disk(results.data) else None  # else it is computed
    profiles = partial(pack_profiles, turned=turned)
    cells = pack_cells(results.matrix, content.orders(results), room, profiles)
    return _page(shown, about, Packed(parts | cells.sections, cells.facts))


def _page(shown: dict[str, Any], about: dict[str, Any], packed: Packed) -> str:
    data = packed.text()
    facts = about | packed.facts | {"layout": packed.layout(), "digest": digest(data)}
    return Page("report.html.j2", SCRIPTS, "main", STYLES).render(shown | {"data": data}, facts)
