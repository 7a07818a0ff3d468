"""How data were read, remembered so that similar data are read in the same way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ...joint.messages import did_you_mean, warn_user
from .classes import classified
from .data import Data
from .formats import BY_SUFFIX, CHAIN, CLASSES, DOCUMENT, KINDS, ReadOptions, is_json, is_place
from .naming import renamed
from .opened import Opened

# What does not matter for similar data.
OF_ONE_SOURCE = ("query", "table", "min_df", "n_words", *CLASSES)
TABULAR = ("edges", "table", "texts")
TABLES = (".csv", ".tsv", ".parquet", ".xlsx", ".db", ".sqlite", ".duckdb")
PACKINGS = (".gz", ".zst", ".zip")


@dataclass(frozen=True)
class SimilarOptions(ReadOptions):
    """Options of which some are remembered: those are ignored where a source does not take them."""

    explicit: frozenset[str] = frozenset()

    def is_given(self, name: str) -> bool:
        """Did the user set this option, now?"""
        return name in self.explicit


def reading_of(
    data: Data, kind: str | None, options: ReadOptions, names: Mapping[str, Any]
) -> dict[str, Any]:
    """The keywords of ``read`` for data like these: what was set, and what was detected."""
    chosen = {
        field.name: getattr(options, field.name)
        for field in fields(ReadOptions)
        if field.name not in OF_ONE_SOURCE and getattr(options, field.name) != field.default
    }
    files = {side: _as_text(file) for side, file in names.items() if _is_file(file)}
    return ({} if kind is None else {"kind": kind}) | data.reading | chosen | files


def _is_file(names: Any) -> bool:
    return isinstance(names, str | os.PathLike | tuple)


def _as_text(file: Any) -> str:
    parts = file if isinstance(file, tuple) else (file,)
    return ":".join("" if part is None else str(part) for part in parts)


def remembered(like: Any) -> dict[str, Any]:
    """The keywords with which the data of a model were read; or those of data, or a mapping."""
    if isinstance(like, str | os.PathLike):
        raise TypeError(
            f"like is {str(like)!r}, but must be a model. Load it first: "
            f"like=comarkov.load({str(like)!r})."
        )
    reading = like if isinstance(like, Mapping) else getattr(like, "reading_", None)
    if reading is None and isinstance(like, Data):
        reading = like.reading
    return {"min_df": 1, **(reading or {})}


def similar_options(before: Mapping[str, Any], keywords: Mapping[str, Any]) -> SimilarOptions:
    """The options that are set now and, where none is, those of before."""
    ReadOptions.of(keywords)  # refuses unknown keywords
    known = {field.name for field in fields(ReadOptions)}
    options = {name: value for name, value in before.items() if name in known}
    if "names" in keywords or "rows" in keywords:  # which exclude each other
        options.pop("rows", None)
        options.pop("names", None)
    return SimilarOptions.of({**options, **keywords, "explicit": frozenset(keywords)})


def renamed_as_before(
    data: Data, before: Mapping[str, Any], names: Mapping[str, Any], encoding: str | None
) -> Data:
    """Data under the names in the files of before, if none are given now.

    New rows are often not in a file that named the old ones: they keep their ids.
    """
    for side, given in names.items():
        file = before.get(side)
        if given is not None or file is None:
            continue
        try:
            data = renamed(
                data,
                **{"row_names": None, "column_names": None, side: file},
                encoding=encoding,
                max_bytes=None,
            )
        except OSError:
            warn_user(
                f"The model has its {side.replace('_', ' ')} from {file}, which is missing: ids "
                f"stay. If the file has moved, give its new path with {side}=."
            )
        except ValueError:
            continue
    return data


def similar_kind(source: Any, before: Mapping[str, Any]) -> str | None:
    """The remembered kind, or None where the source itself shows what it is."""
    kind = before.get("kind")
    if not is_place(source):
        return kind if hasattr(source, "columns") and kind in TABULAR else None
    if not isinstance(source, str | os.PathLike) or source == "-":
        return kind
    if "://" in str(source):
        return kind if kind in TABULAR else None
    path = Path(source)
    suffix = (path.with_suffix("") if path.suffix.lower() in PACKINGS else path).suffix.lower()
    if suffix in BY_SUFFIX or path.is_dir():
        return None
    if kind == DOCUMENT and suffix in TABLES:
        return "texts"
    if (
        kind == "texts"
        and "text" in before
        and suffix not in TABLES
        and not is_json(Opened(path.name, path, suffix))
    ):
        return DOCUMENT  # the texts of the model were in a table or JSON lines, which this is not
    return kind


@dataclass(frozen=True)
class ReadRequest:
    """How a source is to be read, and what is done with the data afterwards."""

    kind: str | None
    options: ReadOptions
    names: Mapping[str, Any]  #: what replaces ids, by "row_names" and "column_names"
    before: Mapping[str, Any] | None  #: how the data of a model were read

    @classmethod
    def of(
        cls,
        source: Any,
        kind: str | None,
        names: Mapping[str, Any],
        like: Any,
        keywords: Mapping[str, Any],
    ) -> ReadRequest:
        """The keywords of ``read``; an error if one of them is wrong."""
        if kind is not None and kind not in (*KINDS, CHAIN):
            similar = did_you_mean(str(kind), KINDS)
            raise ValueError(f"kind={kind!r} is unknown.{similar} Use one of {', '.join(KINDS)}.")
        options = ReadOptions.of(keywords)
        if like is None:
            return cls(kind, options, names, None)
        before = remembered(like)
        kind = kind or similar_kind(source, before)
        return cls(kind, similar_options(before, keywords), names, before)

    def complete(self, data: Data, max_bytes: int | None) -> Data:
        """Data that were read, with names and classes from other files."""
        ids, encoding = data, self.options.encoding
        data = renamed(data, **self.names, encoding=encoding, max_bytes=max_bytes)
        if self.before is not None:
            data = renamed_as_before(data, self.before, self.names, encoding)
        data = classified(data, ids, self.options.classes, encoding)
        reading = reading_of(data, self.kind, self.options, self.names)
        return data if reading == data.reading else data.changed(reading=reading)
