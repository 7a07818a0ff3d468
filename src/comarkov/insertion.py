"""What a fitted model keeps of the data, and what new rows and columns cost to insert."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from . import kernels
from .joint import Joint, are_numbers, as_csr, names, spread_of
from .matrix import row_parts
from .optimise import CoClusters
from .tables import Side, float_table, new_workspace


class KeptSide(NamedTuple):
    """The masses by (item of the other side, cluster), and the labels of the other side."""

    masses: np.ndarray
    other_labels: np.ndarray | None  # None if the other side is not clustered
    other_k: int

    @property
    def k(self) -> int:
        """The number of clusters."""
        return int(self.masses.shape[1])


@dataclass(frozen=True)
class Model:
    """All that is needed to insert new rows and columns, without the training matrix."""

    rows: KeptSide | None
    columns: KeptSide | None
    coupling: float
    scale: float
    spread: float
    row_names: np.ndarray | None
    column_names: np.ndarray | None

    @classmethod
    def take(cls, clusters: CoClusters, orders: list[np.ndarray | None], beta: float) -> Model:
        """Take what is needed out of the clusters, renumbered in the given orders."""
        rows, columns = clusters.rows, clusters.columns
        return cls(
            _kept(rows, orders[0], columns, orders[1]),
            _kept(columns, orders[1], rows, orders[0]),
            2 * beta - 1,
            clusters.joint.scale,
            clusters.joint.matrix.spread,
            clusters.joint.row_names,
            clusters.joint.column_names,
        )

    @property
    def column_labels(self) -> np.ndarray | None:
        """The clusters of the columns, those that were rejected too; None if not clustered."""
        return None if self.rows is None else self.rows.other_labels

    def row_costs(self, new: Joint) -> np.ndarray:
        """Cost of inserting each new row into each row cluster, in nats times mass."""
        return self._costs(self.rows, new, "row")

    def column_costs(self, new: Joint) -> np.ndarray:
        """The same for columns; ``new`` has them as rows."""
        return self._costs(self.columns, new, "column")

    def _costs(self, side: KeptSide | None, new: Joint, what: str) -> np.ndarray:
        if side is None:
            raise ValueError(f"The {what}s were not clustered: n_clusters has None for them.")
        n, m = new.shape
        if m != side.masses.shape[0]:
            other = "columns" if what == "row" else "rows"
            raise ValueError(
                f"A new {what} must have the {side.masses.shape[0]} {other} of the fit, not {m}."
            )
        spread = max(self.spread, spread_of(new.matrix.weights, new.total))
        matrix = new.matrix._replace(spread=spread)
        table = float_table(side.masses)
        member = _membership(side)
        coupling = 1.0 if side.other_labels is None else self.coupling
        blocks = float_table(np.vstack([member.T @ side.masses, side.masses.sum(axis=0)]))
        indices = matrix.indices.view(f"i{matrix.indices.itemsize}")
        csr = sp.csr_array((matrix.weights, indices, matrix.indptr), (n, m))
        out = np.empty((n, side.k))
        nowhere = np.full(n, -1, np.int32)
        for part, rows in row_parts(matrix):
            cross = np.ascontiguousarray((csr[part] @ member).toarray(), np.float64)
            kernels.insertion_costs(
                out[part], nowhere[part], rows, table, blocks, cross, coupling,
                new_workspace(blocks),
            )  # fmt: skip
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
    """Some rows or columns of a pandas or polars frame."""
    if hasattr(frame, "iloc"):
        return frame.iloc[:, which] if axis == 1 else frame.iloc[which]
    return frame[:, which.tolist()]


def _kept(
    side: Side | None, order: np.ndarray | None, other: Side | None, other_order: np.ndarray | None
) -> KeptSide | None:
    if side is None:
        return None
    masses = side.release()
    if order is not None:
        masses = np.ascontiguousarray(masses[:, order])
    if other is None:
        return KeptSide(masses, None, 0)
    labels = other.labels
    if other_order is not None:
        labels = np.where(labels >= 0, np.argsort(other_order)[labels], -1)
    return KeptSide(masses, labels, other.k)


def _membership(side: KeptSide) -> sp.csr_array:
    """Items of the other side by cluster, 1 where it is a member."""
    m = side.masses.shape[0]
    if side.other_labels is None:
        return sp.csr_array((m, 0))
    items = np.flatnonzero(side.other_labels >= 0)
    return sp.csr_array(
        (np.ones(items.size), (items, side.other_labels[items])), shape=(m, side.other_k)
    )
