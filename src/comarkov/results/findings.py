"""The findings of a fit: members, blocks, and what is distinctive of each cluster.

P is the weighted matrix divided by its sum, x̄ a row cluster, ȳ a column cluster, and

    lift(x̄, ȳ) = P(x̄, ȳ) / (P(x̄) P(ȳ))       the mass of a block over what is expected
    bits(x) = Σ_ȳ P(x, ȳ) log2 lift(x̄, ȳ)     what row x in x̄ adds to the information kept

so that all rows, all columns, or all blocks each add up to I(X̄;Ȳ). The rows with the most bits
are the most typical of their cluster. The columns y with the largest P(x̄, y) log2 [P(x̄, y) /
(P(x̄) P(y))], their part of I(X̄;Y), are distinctive of x̄. Columns are treated alike.

Rejected elements are members of no cluster, but their mass still counts in the cluster that they
were rejected from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs import objective as lifts
from ..costs.labels import membership, ranks
from ..costs.objective import Information
from ..io.read.fit_input import fit_input
from ..io.read.headers import kind_of
from ..io.read.naming import distinct
from ..io.read.records import known_variables, merge_intervals
from ..io.store.opening import joint_weighed_by
from ..joint.inputs import are_numbers, as_csr, is_on_disk, names
from ..joint.joint import Joint, with_names
from ..joint.messages import InputError, plural_of_kind
from ..joint.objects import as_objects
from ..model.hierarchy import Hierarchy, Orders, block_shares
from ..model.leaves import Leaves
from .levels import SideLevels
from .words.titles import cluster_titles

LIFT_NOISE = 1e-9  # what is above 1 by less is rounding


class Feature(NamedTuple):
    """An element of the other side that is distinctive of a cluster."""

    name: str
    share: float  #: of the cluster's mass, P(y | x̄); of records, among values of the same variable
    lift: float  #: P(x̄, y) / (P(x̄) P(y)); of records, the share over that among all records
    bits: float  #: P(x̄, y) log2 lift, its part of I(X̄;Y)


class Categories(NamedTuple):
    """The columns of records; neighbouring intervals in one cluster are one category."""

    names: np.ndarray  #: of categories
    category: np.ndarray  #: of each column
    variable: np.ndarray  #: the name of the variable of each category
    weight: np.ndarray  #: of a row in the variable of each category

    def sums(self, by_column: Any) -> Any:
        """The sums over the columns of each category, of a dense or sparse matrix."""
        return by_column @ membership(self.category, self.names.size)

    def shares(self, masses: np.ndarray) -> np.ndarray:
        """The share of each category among those of its variable, given P(x̄, y)."""
        names, groups = np.unique(self.variable, return_inverse=True)
        sums = (masses @ membership(groups, names.size))[..., groups]
        return np.divide(masses, sums, out=np.zeros_like(sums), where=sums > 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Elements(ABC):
    """Elements of one kind in their clusters."""

    kind: str  #: what the elements are
    names: np.ndarray
    labels: np.ndarray  #: the cluster of each element; -1 for none
    typicality: np.ndarray  #: what ranks members: the bits they add or, if unknown, confidence

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def numbers(self) -> np.ndarray:
        """The number of each cluster for people, by its label."""
        return np.arange(1, self.n_clusters + 1)

    def numbers_of(self, labels: np.ndarray) -> np.ndarray:
        """The numbers of clusters with these labels; -1, for none, stays."""
        return np.append(self.numbers, -1)[labels]

    @property
    def sizes(self) -> np.ndarray:
        """The number of members of each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    @abstractmethod
    def shares(self) -> np.ndarray:
        """The share of all mass of each cluster."""

    def cluster_figures(self, cluster: int, title: str, distinctive: Any) -> dict[str, Any]:
        """What summary.json tells of a cluster."""
        return {
            "cluster": self.numbers[cluster],
            "label": cluster,
            "title": title,
            "size": self.sizes[cluster],
            "share": self.shares[cluster],
            "typical": self.typical(cluster),
            "distinctive": distinctive,
        }

    @property
    def outside(self) -> np.ndarray:
        """The names of elements in no cluster."""
        return self.names[self.labels < 0]

    def members(self, cluster: int, by: np.ndarray | None = None) -> np.ndarray:
        """The members of a cluster, the most typical first, or those with the largest numbers."""
        inside = np.flatnonzero(self.labels == cluster)
        numbers = self.typicality if by is None else by
        return inside[np.argsort(-numbers[inside], kind="stable")]

    @cached_property
    def ranks(self) -> np.ndarray:
        """The place of each element in its cluster, or among all if there are no clusters.

        1 is the most typical, 0 is in no cluster.
        """
        group = np.minimum(self.labels, max(self.n_clusters - 1, 0))
        order = np.lexsort((-self.typicality, group))
        first = np.searchsorted(group[order], group[order])
        ranks = np.empty(order.size, np.int64)
        ranks[order] = np.arange(order.size) - first + 1
        return np.where(group < 0, 0, ranks)

    def typical(self, cluster: int, n: int | None = 10) -> list[str]:
        """The names of the n most typical members of a cluster."""
        return [str(name) for name in self.names[self.members(cluster)[:n]]]


@dataclass(frozen=True, eq=False, kw_only=True)
class SideFindings(Elements):
    """One side: its elements in their clusters, or each for itself if it is not clustered."""

    bits: np.ndarray | None  #: what each element adds to the information kept, if known
    group: np.ndarray  #: its cluster; if unclustered, that of the other side it adds most to
    across: np.ndarray | None  #: P(x̄, y) by (cluster, other element); None if not clustered
    other_names: np.ndarray
    confidence: np.ndarray | None  #: of each element
    tree: Hierarchy  #: of the fit, with all levels
    own_tree: Hierarchy  #: that goes through these clusters; of a cut it is another one
    axis: str  #: "row" or "column"
    other_kind: str = ""  #: what the elements of the other side are
    given_titles: Mapping[int, str] = field(default_factory=dict)  #: of some clusters, by a person
    categories: Categories | None = None  #: of records, of which the columns are elements or others

    @property
    def kinds(self) -> str:
        """What the elements are, in the plural; "rows" or "columns" if that is not known."""
        return plural_of_kind(self.kind, f"{self.axis}s")

    @cached_property
    def titles(self) -> list[str]:
        """One title for each cluster: a few words that distinguish it from the others."""
        return cluster_titles(self)

    @cached_property
    def linkage(self) -> np.ndarray | None:
        """The merges from these clusters to one, as SciPy's linkage; None if not clustered."""
        return self.own_tree.cluster_linkage(f"{self.axis}s")

    @property
    def is_clustered(self) -> bool:
        """Is this side clustered?"""
        return self.across is not None

    @cached_property
    def cluster_order(self) -> np.ndarray:
        """The labels of clusters in the order in which they are shown."""
        if self.levels is None:
            return np.zeros(0, np.int64)
        return self.levels.drawing_order(self.n_clusters, self.leaf_order)

    @property
    def leaf_order(self) -> np.ndarray:
        """The leaves as they are drawn; the elements of a side that is not clustered."""
        return self.tree.leaf_orders[self.axis == "column"]

    @property
    def numbers(self) -> np.ndarray:
        """The number of each cluster for people, from 1 in the order in which clusters are shown.

        Labels count from 0, heaviest first; the number of a cluster is ``numbers[label]``.
        """
        return ranks(self.cluster_order) + 1

    @property
    def n_clusters(self) -> int:
        """The number of clusters; 0 for a side that is not clustered."""
        return 0 if self.across is None else self.across.shape[0]

    @property
    def sizes(self) -> np.ndarray:
        """The number of members of each cluster."""
        return super().sizes if self.is_clustered else np.zeros(0, np.int64)

    @property
    def shares(self) -> np.ndarray:
        """P(x̄), the share of mass of each cluster."""
        return np.zeros(0) if self.across is None else self.across.sum(axis=1)

    @cached_property
    def levels(self) -> SideLevels | None:
        """All levels of this side; None if it is not clustered."""
        return SideLevels.of(self.tree, self.axis)

    @property
    def drawing_order(self) -> np.ndarray:
        """The elements by the order of their leaves; that of the elements if not clustered.

        Inside a leaf the most typical come first; elements in no cluster are at the end.
        """
        place = ranks(self.leaf_order)
        place = place if self.levels is None else place[self.levels.leaves.leaf]
        return np.lexsort((-self.typicality, np.where(self.labels < 0, place.size, place)))

    def distinctive(self, cluster: int, n: int = 10) -> list[Feature]:
        """The n elements of the other side that tell most for a cluster."""
        if self.across is None:
            raise ValueError(f"The {self.kind}s were not clustered, so they have no features.")
        features = features_of(self.shown, cluster, self.shown_names, n)
        if not self.has_categories:
            return features
        shares, usual = self.shares_in_variables
        of_name = dict(zip(self.shown_names, zip(shares[cluster], usual, strict=True), strict=True))
        pairs = [(each, *of_name[each.name]) for each in features]
        return [x._replace(share=float(here), lift=float(here / all_)) for x, here, all_ in pairs]

    @property
    def has_categories(self) -> bool:
        """Are the others categories of records?"""
        return self.categories is not None and self.axis == "row"

    @cached_property
    def shown(self) -> np.ndarray:
        """P(x̄, y) by (cluster, other element); categories of records instead of columns."""
        assert self.across is not None
        known = self.categories if self.has_categories else None
        return self.across if known is None else np.asarray(known.sums(self.across))

    @property
    def shown_names(self) -> np.ndarray:
        """The names that go with ``shown``."""
        known = self.categories if self.has_categories else None
        return self.other_names if known is None else known.names

    @cached_property
    def shares_in_variables(self) -> tuple[np.ndarray, np.ndarray]:
        """The share of each category among those of its variable, by cluster and overall."""
        assert self.categories is not None
        within = self.categories.shares
        return within(self.shown), within(self.shown.sum(axis=0))

    def explained(self) -> dict[str, float]:
        """How much the clusters tell about each variable of records: I(X̄;V) / H(V)."""
        if self.across is None or self.categories is None or not self.has_categories:
            return {}
        shares, variable = {}, self.categories.variable[self.categories.category]
        for name in dict.fromkeys(variable.tolist()):
            part = self.across[:, variable == name]
            mass = part.sum()
            if mass > 0 and np.count_nonzero(part.sum(axis=0)) > 1:
                entropy = -float(lifts.octaves(part.sum(axis=0) / mass) @ part.sum(axis=0)) / mass
                shares[str(name)] = float(lifts.bits(part / mass).sum()) / entropy
        return dict(sorted(shares.items(), key=lambda item: -item[1]))


def features_of(across: np.ndarray, cluster: int, names: np.ndarray, n: int) -> list[Feature]:
    """The n elements that tell most for a cluster, given P(x̄, y) by (cluster, element)."""
    mass = across[cluster]
    best, lift, bits = strongest(mass, across.sum(axis=0), n)
    numbers = (values.tolist() for values in (mass[best] / mass.sum(), lift, bits))
    return [Feature(*each) for each in zip(map(str, names[best]), *numbers, strict=True)]


def strongest(
    mass: np.ndarray, other_mass: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The n elements y with the most bits P(x̄, y) log2 lift for a cluster, their lifts and bits.

    Only those that have more mass in the cluster than by chance.
    """
    lift = lifts.cluster_lift(mass, other_mass)
    bits = mass * lifts.octaves(lift)
    best = np.argsort(-bits, kind="stable")[:n]
    best = best[lift[best] > 1 + LIFT_NOISE]
    return best, lift[best], bits[best]


@dataclass(frozen=True, eq=False)
class Findings:
    """The findings of a fitted co-clustering, as plain numbers with names."""

    rows: SideFindings
    columns: SideFindings
    blocks: np.ndarray  #: P(x̄, ȳ); on a side that is not clustered every element is a cluster
    information: Information
    beta: float
    cost: float

    @cached_property
    def lift(self) -> np.ndarray:
        """P(x̄, ȳ) / (P(x̄) P(ȳ)) of each block."""
        return lifts.lift(self.blocks)

    @cached_property
    def orders(self) -> Orders:
        """The elements of each side as they are drawn, strong blocks along the diagonal.

        Every cluster of every level is contiguous; inside a leaf the most typical come first.
        Elements in no cluster are at the end.
        """
        return Orders(self.rows.drawing_order, self.columns.drawing_order)

    @property
    def cluster_orders(self) -> Orders:
        """The clusters of each side as they are drawn; elements of a side that is not clustered."""
        pairs = zip(self.sides, self.orders, strict=True)
        return Orders(*(each.cluster_order if each.is_clustered else o for each, o in pairs))

    @property
    def sides(self) -> tuple[SideFindings, SideFindings]:
        """The rows and the columns."""
        return self.rows, self.columns


def findings_of(
    fitted: Any,
    names: Sequence[Any] = (None, None),
    kinds: Sequence[str] = ("row", "column"),
    weights: sp.csr_array | None = None,
) -> Findings:
    """The findings of a fitted model, its rows and columns under these names.

    Without names they have those of the fit, or numbers. The weighted matrix is needed only by
    models of one side, to know how typical members are; else those who are surest come first.
    """
    model, tree = fitted._model, fitted.hierarchy_
    if tree.n_fitted != tuple(side and side.k for side in (model.rows, model.columns)):  # a cut
        tree = Hierarchy(model.rows, model.columns, fitted.beta_, fitted.information_)
    leaves = [side and side.without_finer() for side in (tree.rows, tree.columns)]
    blocks = block_shares(leaves[0], leaves[1])
    of_fit = getattr(fitted, "row_names_in_", None), getattr(fitted, "feature_names_in_", None)
    labels = fitted.row_labels_, fitted.column_labels_
    elements = []
    for known, own, n in zip(names, of_fit, (each.size for each in labels), strict=True):
        known = distinct(own) if known is None else known
        elements.append(as_objects(str(name) for name in (range(n) if known is None else known)))
        if elements[-1].size != n:
            problem = f"There are {elements[-1].size} names for {n} elements."
            raise InputError(problem, advice="Give one each.")
    sides, categories = [], _categories(fitted)
    for i, axis in enumerate(("row", "column")):
        side = leaves[i]
        turned = (blocks.T, weights if weights is None else weights.T) if i else (blocks, weights)
        bits, group = _element_bits(labels[i], side, leaves[1 - i], *turned)
        confidence = getattr(fitted, f"{axis}_confidence_", None)
        known = [each for each in (bits, confidence) if each is not None]
        sides.append(
            SideFindings(
                kind=kinds[i],
                other_kind=kinds[1 - i],
                names=elements[i],
                other_names=elements[1 - i],
                labels=labels[i],
                typicality=known[0] if known else np.zeros(labels[i].size),
                bits=bits,
                group=group,
                across=side and side.masses.T / _total(side),
                confidence=confidence,
                tree=fitted.hierarchy_,
                own_tree=tree,
                axis=axis,
                categories=categories,
            )
        )
    rows, columns = sides
    return Findings(rows, columns, blocks, fitted.information_, fitted.beta_, fitted.cost_)


def _categories(fitted: Any) -> Categories | None:
    """The categories of the columns, if the fit is one of records."""
    reading, labels = getattr(fitted, "reading_", None) or {}, fitted.column_labels_
    variables = known_variables(reading.get("variables", []))
    if not variables or sum(len(v.categories) for v in variables) != labels.size:
        return None
    is_alone = fitted._model.columns is None
    names, category = merge_intervals(variables, np.arange(labels.size) if is_alone else labels)
    first = np.unique(category, return_index=True)[1]
    sizes = [len(v.categories) for v in variables]
    of_variable = np.repeat(as_objects(v.name for v in variables), sizes)[first]
    weights = np.repeat([v.weight for v in variables], sizes)[first]
    return Categories(as_objects(names), category, of_variable, weights)


def _element_bits(
    labels: np.ndarray,
    side: Leaves | None,
    other: Leaves | None,
    blocks: np.ndarray,
    weights: sp.sparray | None,
) -> tuple[np.ndarray | None, np.ndarray]:
    """What each element of a side adds to the information kept, if known, and its group."""
    gain = lifts.octaves(lifts.lift(blocks))
    if side is None:  # blocks are elements by clusters of the other side
        parts = blocks * gain
        return parts.sum(axis=1), np.where(labels < 0, -1, parts.argmax(axis=1))
    cluster = np.maximum(side.leaf, 0)  # also of what was rejected
    if other is not None:
        parts = other.masses / _total(other) * gain[cluster]
        return np.asarray(parts.sum(axis=1), np.float64), labels
    if weights is None:
        return None, labels
    entries = weights.tocoo()
    elements, items = entries.coords
    parts = entries.data / entries.data.sum(dtype=np.float64) * gain[cluster[elements], items]
    return np.bincount(elements, weights=parts, minlength=labels.size), labels


def _total(side: Leaves) -> float:
    return float(side.masses.sum(dtype=np.float64))


def joint_of_fit(fitted: Any, X: Any) -> Joint:
    """X as the fit saw it, with the names of the fit; an error if it is other data."""
    X = fit_input(X)
    csr, model = as_csr(X), fitted._model
    shape = fitted.row_labels_.size, fitted.column_labels_.size
    difference = "has {} rows x {} columns, not {} x {}".format(*csr.shape, *shape)
    if csr.shape == shape:
        difference = "has other weights, or has them elsewhere"
        counted = getattr(fitted, "sample_weight_", None)
        data = joint_weighed_by(X if is_on_disk(X) else csr, fitted.weighting_, counted)
        if model.has_masses_of(data):
            return with_names(data, model.row_names, model.column_names)
    raise InputError(
        f"X is not the matrix of the fit. It {difference}.",
        advice="Pass the same rows and columns in the same order.",
    )


def findings_on(fitted: Any, X: Any, weighted: Joint) -> Findings:
    """The findings of a fitted model on its data X, with these weights."""
    kinds = []
    for axis, labels in (("row", "index"), ("column", "columns")):
        heading = getattr(getattr(X, labels, None), "name", None)  # of a data frame
        if not isinstance(heading, str) or heading.startswith("col_"):  # as crosstab has it
            heading = axis
        kinds.append(getattr(X, f"{axis}_kind", kind_of(heading, axis)))
    return findings_of(fitted, names_of_fit(fitted, X), kinds, weighted.csr)


def names_of_fit(fitted: Any, X: Any) -> tuple[list[str] | None, list[str] | None]:
    """The names of X or, if it has none, those of the fit; None if neither has names.

    Elements with the same name get their positions added, as in data that are read.
    """
    of_fit = getattr(fitted, "row_names_in_", None), getattr(fitted, "feature_names_in_", None)
    rows, columns = (
        distinct(known if given is None or are_numbers(given) else given)
        for given, known in zip(names(X), of_fit, strict=True)
    )
    if rows is None and getattr(X, "texts", None) is not None:
        rows = [*X.row_names]  # documents count from 1
    return rows, columns
