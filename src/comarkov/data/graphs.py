"""Bipartite graphs of networkx, read as a matrix of their edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def from_graph(
    graph: Any, weight: str | None = "weight"
) -> tuple[sp.csr_array, list[str], list[str]]:
    """The biadjacency matrix of a bipartite graph, and the names of its rows and columns.

    Rows are the nodes whose attribute ``bipartite`` is 0, columns those with 1, as networkx has
    it. Without the attribute, rows of a directed graph are the nodes that edges come from, and
    those of an undirected one are the nodes on the side of the first node, if it is connected.
    An edge weighs what its attribute ``weight`` says, or 1; parallel edges are added up.
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
                f"The graph is not bipartite: an edge joins {u!r} and {v!r}, both on one side."
            )
        if isinstance(amount, str):
            raise ValueError(f"The edge from {u!r} to {v!r} has the weight {amount!r}: no number.")
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
        raise ValueError("The graph has no nodes.")
    given = {node for node, mark in marks.items() if mark is not None}
    if given:
        wrong = next((node for node, mark in marks.items() if str(mark) not in ("0", "1")), None)
        if wrong is not None:
            raise ValueError(
                f"Node {wrong!r} has bipartite={marks[wrong]!r}: give every node 0 (a row) or 1 "
                "(a column)."
            )
        return {node: int(mark) for node, mark in marks.items()}
    return _by_direction(graph) if graph.is_directed() else _by_distance(graph)


def _by_direction(graph: Any) -> dict[Any, int]:
    sources = {u for u, _ in graph.edges()}
    targets = {v for _, v in graph.edges()}
    for node in graph:
        if (node in sources) == (node in targets):
            raise ValueError(
                f"Node {node!r} is neither only a source nor only a target of edges: give nodes "
                "the attribute bipartite, 0 for rows and 1 for columns."
            )
    return {node: int(node in targets) for node in graph}


def _by_distance(graph: Any) -> dict[Any, int]:
    """The first node and all at even distances from it are rows; then edges join two sides."""
    import networkx as nx  # which made the graph

    depths = nx.single_source_shortest_path_length(graph, next(iter(graph)))
    if len(depths) < len(graph):
        raise ValueError(
            "The graph is in several parts, so that nothing tells which nodes are rows: give nodes "
            "the attribute bipartite, 0 for rows and 1 for columns."
        )
    return {node: depth % 2 for node, depth in depths.items()}
