"""The report: one page with all that was found, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from ...data.extras import need
from . import content
from .payload import Packed, pack_cells

LIMIT = 4_800_000  # bytes of a page, as long as names leave room for cells
CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")  # also in elements.js
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
    "drawing": ("lab", "colours", "canvas", "svg", "axis"),
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
    "charts": ("lift", "blocks", "dendrogram", "pairs", "curve"),
    "controls": ("search", "highlight", "figures", "path", "downloads"),
}
STYLES = ("report",)  # later ones override earlier ones


def render(results: Any, tables: dict[str, str]) -> str:
    """The page of these :class:`Results`, with the tables to be downloaded.

    What comes from the data goes in as text that Jinja escapes, as JSON without ``<``, or packed.
    No script runs but the page's own, which the page allows by its digest.
    """
    need("The report", "jinja2")
    parts = content.sections(results, tables)
    about = content.about(results)
    shown = content.page(results, parts) | {"results": results, "findings": results.findings}
    bare = _page(shown, about, Packed(parts, {}))
    room = (LIMIT - len(bare.encode())) * 3 // 4  # four letters hold three bytes
    cells = pack_cells(results.matrix, content.orders(results), room)
    return _page(shown, about, Packed(parts | cells.sections, cells.facts))


def _page(shown: dict[str, Any], about: dict[str, Any], packed: Packed) -> str:
    script, style = _script(), _style()
    return _template().render(
        **shown,
        policy=_policy(script, style),
        script=script,
        style=style,
        about=_json(about | packed.facts | {"layout": packed.layout()}),
        data=packed.text(),
    )


def _json(value: Any) -> str:
    """JSON that is safe inside a script element of any kind."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(script: str, style: str) -> str:
    """What the page may do: run its own script, use its own style, load nothing."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    """All style sheets as one."""
    return "".join(_asset(f"styles/{name}.css") for name in STYLES)


@cache
def _script() -> str:
    """All scripts as one, in a scope of its own."""
    paths = [f"{folder}/{name}.js" for folder, names in SCRIPTS.items() for name in names]
    parts = "\n".join(map(_asset, [*paths, "main.js"]))
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _visible(value: Any) -> Any:
    """Text with its directional controls spelt out: from inside a name they turn what follows."""
    if type(value) is not str:  # a number, or markup of our own
        return value
    return CONTROLS.sub(lambda found: f"[U+{ord(found[0]):04X}]", value)


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")
