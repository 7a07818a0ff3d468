"""Findings about several types of elements: members, what is distinctive, and titles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.labels import membership
from ...data.joint import Joint
from ...data.relations import Key, read_relations
from ..findings import Feature, features_of
from ..names import are_readable
from ..numbers import is_informative
from ..title_words import Words, score_features
from ..titles import titles_from
from .base import NetworkResults, short
from .relation import Relation

MEMBERS = 5  # of a cluster that may stand in its title


class Distinctive(NamedTuple):
    """The elements of a related type that tell most for a cluster."""

    kind: str
    features: list[Feature]


@dataclass(frozen=True, eq=False)
class TypeFindings(NetworkResults):
    """The clusters of each type of a fitted :class:`MultiwayClustering`, as numbers with names."""

    @cached_property
    def relations(self) -> list[Relation]:
        """All relations, in the order of the fit."""
        joints, _ = read_relations(self.data)
        weights = self.fitted.weights or {}
        members = {
            name: membership(labels, self.n_clusters(name))
            for name, labels in self.fitted.labels_.items()
        }
        return [
            Relation(
                key,
                _shares(joint),
                (members[key[0]], members[key[1]]),
                self.fitted.information_[key],
                float(weights.get(key, 1.0)),
            )
            for key, joint in joints.items()
        ]

    def _sides(self, name: str) -> Iterator[tuple[Relation, int]]:
        """The relations of a type, and whether it has their rows (0) or their columns (1)."""
        for relation in self.relations:
            for axis in (0, 1):
                if relation.key[axis] == name:
                    yield relation, axis

    def n_clusters(self, name: str) -> int:
        """The number of clusters of a type."""
        return int(self.fitted.labels_[name].max()) + 1

    def names(self, name: str) -> list[str]:
        """The names of the elements of a type."""
        return [str(each) for each in self.fitted.names_[name]]

    @cached_property
    def masses(self) -> dict[str, np.ndarray]:
        """The share of each element in all relations of its type, on average."""
        return {
            name: np.mean(
                [relation.share.sum(axis=1 - axis) for relation, axis in self._sides(name)], axis=0
            )
            for name in self.fitted.types_
        }

    @cached_property
    def bits(self) -> dict[str, np.ndarray]:
        """What each element adds to the information kept, in all relations of its type."""
        return {
            name: np.sum(
                [relation.weight * relation.bits(axis) for relation, axis in self._sides(name)],
                axis=0,
            )
            for name in self.fitted.types_
        }

    def members(self, name: str, cluster: int) -> np.ndarray:
        """The members of a cluster, the most typical first."""
        inside = np.flatnonzero(self.fitted.labels_[name] == cluster)
        return inside[np.argsort(-self.bits[name][inside], kind="stable")]

    def member_names(self, name: str, cluster: int, n: int | None = None) -> list[str]:
        """The names of the n most typical members of a cluster."""
        names = self.fitted.names_[name]
        return [str(names[i]) for i in self.members(name, cluster)[:n]]

    def share(self, name: str, cluster: int) -> float:
        """The share of a cluster in the relations of its type."""
        return float(self.masses[name][self.members(name, cluster)].sum())

    @cached_property
    def _across(self) -> dict[tuple[Key, int], np.ndarray]:
        return {
            (relation.key, axis): relation.across(axis)
            for relation in self.relations
            for axis in (0, 1)
        }

    def distinctive(self, name: str, cluster: int, n: int = 10) -> list[Distinctive]:
        """For each relation of a type, the elements on the other side that tell most."""
        lists = []
        for relation, axis in self._sides(name):
            other = relation.key[1 - axis]
            across = self._across[relation.key, axis]
            features = features_of(across, cluster, self.fitted.names_[other], n)
            own = ("to", "from")[axis] if other == name else ""
            strong = [each for each in features if is_informative(each.lift)]
            lists.append(Distinctive(f"{own} {other}".strip(), strong))
        return lists

    @cached_property
    def titles(self) -> dict[str, list[str]]:
        """A title for each cluster of each type: distinctive elements of related types."""
        return {name: titles_from(self._words(name)) for name in self.fitted.types_}

    def _words(self, name: str) -> Words:
        """Elements of related types that may stand in titles; own members if these say more."""
        k = self.n_clusters(name)
        typical = [short(self.member_names(name, a, 1)[0]) for a in range(k)]
        names: list[str] = []
        parts = [np.zeros((k, 0))]
        for relation, axis in self._sides(name):
            other = relation.key[1 - axis]
            if are_readable(self.names(other), other):
                elements, scores = score_features(self._across[relation.key, axis], [])
                names += [short(self.names(other)[i]) for i in elements]
                parts.append(scores)
        if not names and are_readable(self.names(name), name):
            for a in range(k):
                members = self.members(name, a)[:MEMBERS]
                names += [short(self.names(name)[i]) for i in members]
                parts.append(np.zeros((k, members.size)))
                parts[-1][a] = np.maximum(self.bits[name][members], 0)
        return Words(names, np.hstack(parts), "", typical, are_names=bool(names))


def _shares(joint: Joint) -> sp.csr_array:
    """P(x, y); a copy, because SciPy may sort the entries of what it is given."""
    matrix = joint.csr.copy().astype(np.float64)
    matrix.data /= matrix.data.sum()
    return matrix
