"""What the named methods share: parameters that they fix, and clusters cut from trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from ...data.weighting import Weighting
from ...search.agglomeration import MergeTree
from ...search.coarsening import fine_count
from ...search.coclusters import CoClusterProblem, CoClusters
from ...search.problem import Solution
from ...search.progress import Progress
from ...search.refinement import Labels
from ..base import COUNT
from ..coclustering import ClusterCounts, CoClustering, LabelPair

CONSTRAINTS = CoClustering._parameter_constraints
Trees = tuple[MergeTree | None, MergeTree | None]


class NamedMethod(CoClustering):
    """What CoClustering asks for and a named method leaves no choice about."""

    weighting: Any = None
    n_init: Any = 1
    max_iter: int = 100
    tol: float = 1e-3
    beta_step = 0.1
    init: Any = "random"
    fixed: Any = None
    order = "natural"
    reject: Any = None
    keep_path = False
    max_time: Any = None
    callback: Any = None
    random_state: Any = 0
    n_jobs: Any = None
    verbose: Any = 0

    def __init__(
        self, n_clusters: ClusterCounts = 3, *, weighting: str | Weighting | None = None
    ) -> None:
        self.n_clusters = n_clusters
        self.weighting = weighting


class FromStarts(NamedMethod):
    """Parameters of the methods that begin with given or random clusters."""

    def __init__(
        self,
        n_clusters: ClusterCounts = 3,
        *,
        weighting: str | Weighting | None = None,
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-3,
        init: str | LabelPair = "random",
        fixed: LabelPair | None = None,
        max_time: float | None = None,
        callback: Callable[[Progress], Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(n_clusters, weighting=weighting)
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.fixed = fixed
        self.max_time = max_time
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class OneSided:
    """Methods that cluster the rows and leave the columns as they are."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "n_clusters": [COUNT, StrOptions({"auto"})],
    }

    def _both(self, n_clusters: Any) -> tuple[Any, Any]:
        rows, columns = n_clusters if isinstance(n_clusters, tuple) else (n_clusters, None)
        return rows, columns


def at_counts(problem: CoClusterProblem, trees: Trees) -> Solution[CoClusters]:
    """The co-clustering at the numbers that were asked for; its leaves are from the trees too."""

    def labels(counts: list[int | None]) -> list[Labels | None]:
        return [
            None if tree is None or count is None else tree.cut(count)
            for tree, count in zip(trees, counts, strict=True)
        ]

    state = problem.with_labels(labels([start.k for start in problem.starts]))
    state.n_iter = 1
    return Solution(state, fine=labels([fine_count(start) for start in problem.starts]))
