"""Groups of the nodes of a network, as many as shorten its description.

Edges are described by a planted partition with given degrees: nodes of one group are linked more
often than their degrees explain. Single nodes move between the groups of their neighbours, then
whole groups do, as in Louvain's method. The search begins as if there were twice as many edges,
which keeps it from stopping at one group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from ...costs.labels import membership
from ...joint.joint import Joint
from ...kernels import planted_partition as moves
from ..run import Budget, Purpose, Run

FIRST_EVIDENCE = 2.0  # edges count this often at first
WEAK_EVIDENCE = 1.5  # ... and this often where the description has one group: its prior is strict
MAX_STARTS = 10  # for small networks
MAX_CLIMBS = 5  # from the result of the last one
LEAST_SAVED = 1e-6  # nats
SAME_LENGTH = 1e-5  # two starts agree if what they save differs by less than this share


class Communities(NamedTuple):
    """Groups of nodes, and how they were chosen."""

    labels: np.ndarray  # -1 for nodes without edges
    saved: float  # nats, compared with a single group
    is_weak: bool

    @property
    def reason(self) -> str:
        """Why there are as many groups, in words."""
        k = int(self.labels.max()) + 1
        if k == 1:
            return "1 group: no division into groups describes the edges better than degrees alone."
        if self.is_weak:
            return f"{k} groups: one possible view, because the evidence for groups is weak."
        return f"{k} groups: the shortest description of the edges."


def communities(data: Joint, run: Run) -> Communities:
    """Return the groups with the shortest description of a square matrix of edges.

    If the matrix is symmetric, both entries of a pair are one edge. Weights count relative to
    their mean, so their unit does not matter. Whole numbers are counts, which come in bursts: they
    count as many times more as the root of their mean.
    """
    csr = sp.csr_array(data.csr, dtype=np.float64)
    is_symmetric = (abs(csr - csr.T) > 0).nnz == 0
    mean = float(csr.data.mean())
    worth = np.sqrt(max(mean, 1.0)) if data.is_count else 1.0
    edges = csr * ((0.5 if is_symmetric else 1.0) * worth / mean)
    linked = np.flatnonzero((data.row_mass > 0) | (data.column_mass > 0))
    part = sp.csr_array(edges[linked][:, linked])
    groups, saved, is_weak = _best(part, run)
    labels = np.full(csr.shape[0], -1)
    labels[linked] = _without_single_nodes(part, groups)
    return Communities(labels, saved, is_weak)


def _without_single_nodes(edges: sp.csr_array, labels: np.ndarray) -> np.ndarray:
    """Put nodes that are groups of their own, as brokers can be, where most of their edges go."""
    single = np.flatnonzero(np.bincount(labels)[labels] == 1)
    links = ((edges + edges.T)[single] @ membership(labels, int(labels.max()) + 1)).toarray()
    links[np.arange(single.size), labels[single]] = 0
    best = np.where(links.sum(axis=1) > 0, links.argmax(axis=1), labels[single])
    joined = labels.copy()
    is_free = ~np.isin(best, labels[single])  # two single nodes do not swap places
    joined[single[is_free]] = best[is_free]
    return np.asarray(np.unique(joined, return_inverse=True)[1])


def _best(edges: sp.csr_array, run: Run) -> tuple[np.ndarray, float, bool]:
    """The best of several starts; with weak evidence if one group is best otherwise."""
    several = Budget.COMMUNITIES.times(edges.nnz, 1, MAX_STARTS)
    many, normal = _Network(edges * FIRST_EVIDENCE), _Network(edges)
    first: list[Division] = []
    results: list[Division] = []
    for i in range(several):
        if i > 0 and (run.stop() or _agree(results)):
            break
        rng = run.drawing(Purpose.COMMUNITIES, i).rng
        first.append(many.settle(np.arange(edges.shape[0]), rng))
        results.append(normal.settle(first[-1].labels, rng))
    best = max(results, key=lambda result: result.saved)
    if best.saved > 0:
        return best.labels, best.saved, False
    weak = _Network(edges * WEAK_EVIDENCE)
    rng = run.drawing(Purpose.COMMUNITIES, several).rng
    best = max((weak.settle(each.labels, rng) for each in first), key=lambda each: each.saved)
    if best.saved > 0:
        return best.labels, best.saved, True
    return np.zeros_like(best.labels), 0.0, False


def _agree(results: list[Division]) -> bool:
    """Have the first two starts found descriptions of the same length, with several groups?"""
    if len(results) != 2 or min(each.saved for each in results) <= 0:
        return False
    return abs(results[0].saved - results[1].saved) <= SAME_LENGTH * results[0].saved


class Division(NamedTuple):
    """Nodes in groups, and the nats that this saves compared with one group."""

    labels: np.ndarray
    saved: float


class _Network:
    """Nodes and edges, with what a number of groups costs."""

    def __init__(self, edges: sp.csr_array) -> None:
        self.edges, self.total = edges, float(edges.sum())
        begins, ends = (np.asarray(edges.sum(axis=axis)).ravel() for axis in (1, 0))
        self.nodes = _nodes(edges, begins, ends, np.ones(edges.shape[0]))
        n, counts = edges.shape[0], np.arange(edges.shape[0] + 2.0)
        groups = np.maximum(counts, 1)
        self.count_nats = (
            gammaln(self.total + counts + 1) - gammaln(counts + 1) - gammaln(self.total + 1)
        ) + (gammaln(n + groups) - gammaln(groups) - gammaln(n + 1))

    def settle(self, labels: np.ndarray, rng: np.random.Generator) -> Division:
        """Climb until that saves nothing."""
        labels, nats = self.climb(labels, rng)
        for _ in range(MAX_CLIMBS):
            trial, fewer = self.climb(labels, rng)
            if fewer > nats - LEAST_SAVED:
                break
            labels, nats = trial, fewer
        if labels.max() == 0:
            return Division(labels, 0.0)
        return Division(labels, self.nats(np.zeros_like(labels)) - nats)

    def climb(self, labels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """Move nodes, then groups, then groups of groups; return labels and description."""
        edges, nodes, whole = self.edges, self.nodes, np.arange(labels.size)
        while True:
            groups = _groups(nodes, labels, self.total)
            order = rng.permutation(labels.size)
            moves.move(order, nodes, groups, self.count_nats, self.total)
            used, labels = np.unique(groups.label, return_inverse=True)
            whole = labels[whole]
            if used.size == labels.size:
                return whole, float(moves.description(groups, self.count_nats, self.total))
            onto = membership(labels, used.size)
            edges = sp.csr_array(onto.T @ edges @ onto)
            sums = (onto.T @ each for each in (nodes.begins, nodes.ends, nodes.sizes))
            nodes = _nodes(edges, *sums)
            labels = np.arange(used.size)

    def nats(self, labels: np.ndarray) -> float:
        """Return the description of the edges by these groups."""
        groups = _groups(self.nodes, labels, self.total)
        return float(moves.description(groups, self.count_nats, self.total))


def _nodes(
    edges: sp.csr_array, begins: np.ndarray, ends: np.ndarray, sizes: np.ndarray
) -> moves.Nodes:
    loops = edges.diagonal()
    both = sp.csr_array(edges + edges.T - sp.diags_array(2 * loops, format="csr"))
    both.eliminate_zeros()
    pointers, indices = both.indptr.astype(np.int64), both.indices.astype(np.int64)
    return moves.Nodes(pointers, indices, both.data, loops, begins, ends, sizes)


def _groups(nodes: moves.Nodes, labels: np.ndarray, edges: float) -> moves.Groups:
    begins, ends, inside, sizes, nats = np.zeros((5, labels.size))
    groups = moves.Groups(labels.astype(np.int64), begins, ends, inside, sizes, nats, np.zeros(4))
    moves.fill(nodes, groups, edges)
    return groups
