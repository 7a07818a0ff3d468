"""The files of results: CSV for programs, Markdown for people, JSON for both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.csv_files import csv_text, tables_for_spreadsheets
from ..io.files import MODEL, SUMMARY
from ..io.store.opening import keep_data
from ..joint.messages import plural
from ..model.storage import save_value
from . import plot, report
from .findings import SideFindings, expected_of
from .text import cluster_heading, figures
from .words import given_titles
from .words.figures import count_text, is_informative, lift_text
from .words.given_titles import titles_json
from .words.next_steps import opening_of
from .words.sentences import plain

if TYPE_CHECKING:
    from .results import Results


def json_text(value: Any) -> str:
    """JSON for people and programs."""
    return json.dumps(_jsonable(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _jsonable(value: Any) -> Any:
    """The value with types that JSON has: null if not finite, the repr if not data."""
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else repr(value)


def markdown_text(text: str) -> str:
    """Text on one line that Markdown shows as it is."""
    text = escape(" ".join(text.split()), quote=False)
    for character in "\\`*_[]#|":
        text = text.replace(character, "\\" + character)
    return text


FORMAT = 1  # of summary.json
ELEMENTS = ("name", "cluster", "confidence", "rank", "title")
SIZES = ("row_cluster", "column_cluster", "rows", "columns")
BLOCKS = (*SIZES, "mass", "share", "expected", "lift", "density", "row_title", "column_title")


def elements_csv(side: SideFindings) -> str:
    """Name, cluster, confidence, rank and title of the cluster, in the order of the data."""
    clusters = side.labels.tolist() if side.is_clustered else [""] * side.labels.size
    confidence = [""] * side.labels.size
    if side.confidence is not None:
        confidence = [f"{value:.4f}" for value in side.confidence]
    ranks = [rank or "" for rank in side.ranks.tolist()]
    titles = [side.titles[a] if a >= 0 and side.titles else "" for a in side.labels.tolist()]
    columns = side.names.tolist(), clusters, confidence, ranks, titles
    return csv_text(ELEMENTS, zip(*columns, strict=True))


def blocks_csv(results: Results) -> str:
    """All pairs of clusters: sizes, mass, lift, density and titles.

    On a side that is not clustered each element is listed by name, and pairs without mass are left
    out.
    """
    return csv_text(BLOCKS, _block_lines(results))


def _block_lines(results: Results) -> Iterator[tuple[Any, ...]]:
    findings = results.findings
    sides = findings.rows, findings.columns
    rows, columns = (range(side.n_clusters) if side.is_clustered else side.names for side in sides)
    sizes = [side.sizes if side.is_clustered else np.ones(side.names.size, int) for side in sides]
    titles = [side.titles or [""] * side.names.size for side in sides]
    expected = expected_of(findings.blocks)
    every = all(side.is_clustered for side in sides)
    for a, b in np.argwhere((findings.blocks > 0) | every).tolist():
        cells = int(sizes[0][a] * sizes[1][b])
        share = float(findings.blocks[a, b])
        numbers = share * results.total, share, expected[a, b], findings.lift[a, b]
        density = results.entries[a, b] / cells if cells else 0.0
        named = rows[a], columns[b], sizes[0][a], sizes[1][b]
        figures = (f"{number:.6g}" for number in (*numbers, density))
        yield *named, *figures, titles[0][a], titles[1][b]


def clusters_md(results: Results, n: int = 10) -> str:
    """The results in Markdown, for people: sentences, then each cluster."""
    findings = results.findings
    opening = opening_of(results)
    lines = [f"# {markdown_text(results.title)}", ""]
    for each in filter(None, [opening.caution, opening.overview, opening.kept]):
        lines += [markdown_text(plain(each)), ""]
    lines += [f"- {markdown_text(plain(each))}" for each in opening.strongest]
    lines += ["", *(markdown_text(plain(each)) for each in opening.certainty), ""]
    for side, other in ((findings.rows, findings.columns), (findings.columns, findings.rows)):
        for a in range(side.n_clusters):
            lines += _cluster_lines(side, other.kind, a, n)
    return "\n".join(lines).rstrip() + "\n"


def _cluster_lines(side: SideFindings, other_kind: str, cluster: int, n: int) -> list[str]:
    features = ", ".join(
        markdown_text(each.name)
        + (f" ({lift_text(each.lift)})" if is_informative(each.lift) else "")
        for each in side.distinctive(cluster, n)
    )
    members = ", ".join(markdown_text(name) for name in side.typical(cluster, n))
    more = int(side.sizes[cluster]) - n
    return [
        f"## {markdown_text(cluster_heading(side, cluster))}",
        "",
        figures(side, cluster),
        "",
        f"- most typical: {members}" + (f", and {count_text(more)} more" if more > 0 else ""),
        f"- distinctive {markdown_text(plural(other_kind))}: {features or 'none'}",
        "",
    ]


def summary_json(results: Results) -> str:
    """All figures that are not per element, and all that is needed to repeat them."""
    findings = results.findings
    sides = findings.rows, findings.columns
    summary = {
        "format": FORMAT,
        "data": _data_summary(results),
        "beta": findings.beta,
        "cost": findings.cost,
        "information": findings.information._asdict() | {"kept": findings.information.kept},
        "rows": _side_summary(findings.rows),
        "columns": _side_summary(findings.columns),
        "lift": findings.lift if all(side.is_clustered for side in sides) else None,
        "path": [
            {"beta": view.beta, "cost": view.cost, "kept": view.kept, "is_fit": view.is_fit}
            for view in results.views
        ],
        "selection": _records(results.selection),
        "selection_reason": results.selection_reason,
        "beta_selection": _records(results.beta_selection),
        "model": results.model,
        "parameters": results.parameters,
        "command": results.command,
        "versions": results.versions,
    }
    return json_text(summary)


def _data_summary(results: Results) -> dict[str, Any]:
    n, m = results.matrix.shape
    return {
        "source": results.source,
        "rows": n,
        "columns": m,
        "entries": int(results.matrix.nnz),
        "row_kind": results.findings.rows.kind,
        "column_kind": results.findings.columns.kind,
    }


def _side_summary(side: SideFindings) -> dict[str, Any]:
    outside = {"elements": side.labels.size, "in_no_cluster": int((side.labels < 0).sum())}
    if not side.is_clustered:
        return outside | {"clusters": None}
    assert side.linkage is not None
    clusters = [
        {
            "cluster": a,
            "title": side.titles[a],
            "size": side.sizes[a],
            "share": side.shares[a],
            "stability": None if side.stability is None else side.stability[a],
            "typical": side.typical(a),
            "distinctive": [each._asdict() for each in side.distinctive(a)],
        }
        for a in range(side.n_clusters)
    ]
    return outside | {
        "clusters": clusters,
        "merge_costs": side.merge_costs,
        "linkage": side.linkage,
    }


def _records(table: np.ndarray | None) -> list[dict[str, Any]] | None:
    if table is None:
        return None
    names = table.dtype.names or ()
    return [dict(zip(names, line, strict=True)) for line in table.tolist()]


PATH = "path.npz"


def fill(results: Results, folder: Path, for_spreadsheets: bool = False) -> None:
    """Write all files into an existing folder."""
    for name, text in tables_for_spreadsheets(titled_texts(results), for_spreadsheets).items():
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
