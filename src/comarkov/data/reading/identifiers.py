"""Columns that only count or number the rows, and are not weights."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .tables import RawTable

SAMPLE = 1000  # records to look at
# Headings of such columns, as pandas and R write them, too.
HEADING = re.compile(r"|unnamed: 0|rownames|index|[Ii]d|ID|.*[_ ](id|Id|ID)|.*[a-z]I[dD]")


def is_heading_of_identifiers(heading: str) -> bool:
    """Is a column called as those that number the rows are?"""
    return HEADING.fullmatch(heading.replace("Unnamed", "unnamed")) is not None


def is_identifier(heading: str, values: Iterable[Any]) -> bool:
    """Does a column with an identifier's heading hold whole numbers without repeats?

    Examples
    --------
    >>> is_identifier("id", [1, 2, 3]), is_identifier("apples", [1, 2, 3])
    (True, False)
    """
    if not is_heading_of_identifiers(heading):
        return False
    texts = [str(value).strip() for value in values]
    return all(map(str.isdecimal, texts)) and len(set(texts)) == len(texts)


def without_identifiers(table: RawTable, fields: Sequence[str]) -> list[str]:
    """The fields that do more than number the records, by the first records."""
    if not table.has_headings:
        return list(fields)
    sample = table.without_blank_lines().select(fields).head(SAMPLE).collect()
    return [f for f in fields if not is_identifier(table.heading(f), sample[f].to_list())]
