"""Dates and numbers in bins: months or weekdays, and intervals with readable limits."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np

from ...joint.messages import InputError, quote
from ...joint.scale import are_whole
from ..read_options import ReadOptions, pairs_in
from .headers import YEARS
from .raw_tables import RawTable, pl

DATE_MARKS = r"^\s*\d{1,4}[-/. ]\w{1,9}[-/. ,]+\d{1,4}|^\s*[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
DATE_FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%m-%d-%Y", "%d-%m-%Y"),
    *("%d %b %Y", "%b %d %Y", "%b %d, %Y", "%d-%b-%Y", "%B %d, %Y", "%d %B %Y", "%m/%d/%y"),
)
TIME_FORMATS = (
    *("", " %H:%M:%S%.f", "T%H:%M:%S%.f", " %H:%M", "T%H:%M"),
    *(" %I:%M %p", " %I:%M:%S %p"),
)
ZONE = r"(Z|[+-]\d\d:?\d\d)$"
DATE_SAMPLE = 1000  # cells, all of which must be dates
TYPED = ""  # the format of a column whose type is a date already
#: The parts of a date by which it can be binned, and how polars writes them.
DATE_PARTS = {
    "year": "%Y",
    "year-month": "%Y-%m",
    "day": "%Y-%m-%d",
    "month": "%B",
    "weekday": "%A",
    "hour": "%H h",
}
MAX_DATES = 60  # different dates that can be rows or columns as they are


def date_format(column: pl.Series) -> str | None:
    """How dates are written in a column; None if it does not hold dates."""
    if column.dtype.is_temporal():
        return None if column.dtype in (pl.Time, pl.Duration) else TYPED
    if column.dtype != pl.String:
        return None
    filled = column.drop_nulls().head(DATE_SAMPLE)
    if not len(filled) or not filled.str.contains(DATE_MARKS).all():
        return None
    cells = filled.str.strip_chars().str.replace(ZONE, "")
    for time, date in product(TIME_FORMATS, DATE_FORMATS):
        if not cells.str.to_datetime(date + time, strict=False).null_count():
            return date + time
    return None


def dates_in(table: RawTable, name: str) -> pl.Series:
    """The dates in a column; an error if it holds something else."""
    column = table.cells(name)
    written = date_format(column)
    if written is None:
        problem = f"{quote(column.drop_nulls().first())} is not a date"
        advice = "Write dates as 2013-01-31 or 2013-01-31 05:15:00, or set a number of bins."
        raise table.error(problem, advice, column=table.heading(name))
    if written == TYPED:
        return column.cast(pl.Datetime)
    cells = column.str.strip_chars().str.replace(ZONE, "")
    return cells.str.to_datetime(written, strict=False)


def parts_for_records(dates: pl.Series) -> list[str]:
    """The parts of dates that differ between records, and so describe them."""
    days, filled = _days(dates), dates.drop_nulls()
    parts = [
        ("year", days > 2 * 366),
        ("month", days > 60 and filled.dt.month().n_unique() > 2),
        ("weekday", days > 7 and filled.dt.day().n_unique() > 7),
        ("hour", filled.dt.hour().n_unique() > 2),
    ]
    return [part for part, differs in parts if differs]


def _days(dates: pl.Series) -> float:
    seconds = dates.drop_nulls().dt.epoch("s").to_numpy()
    return float(np.ptp(seconds)) / 86_400 if seconds.size else 0.0


LIMIT_ROUNDING = 0.03  # the share of numbers by which a limit may move to a rounder number


def bin_count(how: str | None) -> int:
    """The number of intervals that the user wants, 5 by default."""
    how = how or "5"
    if not str(how).isdecimal() or not 2 <= int(how) <= 100:
        problem = f"bin={how!r} is neither a number from 2 to 100 nor a part of a date"
        advice = f"Use a number, such as 5, or one of {', '.join(DATE_PARTS)}."
        raise InputError(problem, advice=advice)
    return int(how)


def round_limits(known: np.ndarray, bins: int) -> np.ndarray:
    """Limits between intervals of sorted numbers, as round as they can be."""
    limits: list[float] = []
    bins = bins if known.size else 1
    for i in range(1, bins):
        low, high = np.quantile(known, [i / bins - LIMIT_ROUNDING, i / bins + LIMIT_ROUNDING])
        if low == high:  # a value that many have: it begins or ends an interval
            before, above = known[known < low], known[known > low]
            is_start = 2 * i * known.size / bins <= known.size + before.size - above.size
            if is_start and before.size:
                low = before[-1]
            elif above.size:
                high = above[0]
            else:
                continue
        limits.append(roundest(float(low), float(high)))
    return np.unique(limits)


def roundest(low: float, high: float) -> float:
    """The roundest number above ``low`` and at most ``high``."""
    size = 10.0 ** math.ceil(math.log10(max(abs(low), abs(high), high - low)))
    for _ in range(18):
        for step in (size, size / 2, size / 5):
            number = math.floor(high / step) * step
            if number > low:
                return float(f"{number:.12g}")
        size /= 10
    return high


def interval_texts(limits: np.ndarray, known: np.ndarray) -> list[str]:
    """The intervals of known numbers between limits in words; of one whole number, that number."""
    if not len(limits):
        return ["any"]
    are_years = all(float(limit).is_integer() and int(limit) in YEARS for limit in limits)
    texts = [f"{limit:{'' if are_years else ','}.10g}" for limit in limits]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    names = [f"below {texts[0]}", *between, f"{texts[-1]} or more"]
    places = np.searchsorted(limits, known, side="right")
    for place in np.unique(places) if are_whole(known) else []:
        inside = known[places == place]
        if inside.min() == inside.max():
            names[place] = f"{inside[0]:.0f}"
    return names


def joined_interval(first: str, last: str) -> str:
    """The interval from the beginning of one to the end of another: 2 to 5 and 5 to 9, 2 to 9."""
    low = "" if first.startswith("below ") else re.split(" to | or ", first)[0]
    high = "" if last.endswith(" or more") else last.removeprefix("below ").rpartition(" to ")[2]
    if not low:
        return f"below {high}"
    return f"{low} to {high}" if high else f"{low} or more"


def with_bins(table: RawTable, options: ReadOptions) -> RawTable:
    """A table whose columns in ``bin`` hold the names of bins."""
    for label, how in pairs_in(options.bin).items():
        name = table.field(label, "bin")
        if how in DATE_PARTS:
            texts = dates_in(table, name).dt.strftime(DATE_PARTS[how])
        else:
            numbers = table.numbers(table.cells(name).to_frame(), [name])[:, 0]
            known = np.sort(numbers[np.isfinite(numbers)])
            limits = round_limits(known, bin_count(how))
            intervals = np.array(interval_texts(limits, known), dtype=object)
            cells = intervals[np.searchsorted(limits, numbers, side="right").clip(0, limits.size)]
            texts = pl.Series(np.where(np.isfinite(numbers), cells, None), dtype=pl.String)
        frame = table.frame.collect().with_columns(texts.alias(name)).lazy()
        table = replace(table, frame=frame)
    return table


def bins_of_dates(table: RawTable, names: Sequence[str]) -> dict[str, str]:
    """The bins of columns with many different dates, which are sides of an edge list."""
    bins = {}
    for name in names:
        sample = table.frame.select(name).head(DATE_SAMPLE).collect().to_series()
        if date_format(sample) is None:
            continue
        dates = dates_in(table, name)
        if dates.n_unique() > MAX_DATES:
            longest = {"hour": 3, "day": MAX_DATES, "year-month": 5 * 366, "year": math.inf}
            part = next(part for part, days in longest.items() if _days(dates) <= days)
            bins[str(table.label(name))] = part
    return bins
