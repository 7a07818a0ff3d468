"""What β does: one small matrix, clustered at four values of β."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from comarkov import CoClustering

#: Five kinds of rows over three kinds of columns; the matrix has each kind of row and column twice.
KINDS = np.array([[2, 0, 2], [8, 4, 1], [0, 4, 0], [8, 0, 0], [4, 4, 8]])
MATRIX = np.repeat(np.repeat(KINDS, 2, axis=0), 2, axis=1)
ROWS = np.repeat(list("abcde"), 2)
COLUMNS = np.repeat(list("123"), 2)
COLOURS = dict(zip("abcde", ("#1b7837", "#762a83", "#b35806", "#2166ac", "#b2182b"), strict=True))
CAPTIONS = {
    1.0: "each side by itself",
    0.75: "mostly by itself",
    0.5: "only blocks count",
    0.0: "equal shares in a cluster",
}
NAMES = {1.0: "information bottleneck", 0.75: "IBCC", 0.5: "ITCC", 0.0: "lumpability"}
TITLES = {1.0: "β = 1", 0.75: "β = 3/4", 0.5: "β = 1/2", 0.0: "β = 0"}


def fits() -> dict[float, CoClustering]:
    """The best three row clusters and two column clusters at each β."""
    return {beta: CoClustering((3, 2), beta=beta, random_state=0).fit(MATRIX) for beta in CAPTIONS}


def draw() -> Figure:
    """Four panels: rows and columns in the order of their clusters."""
    figure = Figure(figsize=(10, 4.0), layout="constrained")
    figure.get_layout_engine().set(wspace=0.06)
    for ax, (beta, model) in zip(figure.subplots(1, 4), fits().items(), strict=True):
        _panel(ax, model)
        ax.set_title(TITLES[beta], fontsize=15, fontweight="bold", pad=24)
        ax.text(0.5, 1.04, CAPTIONS[beta], transform=ax.transAxes, ha="center", fontsize=10.5)
        ax.set_xlabel(NAMES[beta], fontsize=10, color="0.35", labelpad=8)
    return figure


def _panel(ax: Any, model: CoClustering) -> None:
    rows, columns = (_order(labels) for labels in (model.row_labels_, model.column_labels_))
    ax.imshow(MATRIX[np.ix_(rows, columns)], cmap="Blues", vmin=0, vmax=10, aspect="auto")
    for order, labels, line in (
        (rows, model.row_labels_, ax.axhline),
        (columns, model.column_labels_, ax.axvline),
    ):
        for border in np.flatnonzero(np.diff(labels[order])):
            line(border + 0.5, color="#e08214", linewidth=4)
    for (row, column), value in np.ndenumerate(MATRIX[np.ix_(rows, columns)]):
        if value:
            color = "white" if value > 5 else "black"
            ax.text(column, row, value, ha="center", va="center", fontsize=8, color=color)
    ax.set_yticks(range(rows.size), ROWS[rows], fontsize=12, fontweight="bold")
    for label in ax.get_yticklabels():
        label.set_color(COLOURS[label.get_text()])
    ax.set_xticks(range(columns.size), COLUMNS[columns], fontsize=10)
    ax.tick_params(length=0)


def _order(labels: np.ndarray) -> np.ndarray:
    """Elements by cluster, and clusters by their first element."""
    firsts = {label: int(np.argmax(labels == label)) for label in labels}
    return np.array(sorted(range(labels.size), key=lambda i: (firsts[labels[i]], i)))
