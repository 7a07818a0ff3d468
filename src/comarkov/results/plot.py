"""Drawings. The only module that imports matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from colorsys import hls_to_rgb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from ..costs.labels import check_side, ranks
from ..costs.objective import information, least_costs, octaves
from ..io.read.fit_input import fit_input
from ..joint.inputs import as_csr
from ..joint.messages import InputError, need
from . import pictures
from .describe import Side
from .findings import Findings, SideFindings, findings_of, findings_on, joint_of_fit
from .words.figures import is_informative, lift_text, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SIDES: tuple[Side, Side] = ("rows", "columns")
LIFT_INCHES = 0.4  # of a block in which its lift is written
LIFT_AXIS = "times as much as expected"
COLOUR_LABELS = {"weight": "weight", "share": "share of the row", "lift": LIFT_AXIS}
MAX_TICKS = 30  # clusters along an axis
ROOMY_INCHES = 1.5  # along an axis that has room for titles
LABEL_INCHES, LETTER_INCHES = 0.13, 0.07  # that a line of text takes, and a letter
#: Of labels that are wrapped rather than turned: letters, lines, and the share of the room.
WRAPPED_LETTERS, WRAPPED_LINES, WRAPPED_WIDTH = 10, 3, 2 / 3
PALETTE = ("#2166ac", "#b2182b", "#1b7837", "#762a83", "#b35806", "#4d4d4d", "#01665e")


def plot_heatmap(
    model: Any,
    X: Any = None,
    *,
    by: Literal["auto", "weight", "share", "lift"] = "auto",
    ax: Axes | None = None,
) -> Axes:
    """Draw the matrix with its rows and columns in the order of their clusters.

    Each pixel is the mean of the cells that it covers, so large matrices stay sparse.

    Parameters
    ----------
    model : fitted CoClustering or Results
    X : matrix, data frame or Data of the fit
        As it was passed to fit; not needed for results, which have it.
    by : {"auto", "weight", "share", "lift"}, default="auto"
        What colours show: weights, shares of the row, or lifts, the entries over what their row
        and column lead one to expect; "auto" takes the one in which the blocks stand out most.
    ax : Axes, default=None
        Where to draw; None draws in a new figure. Subplots of a figure without a layout get a
        tight one, so that labels fit.

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
    _draw_cells(
        ax, findings, matrix, pictures.best_colour(findings, matrix) if by == "auto" else by
    )
    ax.tick_params(length=0, labelsize=7)
    for i, side in enumerate(findings.sides):
        middles = _draw_clusters(ax, _Drawn(findings, SIDES[i]))
        axis = ax.xaxis if i else ax.yaxis
        _label_axis(side, axis, middles, side.names[findings.orders[i]], 0.5)
    return ax


def _draw_cells(ax: Any, findings: Findings, matrix: sp.csr_array, by: str) -> None:
    n, m = matrix.shape
    means = pictures.binned(matrix, *findings.orders)
    placed = {"extent": (0, m, n, 0), "aspect": "auto", "interpolation": "nearest"}
    colours = _colour_map(pictures.LIFT_COLOURS if by == "lift" else pictures.CELL_COLOURS)
    ax.grid(False)
    image = ax.imshow(pictures.cell_shades(means, by), cmap=colours, vmin=0, vmax=1, **placed)
    layout = ax.figure.get_layout_engine()
    pad = 0.13 if layout is None or layout.colorbar_gridspec else 0.02  # beside the merges
    bar = ax.figure.colorbar(image, ax=ax, label=COLOUR_LABELS[by], shrink=0.6, pad=pad)
    if by == "lift":
        far = pictures.far_lift(means)
        bar.set_ticks([0, 0.5, 1], labels=[_times(-far), "×1", _times(far)])
    else:
        most = pictures.highest(pictures.row_shares(means) if by == "share" else means)
        bar.set_ticks([0, 1], labels=["0", f"{most:.0%}" if by == "share" else f"{most:,.3g}"])


def plot_blocks(model: Any, *, dots: bool = False, ax: Axes | None = None) -> Axes:
    """Draw each pair of clusters by its lift, P(x̄, ȳ) / (P(x̄) P(ȳ)), on a logarithmic scale.

    Parameters
    ----------
    model, ax
        As for :func:`plot_heatmap`.
    dots : bool, default=False
        Draw a dot for each pair; its area is the share of the row cluster's mass, P(ȳ | x̄).

    Examples
    --------
    >>> from comarkov import CoClustering, plot_blocks
    >>> model = CoClustering(2, random_state=0).fit([[5, 1], [3, 1], [1, 3], [1, 4]])
    >>> axes = plot_blocks(model)
    """
    findings, _ = _findings_and_matrix(model, None)
    clusters = findings.cluster_orders
    blocks = findings.blocks[np.ix_(*clusters)]
    shares = blocks / blocks.sum(axis=1, keepdims=True) if dots else None
    ax = _axes(ax)
    _lift_image(ax, findings.lift[np.ix_(*clusters)], shares)
    ax.tick_params(length=0, labelsize=8)
    for side, axis, drawn in zip(findings.sides, (ax.yaxis, ax.xaxis), clusters, strict=True):
        names = side.names[:0] if side.is_clustered else side.names[drawn]  # as themselves
        _label_axis(side, axis, ranks(drawn).astype(float), names)
    return ax


def _lift_image(ax: Any, lift: np.ndarray, shares: np.ndarray | None) -> None:
    """Blocks, or dots of these areas, by lift: orange has more than expected, purple less."""
    shown = np.where(lift > 0, octaves(lift), -np.inf)
    far = min(max(1.0, float(np.ceil(shown.max(initial=0.0)))), 6.0)
    shown = np.clip(shown, -far, far)
    look = {"cmap": _colour_map(pictures.LIFT_COLOURS), "vmin": -far, "vmax": far}
    ax.grid(False)
    (n, m), (rows, columns) = lift.shape, np.indices(lift.shape)
    width, height = 0.7 * ax.get_window_extent().size / ax.figure.dpi / (m, n)  # of a cell, roughly
    if shares is not None:
        areas = (72 * min(width, height)) ** 2 * shares  # in points
        image = ax.scatter(columns, rows, areas, shown, edgecolors="0.5", lw=0.5, **look)
        ax.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5))
    else:
        image = ax.imshow(shown, aspect="auto", **look)
        for (a, b), value in np.ndenumerate(lift) if width >= LIFT_INCHES else ():
            color = _readable_on(image.to_rgba(shown[a, b]))
            ax.text(b, a, lift_text(value), ha="center", va="center", color=color, fontsize=8)
    bar = ax.figure.colorbar(image, ax=ax, label="lift")
    step = int(np.ceil(far / 3))
    ticks = step * np.arange(-(far // step), far // step + 1)
    bar.set_ticks(ticks.tolist(), labels=list(map(_times, ticks.tolist())))


def _times(octaves: float) -> str:
    """A lift on a scale: ×8, ×1/8, ×1.4."""
    text = f"{2 ** abs(octaves):.2g}"
    return f"×{text}" if octaves >= 0 else f"×1/{text}"


def _readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever has more contrast with this colour (WCAG's formula)."""
    parts = np.array(colour[:3])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return "black" if luminance > 0.179 else "white"  # equal contrast with both at 0.179


def plot_features(model: Any, *, side: Side = "rows", n: int = 6, ax: Axes | None = None) -> Axes:
    """Draw bars of what is most distinctive of each cluster, by lift.

    Parameters
    ----------
    model, ax
        As for :func:`plot_heatmap`.
    side : {"rows", "columns"}, default="rows"
        Whose clusters.
    n : int, default=6
        The largest number of bars for each cluster.

    Examples
    --------
    >>> from comarkov import CoClustering, plot_features
    >>> model = CoClustering(2, random_state=0).fit([[5, 1], [3, 1], [1, 3], [1, 4]])
    >>> axes = plot_features(model)
    """
    drawn = _Drawn.of(model, side)
    bars = {
        a: [each for each in drawn.side.distinctive(a, n) if is_informative(each.lift)]
        for a in drawn.clusters
    }
    ax = _axes(ax, height=1 + 0.2 * (sum(map(len, bars.values())) + drawn.side.n_clusters))
    titles, ticks = drawn.titles_on(ax), list[int]()
    for a, features in bars.items():
        if not features:
            continue
        first = ticks[-1] + 2 if ticks else 0
        places = list(range(first, first + len(features)))
        colour = _ink(ax, drawn.colours[a])
        ax.barh(places, [each.lift - 1 for each in features], left=1, color=colour)
        place: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center"}
        look: dict[str, Any] = {"color": colour, "fontsize": "small"}
        middle = (places[0] + places[-1]) / 2
        ax.text(1.02, middle, titles[a], parse_math=False, **place, **look)
        ticks += places
    names = [
        short_name(each.name, pictures.LABEL_LETTERS)
        for features in bars.values()
        for each in features
    ]
    lines = max(ticks, default=0) + 2
    ax.set_yticks(ticks, names, fontsize=min(9.0, 72 * _inches(ax)[1] / lines))
    ax.set_xlabel(LIFT_AXIS)
    ax.invert_yaxis()
    return ax


def plot_dendrogram(model: Any, *, side: Side = "rows", ax: Axes | None = None) -> Axes:
    """Draw the merges of the clusters of one side, at the information lost so far.

    Parameters are those of :func:`plot_features`.

    Examples
    --------
    >>> from comarkov import CoClustering, plot_dendrogram
    >>> model = CoClustering(2, random_state=0).fit([[5, 1], [3, 1], [1, 3], [1, 4]])
    >>> axes = plot_dendrogram(model, side="columns")
    """
    drawn = _Drawn.of(model, side)
    if drawn.side.linkage is None or drawn.side.n_clusters < 2:
        raise InputError(f"One cluster of {side} has no merges.", advice="Fit at least two.")
    ax = _axes(ax)
    places = ranks(drawn.side.cluster_order).astype(float)
    for along, bits in _forks(drawn.side.linkage, places):
        ax.plot(bits, along, color=_ink(ax, "0.4"), linewidth=1.2)
    ax.yaxis.tick_right()
    titles = drawn.titles_on(ax)
    ax.set_yticks(places[drawn.clusters], [titles[a] for a in drawn.clusters], fontsize="small")
    for label, cluster in zip(ax.get_yticklabels(), drawn.clusters, strict=True):
        label.set(color=_ink(ax, drawn.colours[cluster]), parse_math=False)
    ax.set(xlabel="bits lost so far", ylim=(len(places) - 0.5, -0.5))
    ax.invert_xaxis()
    return ax


def _forks(linkage: np.ndarray, places: np.ndarray) -> Iterator[tuple[list[float], list[float]]]:
    """Each merge as a line: places along the side, and bits lost so far."""
    nodes = [(float(place), 0.0) for place in places]
    for first, second, height, _ in linkage.tolist():
        (one, low), (other, less) = nodes[int(first)], nodes[int(second)]
        yield [one, one, other, other], [low, height, height, less]
        nodes.append(((one + other) / 2, height))


def plot_map(model: Any, X: Any = None, *, side: Side = "rows", ax: Axes | None = None) -> Axes:
    """Draw the elements of one side in the plane, those with similar profiles close together.

    Parameters
    ----------
    model, side, ax
        As for :func:`plot_features`.
    X : matrix, data frame or Data of the fit, default=None
        Only needed if the other side is not clustered and ``model`` is not Results.

    Examples
    --------
    >>> from comarkov import CoClustering, plot_map
    >>> model = CoClustering(2, random_state=0).fit([[5, 1], [3, 1], [1, 3], [1, 4]])
    >>> axes = plot_map(model)
    """
    check_side(side)
    findings, matrix = _findings_and_matrix(model, X)
    own: SideFindings = getattr(findings, side)
    places = pictures.map_of_side(findings, matrix, own)
    ax = _axes(ax)
    if own.is_clustered:
        drawn = _Drawn(findings, side)
        titles = drawn.titles_on(ax)
        for a in drawn.clusters:
            x, y = places.points[own.labels == a].T
            ax.scatter(x, y, s=12, c=[_ink(ax, drawn.colours[a])], label=titles[a])
        _legend(ax)
    else:
        ax.scatter(places.points[:, 0], places.points[:, 1], s=12)
    horizontal, vertical = (f"{share:.0%} of the variation" for share in places.shares)
    ax.set(xlabel=horizontal, ylabel=vertical)
    return ax


def plot_confidence(model: Any, *, side: Side = "rows", ax: Axes | None = None) -> Axes:
    """Draw how many elements of each cluster have which confidence.

    Parameters are those of :func:`plot_features`.

    Examples
    --------
    >>> from comarkov import CoClustering, plot_confidence
    >>> model = CoClustering(2, random_state=0).fit([[5, 1], [3, 1], [1, 3], [1, 4]])
    >>> axes = plot_confidence(model)
    """
    drawn = _Drawn.of(model, side)
    own, clusters = drawn.side, drawn.clusters
    if own.confidence is None:
        raise InputError(f"The confidence of {side} is not known.", advice="Fit CoClustering.")
    ax = _axes(ax)
    colours = [_ink(ax, drawn.colours[a]) for a in clusters]
    titles = [drawn.titles_on(ax)[a] for a in clusters]
    values = [own.confidence[own.labels == a] for a in clusters]
    bins = np.linspace(0, 1, 21).tolist()
    ax.hist(values, bins=bins, stacked=True, color=colours, label=titles)
    ax.set_xlabel("confidence")
    ax.set_ylabel(own.kinds, parse_math=False)
    _legend(ax)
    return ax


def plot_information(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw what clusters keep of I(X;Y): I(X̄;Y), I(X;Ȳ) and I(X̄;Ȳ), by level or by β.

    Parameters
    ----------
    model : fitted CoClustering
        Without X, its levels are drawn, by the number of clusters of both sides; the fit is marked.
    X : matrix or data frame of the fit, default=None
        With X, the co-clustering of least cost at each β on ``model.beta_path(X)`` is drawn.
        Dotted lines are the break points of min L_β, where another one begins to cost least.
    ax
        As for :func:`plot_heatmap`.

    Examples
    --------
    >>> from comarkov import CoClustering, plot_information
    >>> W = [[5, 1], [3, 1], [1, 3], [1, 4]]
    >>> model = CoClustering(2, random_state=0).fit(W)
    >>> axes = plot_information(model), plot_information(model, W)
    """
    if not hasattr(model, "hierarchy_"):
        raise InputError(f"{type(model).__name__} is not fitted.", advice="Call fit first.")
    ax = _axes(ax)
    if X is None:
        counts = [level.n_clusters for level in model.hierarchy_.levels]
        x = [float(sum(k or 0 for k in both)) for both in counts]
        parts = [model.cut(both).information_ for both in counts]
        fit = counts.index(model.hierarchy_.n_fitted)
        ax.axvline(x[fit], color="0.6", linewidth=0.8)
        text = " × ".join(str(k) for k in counts[fit] if k is not None)
        ax.annotate(text, (x[fit], 0), xytext=(4, 4), textcoords="offset points")
        ax.set_xlabel("clusters on both sides")
    else:
        data = joint_of_fit(model, X)
        path = model.beta_path(X)
        every = [information(data, step.row_labels, step.column_labels) for step in path]
        starts = least_costs(every)
        for beta, _ in starts[1:]:
            ax.axvline(beta, color="0.6", linewidth=0.8, linestyle=":")
        ends = [*(beta for beta, _ in starts[1:]), 1.0]
        x = [beta for (start, _), end in zip(starts, ends, strict=True) for beta in (start, end)]
        parts = [every[i] for _, i in starts for _ in range(2)]
        ax.set_xlabel("β")
    names = ("I(X;Y)", "I(X;Ȳ)", "I(X̄;Y)", "I(X̄;Ȳ)")
    styles = (("0.4", "--"), (PALETTE[1], "-"), (PALETTE[0], "-"), (PALETTE[2], "-"))
    for name, values, (color, line) in zip(names, zip(*parts, strict=True), styles, strict=True):
        ax.plot(x, values, color=_ink(ax, color), linestyle=line, linewidth=1.3, label=name)
    ax.set(ylabel="information in bits")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize="small", frameon=False)
    return ax


def plot_selection(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the evidence for how many clusters there are; the chosen numbers are circled.

    It is how well random halves of the data agree on each number of clusters or, where they were
    not compared, the length of the shortest description of the data.

    Parameters
    ----------
    model, ax
        As for :func:`plot_heatmap`; fitted with ``n_clusters="auto"``.

    Examples
    --------
    >>> from comarkov import CoClustering, datasets, plot_selection
    >>> data = datasets.planted((60, 50), (3, 3), random_state=0)
    >>> axes = plot_selection(CoClustering("auto", random_state=0).fit(data.matrix))
    """
    findings, _ = _findings_and_matrix(model, None)
    table = getattr(model, "selection", getattr(model, "selection_", None))
    if table is None:
        message = "How many clusters there are was given, so nothing speaks for it."
        raise InputError(message, advice='Fit with n_clusters="auto".')
    ax, k = _axes(ax), {axis: table[f"{axis}_clusters"] for axis in ("row", "column")}
    lines = [
        (k[side.axis], agreement, side.kinds)
        for side in findings.sides
        if np.isfinite(agreement := table[f"{side.axis}_agreement"]).any()
    ]
    what = "agreement of halves (adjusted Rand index)" if lines else "description length, nats"
    lines = lines or [(k["row"] + k["column"], table["description_length"], "both sides")]
    for (number, value, label), ink in zip(lines, PALETTE[::4], strict=False):
        colour = _ink(ax, ink)
        known, chosen = np.isfinite(value), table["suggested"]
        ax.plot(number[known], value[known], "o-", color=colour, ms=3.5, label=label)
        ax.plot(number[chosen], value[chosen], "o", color=colour, ms=11, mfc="none", mew=1.5)
    ax.set(xlabel="clusters" if len(lines) > 1 else "clusters of both sides", ylabel=what)
    if len(lines) > 1:
        _legend(ax)
    return ax


class _Drawn:
    """The clusters of a side as they are drawn, with their colours and titles by number."""

    def __init__(self, findings: Findings, side: Side) -> None:
        i = int(side == "columns")
        self.side = findings.sides[i]
        self.clusters: list[int] = findings.cluster_orders[i].tolist()
        self.titles = pictures.labels_of_clusters(self.side)
        places = ranks(findings.cluster_orders[i]) + i * findings.rows.n_clusters
        self.colours = [  # as in the report: hues a golden angle apart
            hls_to_rgb((205 + 137.5 * place) % 360 / 360, 0.44, 0.52 if place % 2 else 0.62)
            for place in places.tolist()
        ]

    def titles_on(self, ax: Any) -> list[str]:
        """Titles by label, or numbers where these would take more than half of the width."""
        numbers = list(map(str, self.side.numbers))
        return numbers if _are_wide(self.titles, _inches(ax)[0]) else self.titles

    @classmethod
    def of(cls, model: Any, side: Side) -> _Drawn:
        """Those of a model, which must have clusters on this side."""
        check_side(side)
        drawn = cls(_findings_and_matrix(model, None)[0], side)
        if not drawn.side.is_clustered:
            raise InputError(f"The {side} are not clustered.", advice="Draw the other side.")
        return drawn


def _axes(ax: Any, height: float | None = None) -> Any:
    if ax is not None:
        figure = ax.figure  # not if parts of it are placed otherwise
        is_free = figure.get_layout_engine() is None and hasattr(figure, "set_layout_engine")
        if is_free and all(each.get_subplotspec() for each in figure.axes):
            figure.set_layout_engine("tight", pad=1.6)
        return ax
    need("Drawing", "matplotlib")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(layout="constrained")
    if height is not None:
        figure.set_figheight(max(height, 2.5))
    return ax


def _ink(ax: Any, colour: Any) -> Any:
    """A colour that stands out on these axes: lighter where they are dark."""
    from matplotlib.colors import to_rgb

    ink, behind = (
        np.array(to_rgb(colour)),
        np.array([ax.get_facecolor(), ax.figure.get_facecolor()]),
    )
    is_dark = any(_readable_on(face) == "white" for face in behind[behind[:, 3] > 0][:1])
    return 1 - 0.6 * (1 - ink) if is_dark else ink


def _legend(ax: Any) -> None:
    """A legend beside the axes, if their figure makes room for it; else inside."""
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    has_room = ax.figure.get_layout_engine() is not None
    ax.legend(fontsize="small", frameon=False, **(beside if has_room else {}))


def _findings_and_matrix(model: Any, X: Any) -> tuple[Findings, sp.csr_array | None]:
    """The findings of a model or of results, and the matrix if it is known."""
    if hasattr(model, "findings"):
        return model.findings, model.matrix
    if not hasattr(model, "_model"):
        raise InputError(f"{type(model).__name__} is not fitted.", advice="Call fit first.")
    if X is None:
        return findings_of(model), None
    X = fit_input(X)
    return findings_on(model, X, joint_of_fit(model, X)), as_csr(X)


def _colour_map(colours: Sequence[Sequence[int]]) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("comarkov", np.array(colours) / 255)


def _draw_clusters(ax: Any, drawn: _Drawn) -> np.ndarray:
    """Lines between clusters, and a bar in the colour of each; the middle of each, by number."""
    from matplotlib.patches import Rectangle

    side, end = drawn.side, 0.0
    is_row = side.axis == "row"
    placed = ax.get_yaxis_transform() if is_row else ax.get_xaxis_transform()
    middles = np.empty(side.n_clusters)
    for cluster in drawn.clusters if side.is_clustered else ():
        size = float(side.sizes[cluster])
        box = ((1.01, end), 0.015, size) if is_row else ((end, 1.01), size, 0.02)
        colour = _ink(ax, drawn.colours[cluster])
        bar = Rectangle(*box, facecolor=colour, transform=placed, clip_on=False)
        ax.add_patch(bar)
        middles[cluster], end = end + size / 2, end + size
        if end < side.labels.size:
            line = ax.axhline if is_row else ax.axvline
            line(end, color="0.35", linewidth=0.6)
    if side.linkage is not None and len(middles) > 1:  # the merges, beside the colours
        place = (1.03, 0.0, 0.06, 1.0) if is_row else (0.0, 1.035, 1.0, 0.08)
        tree = ax.inset_axes(place, **{"sharey" if is_row else "sharex": ax})
        for along, bits in _forks(side.linkage, middles):
            ink = _ink(ax, "0.4")
            tree.plot(*((bits, along) if is_row else (along, bits)), color=ink, linewidth=0.8)
        tree.set(**{"xlim" if is_row else "ylim": (0, None)})
        tree.set_axis_off()
    return middles


def _label_axis(
    side: SideFindings, axis: Any, middles: np.ndarray, names: np.ndarray, first: float = 0.0
) -> None:
    """Label an axis with names or, where they do not fit, with clusters by title or number."""
    is_x = axis.axis_name == "x"
    sizes = _inches(axis.axes)
    inches, across = sizes if is_x else sizes[::-1]
    low, high = sorted(axis.get_view_interval())
    is_named = 0 < len(names) <= min(pictures.MAX_NAMED, max(1, int(inches / LABEL_INCHES)))
    if is_named:
        places = np.arange(len(names)) + first
        labels, what = [short_name(name, pictures.LABEL_LETTERS) for name in names], side.kind
    else:
        least = max(LABEL_INCHES, inches / MAX_TICKS) * (high - low) / inches
        shown: list[int] = []
        for a in np.argsort(middles[: side.n_clusters]).tolist():
            if not shown or middles[a] - middles[shown[-1]] >= least:
                shown.append(a)
        places, what = middles[shown], f"{side.kind} cluster" if side.is_clustered else side.kind
        titles, numbers = pictures.labels_of_clusters(side), [str(side.numbers[a]) for a in shown]
        labels = [titles[a] for a in shown] if inches >= ROOMY_INCHES else numbers
    is_turned = is_x and LETTER_INCHES * sum(len(label) + 2 for label in labels) > inches
    if is_turned and len(labels) > 1:
        closest = inches * float(np.diff(np.sort(places)).min()) / (high - low)
        letters = int(closest * WRAPPED_WIDTH / LETTER_INCHES)
        lines = [textwrap.wrap(label, max(letters, 1)) for label in labels]
        if letters >= WRAPPED_LETTERS and max(map(len, lines)) <= WRAPPED_LINES:
            labels, is_turned = ["\n".join(parts) for parts in lines], False
    if not is_named and (is_turned or not is_x) and _are_wide(labels, across):
        labels, is_turned = numbers, False
    axis.set_ticks(places, labels=labels, parse_math=False)  # nothing in names is a formula
    axis.set_tick_params(labelrotation=90 if is_turned else 0)
    axis.set_label_text(what, parse_math=False)


def _inches(ax: Any) -> tuple[float, float]:
    """The width and the height of axes, less what labels and the like will probably take."""
    spec = ax.get_subplotspec()  # colour bars make the axes themselves smaller
    place = spec.get_topmost_subplotspec().get_position(ax.figure) if spec else ax.get_position()
    width, height = place.size * ax.figure.bbox.size / ax.figure.dpi
    return max(0.97 * width - 0.5, 0.1), max(0.97 * height - 0.5, 0.1)


def _are_wide(labels: Sequence[str], inches: float) -> bool:
    return LETTER_INCHES * max(map(len, labels), default=0) > inches / 2
