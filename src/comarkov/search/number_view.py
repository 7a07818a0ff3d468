"""A fallback for the numbers of clusters: the knee of the information kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.joint import Joint
from .coclusters import CoClusterProblem
from .number_ladder import numbers_of, step_down
from .run import Run
from .starts import Start

MOST = 12  # clusters of a side in a view
LEAST_KEPT = 0.3  # the least share of information to keep, if that is possible


def knee(data: Joint, starts: tuple[Start, Start], axes: Sequence[int], run: Run) -> list[int]:
    """Merge clusters on the given axes one by one down to two; return the numbers at the knee.

    The knee is where the information kept is highest above the line between its ends. If it is less
    than LEAST_KEPT there, return the smallest numbers that keep LEAST_KEPT.
    """
    state = CoClusterProblem(data, starts).seeded(run)
    least = [min(k, 2) if axis in axes else k for axis, k in enumerate(numbers_of(state))]
    numbers, kept = [], []
    for level in step_down(state, least, run):
        numbers.append(numbers_of(level))
        kept.append(level.information().kept)
    merged = [sum(pair[axis] - 1 for axis in axes) for pair in numbers]
    share = np.divide(kept, kept[0]) if kept[0] > 0 else np.zeros(len(kept))
    best = int(np.argmax(share - np.divide(merged, max(merged[0], 1))))
    enough = np.flatnonzero(np.array(kept) >= LEAST_KEPT)
    if kept[best] < LEAST_KEPT and enough.size:
        best = int(enough[-1])
    return list(numbers[best])
