"""How a fit works: sweeps move elements, merges join clusters, all levels are kept."""

import warnings
from collections import defaultdict
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram
from sklearn.exceptions import ConvergenceWarning

from comarkov import CoClustering, Progress, datasets

SHAPE, NUMBERS = (60, 45), (6, 5)
START = 4  # the seed of the start whose sweeps are drawn
ORANGE, BLUE, GREY = "#e08214", "#2166ac", "0.6"


def draw() -> Figure:
    """Above, one start sweep by sweep; below, costs of many starts, of merges, and a dendrogram."""
    data = datasets.planted(SHAPE, NUMBERS, mean=0.8, random_state=3).matrix.toarray()
    rng = np.random.default_rng(0)
    data = data[np.ix_(*(rng.permutation(size) for size in SHAPE))]
    figure = Figure(figsize=(10, 7.2), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.15), hspace=0.05)
    _sweeps(top, data)
    left, middle, right = bottom.subplots(1, 3)
    _starts(left, data)
    model = CoClustering(NUMBERS, random_state=0).fit(data)
    _merging(middle, model)
    _dendrogram(right, model)
    return figure


def _after(sweeps: int, data: np.ndarray) -> CoClustering:
    with warnings.catch_warnings():  # it is stopped on purpose
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = {"max_iter": sweeps, "random_state": START}
        return CoClustering(NUMBERS, method="sequential", **options).fit(data)


def _sweeps(figure: Any, data: np.ndarray) -> None:
    axes = figure.subplots(1, 4)
    axes[0].imshow(data, cmap="Blues", aspect="auto")
    axes[0].set_title("the data", fontsize=11)
    for ax, sweeps in zip(axes[1:], (1, 3, 30), strict=True):
        model = _after(sweeps, data)
        labels = model.row_labels_, model.column_labels_
        orders = [np.argsort(side, kind="stable") for side in labels]
        ax.imshow(data[np.ix_(*orders)], cmap="Blues", aspect="auto")
        for side, line in zip(labels, (ax.axhline, ax.axvline), strict=True):
            for border in np.cumsum(np.bincount(side))[:-1]:
                line(border - 0.5, color=ORANGE, linewidth=1.8)
        name = f"after sweep {sweeps}" if sweeps < 30 else "when nothing moves"
        ax.set_title(f"{name}: {model.cost_:.2f} bits", fontsize=11)
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    title = "1. Sweeps: each row, then each column, moves to the cluster where it costs least"
    figure.suptitle(title, fontsize=12, fontweight="bold")


def _starts(ax: Any, data: np.ndarray) -> None:
    """The cost after each sweep, from random starts."""
    for seed in range(8):
        costs: dict[int, float] = defaultdict(float)

        def note(state: Progress, costs: dict[int, float] = costs) -> None:
            costs[state.iteration] = state.cost

        CoClustering(NUMBERS, method="sequential", callback=note, random_state=seed).fit(data)
        drawn = {"color": ORANGE, "linewidth": 2.5} if seed == START else {"color": GREY}
        ax.plot(list(costs), list(costs.values()), "o-", ms=3, zorder=2 + (seed == START), **drawn)
    best = CoClustering(NUMBERS, random_state=0).fit(data).cost_
    ax.axhline(best, color=BLUE, linestyle="--", label="the default method")
    ax.set(xlabel="sweeps", ylabel="cost in bits")
    ax.set_title("... but starts end\nin different places", fontsize=11)
    ax.legend(fontsize=9, frameon=False)


def _merging(ax: Any, model: CoClustering) -> None:
    """The cost at each level of the hierarchy."""
    levels = model.hierarchy_.levels
    total = [sum(level.n_clusters) for level in levels]
    ax.plot(total, [level.cost for level in levels], "o-", ms=3, color=GREY)
    ax.plot(sum(NUMBERS), model.cost_, "o", ms=9, color=ORANGE)
    ax.annotate(
        f"{NUMBERS[0]} x {NUMBERS[1]} clusters",
        xy=(sum(NUMBERS), model.cost_),
        xytext=(-110, 30),
        textcoords="offset points",
        arrowprops={"arrowstyle": "-", "color": ORANGE},
    )
    ax.invert_xaxis()
    ax.set(xlabel="clusters on both sides", ylabel="cost in bits")
    ax.set_title("2. Merging: the pair\nthat costs least, repeated", fontsize=11, fontweight="bold")


def _dendrogram(ax: Any, model: CoClustering) -> None:
    """The tree of the rows, with two cuts."""
    linkage = model.hierarchy_.row_linkage
    style = {"no_labels": True, "color_threshold": 0, "above_threshold_color": "0.35"}
    dendrogram(linkage, ax=ax, **style)
    heights = linkage[:, 2]
    for k, color in ((NUMBERS[0], ORANGE), (2, BLUE)):
        cut = (heights[-k] + heights[-k + 1]) / 2
        ax.axhline(cut, color=color, linestyle="--")
        ax.text(ax.get_xlim()[1], cut, f" cut({k})", color=color, va="center", fontsize=10)
    ax.set(ylabel="bits lost so far", xlabel="rows")
    ax.set_title("3. The hierarchy: any\nnumber of clusters later", fontsize=11, fontweight="bold")
    ax.spines[["top", "right"]].set_visible(False)
