"""Names of elements: shortened for display, and whether people can read anything in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

LONGEST = 24  # characters of a name that is shown among others
SAMPLE = 2000  # names that are looked at to judge all of them
FEW = 30  # numbered names, such as E1 to E14, that people still tell apart
GENERIC = {"row", "column", ""}  # kinds that say nothing about what an element is
WORDS = {"word", "term", "token"}  # kinds whose names read better than those of any other side
CODE = re.compile(r"[ACGTN]{8,}|\b(?=[0-9a-f-]*[0-9])[0-9a-f]{8}(-?[0-9a-f]{4,})*\b")


def short_name(name: str, longest: int = LONGEST) -> str:
    """A name on one line, without control characters, cut to a length."""
    line = " ".join(name.split())
    if not line.isprintable():
        line = "".join(letter for letter in line if unicodedata.category(letter) != "Cc")
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def are_positions(names: Sequence[str] | np.ndarray, kind: str = "") -> bool:
    """Are names only the numbers of data without names: 0, 1, 2, ... or 1, 2, 3, ...?

    A few numbers of something known, such as 12 months, are names.
    """
    if not all(name.isdecimal() for name in names):
        return False
    numbers = sorted(map(int, names))
    is_counted = bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    is_known = kind not in GENERIC and len(numbers) <= FEW
    return is_counted and numbers[0] in (0, 1) and not is_known


def are_readable(names: Sequence[str] | np.ndarray, kind: str = "") -> bool:
    """Do names say something to people, unlike user 17, sci.med/59123 or AAACATACAACCAC-1?"""
    if kind in WORDS:
        return True
    if not len(names) or are_positions(names, kind):
        return False
    sample = names[:: max(1, len(names) // SAMPLE)]
    codes = sum(CODE.search(name) is not None for name in sample)
    stems = len({re.sub(r"\d+", "", name) for name in sample})
    return 2 * codes <= len(sample) and (len(names) <= FEW or 4 * stems > len(sample))
