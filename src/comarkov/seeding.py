"""Where to begin: rows far apart as seeds of clusters, or the leading singular vectors."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from .joint import Joint
from .matrix import add_affinities

POWER_STEPS = 4  # for singular vectors that are good enough
TRIES = 2  # of k-means
STEPS = 20  # of each


def hellinger(data: Joint, k: int, rng: np.random.Generator) -> np.ndarray:
    """Labels by the nearest of k rows, drawn one after the other far from those before.

    The distance of two rows is d²(x, z) = 1 - Σ_y √(p(y|x) p(y|z)). The next seed is x with
    probability in proportion to n_x min d², over the seeds so far: k-means++ on the square roots
    of profiles. Every seed is in its own cluster; rows without mass have the label -1.
    """
    mass = data.row_mass
    labels = np.where(mass > 0, 0, -1)
    nearest = np.ones(mass.size)
    seeds = np.empty(k, np.int64)
    for a in range(k):
        seeds[a] = _draw(mass * nearest, mass, seeds[:a], rng)
        distance = np.maximum(1.0 - _affinities(data, seeds[a]), 0.0)
        labels[(distance < nearest) & (mass > 0)] = a
        nearest = np.minimum(nearest, distance)
        nearest[seeds[a]] = 0.0
    labels[seeds] = np.arange(k)
    return labels


def _draw(
    chances: np.ndarray, mass: np.ndarray, taken: np.ndarray, rng: np.random.Generator
) -> int:
    """A row by chance; if all are as near as can be, any with mass that is not taken."""
    total = chances.sum()
    if total <= 0.0:
        chances = mass.copy()
        chances[taken] = 0.0
        total = chances.sum()
    return int(rng.choice(chances.size, p=chances / total))


def _affinities(data: Joint, x: int) -> np.ndarray:
    """Σ_y √(p(y|x) p(y|z)) for every row z; 0 for rows without mass."""
    root = np.zeros(data.shape[1])
    affinities = np.zeros(data.shape[0])
    add_affinities(data.matrix, x, root, affinities)
    return affinities


def spectral(data: Joint, k: int, rng: np.random.Generator) -> np.ndarray:
    """Labels by k-means of directions in the space of k leading singular vectors.

    They are those of n_xy / √(n_x n_y) but for the first, which is trivial. Where the matrix has
    too few columns, or k is 1, it is ``hellinger`` instead.
    """
    if k == 1 or min(data.shape) <= k + 1:
        return hellinger(data, k, rng)
    inverse = [_inverse_root(mass) for mass in (data.row_mass, data.column_mass)]
    scaled = sp.diags_array(inverse[0]) @ data.csr @ sp.diags_array(inverse[1])
    seed = int(rng.integers(2**31))
    left, values, _ = randomized_svd(scaled, k + 1, n_iter=POWER_STEPS, random_state=seed)
    points = left[:, 1:] * values[1:]
    length = np.linalg.norm(points, axis=1, keepdims=True)
    points = np.divide(points, length, out=np.zeros_like(points), where=length > 0)
    found = [_directions(points, data.row_mass, k, rng) for _ in range(TRIES)]
    labels = max(found, key=lambda one: one[0])[1]
    return _without_empty(np.where(data.row_mass > 0, labels, -1), k)


def _inverse_root(mass: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(mass), out=np.zeros_like(mass), where=mass > 0)


def _directions(
    points: np.ndarray, mass: np.ndarray, k: int, rng: np.random.Generator
) -> tuple[float, np.ndarray]:
    """k-means of directions: how near points are to their centre, and the labels."""
    centres = np.empty((k, points.shape[1]))
    nearest = np.ones(mass.size)
    for a in range(k):
        chances = mass * nearest
        share = chances / chances.sum() if chances.sum() > 0 else mass / mass.sum()
        centres[a] = points[rng.choice(mass.size, p=share)]
        nearest = np.minimum(nearest, np.maximum(1.0 - points @ centres[a], 0.0))
    labels = np.zeros(mass.size, np.int64)
    for _ in range(STEPS):
        likeness = points @ centres.T
        previous, labels = labels, likeness.argmax(axis=1)
        if (labels == previous).all():
            break
        member = sp.csr_array((mass, (labels, np.arange(mass.size))), (k, mass.size))
        sums = member @ points
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.divide(sums, length, out=centres, where=length > 0)
    return float(mass @ likeness.max(axis=1)), labels


def _without_empty(labels: np.ndarray, k: int) -> np.ndarray:
    """Each empty cluster takes one row from the largest."""
    sizes = np.bincount(labels[labels >= 0], minlength=k)
    for a in np.flatnonzero(sizes == 0):
        largest = int(sizes.argmax())
        labels[np.flatnonzero(labels == largest)[0]] = a
        sizes[largest], sizes[a] = sizes[largest] - 1, 1
    return labels
