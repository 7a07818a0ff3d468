"""Names from elsewhere: a second file, a mapping or a list, which replace ids and numbers."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...joint.messages import listed, quote
from ..csv_files import SPREADSHEET_MARK, unquote_formula
from .data import Data
from .opened import Opened, as_utf8, decoded, opened
from .raw_tables import RawTable, first_line, table_error
from .table_files import from_lines, from_parquet, is_parquet

if TYPE_CHECKING:
    import polars as pl


Column = str | int | None
FILE_KEY_NAME = re.compile(r"(.+):([^:]*):([^:]*)")


class NamesFile(NamedTuple):
    """A file of names: which column holds ids and which names; None for the usual ones."""

    path: Any
    key: Column = None
    name: Column = None


def renamed(
    data: Data, row_names: Any, column_names: Any, encoding: str | None, max_bytes: int | None
) -> Data:
    """Data under other names."""
    if row_names is None and column_names is None:
        return data
    rows, columns = (
        names if choice is None else _names(choice, names, is_named, encoding, max_bytes, role)
        for choice, names, is_named, role in (
            (row_names, data.row_names, data.named[0], "row_names"),
            (column_names, data.column_names, data.named[1], "column_names"),
        )
    )
    named = (row_names is not None or data.named[0], column_names is not None or data.named[1])
    return replace(data, row_names=rows, column_names=columns, named=named)


def _names(
    choice: Any,
    ids: np.ndarray,
    are_ids: bool,
    encoding: str | None,
    max_bytes: int | None,
    role: str,
) -> Any:
    if isinstance(choice, Mapping):
        return _looked_up({str(k): str(v) for k, v in choice.items()}, ids, f"{role}=")
    if not isinstance(choice, str | os.PathLike | tuple):
        return _in_order([str(name) for name in choice], ids, f"{role}=")
    file = as_file(choice)
    with ExitStack() as stack:
        plain = stack.enter_context(opened(file.path, max_bytes))
        by_name = [c for c in (file.key, file.name) if isinstance(c, str) and not c.isdecimal()]
        if is_parquet(plain):
            table = from_parquet(plain)
        else:
            text = stack.enter_context(as_utf8(plain, encoding))
            table = from_lines(text, bool(by_name), None)
        is_keyed = file.key is not None or (are_ids and file.name is None and len(table.fields) > 1)
        key = _field(table, 0 if file.key is None else file.key, role) if is_keyed else None
        default = 1 if is_keyed else 0
        name = _field(table, default if file.name is None else file.name, role)
        columns = [name] if key is None else [key, name]
        frame = _collected(table, columns)
    names = [value or "" for value in frame[name].to_list()]
    if key is None:
        return _in_order(names, ids, str(file.path))
    known = dict(zip(frame[key].to_list(), names, strict=True))
    return _looked_up(known, ids, str(file.path))


def _field(table: RawTable, which: str | int, role: str) -> str:
    """A column of a file of names."""
    labels = [str(table.label(field)) for field in table.fields]
    if str(which) not in labels and not (str(which).isdecimal() and int(which) < len(labels)):
        example = ":".join([table.name, labels[0], labels[-1]])
        raise ValueError(
            f"{table.name} has no column {quote(which)}: its columns are {listed(labels, 10)}. "
            f"Choose those with ids and names, for example {role}={example!r}."
        )
    return table.field(which, role)


def _collected(table: RawTable, columns: list[str]) -> pl.DataFrame:
    """Columns as text; errors name the file of names."""
    import polars as pl

    try:
        return table.frame.select(columns).cast(pl.String).collect()
    except pl.exceptions.PolarsError as error:
        raise table_error(table, error) from error


def as_file(choice: Any) -> NamesFile:
    """A file and its columns: a path, (path, key, name), or one string "path:key:name"."""
    if isinstance(choice, tuple):
        return NamesFile(*choice)
    parts = FILE_KEY_NAME.fullmatch(choice) if isinstance(choice, str) else None
    if parts is None or os.path.exists(choice):
        return NamesFile(choice)
    path, key, name = parts.groups()
    return NamesFile(path, key or None, name or None)


def _in_order(names: Sequence[str], ids: np.ndarray, source: str) -> list[str]:
    if len(names) != ids.size:
        raise ValueError(
            f"{source} has {len(names):,} names for {ids.size:,} elements. Give one name for each, "
            "in their order, one in a line."
        )
    return _distinct(names, [str(i) for i in range(len(names))])


def _looked_up(known: Mapping[str, str], ids: np.ndarray, source: str) -> list[str]:
    """The name of each id; the id itself if it has none."""
    if not any(one in known for one in ids):
        keys = ", ".join(repr(key) for key in list(known)[:3])
        keys += " and others" if len(known) > 3 else ""
        raise ValueError(
            f"{source} names none of the ids {', '.join(map(repr, ids[:3]))}, ...: its ids are "
            f"{keys}. Choose the column of its ids, as in FILE:IDS:NAMES."
        )
    return _distinct([known.get(one) or one for one in ids], ids.tolist())


def distinct(names: Iterable[Any] | None) -> list[str] | None:
    """Names, with their places from 0 added where several are the same."""
    if names is None:
        return None
    texts = [str(name) for name in names]
    return _distinct(texts, [str(i) for i in range(len(texts))])


def _distinct(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Names, with their ids added where several are the same."""
    often = Counter(names)
    if len(often) == len(names):
        return list(names)
    longer = [
        f"{name} [{one}]" if often[name] > 1 and name != one else name
        for name, one in zip(names, ids, strict=True)
    ]
    return longer if longer == list(names) else _distinct(longer, ids)


TITLES = ("cluster", "class", "label", "topic", "group", "genre", "category")  # of labels


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
        name, value = line[at], line[label]
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
    file = Opened(str(path), path, path.suffix.lower())
    if is_parquet(file):
        table = from_parquet(file)
        frame = table.frame.collect()
        return [table.columns, *([_text(cell) for cell in row] for row in frame.rows())]
    content = bytes(file.content[:])
    text = decoded(content, str(path), encoding).removeprefix("\ufeff")
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
    if content.startswith(SPREADSHEET_MARK):
        return [list(map(unquote_formula, line)) for line in lines]
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
