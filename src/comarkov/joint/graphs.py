"""Graphs of networkx and igraph, as matrices with names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .messages import InputError


class GraphEdges(NamedTuple):
    """The nodes and edges of a graph, of networkx or igraph."""

    nodes: list[Any]
    marks: list[Any]  # the attribute ``bipartite`` of each node, None without it
    ends: np.ndarray  # (edges, 2): numbers of nodes
    weights: np.ndarray
    is_directed: bool
    attributes: dict[str, list[Any]]  # of nodes, None where one has none

    @classmethod
    def of(cls, graph: Any, weight: str | None = "weight") -> GraphEdges:
        """Read a graph; the weight of an edge is 1 if it has none."""
        read = _igraph_parts if hasattr(graph, "vs") else _networkx_parts
        nodes, known, ends, given = read(graph, weight)
        mark = next((name for name in ("bipartite", "type") if name in known), None)
        marks = [None] * len(nodes) if mark is None else known[mark]
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
        attributes = {
            name: values
            for name, values in known.items()
            if name not in ("bipartite", "label", "name", "type", "id")
        }
        return cls(nodes, marks, places, weights, bool(graph.is_directed()), attributes)

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
        """0 for the nodes that are rows and 1 for columns; None if nodes are one set of things.

        It is their attribute ``bipartite``, as in networkx. Without it, rows are the sources of a
        directed graph, if no node is both source and target, and the side of the first node of a
        connected undirected graph, if no edge joins two nodes of a side.
        """
        if any(mark is not None for mark in self.marks):
            for node, mark in zip(self.nodes, self.marks, strict=True):
                if str(mark) not in ("0", "1", "False", "True"):
                    raise _unmarked(node, f"Node {node!r} has bipartite={mark!r}")
            return np.array([int(str(mark) in ("1", "True")) for mark in self.marks])
        if self.is_directed:
            is_source, is_target = (np.isin(np.arange(len(self.nodes)), e) for e in self.ends.T)
            return None if (is_source == is_target).any() else is_target.astype(int)
        return self._sides_of_links()

    def _sides_of_links(self) -> np.ndarray | None:
        """The first node and all nodes at an even distance from it are rows.

        Every node is there twice, linked to the others of its neighbours: both are connected if a
        circle of links has an odd length.
        """
        n, links = len(self.nodes), self.adjacency()
        n_parts, part = connected_components(sp.block_array([[None, links], [links, None]]))
        if (part[:n] == part[n:]).any():
            return None
        if n_parts > 2:
            problem = "The graph is in several parts, so rows and columns are unclear"
            raise _unmarked(self.nodes[0], problem)
        return (part[:n] != part[0]).astype(int)


def _networkx_parts(graph: Any, weight: str | None) -> tuple[list[Any], Any, Any, list[Any]]:
    nodes, attributes = list(graph), [data for _, data in graph.nodes(data=True)]
    number = {node: i for i, node in enumerate(nodes)}
    edges = [(number[u], number[v], data.get(weight)) for u, v, data in graph.edges(data=True)]
    known = {name: [data.get(name) for data in attributes] for data in attributes for name in data}
    known.pop("type", None)  # it is igraph that calls the sides so
    return nodes, known, [edge[:2] for edge in edges], [edge[2] for edge in edges]


def _igraph_parts(graph: Any, weight: str | None) -> tuple[list[Any], Any, Any, list[Any]]:
    known = {name: list(graph.vs[name]) for name in graph.vs.attributes()}
    nodes = known.get("name", list(range(graph.vcount())))
    has_weights = weight in graph.es.attributes()
    weights = list(graph.es[weight]) if has_weights else [None] * graph.ecount()
    return nodes, known, graph.get_edgelist(), weights


def from_graph(edges: GraphEdges) -> tuple[sp.csr_array, list[str], list[str]]:
    """The matrix of a graph for co-clustering, and the names of its rows and columns.

    See ``GraphEdges.sides``; the nodes of a graph without sides are both rows and columns. The
    weight of an edge is its attribute ``weight``, or 1 without it; parallel edges are added up.
    """
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
