"""Text that a spreadsheet would take for a formula, made harmless and back again.

A spreadsheet computes cells that begin with =, +, - or @, also those of a CSV file, and a formula
can start programs or send data away. An apostrophe before them makes them text. To be able to undo
this, texts that begin so after apostrophes of their own get one more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_are_raw = ContextVar("names in CSV files are as in the data", default=False)


@contextmanager
def raw_names(wanted: bool = True) -> Iterator[None]:
    """Let CSV files that are written within have names as they are in the data."""
    token = _are_raw.set(wanted)
    try:
        yield
    finally:
        _are_raw.reset(token)


def harmless(cell: Any) -> Any:
    """The cell of a CSV file; text that a spreadsheet would compute begins with an apostrophe.

    Examples
    --------
    >>> harmless("=1+1"), harmless("'=1+1"), harmless("-1.5"), harmless("'tis"), harmless(-1)
    ("'=1+1", "''=1+1", '-1.5', "'tis", -1)
    """
    if not isinstance(cell, str) or _are_raw.get():
        return cell
    return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell


def original(text: str) -> str:
    """The text that ``harmless`` made a cell from.

    Examples
    --------
    >>> original("'=1+1"), original("''=1+1"), original("-1.5"), original("'tis")
    ('=1+1', "'=1+1", '-1.5', "'tis")
    """
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
