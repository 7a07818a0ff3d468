"""Errors, warnings and lists in words; light to import, as the command line needs it."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MAX_MESSAGE_CHARACTERS = 200  # characters of input in a message


def shortened(text: str) -> str:
    """The text, or its beginning and its length if it is long."""
    if len(text) <= MAX_MESSAGE_CHARACTERS:
        return text
    return f"{text[:MAX_MESSAGE_CHARACTERS]}... ({len(text):,} characters)"


def quote(value: object) -> str:
    """A value as Python writes it, or the beginning of that."""
    return shortened(repr(value))


def listed(names: Iterable[object], most: int = 3) -> str:
    """The first few names, separated by commas; the others are mentioned."""
    names = list(names)
    first = [shortened(str(name)) for name in names[:most]]
    return separator(first).join(first) + (" and others" if len(names) > most else "")


def separator(names: Iterable[str]) -> str:
    """What stands between names: semicolons if some of them have commas."""
    return "; " if any(", " in name for name in names) else ", "


IRREGULAR = {"person": "people", "woman": "women", "man": "men", "child": "children"}
IRREGULAR |= {each: each for each in ("aircraft", "data", "fish", "series", "sheep", "species")}
# What rows and columns often are. Other headings may have no regular plural.
COMMON_KINDS = (
    "account airport animal area article bank bird boat book borough brand breed bus candidate "
    "car category cell city class club code column company county course crop date day device "
    "disease dish district drink drug film firm flight food fruit game gene genre group hour "
    "house household idea insect island item job key keyword lake law line link list lot mail "
    "market model month movie name network node object offense organ page part party path phone "
    "photo place plot pool port post problem product program project protein quote recipe record "
    "report review road role room route row rule sample scene school score screen season ship "
    "shop site skill son song source sport state step stock store street subject symbol symptom "
    "system tag task team term test text theme thing title token tool topic town track trade "
    "train tree trial trip type unit variable vehicle visit ward week wine word work year zone"
)
#: Of nouns with a regular plural, in words of five letters or more: carrier, airline, destination.
NOUN_ENDINGS = re.compile(
    "[a-z]{2,}(?:er|or|ion|ist|ine|ment|ity|nce|age|ure|ogy|try|ian|ent|ant)$"
)


def plural(noun: str) -> str:
    """The plural of an English noun; only the last of several words changes."""
    stem, space, last = noun.rpartition(" ")
    if last in IRREGULAR:
        return stem + space + IRREGULAR[last]
    if last.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if last.endswith("y") and last[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def as_plural(noun: str) -> str:
    """The plural of a noun that may be one already: flights, of flight or flights."""
    is_plural = noun.endswith("s") or noun.rpartition(" ")[2] in IRREGULAR.values()
    return noun if is_plural else plural(noun)


def plural_of_kind(kind: str, other: str) -> str:
    """The plural of what rows or columns are, if it is known; else another word."""
    last, known = re.split("[ -]", kind)[-1], COMMON_KINDS.split()
    if last in known or last in IRREGULAR or NOUN_ENDINGS.search(last):
        return plural(kind)
    is_plural = last in map(plural, known) or NOUN_ENDINGS.search(last.removesuffix("s"))
    return kind if is_plural else other


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A question that names the most similar choice; empty if none is similar."""
    similar = get_close_matches(name, list(choices), n=1)
    return f" Did you mean {similar[0]!r}?" if similar else ""


def similar_file(path: Path) -> str:
    """A question that names a similar file or folder beside one that does not exist."""
    try:
        return did_you_mean(str(path), map(str, path.parent.iterdir()))
    except OSError:  # the folder does not exist either, or must not be listed
        return ""


INSIDE = ("comarkov", "contextlib", "joblib", "sklearn")  # what calls estimators for the user
REPEATING = ("joblib", "sklearn.model_selection")
_warned: set[tuple[object, ...]] = set()  # of repeated fits


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest line that is outside this library and what calls it for the user.

    Fits that a grid search or joblib repeats give each warning once: Python would do so by itself,
    if scikit-learn did not reset what it remembers.
    """
    level, frame, caller, is_repeated = 1, sys._getframe(1), "comarkov", False
    while frame.f_back and caller.partition(".")[0] in INSIDE:
        level, frame = level + 1, frame.f_back
        caller = str(frame.f_globals.get("__name__"))
        is_repeated |= caller.startswith(REPEATING)
    warning = message, category, frame.f_code.co_filename, frame.f_lineno
    if not is_repeated or warning not in _warned:
        _warned.update([warning] * is_repeated)
        warnings.warn(message, category, stacklevel=level + 1)


def without_mass(empty: Sequence[int], shape: tuple[int, int]) -> str:
    """How many rows and columns are empty, in words; a side without such is left out."""
    sides = zip(empty, shape, ("rows", "columns"), strict=True)
    counts = [f"{count:,} of {size:,} {what}" for count, size, what in sides if count]
    return f"{' and '.join(counts)} {'is' if sum(empty) == 1 else 'are'} empty"


class InputError(ValueError):
    """Input that cannot be used: where it is, what is wrong, and what to do.

    ``file``, ``line``, ``column`` and ``advice`` are attributes, None where they are not known.
    ``column`` is a heading, or a position from 1. ``advice`` is a command or a call that works.

    Examples
    --------
    >>> from comarkov import InputError
    >>> print(InputError("'x' is not a number", file="t.csv", line=3, column=2, advice="Drop it."))
    t.csv, line 3, column 2: 'x' is not a number. Drop it.
    """

    __module__ = "comarkov"  # where users import it from
    ways: Sequence[Mapping[str, Any]] | None = None  # keywords of ``read`` that are tried next

    def __init__(
        self,
        message: str,
        *,
        file: object = None,
        line: int | None = None,
        column: str | int | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file, self.line, self.column, self.advice = file, line, column, advice

    def __str__(self) -> str:
        named = (("", self.file), ("line ", self.line), ("column ", self.column))
        place = ", ".join(f"{word}{value}" for word, value in named if value is not None)
        text = f"{place}: {self.args[0]}" if place else str(self.args[0])
        if not self.advice:
            return text
        return f"{text}{'' if text.endswith(('.', '?', ':')) else '.'} {self.advice}"


class InternalError(RuntimeError):
    """A result that cannot be right: a fault of comarkov, not of the data."""


#: The packages of the extra ``cli``, by the names they are imported under.
CLI = ("jinja2", "matplotlib", "polars", "rich", "typer", "zstandard")


def need(purpose: str, *packages: str, install: str = "comarkov[cli]") -> None:
    """Raise an error of one line, which says what to install, if a package is missing.

    Call it before the import, and before work that would be lost.
    """
    missing = [package for package in packages if not is_installed(package)]
    if missing:
        raise ImportError(f"{purpose} needs {', '.join(missing)}. Run: pip install '{install}'")


def is_installed(package: str) -> bool:
    """Can the package be imported? It is not imported to find out."""
    return find_spec(package) is not None


SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])?i?b)?", re.IGNORECASE)


def bytes_of(text: str) -> int | None:
    """A size such as 500000, 300MB or 2GB in bytes; None if it is none."""
    parts = SIZE.fullmatch(text.strip())
    if parts is None:
        return None
    return int(float(parts[1]) * 1000 ** " kmgt".index((parts[2] or " ").lower()))


def size_text(count: float) -> str:
    """A number of bytes as people write it."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.{1 if count < 9.95 * unit else 0}f} {name}".replace(".0 ", " ")
    return f"{count:.0f} bytes"


def time_text(seconds: float) -> str:
    """Return a time as people write it."""
    for unit, name in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * unit:
            count = seconds / unit
            return f"about {count:.1f} {name}" if count < 3 else f"about {count:.0f} {name}"
    return f"about {max(seconds, 1):.0f} seconds" if seconds >= 1.5 else "about a second"
