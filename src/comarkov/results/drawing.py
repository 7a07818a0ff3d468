"""Labels of axes: names where they fit beside each other, else titles or numbers of clusters."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.labels import membership
from ..joint.parts import block_sums
from .findings import SideFindings
from .words.figures import short_name

NAMED = 60  # the most elements whose names are written
TICKS = 30  # numbers of clusters along an axis
LETTERS = 30  # of a name
ROOMY = 3.0  # inches of a figure that has room for titles beside its picture
MISSING = re.compile("Glyph .* missing from|Matplotlib currently does not support")

LabelAxis = Callable[[], Any]  # labels an axis in one way, and gives the axis


def ways_to_label(
    side: SideFindings, axis: Any, middles: np.ndarray, names: np.ndarray, first: float = 0.0
) -> list[LabelAxis]:
    """How an axis can be labelled, the best first: names, titles of clusters, their numbers."""
    numbered = np.argsort(middles[: side.n_clusters])[:: _step(side.n_clusters)]
    what = f"{side.kind} cluster" if side.is_clustered else side.kind
    turns = (0, 90) if axis.axis_name == "x" else (0,)
    titles = [f"{a}  {short_name(title, LETTERS)}" for a, title in enumerate(side.titles)]
    ways = []
    if 0 < len(names) <= NAMED:
        places = np.arange(len(names)) + first
        shown = [short_name(name, LETTERS) for name in names]
        ways += [partial(_write, axis, places, shown, side.kind, turn) for turn in turns]
    if titles and min(axis.get_figure().figure.get_size_inches()) >= ROOMY:
        ways += [partial(_write, axis, middles, titles, what, turn) for turn in turns]
    numbers = [str(a) for a in numbered]
    return [*ways, partial(_write, axis, middles[numbered], numbers, what, 0)]


def label_both(sides: Sequence[list[LabelAxis]]) -> None:
    """Label both axes in the best way in which no labels overlap."""
    axes = [ways.pop(0)() for ways in sides]
    is_laid_out = False
    with missing_letters():  # to be reported when they are drawn
        while any(sides):
            pairs = zip(axes, sides, strict=True)
            crowded = [ways.pop(0) for axis, ways in pairs if ways and _meet(axis)]
            if is_laid_out and not crowded:
                return
            for write in crowded:
                write()
            if not crowded:  # as far as is known before labels take their room
                axes[0].get_figure().figure.draw_without_rendering()
            is_laid_out = not crowded


def _write(axis: Any, places: Any, labels: list[str], what: str, turn: int) -> Any:
    """Label an axis; nothing in names is a formula."""
    axis.set_ticks(places, labels=labels, parse_math=False)
    axis.set_tick_params(labelrotation=turn)
    axis.set_label_text(what, parse_math=False)
    return axis


def _meet(axis: Any) -> bool:
    """Do labels of an axis overlap?"""
    boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
    i = 0 if axis.axis_name == "x" else 1
    ends = sorted((box.min[i], box.max[i]) for box in boxes)
    return any(end > start for (_, end), (start, _) in pairwise(ends))


def _step(count: int) -> int:
    """The step between numbered clusters that keeps the numbers apart."""
    return next(step for step in (1, 2, 5, 10, 20, 50, 100, count) if count <= TICKS * step)


@contextmanager
def missing_letters() -> Iterator[list[str]]:
    """Collect matplotlib's warnings about letters that the font lacks."""
    missing: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield missing
    for each in caught:
        if MISSING.match(str(each.message)):
            missing.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


PIXELS = 800  # the most rows or columns of a picture


def binned(
    matrix: sp.csr_array, rows: np.ndarray, columns: np.ndarray, most: int = PIXELS
) -> np.ndarray:
    """The reordered matrix, reduced to pixels that each hold the mean of their cells."""
    bins, areas = [], []
    for order in (rows, columns):
        count = min(order.size, most)
        bin_of = np.empty(order.size, np.int64)
        bin_of[order] = np.arange(order.size) * count // order.size
        bins.append(bin_of)
        areas.append(np.bincount(bin_of, minlength=count))
    total = block_sums(matrix, (bins[0], bins[1]), (areas[0].size, areas[1].size))
    return np.asarray(total / np.outer(*areas))


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
    >>> from comarkov.results.drawing import element_map
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
