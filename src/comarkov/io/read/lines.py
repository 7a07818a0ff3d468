"""The records of a delimited file one by one, as Python reads them, and what is wrong with them."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...joint.messages import InputError
from .opened import Opened, decoded

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
    """The number of the line on which each record begins, and its fields; blank ones left out."""
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
                prose = " For prose use kind='texts'." if lines.file.suffix == ".txt" else ""
                return InputError(
                    f"the line has {fields}, but the first line has {lines.width}, separated by "
                    f"{separator!r}",
                    file=name,
                    line=line,
                    advice=f"Put names that contain {separator!r} in double quotes, or choose what "
                    f"separates the fields, for example separator={other!r}.{prose}",
                )
    except UnicodeDecodeError:
        decoded(lines.file.content[:], name, "utf-8")  # raises with the line of the byte
    except csv.Error as error:
        return InputError(str(error), file=name, line=line + 1, advice="Save it as CSV again.")
    return None


def irregular_records(lines: Lines) -> list[list[str]]:
    """All records of a file with quotes that polars reads wrongly; or an error."""
    content, end = lines.file.content, quotes_end(lines, is_strict=False)
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


def quotes_end(lines: Lines, is_strict: bool = True) -> int:
    """The byte up to which quotes stand around fields only: the size of the file if all do.

    Not strictly, quotes may also be inside fields. A quote at the beginning of a field must have
    another that closes it; if text follows that one, it must be in the same line.
    """
    content = lines.file.content
    if content.find(b'"') < 0:
        return len(content)
    ends = rb"\r\n" + re.escape(lines.separator.encode())
    proper = rb'(?<![^%b])"(?:[^"]++|"")*+"(?![^%b])' % (ends, ends)
    improper = rb'(?<![^%b])"(?:[^"\r\n]++|"")*+"[^%b]++|(?<=[^%b])"' % (ends, ends, ends)
    pattern = rb'(?:[^"]++|%b)*+' % (proper if is_strict else proper + b"|" + improper)
    begin = len(codecs.BOM_UTF8) if content[:3] == codecs.BOM_UTF8 else 0
    for _ in range(lines.skipped):
        begin = content.find(b"\n", begin) + 1
    with memoryview(content) as whole, whole[begin:] as rest:
        match = re.match(pattern, rest)
        end = begin + (match.end() if match else 0)
        del match
    return end
