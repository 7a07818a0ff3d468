"""The numbers that clusters get: by falling mass, unless the user gave them numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..costs.labels import renumbered
from ..search.coclusters import Step
from ..search.starts import Start

SAME = 1e-9  # the share of all mass by which equal clusters may differ

Orders = list[np.ndarray | None]


def canonical_orders(sides: Sequence[Any], starts: Sequence[Start]) -> Orders:
    """For each side its clusters in canonical order; None to leave their numbers.

    A side is None if it is not clustered.
    """
    return [
        None if side is None or start.has_numbers else _canonical_order(side)
        for side, start in zip(sides, starts, strict=True)
    ]


def _canonical_order(side: Any) -> np.ndarray:
    """Clusters by falling mass; of equals, rounding aside, the one of the first element first."""
    mass = side.cluster_mass()
    _, first = np.unique(side.labels[side.labels >= 0], return_index=True)
    return np.lexsort((first, -np.rint(mass / mass.sum() / SAME)))


def renumbered_path(path: list[Step], orders: Orders) -> list[Step]:
    """The steps of a path, their clusters in these orders."""
    return [
        step._replace(
            row_labels=renumbered(step.row_labels, orders[0]),
            column_labels=renumbered(step.column_labels, orders[1]),
        )
        for step in path
    ]
