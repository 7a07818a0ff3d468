"""Random counts with known clusters, to test methods on."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from .dataset import Dataset

CANDIDATES = 200  # tables of block rates; the one with the most distinct clusters is used


def planted(
    shape: tuple[int, int] = (300, 200),
    n_clusters: tuple[int, int] = (5, 4),
    *,
    mean: float = 0.5,
    bursts: float = 0.0,
    unequal: bool = False,
    degrees: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Counts in blocks, with the clusters of rows and columns as classes.

    Block rates are drawn at random, and chosen so that no two clusters of a side are similar.

    Parameters
    ----------
    shape, n_clusters : pair of int
        The numbers of rows and columns, and of their clusters.
    mean : float, default=0.5
        The mean count.
    bursts : float, default=0
        Overdispersion: counts have a negative binomial distribution with variance
        μ + bursts μ², where μ is the mean. 0 is Poisson.
    unequal : bool, default=False
        Clusters of very different sizes.
    degrees : float, default=0
        The standard deviation of the logarithm of the masses of rows, and of columns.
    random_state : int, RandomState or None, default=None
        The seed.

    Examples
    --------
    >>> from comarkov import datasets
    >>> data = datasets.planted((60, 40), (3, 2), random_state=0)
    >>> data.matrix.shape, int(data.row_classes.max())
    ((60, 40), 2)
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
    rows, columns = (_labels(n, k, unequal, rng) for n, k in zip(shape, n_clusters, strict=True))
    activity, popularity = (np.exp(degrees * rng.standard_normal(n)) for n in shape)
    expected = _rates(n_clusters, rng)[rows][:, columns] * activity[:, None] * popularity
    expected *= mean / expected.mean()
    if bursts > 0:
        expected *= rng.gamma(1 / bursts, bursts, size=shape)
    row_names, column_names = (
        [f"{what} {i}" for i in range(n)] for what, n in zip(("row", "column"), shape, strict=True)
    )
    return Dataset(sp.csr_array(rng.poisson(expected)), row_names, column_names, rows, columns)


def _labels(n: int, k: int, unequal: bool, rng: np.random.Generator) -> np.ndarray:
    """Clusters of n elements; each cluster has at least one."""
    if not unequal:
        return np.arange(n) % k
    share = 0.4 / k + 0.6 * rng.dirichlet(np.full(k, 2.0))
    return np.concatenate([np.arange(k), rng.choice(k, n - k, p=share)])


def _rates(n_clusters: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """The one of many random tables whose most similar rows or columns differ most."""
    tables = rng.gamma(1.0, size=(CANDIDATES, *n_clusters)) + 0.05
    least = [min(_least_difference(table), _least_difference(table.T)) for table in tables]
    return tables[int(np.argmax(least))]


def _least_difference(table: np.ndarray) -> float:
    """The smallest squared Hellinger distance between two rows."""
    root = np.sqrt(table / table.sum(axis=1, keepdims=True))
    distance = 1 - root @ root.T
    np.fill_diagonal(distance, np.inf)
    return float(distance.min())
