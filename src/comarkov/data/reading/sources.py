"""Which reader takes a source, and what it is given."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import need
from ..graphs import from_graph
from ..inputs import are_numbers, frame_width, is_frame
from . import databases, matrices, texts
from .classes import chosen_columns, columns_in, of_anndata, of_elements
from .data import Data
from .delimited import from_lines, is_numbered
from .edges import from_edges
from .faults import fault
from .folders import read_document, read_folder
from .h5ad import from_anndata, read_h5ad
from .kinds import (
    CHAIN,
    DOCUMENT,
    JSON_LINES,
    ReadOptions,
    is_json,
    is_place,
    kind_of_file,
    kind_of_object,
    kind_of_table,
)
from .naming import distinct
from .opening import Opened, as_utf8, decoded, opened
from .sequences import (
    from_events,
    from_sequence_file,
    from_sequence_folder,
    holds_sequences,
)
from .tables import RawTable, from_frame, from_parquet, is_number, is_parquet, listed, reason
from .texts import Documents
from .wide import from_table


def read_any(source: Any, kind: str | None, options: ReadOptions, max_bytes: int | None) -> Data:
    """Data from an object, a database, a folder or a file."""
    if isinstance(source, Data):
        options.check("npz")
        return source
    if not is_place(source):
        return _from_object(source, kind, options)
    if databases.is_uri(source):
        table = databases.from_database(source, options.query)
        return _from_rows(table, kind, options, "a database")
    if isinstance(source, str | os.PathLike) and source != "-" and Path(source).is_dir():
        return _from_folder(Path(source), kind, options)
    with opened(source, max_bytes) as file:
        return _from_file(file, kind, options, max_bytes)


def _from_object(source: Any, kind: str | None, options: ReadOptions) -> Data:
    kind = kind or kind_of_object(source)
    if kind in ("h5ad", "graph"):
        options.check(kind)
    if kind == "h5ad":
        data = from_anndata(source, options.layer, "the AnnData object")
        return of_anndata(data, source, options.classes)
    if kind == "graph":
        return _from_graph(source, options, "")
    if isinstance(source, list) and kind in ("texts", DOCUMENT):
        options.check(kind, "a list of texts")
        documents = Documents(None, source, {})
        return _counted(documents, options, "the list of texts", DOCUMENT)
    if is_frame(source):
        return _from_data_frame(source, kind, options)
    if isinstance(source, dict | set) or source is None:
        raise ValueError(f"{type(source).__name__} is not read: give a file, a frame or a matrix.")
    options.check("npz")
    return Data(source)


def _from_data_frame(frame: Any, kind: str | None, options: ReadOptions) -> Data:
    """A data frame; the index of a wide pandas frame names its rows, unless it is only numbers."""
    kind = kind or kind_of_table(options, frame_width(frame))
    if kind == "table" and options.rows is None and hasattr(frame, "index"):
        is_numbered_only = are_numbers(np.asarray(frame.index, dtype=object))
        if not is_numbered_only or frame.dtypes.iloc[0].kind in "iufb":
            options.check(kind, "a data frame")
            row_names = None if is_numbered_only else distinct(frame.index)
            return Data(frame, row_names, list(frame.columns))
    return _from_rows(from_frame(frame, "the data frame"), kind, options, "a data frame")


def _from_folder(folder: Path, kind: str | None, options: ReadOptions) -> Data:
    if kind in ("sequences", CHAIN):
        options.check("sequences", "a sequence in each line")
        return from_sequence_folder(folder, options)
    if kind not in (None, "texts", DOCUMENT):
        raise ValueError(f"{folder} is a folder: for kind={kind!r} a file is wanted.")
    options.check("texts", "a folder")
    documents = read_folder(folder, options.encoding)
    data = _counted(documents, options, str(folder), DOCUMENT)
    return data if options.row_classes else replace(data, row_classes=dict(documents.columns))


def _from_file(file: Opened, kind: str | None, options: ReadOptions, max_bytes: int | None) -> Data:
    if kind == CHAIN:
        kind = "sequences" if options.columns is None and holds_sequences(file) else None
    if kind == "sequences" and options.columns is None:
        options.check(kind, "a sequence in each line")
        return from_sequence_file(file, options)
    kind = kind or kind_of_file(file.path, file.suffix, file.name)
    if kind in READERS:
        options.check(kind)
        return READERS[kind](file, options, max_bytes)
    if kind == "texts" and (_is_json(file) or file.suffix == ".txt"):
        return _from_text_file(file, options)
    if databases.is_sqlite(file.path):
        table = databases.from_sqlite(file.path, options.query, file.name)
        return _from_rows(table, kind, options, "a database")
    if is_parquet(file.path):
        return _from_rows(from_parquet(file), kind, options, "Parquet")
    said = (options.rows, options.columns, options.weights, options.text, options.time)
    with as_utf8(file, options.encoding) as plain:
        table = from_lines(plain, options.header, options.separator, said)
        data = _from_rows(table, kind, options, "delimited text")
        if options.header is None and options.text is None and table.lines is not None:
            _doubt(data, table, table.lines.has_header)
        return data


def _doubt(data: Data, table: RawTable, has_header: bool) -> None:
    """A note if it is not sure whether the first line is a header."""
    words = table.columns if has_header else table.frame.head(1).fill_null("").collect().row(0)
    is_named = bool(words[0]) and not is_number(words[0])
    if has_header:
        taken = "a header" if is_named and is_numbered(words) else None
    elif len(words) > 3:
        taken = "a row" if is_named and len(set(words)) == len(words) else None
    else:
        taken = "an edge" if _is_apart(data, words) else None
    if taken is not None:
        advice = (
            "a row, say so: header=False, --no-header."
            if has_header
            else "a header, say so: header=True, --header."
        )
        warnings.warn(
            f"{table.name}: the first line ({listed(words)}) is taken for {taken}. "
            f"If it is {advice}",
            stacklevel=4,
        )


def _is_apart(data: Data, words: Sequence[str]) -> bool:
    """Does the first line of an edge list hold words that are nowhere below it?"""
    if any(not word or is_number(word) for word in words):
        return False
    rows, columns = (
        np.flatnonzero(np.isin(names, words)) for names in (data.row_names, data.column_names)
    )
    mine = data.matrix[rows].sum(), data.matrix[:, columns].sum()
    return rows.size == columns.size == 1 < data.matrix.nnz and set(mine) == {1}


def _is_json(file: Opened) -> bool:
    return file.suffix in JSON_LINES or is_json(file.path)


def _from_text_file(file: Opened, options: ReadOptions) -> Data:
    """JSON lines, or a text in each line."""
    if not _is_json(file):
        options.check("texts", "a text in each line")
        with as_utf8(file, options.encoding) as plain:
            content = decoded(plain.path.read_bytes(), file.name, "utf-8")
        lines = [line for line in content.splitlines() if line.strip()]
        return _counted(Documents(None, lines, {}), options, file.name)
    options.check("texts", "JSON lines")
    documents = texts.from_json_lines(file, options.text, options.rows, options.encoding)
    return _counted(documents, options, file.name)


def _from_rows(table: RawTable, kind: str | None, options: ReadOptions, form: str) -> Data:
    """Data from a table, whatever it came from."""
    from polars.exceptions import PolarsError

    try:
        return _from_table(table, kind, options, form)
    except PolarsError as error:  # a file that is nothing of the kind
        raise fault(table, (), (), error) from error


def _from_table(table: RawTable, kind: str | None, options: ReadOptions, form: str) -> Data:
    is_said = kind is not None
    table = replace(table, decimal=options.decimal)
    kind = kind or kind_of_table(options, len(table.fields))
    if kind == "sequences" and options.columns is not None:
        options.check(kind, form)
        return from_events(table, options.rows, options.columns, options.time)
    if kind not in ("edges", "table", "texts"):
        raise ValueError(f"{table.name} is a table: kind={kind!r} is something else.")
    options.check(kind, form)
    if kind == "edges":
        data = from_edges(table, options.rows, options.columns, options.weights)
        data = _edge_classes(data, table, options)
    elif kind == "table":
        data = from_table(table, options.rows, is_said)
    else:
        text = "text" if options.text is None else options.text
        classes = columns_in(options.row_classes)
        documents = texts.from_column(table, text, options.rows, classes)
        data = _counted(documents, options, table.name)
    header = {} if table.lines is None else {"header": table.lines.has_header}
    return replace(data, reading={"kind": kind, **data.reading, **header})


def _edge_classes(data: Data, table: RawTable, options: ReadOptions) -> Data:
    """Data of an edge list with the classes in its other columns."""
    sides = (options.rows, options.row_classes, 0), (options.columns, options.column_classes, 1)
    rows, columns = (
        of_elements(
            table, table.field(default if chosen is None else chosen, "rows"), columns_in(c), names
        )
        for (chosen, c, default), names in zip(
            sides, (data.row_names, data.column_names), strict=True
        )
    )
    return replace(data, row_classes=rows, column_classes=columns)


def _counted(documents: Documents, options: ReadOptions, source: str, kind: str = "texts") -> Data:
    words = options.stop_words, options.min_df, options.n_words
    data = texts.from_texts(documents.texts, documents.names, source, *words)
    classes = chosen_columns(documents.columns, options.row_classes, data.shape[0])
    reading = {"kind": kind, "min_df": 1}  # similar texts may be few
    return replace(data, row_classes=classes, reading=reading)


def _document(file: Opened, options: ReadOptions, max_bytes: int | None) -> Data:
    return _counted(read_document(file, options.encoding), options, file.name, DOCUMENT)


def _from_graph(graph: Any, options: ReadOptions, name: str) -> Data:
    weight = "weight" if options.weights is None else str(options.weights)
    matrix, rows, columns = from_graph(graph, weight)
    return Data(matrix, distinct(rows), distinct(columns), source=name)


def _graph_file(file: Opened, options: ReadOptions, max_bytes: int | None) -> Data:
    need("Reading graph files", "networkx", install="networkx")
    import networkx as nx

    try:
        graph = nx.read_gml(file.path) if file.suffix == ".gml" else nx.read_graphml(file.path)
    except Exception as error:  # of XML, of networkx, or KeyError and the like of what is odd
        raise ValueError(f"{file.name} is no graph file: {reason(error)}.") from error
    return matrices.named_errors(file.name, lambda: _from_graph(graph, options, file.name))


def _h5ad_file(file: Opened, options: ReadOptions, max_bytes: int | None) -> Data:
    annotated = read_h5ad(file.path, file.name)
    data = from_anndata(annotated, options.layer, file.name)
    return of_anndata(data, annotated, options.classes)


READERS: dict[str, Callable[[Opened, ReadOptions, int | None], Data]] = {
    "mtx": lambda file, options, max_bytes: matrices.from_matrix_market(file),
    "npz": lambda file, options, max_bytes: matrices.from_npz(file, max_bytes),
    "h5ad": _h5ad_file,
    DOCUMENT: _document,
    "graph": _graph_file,
}
