"""What cells and headings look like: missing, a number, an identifier, a header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

#: Cells that hold no value.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None")
#: Cells that hold no weight: a lone dash or point is not a number either.
GAPS = (*MISSING_WORDS, "-", "\u2013", "\u2014", ".")
SIGNS = " \t\r\n%$€£¥"  # which may stand around a number
MAX_NUMBER = 1000  # characters of a number that a person sees
# With marks between digits; dates have others.
NUMBERLIKE = re.compile("[-+<>~]?\\s*[-+]?[.,]?\\d[\\d.,' \u00a0\u202f]*(e[-+]?\\d+)?")


def is_missing(cell: str | None) -> bool:
    """Is the cell empty, or does it hold a word for a missing value, such as NA?"""
    return cell is None or cell.strip() in MISSING_WORDS


def is_gap(cell: str | None) -> bool:
    """Is a weight missing, also if a lone dash or point stands for it?"""
    return cell is None or cell.strip() in GAPS


def group_pattern(decimal: str, thousands: str) -> str:
    """The pattern of a number with its thousands marked, as 1,200,000 or, in India, 12,00,000."""
    mark = re.escape(thousands)
    groups = rf"\d{{1,3}}({mark}\d{{2,3}})*{mark}\d{{3}}"
    return rf"^[-+]?{groups}([{decimal}]\d*)?([eE][-+]?\d+)?$"


def is_number(cell: str) -> bool:
    """Can the cell be read as a number, perhaps with a currency or a percent sign?"""
    cell = cell.strip(SIGNS)
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and cell.isascii()  # polars takes no digits of other scripts


def looks_like_number(cell: str) -> bool:
    """Does a person see a number, also one with a currency, a percent sign or thousands marks?"""
    if len(cell) > MAX_NUMBER:
        return False
    return is_number(cell) or NUMBERLIKE.fullmatch(cell.strip(SIGNS).lower()) is not None


# Headings that need no further evidence, also followed by "id" or "_id".
HEADINGS_TEXT = (
    "id name row column col user item customer product source target from to node weight value "
    "count n rating score document doc word term text title body gene cell sample movie author "
    "paper tag key label country region city state year month date group type class category "
    "team player person member file page code status species brand model store"
)
HEADINGS = frozenset(HEADINGS_TEXT.split())
YEARS = range(1500, 2101)
RISING_NUMBERS = 6  # numbers that rise by chance only once in 720 lines
LONELY_LINES = 0.2  # if more of the lines share no word with others, the first may well be one
SHARED_TRAIT = 0.9  # of the cells of a column have a trait that is its style
HEADER_SAMPLE_COLUMNS = 1000  # that show whether there is a header

#: Does one of the words of the first line, by position, occur again in its column?
Recur = Callable[[Mapping[int, str]], bool]


class HeaderGuess(NamedTuple):
    """Whether the first line is a header, and whether there is evidence for it."""

    is_header: bool
    is_sure: bool = True


@dataclass(frozen=True)
class _Column:
    """A cell of the first line, and the cells below it that are not missing."""

    position: int
    first: str
    body: list[str]

    @property
    def holds_numbers(self) -> bool:
        """All cells below are numbers; from the third column on one weight in ten may be wrong."""
        others = len(self.body) - sum(map(looks_like_number, self.body))
        most = max(1, len(self.body) // 10) if self.position >= 2 else 0
        return others <= most and others < len(self.body)

    def has_style(self, cell: str) -> bool:
        """Does a cell have the traits that most cells below the first line share?"""
        for trait in TRAITS:
            share = sum(map(trait, self.body)) / len(self.body)
            if share >= SHARED_TRAIT if not trait(cell) else share <= 1 - SHARED_TRAIT:
                return False
        return True


TRAITS: tuple[Callable[[str], bool], ...] = (
    lambda cell: any(map(str.isdigit, cell)),
    lambda cell: cell[:1].isupper(),
    lambda cell: cell.isupper(),
    lambda cell: "_" in cell,
)


def guess_header(first: Sequence[str], rest: Sequence[Sequence[str]], recur: Recur) -> HeaderGuess:
    """Is the first line a header, given some of the lines below it?

    It is if a word stands above numbers, if its numbers are headings such as years, or if none of
    its words occurs below it in the same column. ``recur`` is called only in the last case.
    """
    if not rest and len(first) > 3:  # the header of a wide table holds no numbers
        return HeaderGuess(not any(map(looks_like_number, first[1:])))
    if not rest:
        return HeaderGuess(all(map(is_heading, first)))
    cells = [
        _Column(i, cell, [row[i] for row in rest if i < len(row) and not is_gap(row[i])])
        for i, cell in enumerate(first[:HEADER_SAMPLE_COLUMNS])
    ]
    columns = [column for column in cells if column.body]
    numbers = [c for c in columns if c.holds_numbers and not is_missing(c.first)]
    if any(not looks_like_number(c.first) and c.first not in c.body for c in numbers):
        return HeaderGuess(True)  # a word that occurs nowhere below stands above numbers
    if not first[0].strip() and len(cells[0].body) == len(rest):
        return HeaderGuess(True)  # the empty corner of a wide table
    if numbers:
        return _guess_numbers(first, [column.first for column in numbers])
    if all(map(is_heading, first)):
        return HeaderGuess(True)
    return _guess_words([c for c in columns if not is_missing(c.first)], rest, recur)


def _guess_numbers(first: Sequence[str], numbers: Sequence[str]) -> HeaderGuess:
    """Are numbers above numbers headings of a wide table, as years and ids are, or weights?"""
    if len(first) < 4 or len(numbers) < 2 or is_number(first[0]):
        return HeaderGuess(False)
    values = [float(number) if is_number(number) else 0.5 for number in numbers]
    if not all(map(float.is_integer, values)):
        return HeaderGuess(False)
    steps = {after - before for before, after in pairwise(values)}
    is_rising = min(steps) > 0 or all(a < b for a, b in pairwise(numbers))  # as numbers or words
    if not is_rising and max(steps) >= 0:
        return HeaderGuess(False)
    if all(value in YEARS for value in values):
        return HeaderGuess(True)
    if is_rising and (len(values) >= RISING_NUMBERS or is_heading(first[0])):
        return HeaderGuess(True)
    return HeaderGuess(steps == {1}, is_sure=False)


def _guess_words(
    columns: Sequence[_Column], rest: Sequence[Sequence[str]], recur: Recur
) -> HeaderGuess:
    """A header if its words occur nowhere below; sure if other lines do share words, or differ."""
    is_data = any(c.first in c.body or looks_like_number(c.first) for c in columns)
    if is_data or not columns or recur({c.position: c.first for c in columns}):
        return HeaderGuess(False)
    counts = {c.position: Counter(c.body) for c in columns}
    lonely = sum(all(counts[place][row[place]] <= 1 for place in counts) for row in rest)
    is_different = not all(column.has_style(column.first) for column in columns)
    return HeaderGuess(True, is_sure=is_different or lonely <= LONELY_LINES * len(rest))


def is_heading(cell: str) -> bool:
    """Is it a usual heading, such as user or item_id?"""
    word = cell.strip().lower()
    return bool(word) and (word in HEADINGS or word.removesuffix("id").rstrip("_ ") in HEADINGS)


NOT_NOUNS = ("", "common", "display", "family", "first", "full", "given", "last", "middle", "short")


def kind_of(heading: str, default: str) -> str:
    """What a heading names, in the singular: "Country Name" is "country", "movieId" is "movie"."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", heading.strip())
    words = re.split(r"[\s_.]+", spaced)
    while words and words[-1].lower() in ("id", "ids", "name", "names", "code", ""):
        if " ".join(words).lower() in ("zip code", "post code", "postal code"):
            break
        words.pop()
    text = " ".join(words)
    lower = text.lower()
    if lower in NOT_NOUNS or text.isdecimal() or lower.startswith(("unnamed:", "rownames")):
        return default
    return text if text.isupper() and len(text) <= 4 else lower


# Headings of columns that number the rows, as pandas and R write them, too.
IDENTIFIER = re.compile(r"|unnamed: 0|rownames|index|[Ii]d|ID|.*[_ ](id|Id|ID)|.*[a-z]I[dD]")


def is_heading_of_identifiers(heading: str) -> bool:
    """Is a column called as those that number the rows are?"""
    return IDENTIFIER.fullmatch(heading.replace("Unnamed", "unnamed")) is not None


CALENDARS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "january february march april may june july august september october november december",
)
INTERVAL = re.compile(r"(below )?(-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)( to \S+| or more)?")
MAX_ORDERED = 100  # names of bins


def in_order(names: list[str]) -> list[str]:
    """Weekdays, months, their first three letters, and intervals in order; others as they are."""
    if not 1 < len(names) <= MAX_ORDERED or max(map(len, names)) > MAX_NUMBER:
        return names
    for calendar in CALENDARS:
        for length in (None, 3):
            places = {name[:length]: place for place, name in enumerate(calendar.split())}
            if all(name.lower() in places for name in names):
                return sorted(names, key=lambda name: places[name.lower()])
    limits = {name: INTERVAL.fullmatch(name) for name in names}
    if all(limits.values()) and any(m[1] or m[3] for m in limits.values() if m):
        starts = {name: (not m[1], float(m[2].replace(",", ""))) for name, m in limits.items() if m}
        return sorted(names, key=starts.__getitem__)
    return names
