"""What a fitted model stores of the data, and the costs of inserting new rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.labels import membership
from ..costs.objective import Approximation, Information
from ..joint.joint import Joint
from ..joint.messages import InputError
from ..joint.scale import spread_of
from ..kernels.matrix import row_parts, table_bits
from ..kernels.sweep import insertion_costs
from ..search.parallel.worker import float_table, new_workspace
from .leaves import Leaves

MASS_ROUNDING = 1e-9  # the largest rounding error of masses in leaves, as a share of an item's mass


class Target(NamedTuple):
    """Clusters into which rows can be inserted, and the clusters of the columns."""

    masses: np.ndarray  # by (column, cluster)
    member: sp.csr_array  # columns x column clusters; no clusters if columns are not clustered
    blocks: np.ndarray  # masses by (cluster of the columns, cluster); by cluster in the last row
    coupling: float


def costs_in(target: Target, new: Joint, home: np.ndarray, spread: float) -> np.ndarray:
    """Return the cost of inserting each row into each cluster, in nats times mass.

    Rows are first removed from their clusters ``home`` (-1: in none). ``spread`` bounds |ln v| + 1
    over all weights and their sums.
    """
    table = float_table(target.masses)
    blocks = float_table(target.blocks)
    csr = new.csr
    out = np.empty((new.shape[0], target.masses.shape[1]))
    for part, rows in row_parts(new.matrix._replace(spread=spread)):
        cross = np.ascontiguousarray((csr[part] @ target.member).toarray(), np.float64)
        space = new_workspace(blocks)
        insertion_costs(out[part], home[part], rows, table, blocks, cross, target.coupling, space)
    return out


@dataclass(frozen=True)
class Model:
    """Everything needed to insert new rows and columns, without the training matrix."""

    rows: Leaves | None
    columns: Leaves | None
    coupling: float
    scale: float
    spread: float
    row_names: np.ndarray | None
    column_names: np.ndarray | None

    def information(self, whole: float) -> Information:
        """Return the four informations in bits; ``whole`` is I(X;Y)."""
        first, second = (side and side.cluster_masses() for side in (self.rows, self.columns))
        rows = whole if first is None else table_bits(first)
        columns = whole if second is None else table_bits(second)
        if first is None or self.columns is None:
            return Information(whole, columns, rows, min(rows, columns))
        blocks = _members(self.columns, first.shape[0]).T @ first
        return Information(whole, columns, rows, table_bits(blocks))

    def approximation(self) -> Approximation:
        """Return the distribution that the clusters keep; both sides must be clustered."""
        rows, columns = self.rows, self.columns
        if rows is None or columns is None:
            raise InputError(
                "Only clusters of rows and of columns have an approximation",
                advice="Cluster both sides, for example with n_clusters=(3, 3).",
            )
        masses = rows.cluster_masses()
        blocks = (_members(columns, masses.shape[0]).T @ masses).T
        p_x, p_y = (side.masses.sum(axis=1) / blocks.sum() for side in (columns, rows))
        return Approximation(blocks / blocks.sum(), p_x, p_y, rows.labels, columns.labels)

    def has_masses_of(self, data: Joint) -> bool:
        """Do the leaves have the stored masses in this matrix, up to rounding?"""
        for side, csr in ((self.rows, data.csr), (self.columns, data.csr.T)):
            if side and csr.shape != (side.leaf.size, side.masses.shape[0]):
                return False
            if side:
                masses = (membership(side.leaf, side.number.size).T @ csr).toarray().T
                most = MASS_ROUNDING * side.masses.sum(axis=1, keepdims=True)
                if (np.abs(masses - side.masses) > most).any():
                    return False
        return True

    @property
    def total(self) -> float:
        """The sum of all masses."""
        side = self.rows or self.columns
        return 0.0 if side is None else float(side.masses.sum())

    def row_costs(self, new: Joint) -> np.ndarray:
        """Return the cost of inserting each new row into each row cluster, in nats times mass."""
        return self._costs(self.rows, self.columns, new, "row")

    def column_costs(self, new: Joint) -> np.ndarray:
        """Return the cost of inserting each new column, a row of ``new``, into each cluster."""
        return self._costs(self.columns, self.rows, new, "column")

    def _costs(
        self, side: Leaves | None, other: Leaves | None, new: Joint, what: str
    ) -> np.ndarray:
        if side is None:
            raise ValueError(f"The {what}s were not clustered: n_clusters is None for them.")
        n, m = new.shape
        if m != side.masses.shape[0]:
            items = "columns" if what == "row" else "rows"
            raise ValueError(
                f"A new {what} must have the {side.masses.shape[0]} {items} of the fit, not {m}."
            )
        masses = side.cluster_masses()
        member = _members(other, m)
        coupling = 1.0 if other is None else self.coupling
        blocks = np.vstack([member.T @ masses, masses.sum(axis=0)])
        spread = max(self.spread, spread_of(new.matrix.weights, new.total))
        target = Target(masses, member, blocks, coupling)
        return costs_in(target, new, np.full(n, -1, np.int32), spread)


def relation_model(data: Joint, labels: Sequence[np.ndarray], coupling: float) -> Model:
    """Return the model of a relation whose rows and columns have these labels.

    At coupling 0 costs depend only on the masses of blocks, so that clusters stand for their
    elements: ``onto`` brings new elements there.
    """
    members = [onto(side, 0.0) for side in labels]
    csr = data.csr
    if coupling == 0.0:
        csr = members[0].T @ csr @ members[1]
        labels = [np.arange(member.shape[1]) for member in members]
        members = [onto(side, 0.0) for side in labels]
    rows, columns = (
        Leaves((masses @ member).toarray(), side, np.arange(member.shape[1]))
        for masses, member, side in zip((csr.T, csr), members, labels, strict=True)
    )
    return Model(rows, columns, coupling, data.scale, data.matrix.spread, None, None)


def onto(labels: np.ndarray, coupling: float) -> sp.csr_array:
    """Return the matrix that brings weights with these elements to what a relation's model has.

    These are clusters if the coupling is 0, else elements. Elements in no cluster are left out.
    """
    if coupling == 0.0:
        return membership(labels, int(labels.max()) + 1)
    return sp.csr_array(sp.diags_array((labels >= 0).astype(np.float64)))


def _members(side: Leaves | None, n: int) -> sp.csr_array:
    """Return the n elements of a side by its clusters; no clusters if it is not clustered."""
    return sp.csr_array((n, 0)) if side is None else membership(side.labels, side.k)
