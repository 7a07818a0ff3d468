"""Pictures from Python: what is drawn, for models and for results."""

from functools import cache
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import contrast
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave

import comarkov
from comarkov import (
    SIB,
    CoClustering,
    datasets,
    plot_blocks,
    plot_heatmap,
    plot_information,
)
from comarkov.joint.messages import InputError
from comarkov.results.pictures import binned
from comarkov.results.words.figures import lift_text

mpl.use("agg")

WOMEN = datasets.load("southern-women")


@cache
def women_model():
    return CoClustering((2, 3), n_init=10, random_state=0).fit(WOMEN.matrix)


@pytest.fixture
def model():
    return women_model()


@pytest.fixture
def ax():
    return Figure().subplots()


def test_pixels_are_means_of_their_cells():
    rng = np.random.default_rng(0)
    dense, rows, columns = rng.random((12, 10)), rng.permutation(12), rng.permutation(10)
    means = binned(sp.csr_array(dense), rows, columns, most=4)
    ordered = dense[np.ix_(rows, columns)]
    assert means.shape == (4, 4)
    assert means[1, 0] == pytest.approx(ordered[3:6, :3].mean())
    assert np.array_equal(binned(sp.csr_array(dense), rows, columns), ordered)


def test_heatmap_draws_the_reordered_matrix(model, ax):
    assert plot_heatmap(model, WOMEN, ax=ax) is ax
    (image,) = ax.get_images()
    rows = np.argsort(model.row_labels_, kind="stable")
    blocks = np.asarray(image.get_array())
    assert blocks.sum() == WOMEN.matrix.sum()
    k = (model.row_labels_ == 0).sum()
    assert blocks[:k].sum() == WOMEN.matrix[rows[:k]].sum()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert set(names[:k]) == {WOMEN.row_names[i] for i in rows[:k]}
    assert len(ax.get_lines()) == 1 + 2  # borders
    for draw, advice in ((lambda: plot_heatmap(model), "X"), (lambda: plot_blocks(SIB(2)), "fit")):
        with pytest.raises(InputError) as error:
            draw()
        assert advice in error.value.advice


def test_blocks_are_coloured_by_octaves_of_lift(model, ax):
    assert plot_blocks(model, ax=ax) is ax
    P = WOMEN.matrix / WOMEN.matrix.sum()
    drawn = np.asarray(ax.get_images()[0].get_array())
    rows, columns = (
        {int(label.get_text()[0]): round(label.get_position()[i]) for label in labels}
        for i, labels in ((1, ax.get_yticklabels()), (0, ax.get_xticklabels()))
    )
    rows, columns = (
        [of[number] for number in side.numbers]
        for of, side in zip((rows, columns), model._findings().sides, strict=True)
    )
    for a, b in np.ndindex(2, 3):
        inside = model.row_labels_ == a, model.column_labels_ == b
        lift = P[np.ix_(*inside)].sum() / P[inside[0]].sum() / P[:, inside[1]].sum()
        if lift > 0.5:
            assert drawn[rows[a], columns[b]] == pytest.approx(np.log2(lift))
        assert lift_text(lift) in {text.get_text() for text in ax.texts}
    assert drawn.argmax(axis=1).tolist() == [0, 2]  # along the diagonal


def test_many_clusters_are_numbered_and_few_elements_named(ax):
    counts = np.random.default_rng(0).poisson(1.0, (90, 80))
    model = CoClustering((60, 50), method="sequential", random_state=0).fit(counts)
    for draw in (plot_blocks, lambda model, ax: plot_heatmap(model, counts, ax=ax)):
        draw(model, ax=ax)
        assert 15 <= len(ax.get_yticks()) <= 30
        ax.clear()
    frame = pd.DataFrame(WOMEN.matrix, columns=WOMEN.column_names)
    plot_blocks(CoClustering((2, None), random_state=0).fit(frame), ax=ax)
    assert {label.get_text() for label in ax.get_xticklabels()} == set(WOMEN.column_names)


def fitted_frame(n, m, row="R", column="C"):
    """A frame with names of some length, and a model."""
    counts = np.random.default_rng(0).poisson(2.0, (n, m)) + 4 * np.eye(n, m, dtype=int)
    names = [[f"{stem}{i:02}" for i in range(count)] for stem, count in ((row, n), (column, m))]
    frame = pd.DataFrame(counts, *names)
    return CoClustering((2, 2), method="sequential", random_state=0).fit(frame), frame


@pytest.mark.parametrize(
    ("frame", "size", "names"),
    [
        ((30, 50), (11, 9), (30, 50)),
        ((30, 50), (5, 3), (2, 2)),
        ((12, 12, "A name of many letters ", "C"), (5, 5), (12, 12)),
        ((70, 40), (11, 9), (2, 40)),
        ((9, 9), (1.5, 1.0), (1, 2)),
    ],
)
def test_names_are_turned_or_left_out_where_they_would_meet(frame, size, names):
    ax = Figure(figsize=size, layout="constrained").subplots()
    plot_heatmap(*fitted_frame(*frame), ax=ax)
    ax.figure.draw_without_rendering()
    assert (len(ax.get_yticks()), len(ax.get_xticks())) == names
    for i, axis in enumerate((ax.xaxis, ax.yaxis)):
        extents = [label.get_window_extent() for label in axis.get_ticklabels()]
        boxes = sorted((extent.min[i], extent.max[i]) for extent in extents)
        assert all(end <= start for (_, end), (start, _) in pairwise(boxes))


def test_names_are_no_formulas(ax):
    model, frame = fitted_frame(6, 6, "$x_$ ", "two\nlines ")
    plot_heatmap(model, frame, ax=ax)
    ax.figure.draw_without_rendering()
    assert ax.get_yticklabels()[0].get_text().startswith("$x_$ 0")
    assert ax.get_xticklabels()[0].get_text().startswith("two lines 0")


def test_the_evidence_for_numbers_is_drawn_with_the_chosen_ones(ax, model):
    fitted = CoClustering("auto", random_state=0).fit(
        datasets.planted((60, 50), (3, 3), random_state=0).matrix
    )
    assert comarkov.plot_selection(fitted, ax=ax) is ax
    chosen = fitted.selection_[fitted.selection_["suggested"]]
    circled = [line.get_xdata().tolist() for line in ax.get_lines()[1::2]]
    sides = [chosen["row_clusters"].tolist(), chosen["column_clusters"].tolist()]
    assert circled in (sides, [[sum(number) for number in zip(*sides, strict=True)]])
    with pytest.raises(InputError) as error:
        comarkov.plot_selection(model, ax=ax)
    assert "auto" in error.value.advice


def test_lifts_can_be_read_on_their_blocks():
    """Each number has at least the contrast of 4.5 that WCAG asks for."""
    blocks = np.kron([[70, 1, 1], [1, 20, 1], [1, 1, 10]], np.ones((4, 4), dtype=int))
    ax = Figure().subplots()
    plot_blocks(CoClustering(3, random_state=0).fit(blocks), ax=ax)
    image = ax.images[0]
    drawn = image.to_rgba(image.get_array())
    assert len(ax.texts) == 9
    for text in ax.texts:
        column, row = (int(position) for position in text.get_position())
        assert contrast(drawn[row, column], to_rgb(text.get_color())) >= 4.5


@pytest.mark.parametrize("style", ["default", "dark_background", "ggplot"])
@pytest.mark.parametrize(
    "name", ["blocks", "features", "dendrogram", "map", "confidence", "information", "heatmap"]
)
def test_every_plot_fits_into_given_axes_in_any_style(name, style):
    plot = getattr(comarkov, f"plot_{name}")
    results = comarkov.Results.of(women_model(), WOMEN)
    drawn = women_model() if name == "information" else results
    is_of_both = name in ("information", "heatmap", "blocks")
    sides = [{}] if is_of_both else [{"side": "rows"}, {"side": "columns"}]
    with mpl.style.context(style):
        for options in sides:
            figure = Figure()
            ax, other = figure.subplots(1, 2, width_ratios=[3, 1])
            assert plot(drawn, ax=ax, **options) is ax
            assert ax.get_xlabel()
            assert ax.patches or ax.lines or ax.collections or ax.images
            figure.draw_without_rendering()
            box, room = ax.get_tightbbox(), other.get_tightbbox()
            assert 0 <= box.x0 < box.x1 <= room.x0
            assert 0 <= box.y0 < box.y1 <= figure.bbox.height
            coloured = [ax.yaxis.label, *ax.texts, *ax.get_yticklabels()]
            for text in [] if ax.images else coloured:
                assert contrast(to_rgb(text.get_color()), to_rgb(figure.get_facecolor())) >= 2.5
            is_gridded = any(line.get_visible() for line in ax.get_xgridlines())
            assert is_gridded == (style == "ggplot" and not ax.images)


def test_transparent_axes_are_as_dark_as_their_figure():
    colours = {}
    for face in ("white", "black", "none"):
        ax = Figure(facecolor=face).subplots()
        ax.set_facecolor("none")
        comarkov.plot_dendrogram(women_model(), ax=ax)
        colours[face] = to_rgb(ax.lines[0].get_color())
    assert colours["none"] == colours["white"] < colours["black"]


def test_a_layout_of_the_user_is_kept():
    placed = Figure().add_axes((0.2, 0.2, 0.5, 0.5))
    constrained = Figure(layout="constrained").subplots()
    for ax in (placed, constrained):
        before = ax.figure.get_layout_engine()
        plot_blocks(women_model(), ax=ax)
        assert ax.figure.get_layout_engine() is before


def test_long_titles_are_wrapped_or_give_way_to_numbers():
    columns = [f"a long name {letters}" for letters in ("anna", "berta", "carla", "dora")]
    counts = np.kron(np.eye(2, dtype=int) * 9 + 1, np.ones((6, 2), dtype=int))
    frame = pd.DataFrame(counts, [f"{name} {i}" for name in columns for i in range(3)], columns)
    model = CoClustering((2, 2), random_state=0).fit(frame)
    wide, narrow = (Figure(figsize=(size, 4)).subplots() for size in (6.4, 2.5))
    for ax in (wide, narrow):
        plot_blocks(model, ax=ax)
    assert all("\n" in label.get_text() for label in wide.get_xticklabels())
    for axis in (narrow.xaxis, narrow.yaxis):
        assert sorted(label.get_text() for label in axis.get_ticklabels()) == ["1", "2"]


def test_bars_are_lifts_of_distinctive_elements(model, ax):
    comarkov.plot_features(model, n=3, ax=ax)
    drawn = [round(bar.get_width() + 1, 9) for bar in ax.patches]
    lifts = [f.lift for a in (0, 1) for f in model.top_features(a, 3)]
    assert sorted(drawn) == pytest.approx(sorted(lifts))


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("features", "columns"),
        ("dendrogram", "columns"),
        ("confidence", "columns"),
        ("map", "rows"),
    ],
)
def test_what_a_fit_of_one_side_cannot_show_has_an_error_with_advice(name, side, ax):
    one_side = CoClustering((2, None), random_state=0).fit(WOMEN.matrix)
    with pytest.raises(InputError) as error:
        getattr(comarkov, f"plot_{name}")(one_side, side=side, ax=ax)
    assert error.value.advice


def test_cells_are_coloured_by_what_was_asked_for(model):
    shades = {}
    for by in ("weight", "share", "lift"):
        ax = plot_heatmap(model, WOMEN, by=by, ax=Figure().subplots())
        shades[by] = np.asarray(ax.get_images()[0].get_array())
    assert set(np.unique(shades["weight"])) == {0.0, 1.0}
    rows = WOMEN.matrix.sum(axis=1)
    assert len(np.unique(shades["share"].round(9))) <= len(set(rows)) + 1
    expected = np.outer(rows, WOMEN.matrix.sum(axis=0)) / WOMEN.matrix.sum()
    assert (shades["lift"] > 0.5).sum() == (WOMEN.matrix > expected).sum()


def test_information_is_drawn_by_level_and_by_beta():
    model = CoClustering((3, 3), random_state=0).fit(WOMEN)
    levels = plot_information(model)
    lines = {line.get_label(): line for line in levels.get_lines()}
    at_fit = lines["I(X;Ȳ)"].get_xdata() == 6
    assert model.information_.rows_column_clusters in lines["I(X;Ȳ)"].get_ydata()[at_fit]
    over_beta = plot_information(model, WOMEN)
    whole, right, left, blocks = (line.get_ydata() for line in over_beta.get_lines()[-4:])
    assert (blocks <= np.minimum(left, right) + 1e-9).all()
    assert (np.maximum(left, right) <= whole + 1e-9).all()
    starts = [line.get_xdata()[0] for line in over_beta.get_lines()[:-4]]
    assert starts == sorted(starts)
    assert set(starts) < set(over_beta.get_lines()[-1].get_xdata())


# --- pictures as they looked before: `PYTHONPATH=tests python tests/results/test_plot.py` ---

PICTURES = Path(__file__).with_name("pictures")
PIXELS = 10  # of a side of the squares whose mean colours are compared: fonts may differ a little
DRAWN = {
    "heatmap": lambda model, ax: plot_heatmap(model, WOMEN, ax=ax),
    "lift": lambda model, ax: plot_heatmap(model, WOMEN, by="lift", ax=ax),
    "blocks": lambda model, ax: plot_blocks(model, ax=ax),
    "dots": lambda model, ax: plot_blocks(model, dots=True, ax=ax),
    "features": lambda model, ax: comarkov.plot_features(model, ax=ax),
    "dendrogram": lambda model, ax: comarkov.plot_dendrogram(model, side="columns", ax=ax),
    "map": lambda model, ax: comarkov.plot_map(model, ax=ax),
    "confidence": lambda model, ax: comarkov.plot_confidence(model, ax=ax),
    "information": lambda model, ax: plot_information(model, ax=ax),
    "selection": lambda model, ax: comarkov.plot_selection(chosen_model(), ax=ax),
}


def chosen_model():
    return CoClustering(random_state=0).fit(WOMEN.matrix)


def drawing(model, name):
    with mpl.style.context("default"):
        ax = Figure(figsize=(4, 3), dpi=50, layout="constrained").subplots()
        DRAWN[name](model, ax)
        canvas = FigureCanvasAgg(ax.figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3] / 255


def coarse(pixels):
    high, wide = (size // PIXELS for size in pixels.shape[:2])
    squares = pixels[: high * PIXELS, : wide * PIXELS].reshape(high, PIXELS, wide, PIXELS, 3)
    return squares.mean(axis=(1, 3))


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_look_as_before(name):
    known = imread(PICTURES / f"{name}.png")[..., :3]
    difference = np.abs(coarse(drawing(women_model(), name)) - coarse(known))
    assert difference.mean() < 0.01
    assert difference.max() < 0.25


if __name__ == "__main__":
    for name in DRAWN:
        imsave(PICTURES / f"{name}.png", drawing(women_model(), name))
