"""Starts: the labels that a search begins with, given by the user or from seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from ...costs.labels import as_labels
from ...joint.joint import Joint
from ...kernels.matrix import add_affinities

POWER_STEPS = 4  # enough for approximate singular vectors
DIRECTION_STEPS = 8  # of k-means, if sweeps follow, which do better


@dataclass(frozen=True)
class Start:
    """The start of one side.

    ``k`` is None if the side is not clustered. ``labels`` are those given by the user, else -1;
    ``fixed`` marks those that must not change. Empty rows and columns are not clustered.
    """

    k: int | None
    has_mass: np.ndarray
    labels: np.ndarray
    fixed: np.ndarray

    @property
    def is_given(self) -> bool:
        """Does every element have a given label?"""
        return self.k is None or bool((self.labels[self.has_mass] >= 0).all())

    @property
    def has_numbers(self) -> bool:
        """Did the user number any cluster?"""
        return bool((self.labels[self.has_mass] >= 0).any())

    @cached_property
    def free(self) -> np.ndarray:
        """The elements that may move."""
        return np.flatnonzero(self.has_mass & ~self.fixed)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Complete the labels at random so that no cluster is empty."""
        assert self.k is not None
        labels = np.where(self.has_mass, self.labels, -1)
        missing = np.setdiff1d(np.arange(self.k), labels)
        unlabelled = np.flatnonzero(self.has_mass & (labels < 0))
        labels[unlabelled] = rng.integers(self.k, size=unlabelled.size)
        labels[rng.permutation(unlabelled)[: missing.size]] = missing
        return labels


class ElementWords(NamedTuple):
    """The words for the elements of a side in messages."""

    one: str
    many: str
    counted: str  # the name of their number
    counts: str = "an int >= 1"  # how many clusters are valid


ANY_COUNT = "an int >= 1, 'auto' or None"
ROW_WORDS = ElementWords("row", "rows", "n_samples", ANY_COUNT)
COLUMN_WORDS = ElementWords("column", "columns", "n_features", ANY_COUNT)


def starts_for(data: Any, n_clusters: Any, init: Any, fixed: Any) -> tuple[Start, Start]:
    """Return the starts of rows and columns of data with these masses, or raise an error."""
    k, inits, kept = pair(n_clusters, "n_clusters"), pair(init, "init"), pair(fixed, "fixed")
    if k == (None, None):
        raise ValueError("n_clusters=(None, None) leaves nothing to cluster.")
    return (
        start_for(k[0], inits[0], kept[0], data.row_mass, ROW_WORDS),
        start_for(k[1], inits[1], kept[1], data.column_mass, COLUMN_WORDS),
    )


def free_start(k: int | None, mass: np.ndarray) -> Start:
    """Return a random start in k clusters."""
    none = np.full(mass.size, -1)
    return Start(k, mass > 0, none, none >= 0)


def still_fixed(fixed: Any, labels: list[np.ndarray | None]) -> tuple[Any, Any]:
    """Return fixed labels for the same elements, at their present labels."""
    rows, columns = (
        None if given is None or now is None else np.where(np.asarray(given) >= 0, now, -1)
        for given, now in zip(pair(fixed, "fixed"), labels, strict=True)
    )
    return rows, columns


def pair(value: Any, name: str) -> tuple[Any, Any]:
    """Return a parameter as a pair, for rows and for columns."""
    if value is None or isinstance(value, Integral | str):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{name} must be a pair (rows, columns), got {len(value)} items.")
    return value[0], value[1]


def start_for(k: Any, init: Any, fixed: Any, mass: np.ndarray, words: ElementWords) -> Start:
    """Check the parameters of one side and return its start."""
    n = mass.size
    available = int((mass > 0).sum())
    start = free_start(None, mass)
    if k is None:
        if init is not None or fixed is not None:
            raise ValueError(
                f"The {words.many} are not clustered, so they take no init or fixed labels."
            )
        return start
    if not isinstance(k, Integral) or int(k) < 1:
        raise ValueError(f"The number of {words.one} clusters must be {words.counts}, got {k!r}.")
    k = int(k)
    if k > available:
        raise ValueError(
            f"{k} {words.one} clusters are too many: only {available} {words.many} have mass "
            f"({words.counted}={n}). Use at most {available}."
        )
    kept = start.labels if fixed is None else as_labels(fixed, n, f"fixed {words.one} labels")
    labels = kept if init is None else as_labels(init, n, f"init {words.one} labels")
    labels = np.where(kept >= 0, kept, labels)
    _check_clusters(labels, k, mass, words)
    return Start(k, mass > 0, labels, kept >= 0)


def _check_clusters(labels: np.ndarray, k: int, mass: np.ndarray, words: ElementWords) -> None:
    """Raise an error if labels are too large, or leave too few elements for the other clusters."""
    if labels.max() >= k:
        raise ValueError(
            f"There are {k} {words.one} clusters, but a {words.one} label is {labels.max()}."
        )
    given = labels[(labels >= 0) & (mass > 0)]
    empty = k - np.unique(given).size
    if empty > int((mass > 0).sum()) - given.size:
        raise ValueError(
            f"The given {words.one} labels leave {empty} of {k} clusters empty and too few "
            f"{words.many} to fill them: use every label at least once, or fewer clusters."
        )


# --- seeds: distant rows, or singular vectors ---------------------------------------------------


def hellinger(data: Joint, k: int, rng: np.random.Generator) -> np.ndarray:
    """Draw k distant rows as seeds and label every row by the nearest seed.

    The distance of two rows is d²(x, z) = 1 - Σ_y √(p(y|x) p(y|z)). The next seed is x with
    probability proportional to n_x min d², over the seeds so far: k-means++ on the square roots of
    profiles. Every seed is in its own cluster; empty rows get label -1.
    """
    mass = data.row_mass
    labels = np.where(mass > 0, 0, -1)
    nearest = np.ones(mass.size)
    seeds = np.empty(k, np.int64)
    for a in range(k):
        chances = mass * nearest
        if chances.sum() <= 0.0:  # all are at distance 0: any nonempty row that is not a seed
            chances = mass.copy()
            chances[seeds[:a]] = 0.0
        seeds[a] = rng.choice(mass.size, p=chances / chances.sum())
        distance = np.maximum(1.0 - _affinities(data, seeds[a]), 0.0)
        labels[(distance < nearest) & (mass > 0)] = a
        nearest = np.minimum(nearest, distance)
        nearest[seeds[a]] = 0.0
    labels[seeds] = np.arange(k)
    return labels


def _affinities(data: Joint, x: int) -> np.ndarray:
    """Return Σ_y √(p(y|x) p(y|z)) for every row z; 0 for empty rows."""
    affinities = np.zeros(data.shape[0])
    add_affinities(data.matrix, x, np.zeros(data.shape[1]), affinities)
    return affinities


def spectral(data: Joint, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return labels by k-means of directions in the space of the k leading singular vectors.

    If the matrix has too few columns, or k is 1, use ``hellinger`` instead.
    """
    if not has_vectors(data, k):
        return hellinger(data, k, rng)
    return by_directions(singular_points(data, k)[0], data.row_mass, k, rng)


def has_vectors(data: Joint, k: int) -> bool:
    """Is k above 1, and are there enough singular vectors for k clusters?"""
    return 1 < k < min(data.shape) - 1


def singular_points(data: Joint, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns by k leading singular vectors, each times its singular value.

    The matrix is n_xy / √(n_x n_y); its first singular vector is trivial and left out. Random
    numbers are the same in each call: only the grouping of points has to differ.
    """
    inverse = [
        np.divide(1.0, np.sqrt(mass), out=np.zeros_like(mass), where=mass > 0)
        for mass in (data.row_mass, data.column_mass)
    ]
    scaled = sp.diags_array(inverse[0]) @ data.csr @ sp.diags_array(inverse[1])
    left, values, right = randomized_svd(scaled, k + 1, n_iter=POWER_STEPS, random_state=0)
    return left[:, 1:] * values[1:], right[1:].T * values[1:]


def by_directions(
    points: np.ndarray, mass: np.ndarray, k: int, rng: np.random.Generator
) -> np.ndarray:
    """Return labels by k-means of the directions of points in their first k coordinates."""
    points = points[:, :k]
    length = np.linalg.norm(points, axis=1, keepdims=True)
    points = np.divide(points, length, out=np.zeros_like(points), where=length > 0)
    scaled = np.ldexp(mass, -np.frexp(mass.max())[1])  # at most 1: squares do not overflow
    centres = far_apart(points, scaled, k, rng, lambda seed: np.clip(1 - points @ seed, 0.0, 1.0))
    labels = np.zeros(mass.size, np.int64)
    for _ in range(DIRECTION_STEPS):
        previous, labels = labels, (points @ centres.T).argmax(axis=1)
        if (labels == previous).all():
            break
        sums = sp.csr_array((scaled, (labels, np.arange(mass.size))), (k, mass.size)) @ points
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.divide(sums, length, out=centres, where=length > 0)
    return without_empty(np.where(mass > 0, labels, -1), k)


def without_empty(labels: np.ndarray, k: int) -> np.ndarray:
    """Move one row of the largest cluster to each empty one."""
    sizes = np.bincount(labels[labels >= 0], minlength=k)
    for a in np.flatnonzero(sizes == 0):
        largest = int(sizes.argmax())
        labels[np.flatnonzero(labels == largest)[0]] = a
        sizes[largest], sizes[a] = sizes[largest] - 1, 1
    return labels


def far_apart(
    points: np.ndarray,
    mass: np.ndarray,
    k: int,
    rng: np.random.Generator,
    distance: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Draw distant starting points, as k-means++ does."""
    centres = np.empty((k, points.shape[1]))
    nearest = np.ones(mass.size)
    for a in range(k):
        chances = mass * nearest
        share = chances / chances.sum() if chances.sum() > 0 else mass / mass.sum()
        centres[a] = points[rng.choice(mass.size, p=share)]
        far = distance(centres[a])
        nearest = np.minimum(nearest, far) if a else far
    return centres
