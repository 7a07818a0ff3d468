"""The records of a delimited file: whether all have the same shape, and one by one if not."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...joint.messages import InputError
from .opened import Opened, decoded

SHAPE_CHUNK = 1 << 22  # bytes that are checked at a time
NEWLINE, RETURN, QUOTE = b'\n\r"'
csv.field_size_limit(1 << 30)


@dataclass(frozen=True)
class Lines:
    """Where the records of a delimited file are."""

    file: Opened  #: in UTF-8
    separator: str
    skipped: int  #: lines before the first record
    width: int  #: fields in a record
    header_line: int | None = None  #: from 1; None if there is no header


def records(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    """The number of the line on which each record begins, and its fields; blank ones left out.

    This is slow and takes what polars does not: quotes within a field, and line ends of old Macs.
    """
    with lines.file.path.open(encoding="utf-8-sig", newline="") as file:
        for _ in range(lines.skipped):
            next(file)
        reader = csv.reader(file, delimiter=lines.separator)
        begins = lines.skipped + 1
        for record in reader:
            if any(record):
                yield begins, record
            begins = lines.skipped + reader.line_num + 1


def line_error(lines: Lines) -> InputError | None:
    """The first line that is not a record of the table, and what to do about it."""
    line, name, separator = lines.skipped, lines.file.name, lines.separator
    try:
        for line, record in records(lines):
            if len(record) != lines.width:
                fields = f"{len(record)} field{'' if len(record) == 1 else 's'}"
                other = ";" if separator == "," else ","
                return InputError(
                    f"the line has {fields}, but the first line has {lines.width}, separated by "
                    f"{separator!r}",
                    file=name,
                    line=line,
                    advice=f"Put names that contain {separator!r} in double quotes, or choose what "
                    f"separates the fields, for example separator={other!r}.",
                )
    except UnicodeDecodeError:
        decoded(lines.file.content[:], name, "utf-8")  # raises with the line of the byte
    except csv.Error as error:
        return InputError(str(error), file=name, line=line + 1, advice="Save it as CSV again.")
    return None


def irregular_records(lines: Lines) -> list[list[str]]:
    """All records of a file with quotes or line ends that polars does not read; or an error."""
    content = lines.file.content
    begin = _begin(lines)
    with memoryview(content) as whole, whole[begin:] as rest:
        match = _tolerable(lines).match(rest)
        assert match is not None  # nothing at all is a match
        end = begin + match.end()
        del match
    if end < len(content):
        raise InputError(
            "a quote is opened and never closed",
            file=lines.file.name,
            line=content[:end].count(b"\n") + 1,
            advice='Write a quote inside a name twice and put the name in quotes: "5"" disk".',
        )
    error = line_error(lines)
    if error is not None:
        raise error
    return [record for _, record in records(lines)]


def _tolerable(lines: Lines) -> re.Pattern[bytes]:
    """Anything, as long as a quote at the beginning of a field has another that closes it.

    If text follows that one it must be in the same line: else it may well open another field.
    """
    ends = rb"\r\n" + re.escape(lines.separator.encode())
    proper = rb'(?<![^%b])"(?:[^"]++|"")*+"(?![^%b])' % (ends, ends)
    improper = rb'(?<![^%b])"(?:[^"\r\n]++|"")*+"[^%b]++' % (ends, ends)
    return re.compile(rb'(?:[^"]++|%b|%b|(?<=[^%b])")*+' % (proper, improper, ends))


def _begin(lines: Lines) -> int:
    """The byte at which the first record begins."""
    content, begin = lines.file.content, 0
    for _ in range(lines.skipped):
        begin = content.find(b"\n", begin) + 1
    has_mark = begin == 0 and content[:3] == codecs.BOM_UTF8
    return len(codecs.BOM_UTF8) if has_mark else begin


def is_regular(lines: Lines) -> bool:
    """Has every line as many fields as the first, and quotes only around fields?

    Polars reads other lines wrongly, without an error.
    """
    content, begin, size = lines.file.content, _begin(lines), SHAPE_CHUNK
    while begin < len(content):
        chunk = content[begin : begin + size]
        is_last = begin + size >= len(content)
        if is_last and not chunk.endswith(b"\n"):
            chunk += b"\n"
        checked = _even_lines(np.frombuffer(chunk, np.uint8), lines)
        if checked is None or (is_last and checked < len(chunk)):
            return False
        size = 2 * size if checked == 0 else SHAPE_CHUNK  # a record may be longer
        begin += checked
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
