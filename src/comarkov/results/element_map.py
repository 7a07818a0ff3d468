"""A map of the elements of one side: those with similar profiles lie close together.

An element's profile is its distribution over the clusters of the other side, as fine as the
hierarchy has them. The map is a correspondence analysis in Hellinger distance: the two principal
axes of the square roots of all profiles, each weighted by its element's mass. Unlike the
chi-square distance of classical correspondence analysis, it does not push rare elements to the
edge, where they would squeeze all others into a corner.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..costs.labels import membership
from .findings import SideFindings

ROUNDING = 1e-20  # variance of square roots of equal profiles


class ElementMap(NamedTuple):
    """Elements in the plane."""

    points: np.ndarray  #: (element, axis); NaN for an element without mass
    shares: np.ndarray  #: of the variation between profiles, along each axis


def map_of_side(results: Any, side: SideFindings) -> ElementMap:
    """The map of the rows or of the columns of these :class:`Results`."""
    other = side.tree.columns if side.axis == "row" else side.tree.rows
    if other is not None:
        return element_map(other.masses)
    findings = results.findings  # the other side is not clustered, but has groups
    is_row = side.axis == "row"
    matrix = results.matrix if is_row else results.matrix.T
    group = (findings.columns if is_row else findings.rows).group
    return element_map((matrix @ membership(group, int(group.max()) + 1)).toarray())


def element_map(masses: np.ndarray) -> ElementMap:
    """The map of elements with these masses (element, part of the other side).

    Examples
    --------
    >>> import numpy as np
    >>> from comarkov.results.element_map import element_map
    >>> apart = element_map(np.array([[4.0, 0.0], [2.0, 0.0], [0.0, 6.0]]))
    >>> apart.points.round(3).tolist()
    [[0.707, 0.0], [0.707, 0.0], [-0.707, 0.0]]
    >>> apart.shares.tolist()
    [1.0, 0.0]
    """
    masses = np.asarray(masses, np.float64)
    weight = masses.sum(axis=1)
    has_mass = weight > 0
    weight = weight[has_mass] / weight.sum()
    roots = np.sqrt(masses[has_mass] / masses[has_mass].sum(axis=1, keepdims=True))
    roots -= weight @ roots
    variances, axes = np.linalg.eigh((roots * weight[:, None]).T @ roots)
    variances, axes = np.maximum(variances[::-1], 0.0), _oriented(axes[:, ::-1])
    points = np.full((masses.shape[0], 2), np.nan)
    points[has_mass] = _two(roots @ axes[:, :2])
    shares = variances / variances.sum() if variances.sum() > ROUNDING else 0 * variances
    return ElementMap(points, np.maximum(_two(shares[None, :2])[0].round(12), 0.0))


def _oriented(axes: np.ndarray) -> np.ndarray:
    """Axes whose largest component is positive: an eigenvector has no sign of its own."""
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return np.asarray(axes * np.where(largest < 0, -1.0, 1.0))


def _two(values: np.ndarray) -> np.ndarray:
    """Two columns, the missing ones zero."""
    return np.pad(values, ((0, 0), (0, 2 - values.shape[1])))
