"""Pages that need no network: one HTML file with its own scripts and styles, and nothing else.

Text from the data is escaped by Jinja or stored as JSON without ``<``. The content security policy
of a page allows only its own script and style, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from ...joint.messages import plural_of_kind
from ..words import figures
from ..words.next_steps import file_name, public_command
from ..words.sentences import as_html

DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")  # also in page.js


class Page(NamedTuple):
    """What a page is made of."""

    template: str
    scripts: Sequence[str]  # later ones use earlier ones; the last puts the page together
    styles: Sequence[str]  # later ones override earlier ones

    def render(self, shown: Mapping[str, Any], about: Mapping[str, Any]) -> str:
        """The page that shows these values; its script reads ``about``."""
        script, style = self.script(), self.style()
        return _template(self.template).render(
            **shown,
            policy=_policy(script, style),
            script=script,
            style=style,
            about=_json(about),
        )

    def script(self) -> str:
        """All scripts as one, in a scope of its own."""
        parts = "\n".join(_asset(f"{name}.js") for name in self.scripts)
        return f'(() => {{\n"use strict";\n{_compact(parts)}}})();\n'

    def style(self) -> str:
        """All style sheets as one."""
        return _compact("".join(_asset(f"{name}.css") for name in self.styles))


def _compact(text: str) -> str:
    """The lines of a script or a style sheet without indents, empty lines and comments."""
    lines = map(str.strip, text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith(("//", "/*")))


def _json(value: Any) -> str:
    """JSON that is safe inside a script element of any kind."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(script: str, style: str) -> str:
    """What the page may do: run its own script, use its own style, load nothing."""
    return (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """A digest of a text, in the form of a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _spell_controls(value: Any) -> Any:
    """Text with its directional controls spelt out: inside a name they would turn what follows."""
    if type(value) is not str:  # a number, or markup of our own
        return value
    return DIRECTIONS.sub(lambda control: f"[U+{ord(control[0]):04X}]", value)


def brief(value: Any, most: int = 60) -> str:
    """The repr of a value, cut if it is long."""
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"


@cache
def _template(name: str) -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_spell_controls,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        bits_text=figures.bits_text,
        brief=brief,
        count_text=figures.count_text,
        file_name=file_name,
        lift_text=figures.lift_text,
        percent_text=figures.percent_text,
        plural_of_kind=plural_of_kind,
        public_command=public_command,
        say=lambda sentence: as_html(_spell_controls(sentence)),
    )
    return environment.get_template(name)
