"""What a co-clustering says about its data: members, blocks, and what makes clusters what they are.

P is the weighted matrix divided by its sum, x̄ a row cluster, ȳ a column cluster, and

    lift(x̄, ȳ) = P(x̄, ȳ) / (P(x̄) P(ȳ))       how much more mass a block has than by chance
    bits(x) = Σ_ȳ P(x, ȳ) log2 lift(x̄, ȳ)     what row x in x̄ adds to the information kept

so that all rows, all columns, or all blocks each add up to I(X̄;Ȳ). The rows with the most bits
are the most typical of their cluster. What is distinctive of x̄ on the other side are the columns
y with the largest P(x̄, y) log2 [P(x̄, y) / (P(x̄) P(y))], the parts of I(X̄;Y). Columns alike.

Elements that were rejected are members of no cluster, but their mass counts where it counts in the
model: in the cluster that they were rejected from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.labels import membership
from ..costs.relations import Information
from ..model.hierarchy import Hierarchy
from ..model.leaves import Leaves
from ..model.placing import Model

NOISE = 1e-9  # of a lift: what is above 1 by less is rounding


class Feature(NamedTuple):
    """An element of the other side that tells a cluster from the rest."""

    name: str
    share: float  #: of the cluster's mass, P(y | x̄)
    lift: float  #: P(x̄, y) / (P(x̄) P(y))
    bits: float  #: P(x̄, y) log2 lift, its part of I(X̄;Y)


@dataclass(frozen=True, eq=False)
class Side:
    """One side: its elements in their clusters, or as they are if it is not clustered."""

    kind: str  #: what the elements are
    names: np.ndarray
    labels: np.ndarray  #: of each element; -1 in no cluster
    bits: np.ndarray | None  #: what each element adds to the information kept, if known
    group: np.ndarray  #: its cluster; if unclustered, the cluster of others that it tells most for
    across: np.ndarray | None  #: P(x̄, y) by (cluster, other element); None if not clustered
    other_names: np.ndarray
    confidence: np.ndarray | None  #: of each element
    stability: np.ndarray | None  #: of each cluster
    merge_costs: np.ndarray | None  #: by how many bits merging clusters i < j raises the cost
    linkage: np.ndarray | None  #: the merges from these clusters to one, as SciPy has them

    @property
    def is_clustered(self) -> bool:
        """Has this side clusters, or are its elements as they are?"""
        return self.across is not None

    @property
    def n_clusters(self) -> int:
        """The number of clusters; 0 for a side that is not clustered."""
        return 0 if self.across is None else self.across.shape[0]

    @property
    def sizes(self) -> np.ndarray:
        """How many members each cluster has."""
        if not self.is_clustered:
            return np.zeros(0, np.int64)
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def shares(self) -> np.ndarray:
        """P(x̄), the share of mass of each cluster."""
        return np.zeros(0) if self.across is None else self.across.sum(axis=1)

    @cached_property
    def order(self) -> np.ndarray:
        """The elements as they are drawn: by group, the most typical first; -1 at the end."""
        return np.lexsort((-self._typicality, np.where(self.group < 0, np.inf, self.group)))

    @cached_property
    def ranks(self) -> np.ndarray:
        """The place of each element in its cluster, 1 being the most typical; 0 in no cluster.

        On a side that is not clustered, among all elements.
        """
        group = self.labels if self.is_clustered else np.minimum(self.labels, 0)
        order = np.lexsort((-self._typicality, group))
        first = np.searchsorted(group[order], group[order])
        ranks = np.empty(order.size, np.int64)
        ranks[order] = np.arange(order.size) - first + 1
        return np.where(group < 0, 0, ranks)

    @property
    def _typicality(self) -> np.ndarray:
        """What orders members: their bits, or how sure they are if the bits are not known."""
        if self.bits is not None:
            return self.bits
        return np.zeros(self.labels.size) if self.confidence is None else self.confidence

    @cached_property
    def _other_mass(self) -> np.ndarray:
        assert self.across is not None
        return self.across.sum(axis=0)

    def members(self, cluster: int) -> np.ndarray:
        """The members of a cluster, the most typical first."""
        return self.order[self.labels[self.order] == cluster]

    def membership(self, labels: np.ndarray | None = None) -> sp.csr_array:
        """Elements by clusters, of these labels or its own; by themselves if not clustered."""
        labels = self.labels if labels is None else labels
        if not self.is_clustered:
            return sp.eye_array(labels.size, format="csr")
        return membership(labels, max(int(labels.max(initial=0)) + 1, self.n_clusters))

    def typical(self, cluster: int, n: int = 10) -> list[str]:
        """The names of the n most typical members of a cluster."""
        return [str(name) for name in self.names[self.members(cluster)[:n]]]

    def distinctive(self, cluster: int, n: int = 10) -> list[Feature]:
        """The n elements of the other side that tell most for a cluster."""
        if self.across is None:
            raise ValueError(f"The {self.kind}s were not clustered, so they have no features.")
        mass = self.across[cluster]
        share = mass / mass.sum()
        lift = np.divide(share, self._other_mass, out=np.zeros(mass.size), where=mass > 0)
        bits = mass * _log2(lift)
        best = np.argsort(-bits, kind="stable")[:n]
        return [
            Feature(str(self.other_names[i]), float(share[i]), float(lift[i]), float(bits[i]))
            for i in best[lift[best] > 1 + NOISE]
        ]


@dataclass(frozen=True, eq=False)
class Findings:
    """What a fitted co-clustering says, as plain numbers with names."""

    rows: Side
    columns: Side
    blocks: np.ndarray  #: P(x̄, ȳ); on a side that is not clustered every element is a cluster
    information: Information
    beta: float
    cost: float

    @cached_property
    def lift(self) -> np.ndarray:
        """P(x̄, ȳ) / (P(x̄) P(ȳ)) of each block."""
        return lift_of(self.blocks)


def expected_of(blocks: np.ndarray) -> np.ndarray:
    """P(x̄) P(ȳ): the mass that each block has by chance."""
    return np.outer(blocks.sum(axis=1), blocks.sum(axis=0))


def lift_of(blocks: np.ndarray) -> np.ndarray:
    """How many times more mass each block has than by chance; 1 where nothing is expected."""
    expected = expected_of(blocks)
    return np.divide(blocks, expected, out=np.ones(blocks.shape), where=expected > 0)


def information_of(blocks: np.ndarray) -> float:
    """I(X̄;Ȳ) in bits."""
    return max(float((blocks * _log2(lift_of(blocks))).sum()), 0.0)


def findings(
    fitted: Any, names: Sequence[Any] = (None, None), kinds: Sequence[str] = ("row", "column"),
    weights: sp.csr_array | None = None,
) -> Findings:  # fmt: skip
    """The findings of a fitted model, its rows and columns under these names.

    Without names they have those of the fit, or numbers. The weighted matrix is needed only by
    models of one side, to know how typical members are; else those who are surest come first.
    """
    model: Model = fitted._model
    blocks = _blocks(model)
    tree = _tree_from_here(model, fitted)
    own = (fitted.row_labels_, getattr(fitted, "row_names_in_", None)), (
        fitted.column_labels_, getattr(fitted, "feature_names_in_", None),
    )  # fmt: skip
    known = [
        _as_names(labels.size, given, of_fit)
        for (labels, of_fit), given in zip(own, names, strict=True)
    ]
    rows, columns = (
        Side(
            kinds[i], known[i], own[i][0], *_typical(side, other, table, own[i][0], matrix),
            None if side is None else side.cluster_masses().T / _total(side), known[1 - i],
            getattr(fitted, f"{what}_confidence_", None),
            getattr(fitted, f"{what}_stability_", None), costs, linkage,
        )
        for i, (side, other, table, matrix, what, costs, linkage) in enumerate((
            (model.rows, model.columns, blocks, weights, "row",
             tree.row_merge_costs, tree.row_linkage),
            (model.columns, model.rows, blocks.T, None if weights is None else weights.T.tocsr(),
             "column", tree.column_merge_costs, tree.column_linkage),
        ))
    )  # fmt: skip
    return Findings(rows, columns, blocks, fitted.information_, fitted.beta_, fitted.cost_)


def _as_names(n: int, given: Any, of_fit: Any) -> np.ndarray:
    """Strings, as objects: one long name would widen an array of str for all."""
    chosen = of_fit if given is None else given
    listed = [str(name) for name in (range(n) if chosen is None else chosen)]
    if len(listed) != n:
        raise ValueError(f"{n} names are needed, one for each element, not {len(listed)}.")
    names = np.empty(n, object)
    names[:] = listed
    return names


def _total(side: Leaves) -> float:
    return float(side.masses.sum(dtype=np.float64))


def _blocks(model: Model) -> np.ndarray:
    """P(x̄, ȳ), elements standing for clusters on a side that is not clustered."""
    if model.rows is None:
        assert model.columns is not None
        blocks = model.columns.cluster_masses()
    elif model.columns is None:
        blocks = model.rows.cluster_masses().T
    else:
        member = membership(model.columns.labels, model.columns.k)
        blocks = (member.T @ model.rows.cluster_masses()).T
    return np.asarray(blocks / blocks.sum(dtype=np.float64), np.float64)


def _typical(
    side: Leaves | None, other: Leaves | None, blocks: np.ndarray, labels: np.ndarray,
    weights: sp.csr_array | None,
) -> tuple[np.ndarray | None, np.ndarray]:  # fmt: skip
    """What each element adds to the information kept, if known, and its group."""
    gain = _log2(lift_of(blocks))
    if side is None:  # blocks are elements by clusters of the other side
        parts = blocks * gain
        return parts.sum(axis=1), np.where(labels < 0, -1, parts.argmax(axis=1))
    cluster = np.maximum(side.labels, 0)  # also of what was rejected
    if other is not None:
        parts = other.cluster_masses() / _total(other) * gain[cluster]
        return np.asarray(parts.sum(axis=1), np.float64), labels
    if weights is None:
        return None, labels
    row = np.repeat(np.arange(labels.size), np.diff(weights.indptr))
    parts = weights.data / weights.data.sum(dtype=np.float64) * gain[cluster[row], weights.indices]
    return np.bincount(row, weights=parts, minlength=labels.size), labels


def _log2(values: np.ndarray) -> np.ndarray:
    """log2, and 0 of 0: nothing that has mass has a lift of 0."""
    return np.log2(values, out=np.zeros(values.shape), where=values > 0)


def _tree_from_here(model: Model, fitted: Any) -> Hierarchy:
    """The merges from the clusters as they are now, without finer ones, down to one."""
    rows, columns = (side and side.without_finer() for side in (model.rows, model.columns))
    return Hierarchy(rows, columns, fitted.beta_, fitted.information_)
