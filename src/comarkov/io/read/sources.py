"""Which reader takes a source, and what it is given."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from ...joint.inputs import are_numbers
from ...joint.messages import need
from ...joint.objects import frame_width, from_graph, is_frame
from ..files import REFERENCE, data_in, is_own, is_store
from . import databases, matrices, texts
from .classes import chosen_columns, columns_in, of_anndata, of_elements
from .data import Data
from .edge_lists import EdgeFiles, from_edges, holds_tables, refuse_wide
from .formats import (
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
from .h5ad import from_anndata, read_h5ad
from .naming import distinct
from .opened import Opened, as_utf8, decoded, opened
from .raw_tables import RawTable, from_frame, reason, table_error
from .sequence_files import from_events, from_sequence_file, from_sequence_folder, holds_sequences
from .table_files import as_chosen, header_of, table_in
from .texts import Documents, read_document, read_folder
from .wide import from_table

EDGE = ("row", "column", "weight")


def is_list_of_edges(source: Any) -> bool:
    """Is it a list of pairs, or of triples with a weight, in which names are text?"""
    return _are_all(source, Sequence) and any(isinstance(value, str) for value in source[0][:2])


def is_list_of_dicts(source: Any) -> bool:
    """Is it a list of dicts?"""
    return _are_all(source, Mapping)


def edges_frame(source: list[Sequence[Any]]) -> Any:
    """Pairs or triples as a data frame."""
    need("Reading edge lists", "polars")
    import polars as pl

    width = len(source[0])
    for number, edge in enumerate(source):
        if len(edge) != width or width not in (2, 3):
            raise ValueError(
                f"Item {number} of the list has {len(edge)} values, where the first has {width}. "
                "An edge is (row, column) or (row, column, weight)."
            )
    columns = list(zip(*source, strict=True))
    names = {name: list(map(str, values)) for name, values in zip(EDGE, columns[:2], strict=False)}
    weights = {"weight": pl.Series(columns[2], strict=False)} if width == 3 else {}
    return pl.DataFrame({**names, **weights})


def records_frame(source: list[Mapping[str, Any]]) -> Any:
    """Records as a data frame with a column for each key."""
    need("Reading records", "polars")
    import polars as pl

    return pl.DataFrame(source, infer_schema_length=None, strict=False)


def hold_counts(source: list[Mapping[str, Any]]) -> bool:
    """Is each dict a row of numbers by column, rather than a record with names in it?"""
    return all(isinstance(value, Number) for row in source for value in row.values())


def from_counts(source: list[Mapping[str, Any]]) -> Data:
    """A row for each dict, whose keys are columns; columns that a dict lacks are 0."""
    from sklearn.feature_extraction import DictVectorizer  # slow to import

    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform([{str(k): v for k, v in row.items()} for row in source])
    return Data(matrix, None, vectorizer.get_feature_names_out())


def _are_all(source: Any, kind: type) -> bool:
    if not isinstance(source, list) or not source:
        return False
    return all(isinstance(item, kind) and not isinstance(item, str) and item for item in source)


def read_any(source: Any, kind: str | None, options: ReadOptions, max_bytes: int | None) -> Data:
    """Data from an object, a database, a folder or a file."""
    if isinstance(source, Data):
        options.check("npz")
        return source
    if not is_place(source):
        return _from_object(source, kind, options)
    if databases.is_address(source):
        return _from_rows(databases.from_database(source, options), kind, options, "a database")
    if isinstance(source, str | os.PathLike) and source != "-" and Path(source).is_dir():
        if is_own(Path(source)):
            return _from_own_folder(Path(source), kind, options, max_bytes)
        if kind in (None, "edges") and holds_tables(Path(source)):
            return EdgeFiles.of([source], options, max_bytes).read()
        return _from_folder(Path(source), kind, options)
    with opened(source, max_bytes) as file:
        return _from_file(file, kind, options, max_bytes)


def _from_object(source: Any, kind: str | None, options: ReadOptions) -> Data:
    kind = kind or kind_of_object(source)
    if kind in ("h5ad", "graph"):
        options.check(kind)
    if kind == "h5ad":
        data = from_anndata(source, options.layer, "the AnnData object")
        return of_anndata(data, source, options.classes) if hasattr(source, "obs") else data
    if kind == "graph":
        return _from_graph(source, options, "")
    if isinstance(source, list) and kind in ("texts", DOCUMENT):
        options.check(kind, "a list of texts")
        documents = Documents(None, source, {})
        return _counted(documents, options, "the list of texts", DOCUMENT)
    if is_frame(source):
        return _from_data_frame(source, kind, options)
    if is_list_of_dicts(source) or is_list_of_edges(source):
        return _from_list(source, kind, options)
    if isinstance(source, dict | set) or source is None:
        raise ValueError(
            f"A {type(source).__name__} cannot be read: give the path of a file, a data frame or a "
            "matrix."
        )
    options.check("npz")
    return Data(source)


def _from_list(source: list[Any], kind: str | None, options: ReadOptions) -> Data:
    """A list of edges, of records, or of counts by the name of the column."""
    if is_list_of_edges(source):
        frame = edges_frame(source)
    elif options == ReadOptions() and kind is None and hold_counts(source):
        return from_counts(source)
    else:
        frame = records_frame(source)
    return _from_rows(from_frame(frame, "the list"), kind, options, "a list")


def _from_data_frame(frame: Any, kind: str | None, options: ReadOptions) -> Data:
    """A data frame; the index of a wide pandas frame names its rows, unless it only counts them."""
    is_stated = kind is not None
    kind = kind or kind_of_table(options, frame_width(frame))
    if kind == "table" and options.row_names is None and hasattr(frame, "index"):
        is_counted = are_numbers(np.asarray(frame.index, dtype=object))
        is_numeric = all(dtype.kind in "iufb" for dtype in frame.dtypes)
        if is_numeric and options.drop is None and not frame.isna().any(axis=None):
            options.check(kind, "a data frame")
            return Data(frame, None if is_counted else distinct(frame.index), list(frame.columns))
        if not is_counted:
            kind_of_rows = frame.index.name or ""
            frame = frame.set_axis(distinct(frame.index), axis=0)
            frame = frame.rename_axis(index=kind_of_rows).reset_index()
    table = from_frame(frame, "the data frame")
    return _from_rows(table, kind, options, "a data frame", is_stated)


def _from_own_folder(
    folder: Path, kind: str | None, options: ReadOptions, max_bytes: int | None
) -> Data:
    """The data in a store, or those that results were computed from."""
    if kind not in (None, CHAIN, "npz"):
        raise ValueError(
            f"{folder} was written by comarkov, and its data are read as they were: leave out "
            f"kind={kind!r}, or give the source of the data."
        )
    if is_store(folder) or (folder / REFERENCE).is_file():
        from ..store.opening import (
            open_reference,
            open_store,  # slow to import
        )

        options.check("npz")
        return open_store(folder) if is_store(folder) else open_reference(folder)
    with opened(data_in(folder), max_bytes) as file:
        return _from_file(file, "npz", options, max_bytes)


def _from_folder(folder: Path, kind: str | None, options: ReadOptions) -> Data:
    if kind in ("sequences", CHAIN):
        options.check("sequences", "a sequence in each line")
        return from_sequence_folder(folder, options)
    if kind not in (None, "texts", DOCUMENT):
        raise ValueError(
            f"{folder} is a folder, but kind={kind!r} needs a file. For a folder of texts use "
            "kind='texts'."
        )
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
    kind = kind or kind_of_file(file)
    if kind in READERS:
        options.check(kind)
        return READERS[kind](file, options, max_bytes)
    if kind == "texts" and (_is_json(file) or file.suffix == ".txt"):
        return _from_text_file(file, options)
    with table_in(file, kind, options, max_bytes) as (table, form):
        return _from_rows(table, kind, options, form)


def _is_json(file: Opened) -> bool:
    return file.suffix in JSON_LINES or is_json(file)


def _from_text_file(file: Opened, options: ReadOptions) -> Data:
    """JSON lines, or a text in each line."""
    if not _is_json(file):
        options.check("texts", "a text in each line")
        with as_utf8(file, options.encoding) as plain:
            content = decoded(plain.path.read_bytes(), file.name, "utf-8")
        lines = [line for line in content.splitlines() if line.strip()]
        return _counted(Documents(None, lines, {}), options, file.name)
    options.check("texts", "JSON lines")
    field = texts.TEXT if options.text is None else options.text
    documents = texts.from_json_lines(file, field, options.row_names, options.encoding)
    return _counted(documents, replace(options, text=field), file.name)


def _from_rows(
    table: RawTable, kind: str | None, options: ReadOptions, form: str, is_stated: bool = True
) -> Data:
    """Data from a table, whatever it came from, and whether the user has stated its kind."""
    from polars.exceptions import PolarsError

    try:
        return _from_table(table, kind, options, form, is_stated and kind is not None)
    except PolarsError as error:  # a file that is not a table at all
        raise table_error(table, error) from error


def _from_table(
    table: RawTable, kind: str | None, options: ReadOptions, form: str, is_stated: bool
) -> Data:
    table = as_chosen(table, options)
    kind = kind or kind_of_table(options, len(table.kept))
    if kind == "sequences" and options.columns is not None:
        options.check(kind, form)
        return from_events(table, options.rows, options.columns, options.time)
    if kind not in ("edges", "table", "texts"):
        raise ValueError(
            f"{table.name} is a table, so kind={kind!r} cannot be right. Leave it out, or use "
            "kind='edges' or kind='table'."
        )
    options.check(kind, form)
    if kind == "edges":
        data = from_edges(table, options)
        if not is_stated and table.has_headings:
            refuse_wide(data, table, options)
        data = _edge_classes(data, table, options)
    elif kind == "table":
        data = from_table(table, options, is_stated)
    else:
        text = "text" if options.text is None else options.text
        classes = columns_in(options.row_classes)
        documents = texts.from_column(table, text, options.row_names, classes)
        data = _counted(documents, replace(options, text=text), table.name)
    return replace(data, reading={"kind": kind, **data.reading, **header_of(table)})


def _edge_classes(data: Data, table: RawTable, options: ReadOptions) -> Data:
    """Data of an edge list with the classes in its other columns."""
    sides = (options.rows, options.row_classes, 0), (options.columns, options.column_classes, 1)
    rows, columns = (
        of_elements(
            table,
            table.kept[default] if chosen is None else table.field(chosen, "rows"),
            columns_in(classes),
            names,
        )
        for (chosen, classes, default), names in zip(
            sides, (data.row_names, data.column_names), strict=True
        )
    )
    return replace(data, row_classes=rows, column_classes=columns)


def _counted(documents: Documents, options: ReadOptions, source: str, kind: str = "texts") -> Data:
    words = options.stop_words, options.min_df, options.n_words
    data = texts.from_texts(documents.texts, documents.names, source, *words)
    classes = chosen_columns(documents.columns, options.row_classes, data.shape[0])
    text = {} if options.text is None else {"text": options.text}
    return replace(data, row_classes=classes, reading=data.reading | {"kind": kind} | text)


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
        raise ValueError(
            f"{file.name} is not a graph file: {reason(error)}. Write it again, for example with "
            "networkx.write_graphml."
        ) from error
    return matrices.named_errors(file.name, lambda: _from_graph(graph, options, file.name))


def _h5ad_file(file: Opened, options: ReadOptions, max_bytes: int | None) -> Data:
    annotated = read_h5ad(file.path, file.name, max_bytes)
    data = from_anndata(annotated, options.layer, file.name)
    return of_anndata(data, annotated, options.classes)


READERS: dict[str, Callable[[Opened, ReadOptions, int | None], Data]] = {
    "mtx": lambda file, options, max_bytes: matrices.from_matrix_market(file),
    "npy": lambda file, options, max_bytes: matrices.from_npy(file),
    "npz": lambda file, options, max_bytes: matrices.from_npz(file, max_bytes),
    "h5ad": _h5ad_file,
    DOCUMENT: _document,
    "graph": _graph_file,
}
