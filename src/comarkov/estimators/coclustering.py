"""CoClustering: the scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from .._compat import Interval, StrOptions, fit_context
from ..costs.labels import renumbered
from ..joint.joint import Joint
from ..joint.weighting import SCHEMES, Scheme, Weighting
from ..model.leaves import canonical_orders
from ..search.run import Run
from ..search.select import beta as betas_of
from ..search.state.coclusters import CoClusterProblem, Step
from ..search.state.starts import starts_for
from .base import COUNT, SEARCH, Callback, Starts
from .estimate import Estimate, estimate_fit
from .fitting import choose_counts, read_weighted, warn_of
from .prediction import CoClusterEstimator

ClusterCount = int | Literal["auto"] | None
ClusterCounts = int | Literal["auto"] | tuple[ClusterCount, ClusterCount]
LabelPair = tuple[ArrayLike | None, ArrayLike | None]


class CoClustering(CoClusterEstimator):
    """Co-clustering of rows and columns by information-theoretic Markov aggregation.

    Rows are samples. The nonnegative matrix is read as a joint distribution of row X and column
    Y. Row clusters X̄ and column clusters Ȳ are chosen to minimise

        L_β = β [I(X;Y) - I(X;Ȳ) + I(X;Y) - I(X̄;Y)]
            + (1-β) [I(X̄;Y) - I(X̄;Ȳ) + I(X;Ȳ) - I(X̄;Ȳ)]

    in bits. β sets how strongly the two clusterings are coupled: 1 is two independent
    information-bottleneck clusterings, 3/4 is IBCC, 1/2 is ITCC, 0 is lumpability alone.

    Parameters
    ----------
    n_clusters : int, "auto" or pair of (int, "auto" or None), default="auto"
        How many row and column clusters; one number is used for both. You get exactly
        that many, and none is empty. None does not cluster a side: ``(20, None)`` clusters the
        rows only, which is the information bottleneck at any β. "auto" chooses the number;
        ``selection_reason_`` states why.
    beta : float in [0, 1] or "auto", default=0.7
        The coupling. Use a larger β if one side has many more clusters than the other. Below 1/2
        avoid ``method="sequential"``. "auto" takes the β from 1 to 1/2 at which random halves of
        the data agree best, or one nearer to 0.7 that is not clearly worse. It takes several times
        as long as a fit.
    method : {"auto", "anneal", "sequential", "batch"}, default="auto"
        "auto" starts from good seeds, or from many small clusters that it merges; then it splits
        and merges clusters as long as the cost falls. Its costs are by far the lowest, and tiny
        data (up to about 11 x 8) get the global optimum. "anneal" (AnnITCC: solve at β = 1, then
        lower β in steps) and "sequential" (sGITCC: solve at β from a random start) are the methods
        of the paper. "batch" moves all rows at once, then all columns, see :class:`ITCC`.
    weighting : None, str or Weighting, default=None
        How entries are weighted first: "counts" (unchanged), "presence", "log", "uniform", "tfidf"
        or "bm25"; see :class:`Weighting`. None weights texts by "bm25", and leaves all other data
        unchanged. New data are weighted by what the fit has learnt.
    init : None or pair of array-likes, default=None
        Labels of rows and of columns to start from; None leaves the start to the method. Either
        may be None, and -1 stands for an element without a label. Clusters keep these numbers.
    fixed : None or pair of array-likes, default=None
        Labels of rows and of columns that must not change. Either may be None, and -1 stands for
        an element that is free. Clusters keep these numbers.
    n_init : int or "auto", default="auto"
        The number of starts; the best result is kept, and more starts never end at a higher cost.
        "auto" makes 6 for small data, or 2 if these agree on nearly all elements; otherwise 1, as
        for the methods of the paper. "anneal" makes its starts at β = 1, where the best rows and
        the best columns are kept separately.
    max_iter : int, default=100
        The largest number of sweeps over rows and columns from one start, and at each β of an
        annealing.
    tol : float, default=1e-3
        Stop when a complete sweep saves no more than this many bits; with 0, sweeps continue until
        no move lowers the cost. "auto" always does so, and takes no ``tol``.
    beta_step : float, default=0.1
        The step by which "anneal" lowers β; for this method only.
    sweeps : {"due", "all"}, default="due"
        The elements that late sweeps of "anneal" and "sequential" visit: those whose second-best
        cluster is close enough to matter, with a complete sweep at the end; or all, as the paper's.
    ties : {"stay", "first"}, default="stay"
        Where "anneal" and "sequential" leave an element if several clusters are best: in its own if
        that is one of them, or in the first. "first" is for data of at most half a million entries.
    reject : None or float in (0, 1], default=None
        Elements with a lower confidence get label -1, except fixed ones and the most certain one of
        each cluster. Cost, information and the model for new data remain those of all elements.
        New rows and columns are rejected by their posterior.
    max_time : float or None, default=None
        Seconds after which the best result so far is returned, with a warning; Ctrl-C does the
        same. An annealing makes no further start after half of this time.
    callback : callable or None, default=None
        Called with a :class:`Progress` after every sweep, possibly from another thread. If it
        returns True, the fit ends as with ``max_time``.
    random_state : int, RandomState or None, default=None
        The same seed gives the same labels, for any number of threads and any input format.
    n_jobs : int or None, default=None
        The number of threads; None is 1, -1 is one per core. Starts run at the same time, and so do
        the parts of large data. Labels do not depend on it.
    engine : {"local", "dask"}, default="local"
        Where to compute: "local" in this process, "dask" on the cluster of the current Dask client,
        ``distributed.Client()``, with the same labels. "dask" also takes Dask arrays, Dask data
        frames of edges and folders of Parquet files.
    checkpoint : path or None, default=None
        A file that keeps the best result so far, in case the fit is interrupted. A fit of the same
        data with the same file continues from there; with a method other than "auto" it makes no
        further starts. The file is removed when a fit ends by itself.
    verbose : int, default=0
        1 or more shows a progress bar, or a line for each stage if rich is not installed.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        The cluster of each row and column. Clusters are numbered by decreasing mass, unless
        ``init`` or ``fixed`` gave them numbers. Empty rows and columns get label -1, with a
        warning, and so do elements that ``reject`` rejects. On a side that is not clustered every
        element is its own cluster. ``labels_`` are the row labels.
    n_row_clusters_, n_column_clusters_ : int
        How many clusters there are.
    row_confidence_, column_confidence_ : ndarray of float
        How likely each label is to be right, in [0, 1]; 0 for empty rows and columns: its posterior
        times the share of the results of the search that agree on it. With c_a the cost of cluster
        a in nats per unit of the element's mass, the posterior is proportional to exp(-v^γ c_a),
        where v = (Σ w)² / Σ w² is the effective number of the element's entries. For counts of ten
        or more in an entry on average, it is the share of searches in resampled counts that agree.
        A side that is not clustered lacks this and the next three attributes.
    row_evidence_exponent_, column_evidence_exponent_ : float
        γ, the weight of entries as evidence: 1 if they are independent, less if they occur
        together, as words of a text do, and more in tables of measurements.
    row_margins_, column_margins_ : ndarray of float
        How much more the best other cluster costs, in nats per unit of the element's mass. It is
        negative if another cluster costs less, but the element is fixed or alone in its cluster.
    row_agreement_, column_agreement_ : ndarray of float
        The share of the other results of the search that have the element in the same cluster;
        NaN if there are none, as with ``n_init=1`` and the methods of the paper.
    beta_ : float
        The β of the fit.
    beta_selection_ : structured ndarray, if ``beta`` is "auto"
        For each ``beta`` how well halves of the data agree (adjusted Rand index) on ``rows``,
        ``columns`` and both (``agreement``), how far it is ``behind`` the best with its
        ``standard_error``, and whether it was ``chosen``.
    cost_ : float
        L_β of the weighted matrix in bits.
    information_ : Information
        The four information terms of the cost in bits and the share ``kept``.
    selection_ : structured array, if ``n_clusters`` is "auto"
        A row for each level from many clusters to few: how many clusters, cost, information
        kept, description length in nats, and how well halves of the data agree on these numbers
        (NaN if not compared). The chosen numbers are ``suggested``, with the rule for each side.
    selection_reason_ : str, if ``n_clusters`` is "auto"
        Why these numbers were chosen, in words.
    weighting_ : Weighting or None
        The fitted weighting.
    sample_weight_ : ndarray
        The ``sample_weight`` of the fit, if it was given.
    reading_ : dict
        How ``comarkov.read`` read the data; ``comarkov.read(new, like=model)`` reads new data in
        the same way.
    n_iter_ : int
        The number of sweeps over the rows and columns, at all β together.
    hierarchy_ : Hierarchy
        The merges from finer clusters to those of the fit and on to one cluster on each side.
        Without ``method="auto"``, or if the fit was stopped, there are no finer clusters.
    rows_, columns_ : ndarray of bool
        Members of each bicluster, one for each pair of clusters; computed on access.
    feature_names_in_, row_names_in_ : ndarray
        Names of columns and rows, if the input had any.
    n_features_in_ : int
        The number of columns.

    Notes
    -----
    If clusters cost the same, an element stays in its own, or moves to the lowest number. Of
    several global optima of tiny data the lexicographically first labels are returned.

    Examples
    --------
    >>> import numpy as np
    >>> from comarkov import CoClustering, datasets
    >>> women = datasets.load("southern-women")
    >>> model = CoClustering((2, 3), n_init=20, random_state=0).fit(women.matrix)
    >>> [int(size) for size in np.bincount(model.column_labels_)]
    [3, 6, 5]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SEARCH,
        "n_clusters": [COUNT, StrOptions({"auto"}), tuple, list],
        "beta": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "method": [StrOptions({"auto", "anneal", "sequential", "batch"})],
        "weighting": [None, StrOptions(set(SCHEMES)), Weighting],
        "init": [None, tuple, list],
        "fixed": [None, tuple, list],
        "sweeps": [StrOptions({"due", "all"})],
        "ties": [StrOptions({"stay", "first"})],
        "reject": [None, Interval(Real, 0, 1, closed="right")],
        "engine": [StrOptions({"local", "dask"})],
        "checkpoint": [None, str, PathLike],
    }

    def __init__(
        self,
        n_clusters: ClusterCounts = "auto",
        beta: float | Literal["auto"] = 0.7,
        *,
        method: Literal["auto", "anneal", "sequential", "batch"] = "auto",
        weighting: Scheme | Weighting | None = None,
        init: LabelPair | None = None,
        fixed: LabelPair | None = None,
        n_init: Starts = "auto",
        max_iter: int = 100,
        tol: float = 1e-3,
        beta_step: float = 0.1,
        sweeps: Literal["due", "all"] = "due",
        ties: Literal["stay", "first"] = "stay",
        reject: float | None = None,
        max_time: float | None = None,
        callback: Callback | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        engine: Literal["local", "dask"] = "local",
        checkpoint: str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters, self.beta = n_clusters, beta
        self.method, self.weighting = method, weighting
        self.init, self.fixed, self.n_init = init, fixed, n_init
        self.max_iter, self.tol, self.max_time = max_iter, tol, max_time
        self.beta_step, self.sweeps, self.ties = beta_step, sweeps, ties
        self.reject = reject
        self.callback, self.checkpoint, self.verbose = callback, checkpoint, verbose
        self.random_state = random_state
        self.n_jobs, self.engine = n_jobs, engine

    @fit_context(prefer_skip_nested_validation=False)
    def estimate(self, X: Any) -> Estimate:
        """Predict how much memory and time a fit of X takes: the time within a factor of about 3.

        X is what ``fit`` takes. Memory is computed from its sizes, time from a fit of a sample. The
        result has ``memory`` of the whole process, ``seconds``, and ``advice`` in words. Print it.
        """
        return estimate_fit(self, X)

    @fit_context(prefer_skip_nested_validation=False)
    def beta_path(self, X: Any, betas: Sequence[float] | None = None) -> list[Step]:
        """The co-clusterings of X at many β, in one annealed run; sets no attributes.

        It starts with the best result of ``method="auto"`` at the largest β and lowers β from
        there, so it is fast, and clusters keep their numbers from step to step. A fit at one β can
        find a lower cost. If ``n_clusters`` is "auto" the numbers are those of a fit of X.

        Parameters
        ----------
        X : what ``fit`` takes
        betas : sequence of float in [0, 1], default=None
            In any order; None is 1, 0.9, ..., 0.

        Returns
        -------
        list of Step
            (beta, cost, row_labels, column_labels), by decreasing β.
        """
        wanted, asked = betas_of.checked(betas), self._parameters()
        run = asked.run(betas_of.DEFAULT_BETA if asked.beta == "auto" else float(asked.beta))
        _, _, data = read_weighted(X, asked, run)
        counts = self._counts(asked.n_clusters)
        if hasattr(self, "selection_") and self._model.has_masses_of(data):  # chosen for these data
            both = zip(counts, self.hierarchy_.n_fitted, strict=True)
            rows, columns = (fitted if number == "auto" else number for number, fitted in both)
            counts = rows, columns
        counts, _ = choose_counts(data, counts, asked, run)
        starts = starts_for(data, counts, asked.init, asked.fixed)
        n_init = asked.search_method("auto").n_starts(CoClusterProblem(data, starts))
        follow = partial(_follow, starts, wanted)
        path, converged = data.compute(follow, replace(run, n_init=n_init))
        warn_of(converged, starts, run)
        return path


def _follow(starts: Any, betas: Sequence[float], data: Joint, run: Run) -> tuple[list[Step], bool]:
    solution = betas_of.beta_path(CoClusterProblem(data, starts), betas, run)
    state = solution.state
    rows, columns = canonical_orders((state.rows, state.columns), starts)
    path = [
        Step(beta, cost, renumbered(x, rows), renumbered(y, columns))
        for beta, cost, x, y in solution.path
    ]
    return path, state.converged
