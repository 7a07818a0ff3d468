"""Labels of axes: names where they fit beside each other, else titles or numbers of clusters."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from .findings import SideFindings
from .names import short_name

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
