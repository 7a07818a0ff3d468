"""The folder of results: all files about a fit, its model and its data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..data.store.references import keep_data
from ..model.storage import MODEL, SUMMARY, save_value
from . import given_titles, plot, report
from .files import clusters_md, summary_json
from .given_titles import titles_json

if TYPE_CHECKING:
    from .results import Results

PATH = "path.npz"


def fill(results: Results, folder: Path) -> None:
    """Write all files into an existing folder."""
    for name, text in titled_texts(results).items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    draw_heatmap(results, folder)
    results.fitted.save(folder / MODEL)
    keep_data(results.data, folder)
    if results.path is not None:
        save_value(list(results.path), folder / PATH)
        plot.save(plot.path_figure(results), folder / "path.png", "png")


def titled_texts(results: Results) -> dict[str, str]:
    """The text files of results, by name; titles of clusters stand in all of them."""
    tables = results.tables()
    texts = tables | {
        "clusters.md": clusters_md(results),
        SUMMARY: summary_json(results),
        "report.html": report.render(results, tables),
    }
    given = titles_json(results.findings)
    return texts if given is None else texts | {given_titles.FILE: given}


def draw_heatmap(results: Results, folder: Path) -> None:
    """Draw heatmap.png."""
    heatmap = plot.heatmap_figure(results.findings, results.matrix)
    plot.save(heatmap, folder / "heatmap.png", "png")
