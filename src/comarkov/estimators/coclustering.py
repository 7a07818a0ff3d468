"""CoClustering: the scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from ..data.weighting import SCHEMES, Weighting
from .base import COUNT, SEARCH, SearchParameters
from .fitting import CoClusterEstimator

ClusterCounts = int | str | tuple[int | str | None, int | str | None]
LabelPair = tuple[ArrayLike | None, ArrayLike | None]


@dataclass(eq=False, repr=False)
class CountParameters:
    """Numbers of clusters, and how entries are weighted."""

    n_clusters: ClusterCounts = 3
    _: KW_ONLY
    weighting: str | Weighting | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class StartParameters(SearchParameters):
    """Labels to begin with, and all that a search from starts takes."""

    init: str | LabelPair = "random"
    fixed: LabelPair | None = None


@dataclass(eq=False, repr=False)
class CoClustering(CountParameters, StartParameters, CoClusterEstimator):
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
        the number; ``selection_reason_`` states why, ``selection_`` is the evidence.
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
        Tiny data (about 11 x 8, or 18 rows alone in 3 clusters) get the global optimum: wherever
        all partitions can be looked at in a second, and no labels are in ``init``.
        Elements with labels in ``init`` or ``fixed`` stay where they are until the others have
        found their clusters; then all but the fixed ones move. The next two are the
        paper's: "anneal" (AnnITCC) solves at 1 and lowers β in steps, "sequential" (sGITCC) solves
        at β from a random start. "batch" moves all rows at once, then all columns, as ITCC does:
        fast at β = 1/2, but above it hardly anything moves in sparse data, see :class:`ITCC`.
    n_init : int or "auto", default="auto"
        How often to start; the best is kept, and more never end at a higher cost. They run in
        parallel, see ``n_jobs``. "auto" is 3 for small data, but 2 if these agree on nearly all
        elements; else 1, and 1 for the paper's methods. For ``method="auto"`` a consensus of all
        is tried after every third. "anneal" starts at β = 1, where rows and columns each keep
        their best.
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
        1 or more shows a progress bar; without the package rich, a line for each stage.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Clusters, numbered by falling mass unless ``init`` or ``fixed`` gave them numbers. -1 for
        elements without mass, which belong nowhere; a warning tells how many there are. -1 also
        for what ``reject`` rejects. On a side that is not clustered every element is its own
        cluster.
    row_confidence_, column_confidence_ : ndarray of float
        How likely the cluster of each element is right, in [0, 1]: its posterior times the share
        of the search's results, the best included, that have it there. With c_a the cost of
        cluster a in nats per unit of the element's mass, the element taken out of its own, the
        posterior is proportional to exp(-v^γ c_a), v being the element's effective number of
        entries, (Σ w)² / Σ w². 0 for elements without mass. This and the next four are not there
        for a side that is not clustered.
    row_evidence_exponent_, column_evidence_exponent_ : float
        γ, by which entries count as evidence: 1 if they are independent, less if they come
        together, as words of a text do. It is measured by how much more elements of a cluster
        differ than if their entries were shuffled; 1 if there is only one cluster.
    row_margins_, column_margins_ : ndarray of float
        What the best other cluster costs more, in nats per unit of the element's mass. Below 0
        where another would cost less, but the element is fixed or alone in its cluster.
    row_agreement_, column_agreement_ : ndarray of float
        The share of the other results of the search, members and consensuses, that have the
        element in the same cluster, clusters being matched one to one. NaN if there are no
        others, as with ``n_init=1`` and the paper's methods. Where the global optimum is computed,
        it stands in for the best result.
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
        The evidence: one line for each level from many clusters to few. Numbers of clusters, cost,
        information kept, description length in nats, and how well halves of the data agree on
        this number of row and of column clusters (NaN if they were not compared). The chosen
        numbers are ``suggested``, with the rule for each side. ``pandas.DataFrame`` takes it.
    selection_reason_ : str, if ``n_clusters`` is "auto"
        Why these numbers were chosen, in words.
    weighting_ : Weighting or None
        The fitted weighting.
    reading_ : dict
        How ``comarkov.read`` read the data; ``comarkov.read(new, like=model)`` does it again.
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
    A tie between clusters is decided for the present one, then for the lowest number. Of several
    global optima of tiny data the lexicographically first labels are returned: those of the rows,
    then those of the columns, with clusters numbered by their first element.

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
        "weighting": [None, StrOptions(set(SCHEMES)), Weighting],
        "method": [StrOptions({"auto", "anneal", "sequential", "batch"})],
        "init": [StrOptions({"random"}), tuple, list],
        "fixed": [None, tuple, list],
        "order": [StrOptions({"natural", "shuffled"})],
        "reject": [None, Interval(Real, 0, 1, closed="right")],
        "keep_path": ["boolean"],
    }

    _: KW_ONLY
    beta: float | str = 0.7
    method: str = "auto"
    beta_step: float = 0.1
    order: str = "natural"
    reject: float | None = None
    keep_path: bool = False
