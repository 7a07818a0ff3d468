"""Seeds: distant rows, singular vectors or eigenvectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eig
from scipy.sparse.linalg import ArpackError, eigs
from sklearn.utils.extmath import randomized_svd

from ...joint.joint import Joint
from ...kernels.matrix import add_affinities

POWER_STEPS = 4  # enough for approximate singular vectors
TRIES = 2  # of k-means
K_MEANS_STEPS = 20  # of each try
DIRECTION_STEPS = 8  # if sweeps follow, which do better
ALL_VECTORS = 500  # states up to which all eigenvectors are computed
EIGEN_RESTARTS = 50  # of the eigensolver for larger ones
CONSTANT = 1e-12  # the relative variance below which a vector is constant


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
    """Draw a row at random; if all are at distance 0, any nonempty row that is not a seed."""
    total = chances.sum()
    if total <= 0.0:
        chances = mass.copy()
        chances[taken] = 0.0
        total = chances.sum()
    return int(rng.choice(chances.size, p=chances / total))


def _affinities(data: Joint, x: int) -> np.ndarray:
    """Return Σ_y √(p(y|x) p(y|z)) for every row z; 0 for empty rows."""
    root = np.zeros(data.shape[1])
    affinities = np.zeros(data.shape[0])
    add_affinities(data.matrix, x, root, affinities)
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
    inverse = [_inverse_root(mass) for mass in (data.row_mass, data.column_mass)]
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
    labels = _directions(points, mass, k, rng)
    return _without_empty(np.where(mass > 0, labels, -1), k)


def lumped(data: Joint, k: int, rng: np.random.Generator) -> np.ndarray | None:
    """Return labels by right eigenvectors with about k values; None if there are too few.

    A chain p(y|x) is lumpable if and only if k of its eigenvectors are constant on clusters. One of
    these is constant everywhere. The k - 1 that fall best into k groups are clustered together.
    """
    vectors = _eigenvectors(data, k)
    if vectors is None or k == 1:
        return None
    mass = data.row_mass / data.total
    vectors = vectors - mass @ vectors
    size = np.sqrt(mass @ vectors**2)
    vectors = vectors[:, size > CONSTANT**0.5 * abs(vectors).max(axis=0)]
    if vectors.shape[1] < k - 1:
        return None
    vectors = vectors / np.sqrt(mass @ vectors**2)
    best = np.argsort(_scatter(vectors, mass, k), kind="stable")[: k - 1]
    results = [_k_means(vectors[:, best], mass, k, rng) for _ in range(TRIES)]
    labels = min(results, key=lambda result: result[0])[1]
    return _without_empty(np.where(mass > 0, labels, -1), k)


def _eigenvectors(data: Joint, k: int) -> np.ndarray | None:
    """Return right eigenvectors, as real and imaginary parts; of large chains the leading ones."""
    n = data.shape[0]
    mass = data.row_mass
    inverse = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
    P = sp.csr_array(sp.diags_array(inverse) @ data.csr, dtype=np.float64)
    try:
        if n <= ALL_VECTORS:
            values, vectors = eig(P.toarray())
        else:
            wanted = min(4 * k + 20, n - 2)
            values, vectors = eigs(P, wanted, v0=np.ones(n), maxiter=EIGEN_RESTARTS)
    except (ArpackError, np.linalg.LinAlgError):
        return None
    real, pairs = values.imag == 0, values.imag > 0
    return np.hstack([vectors[:, real | pairs].real, vectors[:, pairs].imag])


def _scatter(vectors: np.ndarray, mass: np.ndarray, k: int) -> np.ndarray:
    """Return how much each vector varies within k groups of its values, for the best groups.

    Groups start with cuts at the largest gaps, into equal ranges, or into equal masses.
    """
    scatter = np.empty(vectors.shape[1])
    shares = np.arange(1, k) / k
    for j, column in enumerate(vectors.T):
        order = np.argsort(column)
        value, weight = column[order], mass[order]
        sums = np.zeros((3, value.size + 1))
        np.cumsum([weight, weight * value, weight * value**2], axis=1, out=sums[:, 1:])
        gaps = np.argpartition(np.diff(value), -(k - 1))[-(k - 1) :] + 1
        ranges = np.searchsorted(value, value[0] + shares * (value[-1] - value[0]))
        masses = np.searchsorted(sums[0, 1:], shares)
        scatter[j] = min(_settled_scatter(value, sums, cuts) for cuts in (gaps, ranges, masses))
    return scatter


def _settled_scatter(value: np.ndarray, sums: np.ndarray, cuts: np.ndarray) -> float:
    """k-means of sorted values, from cumulative sums of masses, values and squares."""
    for _ in range(K_MEANS_STEPS):
        edges = np.concatenate([[0], np.sort(cuts), [value.size]])
        mass, first, second = np.diff(sums[:, edges], axis=1)
        is_used = mass > 0
        means = first[is_used] / mass[is_used]
        previous, cuts = cuts, np.searchsorted(value, (means[1:] + means[:-1]) / 2)
        if cuts.size == previous.size and (cuts == previous).all():
            break
    return float(second.sum() - first[is_used] @ means)


def _far_apart(
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


def _k_means(
    points: np.ndarray, mass: np.ndarray, k: int, rng: np.random.Generator
) -> tuple[float, np.ndarray]:
    """Return the total squared distance to the centres, and the labels."""
    centres = _far_apart(points, mass, k, rng, lambda seed: ((points - seed) ** 2).sum(axis=1))
    for _ in range(K_MEANS_STEPS):
        farness = (centres**2).sum(axis=1) - 2 * points @ centres.T  # without the constant |point|²
        labels = farness.argmin(axis=1)
        member = sp.csr_array((mass, (labels, np.arange(mass.size))), (k, mass.size))
        masses = member.sum(axis=1)[:, None]
        moved = np.divide(member @ points, masses, out=centres.copy(), where=masses > 0)
        if (moved == centres).all():
            break
        centres = moved
    return float(mass @ farness.min(axis=1)), labels


def _inverse_root(mass: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(mass), out=np.zeros_like(mass), where=mass > 0)


def _directions(
    points: np.ndarray, mass: np.ndarray, k: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the labels of k-means of directions."""
    mass = np.ldexp(mass, -np.frexp(mass.max())[1])  # at most 1: squares do not overflow
    centres = _far_apart(points, mass, k, rng, lambda seed: np.clip(1.0 - points @ seed, 0.0, 1.0))
    labels = np.zeros(mass.size, np.int64)
    for _ in range(DIRECTION_STEPS):
        likeness = points @ centres.T
        previous, labels = labels, likeness.argmax(axis=1)
        if (labels == previous).all():
            break
        member = sp.csr_array((mass, (labels, np.arange(mass.size))), (k, mass.size))
        sums = member @ points
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.divide(sums, length, out=centres, where=length > 0)
    return labels


def _without_empty(labels: np.ndarray, k: int) -> np.ndarray:
    """Move one row of the largest cluster to each empty one."""
    sizes = np.bincount(labels[labels >= 0], minlength=k)
    for a in np.flatnonzero(sizes == 0):
        largest = int(sizes.argmax())
        labels[np.flatnonzero(labels == largest)[0]] = a
        sizes[largest], sizes[a] = sizes[largest] - 1, 1
    return labels
