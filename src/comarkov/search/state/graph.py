"""Types of elements and the relations between them, which do not change when elements move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.objective import Coefficients
from ...joint.joint import Joint
from ...kernels import network as moves
from .. import budgets


class WeightedRelation(NamedTuple):
    """Weights between the elements of two types, or of one, and their coefficients at each β."""

    source: int
    target: int
    joint: Joint
    coefficients: Callable[[float], Coefficients]

    @property
    def is_loop(self) -> bool:
        """Does it relate a type to itself?"""
        return self.source == self.target


class End(NamedTuple):
    """A relation as seen from the type at one of its ends."""

    relation: int
    other: int  # the type at the other end
    is_target: bool
    joint: Joint  # its rows are elements of the type
    row: int  # the first of the rows of the type's table that belong to it


@dataclass(frozen=True)
class Graph:
    """All types and relations."""

    relations: tuple[WeightedRelation, ...]
    n_types: int

    @cached_property
    def ends(self) -> list[list[End]]:
        """The relations of each type; those of a type to itself appear as source and as target."""
        ends: list[list[End]] = [[] for _ in range(self.n_types)]
        rows = [0] * self.n_types
        for e, (source, target, joint, _) in enumerate(self.relations):
            for own, other, view in ((source, target, joint), (target, source, joint.T)):
                ends[own].append(End(e, other, view is not joint, view, rows[own]))
                rows[own] += view.shape[1]
        return ends

    @cached_property
    def stars(self) -> list[moves.Star]:
        """The entries of each type; factors and items, which depend on β, are still empty."""
        return [_star(self, ends) for ends in self.ends]

    def work(self, t: int) -> int:
        """Return the terms of the cost in a sweep over a type, for each of its clusters."""
        star = self.stars[t]
        return budgets.NETWORK_SLOWDOWN * (star.indices.size + star.indptr.size)

    @cached_property
    def weights(self) -> list[np.ndarray]:
        """For each type, the share of each element in all mass, summed over relations."""
        return [
            np.sum([end.joint.row_mass / end.joint.total for end in ends], axis=0)
            for ends in self.ends
        ]


def loops_of(graph: Graph, ends: Sequence[End]) -> list[int]:
    """Return the relations of a type to itself."""
    return [
        end.relation for end in ends if not end.is_target and graph.relations[end.relation].is_loop
    ]


def _star(graph: Graph, ends: list[End]) -> moves.Star:
    """Return the entries of a type, with loops stored separately."""
    parts, rows = [], {}
    for end in ends:
        rows[end.relation, end.is_target] = end.row
        csr = sp.csr_array(end.joint.csr, dtype=np.float64)
        if graph.relations[end.relation].is_loop:
            csr = csr - sp.diags_array(csr.diagonal(), format="csr")
            csr.eliminate_zeros()
        parts.append(csr)
    loops = loops_of(graph, ends)
    stacked = sp.csr_array(sp.hstack(parts, format="csr"))
    diagonals = [graph.relations[e].joint.csr.diagonal().astype(np.float64) for e in loops]
    twice = [[rows[e, False], rows[e, True], 0, 0] for e in loops]
    empty = np.empty(0)
    return moves.Star(
        indptr=stacked.indptr.astype(np.int64),
        indices=stacked.indices.astype(np.uint32),
        weights=stacked.data,
        factor=empty,
        item_factor=empty,
        own=empty.astype(np.int64),
        loops=np.array(diagonals, np.float64).reshape(len(loops), stacked.shape[0]),
        twice=np.array(twice, np.int64).reshape(len(loops), 4),
    )
