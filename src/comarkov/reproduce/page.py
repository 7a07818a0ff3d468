"""Write the outcomes of experiments: data, figures, and one page for all of a folder."""

from __future__ import annotations

import base64
import csv
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..io.csv_files import csv_text
from ..io.files import read_json, whole_file, write_text
from . import curves
from .experiment import Curve, Experiment, Point, Reproduction, Status

PAGE = "index.html"
COLUMNS = ("panel", "curve", "beta", "published", "ours", "standard_error", "verdict", "reason")


def write(out: Path, experiment: Experiment, outcome: Reproduction, facts: dict[str, Any]) -> None:
    """Write the files of one experiment: figures (PNG and SVG), CSV, and JSON for the page."""
    figures = {}
    if outcome.curves:
        panels: dict[str, list[Curve]] = {}
        for curve in outcome.curves:
            panels.setdefault(curve.panel, []).append(curve)
        figures[experiment.name] = curves.curves(
            panels, outcome.columns, (outcome.x_label, outcome.y_label), outcome.lines
        )
    if outcome.blocks:
        name = f"{experiment.name}-blocks" if outcome.curves else experiment.name
        figures[name] = curves.blocks(outcome.blocks)
    for name, figure in figures.items():
        for kind in ("svg", "png"):
            with whole_file(out / f"{name}.{kind}") as path:
                curves.save(figure, path, kind)
    write_text(out / f"{experiment.name}.csv", _csv(outcome))
    section = _section(experiment, outcome) | {"pictures": list(figures)} | facts
    write_text(out / f"{experiment.name}.json", json.dumps(section, indent=1, ensure_ascii=False))


def collect(out: Path, experiments: Sequence[Experiment], version: str) -> Path:
    """Write the page, as HTML and as Markdown, of all experiments in the folder."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    files = [out / f"{experiment.name}.json" for experiment in experiments]
    sections = [read_json(file) for file in files if file.exists()]
    for section in sections:
        section["images"] = [_inline(out / f"{name}.svg") for name in section["pictures"]]
    for name, template in ((PAGE, "page.html.j2"), ("reproduction.md", "page.md.j2")):
        environment = Environment(
            loader=PackageLoader("comarkov.reproduce"),
            autoescape=name.endswith(".html"),
            undefined=StrictUndefined,
        )
        environment.filters["heading_anchor"] = heading_anchor
        page = environment.get_template(template).render(sections=sections, version=version)
        write_text(out / name, page.rstrip() + "\n")
    return out / PAGE


def heading_anchor(title: str) -> str:
    """Return the anchor that GitHub and Sphinx give to a heading of a Markdown page."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _section(experiment: Experiment, outcome: Reproduction) -> dict[str, Any]:
    return {
        "anchor": experiment.name,
        "title": experiment.title,
        "about": outcome.about,
        "numbers": count(outcome.statuses),
        "statements": count([claim.status for claim in outcome.claims]),
        "x_label": outcome.x_label,
        "curves": [summary(curve) for curve in outcome.curves if curve.published is not None],
        "points": [
            {"curve": curve.title} | _readable(point)
            for curve in outcome.curves
            for point in curve.points()
        ],
        "claims": [claim._asdict() for claim in outcome.claims],
        "tables": [table._asdict() for table in outcome.tables],
        "remarks": outcome.remarks,
    }


def count(statuses: Sequence[Status]) -> dict[str, int]:
    """Return how many there are of each verdict, and in total."""
    return {"published": len(statuses)} | {str(each): statuses.count(each) for each in Status}


def summary(curve: Curve) -> dict[str, str]:
    """Return a curve in one line: its verdicts, and the point that is farthest off."""
    points = curve.points()
    tally = count([point.status for point in points])
    words = [f"{tally[status]} {status}" for status in Status if tally[status]]
    worst = max(points, key=_distance)
    is_uniform = len(words) == 1
    style = str(points[0].status) if is_uniform else "mixed"
    return _readable(worst) | {"curve": curve.title, "verdicts": ", ".join(words), "style": style}


def _distance(point: Point) -> float:
    """Return how far a point is off, in standard errors if they are known."""
    distance = abs(point.ours - point.published)
    return distance / point.error if point.error > 0 else distance


def _readable(point: Point) -> dict[str, str]:
    """Return a point as texts; a dash for what is unknown."""
    numbers = point._asdict()
    return {
        "x": f"{point.x:g}",
        **{
            name: "–" if np.isnan(numbers[name]) else f"{numbers[name]:.4f}"
            for name in ("published", "ours", "error")
        },
        "status": str(point.status),
        "reason": point.reason,
    }


def _csv(outcome: Reproduction) -> str:
    """Return every point of every curve, or the claims if there is no curve."""
    if not outcome.curves:
        return csv_text(("statement", "verdict", "detail"), outcome.claims)
    rows = []
    for curve in outcome.curves:
        points = curve.points()
        for i, x in enumerate(curve.x):
            verdict = points[i][-2:] if points else ("", "nothing is published")
            values = [_cell(column, i) for column in (curve.published, curve.ours, curve.error)]
            rows.append([curve.panel, curve.name, f"{x:g}", *values, *verdict])
    return csv_text(COLUMNS, rows)


def _cell(column: np.ndarray | None, i: int) -> str:
    return "" if column is None or np.isnan(column[i]) else repr(float(column[i]))


def _inline(svg: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode()


class Points(NamedTuple):
    """A published curve."""

    x: np.ndarray
    mean: np.ndarray
    std: np.ndarray  #: nan if none is published


@cache
def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a published table."""
    text = files(__package__).joinpath("published", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def curve(name: str, value: str, **where: Any) -> Points:
    """Return a published curve over β, from the rows where columns have the given values."""
    rows = [
        row for row in table(name) if all(_same(row[key], value) for key, value in where.items())
    ]
    if not rows:
        raise KeyError(f"Nothing was published in {name} for {where}.")
    columns = ([float(row.get(each, "nan")) for row in rows] for each in ("beta", value, "map_std"))
    return Points(*map(np.array, columns))


def _same(text: str, value: Any) -> bool:
    return text == value if isinstance(value, str) else float(text) == value
