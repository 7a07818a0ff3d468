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

    Each row in turn is taken out of its cluster and inserted where it costs least, until a sweep
    saves no more than ``tol`` bits. It is ``CoClustering((k, None), method="sequential")``; if
    columns are not clustered, all β give the same cost. β = 1 for both sides is one sIB of the rows
    and one of the columns. Tiny data get the global optimum, as from :class:`CoClustering`.

    Parameters
    ----------
    n_clusters : int, default=3
        The number of row clusters.
    weighting, n_init, max_iter, tol, init, fixed, max_time, callback, random_state, n_jobs, verbose
        As in :class:`CoClustering`. ``init`` and ``fixed`` are pairs whose second item is None.

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

    greedily: it starts with every row as its own cluster and merges the two clusters that lose
    least, down to one. The clusters are those of the tree at ``n_clusters``, also for tiny data. Of
    merges that cost the same the first is made. Nothing is random. For n rows it needs 4 n² bytes
    and time proportional to n times the number of entries; it refuses to use more than half of the
    memory. :class:`SIB` minimises the same cost, and usually ends lower.

    Parameters
    ----------
    n_clusters : int, default=3
        The number of row clusters.
    weighting : None, str or Weighting, default=None
        As in :class:`CoClustering`.

    Attributes
    ----------
    tree_ : MergeTree
        All merges from single rows to one cluster, with the bits that each loses. Its ``cut``
        returns the labels for any number of clusters; ``cut`` of the model, which returns a fitted
        model, goes up to about 48.

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
