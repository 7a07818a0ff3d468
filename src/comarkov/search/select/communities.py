"""Groups of the nodes of a network, as many as shorten its description.

Edges are described by a planted partition with given degrees: nodes of one group are linked more
often than their degrees explain. Single nodes move between the groups of their neighbours, then
whole groups do, as in Louvain's method. The search begins as if there were twice as many edges,
which keeps it from stopping at one group.

Edges between similar things come in triangles: they say the same thing several times. If groups
have more triangles than edges that are independent would close, each edge counts less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.labels import membership
from ...costs.selection import ln_choose
from ...joint.joint import Joint
from ...kernels import planted_partition as moves
from ..run import Budget, Purpose, Run

FIRST_EVIDENCE = 2.0  # edges count this often at first
WEAK = 0.1  # of what is saved at first: if less is left, the prior has merged too many groups ...
WEAK_EVIDENCE = 1.5  # ... and edges count this often
MIN_STARTS, MAX_STARTS = 2, 10  # of large and of small networks
MAX_CLIMBS = 6  # from the result of the last one
LEAST_SAVED = 1e-6  # nats
SAME_LENGTH = 1e-3  # a start that saves less than this share more is the last
MAX_PATHS = 20_000  # of two edges, drawn to count triangles


class Communities(NamedTuple):
    """Groups of nodes, and how they were chosen."""

    labels: np.ndarray  # -1 for nodes without edges
    is_weak: bool

    @property
    def reason(self) -> str:
        """Why there are as many groups, in words."""
        k = int(self.labels.max()) + 1
        if k == 1:
            return "1 group: no division into groups describes the edges better than degrees alone."
        if self.is_weak:
            return f"{k} groups: one possible view, because the evidence for groups is weak."
        return f"{k} groups give the shortest description of the edges."


def communities(data: Joint, run: Run) -> Communities:
    """Return the groups with the shortest description of a square matrix of edges.

    If the matrix is symmetric, both entries of a pair are one edge. Weights count relative to
    their mean, so their unit does not matter. Whole numbers are counts, which come in bursts: they
    count as many times more as the root of their mean.
    """
    csr = sp.csr_array(data.csr, dtype=np.float64)
    turned = csr.T.tocsr()
    is_symmetric = all(
        np.array_equal(getattr(csr, name), getattr(turned, name))
        for name in ("indptr", "indices", "data")
    )
    mean = float(csr.data.mean())
    worth = np.sqrt(max(mean, 1.0)) if data.is_count else 1.0
    edges = csr * ((0.5 if is_symmetric else 1.0) * worth / mean)
    linked = np.flatnonzero((data.row_mass > 0) | (data.column_mass > 0))
    part = sp.csr_array(edges[linked][:, linked])
    division, is_weak = _best(part, run)
    labels = np.full(csr.shape[0], -1)
    labels[linked] = _without_single_nodes(part, division.labels)
    return Communities(labels, is_weak)


def _without_single_nodes(edges: sp.csr_array, labels: np.ndarray) -> np.ndarray:
    """Put nodes that are groups of their own, as brokers can be, where most of their edges go."""
    single = np.flatnonzero(np.bincount(labels)[labels] == 1)
    if not single.size:
        return labels
    links = ((edges + edges.T)[single] @ membership(labels, int(labels.max()) + 1)).toarray()
    links[np.arange(single.size), labels[single]] = 0
    best = np.where(links.sum(axis=1) > 0, links.argmax(axis=1), labels[single])
    joined = labels.copy()
    is_free = ~np.isin(best, labels[single])  # two single nodes do not swap places
    joined[single[is_free]] = best[is_free]
    return np.asarray(np.unique(joined, return_inverse=True)[1])


def _best(edges: sp.csr_array, run: Run) -> tuple[Division, bool]:
    """The best of several starts, and whether the evidence for it is weak."""
    several = Budget.COMMUNITIES.times(edges.nnz, MIN_STARTS, MAX_STARTS)
    nodes = _nodes(edges)
    many, normal = _Network(nodes, FIRST_EVIDENCE), _Network(nodes)
    best = Division(np.zeros(edges.shape[0], int), 0.0)
    first: list[Division] = []
    for i in range(several):
        rng, before = run.drawing(Purpose.COMMUNITIES, i).rng, best.saved
        first.append(many.settle(np.arange(edges.shape[0]), rng, 1))
        best = _better(best, first[-1].labels, normal, rng)
        if run.stop() or (i > 0 and best.saved - before <= SAME_LENGTH * best.saved):
            break
    rng = run.drawing(Purpose.COMMUNITIES, several).rng
    if best.saved > WEAK * max(each.saved for each in first):
        triangles = _triangles(nodes, best.labels, rng)
        if triangles > 1:
            coarser = _Network(nodes, triangles**-2).settle(best.labels, rng)
            best = max(best._replace(saved=0.0), coarser, key=_saved)
        return best, False
    weak, view = _Network(nodes, WEAK_EVIDENCE), best._replace(saved=0.0)
    for each in first:
        view = _better(view, each.labels, weak, rng)
    return (view if view.saved > 0 else best), view.saved > 0


def _better(
    best: Division, start: np.ndarray, network: _Network, rng: np.random.Generator
) -> Division:
    """The best so far, what this start leads to, or what follows from the parts common to both.

    Common parts move as wholes, which takes the search to where single nodes cannot.
    """
    result = network.settle(start, rng)
    if best.saved <= 0:
        return max(best, result, key=_saved)
    pairs = best.labels * start.size + result.labels
    common = network.settle(np.unique(pairs, return_inverse=True)[1], rng)
    return max(best, result, common, key=_saved)


def _saved(division: Division) -> float:
    return division.saved


def _triangles(nodes: moves.Nodes, labels: np.ndarray, rng: np.random.Generator) -> float:
    """Return how many times as many triangles groups have as independent edges would close.

    Two neighbours u, v of a node in its group are linked with probability d_u d_v / D, by their
    edges inside the group and those of all its members.
    """
    n = labels.size
    source, target = np.repeat(np.arange(n), np.diff(nodes.indptr)), nodes.indices
    inside = labels[source] == labels[target]
    source, target = source[inside], target[inside]
    degree = np.bincount(source, minlength=n)
    paths = degree * (degree - 1.0)
    if not paths.any():
        return 1.0
    middle = rng.choice(n, min(MAX_PATHS, int(paths.sum())), p=paths / paths.sum())
    place, other = rng.integers(degree[middle]), rng.integers(degree[middle] - 1)
    first = (np.cumsum(degree) - degree)[middle]
    u, v = target[first + place], target[first + other + (other >= place)]
    closed = np.isin(u * n + v, source * n + target)
    home = labels[middle]
    others = 1 - 1 / np.bincount(labels)[home]  # no node is linked to itself
    expected = degree[u] * degree[v] / (np.bincount(labels, degree)[home] * others)
    return float(closed.sum() / np.minimum(expected, 1.0).sum())


class Division(NamedTuple):
    """Nodes in groups, and the nats that this saves compared with one group."""

    labels: np.ndarray
    saved: float


class _Network:
    """Nodes and edges, which count as often as the evidence, with what a number of groups costs."""

    def __init__(self, nodes: moves.Nodes, evidence: float = 1.0) -> None:
        self.nodes = nodes._replace(
            weights=nodes.weights * evidence,
            loops=nodes.loops * evidence,
            begins=nodes.begins * evidence,
            ends=nodes.ends * evidence,
        )
        self.total = float(self.nodes.begins.sum())
        n = nodes.sizes.size
        counts = np.arange(n + 2.0)
        groups = np.maximum(counts, 1)
        self.count_nats = ln_choose(self.total + counts, counts) + ln_choose(n + groups - 1, n)

    def settle(
        self, labels: np.ndarray, rng: np.random.Generator, most: int = MAX_CLIMBS
    ) -> Division:
        """Climb until that saves nothing."""
        nats = np.inf
        for _ in range(most):
            trial, fewer = self.climb(labels, rng)
            if fewer > nats - LEAST_SAVED:
                break
            labels, nats = trial, fewer
        if labels.max() == 0:
            return Division(labels, 0.0)
        return Division(labels, self.nats(np.zeros_like(labels)) - nats)

    def climb(self, labels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """Move nodes, then groups, then groups of groups; return labels and description."""
        order = rng.permutation(labels.size)
        return moves.climb(order, labels, self.nodes, self.count_nats, self.total)

    def nats(self, labels: np.ndarray) -> float:
        """Return the description of the edges by these groups."""
        return moves.description(labels, self.nodes, self.count_nats, self.total)


def _nodes(edges: sp.csr_array) -> moves.Nodes:
    loops = edges.diagonal()
    begins, ends = (np.asarray(edges.sum(axis=axis)).ravel() for axis in (1, 0))
    both = sp.csr_array(edges + edges.T)
    if loops.any():
        both.setdiag(0.0)
        both.eliminate_zeros()
    pointers, indices = both.indptr.astype(np.int64), both.indices.astype(np.int64)
    return moves.Nodes(pointers, indices, both.data, loops, begins, ends, np.ones(loops.size))
