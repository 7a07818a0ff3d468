"""Names from elsewhere: a second file, a mapping or a list, put in place of ids and numbers."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .data import Data
from .delimited import from_lines
from .faults import fault
from .opening import as_utf8, opened
from .tables import RawTable, from_parquet, is_parquet

if TYPE_CHECKING:
    import polars as pl

Column = str | int | None
FILE_KEY_NAME = re.compile(r"(.+):([^:]*):([^:]*)")


class NamesFile(NamedTuple):
    """A file of names: which column holds ids and which names; None is as the source needs it."""

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
        if is_parquet(plain.path):
            table = from_parquet(plain)
        else:
            text = stack.enter_context(as_utf8(plain, encoding))
            table = from_lines(text, bool(by_name), None)
        is_keyed = file.key is not None or (are_ids and file.name is None and len(table.fields) > 1)
        key = table.field(0 if file.key is None else file.key, role) if is_keyed else None
        default = 1 if is_keyed else 0
        name = table.field(default if file.name is None else file.name, role)
        columns = [name] if key is None else [key, name]
        found = _collected(table, columns)
    names = [value or "" for value in found[name].to_list()]
    if key is None:
        return _in_order(names, ids, str(file.path))
    known = dict(zip(found[key].to_list(), names, strict=True))
    return _looked_up(known, ids, str(file.path))


def _collected(table: RawTable, columns: list[str]) -> pl.DataFrame:
    """Columns as text; what is wrong with them is said of the file of names."""
    import polars as pl

    try:
        return table.frame.select(columns).cast(pl.String).collect()
    except pl.exceptions.PolarsError as error:
        raise fault(table, (), (), error) from error


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
            f"{source} has {len(names):,} names, one in a line, for {ids.size:,} elements."
        )
    return _distinct(names, [str(i) for i in range(len(names))])


def _looked_up(known: Mapping[str, str], ids: np.ndarray, source: str) -> list[str]:
    """The name of each id; the id itself if it has none."""
    if not any(one in known for one in ids):
        some = ", ".join(repr(key) for key in list(known)[:3])
        raise ValueError(
            f"{source} names none of the ids {', '.join(map(repr, ids[:3]))}, ...: its ids are "
            f"{some}, ...; is it the right column?"
        )
    return _distinct([known.get(one) or one for one in ids], ids.tolist())


def distinct(names: Iterable[Any] | None) -> list[str] | None:
    """Names that are there several times are told apart by their places, from 0."""
    if names is None:
        return None
    listed = [str(name) for name in names]
    return _distinct(listed, [str(i) for i in range(len(listed))])


def _distinct(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Names that are there several times are told apart by their ids."""
    often = Counter(names)
    if len(often) == len(names):
        return list(names)
    told = [
        f"{name} [{one}]" if often[name] > 1 and name != one else name
        for name, one in zip(names, ids, strict=True)
    ]
    return told if told == list(names) else _distinct(told, ids)
