"""Write the outcomes of experiments: data, figures, and one page for all of a folder."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..io.csv_files import csv_text
from ..io.files import read_json, whole_file, write_text
from . import curves
from .experiment import Curve, Experiment, Point, Reproduction, Status

COLUMNS = ("panel", "curve", "beta", "published", "ours", "standard_error", "verdict", "reason")
TEMPLATES = {"index.html": "page.html.j2", "reproduction.md": "page.md.j2"}


def write(out: Path, experiment: Experiment, outcome: Reproduction, facts: dict[str, Any]) -> None:
    """Write the files of one experiment: figures (PNG and SVG), CSV, and JSON for the page."""
    figures, name = {}, experiment.name
    if outcome.curves:
        panels: dict[str, list[Curve]] = {}
        for curve in outcome.curves:
            panels.setdefault(curve.panel, []).append(curve)
        labels = outcome.x_label, outcome.y_label
        figures[name] = curves.curves(panels, outcome.columns, labels, outcome.lines)
    if outcome.diagrams:
        figures[name] = curves.phase_diagrams(outcome.diagrams, outcome.y_label)
    if outcome.blocks:
        figures[f"{name}-blocks" if figures else name] = curves.blocks(outcome.blocks)
    for title, figure in figures.items():
        for kind in ("svg", "png"):
            with whole_file(out / f"{title}.{kind}") as path:
                curves.save(figure, path, kind)
    write_text(out / f"{name}.csv", _csv(outcome))
    section = _section(experiment, outcome) | {"pictures": list(figures)} | facts
    write_text(out / f"{name}.json", json.dumps(section, indent=1, ensure_ascii=False))


def collect(out: Path, experiments: Sequence[Experiment], version: str) -> None:
    """Write the page, as HTML and as Markdown, of all experiments in the folder."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    files = [out / f"{experiment.name}.json" for experiment in experiments]
    sections = [read_json(file) for file in files if file.exists()]
    total = {
        part: sum((Counter(section[part]) for section in sections), Counter())
        for part in ("numbers", "statements")
    }
    for name, template in TEMPLATES.items():
        environment = Environment(
            loader=PackageLoader("comarkov.reproduce"),
            autoescape=name.endswith(".html"),
            undefined=StrictUndefined,
        )
        environment.filters["heading_anchor"] = heading_anchor
        environment.filters["base64"] = lambda name: b64encode((out / name).read_bytes()).decode()
        page = environment.get_template(template)
        text = page.render(sections=sections, total=total, version=version)
        write_text(out / name, text.rstrip() + "\n")


def heading_anchor(title: str) -> str:
    """Return the anchor that GitHub and Sphinx give to a heading of a Markdown page."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _section(experiment: Experiment, outcome: Reproduction) -> dict[str, Any]:
    judge = experiment.outcome
    return {
        "name": experiment.name,
        "title": experiment.title,
        "about": outcome.about,
        "code": f"src/{judge.__module__.replace('.', '/')}.py",
        "functions": [each.__name__ for each in (experiment.run, judge) if each.__name__[0] == "_"],
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
    """Return how many there are in total, how many are judged, and of each verdict."""
    each = {str(status): statuses.count(status) for status in Status}
    judged = each[Status.AGREES] + each[Status.DIFFERS]
    return {"published": len(statuses), "judged": judged} | each


def summary(curve: Curve) -> dict[str, str]:
    """Return a curve in one line: its verdicts, and the point that is farthest off."""
    points = curve.points()
    tally = Counter(point.status for point in points)
    words = [f"{tally[status]} {status}" for status in Status if tally[status]]
    worst = max(points, key=_distance)
    style = str(points[0].status) if len(words) == 1 else "mixed"
    return _readable(worst) | {"curve": curve.title, "verdicts": ", ".join(words), "style": style}


def _distance(point: Point) -> float:
    """Return how far a point is off, in standard errors if they are known."""
    distance = abs(point.ours - point.published)
    return distance / point.error if point.error > 0 else distance


def _readable(point: Point) -> dict[str, str]:
    numbers = {name: f"{getattr(point, name):.4f}" for name in ("published", "ours")}
    return {"x": f"{point.x:g}", **numbers, "status": point.status, "reason": point.reason}


def _csv(outcome: Reproduction) -> str:
    """Return every point of every curve, or the claims if there is no curve."""
    if not outcome.curves:
        return csv_text(("statement", "verdict", "detail"), outcome.claims)

    def cell(column: np.ndarray | None, i: int) -> str:
        return "" if column is None or np.isnan(column[i]) else repr(float(column[i]))

    rows = []
    for curve in outcome.curves:
        points = curve.points()
        for i, x in enumerate(curve.x):
            verdict = points[i][-2:] if points else ("", "nothing is published")
            values = [cell(column, i) for column in (curve.published, curve.ours, curve.error)]
            rows.append([curve.panel, curve.name, f"{x:g}", *values, *verdict])
    return csv_text(COLUMNS, rows)
