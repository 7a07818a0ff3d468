"""Figures of experiments: curves beside published ones, phase diagrams, and matrices in blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..results.plot import PALETTE
from .experiment import PAPER_BETAS, Blocks, Curve, PhaseDiagram

MARKERS = "o^sD"  # of the first seven names, which have all colours, of the next seven, ...


def curves(
    panels: Mapping[str, Sequence[Curve]],
    columns: int,
    axis_labels: tuple[str, str],
    lines: Mapping[str, float],
) -> Any:
    """A panel for each list of curves: published ones behind ours, samples as dots."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    small = columns > 3
    wide, high = (2.1, 2.0) if small else (4.2, 3.2)
    figure = _new_figure((wide * columns + 0.6, high * rows + 0.9))
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    drawn = [curve for members in panels.values() for curve in members]
    names = list(dict.fromkeys(curve.name for curve in drawn))  # one colour and marker for each
    for ax, (title, members) in zip(axes.flat, panels.items(), strict=False):
        for member in members:
            turn, colour = divmod(names.index(member.name), len(PALETTE))
            _draw(ax, member, PALETTE[colour], MARKERS[turn])
        for (name, value), style in zip(lines.items(), (":", "--") * len(lines), strict=False):
            ax.axhline(value, color="0.4", linestyle=style, linewidth=1, label=name)
        ax.set_title(title, fontsize=8 if small else 10)
        ax.grid(color="0.9", linewidth=0.6)
        ax.tick_params(labelsize=7 if small else 8)
    figure.supxlabel(axis_labels[0], fontsize=9)
    figure.supylabel(axis_labels[1], fontsize=9)
    _explain(figure, axes, drawn)
    return figure


def _draw(ax: Any, curve: Curve, color: str, marker: str) -> None:
    if curve.published is not None:
        ax.plot(curve.x, curve.published, color=color, alpha=0.3, linewidth=4)
    if curve.samples is not None:
        x = np.tile(curve.x, len(curve.samples))
        # without a line, the dots are the curve
        shade, size = (color, 4.5) if np.isnan(curve.ours).all() else ("0.35", 2)
        ax.plot(x, curve.samples.ravel(), marker, color=shade, alpha=0.5, markersize=size, mew=0)
    error = np.zeros(len(curve.x)) if curve.error is None else np.nan_to_num(curve.error)
    style = {"color": color, "linewidth": 1, "marker": marker, "markersize": 2.5}
    ax.errorbar(curve.x, curve.ours, error, label=curve.name or "ours", **style)


def _explain(figure: Any, axes: Any, drawn: Sequence[Curve]) -> None:
    from matplotlib.lines import Line2D

    entries: dict[str, Any] = {}
    for ax in axes.flat:
        handles, labels = ax.get_legend_handles_labels()
        entries = dict(zip(labels, handles, strict=True)) | entries
    if any(curve.published is not None for curve in drawn):
        entries["published"] = Line2D([], [], color="0.2", alpha=0.3, linewidth=4)
    if any(curve.samples is not None for curve in drawn):
        entries["a sample"] = Line2D([], [], color="0.35", marker=".", linestyle="")
    columns = min(len(entries), 6, int(figure.get_figwidth() / 2))  # or the legend is cut off
    look = {"ncols": columns, "fontsize": 8, "frameon": False}
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", **look)


def phase_diagrams(members: Sequence[PhaseDiagram], measure: str) -> Any:
    """A figure with a heat map for each diagram; dots mark the best β of each line."""
    figure = _new_figure((2.75 * len(members), 3.2))
    places = [0, PAPER_BETAS.size // 2, PAPER_BETAS.size - 1]
    for ax, member in zip(
        figure.subplots(1, len(members), squeeze=False).flat, members, strict=True
    ):
        table = member.table[:, ::-1]  # β from 0 to 1
        image = ax.imshow(table, cmap="viridis", vmin=0.3, vmax=1, aspect="auto")
        ax.plot(table.argmax(axis=1), range(len(table)), "o", color=PALETTE[1], label="best β")
        ax.set_xticks(places, ["0", "½", "1"])
        ax.set_yticks(range(len(table)), [f"{value:g}" for value in member.values])
        ax.set(title=member.title, xlabel="β", ylabel=member.label)
    figure.colorbar(image, ax=figure.axes, label=measure)
    return figure


def blocks(members: Sequence[Blocks]) -> Any:
    """A figure of matrices with lines between their clusters."""
    figure = _new_figure((4.6 * len(members), 4.4))
    axes = figure.subplots(1, len(members), squeeze=False)
    for ax, member in zip(axes.flat, members, strict=True):
        both = member.row_labels, member.column_labels
        rows, columns = (np.argsort(labels, kind="stable") for labels in both)
        matrix = member.matrix[np.ix_(rows, columns)]
        ax.imshow(matrix, cmap="Blues", vmin=0, vmax=1.15 * matrix.max(), aspect="auto")
        for labels, line in zip(both, (ax.axhline, ax.axvline), strict=True):
            for border in np.cumsum(np.bincount(labels))[:-1]:
                line(border - 0.5, color=PALETTE[1], linewidth=1.2)
        for ticks, order, names in (
            (ax.set_xticks, columns, member.column_names),
            (ax.set_yticks, rows, member.row_names),
        ):
            ticks(range(len(order)), [names[i] for i in order]) if names else ticks([])
        ax.tick_params(length=0, labelsize=7)
        ax.set_title(member.title, fontsize=10)
    return figure


def _new_figure(size: tuple[float, float]) -> Any:
    from matplotlib.figure import Figure

    return Figure(layout="constrained", figsize=size)


def save(figure: Any, path: Path, kind: str) -> None:
    """Write a figure as "png" or "svg", always the same bytes."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "comarkov"}):
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(path, format=kind, metadata=metadata, dpi=120)
