"""Excel files: one sheet as delimited text, which is then read like any other."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...joint.messages import need, quote
from .matrices import refuse_large_archive
from .opened import Opened
from .raw_tables import first_line, listed

if TYPE_CHECKING:
    import polars as pl


@contextmanager
def as_csv(
    file: Opened, sheet: str | int | None, decimal: str, max_bytes: int | None
) -> Iterator[Opened]:
    """A sheet as a CSV file whose lines are the rows of the sheet, for the time being."""
    frame, title = _cells(file, sheet, max_bytes)
    if decimal == ",":  # numbers have a point, whatever mark the texts of the sheet have
        import polars as pl

        frame = frame.select(pl.all().str.replace(r"^(-?\d+)\.(\d+)$", "$1,$2"))
    with tempfile.TemporaryDirectory(prefix="comarkov-") as folder:
        path = Path(folder) / "sheet.csv"
        frame.write_csv(path, include_header=False)
        yield replace(file, name=title, path=path, suffix=".csv")


def _cells(
    file: Opened, sheet: str | int | None, max_bytes: int | None
) -> tuple[pl.DataFrame, str]:
    """All cells of a sheet as text, and what messages call it: one of several by its name, too."""
    need("Reading Excel files", "polars", "fastexcel", install="comarkov[excel]")
    import fastexcel

    refuse_large_archive(file, "an Excel file", max_bytes, "Save it again, or as CSV.")
    try:
        book = fastexcel.read_excel(file.path)
        name = _choose(book.sheet_names, sheet, file.name)
        cells = book.load_sheet(name, header_row=None, skip_rows=0, dtypes="string")
        frame: pl.DataFrame = cells.to_polars()
    except fastexcel.FastExcelError as error:
        why = first_line(error).removeprefix("calamine error: ")
        raise ValueError(
            f"{file.name} is not an Excel file, or it is damaged: {why}. Save it again, or as CSV."
        ) from error
    if not frame.width:
        raise ValueError(f"{file.name}: the sheet {quote(name)} is empty. {_others(book, name)}")
    return frame, file.name if len(book.sheet_names) == 1 else f"{file.name}, sheet {quote(name)}"


def _choose(names: list[str], sheet: str | int | None, file: str) -> str:
    """The sheet that the user means, by name or by position from 0; the only one by default."""
    if not names:
        raise ValueError(f"{file} has no sheets. Give a file with data.")
    if isinstance(sheet, str) and sheet in names:
        return sheet
    if sheet is not None and str(sheet).isdecimal() and int(sheet) < len(names):
        return names[int(sheet)]
    if sheet is None and len(names) == 1:
        return names[0]
    problem = f"has {len(names)} sheets" if sheet is None else f"has no sheet {quote(sheet)}"
    by_lower = {name.lower(): name for name in names}
    similar = get_close_matches(str(sheet).lower(), by_lower, n=1)
    example = by_lower[similar[0]] if similar else names[0]
    raise ValueError(f"{file} {problem} ({listed(names)}). Choose one with sheet={quote(example)}.")


def _others(book: Any, empty: str) -> str:
    other = next((name for name in book.sheet_names if name != empty), None)
    return (
        "Give a file with data." if other is None else f"Choose another with sheet={quote(other)}."
    )
