"""Names and known classes of rows and columns: from files, mappings, lists and columns."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...joint.messages import InputError, listed, quote, warn_user
from ...joint.objects import as_objects
from ..csv_files import SPREADSHEET_MARK, unquote_formula
from ..read_options import Column, ReadOptions
from .data import Data
from .opened import as_utf8, opened
from .raw_tables import RawTable, errors_of_polars, pl
from .table_files import from_lines, from_parquet, is_parquet

FILE_KEY_NAME = re.compile(r"(.+):([^:]*):([^:]*)")
LABEL_HEADINGS = ("cluster", "class", "label", "topic", "group", "genre", "category")
MARKS = {"true", "false", "0.0", "1.0"}  # of a column that is true or false, also as JSON has it
MAX_CATEGORIES = 50  # of a column that holds classes although the user has not said so
OWN_PREFIX = "comarkov"  # of the columns with clusters that we wrote ourselves


class NameFile(NamedTuple):
    """A file of names or labels, and two of its columns; None for the usual ones."""

    path: Any
    key: Column = None
    value: Column = None

    @classmethod
    def of(cls, choice: Any) -> NameFile:
        """A path, (path, key, value), or one string "path:key:value"."""
        if isinstance(choice, tuple):
            return cls(*choice)
        parts = FILE_KEY_NAME.fullmatch(choice) if isinstance(choice, str) else None
        if parts is None or os.path.exists(choice):
            return cls(choice)
        path, key, value = parts.groups()
        return cls(path, key or None, value or None)


class NameTable(NamedTuple):
    """The cells of a file of names or labels; the header may turn out to be a line like others."""

    source: str
    header: list[str]
    lines: list[list[str]]
    is_delimited: bool  #: so that it may have no header; Parquet has one

    def position(self, which: str | int, role: str) -> int:
        """The place of a column, by heading or by position from 0."""
        if isinstance(which, str) and which in self.header:
            return self.header.index(which)
        if str(which).isdecimal() and int(which) < len(self.header):
            return int(which)
        example = ":".join([self.source, self.header[0], self.header[-1]])
        problem = f"it has no column {quote(which)}, only {listed(self.header, 10)}"
        advice = f"Choose two of its columns, for example {role}={example!r}."
        raise InputError(problem, file=self.source, advice=advice)

    def pairs(self, key: int, value: int, known: Collection[str]) -> list[tuple[str, str]]:
        """Two columns; the first line is no header if its key is one of the known."""
        first = [self.header] if self.header[key] in known else []
        return [(line[key], line[value]) for line in (*first, *self.lines)]


def _read_table(path: Any, encoding: str | None, max_bytes: int | None = None) -> NameTable:
    """A file of names or labels: delimited text, compressed or not, or Parquet."""
    with ExitStack() as stack:
        file = stack.enter_context(opened(path, max_bytes))
        is_for_spreadsheets = file.content[:3] == SPREADSHEET_MARK
        if is_parquet(file):
            table = from_parquet(file)
        else:
            file = stack.enter_context(as_utf8(file, encoding))
            start = file.content[: 1 << 16].partition(b"\n")[0].decode("utf-8", "replace")
            table = from_lines(file, True, max("\t,;|", key=start.count))
        with errors_of_polars(table):
            rows = table.frame.collect().rows()
    lines = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if is_for_spreadsheets:
        lines = [list(map(unquote_formula, line)) for line in lines]
    return NameTable(str(path), table.columns, lines, table.lines is not None)


def rename(data: Data, options: ReadOptions) -> Data:
    """Data under the names in ``row_names`` and ``column_names``; ids without a name stay."""
    for axis, side in enumerate(("row_names", "column_names")):
        choice = getattr(options, side)
        if choice is None:
            continue
        try:
            names = _new_names(choice, getattr(data, side), data.named[axis], options, side)
        except (OSError, ValueError) as error:
            if side in options.given:
                raise
            if isinstance(error, OSError):
                what = f"its {side.replace('_', ' ')} from {choice}, which is missing: ids stay"
                advice = f"If the file has moved, give its new path with {side}=."
                warn_user(f"The model has {what}. {advice}")
            continue
        named = (True, data.named[1]) if axis == 0 else (data.named[0], True)
        data = data.changed(named=named, **{side: names})
    return data


def _new_names(
    choice: Any, ids: np.ndarray, are_ids: bool, options: ReadOptions, role: str
) -> list[str]:
    names: list[str] | dict[str, str]
    if isinstance(choice, Mapping):
        source, names = role, {str(k): str(v) for k, v in choice.items()}
    elif isinstance(choice, str | os.PathLike | tuple):
        file = NameFile.of(choice)
        table = _read_table(file.path, options.encoding, options.max_bytes)
        source = table.source
        has_ids = are_ids and file.value is None and len(table.header) > 1
        has_ids = has_ids or file.key is not None
        value = table.position(int(has_ids) if file.value is None else file.value, role)
        if has_ids:
            key = table.position(0 if file.key is None else file.key, role)
            names = dict(table.pairs(key, value, ids))
        else:
            is_titled = isinstance(file.value, str) and not file.value.isdecimal()
            first = [] if is_titled or not table.is_delimited else [table.header]
            names = [line[value] for line in (*first, *table.lines)]
    else:
        source, names = role, [str(name) for name in choice]
    if isinstance(names, list):
        if len(names) != ids.size:
            problem = f"{len(names):,} names for {ids.size:,} elements"
            advice = "Give one name for each, in their order, one in a line."
            raise InputError(problem, file=source, advice=advice)
        return list(distinct(names))
    if not any(one in names for one in ids):
        theirs, advice = (
            listed(map(repr, names)),
            "Choose the column of its ids, as in FILE:IDS:NAMES.",
        )
        problem = f"it names none of the ids {listed(map(repr, ids))}, only {theirs}"
        raise InputError(problem, file=source, advice=advice)
    return list(distinct([names.get(one) or one for one in ids], ids.tolist()))


def distinct(names: Iterable[Any] | None, ids: Sequence[str] | None = None) -> Any:
    """Names; where several are equal, with their ids, or their places from 0; None if None."""
    if names is None:
        return None
    texts = [str(name) for name in names]
    ids = [str(i) for i in range(len(texts))] if ids is None else ids
    often = Counter(texts)
    if len(often) == len(texts):
        return texts
    longer = [
        f"{name} [{one}]" if often[name] > 1 and name != one else name
        for name, one in zip(texts, ids, strict=True)
    ]
    return longer if longer == texts else distinct(longer, ids)


class Labels(NamedTuple):
    """Labels by name, under the heading of their column."""

    title: str
    by_name: dict[str, str]

    def of(self, *names: np.ndarray) -> np.ndarray:
        """The label of each element, under whichever of its names has more; "" if it has none."""
        choices = [[self.by_name.get(name, "") for name in each] for each in names]
        return as_objects(max(choices, key=lambda labels: sum(label != "" for label in labels)))


def read_labels(
    choice: Any, *, encoding: str | None = None, known: Collection[str] = (), role: str = "labels"
) -> Labels:
    """The label of each name in a file.

    By default names are in the column "name", or else in the first; labels in a column called
    class, label or the like, or else in the second. A first line whose name is one of the
    ``known`` is not a header.
    """
    file = NameFile.of(choice)
    table = _read_table(file.path, encoding)
    header = table.header
    if len(header) < 2:
        problem, advice = "it has one column", "Give names and classes, under these headings."
        raise InputError(problem, file=file.path, advice=advice)
    first = "name" if "name" in header else 0
    key = table.position(first if file.key is None else file.key, role)
    usual = next((title for title in LABEL_HEADINGS if title in header), 0 if key else 1)
    value = table.position(usual if file.value is None else file.value, role)
    by_name: dict[str, str] = {}
    for number, (name, label) in enumerate(table.pairs(key, value, known), 2):
        if by_name.setdefault(name, label) != label:
            problem = f"{quote(name)} has two labels, {quote(by_name[name])} and {quote(label)}"
            raise InputError(problem, file=file.path, line=number, advice="Keep one.")
    if not by_name:
        raise InputError("it has no lines below its header", file=file.path, advice="Add data.")
    has_title = header[key] not in known and not header[value].isdecimal()
    return Labels(header[value] if has_title else Path(file.path).stem, by_name)


def _as_choice(classes: Any) -> Any:
    """What a user gives as classes: a mapping (or series), or a list of files and of columns."""
    if classes is None or isinstance(classes, Mapping):
        return classes
    if isinstance(classes, str) and not _is_file(classes):
        return [part.strip() for part in classes.split(",")]
    if isinstance(classes, str | os.PathLike | tuple):
        return [classes]
    if hasattr(classes, "to_dict"):
        return {str(getattr(classes, "name", None) or "class"): dict(classes.items())}
    return list(classes)


def _is_file(choice: Any) -> bool:
    return isinstance(choice, os.PathLike | tuple) or Path(NameFile.of(choice).path).is_file()


def columns_in(classes: Any) -> list[str]:
    """The columns of the source that a user gives as classes."""
    choice = _as_choice(classes)
    names = choice if isinstance(choice, list) else []
    return [str(n).removeprefix("obs:").removeprefix("var:") for n in names if not _is_file(n)]


def chosen_columns(
    columns: Mapping[str, Iterable[Any]], classes: Any, size: int
) -> dict[str, np.ndarray]:
    """Those columns that a user gives as classes; if there are none, those that look like classes.

    They have 2 to 50 different values, each of which two rows share on average, and are not marks
    of true and false.
    """
    if classes is not None:
        return {name: as_objects(columns[name]) for name in columns_in(classes) if name in columns}
    others = {name: list(each) for name, each in columns.items() if not name.startswith(OWN_PREFIX)}
    distinct = {name: {*map(str, each)} - {"", "nan", "None"} for name, each in others.items()}
    return {
        name: as_objects(others[name])
        for name, each in distinct.items()
        if 2 <= len(each) <= min(MAX_CATEGORIES, size // 2)
        and not {one.casefold() for one in each} <= MARKS
    }


def frame_classes(table: Any, classes: Any, source: str) -> dict[str, np.ndarray]:
    """The classes in the columns of a pandas data frame; numbers only if they are chosen."""
    known = [str(name) for name in table.columns]
    for name in columns_in(classes):
        if name not in known:
            raise _no_such_classes(name, source, known)
    columns = {
        str(name): table[name]
        for name in table.columns
        if classes is not None or getattr(table[name].dtype, "kind", "O") in "ObU"
    }
    return chosen_columns(columns, classes, len(table))


def edge_classes(
    table: RawTable, element: str, classes: Any, names: np.ndarray
) -> dict[str, np.ndarray]:
    """The classes in columns of an edge list: for each element that of most of its edges."""
    found = {}
    for column in columns_in(classes):
        if column not in table.columns:
            raise _no_such_classes(column, table.name, table.columns)
        pairs = table.frame.select(
            pl.col(element).cast(pl.String).str.strip_chars().alias("id"),
            pl.col(table.field(column, "row_classes")).cast(pl.String).alias("class"),
        )
        counts = pairs.drop_nulls().group_by("id", "class").len().collect()
        ordered = counts.sort(["len", "class"], descending=[False, True])  # the last one counts
        by_name = dict(ordered.select("id", "class").rows())
        if len(by_name) < len(counts):
            warn_user(
                f"{table.name}, column {column}: some elements have several classes. The most "
                "frequent one is taken for each."
            )
        found[column] = Labels(column, by_name).of(names)
    return found


def classify(data: Data, ids: Data, options: ReadOptions) -> Data:
    """Data with the classes in files or mappings; ``ids`` has the names before renaming."""
    for side in ("row", "column"):
        choice = _as_choice(getattr(options, f"{side}_classes"))
        if choice is None:
            continue
        names = getattr(ids, f"{side}_names"), getattr(data, f"{side}_names")
        if isinstance(choice, Mapping):
            several = (Mapping, list, tuple, np.ndarray)
            if not any(isinstance(each, several) for each in choice.values()):
                choice = {"class": choice}
            classes = {
                str(title): Labels("", {str(k): str(v) for k, v in each.items()}).of(*names)
                if isinstance(each, Mapping)
                else each
                for title, each in choice.items()
            }
        else:
            read: dict[str, np.ndarray] = getattr(data, f"{side}_classes")
            columns = columns_in(choice)
            for name in columns:
                if name not in read:
                    raise _no_such_classes(name, data.source or "the source", list(read))
            files = [each for each in choice if _is_file(each)]
            classes = {name: read[name] for name in columns}
            classes |= dict(_classes_in_file(each, names, side, options) for each in files)
        data = data.changed(**{f"{side}_classes": classes})
    return data


def _classes_in_file(
    choice: Any, names: tuple[np.ndarray, ...], side: str, options: ReadOptions
) -> tuple[str, np.ndarray]:
    known, role = {name for each in names for name in each.tolist()}, f"{side}_classes"
    labels = read_labels(choice, encoding=options.encoding, known=known, role=role)
    classes = labels.of(*names)
    if not (classes != "").any():
        path = NameFile.of(choice).path
        ours, theirs = listed(map(repr, names[-1])), listed(map(repr, labels.by_name))
        problem = f"it has a class for none of the names {ours}, only for {theirs}"
        advice = f'Choose two of its columns, for example {role}="{path}:name:class".'
        raise InputError(problem, file=path, advice=advice)
    return labels.title, classes


def _no_such_classes(name: str, source: str, columns: list[str]) -> InputError:
    problem = f"There is no file {name!r}, and {source} has no column of that name with classes"
    give = f"Choose one of {listed(columns, 10)}, or give" if columns else "Give"
    return InputError(problem, advice=f"{give} a file with names and classes, such as classes.csv.")
