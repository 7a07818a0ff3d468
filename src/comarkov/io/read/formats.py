"""The registry of formats, and the way from any source to data: open, recognise, read."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Number
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...joint.graphs import GraphEdges, from_graph
from ...joint.inputs import are_numbers
from ...joint.messages import InputError, listed, need, quote, warn_user
from ...joint.objects import EDGE_COLUMNS, is_anndata, is_frame, is_graph
from ..files import REFERENCE, data_in, is_own, is_store
from ..read_options import CHAIN, NETWORK, TEXT_KINDS, ReadOptions
from . import databases
from .bins import bins_of_dates, with_bins
from .columns import Recognised, profiles_of, recognise
from .data import Data, errors_in, from_matrix_market, from_npy, from_npz
from .edge_lists import EDGE_ROLES, EDGE_SUFFIXES, EdgeFiles, from_edges, holds_tables, roles_of
from .h5ad import from_anndata, from_h5ad
from .naming import chosen_columns, columns_in, distinct, edge_classes
from .opened import SPREADSHEET, Opened, opened
from .raw_tables import (
    RawTable,
    columns_to_drop,
    errors_of_polars,
    from_frame,
    pl,
    reason,
)
from .records import from_records
from .sequence_files import from_events, from_sequence_files, holds_sequences
from .table_files import as_chosen, detected_marks, is_json, is_parquet, table_in
from .texts import Documents, count_words, from_column, read_document, read_folder, read_text_file
from .wide import from_table, warn_of_units

GRAPH_READERS = {  # of networkx
    ".graphml": "read_graphml",
    ".gml": "read_gml",
    ".gexf": "read_gexf",
    ".net": "read_pajek",
}
NOT_READ = (".docx", ".pdf", ".xls", ".ods", ".json", ".pkl", ".pickle")


class Format(NamedTuple):
    """What reads a kind of file, and how to recognise it; tables are recognised by ``table_in``."""

    read: Callable[[Opened, ReadOptions], Data]
    suffixes: tuple[str, ...] = ()
    start: bytes | None = None  #: the first bytes


def _from_graph_file(file: Opened, options: ReadOptions, is_network: bool = False) -> Data:
    with errors_in(file.name):
        need("Reading graph files", "networkx", install="networkx")
        import networkx as nx

        try:
            graph = getattr(nx, GRAPH_READERS.get(file.suffix, "read_graphml"))(file.path)
        except Exception as error:  # of XML, of networkx, or KeyError and the like of what is odd
            advice = "Write it again, for example with networkx.write_graphml."
            raise InputError(f"not a graph file: {reason(error)}", advice=advice) from error
        return _from_graph(graph, options, file.name, is_network)


def _from_graph(graph: Any, options: ReadOptions, name: str, is_network: bool) -> Data:
    """The matrix of a graph; that of a network has all nodes as rows and as columns."""
    edges = GraphEdges.of(graph, "weight" if options.weights is None else str(options.weights))
    if not is_network:
        matrix, rows, columns = from_graph(edges)
        return Data(matrix, distinct(rows), distinct(columns), source=name)
    nodes, chosen = distinct(edges.names), columns_in(options.row_classes)
    texts = {
        key: ["" if value is None else str(value) for value in values]
        for key, values in edges.attributes.items()
        if key in chosen or all(isinstance(value, str | None) for value in values)
    }
    classes = chosen_columns(texts, options.row_classes, len(nodes))
    about = {"kind": NETWORK, "directed": edges.is_directed}
    data = Data(edges.adjacency(), nodes, nodes, "node", "node", name, reading=about)
    return data.changed(row_classes=classes, column_classes=classes)


#: Kinds of files that are no tables. The options that they take are in ``read_options``.
FORMATS = {
    "mtx": Format(from_matrix_market, (".mtx",), b"%%MatrixMarket"),
    "npy": Format(from_npy, (".npy",), b"\x93NUMPY"),
    "npz": Format(from_npz, (".npz",)),
    "h5ad": Format(from_h5ad, (".h5ad",), b"\x89HDF\r\n\x1a\n"),
    "graph": Format(_from_graph_file, tuple(GRAPH_READERS)),
    "document": Format(read_document),
    "texts": Format(read_text_file),
}
SUFFIXES = {suffix: kind for kind, each in FORMATS.items() for suffix in each.suffixes}


def kind_of_file(file: Opened) -> str | None:
    """The kind of a plain file by its suffix, then by its first bytes; None for tables."""
    if file.suffix in NOT_READ:
        problem = f"{file.suffix} files cannot be read"
        advice = "Save it as .txt if it is text, else as .csv, .xlsx or .parquet."
        raise InputError(problem, file=file.name, advice=advice)
    if file.suffix in SUFFIXES:
        return SUFFIXES[file.suffix]
    if is_json(file):
        return "texts"
    start, marks = file.content[:16], {kind: each.start for kind, each in FORMATS.items()}
    return next((kind for kind, mark in marks.items() if mark and start.startswith(mark)), None)


def is_place(source: Any) -> bool:
    """Is the source a path, an address, stdin or an open file?"""
    if isinstance(source, str | os.PathLike):
        return True
    return callable(getattr(source, "read", None))  # a data frame may have a column "read"


def read_any(source: Any, kind: str | None, options: ReadOptions) -> Data:
    """Data from an object, a database, a folder or a file."""
    if not is_place(source):
        return _from_object(source, kind, options)
    if source == "":
        raise InputError("The path is empty", advice="Give a file, or a folder such as '.'.")
    if databases.is_address(source):
        table = databases.from_database(source, options)
        return _from_table(table, kind, options, "a database")
    if isinstance(source, str | os.PathLike) and source != "-" and Path(source).is_dir():
        return _from_folder(Path(source), kind, options)
    with opened(source, options.max_bytes) as file:
        return _from_file(file, kind, options)


# --- folders and files ------------------------------------------------------------------------


def _from_folder(folder: Path, kind: str | None, options: ReadOptions) -> Data:
    if is_own(folder):
        return _from_own_folder(folder, kind, options)
    kind = None if kind == NETWORK else kind
    if kind in (None, "edges") and holds_tables(folder):
        return EdgeFiles.of([folder], options).read()
    if kind in ("sequences", CHAIN):
        return from_sequence_files(folder, options)
    if kind not in (None, *TEXT_KINDS):
        problem = f"it is a folder, but kind={kind!r} needs a file"
        raise InputError(problem, file=folder, advice="For a folder of texts use kind='texts'.")
    return read_folder(folder, options)


def _from_own_folder(folder: Path, kind: str | None, options: ReadOptions) -> Data:
    """The data in a store, or those that results were computed from."""
    if kind not in (None, CHAIN, "npz"):
        problem = "it was written by comarkov, and its data are read as they were"
        advice = f"Leave out kind={kind!r}, or give the source of the data."
        raise InputError(problem, file=folder, advice=advice)
    options.check("npz")
    from ..store.opening import open_reference, open_store  # slow to import

    if is_store(folder):
        return open_store(folder)
    if (folder / REFERENCE).is_file():
        return open_reference(folder)
    with opened(data_in(folder), options.max_bytes) as file:
        return from_npz(file, options)


def _from_file(file: Opened, kind: str | None, options: ReadOptions) -> Data:
    if kind in (CHAIN, NETWORK) and file.suffix in GRAPH_READERS:
        options.check("graph")
        return _from_graph_file(file, options, is_network=True)
    if kind == CHAIN:
        kind = "sequences" if options.columns is None and holds_sequences(file) else None
    kind = None if kind == NETWORK else kind
    if kind == "sequences" and options.columns is None:
        return from_sequence_files(file, options)
    kind = kind or (kind_of_file(file) if options.text_separator is None else "texts")
    is_table = options.text is not None or databases.kind_of_database(file) is not None
    is_table = is_table or file.suffix in (*EDGE_SUFFIXES, SPREADSHEET)
    is_table = is_table or is_json(file) or is_parquet(file)
    if kind in FORMATS and not (kind == "texts" and is_table):
        options.check(kind)
        return FORMATS[kind].read(file, options)
    with table_in(file, options) as (table, form):
        return _from_table(table, kind, options, form)


def are_edges(path: Path, options: ReadOptions) -> bool:
    """Is a file a table that is read as an edge list?"""
    with opened(path, options.max_bytes) as file:
        is_other = kind_of_file(file) is not None or file.suffix == SPREADSHEET
        if is_other or databases.kind_of_database(file) is not None:
            return False
        with table_in(file, options) as (table, _):
            return kind_of_table(as_chosen(table, options), options).kind == "edges"


# --- tables -----------------------------------------------------------------------------------


def _from_table(table: RawTable, kind: str | None, options: ReadOptions, form: str) -> Data:
    """Data from a table, whatever it came from."""
    try:
        with errors_of_polars(table):
            return _interpret(as_chosen(table, options), kind, options, form)
    except InputError as error:
        if error.ways is None:
            raise
        works = _working(table, options, form, [*error.ways, *_usual_ways(table, options)])
        calls = [", ".join(f"{k}={quote(v)}" for k, v in way.items()) for way in works]
        if calls:
            error.advice = f"It can be read with {'; or with '.join(calls)}."
        else:
            error.advice = "Correct it, or give a table in which each line has names and numbers."
        raise


MAX_WAYS = 3  # to read a table that are shown
TRIED_LINES = 1_000_000  # of a table, in which a way to read it must work


def _usual_ways(table: RawTable, options: ReadOptions) -> list[dict[str, Any]]:
    """Keywords for the other kinds of tables, with columns that suit them."""
    table = as_chosen(table, options)
    ways: list[dict[str, Any]] = [{"kind": "records"}, {"kind": "table"}]
    with suppress(InputError):  # no columns that could be rows and columns
        given = {
            role: table.label(table.field(getattr(options, role), role))
            for role in EDGE_ROLES[:2]
            if role in options.given
        }
        if given.get("rows") == given.get("columns"):
            given.pop("columns", None)
        sides = roles_of(table, ReadOptions(given))[:2]
        texts = {profile.name for profile in profiles_of(table) if profile.is_text}
        is_open = not table.has_headings and len(table.kept) <= EDGE_COLUMNS
        if given or is_open or texts.issuperset(sides):
            ways.insert(0, dict(zip(EDGE_ROLES, map(table.label, sides), strict=False)))
    return ways


def _working(
    table: RawTable, options: ReadOptions, form: str, ways: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The first ways in which a table can be read: each is tried."""
    beginning, works = replace(table, frame=table.frame.head(TRIED_LINES)), []
    for way in ways:
        given = options.given
        if not {"missing", "decimal", "thousands", "drop"} & way.keys():
            roles = {"kind", "rows", "columns", "weights", "names", "text", "time"}
            given = {name: value for name, value in given.items() if name not in roles}
        elif "drop" in way and "drop" in given:
            way = {"drop": [*columns_to_drop(given["drop"]), way["drop"]]}
        tried = ReadOptions({**given, **way}, options.before)
        with suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _interpret(as_chosen(beginning, tried), way.get("kind", given.get("kind")), tried, form)
            works.append(way)
        if len(works) == MAX_WAYS:
            break
    return works


def _interpret(table: RawTable, kind: str | None, options: ReadOptions, form: str) -> Data:
    recognised = Recognised(kind) if kind else kind_of_table(table, options)
    kind = recognised.kind
    if kind not in READERS or (kind == "sequences" and options.columns is None):
        problem = f"it is a table, so kind={kind!r} cannot be right"
        advice = "Leave it out, or use kind='edges', kind='table' or kind='records'."
        raise InputError(problem, file=table.name, advice=advice)
    options.check(kind, form)
    keywords = dict(recognised.keywords)
    if recognised.reason and kind == "edges" and options.missing is None:
        keywords["missing"] = "skip"  # in a log or a panel it is not an error
    chosen = options.changed(**keywords)
    if recognised.reason:
        warn_user(f"{table.name}: {_explain(table, kind, chosen, recognised.reason)}")
    data = READERS[kind](table, chosen)
    if kind == "sequences":
        return data
    reading = {"kind": kind, **keywords, **data.reading, **detected_marks(table)}
    return replace(data, reading=reading)


def kind_of_table(table: RawTable, options: ReadOptions) -> Recognised:
    """The kind of a table by the options, then by what its columns hold."""
    if options.stated_kind is not None:
        return Recognised(options.stated_kind)
    recognised = recognise(table)
    if recognised.kind == "unclear":
        problem = f"there are {len(table.kept)} columns of numbers and no header"
        edges = dict(zip(EDGE_ROLES, map(table.label, table.kept), strict=False))
        raise table.unsuitable(problem, [edges, {"kind": "table"}])
    if options.names is not None and recognised.kind not in ("table", "records"):
        return Recognised("table")
    return recognised


def _explain(table: RawTable, kind: str, options: ReadOptions, reason: str) -> str:
    """How a table is read, why, and how to read it differently."""
    if kind == "records":
        is_open = not any(profile.is_negative for profile in profiles_of(table))
        other = "; if all numbers are weights, use kind='table'" if is_open else ""
        return f"recognised as records ({reason}){other}."
    if kind == "texts":
        return f"recognised as texts ({reason}): words are counted; text= chooses others."
    sides = f"rows={quote(options.rows)}, columns={quote(options.columns)}"
    return f"recognised as an edge list ({reason}): {sides}; choose others, or use kind='records'."


def _read_edges(table: RawTable, options: ReadOptions) -> Data:
    """An edge list, with the classes in its other columns, and dates in bins."""
    fields = roles_of(table, options)
    bins = {} if options.bin is not None else bins_of_dates(table, fields[:2])
    if bins:
        facts = [f"{quote(name)} by {part}" for name, part in bins.items()]
        warn_user(f"{table.name}: {listed(facts)} (bin= chooses another part of the date).")
    chosen = {role: table.position[f] for role, f in zip(EDGE_ROLES, fields, strict=True) if f}
    data = from_edges(
        with_bins(table, options.changed(bin=bins or options.bin)), options.changed(**chosen)
    )
    return replace(
        data,
        reading={**data.reading, **({"bin": bins} if bins else {})},
        row_classes=edge_classes(table, fields[0], options.row_classes, data.row_names),
        column_classes=edge_classes(table, fields[1], options.column_classes, data.column_names),
    )


#: Readers of tables.
READERS: dict[str, Callable[[RawTable, ReadOptions], Data]] = {
    "edges": _read_edges,
    "table": from_table,
    "records": from_records,
    "texts": from_column,
    "sequences": from_events,
}


# --- objects ----------------------------------------------------------------------------------


def _from_object(source: Any, kind: str | None, options: ReadOptions) -> Data:
    if kind == "h5ad" or (kind is None and is_anndata(source)):
        options.check("h5ad")
        return from_anndata(source, options)
    if kind == "graph" or (kind in (None, CHAIN, NETWORK) and is_graph(source)):
        options.check("graph")
        return _from_graph(source, options, "", kind in (CHAIN, NETWORK))
    kind = None if kind == NETWORK else kind
    if isinstance(source, list) and (
        kind in TEXT_KINDS or (kind is None and _are_all(source, str))
    ):
        options.check(kind or "texts", "a list of texts")
        return count_words(Documents(None, source, {}), options, "the list of texts")
    if is_frame(source):
        return _from_data_frame(source, kind, options)
    if is_list_of_edges(source) or _are_all(source, Mapping):
        return _from_list(source, kind, options)
    if isinstance(source, dict | set) or source is None:
        advice = "Give the path of a file, a data frame or a matrix."
        raise InputError(f"A {type(source).__name__} cannot be read", advice=advice)
    if kind not in (None, CHAIN, "npz"):
        raise InputError(f"kind={kind!r} does not apply to a matrix", advice="Leave it out.")
    options.check_form(source.source if isinstance(source, Data) else None)
    options.check("npz")
    return source if isinstance(source, Data) else Data(source)


def _are_all(source: Any, kind: Any) -> bool:
    """Is it a list of items of a type, none of them empty unless they are texts?"""
    if not isinstance(source, list) or not source:
        return False
    return all(isinstance(item, kind) and (item or kind is str) for item in source)


def is_list_of_edges(source: Any) -> bool:
    """Is it a list of pairs, or of triples with a weight, in which names are text?"""
    if not _are_all(source, Sequence) or any(isinstance(item, str) for item in source):
        return False
    return any(isinstance(value, str) for value in source[0][:2])


def _from_list(source: list[Any], kind: str | None, options: ReadOptions) -> Data:
    """A list of edges, of records, or of counts by the name of the column."""
    has_pairs = is_list_of_edges(source)
    cells = [] if has_pairs else [value for record in source for value in record.values()]
    if cells and kind is None and not options.given and all(isinstance(c, Number) for c in cells):
        from sklearn.feature_extraction import DictVectorizer  # slow to import

        counter = DictVectorizer()  # columns that a dict lacks are 0
        matrix = counter.fit_transform([{str(k): v for k, v in row.items()} for row in source])
        return Data(matrix, None, counter.get_feature_names_out())
    if not has_pairs:
        frame = pl.DataFrame(source, infer_schema_length=None, strict=False)
    elif {len(edge) for edge in source} not in ({2}, {3}):
        problem, advice = "The edges of the list differ in length", "Give (row, column, weight)."
        raise InputError(problem, advice=advice)
    else:
        rows, columns, *weights = zip(*source, strict=True)
        frame = pl.DataFrame({"row": list(map(str, rows)), "column": list(map(str, columns))})
        frame = frame.with_columns(pl.Series("weight", each, strict=False) for each in weights)
    return _from_table(from_frame(frame, "the list"), kind, options, "a list")


def _from_data_frame(frame: Any, kind: str | None, options: ReadOptions) -> Data:
    """A data frame; the index of a pandas frame names its rows, unless it only counts them."""
    table = from_frame(frame, "the data frame")
    likely = kind or kind_of_table(as_chosen(table, options), options).kind
    if not hasattr(frame, "index") or options.name_column is not None:
        return _from_table(table, kind, options, "a data frame")
    is_counted = are_numbers(np.asarray(frame.index, dtype=object))
    is_complete = all(dtype.kind in "iufb" for dtype in frame.dtypes)
    is_complete = is_complete and not frame.isna().any(axis=None)
    if likely == "table" and options.drop is None and is_complete:
        options.check(likely, "a data frame")
        warn_of_units(table, [profile.name for profile in profiles_of(table)])
        return Data(frame, None if is_counted else distinct(frame.index), list(frame.columns))
    if likely in ("table", "records") and not is_counted:
        named = frame.set_axis(distinct(frame.index), axis=0)
        named = named.rename_axis(index=frame.index.name or "").reset_index()
        table = from_frame(named, "the data frame")
    return _from_table(table, kind, options, "a data frame")
