"""A comparison of methods: from the same starts, in one table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..costs import agreement
from ..costs.objective import Information, information
from ..io.read.fit_input import fit_input
from ..io.store.weighing import weighted_joint
from ..joint.joint import Joint, joint
from ..joint.messages import without_mass
from ..joint.weighting import Weighting, as_weighting
from ..search.run import Purpose, Seed
from ..search.state.starts import pair, starts_for
from .coclustering import ClusterCounts, CoClustering
from .fitting import CoClusterEstimator
from .named import AIB, IBCC, IDC, ITCC, SIB, IBDouble, OneSided

BETAS = (0.0, 0.5, 0.75, 1.0)
NAMES: dict[str, Callable[..., CoClustering]] = {
    **{m: partial(CoClustering, method=m) for m in ("auto", "anneal", "sequential", "batch")},
    "sib": SIB,
    "aib": AIB,
    "itcc": ITCC,
    "ib-double": IBDouble,
    "idc": IDC,
    "ibcc": IBCC,
    "ibcc-iterative": partial(IBCC, method="iterative"),
}
STARTED = ("anneal", "sequential", "batch", "iterative")  # methods that start from labels
AGREEMENT = {
    "map": agreement.matching_accuracy,
    "nmi": agreement.normalized_mutual_information,
    "ari": agreement.adjusted_rand_index,
}
LOADING = (4, 16)  # sizes of matrices that load the kernels: for few zeros, and for many
LARGEST_SEED = 2**32 - 1
Labels = tuple[np.ndarray, np.ndarray]


class Known(NamedTuple):
    """Known classes of the rows (side 0) or the columns (side 1)."""

    name: str
    side: int
    classes: np.ndarray


class Fitted(NamedTuple):
    """The result of a method."""

    labels: Labels
    beta: float
    seconds: float


def compare(
    X: Any,
    n_clusters: ClusterCounts = 3,
    methods: Sequence[str] | None = None,
    *,
    beta: float = 0.7,
    weighting: str | Weighting | None = None,
    n_starts: int = 1,
    seed: int = 0,
    classes: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
) -> np.ndarray:
    """Run methods on the same matrix from the same starts; one line for each.

    Random labels are drawn for each start, and every method that starts from labels uses these;
    the result of least cost, at the β of the method, is shown. So ITCC has all its column clusters
    from the start, rather than half of them. "auto", "aib", "ib-double", "idc" and "ibcc" make
    their own starts. sIB and aIB run on the rows and on the columns.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        Nonnegative weights.
    n_clusters : int or pair of int, default=3
        The numbers of row and of column clusters.
    methods : sequence of str, default=None
        Any of "auto", "anneal", "sequential", "batch" (CoClustering at ``beta``), "sib", "aib",
        "itcc", "ib-double", "idc", "ibcc", "ibcc-iterative". None is all of them, except those that
        need too much memory for the matrix, which a warning names.
    beta : float in [0, 1], default=0.7
        For the methods that work at any β.
    weighting : None, str or Weighting, default=None
        How entries are weighted first; costs are those of the weighted matrix.
    n_starts : int, default=1
        The number of starts.
    seed : int, default=0
        The seed of the starts.
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
    >>> table = compare(women, (2, 3), ["sequential", "itcc", "aib"], n_starts=5)
    >>> for line in table[["method", "cost_0.5", "cost_1"]]:
    ...     print("{:10}  {:.3f}  {:.3f}".format(*line))
    sequential  0.656  1.155
    itcc        0.656  1.155
    aib         0.745  1.199
    """
    names = _checked_methods(methods)
    _check_numbers(n_clusters, beta, n_starts, seed)
    X = fit_input(X)
    data = weighted_joint(X, as_weighting(weighting, X))
    known = _checked_classes(classes, data.shape)
    weights = data.csr
    starts = same_starts(weights, n_clusters, n_starts, seed)
    _warn_of_empty(data)
    lines = []
    for name in names:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".* (has|have) no mass")  # reported once, above
                fitted = run(_estimator(name, beta, seed), weights, n_clusters, starts)
        except MemoryError as error:
            if methods is not None:
                raise
            warnings.warn(f"{name!r} is left out. {error}", stacklevel=2)
            continue
        lines.append(_line(name, information(weights, *fitted.labels), fitted, known))
    return _table(lines)


def _checked_methods(methods: Any) -> list[str]:
    """The names of methods, or an error with those that there are."""
    if methods is None:
        return list(NAMES)
    choice = f"Choose from: {', '.join(NAMES)}"
    if isinstance(methods, str) or not isinstance(methods, Iterable):
        raise ValueError(f"methods must be a list of names, got {methods!r}. {choice}.")
    names = list(methods)
    if not names:
        raise ValueError(f"methods is empty. {choice}; or use None for all.")
    for name in names:
        if not isinstance(name, str) or name not in NAMES:
            raise ValueError(f"There is no method {name!r}. {choice}.")
    return names


def _check_numbers(n_clusters: Any, beta: Any, n_starts: Any, seed: Any) -> None:
    """Refuse numbers that some method could not use, even if it is not among those compared."""
    single = isinstance(n_clusters, str | Real) or n_clusters is None
    counts = [n_clusters] if single else n_clusters
    if not all(_is_whole(count) and count >= 1 for count in counts):
        raise ValueError(
            "A comparison needs the numbers of row and of column clusters, as an int >= 1 or a "
            f"pair of them, got {n_clusters!r}. For example: n_clusters=(3, 3)"
        )
    if not isinstance(beta, Real) or isinstance(beta, bool) or not 0 <= float(beta) <= 1:
        raise ValueError(f"beta must be a number from 0 to 1, got {beta!r}. For example: beta=0.7")
    if not _is_whole(n_starts) or n_starts < 1:
        raise ValueError(f"n_starts must be an int >= 1, got {n_starts!r}.")
    if not _is_whole(seed) or not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"seed must be an int from 0 to {LARGEST_SEED}, got {seed!r}.")


def _checked_classes(pair_of_classes: Any, shape: tuple[int, int]) -> list[Known]:
    """The known classes as numbers."""
    if not isinstance(pair_of_classes, tuple | list) or len(pair_of_classes) != 2:
        raise ValueError(
            "classes must be a pair: those of the rows and those of the columns, either of which "
            "may be None. For example: classes=(row_classes, None)"
        )
    known = []
    sides = zip(("row", "column"), pair_of_classes, shape, strict=True)
    for side, (name, classes, n) in enumerate(sides):
        if classes is None:
            continue
        array = np.asarray(classes)
        if array.shape != (n,):
            raise ValueError(
                f"There must be one class for each of the {n} {name}s, got an array of shape "
                f"{array.shape}."
            )
        try:
            is_complete = not (array != array).any()  # NaN differs from itself
            numbers = np.unique(array, return_inverse=True)[1]
        except TypeError:  # values that cannot be compared
            is_complete = False
        if not is_complete:
            raise ValueError(
                f"The {name} classes must be all numbers or all strings, and none may be missing."
            )
        known.append(Known(name, side, numbers))
    return known


def _warn_of_empty(data: Joint) -> None:
    """Warn of empty rows and columns, which no method clusters."""
    empty = [int((mass == 0).sum()) for mass in (data.row_mass, data.column_mass)]
    if any(empty):
        warnings.warn(f"{without_mass(empty, data.shape)}: in no cluster.", stacklevel=3)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def same_starts(weights: Any, n_clusters: Any, n_starts: int, seed: int) -> list[Labels]:
    """Random labels of rows and columns, for each start."""
    sides = starts_for(joint(weights), n_clusters, None, None)
    streams = [Seed((seed,)).stream(Purpose.START, i) for i in range(n_starts)]
    return [(sides[0].draw(rng), sides[1].draw(rng)) for rng in streams]


def run(
    estimator: CoClusterEstimator, weights: sp.csr_array, n_clusters: Any, starts: list[Labels]
) -> Fitted:
    """Fit from each of the starts, if the method uses them; the result of least cost."""
    takes_starts = "init" in estimator.get_params() and estimator.method in STARTED
    for n in LOADING:
        small = joint(np.eye(n) * weights.data[0]).csr
        _fit(estimator, small, 2, (np.arange(n) % 2,) * 2 if takes_starts else None)
    before = time.perf_counter()
    results = [
        _fit(estimator, weights, n_clusters, start)
        for start in (starts if takes_starts else [None])
    ]
    seconds = time.perf_counter() - before
    beta = float(estimator.beta)
    costs = [information(weights, *labels).cost(beta) for labels in results]
    return Fitted(results[int(np.argmin(costs))], beta, seconds)


def _fit(
    estimator: CoClusterEstimator, weights: sp.csr_array, n_clusters: Any, start: Labels | None
) -> Labels:
    """Labels of rows and columns; a method for rows only is also fitted to the transpose."""
    counts = pair(n_clusters, "n_clusters")
    if not isinstance(estimator, OneSided):
        init = {} if start is None else {"init": start}
        model = clone(estimator).set_params(n_clusters=counts, **init).fit(weights)
        return model.row_labels_, model.column_labels_
    rows, columns = (
        clone(estimator)
        .set_params(n_clusters=k, **({} if start is None else {"init": (start[i], None)}))
        .fit_predict(matrix)
        for i, (k, matrix) in enumerate(zip(counts, (weights, weights.T), strict=True))
    )
    return rows, columns


def _estimator(name: str, beta: float, seed: int) -> CoClusterEstimator:
    estimator = NAMES[name]()
    wanted = {"beta": beta, "random_state": seed}
    known = estimator.get_params()
    return estimator.set_params(**{key: wanted[key] for key in wanted if key in known})


def _line(name: str, parts: Information, fitted: Fitted, known: list[Known]) -> dict[str, Any]:
    costs = {f"cost_{beta:g}": parts.cost(beta) for beta in BETAS}
    agreement = {
        f"{known_side.name}_{measure}": agree(known_side.classes, fitted.labels[known_side.side])
        for known_side in known
        for measure, agree in AGREEMENT.items()
    }
    figures = {"beta": fitted.beta, **costs, "kept": parts.kept, "seconds": fitted.seconds}
    return {"method": name, **figures, **agreement}


def _table(lines: list[dict[str, Any]]) -> np.ndarray:
    width = max(len(line["method"]) for line in lines)
    types = [(field, f"U{width}" if field == "method" else "f8") for field in lines[0]]
    return np.array([tuple(line.values()) for line in lines], types)
