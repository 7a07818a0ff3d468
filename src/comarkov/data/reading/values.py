"""Single cells: which are missing, which are numbers, and which only look like numbers."""

from __future__ import annotations

import re

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
