"""Information bottleneck of the rows: sIB and aIB."""

from __future__ import annotations

from dataclasses import dataclass

from ...search.agglomeration import agglomerate
from ...search.coclusters import CoClusterProblem, CoClusters
from ...search.exact import with_optimum
from ...search.problem import Solution
from ...search.run import Run
from ..coclustering import CountParameters, StartParameters
from ..fitting import CoClusterEstimator
from .base import OneSided, at_counts


@dataclass(eq=False, repr=False)
class SIB(OneSided, CountParameters, StartParameters, CoClusterEstimator):
    """sIB, the sequential information bottleneck (Slonim, Friedman and Tishby 2002).

    Clusters the rows so that they lose as little information about the columns as possible:

        L = I(X;Y) - I(X̄;Y)

    One row after the other is taken out of its cluster and put where it costs least, until a sweep
    saves no more than ``tol``. It is ``CoClustering((k, None), method="sequential")``; with the
    columns as they are every β is the same. Two of them, of rows and of columns, are β = 1. Tiny
    data get the global optimum, as from :class:`CoClustering`.

    Parameters
    ----------
    n_clusters : int, default=3
        The number of row clusters.
    weighting, n_init, max_iter, tol, init, fixed, max_time, callback, random_state, n_jobs, verbose
        As those of :class:`CoClustering`. ``init`` and ``fixed`` are pairs whose second is None.

    Examples
    --------
    >>> from comarkov import SIB
    >>> print(SIB(2, n_init=5, random_state=0).fit_predict([[5, 1], [3, 1], [1, 3], [1, 4]]))
    [0 0 1 1]
    """

    beta = 1.0
    method = "sequential"

    def _optimise(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        return with_optimum(super()._optimise(problem, run), problem, run)


@dataclass(eq=False, repr=False)
class AIB(OneSided, CountParameters, CoClusterEstimator):
    """aIB, the agglomerative information bottleneck (Slonim and Tishby 1999).

    Clusters the rows so that they lose as little information about the columns as possible,

        L = I(X;Y) - I(X̄;Y)

    greedily: every row is its own cluster, then the two that lose least are merged, down to one.
    The clusters are those of the tree at ``n_clusters``, even of tiny data. Of merges that cost
    the same the first counts. Nothing is random. For n rows it takes 4 n² bytes, and time that
    grows like n times the non-zeros; more than half of the memory is refused before it begins.
    The cost is that of :class:`SIB`, which mostly ends lower; β = 1 for one side.

    Parameters
    ----------
    n_clusters : int, default=3
        The number of row clusters.
    weighting : None, str or Weighting, default=None
        As that of :class:`CoClustering`.

    Attributes
    ----------
    tree_ : MergeTree
        All merges from single rows to one cluster, with the bits that each loses; its ``cut``
        gives the labels for any number of clusters. ``cut`` of the model, which gives a fitted
        model, reaches from one to some 48 clusters.

    All other attributes are those of :class:`CoClustering`.

    Examples
    --------
    >>> from comarkov import AIB
    >>> model = AIB(2).fit([[5, 1], [3, 1], [1, 3], [1, 4]])
    >>> print(model.row_labels_, model.tree_.cut(3))
    [0 0 1 1] [1 2 0 0]
    """

    beta = 1.0
    method = "agglomerative"

    def _optimise(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        tree, _ = agglomerate(problem.joint, (1, None), run.beta)
        assert tree is not None
        self.tree_ = tree
        return at_counts(problem, (tree, None))
