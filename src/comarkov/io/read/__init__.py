"""Data in: edge lists, tables, matrices, graphs, databases and texts, from files or objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from ...joint.messages import as_plural
from ...joint.scale import are_whole
from ..read_options import NETWORK, READ_OPTIONS, TABULAR, ReadKeywords, ReadOptions, spell_out
from .data import Data
from .formats import SUFFIXES, is_place, read_any
from .h5ad import write_h5ad
from .naming import classify, rename
from .opened import Opened, plain_suffix
from .table_files import is_json
from .texts import DOCUMENT, words_in

__all__ = ["Data", "read", "records", "write_h5ad"]

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx", ".db", ".sqlite", ".duckdb", ".jsonl")


@spell_out
def read(source: Any, **keywords: Unpack[ReadKeywords]) -> Data:
    """Read a nonnegative matrix with names from a file, a folder, a database or an object.

    The kind of the source is detected from the type of an object, the extension of a file
    (without .gz, .zst or .zip) or its first bytes. Tables are CSV, TSV, Excel and Parquet files,
    results of database queries and data frames. A table is read as texts if you name their column
    with ``text``, as an edge list if you name ``columns`` or ``weights``, and otherwise as its
    columns suggest: a wide table, an edge list, texts or records. ``kind`` overrides this.

    Parameters
    ----------
    source : path, address, "-", open file or object
        A file; a folder of texts, of Parquet or CSV files with edges, of results (which hold their
        data), or one that :func:`comarkov.pack` wrote; a database, such as
        "sqlite:///shop.db"; "-" for stdin; a pandas or polars data frame, AnnData, a graph of
        networkx or igraph, an array, a list of texts.
    KEYWORDS

    Returns
    -------
    Data
        The matrix with its names, ready for :meth:`CoClustering.fit`. If documents, observations,
        nodes or rows of a data frame share a name, their positions are added to it.

    Examples
    --------
    >>> import io, comarkov
    >>> edges = io.BytesIO(b"user,item,rating\\nAnn,tea,2\\nBob,rum,1\\nAnn,rum,1\\n")
    >>> data = comarkov.read(edges)
    >>> data
    Data(2 users x 2 items, 3 entries, from the open file)
    >>> print(data.row_names, data.column_names, data.matrix.toarray(), sep="\\n")
    ['Ann' 'Bob']
    ['rum' 'tea']
    [[1. 2.]
     [1. 0.]]
    """
    request = ReadRequest.of(source, keywords)
    return request.complete(read_any(source, request.kind, request.options))


@spell_out
def records(source: Any, **keywords: Unpack[ReadKeywords]) -> Data:
    """Read records, a table of mixed columns, as a matrix of rows by categories.

    It is :func:`read` with ``kind="records"``. Each value of a column of text, and each interval
    of a column of numbers, is a category. A row has the mass 1 in each column, or 0 where the
    value is missing. Identifiers, names and free text are set aside, with a note.

    Parameters
    ----------
    source : path, address, "-", open file, data frame or list of dict
        A table.
    KEYWORDS

    Returns
    -------
    Data
        The matrix with its names, ready for :meth:`CoClustering.fit`.

    Examples
    --------
    >>> import comarkov
    >>> people = [{"sex": "f", "smokes": "no"}, {"sex": "m", "smokes": "yes"}] * 10
    >>> comarkov.records(people).column_names.tolist()
    ['sex = f', 'sex = m', 'smokes = no', 'smokes = yes']
    """
    keywords["kind"] = "records"
    return read(source, **keywords)


@dataclass(frozen=True)
class ReadRequest:
    """How a source is to be read, and what is done with the data afterwards."""

    kind: str | None
    options: ReadOptions

    @classmethod
    def of(cls, source: Any, keywords: Mapping[str, Any]) -> ReadRequest:
        """The keywords of ``read``; an error if one of them is wrong."""
        like = keywords.get("like")
        if isinstance(like, str | os.PathLike):
            example = f"like=comarkov.load({str(like)!r})"
            raise TypeError(
                f"like is {str(like)!r}, but must be a model. Load it first: {example}."
            )
        reading = like if isinstance(like, Mapping) else getattr(like, "reading_", None)
        if reading is None:
            reading = like.reading if isinstance(like, Data) else {}
        before = {} if like is None else {"min_df": 1, **reading}
        options = ReadOptions.of(keywords, before)
        stop_words = options.given.get("stop_words", "")
        if isinstance(stop_words, str | os.PathLike) and os.path.isfile(stop_words):
            options = options.changed(stop_words=words_in(Path(stop_words), options.encoding))
        return cls(options.given.get("kind") or _similar_kind(source, before), options)

    def complete(self, data: Data) -> Data:
        """Data that were read, with names, classes and kinds from elsewhere."""
        options = self.options
        data = classify(rename(data, options), data, options)
        kinds = {name: getattr(options, name) for name in ("row_kind", "column_kind", "entry_kind")}
        if options.entry_kind and are_whole(data.matrix.data):
            kinds["entry_kind"] = as_plural(options.entry_kind)
        if self.kind == NETWORK:  # nodes are of one kind
            kinds["column_kind"] = options.column_kind or options.row_kind
        changes: dict[str, Any] = {name: kind for name, kind in kinds.items() if kind}
        chosen = {  # the keywords for similar data: what was set, and what was detected
            name: getattr(options, name)
            for name, option in READ_OPTIONS.items()
            if option.is_remembered and getattr(options, name) != option.default
        }
        for side in ("row_names", "column_names"):
            names = options.given.get(side)
            if isinstance(names, str | os.PathLike | tuple):  # a file
                parts = names if isinstance(names, tuple) else (names,)
                chosen[side] = ":".join("" if part is None else str(part) for part in parts)
        reading = ({"kind": self.kind} if self.kind else {}) | data.reading | chosen
        changes |= {} if reading == data.reading else {"reading": reading}
        return data.changed(**changes) if changes else data


def _similar_kind(source: Any, before: Mapping[str, Any]) -> str | None:
    """The remembered kind, or None where the source itself shows what it is."""
    kind = before.get("kind")
    if kind is None:
        return None
    if not is_place(source):
        is_list = isinstance(source, list) and kind == "records"
        return kind if is_list or (hasattr(source, "columns") and kind in TABULAR) else None
    if not isinstance(source, str | os.PathLike) or source == "-":
        return kind
    if "://" in str(source):
        return kind if kind in TABULAR else None
    path = Path(source)
    suffix = plain_suffix(path)
    if suffix in SUFFIXES or path.is_dir():
        return None
    if kind == DOCUMENT and suffix in TABLE_SUFFIXES:
        return "texts"
    is_one_text = "text" in before and suffix not in TABLE_SUFFIXES
    if kind == "texts" and is_one_text and not is_json(Opened(str(path), path, suffix)):
        return DOCUMENT  # the texts of the model were in a table or JSON lines, which this is not
    return kind
