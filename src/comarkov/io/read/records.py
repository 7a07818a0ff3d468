"""The records of a delimited file: whether all have the same shape, and one by one if not."""

from __future__ import annotations

import codecs
import csv
import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CHUNK = 1 << 22  # bytes
NEWLINE, RETURN, QUOTE = b'\n\r"'
csv.field_size_limit(1 << 30)


@dataclass(frozen=True)
class Lines:
    """How the lines of a delimited file are read."""

    path: Path
    separator: str
    skipped: int  #: lines before the first one of the table
    has_header: bool
    width: int  #: fields in a line
    header_lines: int = 1  #: of the header, with blank ones below it


def records(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    """The number of the line on which each record begins, and its fields; blank ones left out.

    This is slow and takes what polars does not: quotes within a field, and line ends of old Macs.
    """
    with lines.path.open(encoding="utf-8-sig", newline="") as file:
        for _ in range(lines.skipped):
            next(file)
        reader = csv.reader(file, delimiter=lines.separator)
        begins = lines.skipped + 1
        for i, record in enumerate(reader):
            if any(record) and not (i == 0 and lines.has_header):
                yield begins, record
            begins = lines.skipped + reader.line_num + 1


@dataclass(frozen=True)
class Shape:
    """What a quick look over the bytes of a delimited file finds."""

    has_quotes: bool
    is_regular: bool  #: every line has as many fields as the first, and quotes only around fields
    unclosed: int | None = None  #: the line of a quote that no other closes


def shape_of(lines: Lines) -> Shape:
    """Whether polars can read a file: it reads irregular lines wrongly without an error."""
    with lines.path.open("rb") as file:
        for _ in range(lines.skipped):
            file.readline()
        start = file.tell()
        file.seek(0)
        if start == 0 and file.read(3) == codecs.BOM_UTF8:
            start = 3
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            has_quotes = content.find(b'"', start) >= 0
            if _is_regular(content, start, lines):
                return Shape(has_quotes, True)
            with memoryview(content) as whole, whole[start:] as rest:
                end = _end_of_match(_tolerable(lines), rest)
                is_whole = end == len(rest)
            line = None if is_whole else content[: start + end].count(b"\n") + 1
            return Shape(has_quotes, False, line)


def _is_regular(content: mmap.mmap, start: int, lines: Lines) -> bool:
    """Look at all lines, a chunk at a time."""
    size = CHUNK
    while start < len(content):
        chunk = content[start : start + size]
        is_last = start + size >= len(content)
        if is_last and not chunk.endswith(b"\n"):
            chunk += b"\n"
        looked_at = _even_lines(np.frombuffer(chunk, np.uint8), lines)
        if looked_at is None or (is_last and looked_at < len(chunk)):
            return False
        size = 2 * size if looked_at == 0 else CHUNK  # a record may be longer
        start += looked_at
    return True


def _even_lines(codes: np.ndarray, lines: Lines) -> int | None:
    """The bytes that whole lines of the right shape take up, or None if one has another."""
    separator = ord(lines.separator)
    is_end, is_mark = codes == NEWLINE, codes == separator
    quotes = np.flatnonzero(codes == QUOTE)
    if quotes.size:
        is_outside = np.cumsum(codes == QUOTE, dtype=np.uint8) & 1 == 0
        is_end &= is_outside
        is_mark &= is_outside
    ends = np.flatnonzero(is_end)
    if not ends.size:
        return 0
    size = int(ends[-1]) + 1
    if not _surround_fields(codes[:size], quotes[quotes < size], separator):
        return None
    returns = np.flatnonzero(codes[:size] == RETURN)
    if quotes.size:
        returns = returns[is_outside[returns]]
    if (codes[returns + 1] != NEWLINE).any():
        return None
    starts = np.concatenate([[0], ends[:-1] + 1])
    is_blank = (ends == starts) | ((ends == starts + 1) & (codes[starts] == RETURN))
    if is_blank.any():
        starts, ends = starts[~is_blank], ends[~is_blank]
    marks = np.flatnonzero(is_mark[:size])
    if marks.size != (lines.width - 1) * ends.size:
        return None
    table = marks.reshape(ends.size, lines.width - 1)
    are_inside = (table >= starts[:, None]).all() and (table < ends[:, None]).all()
    return size if are_inside else None


def _surround_fields(codes: np.ndarray, quotes: np.ndarray, separator: int) -> bool:
    """Are quotes only where a field begins or ends, or twice within one that is in quotes?

    A quote written twice closes and opens again, so that every other quote opens.
    """
    if not quotes.size:
        return True
    opening, closing = quotes[::2], quotes[1::2]
    before = codes[opening[opening > 0] - 1]
    after = codes[closing + 1]
    allowed = [separator, NEWLINE, RETURN, QUOTE]
    return bool(np.isin(before, allowed).all() and np.isin(after, allowed).all())


def _tolerable(lines: Lines) -> re.Pattern[bytes]:
    """Anything, as long as a quote at the beginning of a field has another that closes it.

    If text follows that one it must be in the same line: else it may well open another field.
    """
    ends = rb"\r\n" + re.escape(lines.separator.encode())
    proper = rb'(?<![^%b])"(?:[^"]++|"")*+"(?![^%b])' % (ends, ends)
    improper = rb'(?<![^%b])"(?:[^"\r\n]++|"")*+"[^%b]++' % (ends, ends)
    return re.compile(rb'(?:[^"]++|%b|%b|(?<=[^%b])")*+' % (proper, improper, ends))


def _end_of_match(pattern: re.Pattern[bytes], content: memoryview) -> int:
    match = pattern.match(content)
    assert match is not None  # nothing at all is a match
    return match.end()


#: What people write where they know nothing. An empty cell is missing, too.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None")
#: The same for weights, where a lone dash or point is not a number either.
GAPS = (*MISSING, "-", "\u2013", "\u2014", ".")
_MISSING, _GAPS = frozenset(MISSING), frozenset(GAPS)
SIGNS = " \t\r\n%$€£¥"  # which may stand around a number
MARKS = ".,' \u00a0\u202f"  # which may stand in it; dates have others
NUMBERLIKE = re.compile(rf"[-+<>~]?\s*[-+]?[.,]?\d[\d{MARKS}]*(e[-+]?\d+)?")


def is_missing(cell: str | None) -> bool:
    """Is the cell empty, or does it hold a word for a missing value, such as NA?"""
    return cell is None or cell.strip() in _MISSING


def is_gap(cell: str | None) -> bool:
    """Is a weight missing, also if a lone dash or point stands for it?"""
    return cell is None or cell.strip() in _GAPS


def is_word_for_missing(cell: str | None) -> bool:
    """Does the cell hold a word such as NA, rather than nothing?"""
    return is_missing(cell) and bool(cell and cell.strip())


def plain(cell: str, decimal: str = ".", thousands: str = "") -> str:
    """A number as Python writes it, from one with other marks, a currency or a percent sign."""
    cell = cell.strip(SIGNS)
    if thousands and re.search(grouped(decimal, thousands), cell):
        cell = cell.replace(thousands, "")
    if decimal == ",":  # a point that is left makes it no number
        cell = cell.replace(".", " ").replace(",", ".", 1)
    return cell


def grouped(decimal: str, thousands: str) -> str:
    """The pattern of a number with its thousands marked, as 1,200,000 or, in India, 12,00,000."""
    mark = re.escape(thousands)
    groups = rf"\d{{1,3}}({mark}\d{{2,3}})*{mark}\d{{3}}"
    return rf"^[-+]?{groups}([{decimal}]\d*)?([eE][-+]?\d+)?$"


def is_number(cell: str, decimal: str = ".", thousands: str = "") -> bool:
    """Can the cell be read as a number?"""
    cell = plain(cell, decimal, thousands)
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and cell.isascii()  # polars takes no digits of other scripts


def looks_like_number(cell: str) -> bool:
    """Does a person see a number, also one with a currency, a percent sign or thousands marks?"""
    return is_number(cell) or NUMBERLIKE.fullmatch(cell.strip(SIGNS).lower()) is not None
