"""Bipartite graphs of networkx, read as a matrix of their edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

_MARK = "Mark every node, 0 for a row and 1 for a column: graph.nodes[{node!r}]['bipartite'] = 0"


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
            raise ValueError(
                f"The graph is not bipartite: an edge joins {u!r} and {v!r}, both "
                f"{'rows' if sides[u] == 0 else 'columns'}. Remove it: "
                f"graph.remove_edge({u!r}, {v!r})"
            )
        if isinstance(amount, str):
            raise ValueError(
                f"The edge from {u!r} to {v!r} has the weight {amount!r}, which is not a number. "
                f"Set it: graph.edges[{u!r}, {v!r}][{weight!r}] = 1"
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
        raise ValueError(
            "The graph has no nodes. Add edges: graph.add_edge('Ann', 'tea', weight=2)"
        )
    if any(mark is not None for mark in marks.values()):
        wrong = next((node for node, mark in marks.items() if str(mark) not in ("0", "1")), None)
        if wrong is not None:
            raise ValueError(
                f"Node {wrong!r} has bipartite={marks[wrong]!r}. {_MARK.format(node=wrong)}"
            )
        return {node: int(mark) for node, mark in marks.items()}
    return _by_direction(graph) if graph.is_directed() else _by_distance(graph)


def _by_direction(graph: Any) -> dict[Any, int]:
    sources = {u for u, _ in graph.edges()}
    targets = {v for _, v in graph.edges()}
    for node in graph:
        if (node in sources) == (node in targets):
            raise ValueError(
                f"Node {node!r} is neither only a source nor only a target of edges, so that it "
                f"could be a row or a column. {_MARK.format(node=node)}"
            )
    return {node: int(node in targets) for node in graph}


def _by_distance(graph: Any) -> dict[Any, int]:
    """The first node and all nodes at an even distance from it are rows."""
    import networkx as nx  # which made the graph

    depths = nx.single_source_shortest_path_length(graph, next(iter(graph)))
    if len(depths) < len(graph):
        raise ValueError(
            "The graph is in several parts, so rows and columns cannot be distinguished. "
            + _MARK.format(node=next(iter(graph)))
        )
    return {node: depth % 2 for node, depth in depths.items()}
