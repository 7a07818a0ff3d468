"""What the columns of a table hold, and what kind of table they make.

A wide table has a name for each row and numbers of one unit; an edge list names a row and a column
in each line; an event log has names that recur; records have columns of different kinds or units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...joint.messages import listed, quote
from ...joint.objects import are_documents
from .bins import date_format
from .headers import is_heading, is_heading_of_identifiers, looks_like_number
from .raw_tables import RawTable, pl

PROFILE_CELLS = 1_000_000  # that show what the columns of a table hold ...
PROFILE_RECORDS = 50, 20_000  # ... in this many records, at least and at most
NUMERIC_SHARE = 0.95  # of the cells of a column of numbers; the others are taken as missing
SPOILED_SHARE = 0.5  # of the cells of a column of numbers in which something is wrong
FEW_RECORDS = 12  # fewer show little about what columns hold
UNIQUE_SHARE = 0.9  # of the texts of a column that names the rows
UNIT_COLUMNS = 500  # of a very wide table that show its units
SAME_UNIT = 100  # the largest ratio of medians of columns of one unit, if none has zeros ...
SIMILAR_UNIT = 10  # ... from which on it is doubtful in a table of ...
FEW_COLUMNS = 12  # ... so few columns: larger tables are rarely in several units
SUM_ROUNDING = 0.02  # by which the sums of shares differ
SIDE_NAMES = 8  # different names that make a side of an event log ...
SIDE_REPEATS = 2  # ... each of them so often on average
EVENTS_TO_PAIR, PAIRS_OF_NAMES = 20_000, 1.5  # names that occur with several others are a side
GRID_FILLED = 0.8  # of all pairs of two factors occur in a table of measurements
MAX_FACTOR = 30  # different whole numbers that can be a factor
UNITS_TEXT = (
    "year age price cost lat latitude lon long longitude temperature temp height length width "
    "depth zip rating rank gdp population pop income salary ph altitude elevation area density "
    "speed time duration hour minute mpg weight_kg bmi percent rate score distance delay budget"
)
COUNTS_TEXT = "count counts n number freq frequency quantity qty weight weights amount"
UNIT_WORDS, COUNT_WORDS = frozenset(UNITS_TEXT.split()), frozenset(COUNTS_TEXT.split())


@dataclass(frozen=True)
class ColumnProfile:
    """A column of a table: its role, and what a sample of its cells is like."""

    name: str  #: of the field in the frame
    heading: str
    role: str  #: empty, constant, identifier, number, spoiled, date, prose, unique or category
    distinct: int = 0
    filled: int = 0
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def is_text(self) -> bool:
        """Does it hold something else than numbers?"""
        return self.numbers.size == 0 and self.role not in ("empty", "spoiled")

    @property
    def is_numbering(self) -> bool:
        """Does it only number the rows, as its heading says, too?"""
        return self.role == "identifier" and is_heading_of_identifiers(self.heading)

    @property
    def names_rows(self) -> bool:
        """Does it hold a different text, year or identifier for each row?"""
        if self.role == "number" and "year" in self.units:
            return self.distinct == self.filled
        return self.role == "unique" or (self.role == "identifier" and not self.is_numbering)

    @property
    def is_whole(self) -> bool:
        """Are all numbers whole?"""
        return bool((self.numbers == np.floor(self.numbers)).all())

    @property
    def is_negative(self) -> bool:
        """Is a number below 0?"""
        return bool((self.numbers < 0).any())

    @property
    def middle(self) -> float:
        """The median of the numbers above 0; NaN if there are none."""
        positive = self.numbers[self.numbers > 0]
        return float(np.median(positive)) if positive.size else np.nan

    @property
    def is_factor(self) -> bool:
        """Does the column hold a few names, or whole numbers that may be names?"""
        if self.role == "category":
            return self.distinct >= 2
        are_few = self.distinct <= MAX_FACTOR or "year" in self.units
        return self.role == "number" and self.is_whole and are_few and self.recurs

    @property
    def recurs(self) -> bool:
        """Is each value there several times, on average?"""
        return self.filled >= SIDE_REPEATS * self.distinct

    @property
    def is_side(self) -> bool:
        """Does it hold names that recur, and enough of them for the rows of an event log?"""
        return self.role == "category" and self.distinct >= SIDE_NAMES and self.recurs

    @property
    def is_count(self) -> bool:
        """Is it called as counts are?"""
        return self.heading.lower() in COUNT_WORDS and not self.is_negative

    @property
    def units(self) -> set[str]:
        """Words of the heading that name a unit or a measure."""
        return set(re.findall("[a-z]+", self.heading.lower())) & UNIT_WORDS


@dataclass(frozen=True)
class Recognised:
    """The kind of a table, keywords that follow from it, and why, in words; no words if clear."""

    kind: str
    keywords: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


# --- columns ----------------------------------------------------------------------------------


def profiles_of(table: RawTable) -> list[ColumnProfile]:
    """The profiles of all columns that are kept, from a sample of the first records."""
    if "profiles" not in table.__dict__:  # kept like a cached property, as wide tables take long
        least, most = PROFILE_RECORDS
        size = min(max(PROFILE_CELLS // max(len(table.kept), 1), least), most)
        sample = table.frame.select(table.kept).head(10 * size).collect()
        if len(sample) > size:
            sample = sample[np.arange(0, len(sample), -(-len(sample) // size))]
        numeric = [f for f in table.kept if f in table.texts or table.is_number(f)]
        cells = dict(zip(numeric, table.numbers(sample, numeric).T, strict=True))
        table.__dict__["profiles"] = [
            _profile(table, name, sample[name], cells.get(name)) for name in table.kept
        ]
    profiles: list[ColumnProfile] = table.__dict__["profiles"]
    return profiles


def _profile(
    table: RawTable, name: str, column: pl.Series, cells: np.ndarray | None
) -> ColumnProfile:
    heading = table.heading(name) if table.has_headings else ""
    if cells is not None:
        numbers, filled = cells[np.isfinite(cells)], int((~np.isnan(cells)).sum())
        if filled == 0:
            return ColumnProfile(name, heading, "empty")
        if numbers.size >= NUMERIC_SHARE * filled:
            distinct = np.unique(numbers).size
            role = _role_of_numbers(table, heading, numbers, distinct)
            return ColumnProfile(name, heading, role, distinct, filled, numbers)
        if numbers.size >= SPOILED_SHARE * filled:
            return ColumnProfile(name, heading, "spoiled", column.n_unique(), filled, numbers)
    texts = column.drop_nulls()
    if date_format(column) is not None:
        return ColumnProfile(name, heading, "date", texts.n_unique(), len(texts))
    if column.dtype.is_nested():
        return ColumnProfile(name, heading, "constant", 1, len(texts))
    first = list(map(str, texts.head(FEW_RECORDS).to_list()))
    if cells is not None and sum(map(looks_like_number, first)) > SPOILED_SHARE * len(first):
        # numbers with marks that need an option
        return ColumnProfile(name, heading, "spoiled", texts.n_unique(), len(texts))
    return ColumnProfile(name, heading, *_role_of_texts(texts))


def number_profile(heading: str, values: np.ndarray) -> ColumnProfile:
    """The profile of a column of numbers of a data frame."""
    numbers = values[np.isfinite(values)]
    return ColumnProfile(heading, heading, "number", np.unique(numbers).size, numbers.size, numbers)


def _role_of_numbers(table: RawTable, heading: str, numbers: np.ndarray, distinct: int) -> str:
    if distinct == 1 and numbers.size > 1:
        return "constant"
    is_whole = bool((numbers == np.floor(numbers)).all())
    if not is_whole or not table.has_headings:
        return "number"
    if numbers.size > 2 and distinct == numbers.size and numbers[0] in (0, 1):
        steps = np.unique(np.diff(numbers))
        if steps.size == 1 and steps[0] > 0:
            return "identifier"  # 1, 2, 3, ..., or every so many of them in a sample
    if not is_heading_of_identifiers(heading):
        return "number"
    return "identifier" if distinct == numbers.size else "category"


def _role_of_texts(texts: pl.Series) -> tuple[str, int, int]:
    """The role of a column without numbers, its different values and how many there are."""
    cells = texts.cast(pl.String, strict=False).drop_nulls().str.strip_chars().to_list()
    distinct, filled = len(set(cells)), len(cells)
    if not filled:
        return "empty", 0, 0
    if are_documents(cells) and distinct > UNIQUE_SHARE * filled:
        return "prose", distinct, filled
    if distinct == 1 and filled > 1:
        return "constant", distinct, filled
    is_unique = distinct == filled or (filled >= 20 and distinct >= UNIQUE_SHARE * filled)
    return "unique" if is_unique else "category", distinct, filled


# --- units ------------------------------------------------------------------------------------


def mixed_units(columns: Sequence[ColumnProfile]) -> str:
    """Why columns of numbers are not weights of one unit, in words; empty if they may be."""
    columns = columns[:: len(columns) // UNIT_COLUMNS + 1]
    if negative := [c for c in columns if c.is_negative]:
        return f"{quote(negative[0].heading)} has numbers below 0"
    if _add_up(columns, are_shares=False):
        return ""
    named = [c for c in columns if c.units and c.distinct > 2]
    if named and len(columns) > 1 and not set.intersection(*(c.units for c in columns)):
        return f"{quote(named[0].heading)} is a measure of its own"
    whole = [c for c in columns if c.is_whole and c.distinct > 2]
    parts = [
        c for c in columns if (c.numbers % 1 != 0).sum() >= 0.1 * max((c.numbers != 0).sum(), 1)
    ]
    if whole and parts and len(parts) < len(columns):
        names = quote(whole[0].heading), quote(parts[0].heading)
        return f"{names[0]} holds whole numbers, {names[1]} decimals"
    full = [c for c in columns if c.numbers.size and c.numbers.min() > 0]
    return _apart(full, SAME_UNIT) if len(full) > len(columns) / 2 else ""


def doubtful_units(columns: Sequence[ColumnProfile]) -> str:
    """Why it is not clear that columns are weights of one unit, in words; empty if it is."""
    if reason := mixed_units(columns):
        return reason
    known = [c for c in columns if c.numbers.size]
    if len(known) > FEW_COLUMNS or max((c.filled for c in known), default=0) < FEW_RECORDS:
        return ""
    if _are_numbered(known) or _add_up(known):
        return ""
    codes = [c for c in known if is_heading(c.heading) and c.is_factor]
    if codes and len(codes) < len(known):
        return f"{quote(codes[0].heading)} seems to number things"
    return _apart(known, SIMILAR_UNIT)


def _apart(columns: Sequence[ColumnProfile], ratio: float) -> str:
    """Which column is too many times as large as another one, by the medians of numbers above 0."""
    ordered = sorted((c for c in columns if not np.isnan(c.middle)), key=lambda c: c.middle)
    if not ordered or ordered[-1].middle <= ratio * ordered[0].middle:
        return ""
    low, high = ordered[0], ordered[-1]
    times = f"{high.middle / low.middle:,.0f} times as large as"
    return f"{quote(high.heading)} is {times} {quote(low.heading)}"


def _add_up(columns: Sequence[ColumnProfile], are_shares: bool = True) -> bool:
    """Is one column the sum of the others? Or are all shares, whose sum is always the same?"""
    sizes = {c.numbers.size for c in columns}
    if len(columns) < 3 or len(sizes) > 1 or 0 in sizes:
        return False
    numbers = np.array([c.numbers for c in columns])
    sums = numbers.sum(axis=0)
    is_total = np.abs(2 * numbers - sums).max(axis=1) <= SUM_ROUNDING * np.median(sums)
    return bool(is_total.any()) or (are_shares and np.ptp(sums) <= SUM_ROUNDING * sums.mean())


def _are_numbered(columns: Sequence[ColumnProfile]) -> bool:
    """Are all headings numbers, or numbers after the same letters: 1970, X1970, week 3?"""
    stems = {c.heading.rstrip("0123456789") for c in columns}
    return len(stems) == 1 and all(c.heading[-1:].isdecimal() for c in columns)


# --- tables -----------------------------------------------------------------------------------


class _Columns(NamedTuple):
    table: RawTable
    every: list[ColumnProfile]

    def of(self, *roles: str) -> list[ColumnProfile]:
        return [column for column in self.every if column.role in roles]

    def label(self, column: ColumnProfile) -> str | int:
        return self.table.label(column.name)

    def edges(
        self, sides: Sequence[ColumnProfile], weights: ColumnProfile | None
    ) -> dict[str, str | int]:
        """Keywords for an edge list."""
        roles = {"rows": sides[0], "columns": sides[1], "weights": weights}
        return {role: self.label(each) for role, each in roles.items() if each is not None}


def recognise(table: RawTable) -> Recognised:
    """The kind of a table that nobody has stated."""
    columns = _Columns(table, profiles_of(table))
    if recognised := _few_columns(columns):
        return recognised
    if not table.has_headings and len(columns.of("number", "constant", "empty")) == len(table.kept):
        return Recognised("unclear")
    for rule in (_few_records, _texts, _grid, _wide, _events):
        if recognised := rule(columns):
            return recognised
    numbers = columns.of("number")
    names = [column.heading for column in columns.of("category", "date")]
    reason = f"{listed(map(quote, names), 2)} beside numbers" if names and numbers else ""
    units = mixed_units(numbers) if len(numbers) > 1 and not names else ""
    return Recognised("records", reason=units or reason or "columns of different kinds")


def _few_columns(columns: _Columns) -> Recognised | None:
    """Two names, or two names and a weight; a name and two numbers are a small wide table."""
    others = [c for c in columns.every if not (c.is_numbering and _never_recurs(c))]
    every = others if 2 <= len(others) < len(columns.every) else columns.every
    if len(every) not in (2, 3):
        return None
    ends, weight = every[:2], every[2:]
    has_header = columns.table.has_headings
    if any(each.role in ("prose", "category", "unique", "date") for each in weight):
        return None
    if has_header and (any(map(_is_measure, ends)) or all(map(_never_recurs, ends))):
        return None
    if every is others and not all(c.is_text or "year" in c.units for c in ends):
        return None
    if every is others and any(c.role != "constant" and not c.is_count for c in weight):
        return None
    if any(c.units and c.filled > 2 * ends[0].distinct * ends[1].distinct for c in weight):
        return None  # ages of men and women: each pair of names has many
    if any(each.role == "prose" for each in ends if len(every) < 3 or every is others):
        return None
    is_named = has_header and ends[0].role == "unique" and ends[0].filled > 1
    is_number = ends[1].role in ("number", "constant") and ends[1].numbers.size > 0
    if is_named and is_number and not is_heading(ends[1].heading):
        is_table = len(every) == 3 and not mixed_units(every[1:])
        return Recognised("table") if is_table else None
    sides = columns.edges(ends, next(iter(weight), None)) if every is others else {}
    return Recognised("edges", sides)


def _never_recurs(column: ColumnProfile) -> bool:
    """Are all names different, so that the column cannot be a side of an edge list?"""
    return column.filled >= FEW_RECORDS and column.distinct == column.filled


def _is_measure(column: ColumnProfile) -> bool:
    """Is a number no name: a decimal, or under the heading of a measure?"""
    is_number = column.role in ("number", "constant") and column.numbers.size > 0
    is_plain = column.is_whole and not column.units
    return is_number and not (is_plain or is_heading(column.heading))


def _few_records(columns: _Columns) -> Recognised | None:
    """Of a few lines the number of columns of text and their headings show most."""
    if max(each.filled for each in columns.every) >= FEW_RECORDS:
        return None
    numbers = columns.of("number", "constant", "spoiled", "empty")
    texts = columns.of("category", "unique", "prose")
    if len(texts) >= 2 and len(numbers) < 2 and not columns.of("prose"):
        weight = next((c for c in numbers if c.role != "empty" and not c.is_negative), None)
        return Recognised("edges", columns.edges(texts, weight), f"{_and(texts[:2])} are names")
    return Recognised("table") if len(numbers) >= 2 or not texts else None


def _texts(columns: _Columns) -> Recognised | None:
    """Sentences, and nothing to count beside them."""
    prose, numbers = columns.of("prose"), columns.of("number")
    if len(columns.every) == 1 and not prose:
        return Recognised("table")
    if not prose or len(numbers) > 1:
        return None
    longest = columns.label(max(prose, key=lambda c: c.distinct))
    return Recognised("texts", {"text": longest}, f"{quote(longest)} holds texts")


def _wide(columns: _Columns) -> Recognised | None:
    """A name for each row, and numbers of one unit."""
    first = next((c for c in columns.every if not c.is_numbering), columns.every[0])
    names = first if first.role in ("date", "prose") else None
    names = names or next((each for each in columns.every if each.names_rows), None)
    numbers = columns.of("number", "constant", "spoiled", "empty")
    numbers = [each for each in numbers if each is not names]
    texts = [each for each in columns.of("category", "prose") if each is not names]
    is_pivot = first.role == "category" and first.filled < columns.every[-1].filled
    others = [each for each in texts if each is not first] if is_pivot else texts
    if len(numbers) < 2 or len(others) > max(1, len(numbers) // 4) or mixed_units(numbers):
        return None
    is_long = len(numbers) > FEW_COLUMNS and columns.every[0].role == "identifier"
    cells = np.concatenate([c.numbers for c in numbers])
    has_zeros = bool((cells == np.floor(cells)).all()) and float((cells == 0).mean()) >= 0.1
    are_counts = has_zeros or _are_numbered(numbers)
    dates = [each for each in columns.of("date") if each is not names]
    if dates or (not (names or is_pivot or is_long) and (others or not are_counts)):
        return None
    return Recognised("table")


def _grid(columns: _Columns) -> Recognised | None:
    """One measurement for each combination of factors: variety, year, site and yield."""
    factors = [each for each in columns.every if each.is_factor]
    measures = [each for each in columns.of("number") if not each.is_factor]
    counts = [each for each in columns.of("number") if each.is_count]
    sides = [each for each in columns.every if each.recurs and each not in counts]
    if len(counts) == 1 and len(sides) == 2:  # which may be classes of decimals
        factors, measures = sides, counts
    others = columns.of("unique", "prose", "date")
    if len(measures) != 1 or len(factors) < 2 or others or measures[0].is_negative:
        return None
    factors.sort(key=lambda c: -c.distinct)
    frame = columns.table.frame.select(c.name for c in factors).collect()
    for other in factors[1:]:  # without those that only translate the first
        pairs, rows = frame.select(factors[0].name, other.name).n_unique(), (factors[0], other)
        if pairs > PAIRS_OF_NAMES * factors[0].distinct:
            break
    is_full = pairs >= GRID_FILLED * rows[0].distinct * rows[1].distinct
    is_usual = measures[0].is_count or rows[1].distinct > 2
    if frame.n_unique() < len(frame) or not is_full or not is_usual:
        return None
    reason = f"{quote(measures[0].heading)} is measured for each {_and(rows)}"
    return Recognised("edges", columns.edges(rows, measures[0]), reason)


def _events(columns: _Columns) -> Recognised | None:
    """Names that recur, and at most two measures beside them: lines are events."""
    numbers = columns.of("number")
    sides = _sides(columns)
    most = 4 if all(each.distinct > MAX_FACTOR for each in sides) else 2
    if not sides or columns.of("unique") or len(numbers) > most:
        return None
    counts = [c for c in numbers if c.is_count]
    weight = counts[0] if len(counts) == 1 and counts[0] not in sides else None
    pairs = columns.table.frame.group_by(each.name for each in sides).len().collect()["len"]
    is_full = len(pairs) >= GRID_FILLED * sides[0].distinct * sides[1].distinct
    if weight is None and is_full and pairs.min() == pairs.max():
        return None  # a table of all combinations: there is nothing to count
    what = "lines are counted" if weight is None else f"{quote(weight.heading)} is added up"
    reason = f"{_and(sides)} recur, and {what}"
    return Recognised("edges", columns.edges(sides, weight), reason)


def _sides(columns: _Columns) -> list[ColumnProfile]:
    """The two columns with the most names that recur; none that only translates the other."""
    sides = sorted((c for c in columns.every if c.is_side), key=lambda c: -c.distinct)
    numbers = columns.of("number")
    if len(sides) == 1 and len(numbers) == 1 and numbers[0].is_factor:
        sides += [each for each in numbers if each.distinct >= SIDE_NAMES]
    for other in sides[1:]:
        pairs = columns.table.frame.select(sides[0].name, other.name).head(EVENTS_TO_PAIR)
        if pairs.collect().n_unique() > PAIRS_OF_NAMES * max(sides[0].distinct, other.distinct):
            return [sides[0], other]
    return []


def edge_roles(table: RawTable, chosen: Mapping[str, str]) -> dict[str, str]:
    """The fields of an edge list by role, given some of them; names that recur come first."""
    suitable = ("category", "unique", "date", "identifier", "number")
    names = [
        each
        for each in profiles_of(table)
        if each.name not in chosen.values()
        and each.role in suitable
        and (each.role != "number" or (each.is_whole and not each.is_negative))
    ]
    names.sort(key=lambda c: (not c.is_side, suitable.index(c.role), -c.distinct))
    roles = dict(chosen)
    for role in ("rows", "columns"):
        if role not in roles:
            if not names:
                problem = f"no column is left that could name the {role}"
                raise table.error(problem, "Give a table with two columns of names.")
            roles[role] = names.pop(0).name
    return roles


def _and(columns: Sequence[ColumnProfile]) -> str:
    return " and ".join(quote(column.heading) for column in columns)
