"""Methods of the literature: each minimises the cost at its published β by its own algorithm."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

from .._compat import Interval, StrOptions
from ..costs.labels import membership
from ..joint.joint import Joint, joint
from ..joint.messages import InputError
from ..joint.weighting import Scheme, Weighting
from ..search.optimise.agglomeration import MergeTree, agglomerate
from ..search.optimise.refine import BETTER, Labels, fine_count
from ..search.run import Run
from ..search.state.coclusters import CoClusterProblem, CoClusters, Solution
from .base import COUNT, SearchParameters
from .coclustering import ClusterCounts, CoClustering, LabelPair
from .prediction import CoClusterEstimator

CONSTRAINTS = {
    **CoClustering._parameter_constraints,
    "doublings": [Interval(Integral, 0, None, closed="left")],
    "max_rounds": [COUNT],
}
Trees = tuple[MergeTree | None, MergeTree | None]


@dataclass(eq=False, repr=False)
class CountParameters:
    """How many clusters, and the weighting."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS

    n_clusters: ClusterCounts = 3
    _: KW_ONLY
    weighting: Scheme | Weighting | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class StartParameters(SearchParameters, CountParameters):
    """Labels to start from, and the parameters of the search."""

    init: LabelPair | None = None
    fixed: LabelPair | None = None


class OneSided:
    """Methods that cluster the rows only."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "n_clusters": [COUNT, StrOptions({"auto"})],
    }

    def _counts(self, n_clusters: Any) -> tuple[Any, Any]:
        rows, columns = n_clusters if isinstance(n_clusters, tuple) else (n_clusters, None)
        return rows, columns


def cut_trees(problem: CoClusterProblem, trees: Trees) -> Solution[CoClusters]:
    """The co-clustering with as many clusters as the problem asks for, cut from the trees."""

    def labels(counts: list[int | None]) -> list[Labels | None]:
        both = zip(trees, counts, strict=True)
        return [None if tree is None or k is None else tree.cut(k) for tree, k in both]

    state = problem.with_labels(labels([start.k for start in problem.starts]))
    state.n_iter = 1
    return Solution(state, fine=labels([fine_count(start) for start in problem.starts]))


@dataclass(eq=False, repr=False)
class ITCC(StartParameters, CoClusterEstimator):
    """ITCC, information-theoretic co-clustering (Dhillon, Mallela and Modha 2003).

    Clusters rows and columns so that the blocks lose as little information as possible:

        L_½ = I(X;Y) - I(X̄;Ȳ),   β = 1/2

    All rows at once move to the cluster whose profile over the column clusters is nearest,
    KL(p(ȳ|x) ‖ p(ȳ|x̄)), then all columns; the cost never rises, and no cluster becomes empty.

    ``CoClustering(beta=..., method="batch")`` makes the same updates at any β. Above 1/2 no row can
    enter a cluster that lacks one of its columns, and in sparse data hardly anything moves.

    Parameters
    ----------
    n_clusters : int or pair of int, default=3
        How many row and column clusters; one number is used for both.
    doublings : int, default=1
        How often the number of column clusters doubles on the way, each being split at random when
        nothing moves any more. With 0, or if columns have labels, it starts with all of them.
    weighting, init, fixed, n_init, max_iter, tol, max_time, callback, random_state, n_jobs, verbose
        As in :class:`CoClustering`.

    Examples
    --------
    >>> from comarkov import ITCC, datasets
    >>> women = datasets.load("southern-women").matrix
    >>> model = ITCC((2, 3), n_init=20, random_state=0).fit(women)
    >>> print(model.row_labels_)
    [0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1]
    """

    _published: ClassVar[dict[str, Any]] = {"beta": 0.5, "method": "batch"}
    _: KW_ONLY
    doublings: int = 1


@dataclass(eq=False, repr=False)
class IBDouble(CountParameters, CoClusterEstimator):
    """IB-double, double clustering (Slonim and Tishby 2000).

    Clusters the columns by aIB, so that they lose as little information as possible about the rows;
    then the rows by aIB about the column clusters. This greedily minimises L_½ = I(X;Y) - I(X̄;Ȳ),
    β = 1/2, first in the columns and then in the rows. Nothing is random.

    Parameters
    ----------
    n_clusters, weighting
        As in :class:`ITCC`.

    Examples
    --------
    >>> from comarkov import IBDouble, datasets
    >>> women = datasets.load("southern-women").matrix
    >>> print(IBDouble((2, 3)).fit(women).row_labels_)
    [0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 0 0 0]
    """

    _published: ClassVar[dict[str, Any]] = {"beta": 0.5, "method": "agglomerative"}

    def _optimise(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        k_rows, k_columns = (start.k for start in problem.starts)
        if k_rows is None or k_columns is None:
            raise InputError(
                "Double clustering needs a number of clusters for rows and for columns",
                advice="For example: n_clusters=(3, 3)",
            )
        data, best, rows = problem.joint, None, None
        for n_iter in range(1, self.get_params(deep=False).get("max_rounds", 1) + 1):
            columns = _merge_rows(data.T, rows, k_rows, k_columns)
            trees = _merge_rows(data, columns.cut(k_columns), k_columns, k_rows), columns
            solution = cut_trees(problem, trees)
            solution.state.n_iter = n_iter
            if best and solution.state.cost(run.beta) >= best.state.cost(run.beta) - BETTER:
                break
            best, rows = solution, trees[0].cut(k_rows)
        assert best is not None
        return best


@dataclass(eq=False, repr=False)
class IDC(IBDouble):
    """IDC, iterative double clustering (El-Yaniv and Souroujon 2001).

    Repeats IB-double: aIB of the columns by row clusters, then aIB of the rows by column clusters,
    each time from single elements. It stops after the first round that does not lower
    L_½ = I(X;Y) - I(X̄;Ȳ), β = 1/2, and returns the round before, so its cost is never above that
    of :class:`IBDouble`.

    Parameters
    ----------
    n_clusters, weighting
        As in :class:`ITCC`.
    max_rounds : int, default=15
        The largest number of rounds.

    Examples
    --------
    >>> from comarkov import IBDouble, IDC, datasets
    >>> women = datasets.load("southern-women").matrix
    >>> IDC((2, 3)).fit(women).cost_ <= IBDouble((2, 3)).fit(women).cost_
    True
    """

    _: KW_ONLY
    max_rounds: int = 15


@dataclass(eq=False, repr=False)
class IBCC(StartParameters, CoClusterEstimator):
    """IBCC, information bottleneck co-clustering (Wang, Domeniconi and Laskey 2010).

    Clusters rows and columns to keep as much as possible of I(X̄;Y) + I(X;Ȳ) + I(X̄;Ȳ):

        L_¾ = ½ {[I(X;Y) - I(X̄;Y)] + [I(X;Y) - I(X;Ȳ)] + [I(X;Y) - I(X̄;Ȳ)]},   β = 3/4

    "agglomerative" starts with single elements and merges the two row clusters or two column
    clusters that lose least, until both numbers are reached. Nothing is random. For n rows and m
    columns it needs 4 (n + m)² bytes; more than half of the memory is an error. "iterative" makes
    the updates of :class:`ITCC`; in sparse data hardly anything moves.

    Parameters
    ----------
    n_clusters : int or pair of (int or None), default=3
        How many row and column clusters; one number is used for both.
    method : {"agglomerative", "iterative"}, default="agglomerative"
        Which of the two algorithms.
    weighting, init, fixed, n_init, max_iter, tol, max_time, callback, random_state, n_jobs, verbose
        As in :class:`CoClustering`; ``init`` to ``callback`` are for "iterative" only.

    Examples
    --------
    >>> from comarkov import IBCC, datasets
    >>> women = datasets.load("southern-women").matrix
    >>> for method in ("agglomerative", "iterative"):
    ...     print(round(IBCC((2, 3), method=method, random_state=0).fit(women).cost_, 2))
    0.93
    1.02
    """

    _published: ClassVar[dict[str, Any]] = {"beta": 0.75}
    _used_by: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(
        ("init", "fixed", "n_init", "max_iter", "tol", "max_time", "callback"), ("iterative",)
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "method": [StrOptions({"agglomerative", "iterative"})],
    }

    _: KW_ONLY
    method: Literal["agglomerative", "iterative"] = "agglomerative"

    def _optimise(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        if self.method == "iterative":
            return self._parameters().search_method("batch").solve(problem, run)
        rows, columns = problem.starts
        return cut_trees(problem, agglomerate(problem.joint, (rows.k, columns.k), run.beta))


def _merge_rows(data: Joint, by: Labels | None, count: int, k: int) -> MergeTree:
    """Rows in k clusters by aIB about the columns, or about ``count`` clusters of them."""
    relevant = data if by is None else joint(data.csr @ membership(by, count))
    tree, _ = agglomerate(relevant, (k, None), 1.0)
    assert tree is not None
    return tree


@dataclass(eq=False, repr=False)
class SIB(OneSided, StartParameters, CoClusterEstimator):
    """sIB, the sequential information bottleneck (Slonim, Friedman and Tishby 2002).

    Clusters the rows so that they lose as little information about the columns as possible:

        L = I(X;Y) - I(X̄;Y)

    Each row in turn is taken out of its cluster and inserted where it costs least, until a sweep
    saves no more than ``tol`` bits. It is ``CoClustering((k, None), method="sequential")``; if
    columns are not clustered, all β give the same cost.

    Parameters
    ----------
    n_clusters : int, default=3
        The number of row clusters.
    weighting, init, fixed, n_init, max_iter, tol, max_time, callback, random_state, n_jobs, verbose
        As in :class:`CoClustering`. ``init`` and ``fixed`` are pairs whose second item is None.

    Examples
    --------
    >>> from comarkov import SIB
    >>> print(SIB(2, n_init=5, random_state=0).fit_predict([[5, 1], [3, 1], [1, 3], [1, 4]]))
    [0 0 1 1]
    """

    _published: ClassVar[dict[str, Any]] = {"beta": 1.0, "method": "sequential"}


@dataclass(eq=False, repr=False)
class AIB(OneSided, CountParameters, CoClusterEstimator):
    """aIB, the agglomerative information bottleneck (Slonim and Tishby 1999).

    Clusters the rows so that they lose as little information about the columns as possible,

        L = I(X;Y) - I(X̄;Y)

    greedily: it starts with every row as its own cluster and merges the two clusters that lose
    least, down to one. Nothing is random. For n rows it needs 4 n² bytes and time proportional to n
    times the number of entries; more than half of the memory is an error. :class:`SIB` minimises
    the same cost, and usually ends lower.

    Parameters
    ----------
    n_clusters, weighting
        As in :class:`SIB`.

    Attributes
    ----------
    tree_ : MergeTree
        All merges from single rows to one cluster, with the bits that each loses. Its ``cut``
        returns the labels for any number of clusters, ``cut`` of the model for up to about 48.

    All other attributes are those of :class:`CoClustering`.

    Examples
    --------
    >>> from comarkov import AIB
    >>> model = AIB(2).fit([[5, 1], [3, 1], [1, 3], [1, 4]])
    >>> print(model.row_labels_, model.tree_.cut(3))
    [0 0 1 1] [1 2 0 0]
    """

    _published: ClassVar[dict[str, Any]] = {"beta": 1.0, "method": "agglomerative"}

    def _optimise(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        tree, _ = agglomerate(problem.joint, (1, None), run.beta)
        assert tree is not None
        self.tree_ = tree
        return cut_trees(problem, (tree, None))
