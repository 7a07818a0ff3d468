"""What the named methods share: fixed parameters, and clusters cut from trees."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from ...search.agglomeration import MergeTree
from ...search.coarsening import fine_count
from ...search.coclusters import CoClusterProblem, CoClusters
from ...search.problem import Solution
from ...search.refinement import Labels
from ..base import COUNT
from ..coclustering import CoClustering

CONSTRAINTS = CoClustering._parameter_constraints
Trees = tuple[MergeTree | None, MergeTree | None]


class OneSided:
    """Methods that cluster the rows only."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "n_clusters": [COUNT, StrOptions({"auto"})],
    }

    def _both(self, n_clusters: Any) -> tuple[Any, Any]:
        rows, columns = n_clusters if isinstance(n_clusters, tuple) else (n_clusters, None)
        return rows, columns


def at_counts(problem: CoClusterProblem, trees: Trees) -> Solution[CoClusters]:
    """The co-clustering with the numbers of clusters in the problem, cut from the trees."""

    def labels(counts: list[int | None]) -> list[Labels | None]:
        return [
            None if tree is None or count is None else tree.cut(count)
            for tree, count in zip(trees, counts, strict=True)
        ]

    state = problem.with_labels(labels([start.k for start in problem.starts]))
    state.n_iter = 1
    return Solution(state, fine=labels([fine_count(start) for start in problem.starts]))
