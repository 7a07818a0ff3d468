"""CSV files: names as they are, or changed for spreadsheet programs.

A spreadsheet computes cells that begin with =, +, - or @, also those of a CSV file, and a formula
can start programs or send data away. An apostrophe before them makes them text. To be able to undo
this, texts that begin so after apostrophes of their own get one more.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
#: Begins files for spreadsheets: Excel recognises UTF-8 by it, and we that cells are changed.
SPREADSHEET_MARK = codecs.BOM_UTF8


def csv_text(header: Iterable[Any], lines: Iterable[Iterable[Any]]) -> str:
    """CSV with a header, whose lines end with a line feed; all cells are as they are."""
    rows: list[str] = []
    # Python puts only cells that contain characters of its line end into quotes.
    writer = csv.writer(SimpleNamespace(write=rows.append), lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(lines)
    return "".join(row.removesuffix("\r\n") + "\n" for row in rows)


def for_spreadsheets(text: str) -> str:
    """CSV with an apostrophe before all cells that a spreadsheet would compute."""
    header, *lines = csv.reader(io.StringIO(text, newline=""))
    cells = csv_text(map(quote_formula, header), (map(quote_formula, line) for line in lines))
    return SPREADSHEET_MARK.decode() + cells


def tables_for_spreadsheets(texts: Mapping[str, str], is_wanted: bool = True) -> dict[str, str]:
    """Texts by file name, of which all CSV is for spreadsheets if that is wanted."""
    return {
        name: for_spreadsheets(text) if is_wanted and name.endswith(".csv") else text
        for name, text in texts.items()
    }


def quote_formula(cell: str) -> str:
    """A cell that no spreadsheet computes."""
    return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell


def unquote_formula(cell: str) -> str:
    """The text that ``quote_formula`` made a cell from."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
