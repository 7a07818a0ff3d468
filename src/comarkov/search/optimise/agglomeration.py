"""Agglomeration: start with one cluster per element, then repeat the cheapest merge."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from ...costs.labels import Counts, ranks
from ...joint.joint import Joint
from ...joint.machine import total_memory
from ...kernels import pair_shares, pairs
from ...kernels.logarithm import TIE

KNOWN = 1 << 16  # counts whose v ln v is looked up
DENSE = {True: 20.0, False: 50.0}  # terms of a table as fast as one term of lists; by is_count
SHARE = 0.5  # of the machine's memory that agglomeration may take
ENTRY = 48  # bytes of an entry in lists
CELL = 12  # and of a cell in a table
WIDEST = 1e30  # the largest ratio of masses that single precision can represent


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
        sizes = [1] * self.mass.size
        for first, second in self.nodes:
            sizes.append(sizes[first] + sizes[second])
        heights = np.maximum.accumulate(np.cumsum(self.lost))
        return np.column_stack([self.nodes, heights, sizes[self.mass.size :]])

    def cut(self, n_clusters: int) -> np.ndarray:
        """Return the labels of the elements in ``n_clusters`` clusters, by decreasing mass."""
        n = self.mass.size
        least = n - self.lost.size
        if not isinstance(n_clusters, Integral) or not least <= int(n_clusters) <= n:
            raise ValueError(f"The tree has {least} to {n} clusters, not {n_clusters!r}.")
        top = np.arange(n + self.lost.size)
        for i in range(n - int(n_clusters) - 1, -1, -1):
            top[self.nodes[i]] = top[n + i]
        number = np.unique(top[:n], return_inverse=True)[1]
        mass = np.bincount(number, weights=self.mass)
        labels = ranks(np.argsort(-mass, kind="stable"))[number]
        return np.append(labels, -1)[self.leaf]

    def __repr__(self) -> str:
        return f"MergeTree(n_leaves={self.mass.size}, n_merges={self.lost.size})"


def agglomerate(
    data: Joint, counts: Counts, beta: float
) -> tuple[MergeTree | None, MergeTree | None]:
    """Repeat the merge of two row or column clusters that raises L_β least, down to the counts.

    A side whose count is None is not clustered. Ties go to rows before columns, then to the lowest
    numbers; a cluster has the number of its first element. Raises MemoryError before it starts if
    the costs of all pairs do not fit into memory.
    """
    kept = _with_mass(data)
    _check_memory(kept, counts)
    blocks = None if None in counts else kept.csr.toarray().astype(np.float64)
    coupling = 1.0 if blocks is None else 2 * beta - 1
    rows = _PairedSide(kept, counts[0], blocks, coupling)
    columns = _PairedSide(kept.T, counts[1], None if blocks is None else blocks.T, coupling)
    while True:
        row_merge, column_merge = rows.cheapest(), columns.cheapest()
        if min(row_merge, column_merge)[0] == np.inf:
            break
        if row_merge[0] <= column_merge[0] + rows.tie(row_merge):
            one, other, (_, i, j) = rows, columns, row_merge
        else:
            one, other, (_, i, j) = columns, rows, column_merge
        before = other.lines(i, j)
        one.merge(i, j)
        other.replace(before, one.blocks, i)
    return rows.tree(data.row_mass), columns.tree(data.column_mass)


def _with_mass(data: Joint) -> Joint:
    """Drop empty rows and columns."""
    if data.row_mass.all() and data.column_mass.all():
        return data
    return data.subset(np.flatnonzero(data.row_mass))


def _check_memory(data: Joint, counts: Counts) -> None:
    """Raise MemoryError now instead of after hours of work."""
    n, m = data.shape
    sides = [
        (size, what)
        for size, count, what in zip(data.shape, counts, ("rows", "columns"), strict=True)
        if count is not None and count < size
    ]
    cells = n * m if len(sides) == 2 or _is_dense(data) else 0
    needed = sum(4.5 * size * size for size, _ in sides)
    needed += max(CELL * cells, ENTRY * data.nnz)
    available = total_memory()
    if needed > SHARE * available:
        elements = " and ".join(f"{size:,} {what}" for size, what in sides)
        raise MemoryError(
            f"Agglomeration stores the costs of all pairs: {elements} need {needed / 1e9:.1f} GB, "
            f"more than half of the {available / 1e9:.1f} GB of this machine. Use fewer, or "
            "cluster them into a few thousand with SIB or ITCC and agglomerate these clusters."
        )


Candidate = tuple[float, int, int]
NO_MERGE: Candidate = (np.inf, 0, 0)


class _PairedSide:
    """One side while its clusters merge; inactive if the side is not clustered.

    ``blocks`` are the masses M by (cluster, cluster of the other side), which both sides share;
    None if the other side is not clustered.
    """

    def __init__(
        self, data: Joint, count: int | None, blocks: np.ndarray | None, coupling: float
    ) -> None:
        self.left = 0 if count is None else data.shape[0] - count
        self.count = count
        self.blocks = blocks
        self.coupling = coupling
        self.total = data.total
        self.node = np.arange(data.shape[0])
        self.nodes: list[list[int]] = []
        self.lost: list[float] = []
        if self.left:
            self._begin(data)

    def _begin(self, data: Joint) -> None:
        n, m = data.shape
        n_pairs = n * (n - 1) // 2
        self.has_table = self.blocks is None and _is_dense(data)
        self.pairs = pairs.Pairs(
            mass=data.row_mass.copy(),
            alive=np.ones(n, np.bool_),
            cost=np.empty(n_pairs),
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
        self.known = _known(data)
        self.entries = _entries(data)
        self.shared, self.seen = np.zeros(n), np.zeros(m, np.bool_)
        pairs.fill(self.pairs, self.entries, data.matrix, self.known)

    def cheapest(self) -> Candidate:
        """Return the cheapest merge: its cost, and the two clusters."""
        return pair_shares.cheapest(self.pairs, self.shares) if self.left else NO_MERGE

    def tie(self, merge: Candidate) -> float:
        """Return the largest difference from its cost that is still a tie."""
        return TIE * float(self.pairs.mass[list(merge[1:])].sum()) if self.left else 0.0

    def merge(self, i: int, j: int) -> None:
        """Merge cluster j into i."""
        self.left -= 1
        self.nodes.append(sorted(int(node) for node in self.node[[i, j]]))
        self.node[i] = self.node.size + len(self.lost)
        self.lost.append(self._price(i, j))
        if self.has_table:
            pair_shares.join_shares(self.pairs, self.shares, i, j)
            pair_shares.bound_with(self.pairs, self.shares, i)
            pairs.renew_least(self.pairs, i, j)
            return
        pairs.join_entries(self.entries, i, j, self.shared, self.seen, self.known)
        if self.blocks is not None:
            self.shared *= self.coupling
            pairs.join_blocks(self.blocks, i, j, 1 - self.coupling, self.shared, self.known)
        pairs.settle(self.pairs, i, j, self.shared, self.known)

    def _price(self, i: int, j: int) -> float:
        n = self.node.size
        place = i * n - i * (i + 1) // 2 + j - i - 1
        return float(self.pairs.cost[place] / self.total / np.log(2))

    def lines(self, i: int, j: int) -> list[np.ndarray]:
        """Return the masses of two clusters of the other side in these, if costs depend on them."""
        if not self.left or self.blocks is None:
            return []
        return [self.blocks[:, i].copy(), self.blocks[:, j].copy()]

    def replace(self, before: list[np.ndarray], blocks: np.ndarray | None, i: int) -> None:
        """Update the costs of all pairs after two clusters of the other side were merged."""
        if not before or blocks is None:
            return
        factor = 1 - self.coupling
        after = np.ascontiguousarray(blocks[i])
        for line in before:
            pairs.add_line(self.pairs, line, factor, self.known)
        pairs.add_line(self.pairs, after, -factor, self.known)
        pairs.look_up_present(self.pairs, after)

    def tree(self, mass: np.ndarray) -> MergeTree | None:
        """Return all merges so far, of elements with these masses."""
        if self.count is None:
            return None
        leaf = np.where(mass > 0, np.cumsum(mass > 0) - 1, -1)
        nodes = np.array(self.nodes, np.int64).reshape(-1, 2)
        return MergeTree(leaf, mass[mass > 0], nodes, np.array(self.lost))


def _is_dense(data: Joint) -> bool:
    """Is a table of all clusters and items faster than lists of the nonzero masses?"""
    n, m = data.shape
    owners = np.bincount(data.matrix.indices, minlength=m).astype(np.float64)
    reaches = data.total < WIDEST * data.row_mass.min()
    return reaches and n * n * m <= DENSE[data.is_count] * float(owners @ owners)


def _shares(data: Joint, n: int) -> pair_shares.Shares:
    """Return an empty table for n clusters."""
    width = -(-data.shape[1] // pair_shares.LANES) * pair_shares.LANES
    return pair_shares.Shares(
        exact=np.zeros((n, width)),
        near=np.zeros((n, width), np.float32),
        item=np.zeros(width),
        item_near=np.zeros(width, np.float32),
        information=np.zeros(n),
        total=data.total,
    )


def _known(data: Joint) -> np.ndarray:
    """Return v ln v of the likely counts; empty if the weights are not counts."""
    if not data.is_count:
        return np.empty(0)
    v = np.arange(1.0, KNOWN)
    return np.concatenate([[0.0], v * np.log(v)])


def _entries(data: Joint) -> pairs.Entries:
    matrix, turned = data.matrix, data.T.matrix
    weight = turned.weights.astype(np.float64)
    following = np.arange(1, weight.size + 1)
    following[matrix.indptr[1:] - 1] = -1
    return pairs.Entries(
        start=turned.indptr[:-1].copy(),
        count=np.diff(turned.indptr),
        owner=turned.indices.astype(np.int64),
        weight=weight,
        term=weight * np.log(weight),
        item=matrix.indices,
        following=following,
        first=matrix.indptr[:-1].copy(),
    )
