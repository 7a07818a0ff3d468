"""Number the clusters by decreasing mass, unless the user numbered them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..costs.labels import renumbered
from ..search.coclusters import Step
from ..search.starts import Start

SAME = 1e-9  # clusters that differ by a smaller share of all mass are equally heavy

Orders = list[np.ndarray | None]


def canonical_orders(sides: Sequence[Any], starts: Sequence[Start]) -> Orders:
    """Return the clusters of each side in canonical order; None to keep their numbers.

    A side is None if it is not clustered.
    """
    return [
        None if side is None or start.has_numbers else _canonical_order(side)
        for side, start in zip(sides, starts, strict=True)
    ]


def _canonical_order(side: Any) -> np.ndarray:
    """Sort clusters by decreasing mass; equally heavy ones by their first element."""
    mass = side.cluster_mass()
    _, first = np.unique(side.labels[side.labels >= 0], return_index=True)
    return np.lexsort((first, -np.rint(mass / mass.sum() / SAME)))


def renumbered_path(path: list[Step], orders: Orders) -> list[Step]:
    """Renumber the clusters of a path in these orders."""
    return [
        step._replace(
            row_labels=renumbered(step.row_labels, orders[0]),
            column_labels=renumbered(step.column_labels, orders[1]),
        )
        for step in path
    ]
