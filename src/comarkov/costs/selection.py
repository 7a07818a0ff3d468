"""The description length of a matrix in blocks, and the counts that its weights are worth.

A description states the mass of every block, how it is divided among the members of the clusters,
and which members those are. More clusters fit the data better but take longer to describe. Counts
that vary more than independent events (words come in bursts, some rows are heavy) are worth fewer
counts than they seem. Therefore every weight is divided by the dispersion of its row and column
inside their clusters. The same rule works for any nonnegative weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from ..joint.joint import Joint
from ..joint.scale import counts_of
from .labels import membership

Pair = tuple[np.ndarray, np.ndarray]  # of rows and of columns
REWEIGHTINGS = 10
LEAST_DISPERSION = 1e-3  # as a share of the mean mass, for data that have none
NEGLIGIBLE_SHARE = 1e-9  # shares of mass below this are rounding


def description_length(blocks: np.ndarray, sizes: Pair) -> float:
    """Return the nats that describe counts in blocks M; ``sizes`` are the members m of clusters.

    ln C(N+kl-1, kl-1) + Σ_a ln C(N_a+m_a-1, m_a-1) + Σ_b ln C(N_b+m_b-1, m_b-1)
    - Σ ln M_ab! + Σ ln N_a! + Σ ln N_b! + both partitions. A partition of V elements into J
    clusters takes ln V + ln C(V-1, J-1) + ln V! - Σ ln m!
    """
    nats = ln_choose(blocks.sum() + blocks.size - 1, blocks.size - 1) - gammaln(blocks + 1).sum()
    for axis, size in enumerate(sizes):
        mass = blocks.sum(axis=1 - axis)
        nats += gammaln(mass + 1).sum() + ln_choose(mass + size - 1, size - 1).sum()
        nats += partition_nats(size)
    return float(nats)


def partition_nats(size: np.ndarray) -> float:
    """Return the nats that describe which elements are in clusters of these sizes."""
    n = size.sum()
    nats = np.log(n) + ln_choose(n - 1, size.size - 1) + gammaln(n + 1)
    return float(nats - gammaln(size + 1).sum())


def ln_choose(n: Any, k: Any) -> Any:
    """Return ln C(n, k): the nats that tell which k of n it is."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


class Evidence(NamedTuple):
    """The entries of a matrix, with weights that equal independent counts."""

    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, data: Joint, labels: Pair, masses: Pair) -> Evidence:
        """Divide each weight by the dispersion of its row and of its column, half each.

        ``labels`` are those of rows and of columns; ``masses`` are those of rows by column
        cluster, and of columns by row cluster.
        """
        matrix = data.matrix
        rows = np.repeat(np.arange(data.shape[0]), np.diff(matrix.indptr))
        entries = cls(rows, matrix.indices.astype(np.int64), matrix.weights)
        blocks = entries.blocks(*labels)
        least = least_dispersion(data)
        row_phi = np.maximum(dispersion(labels[0], masses[0], blocks), least)
        column_phi = np.maximum(dispersion(labels[1], masses[1], blocks.T), least)
        scale = 1 / np.sqrt(row_phi[entries.rows] * column_phi[entries.columns])
        return cls(entries.rows, entries.columns, matrix.weights * scale)

    @property
    def total(self) -> float:
        """The number of counts."""
        return float(self.weights.sum())

    def blocks(self, row_labels: np.ndarray, column_labels: np.ndarray) -> np.ndarray:
        """The counts by row cluster and column cluster."""
        shape = int(row_labels.max()) + 1, int(column_labels.max()) + 1
        place = row_labels[self.rows].astype(np.int64) * shape[1] + column_labels[self.columns]
        return np.bincount(place, self.weights, shape[0] * shape[1]).reshape(shape)

    def description_length(self, row_labels: np.ndarray, column_labels: np.ndarray) -> float:
        """Return the nats that describe these counts by the given clusters."""
        sizes = cluster_sizes(row_labels), cluster_sizes(column_labels)
        return description_length(self.blocks(row_labels, column_labels), sizes)


def cluster_sizes(labels: np.ndarray) -> np.ndarray:
    """The number of elements in each cluster."""
    return np.bincount(labels[labels >= 0]).astype(float)


def least_dispersion(data: Joint) -> float:
    """Return a lower limit of the dispersion: clusters fitted to noise look too homogeneous.

    Counts vary at least like independent events. If all entries are 0 or 1, the limit is the share
    of zeros, the dispersion of coin tosses. Other weights have no known limit.
    """
    if not data.is_count:
        return 0.0
    if data.matrix.weights.max() > 1:
        return 1.0
    cells = np.count_nonzero(data.row_mass) * np.count_nonzero(data.column_mass)
    return 1 - data.nnz / cells


def dispersion(labels: np.ndarray, masses: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Return Pearson's dispersion φ of each element, as a line in its mass: heavy ones vary more.

    ``masses`` are those of each element by the clusters of the other side, ``blocks`` their sums.
    They are compared with what the other members of its cluster predict. Independent events have
    φ = 1, whatever the clusters.
    """
    mass = masses.sum(axis=1)
    rest = blocks.sum(axis=1)[labels] - mass
    known = (labels >= 0) & (rest > NEGLIGIBLE_SHARE * mass)
    n, rest, home = mass[known], rest[known], blocks[labels[known]]
    others = home - masses[known]
    others[others < NEGLIGIBLE_SHARE * home] = 0.0
    expected = others * (n / rest)[:, None]
    squares = (masses[known] - expected) ** 2
    ratio = np.divide(squares, expected, out=np.zeros_like(squares), where=expected > 0)
    phi = ratio.sum(axis=1) / (1 + n / rest) / max(masses.shape[1] - 1, 1)
    return _line(n, phi, mass)


def _line(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Fit a nonnegative line to (x, y) by relative least squares, and evaluate it."""
    floor = LEAST_DISPERSION * at.mean()
    weight, constant, slope = np.ones_like(x), 0.0, 0.0
    for _ in range(REWEIGHTINGS if x.size else 0):
        constant, slope = _nonnegative_line(x, y, weight)
        weight = 1 / np.maximum(constant + slope * x, floor) ** 2
    return np.maximum(constant + slope * at, floor)


def _nonnegative_line(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return a, b ≥ 0 that minimise Σ weight (y - a - b x)², for x > 0 and y ≥ 0.

    If all x are equal, b is 0.
    """
    share = weight / weight.sum()
    x_mean, y_mean, squares = share @ x, share @ y, share @ x**2
    spread = share @ (x - x_mean) ** 2
    slope = share @ ((x - x_mean) * y) / spread if spread > NEGLIGIBLE_SHARE * squares else 0.0
    if slope <= 0:
        return y_mean, 0.0
    constant = y_mean - slope * x_mean
    return (constant, slope) if constant >= 0 else (0.0, share @ (x * y) / squares)


ROWS_AT_ONCE = 1 << 14
MIN_EFFECTIVE_MEMBERS = 3.0  # of a column cluster, below which its sums are not informative


def leftover(matrix: sp.csr_array, row_labels: np.ndarray, column_labels: np.ndarray) -> float:
    """Return how many times as much rows vary between column clusters as independent entries.

    It is Σ D² / e over Σ (1 - q) V / e, of all rows and column clusters. D² is divided by
    1 + n_x / N, as the N of the other rows varies too.
    """
    rows, member = (membership(each, int(each.max()) + 1) for each in (row_labels, column_labels))
    column_mass = np.asarray(matrix.sum(axis=0), np.float64).ravel()
    total, squares = member.T @ column_mass, member.T @ column_mass**2
    blocks = (rows.T @ matrix @ member).toarray()
    sizes = np.bincount(row_labels[row_labels >= 0])
    counts = total**2 >= MIN_EFFECTIVE_MEMBERS * squares
    observed = expected = 0.0
    for start in range(0, matrix.shape[0], ROWS_AT_ONCE):
        labels = row_labels[start : start + ROWS_AT_ONCE]
        several = (labels >= 0) & (sizes[labels] > 1)
        part = matrix[start : start + ROWS_AT_ONCE][several].astype(np.float64)
        home, own = blocks[labels[several]], (part @ member).toarray()
        others = home - own
        others[others < NEGLIGIBLE_SHARE * home] = 0.0
        mass, rest = own.sum(axis=1, keepdims=True), others.sum(axis=1, keepdims=True)
        share = _ratio(others, rest)
        predicted = mass * share
        rate = _ratio(predicted, total)
        one_by_one = (part.power(2) @ member).toarray() + rate**2 * squares
        one_by_one -= 2 * rate * (sp.csr_array(part * column_mass) @ member).toarray()
        together = (own - predicted) ** 2 / (1 + _ratio(mass, rest))
        observed += float(_ratio(together, predicted)[:, counts].sum())
        expected += float(_ratio((1 - share) * one_by_one, predicted)[:, counts].sum())
    return observed / expected if expected > 0 else np.nan


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a / b, and 0 where b is 0."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    return np.divide(a, b, out=np.zeros(shape), where=np.broadcast_to(b > 0, shape))


NULL_TABLES = 99
LEVEL = 0.05
MAX_TESTED_CELLS = 1 << 18  # cells of a table that is tested, and so of rows or columns squared


def is_independent(matrix: sp.csr_array, rng: np.random.Generator) -> bool:
    """Test at the level LEVEL whether rows and columns could be independent.

    The correlation is compared with that of random tables whose expected margins are the same.
    Weights that are not counts, and large tables, are never called independent.
    """
    known = counts_of(matrix) if np.prod(matrix.shape) <= MAX_TESTED_CELLS else None
    if known is None:
        return False
    counts = sp.csr_array((known, matrix.indices, matrix.indptr), matrix.shape).toarray()
    rates = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    observed = _correlation(counts)
    is_binary = bool(counts.max() == 1)
    above = 0
    for _ in range(NULL_TABLES):
        drawn = rng.random(rates.shape) < rates if is_binary else rng.poisson(rates)
        above += _correlation(drawn.astype(np.float64)) >= observed
    return bool((above + 1) / (NULL_TABLES + 1) > LEVEL)


def _correlation(counts: np.ndarray) -> float:
    """Return the largest correlation of a function of the rows with one of the columns.

    It is the second singular value of n_xy / √(n_x n_y). The information would not work: for a
    binary table it depends on little more than the margins.
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0.0
    scale = np.sqrt(np.outer(counts.sum(axis=1), counts.sum(axis=0)))
    scaled = counts / scale
    small = scaled if scaled.shape[0] <= scaled.shape[1] else scaled.T
    return float(np.sqrt(max(np.linalg.eigvalsh(small @ small.T)[-2], 0.0)))
