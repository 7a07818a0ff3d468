"""Objects of other libraries, known by their attributes: data frames, AnnData and graphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

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


# --- graphs -------------------------------------------------------------------------------------


class GraphEdges(NamedTuple):
    """The nodes and edges of a graph, of networkx or igraph."""

    nodes: list[Any]
    marks: list[Any]  # the attribute ``bipartite`` of each node, None without it
    ends: np.ndarray  # (edges, 2): numbers of nodes
    weights: np.ndarray
    is_directed: bool

    @classmethod
    def of(cls, graph: Any, weight: str | None = "weight") -> GraphEdges:
        """Read a graph; the weight of an edge is 1 if it has none."""
        read = _igraph_parts if hasattr(graph, "vs") else _networkx_parts
        nodes, marks, ends, given = read(graph, weight)
        if not nodes:
            raise InputError(
                "The graph has no nodes", advice="Add edges: graph.add_edge('Ann', 'tea', weight=2)"
            )
        for (u, v), amount in zip(ends, given, strict=True):
            if isinstance(amount, str):
                raise InputError(
                    f"The edge from {nodes[u]!r} to {nodes[v]!r} has the weight {amount!r}, which "
                    "is not a number",
                    advice=f"Set it: graph.edges[{nodes[u]!r}, {nodes[v]!r}][{weight!r}] = 1",
                )
        weights = np.array([1 if amount is None else amount for amount in given], np.float64)
        places = np.array(ends, np.int64).reshape(-1, 2)
        return cls(nodes, marks, places, weights, bool(graph.is_directed()))

    @property
    def names(self) -> list[str]:
        """The nodes as text."""
        return [str(node) for node in self.nodes]

    def adjacency(self) -> sp.csr_array:
        """Weights by (node, node); an edge without a direction is in both places."""
        n, (u, v), weights = len(self.nodes), self.ends.T, self.weights
        if not self.is_directed:
            back = u != v
            u, v = np.concatenate([u, v[back]]), np.concatenate([v, u[back]])
            weights = np.concatenate([weights, weights[back]])
        return sp.coo_array((weights, (u, v)), shape=(n, n)).tocsr()

    def sides(self) -> np.ndarray | None:
        """0 for the nodes that are rows and 1 for columns; None if nodes are one set of things."""
        if any(mark is not None for mark in self.marks):
            for node, mark in zip(self.nodes, self.marks, strict=True):
                if str(mark) not in ("0", "1", "False", "True"):
                    raise _unmarked(node, f"Node {node!r} has bipartite={mark!r}")
            return np.array([int(str(mark) in ("1", "True")) for mark in self.marks])
        if self.is_directed:
            is_source, is_target = (np.isin(np.arange(len(self.nodes)), e) for e in self.ends.T)
            return None if (is_source == is_target).any() else is_target.astype(int)
        return self._sides_by_distance()

    def _sides_by_distance(self) -> np.ndarray | None:
        """The first node and all nodes at an even distance from it are rows."""
        links = self.adjacency()
        sides = np.full(len(self.nodes), -1)
        while (sides < 0).any():
            first = int(sides.argmin())
            order, before = breadth_first_order(links, first, directed=False)
            sides[first] = 0
            for node in order[1:]:
                sides[node] = 1 - sides[before[node]]
            has_several = first > 0 or (sides < 0).any()
        u, v = self.ends.T
        if (sides[u] == sides[v]).any():
            return None
        if has_several:
            problem = "The graph is in several parts, so rows and columns are unclear"
            raise _unmarked(self.nodes[0], problem)
        return sides


def is_graph(X: Any) -> bool:
    """Is X a graph of networkx or igraph?"""
    return any(
        all(hasattr(X, part) for part in (*parts, "is_directed"))
        for parts in (("nodes", "edges", "adj"), ("vs", "es"))
    )


def _networkx_parts(graph: Any, weight: str | None) -> tuple[list[Any], list[Any], Any, list[Any]]:
    nodes = list(graph)
    number = {node: i for i, node in enumerate(nodes)}
    edges = [(number[u], number[v], data.get(weight)) for u, v, data in graph.edges(data=True)]
    marks = [data.get("bipartite") for _, data in graph.nodes(data=True)]
    return nodes, marks, [edge[:2] for edge in edges], [edge[2] for edge in edges]


def _igraph_parts(graph: Any, weight: str | None) -> tuple[list[Any], list[Any], Any, list[Any]]:
    n, known = graph.vcount(), graph.vs.attributes()
    nodes = list(graph.vs["name"]) if "name" in known else list(range(n))
    mark = next((name for name in ("bipartite", "type") if name in known), None)
    marks = [None] * n if mark is None else list(graph.vs[mark])
    has_weights = weight in graph.es.attributes()
    weights = list(graph.es[weight]) if has_weights else [None] * graph.ecount()
    return nodes, marks, graph.get_edgelist(), weights


def from_graph(
    graph: Any, weight: str | None = "weight"
) -> tuple[sp.csr_array, list[str], list[str]]:
    """The matrix of a graph for co-clustering, and the names of its rows and columns.

    Rows are the nodes whose attribute ``bipartite`` is 0, columns those with 1, as in networkx.
    Without the attribute, the rows of a directed graph are the sources of edges if no node is both
    source and target, and those of a connected undirected graph are the nodes on the side of the
    first node if no edge joins two nodes of a side. The nodes of any other graph are both rows and
    columns. The weight of an edge is its attribute ``weight``, or 1 without it; parallel edges are
    added up.
    """
    edges = GraphEdges.of(graph, weight)
    sides, names = edges.sides(), np.array(edges.names, dtype=object)
    if sides is None:
        return edges.adjacency(), list(names), list(names)
    u, v = edges.ends.T
    inside = np.flatnonzero(sides[u] == sides[v])
    if inside.size:
        first, second = (edges.nodes[i] for i in edges.ends[inside[0]])
        raise InputError(
            f"The graph is not bipartite: an edge joins {first!r} and {second!r}, both "
            f"{('rows', 'columns')[sides[u[inside[0]]]]}",
            advice="To find groups of nodes of any graph, pass comarkov.communities(graph)",
        )
    place = np.where(sides == 0, np.cumsum(sides == 0), np.cumsum(sides == 1)) - 1
    rows, columns = np.where(sides[u] == 0, u, v), np.where(sides[u] == 0, v, u)
    shape = int((sides == 0).sum()), int((sides == 1).sum())
    matrix = sp.coo_array((edges.weights, (place[rows], place[columns])), shape).tocsr()
    return matrix, list(names[sides == 0]), list(names[sides == 1])


def _unmarked(node: Any, problem: str) -> InputError:
    mark = f"graph.nodes[{node!r}]['bipartite'] = 0"
    return InputError(problem, advice=f"Mark every node, 0 for a row and 1 for a column: {mark}")
