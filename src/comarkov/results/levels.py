"""All levels of a hierarchy, node by node: what the report shows as its sliders move.

The nodes of a side are its leaves, 0 to L - 1, and its merges: the i-th merge makes node L + i.
Level k is what is left after L - k merges. The mass of a node and the elements that are distinctive
of it do not depend on the level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..costs.labels import ranks
from ..model.hierarchy import Hierarchy
from ..model.leaves import Leaves


@dataclass(frozen=True, eq=False)
class SideLevels:
    """All levels of one side."""

    leaves: Leaves
    linkage: np.ndarray  #: the merges, as SciPy has them

    @classmethod
    def of(cls, tree: Hierarchy, axis: str) -> SideLevels | None:
        """Those of the "row" or "column" side of a hierarchy; None if it is not clustered."""
        leaves: Leaves | None = getattr(tree, f"{axis}s")
        return None if leaves is None else cls(leaves, getattr(tree, f"{axis}_linkage"))

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(self.leaves.number.size)

    @cached_property
    def merges(self) -> np.ndarray:
        """The two nodes of each merge."""
        return self.linkage[:, :2].astype(np.int64)

    @cached_property
    def members(self) -> list[np.ndarray]:
        """The leaves of each node, in ascending order."""
        nodes = [np.array([a]) for a in range(self.n_leaves)]
        for first, second in self.merges:
            nodes.append(np.union1d(nodes[first], nodes[second]))
        return nodes

    @cached_property
    def mass(self) -> np.ndarray:
        """The mass of each node, added up in the order of ``Hierarchy.sides_at``: ties are ties."""
        mass = self.leaves.masses.sum(axis=0)
        return np.array([np.cumsum(mass[leaves])[-1] for leaves in self.members])

    @property
    def shares(self) -> np.ndarray:
        """The share of all mass of each node."""
        return self.mass / self.leaves.masses.sum(dtype=np.float64)

    def nodes_at(self, k: int) -> np.ndarray:
        """The node of each of k clusters, by their labels in ``model.cut``."""
        made = self.n_leaves - k  # merges
        nodes = np.setdiff1d(np.arange(self.n_leaves + made), self.merges[:made].ravel())
        if k == self.leaves.k:
            return nodes[np.argsort([self.leaves.number[self.members[node][0]] for node in nodes])]
        return nodes[np.argsort(-self.mass[nodes], kind="stable")]

    def drawing_order(self, k: int, leaf_order: np.ndarray) -> np.ndarray:
        """The labels of k clusters in the order in which their leaves are drawn."""
        place = ranks(leaf_order)
        return np.argsort([place[self.members[node][0]] for node in self.nodes_at(k)])

    def profiles(self) -> Iterator[np.ndarray]:
        """P(x̄, y) for each node x̄ and all elements y of the other side."""
        total = self.leaves.masses.sum(dtype=np.float64)
        for leaves in self.members:
            yield self.leaves.masses[:, leaves].sum(axis=1, dtype=np.float64) / total
