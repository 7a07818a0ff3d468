"""What the pages of chains and of several types share."""

from __future__ import annotations

from typing import Any

from ...data.extras import need
from .content import brief
from .rendering import Page

LARGE = 3_000_000  # characters of tables from which on they are only in the folder
STYLES = ("report", "layout", "cards", "print", "network")
CARD = 8  # names in each list of a card


def render(page: Page, results: Any, shown: dict[str, Any], about: dict[str, Any]) -> str:
    """A page of these results, with their tables to download."""
    need("The report", "jinja2")
    tables = results.tables()
    if sum(map(len, tables.values())) > LARGE:
        tables = {}
    common = {
        "results": results,
        "downloads": list(tables),
        "parameters": {name: brief(value) for name, value in results.parameters.items()},
        "repeat": results.python(),
    }
    return page.render(common | shown, about | {"tables": tables})
