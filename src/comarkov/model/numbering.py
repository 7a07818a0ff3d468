"""The numbers that clusters get: by falling mass, unless the user gave them numbers."""

from __future__ import annotations

import numpy as np

from ..costs.labels import renumbered
from ..search.optimise import CoClusters, Start, Step
from ..search.side import Side


def canonical_orders(clusters: CoClusters, starts: tuple[Start, Start]) -> list[np.ndarray | None]:
    """For each side its clusters by falling mass; None to leave their numbers."""
    return [
        _canonical_order(side, start)
        for side, start in zip((clusters.rows, clusters.columns), starts, strict=True)
    ]


def renumbered_path(path: list[Step], orders: list[np.ndarray | None]) -> list[Step]:
    """The same of every step."""
    return [
        step._replace(
            row_labels=renumbered(step.row_labels, orders[0]),
            column_labels=renumbered(step.column_labels, orders[1]),
        )
        for step in path
    ]


def _canonical_order(side: Side | None, start: Start) -> np.ndarray | None:
    if side is None or start.has_numbers:
        return None
    return np.argsort(-side.cluster_mass(), kind="stable")
