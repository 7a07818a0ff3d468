"""Numbers as people read them: no scientific notation, no digits that say nothing.

``numbers.js`` writes the same texts in the page; a test compares the two.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from ...joint.messages import plural, separator

INFORMATIVE = 1.2  # lifts from here on say something about a cluster
SHARE_ROUNDING = 1e-9  # by which a share may differ from none or all
SMALLEST_BITS = 1e-6  # that are written out
WHOLE_DIGITS = 20  # decimal digits from which on a floating-point number is whole


def lift_text(lift: float) -> str:
    """How many times as much as expected: ×0.25, ×2.0, ×270, ×1,540."""
    if not math.isfinite(lift):
        return "×∞"
    if lift == 0:
        return "×0"
    if 0 < lift < 0.005:
        return "<×0.01"
    if lift < 1:
        return f"×{_round(lift, 2)}"
    if lift < 10:
        return f"×{_round(lift, 1)}" if lift < 9.95 else "×10"
    return f"×{_plain(_round(lift, 0) if lift < 1000 else _significant(lift, 3))}"


def is_informative(lift: float) -> bool:
    """Is a lift far enough above 1 to be shown?"""
    return lift >= INFORMATIVE


def count_text(count: float, what: str = "") -> str:
    """A whole number and, in the right number, what is counted: 1,540 rows, 1 row."""
    number = _plain(_round(count, 0))
    return f"{number} {what if number == '1' else plural(what)}" if what else number


def joined(parts: Sequence[str]) -> str:
    """A list in words: a, b and c; or, if they have commas, a, 1; b, 2; and c."""
    between = separator(parts)
    last = " and " if between == ", " else "; and "
    return last.join([between.join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def percent_text(share: float) -> str:
    """A share in percent: 44.0%, <0.1%, 100%."""
    if abs(share) < SHARE_ROUNDING or abs(share - 1) < SHARE_ROUNDING:
        return f"{100 * share:.0f}%"
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{_round(100 * share, 1)}%"


def bits_text(bits: float) -> str:
    """An amount of information with three digits: 1.17, 0.0051, 2,310."""
    if 0 < abs(bits) < SMALLEST_BITS:
        return f"<{SMALLEST_BITS:.6f}"
    return _plain(_significant(bits, 3))


def _round(value: float, decimals: int) -> Decimal:
    """Rounded as JavaScript's toFixed rounds: halves away from zero, of the exact value."""
    exact = Decimal(float(value))
    if exact.adjusted() >= WHOLE_DIGITS:
        return exact
    return exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def _significant(value: float, digits: int) -> Decimal:
    """Rounded as JavaScript's toPrecision rounds."""
    exact = Decimal(float(value))
    if not exact:
        return exact
    last = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return exact.quantize(last, ROUND_HALF_UP)


def _plain(number: Decimal) -> str:
    """Without zeros after the point, with commas between thousands."""
    text = f"{number:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


NAME_LENGTH = 24  # characters of a name that is shown among others
SAMPLED_NAMES = 2000  # that are looked at to judge all of them
MAX_NUMBERED_NAMES = 30  # such as E1 to E14, that people still tell apart
GENERIC = {"row", "column", ""}  # kinds that say nothing about what an element is
WORDS = {"word", "term", "token"}  # kinds whose names read better than those of any other side
CODE = re.compile(r"[ACGTN]{8,}|\b(?=[0-9a-f-]*[0-9])[0-9a-f]{8}(-?[0-9a-f]{4,})*\b")


#: A category of records: a variable, and its value or interval.
CATEGORY = re.compile(r"(.+?)( = .+| below [-\d.,]+| [-\d.,]+ (?:to [-\d.,]+|or more))")


def short_name(name: str, longest: int = NAME_LENGTH) -> str:
    """A name on one line, without control characters, cut to a length, if possible at a word's end.

    Of a category rather the variable is cut than the value.

    Examples
    --------
    >>> short_name("Weather stations of the north", 20)
    'Weather stations of…'
    >>> short_name("Weather in the north = rain", 20)
    'Weather in… = rain'
    """
    line = " ".join(name.split())
    if not line.isprintable():
        line = "".join(letter for letter in line if unicodedata.category(letter) != "Cc")
    if len(line) <= longest:
        return line
    if parts := CATEGORY.fullmatch(line):
        variable = _cut(parts[1], max(longest - len(parts[2]), longest // 3))
        return variable + _cut(parts[2], longest - len(variable))
    return _cut(line, longest)


def _cut(line: str, longest: int) -> str:
    if len(line) <= longest:
        return line
    start = line[:longest]  # one more than what stays, to see whether a word ends there
    word = start.rfind(" ")
    return start[: word if 2 * word >= longest else longest - 1].rstrip(" ·,") + "…"


def are_positions(names: Sequence[str] | np.ndarray, kind: str = "") -> bool:
    """Are names only the numbers of data without names: 0, 1, 2, ... or 1, 2, 3, ...?

    A few numbers of something known, such as 12 months, are names.
    """
    if not all(name.isdecimal() for name in names):
        return False
    numbers = sorted(map(int, names))
    is_counted = bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    is_known = kind not in GENERIC and len(numbers) <= MAX_NUMBERED_NAMES
    return is_counted and numbers[0] in (0, 1) and not is_known


def are_numbered(names: Sequence[str] | np.ndarray, kind: str = "") -> bool:
    """Are names the same word and a number, such as plot 1, plot 2, ..., or numbers of no kind?"""
    parts = [re.fullmatch(r"([^\W\d]{2,}\W*)?\d+", name[:MAX_READ]) for name in names]
    stems = {part and part[1] for part in parts}
    return all(parts) and len(stems) == 1 and (stems != {None} or kind in GENERIC)


MAX_READ = 200  # characters of a name, which may be a whole book
NUMBER = re.compile(r"(?<!\d)(?!\b(1[5-9]|20)\d\d\b)\d+")  # other than a year


def are_readable(names: Sequence[str] | np.ndarray, kind: str = "") -> bool:
    """Do names say something to people, unlike user 17, sci.med/59123 or AAACATACAACCAC-1?"""
    if kind in WORDS:
        return True
    if not len(names) or are_positions(names, kind):
        return False
    sample = [name[:MAX_READ] for name in names[:: max(1, len(names) // SAMPLED_NAMES)]]
    codes = sum(CODE.search(name) is not None for name in sample)
    stems = len({NUMBER.sub("", name) for name in sample})
    return 2 * codes <= len(sample) and (
        len(names) <= MAX_NUMBERED_NAMES or 4 * stems > len(sample)
    )
