"""What the library reports about keyword arguments, in the words of the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

VALUE = r"'[^']*'|\"[^\"]*\"|True|False|-?\d+"


def as_options(message: str, keywords: Collection[str]) -> str:
    """A message about keywords as one about options: ``header=True`` is ``--header``.

    Several keywords in a row, ``rows='user', columns='item'``, become options without commas.
    """
    if not keywords:
        return message
    keyword = rf"\b(?:{'|'.join(keywords)})="
    several = rf"{keyword}(?:{VALUE})(?:, {keyword}(?:{VALUE}))*"
    message = re.sub(several, lambda match: _options(match[0]), message)
    return re.sub(keyword, lambda match: _option(match[0][:-1]), message)


def _options(call: str) -> str:
    """Keywords with values, as options."""
    return " ".join(
        _flag(name, value) or f"{_option(name)} {shlex.quote(value.strip(chr(34) + chr(39)))}"
        for name, value in re.findall(rf"(\w+)=({VALUE})", call)
    )


def _flag(name: str, value: str) -> str | None:
    """The option for a keyword that is True or False."""
    if value not in ("True", "False"):
        return None
    return _option(name if value == "True" else f"no_{name}")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
