"""What a fitted model keeps of the data, and what new rows and columns cost to insert."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..costs.labels import membership
from ..costs.relations import Information
from ..data.joint import Joint, are_numbers, as_csr, bits, names, spread_of
from ..kernels.insertion import insertion_costs
from ..kernels.matrix import row_parts
from ..search.side import float_table, new_workspace
from .leaves import Leaves

ROUNDING = 1e-9  # of the mass of an item, by which its masses in leaves may be off


@dataclass(frozen=True)
class Model:
    """All that is needed to insert new rows and columns, without the training matrix."""

    rows: Leaves | None
    columns: Leaves | None
    coupling: float
    scale: float
    spread: float
    row_names: np.ndarray | None
    column_names: np.ndarray | None

    def information(self, whole: float) -> Information:
        """The four informations of the clusters, where ``whole`` is I(X;Y), in bits."""
        first, second = (side and side.cluster_masses() for side in (self.rows, self.columns))
        rows = whole if first is None else _table_bits(first)
        columns = whole if second is None else _table_bits(second)
        if first is None or self.columns is None:
            return Information(whole, columns, rows, min(rows, columns))
        blocks = _members(self.columns, first.shape[0]).T @ first
        return Information(whole, columns, rows, _table_bits(blocks))

    def has_masses_of(self, data: Joint) -> bool:
        """Are the masses of leaves in a matrix those that were kept, up to what moves round off?"""
        return all(
            csr.shape == (side.leaf.size, side.masses.shape[0]) and _has_masses(csr, side)
            for side, csr in ((self.rows, data.csr), (self.columns, data.csr.T))
            if side
        )

    @property
    def column_labels(self) -> np.ndarray | None:
        """The clusters of the columns, those that were rejected too; None if not clustered."""
        return None if self.columns is None else self.columns.labels

    def row_costs(self, new: Joint) -> np.ndarray:
        """Cost of inserting each new row into each row cluster, in nats times mass."""
        return self._costs(self.rows, self.columns, new, "row")

    def column_costs(self, new: Joint) -> np.ndarray:
        """The same for columns; ``new`` has them as rows."""
        return self._costs(self.columns, self.rows, new, "column")

    def _costs(
        self, side: Leaves | None, other: Leaves | None, new: Joint, what: str
    ) -> np.ndarray:
        if side is None:
            raise ValueError(f"The {what}s were not clustered: n_clusters has None for them.")
        n, m = new.shape
        if m != side.masses.shape[0]:
            items = "columns" if what == "row" else "rows"
            raise ValueError(
                f"A new {what} must have the {side.masses.shape[0]} {items} of the fit, not {m}."
            )
        spread = max(self.spread, spread_of(new.matrix.weights, new.total))
        matrix = new.matrix._replace(spread=spread)
        masses = side.cluster_masses()
        table = float_table(masses)
        member = _members(other, m)
        coupling = 1.0 if other is None else self.coupling
        blocks = float_table(np.vstack([member.T @ masses, masses.sum(axis=0)]))
        csr = new.csr
        out = np.empty((n, side.k))
        nowhere = np.full(n, -1, np.int32)
        for part, rows in row_parts(matrix):
            cross = np.ascontiguousarray((csr[part] @ member).toarray(), np.float64)
            space = new_workspace(blocks)
            insertion_costs(out[part], nowhere[part], rows, table, blocks, cross, coupling, space)
        return out


def align(X: Any, fitted: np.ndarray | None, axis: int) -> Any:
    """Bring the columns (axis 1) or rows (axis 0) of a data frame into the order of the fit.

    What has no names, and frames that are in that order already, come back as they are. So do
    frames with names if the fit had only numbers, and the other way round.
    """
    found = names(X)[axis]
    if fitted is None or found is None or np.array_equal(found, fitted):
        return X
    if are_numbers(fitted) and not all(isinstance(name, Integral) for name in found):
        return X
    if are_numbers(found) and not all(isinstance(name, Integral) for name in fitted):
        return X
    position = {name: i for i, name in enumerate(fitted.tolist())}
    if len(position) < fitted.size or len(set(found.tolist())) < found.size:
        raise ValueError("Names are not unique, so the data cannot be aligned with the fit.")
    target = np.array([position.get(name, -1) for name in found.tolist()])
    known = np.flatnonzero(target >= 0)
    if known.size == 0:
        raise ValueError(f"None of the {found.size} names in X was seen in the fit.")
    if known.size < found.size:
        ignored = found[target < 0]
        some = ", ".join(map(str, ignored[:3])) + (", ..." if ignored.size > 3 else "")
        message = f"Ignored, because the fit did not see them: {some} ({ignored.size} in all)."
        warnings.warn(message, stacklevel=4)
    entries = as_csr(_select(X, known, axis)).tocoo()
    places = list(entries.coords)
    places[axis] = target[known][places[axis]]
    shape = (entries.shape[0], fitted.size) if axis == 1 else (fitted.size, entries.shape[1])
    return sp.csr_array((entries.data, tuple(places)), shape)


def _select(frame: Any, which: np.ndarray, axis: int) -> Any:
    """Some rows or columns of a data frame, or of what holds a matrix with names."""
    if not hasattr(frame, "columns"):
        csr = as_csr(frame)
        return csr[:, which] if axis == 1 else csr[which]
    if hasattr(frame, "iloc"):
        return frame.iloc[:, which] if axis == 1 else frame.iloc[which]
    return frame[:, which.tolist()]


def _members(side: Leaves | None, n: int) -> sp.csr_array:
    """The n elements of a side by its clusters; no clusters if it is not clustered."""
    return sp.csr_array((n, 0)) if side is None else membership(side.labels, side.k)


def _has_masses(csr: sp.csr_array, side: Leaves) -> bool:
    found = (membership(side.leaf, side.number.size).T @ csr).toarray().T
    most = ROUNDING * side.masses.sum(axis=1, keepdims=True)
    return bool((np.abs(found - side.masses) <= most).all())


def _table_bits(masses: np.ndarray) -> float:
    return bits(masses, masses.sum(axis=0), masses.sum(axis=1))
