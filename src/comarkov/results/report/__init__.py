"""The report: all results on one page, which needs no network."""

from __future__ import annotations

from typing import Any

from ...joint.messages import need
from . import content
from .payload import Packed, map_sections, pack_cells, pack_snippets
from .rendering import Page, digest

MAX_PAGE_BYTES = 4_800_000  # as long as names leave room for cells
REPORT_PAGE = Page(
    "report.html.j2",
    scripts=(
        *("page", "numbers", "reading", "tree", "titles", "profile", "data"),
        *("colours", "drawing", "span", "picture", "heatmap", "navigation"),
        *("blocks", "map", "classes", "class_table"),
        *("members", "cards", "search", "highlight", "levels", "main"),
    ),
    styles=("report", "cards", "classes", "print"),
)


def render(results: Any, tables: dict[str, str]) -> str:
    """The page of these :class:`Results`, with the tables to be downloaded."""
    need("The report", "jinja2")
    maps = map_sections(results)
    parts = content.sections(results, tables) | maps.sections
    about = content.about(results) | maps.facts | {"texts": 0}
    if results.data.texts is not None:
        texts = pack_snippets(results.data.texts, results.findings.rows)
        parts["row texts"], about["texts"] = texts
    shown = content.page(results, parts) | maps.facts
    bare = _page(shown, about, Packed(parts, {}))
    room = (MAX_PAGE_BYTES - len(bare.encode())) * 3 // 4  # four letters hold three bytes
    cells = pack_cells(results.matrix, content.orders(results), room)
    return _page(shown, about, Packed(parts | cells.sections, cells.facts))


def _page(shown: dict[str, Any], about: dict[str, Any], packed: Packed) -> str:
    data = packed.text()
    facts = about | packed.facts | {"layout": packed.layout(), "digest": digest(data)}
    return REPORT_PAGE.render(shown | {"data": data}, facts)
