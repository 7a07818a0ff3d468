"""Drawings. The only module that imports matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..costs.labels import ranks
from ..costs.lift import octaves
from ..io.read.fit_input import fit_input
from ..joint.inputs import as_csr
from ..joint.messages import InputError, need
from .findings import Findings, SideFindings, findings_of
from .fit_data import findings_on, joint_of_fit, names_of_fit
from .pictures import LABEL_LETTERS, LIFT_COLOURS, MAX_NAMED, binned, highest
from .words.figures import lift_text, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MAX_WRITTEN_LIFTS = 14  # clusters on a side whose lifts are written
MAX_TICKS = 30  # numbers of clusters along an axis
ROOMY_INCHES = 1.5  # along an axis that has room for titles
LABEL_INCHES, LETTER_INCHES = 0.13, 0.07  # that a line of text takes, and a letter
PALETTE = ("#2166ac", "#b2182b", "#1b7837", "#762a83", "#b35806", "#4d4d4d", "#01665e")


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
    figure = _figure(figsize=(wide * columns + 0.6, high * rows + 0.9))
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
        ax.plot(x, curve.samples.ravel(), ".", color="0.35", alpha=0.5, markersize=4, mew=0)
    error = np.zeros(len(curve.x)) if curve.error is None else np.nan_to_num(curve.error)
    style = {"color": color, "linewidth": 1, "marker": "o", "markersize": 2.5}
    ax.errorbar(curve.x, curve.ours, error, label=curve.name or "ours", **style)


def _explain(figure: Any, axes: Any, drawn: Sequence[Any]) -> None:
    """One legend for all panels."""
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
    figure = _figure(figsize=(4.6 * len(members), 4.4))
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


# --- a fitted co-clustering -------------------------------------------------------------------


def plot_heatmap(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the matrix with its rows and columns in the order of their clusters.

    Each pixel is the mean of the cells that it covers, so large matrices stay sparse.

    Parameters
    ----------
    model : fitted CoClustering or Results
    X : matrix, data frame or Data of the fit
        As it was passed to fit; not needed for results, which have it.
    ax : Axes, default=None
        Where to draw; None draws in a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import comarkov
    >>> women = comarkov.datasets.load("southern-women")
    >>> model = comarkov.CoClustering((2, 3), random_state=0).fit(women)
    >>> axes = comarkov.plot_heatmap(model, women)
    >>> axes.figure.savefig("heatmap.png")  # doctest: +SKIP
    """
    findings, matrix = _findings_and_matrix(model, X)
    if matrix is None:
        raise InputError("The matrix of the fit is missing.", advice="plot_heatmap(model, X)")
    ax = _axes(ax)
    _draw_heatmap(ax, findings, matrix)
    return ax


def plot_blocks(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw each pair of clusters by its lift, P(x̄, ȳ) / (P(x̄) P(ȳ)), on a logarithmic scale.

    Parameters
    ----------
    model : fitted CoClustering or Results
    ax : Axes, default=None
        Where to draw; None draws in a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import comarkov
    >>> women = comarkov.datasets.load("southern-women")
    >>> model = comarkov.CoClustering((2, 3), random_state=0).fit(women)
    >>> axes = comarkov.plot_blocks(model)
    >>> axes.figure.savefig("blocks.png")  # doctest: +SKIP
    """
    findings, _ = _findings_and_matrix(model, None)
    clusters = findings.cluster_orders
    lift = findings.lift[np.ix_(*clusters)]
    ax = _axes(ax)
    _lift_image(ax, lift)
    ax.tick_params(length=0, labelsize=8)
    for side, axis, drawn in zip(findings.sides, (ax.yaxis, ax.xaxis), clusters, strict=True):
        names = side.names[:0] if side.is_clustered else side.names[drawn]  # as themselves
        _label_axis(side, axis, ranks(drawn).astype(float), names)
    return ax


def _lift_image(ax: Any, lift: np.ndarray) -> None:
    """Blocks by their lift: orange with more than expected, purple with less."""
    from matplotlib.colors import LinearSegmentedColormap

    shown = np.where(lift > 0, octaves(lift), -np.inf)
    far = min(max(1.0, float(shown.max(initial=0.0))), 6.0)
    shown = np.clip(shown, -far, far)
    colours = LinearSegmentedColormap.from_list("lift", np.array(LIFT_COLOURS) / 255)
    image = ax.imshow(shown, cmap=colours, vmin=-far, vmax=far, aspect="auto")
    if max(lift.shape) <= MAX_WRITTEN_LIFTS:
        for (a, b), value in np.ndenumerate(lift):
            color = _readable_on(image.to_rgba(shown[a, b]))
            ax.text(b, a, lift_text(value), ha="center", va="center", color=color, fontsize=8)
    bar = ax.figure.colorbar(image, ax=ax, label="lift")
    ticks = np.unique(np.trunc(np.linspace(-far, far, 5)))
    bar.set_ticks(ticks.tolist(), labels=[lift_text(2.0**tick) for tick in ticks])


def _readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever has more contrast with this colour (WCAG's formula)."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "black" if luminance > 0.179 else "white"  # equal contrast with both at 0.179


def plot_path(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the cost of the co-clusterings on a path over β and, if known, the information kept.

    Parameters
    ----------
    model : Results, list of Step, or CoClustering fitted with ``keep_path``
        Results know the information kept.
    ax : Axes, default=None
        Where to draw; None draws in a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import comarkov
    >>> women = comarkov.datasets.load("southern-women")
    >>> model = comarkov.CoClustering((2, 3), random_state=0).fit(women)
    >>> axes = comarkov.plot_path(model.beta_path(women))
    >>> axes.figure.savefig("path.png")  # doctest: +SKIP
    """
    steps = getattr(model, "views", None) or getattr(model, "path_", model)
    if not isinstance(steps, Sequence) or not steps:
        advice = "Pass what beta_path returns, or results with a path."
        raise InputError("There is no path over β.", advice=advice)
    ax = _axes(ax)
    betas = [step.beta for step in steps]
    costs = [step.cost for step in steps]
    drawn = ax.plot(betas, costs, "o-", color=PALETTE[0], ms=3.5, label="cost")
    ax.set_xlabel("β")
    ax.set_ylabel("cost L_β, bits")
    ax.grid(color="0.9", linewidth=0.6)
    if hasattr(steps[0], "kept"):
        right = ax.twinx()
        kept = [100 * step.kept for step in steps]
        drawn += right.plot(betas, kept, "s--", color=PALETTE[4], ms=3.5, label="information kept")
        right.set_ylabel("information kept, %")
        right.set_ylim(0, 100)
    ax.set_ylim(bottom=0)
    ax.legend(drawn, [str(line.get_label()) for line in drawn], fontsize=8, frameon=False)
    return ax


def _figure(**options: Any) -> Any:
    """A figure without a window."""
    need("Drawing", "matplotlib")
    from matplotlib.figure import Figure

    return Figure(layout="constrained", **options)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    need("Drawing", "matplotlib")
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def _findings_and_matrix(model: Any, X: Any) -> tuple[Findings, sp.csr_array | None]:
    """The findings of a model or of results, and the matrix if it is known."""
    if hasattr(model, "findings"):
        return model.findings, model.matrix
    if not hasattr(model, "_model"):
        raise InputError(f"{type(model).__name__} is not fitted.", advice="Call fit first.")
    if X is None:
        return findings_of(model, names_of_fit(model)), None
    X = fit_input(X)
    return findings_on(model, X, joint_of_fit(model, X)), as_csr(X)


def _draw_heatmap(ax: Any, findings: Findings, matrix: sp.csr_array) -> None:
    from matplotlib.colors import PowerNorm

    n, m = matrix.shape
    means = binned(matrix, *findings.orders)
    norm = PowerNorm(0.5, 0, highest(means), clip=True)
    placed = {"extent": (0, m, n, 0), "aspect": "auto", "interpolation": "nearest"}
    image = ax.imshow(means, cmap="Blues", norm=norm, **placed)
    ax.figure.colorbar(image, ax=ax, label="mean entry", shrink=0.6)
    ax.tick_params(length=0, labelsize=7)
    for i, (axis, line) in enumerate(((ax.yaxis, ax.axhline), (ax.xaxis, ax.axvline))):
        side, middles = findings.sides[i], np.zeros(0)
        if side.is_clustered:
            middles = _draw_borders(side, findings.cluster_orders[i], line)
        _label_axis(side, axis, middles, side.names[findings.orders[i]], 0.5)


def _draw_borders(side: SideFindings, clusters: np.ndarray, line: Any) -> np.ndarray:
    """Draw lines between clusters in this order; the middle of each, by number."""
    sizes = side.sizes[clusters]
    ends = np.cumsum(sizes)
    for border in ends[: -1 if (side.labels >= 0).all() else None]:
        line(border, color=PALETTE[4], linewidth=0.9)
    middles = np.empty(clusters.size)
    middles[clusters] = ends - sizes / 2
    return middles


def save(figure: Any, path: Path, kind: str) -> None:
    """Write a figure as "png" or "svg", always the same bytes."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "comarkov"}):
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(path, format=kind, metadata=metadata, dpi=120)


def _label_axis(
    side: SideFindings, axis: Any, middles: np.ndarray, names: np.ndarray, first: float = 0.0
) -> None:
    """Label an axis with names or, where they do not fit, with titles or numbers of clusters."""
    is_x = axis.axis_name == "x"
    inches = 0.75 * axis.get_figure().figure.get_size_inches()[0 if is_x else 1] - 0.5
    room = max(1, int(inches / LABEL_INCHES))
    if 0 < len(names) <= min(MAX_NAMED, room):
        places = np.arange(len(names)) + first
        labels, what = [short_name(name, LABEL_LETTERS) for name in names], side.kind
    else:
        step = -(-side.n_clusters // min(MAX_TICKS, room)) or 1
        numbered = np.argsort(middles[: side.n_clusters])[::step]
        has_titles = bool(step == 1 and inches >= ROOMY_INCHES)
        places, what = middles[numbered], f"{side.kind} cluster" if side.is_clustered else side.kind
        titles = [f"  {short_name(title, LABEL_LETTERS)}" * has_titles for title in side.titles]
        labels = [f"{a}{titles[a]}" for a in numbered]
    axis.set_ticks(places, labels=labels, parse_math=False)  # nothing in names is a formula
    is_crowded = LETTER_INCHES * sum(len(label) + 2 for label in labels) > inches
    axis.set_tick_params(labelrotation=90 if is_x and is_crowded else 0)
    axis.set_label_text(what, parse_math=False)
