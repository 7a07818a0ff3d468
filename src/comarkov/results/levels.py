"""All levels of a hierarchy, node by node: what the report shows as its sliders move.

The nodes of a side are its leaves, 0 to L - 1, and its merges: the i-th merge makes node L + i.
Level k is what is left after L - k merges. A node does not depend on the level: its mass, its title
and the elements that are distinctive of it are the same wherever it is a cluster.
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
        if leaves is None:
            return None
        return cls(leaves, getattr(tree, f"{axis}_linkage"))

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(self.leaves.number.size)

    @cached_property
    def merges(self) -> np.ndarray:
        """The two nodes of each merge."""
        return self.linkage[:, :2].astype(np.int64)

    @property
    def heights(self) -> np.ndarray:
        """The bits lost up to and including each merge, on both sides together."""
        return self.linkage[:, 2]

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

    @cached_property
    def heaviest(self) -> np.ndarray:
        """All nodes by falling mass, which is how clusters are numbered away from the fit."""
        return np.argsort(-self.mass, kind="stable")

    def nodes_at(self, k: int) -> np.ndarray:
        """The node of each of k clusters, by their numbers in ``model.cut``."""
        made = self.n_leaves - k  # merges
        gone = self.merges[:made].ravel()
        nodes = np.setdiff1d(np.arange(self.n_leaves + made), gone)
        if k == self.leaves.k:
            number = [self.leaves.number[self.members[node][0]] for node in nodes]
            return nodes[np.argsort(number)]
        return self.heaviest[np.isin(self.heaviest, nodes)]

    def clusters_as_drawn(self, k: int, leaf_order: np.ndarray) -> np.ndarray:
        """The numbers of k clusters in the order in which their leaves are drawn."""
        place = ranks(leaf_order)
        return np.argsort([place[self.members[node][0]] for node in self.nodes_at(k)])

    def profiles(self) -> Iterator[np.ndarray]:
        """P(x̄, y) for each node x̄ and all elements y of the other side."""
        total = self.leaves.masses.sum(dtype=np.float64)
        for leaves in self.members:
            yield self.leaves.masses[:, leaves].sum(axis=1, dtype=np.float64) / total
