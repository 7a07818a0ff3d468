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
from ..words.figures import bits_text, count_text, lift_text, percent_text
from ..words.sentences import as_html, file_name, public_command

DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")  # also in page.js


class Page(NamedTuple):
    """What a page is made of."""

    template: str
    scripts: Sequence[str]  # later ones use earlier ones; the last puts the page together
    styles: Sequence[str]  # later ones override earlier ones

    def render(self, shown: Mapping[str, Any], about: Mapping[str, Any]) -> str:
        """The page that shows these values; its script reads ``about``."""
        parts = "\n".join(_asset(f"{name}.js") for name in self.scripts)
        script = f'(() => {{\n"use strict";\n{_compact(parts)}}})();\n'  # in a scope of its own
        style = _compact("".join(_asset(f"{name}.css") for name in self.styles))
        json_text = json.dumps(about, separators=(",", ":"), allow_nan=False)
        for letter in "<>&":  # so that it is safe inside a script element of any kind
            json_text = json_text.replace(letter, f"\\u{ord(letter):04x}")
        policy = (  # run its own script, use its own style, load nothing
            f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        )
        own = {"policy": policy, "script": script, "style": style, "about": json_text}
        return str(_template(self.template).render(**shown, **own))


def _compact(text: str) -> str:
    """The lines of a script or a style sheet without indents, empty lines and comments."""
    lines = map(str.strip, text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith(("//", "/*")))


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
    figures = bits_text, brief, count_text, lift_text, percent_text
    used = *figures, file_name, plural_of_kind, public_command
    environment.globals.update({each.__name__: each for each in used})
    environment.globals["say"] = lambda sentence: as_html(_spell_controls(sentence))
    return environment.get_template(name)
