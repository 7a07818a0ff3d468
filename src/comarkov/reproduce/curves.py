"""Figures of experiments: curves beside published ones, and matrices in blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..results.plot import PALETTE


def curves(
    panels: Mapping[str, Sequence[Any]],
    columns: int,
    axis_labels: tuple[str, str],
    lines: Mapping[str, float],
) -> Any:
    """A figure with a panel for each list of curves: published ones behind ours.

    A curve has ``name``, ``x``, ``ours``, and may have ``published``, ``error``, and ``samples``,
    which are drawn as dots.
    """
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    small = columns > 3
    wide, high = (2.1, 2.0) if small else (4.2, 3.2)
    figure = _new_figure((wide * columns + 0.6, high * rows + 0.9))
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    drawn = [curve for members in panels.values() for curve in members]
    names = list(dict.fromkeys(curve.name for curve in drawn))  # one colour for each
    for ax, (title, members) in zip(axes.flat, panels.items(), strict=False):
        for member in members:
            _draw(ax, member, PALETTE[names.index(member.name) % len(PALETTE)])
        for (name, value), style in zip(lines.items(), (":", "--") * len(lines), strict=False):
            ax.axhline(value, color="0.4", linestyle=style, linewidth=1, label=name)
        ax.set_title(title, fontsize=8 if small else 10)
        ax.grid(color="0.9", linewidth=0.6)
        ax.tick_params(labelsize=7 if small else 8)
    figure.supxlabel(axis_labels[0], fontsize=9)
    figure.supylabel(axis_labels[1], fontsize=9)
    _explain(figure, axes, drawn)
    return figure


def _draw(ax: Any, curve: Any, color: str) -> None:
    if curve.published is not None:
        ax.plot(curve.x, curve.published, color=color, alpha=0.3, linewidth=4)
    if curve.samples is not None:
        x = np.tile(curve.x, len(curve.samples))
        # without a line, the dots are the curve
        shade, size = (color, 9) if np.isnan(curve.ours).all() else ("0.35", 4)
        ax.plot(x, curve.samples.ravel(), ".", color=shade, alpha=0.5, markersize=size, mew=0)
    error = np.zeros(len(curve.x)) if curve.error is None else np.nan_to_num(curve.error)
    style = {"color": color, "linewidth": 1, "marker": "o", "markersize": 2.5}
    ax.errorbar(curve.x, curve.ours, error, label=curve.name or "ours", **style)


def _explain(figure: Any, axes: Any, drawn: Sequence[Any]) -> None:
    from matplotlib.lines import Line2D

    entries: dict[str, Any] = {}
    for ax in axes.flat:
        handles, labels = ax.get_legend_handles_labels()
        entries = dict(zip(labels, handles, strict=True)) | entries
    if any(curve.published is not None for curve in drawn):
        entries["published"] = Line2D([], [], color="0.2", alpha=0.3, linewidth=4)
    if any(curve.samples is not None for curve in drawn):
        entries["a sample"] = Line2D([], [], color="0.35", marker=".", linestyle="")
    look = {"ncols": min(len(entries), 6), "fontsize": 8, "frameon": False}
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", **look)


def blocks(members: Sequence[Any]) -> Any:
    """A figure of matrices with lines between their clusters.

    Each has ``title``, ``matrix``, ``row_labels``, ``column_labels``, and names or none.
    """
    figure = _new_figure((4.6 * len(members), 4.4))
    axes = figure.subplots(1, len(members), squeeze=False)
    for ax, member in zip(axes.flat, members, strict=True):
        rows, columns = (
            np.argsort(labels, kind="stable")
            for labels in (member.row_labels, member.column_labels)
        )
        matrix = member.matrix[np.ix_(rows, columns)]
        ax.imshow(matrix, cmap="Blues", vmin=0, vmax=1.15 * matrix.max(), aspect="auto")
        for labels, line in (
            (member.row_labels, ax.axhline),
            (member.column_labels, ax.axvline),
        ):
            for border in np.cumsum(np.bincount(labels))[:-1]:
                line(border - 0.5, color=PALETTE[1], linewidth=1.2)
        _name(ax.set_xticks, columns, member.column_names)
        _name(ax.set_yticks, rows, member.row_names)
        ax.tick_params(length=0, labelsize=7)
        ax.set_title(member.title, fontsize=10)
    return figure


def _name(set_ticks: Any, order: np.ndarray, names: Sequence[str]) -> None:
    set_ticks(range(len(order)), [names[i] for i in order]) if names else set_ticks([])


def _new_figure(size: tuple[float, float]) -> Any:
    from matplotlib.figure import Figure

    return Figure(layout="constrained", figsize=size)


def save(figure: Any, path: Path, kind: str) -> None:
    """Write a figure as "png" or "svg", always the same bytes."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "comarkov"}):
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(path, format=kind, metadata=metadata, dpi=120)
