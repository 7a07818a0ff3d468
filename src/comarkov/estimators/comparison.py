"""A comparison of methods from the same starts, and with those of other objectives."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._compat import Interval, validate_params
from ..costs import agreement
from ..costs.objective import information
from ..io.read.fit_input import fit_input
from ..io.store.opening import weighted_joint
from ..joint.joint import Joint, joint
from ..joint.messages import InputError, warn_user, without_mass
from ..joint.weighting import Scheme, Weighting, as_weighting
from ..search.run import Purpose, Seed
from ..search.state.starts import pair, starts_for
from .base import COUNT
from .coclustering import ClusterCounts, CoClustering
from .named import AIB, IBCC, IDC, ITCC, SIB, IBDouble, OneSided
from .prediction import CoClusterEstimator

COST_BETAS = (0.0, 0.5, 0.75, 1.0)
METHODS: dict[str, Callable[..., CoClusterEstimator]] = {
    "auto": CoClustering,
    "anneal": partial(CoClustering, method="anneal"),
    "sequential": partial(CoClustering, method="sequential"),
    "batch": partial(CoClustering, method="batch"),
    "sib": SIB,
    "aib": AIB,
    "itcc": ITCC,
    "ib-double": IBDouble,
    "idc": IDC,
    "ibcc": IBCC,
    "ibcc-iterative": partial(IBCC, method="iterative"),
}
STARTED = ("anneal", "sequential", "batch", "iterative")  # methods that start from labels
MEASURES = {
    "map": agreement.matching_accuracy,
    "nmi": agreement.normalized_mutual_information,
    "ari": agreement.adjusted_rand_index,
}
LOADING = (4, 16)  # sizes of matrices that load the kernels: for few zeros, and for many
MODULARITY_STARTS = 20
LabelsOfBoth = tuple[np.ndarray, np.ndarray]


@validate_params(
    n_clusters=[COUNT, tuple, list],
    methods=[None, list, tuple],
    beta=[Interval(Real, 0, 1, closed="both")],
    n_init=[COUNT],
    random_state=["random_state"],
    classes=[tuple, list],
)
def compare(
    X: Any,
    n_clusters: ClusterCounts = 3,
    methods: Sequence[str] | None = None,
    *,
    beta: float = 0.7,
    weighting: Scheme | Weighting | None = None,
    n_init: int = 1,
    random_state: Any = 0,
    classes: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
) -> np.ndarray:
    """Run methods on the same matrix from the same starts; one row for each.

    Random labels are drawn for each start, and every method that starts from labels uses these;
    the result of least cost, at the β of the method, is shown. So ITCC has all its column clusters
    from the start, rather than half of them. "auto", "aib", "ib-double", "idc" and "ibcc" make
    their own starts. sIB and aIB run on the rows and on the columns.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        Nonnegative weights.
    n_clusters : int or pair of int, default=3
        How many row and column clusters; one number is used for both.
    methods : sequence of str, default=None
        Any of "auto", "anneal", "sequential", "batch" (CoClustering at ``beta``), "sib", "aib",
        "itcc", "ib-double", "idc", "ibcc", "ibcc-iterative". None is all of these, except those
        that need too much memory for the matrix, which a warning names. Methods with other
        objectives run if they are named, their ``beta`` is NaN: "spectral" and "modularity"
        (Barber's), with the larger number of clusters on both sides; "nmf" and "lda", with that of
        the rows on both; and "k-means" on tf-idf. They get the ``random_state``, not the starts.
    beta : float in [0, 1], default=0.7
        For the methods that work at any β.
    weighting, n_init, random_state
        As in :class:`CoClustering`; costs are those of the weighted matrix.
    classes : pair of (array-like or None), default=(None, None)
        Known classes of rows and of columns to compare the clusters with.

    Returns
    -------
    structured ndarray
        ``pandas.DataFrame`` accepts it. For each ``method`` its ``beta``; ``cost_0``,
        ``cost_0.5``, ``cost_0.75`` and ``cost_1``, which are L_β in bits at these β; the share
        ``kept`` of the information; ``seconds`` for all starts together. With known classes also
        ``row_map`` (matching accuracy), ``row_nmi``, ``row_ari`` and the same for columns.

    Examples
    --------
    >>> from comarkov import compare, datasets
    >>> women = datasets.load("southern-women").matrix
    >>> table = compare(women, (2, 3), ["sequential", "itcc", "aib"], n_init=5)
    >>> for line in table[["method", "cost_0.5", "cost_1"]]:
    ...     print("{:10}  {:.3f}  {:.3f}".format(*line))
    sequential  0.656  1.155
    itcc        0.656  1.155
    aib         0.745  1.199
    """
    names = list(METHODS if methods is None else methods)
    wrong = [name for name in names if name not in [*METHODS, *BASELINES]]
    if wrong or not names:
        problem = f"There is no method {wrong[0]!r}" if wrong else "methods is empty"
        raise InputError(problem, advice=f"Choose from: {', '.join([*METHODS, *BASELINES])}.")
    counts = pair(n_clusters, "n_clusters")
    if None in counts:
        raise InputError(
            f"A comparison needs a number of clusters for rows and for columns, got {n_clusters!r}",
            advice="For example: n_clusters=(3, 3)",
        )
    seed = random_state
    if not isinstance(seed, Integral):
        seed = check_random_state(random_state).randint(2**31)
    X = fit_input(X)
    data = weighted_joint(X, as_weighting(weighting, X))
    known = _check_classes(classes, data.shape)
    starts = same_starts(data.csr, counts, n_init, int(seed))
    empty = [int((mass == 0).sum()) for mass in (data.row_mass, data.column_mass)]
    if any(empty):
        warn_user(f"{without_mass(empty, data.shape)}: in no cluster.")
    lines = []
    for name in names:
        try:
            if name in BASELINES:
                before = time.perf_counter()
                labels = baseline(name, data.csr, counts, seed)
                found = np.nan, labels, time.perf_counter() - before
            else:
                found = _best_fit(name, beta, seed, data.csr, starts)
            lines.append(_line(name, *found, data, known))
        except MemoryError as error:
            if methods is not None:
                raise
            warn_user(f"{name!r} is left out. {error}")
    width = max(len(line["method"]) for line in lines)
    types = [(field, f"U{width}" if field == "method" else "f8") for field in lines[0]]
    return np.array([tuple(line.values()) for line in lines], types)


def _check_classes(classes: Any, shape: tuple[int, int]) -> dict[int, tuple[str, np.ndarray]]:
    known = {}
    sides = zip(("row", "column"), pair(classes, "classes"), shape, strict=True)
    for side, (name, given, n) in enumerate(sides):
        if given is None:
            continue
        array = np.asarray(given)
        with suppress(TypeError):  # values that cannot be compared
            if array.shape == (n,) and not (array != array).any():  # as NaN does
                known[side] = name, np.unique(array, return_inverse=True)[1]
        if side not in known:
            raise InputError(
                f"The {name} classes must be one for each of the {n} {name}s, all numbers or all "
                "strings, and none may be missing."
            )
    return known


def same_starts(weights: Any, n_clusters: Any, n_init: int, seed: int) -> list[LabelsOfBoth]:
    """Random labels of rows and columns, for each start."""
    sides = starts_for(joint(weights), n_clusters, None, None)
    streams = [Seed((seed,)).stream(Purpose.START, i) for i in range(n_init)]
    return [(sides[0].draw(rng), sides[1].draw(rng)) for rng in streams]


def _best_fit(
    name: str, beta: float, seed: int, weights: sp.csr_array, starts: list[LabelsOfBoth]
) -> tuple[float, LabelsOfBoth, float]:
    """Fit from each of the starts, if the method uses them; return β, the best labels, seconds."""
    estimator, wanted = METHODS[name](), {"beta": beta, "random_state": seed}
    for parameter in wanted.keys() & estimator.get_params().keys():
        estimator.set_params(**{parameter: wanted[parameter]})
    asked = estimator._parameters()
    beta, takes_starts = float(asked.beta), asked.method in STARTED
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* (is|are) empty")  # reported once
        for n in LOADING:
            small = (np.arange(n) % 2,) * 2
            _fit(estimator, joint(np.eye(n) * weights.data[0]).csr, small, takes_starts)
        before = time.perf_counter()
        used = starts if takes_starts else starts[:1]
        results = [_fit(estimator, weights, start, takes_starts) for start in used]
        seconds = time.perf_counter() - before
    best = min(results, key=lambda labels: information(weights, *labels).cost(beta))
    return beta, best, seconds


def _line(
    method: str, beta: float, labels: LabelsOfBoth, seconds: float, data: Joint, known: Any
) -> dict[str, Any]:
    """Return costs, information kept, time, and agreement with known classes."""
    parts = information(data.csr, *labels)
    line: dict[str, Any] = {"method": method, "beta": beta}
    line |= {f"cost_{other:g}": parts.cost(other) for other in COST_BETAS}
    line |= {"kept": parts.kept, "seconds": seconds}
    for side, (name, classes) in known.items():
        line |= {f"{name}_{m}": agree(classes, labels[side]) for m, agree in MEASURES.items()}
    return line


def _fit(
    estimator: CoClusterEstimator, weights: sp.csr_array, start: LabelsOfBoth, takes_starts: bool
) -> LabelsOfBoth:
    """Labels of rows and columns; a method for rows only is also fitted to the transpose."""

    def fit(matrix: Any, counts: Any, init: Any) -> CoClusterEstimator:
        given = {"init": init} if takes_starts else {}
        return clone(estimator).set_params(n_clusters=counts, **given).fit(matrix)

    counts = tuple(int(labels.max()) + 1 for labels in start)
    if not isinstance(estimator, OneSided):
        model = fit(weights, counts, start)
        return model.row_labels_, model.column_labels_
    rows = fit(weights, counts[0], (start[0], None))
    columns = fit(weights.T, counts[1], (start[1], None))
    return rows.row_labels_, columns.row_labels_


# --- methods with other objectives --------------------------------------------------------------


def baseline(name: str, weights: sp.csr_array, counts: tuple[int, int], seed: int) -> LabelsOfBoth:
    """Return row and column labels by one of `BASELINES`; -1 for empty rows and columns."""
    rows, columns = (np.flatnonzero(weights.sum(axis=axis)) for axis in (1, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence of scikit-learn's methods
        found = BASELINES[name](weights[rows][:, columns].astype(float), counts, seed)
    labels = np.full(weights.shape[0], -1), np.full(weights.shape[1], -1)
    for side, kept, own in zip(labels, (rows, columns), found, strict=True):
        side[kept] = np.unique(own, return_inverse=True)[1]
    return labels


def _spectral(X: sp.csr_array, counts: tuple[int, int], seed: int) -> LabelsOfBoth:
    """Spectral co-clustering (Dhillon 2001): the same number of clusters on both sides."""
    from sklearn.cluster import SpectralCoclustering

    model = SpectralCoclustering(max(counts), random_state=seed).fit(sp.csr_matrix(X))
    return model.row_labels_, model.column_labels_


def _k_means(X: sp.csr_array, counts: tuple[int, int], seed: int) -> LabelsOfBoth:
    """k-means on tf-idf, for the rows and for the columns."""
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfTransformer

    def one_side(table: sp.csr_array, k: int) -> np.ndarray:
        points = TfidfTransformer().fit_transform(sp.csr_matrix(table))
        labels: np.ndarray = KMeans(k, n_init=10, random_state=seed).fit_predict(points)
        return labels

    return one_side(X, counts[0]), one_side(X.T.tocsr(), counts[1])


def _by_largest(
    kind: str, X: sp.csr_array, counts: tuple[int, int], seed: int, **options: Any
) -> LabelsOfBoth:
    """Rows and columns by their largest factor, or their likeliest topic."""
    from sklearn import decomposition

    model = getattr(decomposition, kind)(counts[0], random_state=seed, **options)
    return model.fit_transform(sp.csr_matrix(X)).argmax(axis=1), model.components_.argmax(axis=0)


def _modularity(X: sp.csr_array, counts: tuple[int, int], seed: int) -> LabelsOfBoth:
    return best_modules(X, max(counts), MODULARITY_STARTS, np.random.default_rng(seed))[:2]


BASELINES: dict[str, Callable[[sp.csr_array, tuple[int, int], int], LabelsOfBoth]] = {
    "spectral": _spectral,
    "k-means": _k_means,
    "nmf": partial(_by_largest, "NMF", init="nndsvda"),
    "lda": partial(_by_largest, "LatentDirichletAllocation"),
    "modularity": _modularity,
}


def best_modules(
    weights: sp.csr_array, n_modules: int, n_starts: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return modules of rows and columns with the highest bipartite modularity found, and it.

    Q = Σ_xy [p(x,y) - p(x) p(y)] [module of x = module of y]   (Barber 2007)

    If the modules of one side are given, each element of the other is best where it gains most.
    So the two sides alternate, from random modules, until Q stops rising.
    """
    P = weights / weights.sum()
    rows, columns = (np.asarray(P.sum(axis=axis)).ravel() for axis in (1, 0))
    results = []
    for _ in range(n_starts):
        of_column, before = rng.integers(n_modules, size=columns.size), -np.inf
        while True:
            of_row = _gains(P, rows, columns, of_column, n_modules).argmax(axis=1)
            gains = _gains(P.T, columns, rows, of_row, n_modules)
            of_column, value = gains.argmax(axis=1), float(gains.max(axis=1).sum())
            if value <= before + 1e-12:
                break
            before = value
        results.append((of_row, of_column, value))
    return max(results, key=lambda result: round(result[2], 12))


def _gains(
    P: sp.csr_array, own: np.ndarray, other: np.ndarray, labels: np.ndarray, k: int
) -> np.ndarray:
    """Return what each row adds to the modularity in each module."""
    member = np.eye(k)[labels]
    gains: np.ndarray = P @ member - np.outer(own, other @ member)
    return gains
