"""Objects of other libraries, known by their attributes: data frames, AnnData and graphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .messages import InputError, quote
from .scale import are_whole

NUMBER_KINDS = "iufbc"  # of NumPy
TEXT_TYPES = ("String", "Categorical", "Enum")  # of polars
NOT_IN_NUMPY = ("Decimal", "Int128", "UInt128")  # numbers of polars that NumPy does not have
VALUES_TO_CHECK = 1000  # of a column, to recognise texts
DOCUMENT_WORDS = 4  # on average; names rarely have as many
EDGE_COLUMNS = 3  # columns: row, column and weight


class FrameColumns(NamedTuple):
    """Names of the columns of a data frame, by what they hold."""

    numbers: list[str]
    texts: list[str]
    others: list[str]  # dates, lists and the like

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(map(len, self))


def as_objects(items: Iterable[Any]) -> np.ndarray:
    """A 1-D array of Python objects, also if these are sequences themselves."""
    listed = list(items)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def refuse_surrogates(names: Iterable[Any], what: str) -> None:
    """Raise an error if a name is no valid text, which no file could hold after the fit."""
    texts = [name for name in names if isinstance(name, str)]
    try:
        "".join(texts).encode("utf-8")
    except UnicodeEncodeError as error:
        bad = next(text for text in texts if re.search("[\ud800-\udfff]", text))
        raise InputError(
            f"{what}: the name {quote(bad)} is not valid text, as it holds half of a character",
            advice='Replace it by name.encode("utf-8", "replace").decode().',
        ) from error


def is_frame(X: Any) -> bool:
    """Is X a data frame, of pandas or polars, lazy or not?"""
    return is_lazy(X) or hasattr(X, "columns")


def is_lazy(X: Any) -> bool:
    """Is X a lazy frame of polars?"""
    return hasattr(X, "collect_schema") and hasattr(X, "collect")


def is_pandas(frame: Any) -> bool:
    """Is it a data frame of pandas, which has an index, rather than one of polars?"""
    return hasattr(frame, "iloc")


def frame_width(frame: Any) -> int:
    """How many columns a data frame has."""
    return len(frame.collect_schema() if is_lazy(frame) else frame.columns)


def columns_of(frame: Any) -> FrameColumns:
    """The columns of a data frame that is not lazy, by what they hold."""
    kinds = FrameColumns([], [], [])
    kind = _kind_in_pandas if is_pandas(frame) else _kind_in_polars
    for position, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        getattr(kinds, kind(frame, position, dtype)).append(str(name))
    return kinds


def values_of(frame: Any, column: str) -> list[Any]:
    """All values of a column, None where they are missing."""
    position = [str(name) for name in frame.columns].index(column)
    if not is_pandas(frame):
        return list(frame.to_series(position).to_list())
    series = frame.iloc[:, position]
    return [
        None if missing else value
        for value, missing in zip(series.astype(object), series.isna(), strict=True)
    ]


def without(frame: Any, columns: Sequence[str]) -> Any:
    """The frame without these columns."""
    kept = [i for i, name in enumerate(frame.columns) if str(name) not in columns]
    return frame.iloc[:, kept] if is_pandas(frame) else frame[:, kept]


def with_numpy_numbers(frame: Any) -> Any:
    """The frame with columns of numbers that NumPy does not have, as Decimal, as floats."""
    if is_pandas(frame):
        return frame
    types = zip(frame.columns, frame.dtypes, strict=True)
    floats = {name: float for name, dtype in types if str(dtype).startswith(NOT_IN_NUMPY)}
    return frame.cast(floats) if floats else frame


def are_numerals(values: Sequence[Any]) -> bool:
    """Are all values texts that can be read as numbers?"""
    present = [value for value in values[:VALUES_TO_CHECK] if value is not None]
    if not present or not all(isinstance(value, str) for value in present):
        return False
    try:
        list(map(float, present))
    except ValueError:
        return False
    return True


def are_documents(values: Sequence[Any]) -> bool:
    """Are values texts of several words, rather than names?"""
    present = [value for value in values[:VALUES_TO_CHECK] if isinstance(value, str)]
    words = sum(len(value.split()) for value in present)
    return bool(present) and words / len(present) >= DOCUMENT_WORDS


def _kind_in_polars(frame: Any, position: int, dtype: Any) -> str:
    """The field of ``FrameColumns`` that a column belongs to."""
    if dtype.is_numeric() or str(dtype) in ("Boolean", "Null"):
        return "numbers"
    return "texts" if str(dtype).startswith(TEXT_TYPES) else "others"


def _kind_in_pandas(frame: Any, position: int, dtype: Any) -> str:
    if dtype.kind in NUMBER_KINDS:
        return "numbers"
    if dtype.kind != "O":
        return "others"
    present = frame.iloc[:, position].dropna()
    if all(isinstance(value, Number) for value in present):
        return "numbers"
    return "texts" if all(isinstance(value, str) for value in present) else "others"


X = "X"
RAW = "raw"
#: Names under which single-cell tools keep counts, the most common first.
USUAL_LAYERS = ("counts", "raw_counts", RAW, "count", "umi", "umis")


class Layer(NamedTuple):
    """One matrix of an AnnData object, under the name by which users choose it."""

    name: str
    matrix: Any
    row_names: Any
    column_names: Any
    place: str  # in the object, for messages

    def __str__(self) -> str:
        return self.place

    @property
    def choice(self) -> str:
        """The keyword of ``comarkov.read`` that chooses this matrix."""
        return f'layer="{self.name}"'


def is_anndata(annotated: Any) -> bool:
    """Is it an AnnData object? Nothing is imported: it is recognised by its attributes."""
    return all(hasattr(annotated, part) for part in ("X", "obs_names", "var_names"))


def layers(annotated: Any) -> list[Layer]:
    """All matrices: X first, then the usual layers of counts, ``.raw`` among them, then others."""
    rows, columns = annotated.obs_names, annotated.var_names
    found = {
        name: Layer(name, matrix, rows, columns, f"layers[{name!r}]")
        for name, matrix in getattr(annotated, "layers", {}).items()
        if name is not None  # which is X from anndata 0.13 on
    }
    if annotated.X is not None:
        found.setdefault(X, Layer(X, annotated.X, rows, columns, X))
    raw: Any = getattr(annotated, "raw", None)  # which may have more variables than X
    if raw is not None:
        found.setdefault(RAW, Layer(RAW, raw.X, rows, raw.var_names, ".raw"))
    first = [X] * (X in found and found[X].place == X)
    order = dict.fromkeys([*first, *(name for name in USUAL_LAYERS if name in found), *found])
    return [found[name]._replace(matrix=in_memory(found[name].matrix)) for name in order]


def weights_of(annotated: Any) -> Layer:
    """X if its values are weights; else the first other matrix of counts, or of weights.

    Scaled data have negative values, and the counts are then in a layer or in ``.raw``. Where no
    matrix holds weights this is the first, whose values are then refused.
    """
    every = layers(annotated)
    if not every:
        raise ValueError("The AnnData object has no X, no .raw and no layers.")
    if every[0].name == X and problem(every[0].matrix) is None:
        return every[0]
    others = [layer for layer in every if problem(layer.matrix) is None]
    counts = (layer for layer in others if are_whole(_values(layer.matrix)))
    return next(counts, others[0] if others else every[0])


def problem(matrix: Any) -> str | None:
    """Why values are not weights; None if they are."""
    values = _values(matrix)
    if values.size == 0:
        return None
    if values.dtype.kind not in "iufb":
        return f"values of type {values.dtype}"
    low, high = values.min(), values.max()
    if np.isnan(low) or np.isinf(high):
        return "missing or infinite values"
    return f"negative values (smallest: {low:g})" if low < 0 else None


def in_memory(matrix: Any) -> Any:
    """A matrix that may be on disk, as an array or sparse matrix."""
    if hasattr(matrix, "to_memory"):
        return matrix.to_memory()
    return matrix if sp.issparse(matrix) or isinstance(matrix, np.ndarray) else np.asarray(matrix)


def _values(matrix: Any) -> np.ndarray:
    if not sp.issparse(matrix):
        return np.asarray(matrix)
    return matrix.data if matrix.format in ("csr", "csc", "coo") else matrix.tocoo().data


def from_graph(
    graph: Any, weight: str | None = "weight"
) -> tuple[sp.csr_array, list[str], list[str]]:
    """The biadjacency matrix of a bipartite graph, and the names of its rows and columns.

    Rows are the nodes whose attribute ``bipartite`` is 0, columns those with 1, as in networkx.
    Without the attribute, the rows of a directed graph are the sources of edges, and those of a
    connected undirected graph are the nodes on the side of the first node. The weight of an edge
    is its attribute ``weight``, or 1 without it; parallel edges are added up.
    """
    sides = _sides(graph)
    rows, columns = ([node for node in graph if sides[node] == side] for side in (0, 1))
    number = {node: i for side in (rows, columns) for i, node in enumerate(side)}
    edges = [
        (u, v, 1 if weight is None or data.get(weight) is None else data[weight])
        for u, v, data in graph.edges(data=True)
    ]
    for u, v, amount in edges:
        if sides[u] == sides[v]:
            raise InputError(
                f"The graph is not bipartite: an edge joins {u!r} and {v!r}, both "
                f"{'rows' if sides[u] == 0 else 'columns'}",
                advice=f"Remove it: graph.remove_edge({u!r}, {v!r})",
            )
        if isinstance(amount, str):
            raise InputError(
                f"The edge from {u!r} to {v!r} has the weight {amount!r}, which is not a number",
                advice=f"Set it: graph.edges[{u!r}, {v!r}][{weight!r}] = 1",
            )
    ends = [(u, v) if sides[u] == 0 else (v, u) for u, v, _ in edges]
    places = ([number[u] for u, _ in ends], [number[v] for _, v in ends])
    amounts = np.array([amount for *_, amount in edges], dtype=np.float64)
    shape = (len(rows), len(columns))
    matrix = sp.coo_array((amounts, (np.array(places[0], int), np.array(places[1], int))), shape)
    return matrix.tocsr(), [str(node) for node in rows], [str(node) for node in columns]


def _sides(graph: Any) -> dict[Any, int]:
    """0 for the nodes that are rows, 1 for those that are columns."""
    marks = {node: data.get("bipartite") for node, data in graph.nodes(data=True)}
    if not marks:
        raise InputError(
            "The graph has no nodes", advice="Add edges: graph.add_edge('Ann', 'tea', weight=2)"
        )
    if any(mark is not None for mark in marks.values()):
        for node, mark in marks.items():
            if str(mark) not in ("0", "1"):
                raise _unmarked(node, f"Node {node!r} has bipartite={mark!r}")
        return {node: int(mark) for node, mark in marks.items()}
    if not graph.is_directed():
        return _by_distance(graph)
    sources, targets = {u for u, _ in graph.edges()}, {v for _, v in graph.edges()}
    for node in graph:
        if (node in sources) == (node in targets):
            raise _unmarked(node, f"Node {node!r} could be a row or a column, by its edges")
    return {node: int(node in targets) for node in graph}


def _by_distance(graph: Any) -> dict[Any, int]:
    """The first node and all nodes at an even distance from it are rows."""
    import networkx as nx  # which made the graph

    first = next(iter(graph))
    depths = nx.single_source_shortest_path_length(graph, first)
    if len(depths) < len(graph):
        raise _unmarked(first, "The graph is in several parts, so rows and columns are unclear")
    return {node: depth % 2 for node, depth in depths.items()}


def _unmarked(node: Any, problem: str) -> InputError:
    mark = f"graph.nodes[{node!r}]['bipartite'] = 0"
    return InputError(problem, advice=f"Mark every node, 0 for a row and 1 for a column: {mark}")
