"""Agglomeration: start with one cluster per element, then repeat the cheapest merge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple

import numpy as np

from ...costs.labels import SIDES, Counts, ranks
from ...costs.objective import LN2, joining, nats
from ...joint.joint import Joint
from ...joint.machine import total_memory
from ...kernels import pair_shares, pairs
from ...kernels.logarithm import TIE
from ...kernels.matrix import xlogx_below

LOOKED_UP = 1 << 16  # counts whose v ln v is looked up
DENSE = {True: 20.0, False: 50.0}  # terms of a table as fast as one term of lists; by is_count
MEMORY_SHARE = 0.5  # of the machine's memory that agglomeration may take
LISTED_ENTRY_BYTES = 48  # of an entry in lists
PAIR_CELL_BYTES = 12  # of a cell in a table
MAX_SINGLE_RATIO = 1e30  # the largest ratio of masses that single precision can represent

Candidate = tuple[float, int, int]  # the cost of a merge, and its two clusters
NO_MERGE: Candidate = (np.inf, 0, 0)


@dataclass(frozen=True, eq=False, repr=False)
class MergeTree:
    """The merges of one side, from single elements down to the requested number of clusters.

    Attributes
    ----------
    leaf : ndarray of int
        The leaf of each element; -1 for empty rows or columns, which are in no tree.
    mass : ndarray of float
        The mass of each leaf.
    nodes : ndarray of int of shape (n_merges, 2)
        The two nodes of each merge: a leaf, or the number of leaves plus that of a merge.
    lost : ndarray of float
        By how many bits each merge raises the cost.
    linkage : ndarray of shape (n_merges, 4)
        The merges as SciPy's linkage matrix: two nodes, the total number of bits lost so far, and
        the number of leaves below. Complete if the tree ends in one cluster.

    Examples
    --------
    >>> from comarkov import AIB
    >>> tree = AIB(2).fit([[4, 0], [3, 0], [1, 1], [0, 2]]).tree_
    >>> tree
    MergeTree(n_leaves=4, n_merges=3)
    >>> print(tree.lost.round(3), tree.cut(3))
    [0.    0.113 0.55 ] [0 0 1 2]
    """

    leaf: np.ndarray
    mass: np.ndarray
    nodes: np.ndarray
    lost: np.ndarray

    @property
    def linkage(self) -> np.ndarray:
        """The merges as SciPy's linkage matrix."""
        heights = np.maximum.accumulate(np.cumsum(self.lost))
        return linkage(self.nodes, heights, self.mass.size)

    def cut(self, n_clusters: int) -> np.ndarray:
        """Return the labels of the elements in ``n_clusters`` clusters, by decreasing mass."""
        n = self.mass.size
        least = n - self.lost.size
        if not isinstance(n_clusters, Integral) or not least <= int(n_clusters) <= n:
            raise ValueError(f"The tree has {least} to {n} clusters, not {n_clusters!r}.")
        return np.append(cut_tree(self.nodes, self.mass, int(n_clusters)), -1)[self.leaf]

    def __repr__(self) -> str:
        return f"MergeTree(n_leaves={self.mass.size}, n_merges={self.lost.size})"


def linkage(nodes: np.ndarray, heights: np.ndarray, n: int) -> np.ndarray:
    """Return merges of n leaves as SciPy's linkage matrix."""
    sizes = [1] * n
    for first, second in nodes:
        sizes.append(sizes[first] + sizes[second])
    return np.column_stack([nodes, heights, sizes[n:]])


def cut_tree(nodes: np.ndarray, mass: np.ndarray, k: int) -> np.ndarray:
    """Return the labels of leaves with these masses in k clusters, by decreasing mass."""
    n = mass.size
    top = np.arange(n + len(nodes))
    for i in range(n - k - 1, -1, -1):
        top[nodes[i]] = top[n + i]
    number = np.unique(top[:n], return_inverse=True)[1]
    heavy = np.argsort(-np.bincount(number, weights=mass), kind="stable")
    return ranks(heavy)[number]


def agglomerate(
    data: Joint, counts: Counts, beta: float
) -> tuple[MergeTree | None, MergeTree | None]:
    """Repeat the merge of two row or column clusters that raises L_β least, down to the counts.

    A side whose count is None is not clustered. A cluster has the number of its first element.
    Raises MemoryError before it starts if the costs of all pairs do not fit into memory.
    """
    full = data.row_mass.all() and data.column_mass.all()
    kept = data if full else data.subset(np.flatnonzero(data.row_mass))
    _check_memory(kept, counts)
    blocks = None if None in counts else kept.csr.toarray().astype(np.float64)
    sides = merging_sides((kept, kept.T), counts, blocks, beta)
    steps = list(merge_all(sides))
    rows, columns = (
        None if count is None else _tree(view.row_mass, [step for step in steps if step.side == i])
        for i, (count, view) in enumerate(zip(counts, (data, data.T), strict=True))
    )
    return rows, columns


def _tree(mass: np.ndarray, steps: list[MergeStep]) -> MergeTree:
    leaf = np.where(mass > 0, np.cumsum(mass > 0) - 1, -1)
    nodes = np.array([step.nodes for step in steps], np.int64).reshape(-1, 2)
    return MergeTree(leaf, mass[mass > 0], nodes, np.array([step.lost for step in steps]))


def _check_memory(data: Joint, counts: Counts) -> None:
    """Raise MemoryError now instead of after hours of work."""
    sides = [
        (size, what)
        for size, count, what in zip(data.shape, counts, SIDES, strict=True)
        if count is not None and count < size
    ]
    cells = data.shape[0] * data.shape[1] if len(sides) == 2 or _is_dense(data) else 0
    needed = sum(4.5 * size * size for size, _ in sides)
    needed += max(PAIR_CELL_BYTES * cells, LISTED_ENTRY_BYTES * data.nnz)
    available = total_memory()
    if needed > MEMORY_SHARE * available:
        elements = " and ".join(f"{size:,} {what}" for size, what in sides)
        raise MemoryError(
            f"Agglomeration stores the costs of all pairs: {elements} need {needed / 1e9:.1f} GB, "
            f"more than half of the {available / 1e9:.1f} GB of this machine. Use fewer, or "
            "cluster them into a few thousand with SIB or ITCC and agglomerate these clusters."
        )


# --- the engine: costs of all pairs, updated as clusters merge --------------------------------


class MergeStep(NamedTuple):
    """One merge of two clusters."""

    side: int  # 0 for rows, 1 for columns
    nodes: tuple[int, int]  # a leaf, or the number of leaves plus that of a merge
    lost: float  # cost, in bits
    forgotten: float  # the decrease of I(X̄;Ȳ), in bits


def merge_all(sides: Sequence[MergingSide | None]) -> Iterator[MergeStep]:
    """Repeat the cheapest merge; ties go to rows before columns, then to the lowest numbers."""
    while True:
        merges = [side.cheapest() if side else NO_MERGE for side in sides]
        if min(merges)[0] == np.inf:
            return
        tie = sides[0].tie(*merges[0][1:]) if sides[0] else 0.0
        which = int(merges[0][0] > merges[1][0] + tie)
        one, other = sides[which], sides[1 - which]
        assert one is not None
        _, i, j = merges[which]
        before = other.lines(i, j) if other else []
        step = one.merge(i, j)
        if other:
            other.replace(before, i)
        yield MergeStep(which, *step)


def merging_sides(
    views: Sequence[Joint | None],
    counts: Counts,
    blocks: np.ndarray | None,
    beta: float,
    groups: Sequence[np.ndarray | None] = (None, None),
) -> list[MergingSide | None]:
    """Return both sides before any merge; None for one that is not clustered.

    ``views`` have the clusters of each side as rows, ``blocks`` the masses by (row cluster, column
    cluster), None if only one side is clustered. Clusters merge only inside ``groups``.
    """
    coupling = 1.0 if blocks is None else 2 * beta - 1
    facing = (blocks, None if blocks is None else blocks.T)
    return [
        None if data is None or count is None else MergingSide(data, count, M, coupling, group)
        for data, count, M, group in zip(views, counts, facing, groups, strict=True)
    ]


class MergingSide:
    """One side while its clusters merge; a merged cluster keeps the number of the first.

    ``blocks`` are the masses M by (cluster, cluster of the other side), which both sides share;
    None if the other side is not clustered.
    """

    def __init__(
        self,
        data: Joint,
        count: int,
        blocks: np.ndarray | None,
        coupling: float,
        group: np.ndarray | None,
    ) -> None:
        n = data.shape[0]
        self.left, self.blocks, self.coupling = n - count, blocks, coupling
        self.in_bits = 1.0 / (data.total * LN2)
        self.node, self.next_node = np.arange(n), n
        if self.left > 0:
            self._begin(data, group)

    def _begin(self, data: Joint, group: np.ndarray | None) -> None:
        """Compute the costs of all pairs."""
        (n, m), blocks = data.shape, self.blocks
        n_pairs = n * (n - 1) // 2
        self.has_table = blocks is None and group is None and _is_dense(data)
        self.pairs = pairs.Pairs(
            mass=data.row_mass.copy(),
            group=np.zeros(n, np.int64) if group is None else group.astype(np.int64),
            cost=np.zeros(n_pairs),
            is_exact=np.zeros(n_pairs if self.has_table else 0, np.bool_),
            least=np.empty(n),
            near=np.empty(n, np.int64),
        )
        self.shares = _shares(data, n if self.has_table else 0)
        if self.has_table:
            pair_shares.share(self.pairs, self.shares, data.matrix, data.column_mass)
            pair_shares.bound_all(self.pairs, self.shares)
            pairs.look_up_all(self.pairs)
            return
        self.known = xlogx_below(LOOKED_UP) if data.is_count else np.empty(0)
        self.entries = _entries(data)
        self.shared, self.seen = np.zeros(n), np.zeros(m, np.bool_)
        if blocks is None or group is None:  # of single elements M equals A
            pairs.fill(self.pairs, self.entries, data.matrix, 1.0, self.known)
            return
        pairs.fill(self.pairs, self.entries, data.matrix, self.coupling, self.known)
        for line in blocks.T:
            pairs.add_line(self.pairs, np.ascontiguousarray(line), self.coupling - 1, self.known)
        pairs.look_up_all(self.pairs)

    def cheapest(self) -> Candidate:
        """Return the cheapest merge: its cost, and the two clusters."""
        return pair_shares.cheapest(self.pairs, self.shares) if self.left else NO_MERGE

    def tie(self, i: int, j: int) -> float:
        """Return the largest difference from the cost of a merge that is still a tie."""
        return TIE * float(self.pairs.mass[[i, j]].sum()) if self.left else 0.0

    def merge(self, i: int, j: int) -> tuple[tuple[int, int], float, float]:
        """Merge cluster j into i; return their nodes, the cost, and the decrease of I(X̄;Ȳ)."""
        first, second = sorted(self.node[[i, j]].tolist())
        self.node[i] = self.next_node
        self.next_node, self.left = self.next_node + 1, self.left - 1
        n = self.node.size
        lost = float(self.pairs.cost[i * n - i * (i + 1) // 2 + j - i - 1] * self.in_bits)
        forgotten = lost
        if self.blocks is not None:
            apart = joining(*self.pairs.mass[[i, j]]) - joining(*self.blocks[[i, j]])
            forgotten = apart * self.in_bits
        if self.has_table:
            pair_shares.join_shares(self.pairs, self.shares, i, j)
            pair_shares.bound_with(self.pairs, self.shares, i)
            pairs.renew_least(self.pairs, i, j)
            return (first, second), lost, forgotten
        pairs.join_entries(self.entries, i, j, self.shared, self.seen, self.known)
        if self.blocks is not None:
            self.shared *= self.coupling
            pairs.join_blocks(self.blocks, i, j, 1 - self.coupling, self.shared, self.known)
        pairs.settle(self.pairs, i, j, self.shared, self.known)
        return (first, second), lost, forgotten

    def lines(self, i: int, j: int) -> list[np.ndarray]:
        """Return the masses of two clusters of the other side in these, if costs depend on them."""
        if not self.left or self.blocks is None:
            return []
        return [self.blocks[:, i].copy(), self.blocks[:, j].copy()]

    def replace(self, before: list[np.ndarray], i: int) -> None:
        """Update the costs of all pairs after two clusters of the other side were merged into i."""
        if not before or self.blocks is None:
            return
        factor = 1 - self.coupling
        after = np.ascontiguousarray(self.blocks[:, i])
        for line in before:
            pairs.add_line(self.pairs, line, factor, self.known)
        pairs.add_line(self.pairs, after, -factor, self.known)
        pairs.look_up_present(self.pairs, after)


def _is_dense(data: Joint) -> bool:
    """Is a table of all clusters and items faster than lists of the nonzero masses?"""
    n, m = data.shape
    owners = np.bincount(data.matrix.indices, minlength=m).astype(np.float64)
    fits = data.total < MAX_SINGLE_RATIO * data.row_mass.min()
    return fits and n * n * m <= DENSE[data.is_count] * float(owners @ owners)


def _shares(data: Joint, n: int) -> pair_shares.Shares:
    """Return an empty table for n clusters."""
    width = -(-data.shape[1] // pair_shares.ITEM_LANES) * pair_shares.ITEM_LANES
    exact, near = np.zeros((n, width)), np.zeros((n, width), np.float32)
    item, item_near = np.zeros(width), np.zeros(width, np.float32)
    return pair_shares.Shares(exact, near, item, item_near, np.zeros(n), data.total)


def _entries(data: Joint) -> pairs.MassLists:
    matrix, turned = data.matrix, data.T.matrix
    weight = turned.weights.astype(np.float64)
    following = np.arange(1, weight.size + 1)
    following[matrix.indptr[1:] - 1] = -1
    return pairs.MassLists(
        start=turned.indptr[:-1].copy(),
        count=np.diff(turned.indptr),
        owner=turned.indices.astype(np.int64),
        weight=weight,
        term=nats(weight),
        item=matrix.indices,
        following=following,
        first=matrix.indptr[:-1].copy(),
    )
