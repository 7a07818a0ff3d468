"""All that the command line prints: names from files cannot control the terminal."""

from __future__ import annotations

import re
from typing import Any

import typer

# Control characters but tab and line feed, marks of direction, line separators, lone surrogates.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: object) -> str:
    r"""A text whose control characters are escaped: ESC is ``\u001b``, in JSON and elsewhere."""
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", str(text))


def echo(text: object = "", err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print a text on stdout or stderr, in a style of ``typer.secho`` if one is given."""
    typer.secho(printable(text), err=err, nl=nl, **style)
