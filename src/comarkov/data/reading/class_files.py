"""Files of known classes, or of clusters: a name and a label in each line."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..quoting import quote
from ..spreadsheets import original
from .opening import Opened, decoded
from .tables import first_line, from_parquet, is_parquet

TITLES = ("cluster", "class", "label", "topic", "group", "genre", "category")  # of labels
Column = str | int | None


class Labels(NamedTuple):
    """Labels by name, under the heading of their column."""

    title: str
    by_name: dict[str, str]


def read_labels(
    path: Path,
    names: Column = None,
    labels: Column = None,
    *,
    encoding: str | None = None,
    known: Collection[str] = (),
) -> Labels:
    """The label of each name in a table: delimited text or Parquet.

    ``names`` and ``labels`` are columns, by heading or position from 0. By default names are in the
    column "name", or else in the first; labels in a column called class, label or the like, or else
    in the second. A first line whose name is one of the ``known`` is not a header.
    """
    header, *lines = _lines(path, encoding)
    at = _column(path, header, names, "name" if "name" in header else 0)
    if len(header) < 2:
        raise ValueError(
            f"{path} has one column, but names and their classes are needed. Give a file with two, "
            "under the headings name and class."
        )
    if header[at] in known:
        header, lines = [str(i) for i in range(len(header))], [header, *lines]
    usual = next((title for title in TITLES if title in header), 1 if at == 0 else 0)
    label = _column(path, header, labels, usual)
    by_name: dict[str, str] = {}
    for number, line in enumerate(lines, 2):
        name, value = original(line[at]), original(line[label])
        if by_name.setdefault(name, value) != value:
            raise ValueError(
                f"{path}, line {number}: {quote(name)} has two labels, {quote(by_name[name])} and "
                f"{quote(value)}. "
                "Keep one."
            )
    if not by_name:
        raise ValueError(f"{path} has no lines below its header. Give a file with data.")
    title = header[label] if not header[label].isdecimal() else path.stem
    return Labels(title, by_name)


def _lines(path: Path, encoding: str | None) -> list[list[str]]:
    """The header and all records, each as long as the header."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}. Check the path.")
    if is_parquet(path):
        table = from_parquet(Opened(str(path), path, path.suffix.lower()))
        frame = table.frame.collect()
        return [table.columns, *([_text(cell) for cell in row] for row in frame.rows())]
    text = decoded(path.read_bytes(), str(path), encoding).removeprefix("\ufeff")
    separator = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    lines: list[list[str]] = []
    try:
        for line in reader:
            if lines and line and len(line) != len(lines[0]):
                raise ValueError(
                    f"{path}, line {reader.line_num}: it has {len(line)} columns, but the first "
                    f"line has {len(lines[0])}. Put names with commas in quotes."
                )
            lines += [line] if line else []
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {first_line(error)}.") from error
    if not lines:
        raise ValueError(f"{path} is empty. Give a file with names and classes.")
    return lines


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)


def _column(path: Path, header: Sequence[str], chosen: Column, default: str | int) -> int:
    wanted = default if chosen is None else chosen
    if isinstance(wanted, str) and wanted in header:
        return header.index(wanted)
    position = int(wanted) if isinstance(wanted, int) or wanted.isdecimal() else -1
    if 0 <= position < max(len(header), 2):
        return position
    raise ValueError(
        f"{path} has no column {quote(wanted)}. Choose one of its columns: {', '.join(header)}."
    )


def looked_up(labels: Labels, *names: np.ndarray) -> np.ndarray:
    """The label of each element, under whichever of its names has more; "" if it has none."""
    choices = [[labels.by_name.get(name, "") for name in listed] for listed in names]
    best = max(choices, key=lambda listed: sum(label != "" for label in listed))
    return as_objects(best)


def as_objects(values: Iterable[Any]) -> np.ndarray:
    """Values as an array, whatever their types."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
