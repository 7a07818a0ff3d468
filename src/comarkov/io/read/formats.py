"""What a source is: which reader takes it, and which keywords that reader knows."""

from __future__ import annotations

import codecs
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, TypedDict, TypeVar

from ...joint.inputs import is_graph
from ...joint.objects import EDGE_COLUMNS, is_anndata
from .classes import as_choice
from .opened import Opened

Reader = TypeVar("Reader", bound=Callable[..., Any])
DOCUMENT = "document"  # a file is one text, in contrast to "texts", which it holds
KINDS = ("edges", "table", "texts", DOCUMENT, "sequences", "mtx", "npy", "npz", "h5ad", "graph")
CHAIN = "chain"  # sequences, or a table of transitions if the file looks like one
DECIMALS = (".", ",")
MISSING_WEIGHTS = ("skip", "0", "error")
BY_SUFFIX = {
    ".mtx": "mtx",
    ".npy": "npy",
    ".npz": "npz",
    ".h5ad": "h5ad",
    ".graphml": "graph",
    ".gml": "graph",
    ".jsonl": "texts",
    ".ndjson": "texts",
}
BY_START = {b"%%MatrixMarket": "mtx", b"\x89HDF\r\n\x1a\n": "h5ad", b"\x93NUMPY": "npy"}
JSON_LINES = (".jsonl", ".ndjson")
NOT_READ = {".xls", ".ods", ".docx", ".pdf", ".json", ".pkl", ".pickle"}

_TABULAR = {"header", "separator", "encoding", "query", "table", "sheet", "drop"}
_WEIGHTS = {"decimal", "thousands", "missing", "keep_na"}
_WORDS = {"stop_words", "min_df", "n_words"}
KNOWN = {
    "edges": _TABULAR | _WEIGHTS | {"rows", "columns", "weights"},
    "table": _TABULAR | _WEIGHTS | {"rows", "names"},
    "texts": _TABULAR | _WORDS | {"rows", "names", "text"},
    DOCUMENT: _WORDS | {"encoding"},
    "sequences": _TABULAR | {"rows", "columns", "time"},
    "mtx": {"encoding"},
    "npy": {"encoding"},
    "npz": {"encoding"},
    "h5ad": {"encoding", "layer"},
    "graph": {"encoding", "weights"},
}
# Options that a kind knows, but that do not apply to some of its forms.
_LINES = {"header", "separator", "sheet"}
_DATABASE = {"query", "table"}
_NO_COLUMNS = _LINES | _DATABASE | {"rows", "names", "text", "drop"}
UNKNOWN: dict[str | None, set[str]] = {
    "a folder": _NO_COLUMNS,
    "a list of texts": _NO_COLUMNS,
    "a sequence in each line": (_NO_COLUMNS - {"separator"}) | {"time"},
    "a text in each line": _NO_COLUMNS,
    "JSON lines": _LINES | _DATABASE | {"drop"},
    "delimited text": _DATABASE | {"sheet"},
    "an Excel file": _DATABASE | {"separator"},
    "Parquet": _LINES | _DATABASE,
    "a data frame": _LINES | _DATABASE,
    "a list": _LINES | _DATABASE,
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
    thousands: str
    missing: str | int | None
    keep_na: bool
    names: str | int | None
    drop: str | int | Sequence[str | int] | None
    sheet: str | int | None
    encoding: str | None
    text: str | int | None
    stop_words: str | list[str] | None
    min_df: int
    n_words: int | None
    query: str | None
    table: str | None
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
    thousands: str = ""
    missing: str | int | None = None
    keep_na: bool = False
    names: str | int | None = None
    drop: str | int | Sequence[str | int] | None = None
    sheet: str | int | None = None
    encoding: str | None = None
    text: str | int | None = None
    stop_words: str | list[str] | None = "english"
    min_df: int = 2
    n_words: int | None = None
    query: str | None = None
    table: str | None = None
    layer: str | None = None
    row_classes: Any = None
    column_classes: Any = None

    def __post_init__(self) -> None:
        if self.decimal not in DECIMALS:
            raise ValueError(f"decimal={self.decimal!r} must be decimal='.' or decimal=','.")
        if self.thousands and (self.thousands == self.decimal or len(self.thousands) > 1):
            raise ValueError(
                f"thousands={self.thousands!r} must be one character other than the decimal mark, "
                f"for example thousands={'.' if self.decimal == ',' else ','!r}."
            )
        if self.missing is not None and str(self.missing) not in MISSING_WEIGHTS:
            raise ValueError(
                f"missing={self.missing!r} is unknown. Use missing='skip' or missing='0' or "
                "missing='error'."
            )
        if None not in (self.rows, self.names) and self.rows != self.names:
            raise ValueError(
                f"rows={self.rows!r} and names={self.names!r} exclude each other: use names= for a "
                "wide table, and rows= with columns= for an edge list."
            )

    @property
    def row_names(self) -> str | int | None:
        """The column that names the rows of a wide table, or documents."""
        return self.rows if self.names is None else self.names

    def missing_weights(self, default: str) -> str:
        """What a missing weight means."""
        return default if self.missing is None else str(self.missing)

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

    def check_form(self, form: str | None) -> None:
        """Refuse options that do not apply to a form of source, such as a database."""
        for name in sorted(UNKNOWN.get(form, ())):
            if self.is_given(name):
                raise ValueError(f"{name}= does not apply to {form}: leave it out.")

    def check(self, kind: str, form: str | None = None) -> None:
        """Refuse options that do not apply to a kind of source, or its form: none is ignored."""
        self.check_form(form)
        for field in fields(ReadOptions):
            if field.name in CLASSES or not self.is_given(field.name):
                continue
            if field.name not in KNOWN[kind]:
                users = [name for name in KINDS if field.name in KNOWN[name]]
                raise ValueError(
                    f"{field.name}= applies to {' and '.join(users)}, but the source is read as "
                    f"{kind}. Leave it out, or state the kind, for example kind={users[0]!r}."
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
    """The kind of an object that is not the name of a file; None for tables, which need a look."""
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


def kind_of_file(file: Opened) -> str | None:
    """The kind of a plain file by its suffix, then by its first bytes; None for tables."""
    suffix = file.suffix
    if suffix in NOT_READ:
        advice = (
            "Convert it to plain text (.txt)"
            if suffix in (".pdf", ".docx")
            else "Save it as .csv, .xlsx or .parquet"
        )
        raise ValueError(f"{file.name}: {suffix} files cannot be read. {advice}.")
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    if is_json(file):
        return "texts"
    start = file.content[:16]
    return next((kind for mark, kind in BY_START.items() if start.startswith(mark)), None)


def is_json(file: Opened) -> bool:
    """Does the file begin with a JSON object, as JSON lines do?"""
    return file.content[:4096].removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"{"


def kind_of_table(options: ReadOptions, width: int) -> str:
    """The kind of a table: by the options, then by the number of its columns."""
    if options.text is not None:
        return "texts"
    if options.names is not None:
        return "table"
    if options.time is not None:
        return "sequences"
    if options.columns is not None or options.weights is not None:
        return "edges"
    return "edges" if 2 <= width <= EDGE_COLUMNS else "table"
