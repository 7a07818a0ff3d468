"""CoClustering: the scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    _fit_context,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from ..data.joint import Joint, as_csr, check_columns
from ..data.weighting import SCHEMES, Weighting, as_weighting, weighted_joint
from ..model.numbering import canonical_orders, renumbered_path
from ..results.showing import ShowsItself
from ..search import choose_beta, choose_numbers
from ..search.coclusters import CoClusterProblem, CoClusters, Step
from ..search.problem import Solution
from ..search.progress import Progress
from ..search.run import Run
from ..search.starts import starts_for
from ..search.streams import Purpose
from .base import COUNT, SEARCH
from .biclusters import HasBiclusters
from .cutting import Cuts
from .learning import Starts
from .prediction import Predicts

ClusterCounts = int | str | tuple[int | str | None, int | str | None]
LabelPair = tuple[ArrayLike | None, ArrayLike | None]


class CoClustering(ShowsItself, Predicts, HasBiclusters, Cuts):
    """Co-clustering of rows and columns by information-theoretic Markov aggregation.

    Rows are samples. The nonnegative matrix is read as a joint distribution of row X and column
    Y; row clusters X̄ and column clusters Ȳ are chosen to minimise

        L_β = β [I(X;Y) - I(X;Ȳ) + I(X;Y) - I(X̄;Y)] + (1-β) [I(X̄;Y) - I(X̄;Ȳ) + I(X;Ȳ) - I(X̄;Ȳ)]

    in bits. β sets how strongly the two clusterings are coupled: 1 is two independent
    information-bottleneck clusterings, 3/4 is IBCC, 1/2 is ITCC, 0 asks for lumpability.

    Parameters
    ----------
    n_clusters : int, "auto" or pair of (int, "auto" or None), default=3
        The numbers of row and of column clusters; one number stands for both. None leaves a side
        as it is: ``(20, None)`` clusters the rows only, which is the information bottleneck
        whatever β is. Exactly as many clusters are returned, none of them empty. "auto" chooses
        the number, see ``selection_``: the one by which the data are told in the fewest bits or,
        where clusters save little of them, on which two halves of the data agree.
    beta : float in [0, 1] or "auto", default=0.7
        The coupling. Larger when the numbers of row and column clusters are very different,
        smaller when cluster sizes are; below 1/2 not with ``method="sequential"``. "auto" takes,
        of 9 values from 1 to 1/2, that at which two halves of the data agree best, or one that
        does not do clearly worse and is nearer to 0.7: X is thinned by coin tosses, 4 to 12 times,
        and weighted after that. It takes some times as long as a fit. See ``beta_selection_``.
    weighting : None, str or Weighting, default=None
        How entries are weighted before they are co-clustered: "counts" as they are, as does None
        but for texts that :func:`comarkov.read` has read, which are weighted by "bm25"; or
        "presence", "log", "uniform", "tfidf", "bm25", which is the best of these on news text;
        a :class:`Weighting` has more to set and says when to use which. It is learnt in the fit
        and applied to new data: a new row has its own length and the column weights of the fit,
        a new column weighs by the rows that have it, whose lengths are those of the fit.
    method : {"auto", "anneal", "sequential", "batch"}, default="auto"
        "auto" begins with good seeds, or with many small clusters of which it merges those that
        cost least to merge, then splits and merges as long as that pays: by far the lowest costs.
        From labels in ``init`` or ``fixed`` it only moves single elements. The next two are the
        paper's: "anneal" (AnnITCC) solves at 1 and lowers β in steps, "sequential" (sGITCC) solves
        at β from a random start. "batch" moves all rows at once, then all columns, as ITCC does:
        fast at β = 1/2, but above it hardly anything moves in sparse data, see :class:`ITCC`.
    n_init : int or "auto", default="auto"
        How often to start; the best is kept, and more never end at a higher cost. They run in
        parallel, see ``n_jobs``. "auto" is 3 for small data, else 1, and 1 for the paper's
        methods. For "auto" a consensus of all is tried after every third. "anneal" starts at
        β = 1, where rows and columns each keep their best.
    max_iter : int, default=100
        The most sweeps over rows and columns from one start, and at each β of an annealing.
    tol : float, default=1e-3
        Stop when a complete sweep saves no more than this many bits. 0 goes on until no single
        move lowers the cost, as "auto" always does.
    beta_step : float, default=0.1
        By how much "anneal" lowers β at a time.
    init : "random" or pair of array-likes, default="random"
        Labels to start from, for rows and for columns; either may be None, and -1 stands for an
        element that starts at random. Given labels keep their numbers.
    fixed : None or pair of array-likes, default=None
        Labels that must not change, for rows and for columns; either may be None, and -1 stands
        for an element that is free. Fixed labels keep their numbers.
    order : {"natural", "shuffled"}, default="natural"
        The order of elements in a sweep, for the paper's methods.
    reject : None or float in (0, 1], default=None
        Elements whose confidence is below get label -1, except fixed ones and the surest of each
        cluster, so that none becomes empty. Cost, information and what new data are compared
        with stay those of all elements. New rows and columns are rejected by their posterior.
    keep_path : bool, default=False
        Keep the co-clustering at every β of an annealing in ``path_``.
    max_time : float or None, default=None
        Seconds after which the best result so far is returned, with a warning; Ctrl-C does the
        same. An annealing begins no further start when half of them are over.
    callback : callable or None, default=None
        Called with a :class:`Progress` after every sweep, possibly from another thread.
        Returning True ends the fit as ``max_time`` does.
    random_state : int, RandomState or None, default=None
        The same seed gives the same labels, for any number of threads and any input format.
    n_jobs : int or None, default=None
        Threads for the random starts; None is 1, -1 is one per core.
    verbose : int, default=0
        1 or more shows a progress bar.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Clusters, numbered by falling mass unless ``init`` or ``fixed`` gave them numbers. -1 for
        elements without mass, which belong nowhere; a warning tells how many there are. -1 also
        for what ``reject`` rejects. On a side that is not clustered every element is its own
        cluster.
    row_confidence_, column_confidence_ : ndarray of float
        How sure the cluster of each element is, in [0, 1]: its posterior times the agreement, if
        that is known. With c_a the cost of cluster a in nats per unit of the element's mass, the
        element taken out of its own, the posterior is proportional to exp(-v c_a), v being the
        element's effective number of entries, (Σ w)² / Σ w². It orders elements well by how
        likely they are wrong; on text it is too sure of itself. 0 for elements without mass. This
        and the next three are not there for a side that is not clustered.
    row_margins_, column_margins_ : ndarray of float
        What the best other cluster costs more, in nats per unit of the element's mass. Below 0
        where another would cost less, but the element is fixed or alone in its cluster.
    row_agreement_, column_agreement_ : ndarray of float
        The share of the other results of the search, members and consensuses, that have the
        element in the same cluster, clusters being matched one to one. NaN if there are no
        others, as with ``n_init=1`` and the paper's methods.
    row_stability_, column_stability_ : ndarray of float
        For each cluster the Jaccard similarity to the cluster most like it in another result,
        mean over the other results; NaN if there are none.
    beta_ : float
        The β of the fit, given or chosen.
    beta_selection_ : structured ndarray
        The evidence if ``beta="auto"``; ``pandas.DataFrame`` takes it. For each ``beta`` the mean
        adjusted Rand index between halves of ``rows``, of ``columns`` and of both, ``agreement``;
        by how much it is ``behind`` the best, with its ``standard_error``; which is ``chosen``.
        A side that is not clustered agrees with itself.
    cost_ : float
        L_β of the weighted matrix in bits.
    information_ : Information
        The four informations of the cost in bits, and the share ``kept``; of the weighted matrix.
    selection_ : structured array, if ``n_clusters`` is "auto"
        The evidence: one line for each level on a walk from many clusters to one, the last where
        merges and splits led from its best. Numbers of clusters, cost, information kept,
        description length in nats, how well halves agree on this number of row and of column
        clusters (NaN if they were not asked), and at the level nearest to what was chosen
        ``suggested`` and the ``rule`` that chose. ``pandas.DataFrame(model.selection_)`` shows it.
    weighting_ : Weighting or None
        The fitted weighting.
    n_iter_ : int
        Sweeps over the rows and columns, at all β together.
    path_ : list of Step
        (beta, cost, row_labels, column_labels) at every β, if ``keep_path``; only "anneal" knows
        more than one.
    hierarchy_ : Hierarchy
        The merges from finer clusters through these down to one on each side, with the bits that
        each loses, and linkage matrices for dendrograms; ``cut`` gives the model at any level.
        The finer clusters are there for ``method="auto"``, unless the fit was stopped; else the
        hierarchy begins with the clusters of the fit.
    rows_, columns_ : ndarray of bool
        Members of each bicluster, one for each pair of clusters; made when asked for.
    feature_names_in_, row_names_in_ : ndarray
        Names of columns and rows, where the input was a data frame that had them.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    A tie between clusters is decided for the present one, then for the lowest number.

    Examples
    --------
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
        "weighting": [None, StrOptions(set(SCHEMES)), Weighting],
        "method": [StrOptions({"auto", "anneal", "sequential", "batch"})],
        "init": [StrOptions({"random"}), tuple, list],
        "fixed": [None, tuple, list],
        "order": [StrOptions({"natural", "shuffled"})],
        "reject": [None, Interval(Real, 0, 1, closed="right")],
        "keep_path": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: ClusterCounts = 3,
        *,
        beta: float | str = 0.7,
        weighting: str | Weighting | None = None,
        method: str = "auto",
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-3,
        beta_step: float = 0.1,
        init: str | LabelPair = "random",
        fixed: LabelPair | None = None,
        order: str = "natural",
        reject: float | None = None,
        keep_path: bool = False,
        max_time: float | None = None,
        callback: Callable[[Progress], Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.beta = beta
        self.weighting = weighting
        self.method = method
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.beta_step = beta_step
        self.init = init
        self.fixed = fixed
        self.order = order
        self.reject = reject
        self.keep_path = keep_path
        self.max_time = max_time
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)  # the weighting has parameters of its own
    def fit(self, X: Any, y: Any = None) -> Self:
        """Co-cluster the rows and columns of X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Nonnegative weights. Also :class:`Data`, AnnData and networkx bipartite graphs.
        y : ignored
        """
        weighting = as_weighting(self.weighting, X)
        data = weighted_joint(X, weighting)
        run = self._run(choose_beta.DEFAULT if self.beta == "auto" else float(self.beta))
        numbers, levels = self._numbers(data, run)
        starts = starts_for(data, numbers, self.init, self.fixed)
        check_columns(self, X)  # sets n_features_in_ and names
        evidence = self._beta_evidence(X, starts, run)
        if evidence is not None:
            run = run.at(float(evidence["beta"][evidence["chosen"]][0]))
        solution = self._optimise(CoClusterProblem(data, starts), run)
        self._keep(solution, starts, run)
        self._set_or_forget("selection_", levels)
        self._set_or_forget("beta_selection_", evidence)
        self.weighting_ = weighting
        self._report(solution.state, starts, run)
        return self

    @available_if(lambda self: "beta" in self._get_param_names())
    @_fit_context(prefer_skip_nested_validation=False)
    def beta_path(self, X: Any, betas: Sequence[float] | None = None) -> list[Step]:
        """The co-clusterings of X at many β, in one annealed run; sets nothing.

        It begins with the best at the largest β, found as by ``method="auto"``, and goes down from
        there: at each β single elements move until none lowers the cost. So it is fast, and
        clusters keep their numbers from step to step, those of the last by falling mass. A fit at
        one β can find a lower cost. If ``n_clusters`` is "auto" there are as many clusters as a
        fit chooses, or has chosen for X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Nonnegative weights.
        betas : sequence of float in [0, 1], default=None
            Taken in falling order; None is 1, 0.9, ..., 0.

        Returns
        -------
        list of Step
            (beta, cost, row_labels, column_labels), β falling.
        """
        wanted = choose_beta.checked(betas)
        data = weighted_joint(X, as_weighting(self.weighting, X))
        run = self._run(choose_beta.DEFAULT if self.beta == "auto" else float(self.beta))
        numbers = self._known_numbers(data) or self._numbers(data, run)[0]
        starts = starts_for(data, numbers, self.init, self.fixed)
        problem = CoClusterProblem(data, starts)
        n_init = self._method("auto").n_starts(problem)
        solution = choose_beta.beta_path(problem, wanted, replace(run, n_init=n_init))
        self._report(solution.state, starts, run)
        state = solution.state
        return renumbered_path(solution.path, canonical_orders((state.rows, state.columns), starts))

    def _known_numbers(self, data: Joint) -> tuple[Any, Any] | None:
        """The numbers of clusters, if the fit chose them for the same data."""
        if not hasattr(self, "selection_") or not self._model.has_masses_of(data):
            return None
        rows, columns = (
            found if number == "auto" else number
            for number, found in zip(
                self._both(self.n_clusters), self.hierarchy_.n_fitted, strict=True
            )
        )
        return rows, columns

    def _numbers(self, data: Joint, run: Run) -> tuple[tuple[Any, Any], np.ndarray | None]:
        """The numbers of clusters to look for, and the evidence for those that are chosen."""
        wanted = self._both(self.n_clusters)
        if "auto" not in wanted:
            return wanted, None
        if not isinstance(self.init, str) or self.fixed is not None:
            raise ValueError('n_clusters="auto" takes no init or fixed labels: give numbers.')
        starts_for(data, [1 if number == "auto" else number for number in wanted], None, None)
        own = replace(run, seed=run.seed.child(Purpose.NUMBERS))
        chosen = choose_numbers.select(data, wanted, own)
        rows, columns = (
            None if number is None else found
            for number, found in zip(wanted, chosen.numbers, strict=True)
        )
        return (rows, columns), chosen.table

    def _beta_evidence(self, X: Any, starts: Starts, run: Run) -> np.ndarray | None:
        """What speaks for which β, if it is to be chosen."""
        if self.beta != "auto":
            return None

        def read(half: Any) -> Joint:
            return weighted_joint(half, as_weighting(self.weighting, X))

        ask = (starts[0].k, starts[1].k), self.init, self.fixed
        return choose_beta.beta_evidence(as_csr(X), read, ask, run)

    def _optimise(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        return self._method(self.method).solve(problem, run)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the row labels."""
        return self.fit(X).row_labels_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
