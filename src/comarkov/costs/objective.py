"""The costs of clusterings, in bits, in plain NumPy: kernels, moves and reports are tested equal.

X and Y are the row and the column of a unit of mass drawn from a matrix of weights n_xy, of total
N; X̄ = Φ(X) and Ȳ = Ψ(Y) are their clusters. Rows and columns are elements of two types, or of the
same type. With coefficients c, the loss of information is

    L = (c_S + c_T + c_ST) I(X;Y) - c_T I(X;Ȳ) - c_S I(X̄;Y) - c_ST I(X̄;Ȳ)

| model                               | c_S  | c_T  | c_ST    |
|-------------------------------------|------|------|---------|
| co-clustering L_β                   | 2β-1 | 2β-1 | 2(1-β)  |
| Markov aggregation (Y is X's next)  | 0    | 2β-1 | 1-β     |
| multi-way clustering, for each      | 0    | 0    | weight  |
| information bottleneck of X         | 1    | 0    | 0       |

Up to a constant, with f(v) = v ln v,

    N L = - c_T Σ f(n_xȲ) - c_S Σ f(n_X̄y) - c_ST Σ f(n_X̄Ȳ)
          + (c_S + c_ST) Σ f(n_X̄) + (c_T + c_ST) Σ f(n_Ȳ)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import xlogy
from sklearn.utils import check_random_state

from ..joint.joint import Joint, joint
from ..kernels.matrix import sum_xlogx
from ..kernels.tables import add_pair_terms
from .labels import as_labels, membership

NO_INFORMATION = 1e-12  # bits that may be 0
LEAST_PROBABILITY = 1e-12  # of what happened although it was predicted never to
LN2 = float(np.log(2))  # nats in a bit
ITEMS_COPIED = 1 << 16  # of a table at a time
ITEMS_AT_ONCE = 1 << 14  # of a larger table, by one thread

Each = Callable[[Callable[[int], np.ndarray], int], list[np.ndarray]]
Term = tuple[np.ndarray, float]  # masses by (item, cluster), and their factor in merge costs


def nats(v: np.ndarray) -> np.ndarray:
    """Return f(v) = v ln v, and 0 of 0."""
    return np.asarray(xlogy(v, v))


def surprise(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Return -Σ n log2 p / Σ n: the bits per event by which a prediction misses what happened."""
    likely = np.maximum(probabilities, LEAST_PROBABILITY)
    return float(-(counts * np.log2(likely)).sum() / counts.sum())


def joining(u: ArrayLike, v: ArrayLike) -> float:
    """Return by how much Σ f grows when masses are added pairwise: Σ f(u + v) - f(u) - f(v)."""
    u, v = np.asarray(u), np.asarray(v)
    return float((nats(u + v) - nats(u) - nats(v)).sum())


class Information(NamedTuple):
    """Mutual information, in bits, between rows or their clusters and columns or theirs.

    Examples
    --------
    >>> import comarkov
    >>> amounts = comarkov.information([[1, 0, 0], [0, 1, 1]], [0, 1], [0, 1, 1])
    >>> round(amounts.rows_columns, 3), amounts.kept, amounts.cost(beta=0.7)
    (0.918, 1.0, 0.0)
    """

    rows_columns: float  #: I(X;Y), the information of the matrix
    rows_column_clusters: float  #: I(X;Ȳ)
    row_clusters_columns: float  #: I(X̄;Y)
    row_clusters_column_clusters: float  #: I(X̄;Ȳ)

    @property
    def is_zero(self) -> bool:
        """Is I(X;Y) 0, but for rounding?"""
        return self.rows_columns < NO_INFORMATION

    @property
    def kept(self) -> float:
        """The share I(X̄;Ȳ) / I(X;Y) that the blocks keep; 1 if I(X;Y) is 0."""
        if self.is_zero:
            return 1.0
        return min(self.row_clusters_column_clusters / self.rows_columns, 1.0)

    def loss(self, side: str, about: str = "elements") -> float:
        """Return the relevant information loss of clustering a side, "rows" or "columns", in bits.

        It is what is lost about the ``"elements"`` of the other side, such as I(X;Y) - I(X̄;Y), or
        about its ``"clusters"``, such as I(X;Ȳ) - I(X̄;Ȳ). L_β is β times the losses about elements
        plus 1-β times those about clusters.
        """
        whole, left, right, blocks = self
        other = {"rows": (right, left), "columns": (left, right)}[side]
        lost = {"elements": whole - other[0], "clusters": other[1] - blocks}[about]
        return max(lost, 0.0)

    def cost(self, beta: float) -> float:
        """Return L_β of a co-clustering in bits; never negative for β in [0, 1]."""
        return co_clustering(beta).cost(self)


def least_costs(every: Sequence[Information]) -> list[tuple[float, int]]:
    """Return which co-clustering costs least from which β on, up to the next one.

    All L_β are lines in β, so their minimum is concave, and each is least in one interval at most.
    """
    at_zero, at_one = (np.array([each.cost(beta) for each in every]) for beta in (0.0, 1.0))
    slope = at_one - at_zero
    beta, i = 0.0, int(np.lexsort((slope, at_zero))[0])
    found = [(beta, i)]
    while (flatter := slope < slope[i]).any():
        crossing = np.full(slope.size, np.inf)
        crossing[flatter] = (at_zero[flatter] - at_zero[i]) / (slope[i] - slope[flatter])
        i = int(np.lexsort((slope, crossing))[0])
        beta = float(crossing[i])
        if beta >= 1:
            break
        found.append((beta, i))
    return found


class Factors(NamedTuple):
    """The factors of the terms of N L that depend on the clusters X̄; f(v) = v ln v."""

    items: float  #: of Σ f(n_X̄y)
    blocks: float  #: of Σ f(n_X̄Ȳ)
    mass: float  #: of Σ f(n_X̄)


class Coefficients(NamedTuple):
    """The coefficients of one relation: a row of the table above."""

    source: float  #: c_S, of I(X̄;Y)
    target: float  #: c_T, of I(X;Ȳ)
    both: float  #: c_ST, of I(X̄;Ȳ)

    def cost(self, information: Information) -> float:
        """Return the loss L in bits, from the four informations; never negative."""
        loss = (
            sum(self) * information.rows_columns
            - self.target * information.rows_column_clusters
            - self.source * information.row_clusters_columns
            - self.both * information.row_clusters_column_clusters
        )
        return max(loss, 0.0)

    def times(self, weight: float) -> Coefficients:
        """Return the coefficients of a relation with this weight."""
        return Coefficients(*(weight * coefficient for coefficient in self))

    @property
    def transposed(self) -> Coefficients:
        """The coefficients of the transposed relation."""
        return Coefficients(self.target, self.source, self.both)

    @property
    def factors(self) -> Factors:
        """The factors of the terms that change when elements of the source move."""
        return Factors(-self.source, -self.both, self.source + self.both)

    def one_sided(self, source: bool, target: bool) -> Coefficients:
        """Return the coefficients if only these are clustered: each other element is a cluster."""
        if source and target:
            return self
        return Coefficients(
            self.source + self.both if source else 0.0,
            self.target + self.both if target else 0.0,
            0.0,
        )


def co_clustering(beta: float) -> Coefficients:
    """Return the coefficients of co-clustering; at β = 1/2 those of multi-way clustering."""
    coupling = 2 * float(beta) - 1
    return Coefficients(coupling, coupling, 1 - coupling)


def markov(beta: float) -> Coefficients:
    """Return those of Markov aggregation; source and target are states before and after a step."""
    return Coefficients(0.0, 2 * float(beta) - 1, 1 - float(beta))


def merge_factors(coupling: float) -> Factors:
    """Return the factors of one side of a co-clustering; λ = 2β - 1, or 1 if it is the only one."""
    return Coefficients(coupling, coupling, 1.0 - coupling).factors


def pair_costs(
    mass: np.ndarray,
    items: np.ndarray,
    blocks: np.ndarray,
    coupling: float,
    each: Each | None = None,
) -> np.ndarray:
    """Return the costs of merging clusters i < j from N_i, A_yi and M_bi; infinite elsewhere.

    D_ij = g(N_i, N_j) - λ Σ_y g(A_yi, A_yj) - (1-λ) Σ_b g(M_bi, M_bj)
    g(u, v) = f(u + v) - f(u) - f(v),  f(v) = v ln v
    """
    factors = merge_factors(coupling)
    terms = (mass[None], factors.mass), (items, factors.items), (blocks, factors.blocks)
    return sum_pair_terms(terms, each)


def sum_pair_terms(terms: Sequence[Term], each: Each | None = None) -> np.ndarray:
    """Return the sum over tables of factor Σ_y g(A_yi, A_yj) for i < j; infinite elsewhere.

    ``each`` does work(0), ..., work(count - 1) on chunks of a large table, if possible at once.
    """
    k = terms[0][0].shape[1]
    costs = np.full((k, k), np.inf)
    costs[np.triu_indices(k, 1)] = 0.0
    for masses, factor in terms:
        if factor and len(masses) <= ITEMS_COPIED:
            add_pair_terms(costs, np.ascontiguousarray(masses, np.float64), factor)
        elif factor:

            def of_chunk(i: int, masses: np.ndarray = masses, factor: float = factor) -> np.ndarray:
                part = masses[i * ITEMS_AT_ONCE : (i + 1) * ITEMS_AT_ONCE]
                sums = np.zeros((k, k))
                add_pair_terms(sums, np.ascontiguousarray(part, np.float64), factor)
                return sums

            count = -(-len(masses) // ITEMS_AT_ONCE)
            costs += sum(each(of_chunk, count) if each else map(of_chunk, range(count)))
    return costs


def saved_nats(before: np.ndarray, after: np.ndarray, items: float, coupling: float) -> float:
    """Return by how much N L falls when rows move, in nats times mass.

    The blocks have the masses of clusters in their last row; Σ f(n_X̄y) grows by ``items``.
    """
    factors = merge_factors(coupling)
    mass = sum_xlogx(after[-1]) - sum_xlogx(before[-1])
    blocks = sum_xlogx(after[:-1].ravel()) - sum_xlogx(before[:-1].ravel())
    return float(-factors.items * items - factors.blocks * blocks - factors.mass * mass)


def information(W: Any, row_labels: ArrayLike, column_labels: ArrayLike) -> Information:
    """Return the four mutual informations of a co-clustering, in bits.

    Parameters
    ----------
    W : array-like or sparse matrix of shape (n_rows, n_columns)
        Nonnegative weights; they need not sum to 1.
    row_labels, column_labels : array-like of int
        The cluster of each row and of each column. Empty rows and columns may have any label,
        including -1.

    Examples
    --------
    >>> import comarkov
    >>> comarkov.information([[1, 0, 0], [0, 1, 1]], [0, 1], [0, 1, 1]).kept
    1.0
    """
    distribution, rows, columns = _checked(W, row_labels, column_labels)
    matrix = distribution.matrix
    x = np.repeat(np.arange(rows.size), np.diff(matrix.indptr))
    y = matrix.indices.astype(np.int64)
    w = matrix.weights.astype(np.float64) / distribution.total
    return Information(
        _mutual_information(x, y, w),
        _mutual_information(x, columns[y], w),
        _mutual_information(rows[x], y, w),
        _mutual_information(rows[x], columns[y], w),
    )


def cost(W: Any, row_labels: ArrayLike, column_labels: ArrayLike, beta: float) -> float:
    """Return the cost L_β of a co-clustering, in bits: the information that the clusters lose.

    Parameters
    ----------
    W, row_labels, column_labels
        As in :func:`information`.
    beta : float in [0, 1]
        1 is two independent clusterings (information bottleneck), 3/4 is IBCC, 1/2 is ITCC, 0
        is lumpability alone.

    Examples
    --------
    >>> import numpy as np, comarkov
    >>> P = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]) / 4
    >>> comarkov.cost(P, [0, 0, 1], [0, 0, 1, 1], beta=0.5)
    0.5
    """
    if not isinstance(beta, Real) or not 0 <= beta <= 1:
        raise ValueError(f"beta must be a number in [0, 1], got {beta!r}.")
    return information(W, row_labels, column_labels).cost(beta)


class Approximation(NamedTuple):
    """The distribution that a co-clustering keeps: q(x,y) = p(x̄,ȳ) p(x|x̄) p(y|ȳ).

    It has the margins and the block masses of the data.

    Examples
    --------
    >>> import comarkov
    >>> P = [[4, 0], [0, 2]]
    >>> kept = comarkov.approximation(P, [0, 1], [0, 1])
    >>> print(kept.toarray() * 6, kept.divergence(P))
    [[4. 0.]
     [0. 2.]] 0.0
    """

    blocks: np.ndarray  #: p(x̄,ȳ)
    rows: np.ndarray  #: p(x)
    columns: np.ndarray  #: p(y)
    row_labels: np.ndarray
    column_labels: np.ndarray

    def toarray(self) -> np.ndarray:
        """Return q as a dense array."""
        lifts = lift(self.blocks)[np.ix_(self.row_labels, self.column_labels)]
        return np.asarray(self.rows[:, None] * lifts * self.columns)

    def divergence(self, W: Any) -> float:
        """Return KL(p‖q) in bits, p being the distribution of weights W, of the same shape.

        For the weights of the fit it is L_½ = I(X;Y) - I(X̄;Ȳ). It is infinite if W has weight
        where q is 0.
        """
        cells = joint(W).csr.tocoo()
        p, x, y = cells.data / cells.data.sum(), cells.row, cells.col
        q = self.rows[x] * lift(self.blocks)[self.row_labels[x], self.column_labels[y]]
        q *= self.columns[y]
        with np.errstate(divide="ignore"):
            return float((p * np.log2(p / q)).sum())

    def sample(self, n: int, random_state: Any = None) -> sp.csr_array:
        """Draw n entries from q, as a matrix of counts."""
        rng, shape = check_random_state(random_state), (self.rows.size, self.columns.size)
        drawn = rng.multinomial(n, (self.blocks / self.blocks.sum()).ravel())
        counts = sp.csr_array(shape, dtype=np.int64)
        for cell in np.flatnonzero(drawn):
            a, b = divmod(cell, self.blocks.shape[1])
            places = []
            for mass, labels, own in (
                (self.rows, self.row_labels, a),
                (self.columns, self.column_labels, b),
            ):
                mass = np.where(labels == own, mass, 0.0)
                places.append(rng.choice(mass.size, drawn[cell], p=mass / mass.sum()))
            counts += sp.coo_array((np.ones(drawn[cell], np.int64), places), shape).tocsr()
        return counts


def approximation(W: Any, row_labels: ArrayLike, column_labels: ArrayLike) -> Approximation:
    """Return the distribution that a co-clustering keeps: q(x,y) = p(x̄,ȳ) p(x|x̄) p(y|ȳ).

    Its divergence from the data, KL(p‖q), is the cost at β = 1/2, I(X;Y) - I(X̄;Ȳ), in bits. A
    fitted model has it too: ``model.approximation()``. The parameters are those of
    :func:`information`.

    Examples
    --------
    >>> import comarkov
    >>> W = [[2, 0, 1], [0, 2, 1], [0, 0, 4]]
    >>> q = comarkov.approximation(W, [0, 0, 1], [0, 0, 1])
    >>> q.toarray().round(2)
    array([[0.1, 0.1, 0.1],
           [0.1, 0.1, 0.1],
           [0. , 0. , 0.4]])
    >>> round(q.divergence(W), 2), int(q.sample(10, random_state=0).sum())
    (0.4, 10)
    """
    distribution, rows, columns = _checked(W, row_labels, column_labels)
    total = distribution.total
    in_rows, in_columns = (membership(side, int(side.max()) + 1) for side in (rows, columns))
    blocks = (in_rows.T @ distribution.csr @ in_columns).toarray() / total
    margins = distribution.row_mass / total, distribution.column_mass / total
    return Approximation(blocks, *margins, rows, columns)


def _checked(
    W: Any, row_labels: ArrayLike, column_labels: ArrayLike
) -> tuple[Joint, np.ndarray, np.ndarray]:
    """Return the distribution, and labels without gaps; an error if an element has none."""
    data = W if isinstance(W, Joint) else joint(W)

    def checked(values: ArrayLike, mass: np.ndarray, what: str) -> np.ndarray:
        array = as_labels(values, mass.size, what)
        if (lost := np.flatnonzero((array < 0) & (mass > 0))).size:
            problem = f"{what}[{lost[0]}] is -1, but the element is not empty"
            raise ValueError(f"{problem}: give it a cluster.")
        return np.unique(array, return_inverse=True)[1]

    rows = checked(row_labels, data.row_mass, "row_labels")
    return data, rows, checked(column_labels, data.column_mass, "column_labels")


def _mutual_information(x: np.ndarray, y: np.ndarray, p: np.ndarray) -> float:
    """Return the mutual information in bits of two labellings of entries with probabilities p."""
    width = int(y.max()) + 1
    cells, cell = np.unique(x * width + y, return_inverse=True)
    p_xy = np.bincount(cell, weights=p)
    p_x = np.bincount(x, weights=p)[cells // width]
    p_y = np.bincount(y, weights=p)[cells % width]
    return max(float(information_parts(p_xy, p_x, p_y).sum()), 0.0)


def information_parts(p: np.ndarray, p_x: ArrayLike, p_y: ArrayLike) -> np.ndarray:
    """Return p log2[p / p(x) p(y)], the part of each cell in I(X;Y); 0 where p is 0."""
    ratio = np.divide(p, p_x, out=np.ones(p.shape), where=p > 0)
    ratio = np.divide(ratio, p_y, out=ratio, where=p > 0)
    return np.asarray(p * np.log2(ratio))


def column_bits(counts: sp.csr_array) -> np.ndarray:
    """Return what each column y adds to I(rows; columns): Σ_x p(x,y) log2 [p(x,y) / p(x) p(y)]."""
    cells = counts.tocoo()
    p = cells.data / cells.data.sum()
    rows = np.bincount(cells.row, weights=p)[cells.row]
    columns = np.bincount(cells.col, weights=p)[cells.col]
    return np.bincount(cells.col, information_parts(p, rows, columns), cells.shape[1])


def most_informative(counts: sp.csr_array, n_columns: int) -> np.ndarray:
    """Return the columns that add most to I(rows; columns), in order; of equals the first."""
    return np.sort(np.argsort(-column_bits(counts), kind="stable")[:n_columns])


# --- lift: how many times more mass a block P(x̄, ȳ) has than by chance ---------------------------


def expected_shares(blocks: np.ndarray) -> np.ndarray:
    """P(x̄) P(ȳ): the mass that each block has by chance."""
    return np.outer(blocks.sum(axis=1), blocks.sum(axis=0))


def lift(blocks: np.ndarray) -> np.ndarray:
    """P(x̄, ȳ) / (P(x̄) P(ȳ)) of each block; 1 where nothing is expected."""
    expected = expected_shares(blocks)
    return np.divide(blocks, expected, out=np.ones(blocks.shape), where=expected > 0)


def octaves(lifts: np.ndarray) -> np.ndarray:
    """log2 of lifts, and 0 of 0: nothing that has mass has a lift of 0."""
    return np.log2(lifts, out=np.zeros(lifts.shape), where=lifts > 0)


def bits(blocks: np.ndarray) -> np.ndarray:
    """P(x̄, ȳ) log2 lift(x̄, ȳ): what each block adds to the information."""
    return np.asarray(blocks * octaves(lift(blocks)))


def cluster_lift(mass: np.ndarray, other_mass: np.ndarray) -> np.ndarray:
    """The lift of each element y for one cluster, given P(x̄, y) and P(y); 0 where it has none."""
    out = np.zeros(mass.size)
    return np.divide(mass / mass.sum(), other_mass, out=out, where=mass > 0)
