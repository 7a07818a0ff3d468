"""The folder of results: all files about a fit, its model and its data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..model.storage import MODEL, SUMMARY, save_value
from . import plot, report
from .files import clusters_md, summary_json

if TYPE_CHECKING:
    from .results import Results

DATA, PATH = "data.npz", "path.npz"


def fill(results: Results, folder: Path) -> None:
    """Write all files into a folder that is there."""
    tables = results.tables()
    texts = tables | {
        "clusters.md": clusters_md(results),
        SUMMARY: summary_json(results),
        "report.html": report.render(results, tables),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    heatmap = plot.heatmap_figure(results.findings, results.matrix)
    plot.save(heatmap, folder / "heatmap.png", "png")
    results.fitted.save(folder / MODEL)
    results.data.save(folder / DATA)
    if results.path is not None:
        save_value(list(results.path), folder / PATH)
        plot.save(plot.path_figure(results), folder / "path.png", "png")
