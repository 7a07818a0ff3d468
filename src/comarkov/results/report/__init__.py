"""The report: one page with all that was found, which needs no network."""

from __future__ import annotations

from typing import Any

from ...data.extras import need
from . import content
from .map_data import map_sections
from .payload import Packed, pack_cells
from .rendering import Page

LIMIT = 4_800_000  # bytes of a page, as long as names leave room for cells
SCRIPTS = {  # each folder's after those of the folders before
    "page": ("elements", "tooltip", "arrows"),
    "data": (
        "numbers",
        "csv",
        "unpacking",
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
    "charts": ("lift", "blocks", "dendrogram", "pairs", "curve", "map"),
    "controls": ("search", "highlight", "figures", "path", "downloads"),
}
STYLES = ("report", "map")  # later ones override earlier ones


def render(results: Any, tables: dict[str, str]) -> str:
    """The page of these :class:`Results`, with the tables to be downloaded."""
    need("The report", "jinja2")
    maps = map_sections(results)
    parts = content.sections(results, tables) | maps.sections
    about = content.about(results) | maps.facts
    shown = content.page(results, parts) | maps.facts
    shown |= {"results": results, "findings": results.findings}
    bare = _page(shown, about, Packed(parts, {}))
    room = (LIMIT - len(bare.encode())) * 3 // 4  # four letters hold three bytes
    cells = pack_cells(results.matrix, content.orders(results), room)
    return _page(shown, about, Packed(parts | cells.sections, cells.facts))


def _page(shown: dict[str, Any], about: dict[str, Any], packed: Packed) -> str:
    facts = about | packed.facts | {"layout": packed.layout()}
    return Page("report.html.j2", SCRIPTS, "main", STYLES).render(
        shown | {"data": packed.text()}, facts
    )
