"""What a source is: which reader takes it, and which keywords that reader knows."""

from __future__ import annotations

import codecs
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self, TypedDict, TypeVar

from ..inputs import is_anndata, is_graph
from .classes import as_choice

Reader = TypeVar("Reader", bound=Callable[..., Any])
DOCUMENT = "document"  # a file is one text, in contrast to "texts", which it holds
KINDS = ("edges", "table", "texts", DOCUMENT, "sequences", "mtx", "npz", "h5ad", "graph")
CHAIN = "chain"  # sequences, or a table of transitions if the file looks like one
DECIMALS = (".", ",")
BY_SUFFIX = {
    ".mtx": "mtx",
    ".npz": "npz",
    ".h5ad": "h5ad",
    ".graphml": "graph",
    ".gml": "graph",
    ".jsonl": "texts",
    ".ndjson": "texts",
}
BY_START = {b"%%MatrixMarket": "mtx", b"\x89HDF\r\n\x1a\n": "h5ad"}
JSON_LINES = (".jsonl", ".ndjson")
NOT_READ = {".xlsx", ".xls", ".ods", ".docx", ".pdf", ".json", ".pkl", ".pickle"}

_TABULAR = {"header", "separator", "decimal", "encoding", "query"}
_WORDS = {"stop_words", "min_df", "n_words"}
KNOWN = {
    "edges": _TABULAR | {"rows", "columns", "weights"},
    "table": _TABULAR | {"rows"},
    "texts": (_TABULAR - {"decimal"}) | _WORDS | {"rows", "text"},
    DOCUMENT: _WORDS | {"encoding"},
    "sequences": (_TABULAR - {"decimal"}) | {"rows", "columns", "time"},
    "mtx": {"encoding"},
    "npz": {"encoding"},
    "h5ad": {"encoding", "layer"},
    "graph": {"encoding", "weights"},
}
# What the form of a source has no use for, although its kind knows it.
_LINES = {"header", "separator"}
UNKNOWN: dict[str | None, set[str]] = {
    "a folder": _LINES | {"rows", "text", "query"},
    "a list of texts": _LINES | {"rows", "text", "query"},
    "a sequence in each line": {"header", "rows", "time", "query"},
    "a text in each line": _LINES | {"rows", "text", "query"},
    "JSON lines": _LINES | {"query"},
    "delimited text": {"query"},
    "Parquet": _LINES | {"query"},
    "a data frame": _LINES | {"query"},
    "a database": _LINES,
}


CLASSES = ("row_classes", "column_classes")  # which go with every kind


class ReadKeywords(TypedDict, total=False):
    """The fields of ``ReadOptions`` as keywords."""

    rows: str | int | None
    columns: str | int | None
    weights: str | int | None
    time: str | int | None
    header: bool | None
    separator: str | None
    decimal: str
    encoding: str | None
    text: str | int | None
    stop_words: str | list[str] | None
    min_df: int
    n_words: int | None
    query: str | None
    layer: str | None
    row_classes: Any
    column_classes: Any


@dataclass(frozen=True)
class ReadOptions:
    """The keywords of ``read`` that only some kinds of source know."""

    rows: str | int | None = None
    columns: str | int | None = None
    weights: str | int | None = None
    time: str | int | None = None
    header: bool | None = None
    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    text: str | int | None = None
    stop_words: str | list[str] | None = "english"
    min_df: int = 2
    n_words: int | None = None
    query: str | None = None
    layer: str | None = None
    row_classes: Any = None
    column_classes: Any = None

    def __post_init__(self) -> None:
        if self.decimal not in DECIMALS:
            raise ValueError(f"decimal={self.decimal!r} must be '.' or ','.")

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> Self:
        """The options that are given as keywords of ``read``."""
        for name in keywords.keys() - {field.name for field in fields(cls)}:
            raise TypeError(f"read() got an unexpected keyword argument {name!r}")
        classes = {name: as_choice(keywords[name]) for name in CLASSES if name in keywords}
        return cls(**{**keywords, **classes})

    @property
    def classes(self) -> tuple[Any, Any]:
        """Where known classes of rows and of columns are."""
        return self.row_classes, self.column_classes

    def is_given(self, name: str) -> bool:
        """Did the user set this option?"""
        return bool(getattr(self, name) != getattr(type(self), name))

    def check(self, kind: str, form: str | None = None) -> None:
        """Refuse what a kind of source, or its form, does not know, rather than ignore it."""
        for field in fields(ReadOptions):
            if field.name in CLASSES or not self.is_given(field.name):
                continue
            if field.name in UNKNOWN.get(form, ()):
                raise ValueError(f"{field.name}= does not go with {form}.")
            if field.name not in KNOWN[kind]:
                users = ", ".join(name for name in KINDS if field.name in KNOWN[name])
                raise ValueError(
                    f"{field.name}= does not go with kind={kind!r}, only with: {users}."
                )


def spelling_out(function: Reader) -> Reader:
    """Show the fields of ``ReadOptions`` in the signature of a function that takes them."""
    shown = inspect.signature(function)
    *others, _ = shown.parameters.values()
    keywords = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type
        )
        for field in fields(ReadOptions)
    ]
    function.__signature__ = shown.replace(parameters=[*others, *keywords])  # type: ignore[attr-defined]
    return function


def kind_of_object(source: Any) -> str | None:
    """The kind of an object that is no name of a file; None for tables, which need a look."""
    if is_anndata(source):
        return "h5ad"
    if is_graph(source):
        return "graph"
    if isinstance(source, list) and source and all(isinstance(item, str) for item in source):
        return "texts"
    return None


def is_place(source: Any) -> bool:
    """Is the source a path, an address, stdin or an open file?"""
    if isinstance(source, str | os.PathLike):
        return True
    return callable(getattr(source, "read", None))  # a data frame may have a column "read"


def kind_of_file(path: Path, suffix: str, name: str) -> str | None:
    """The kind of a plain file by its suffix, then by its first bytes; None for tables."""
    if suffix in NOT_READ:
        raise ValueError(f"{name}: {suffix} files are not read; save it as CSV or Parquet.")
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    if is_json(path):
        return "texts"
    with path.open("rb") as file:
        start = file.read(16)
    return next((kind for mark, kind in BY_START.items() if start.startswith(mark)), None)


def is_json(path: Path) -> bool:
    """Does the file begin with a JSON object, as JSON lines do?"""
    with path.open("rb") as file:
        return file.read(4096).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"{"


def kind_of_table(options: ReadOptions, width: int) -> str:
    """The kind of a table: by what the user says, then by the number of its columns."""
    if options.text is not None:
        return "texts"
    if options.time is not None:
        return "sequences"
    if options.columns is not None or options.weights is not None:
        return "edges"
    return "edges" if width in (2, 3) else "table"
