"""Write the outcomes of experiments: data, figures, and one page for all of a folder."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..io.files import whole_file, write_text
from ..results import plot
from .experiment import Curve, Experiment, Reproduction, Verdict

PAGE = "index.html"
CURVES = ("panel", "curve", "beta", "published", "ours", "standard_error", "judged")


def write(out: Path, experiment: Experiment, outcome: Reproduction, facts: dict[str, Any]) -> None:
    """Write the files of one experiment: figures (PNG and SVG), CSV, and JSON for the page."""
    figures = {}
    if outcome.curves:
        panels: dict[str, list[Curve]] = {}
        for curve in outcome.curves:
            panels.setdefault(curve.panel, []).append(curve)
        figures[experiment.name] = plot.curves(
            panels, outcome.columns, (outcome.x_label, outcome.y_label), outcome.lines
        )
    if outcome.blocks:
        name = f"{experiment.name}-blocks" if outcome.curves else experiment.name
        figures[name] = plot.blocks(outcome.blocks)
    for name, figure in figures.items():
        for kind in ("svg", "png"):
            with whole_file(out / f"{name}.{kind}") as path:
                plot.save(figure, path, kind)
    write_text(out / f"{experiment.name}.csv", _csv(outcome))
    section = _section(experiment, outcome) | {"pictures": list(figures)} | facts
    write_text(out / f"{experiment.name}.json", json.dumps(section, indent=1, ensure_ascii=False))


def collect(out: Path, experiments: Sequence[Experiment], version: str) -> Path:
    """Write the page, as HTML and as Markdown, of all experiments in the folder."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    sections, unreadable = [], []
    for experiment in experiments:
        file = out / f"{experiment.name}.json"
        if file.exists():
            try:
                section = json.loads(file.read_text(encoding="utf-8"))
                section["images"] = [_inline(out / f"{name}.svg") for name in section["pictures"]]
                sections.append(section)
            except (ValueError, KeyError, OSError):
                unreadable.append(experiment.name)
    for name, template in ((PAGE, "page.html.j2"), ("reproduction.md", "page.md.j2")):
        environment = Environment(
            loader=PackageLoader("comarkov.reproduce"),
            autoescape=name.endswith(".html"),
            undefined=StrictUndefined,
        )
        environment.filters["heading_anchor"] = heading_anchor
        page = environment.get_template(template).render(
            sections=sections, unreadable=unreadable, version=version
        )
        write_text(out / name, page.rstrip() + "\n")
    return out / PAGE


def heading_anchor(title: str) -> str:
    """Return the anchor that GitHub and Sphinx give to a heading of a Markdown page."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _section(experiment: Experiment, outcome: Reproduction) -> dict[str, Any]:
    verdicts = outcome.verdicts
    judged = [verdict for verdict in verdicts if verdict.agrees is not None]
    return {
        "anchor": experiment.name,
        "title": experiment.title,
        "about": outcome.about,
        "agreeing": _of(sum(bool(verdict.agrees) for verdict in judged), len(judged)),
        "holding": _of(sum(claim.holds for claim in outcome.claims), len(outcome.claims)),
        "x_label": outcome.x_label,
        "verdicts": [_readable(verdict) for verdict in verdicts],
        "claims": [claim._asdict() | {"holds": bool(claim.holds)} for claim in outcome.claims],
        "tables": [table._asdict() for table in outcome.tables],
        "remarks": outcome.remarks,
    }


def word(agrees: bool | None) -> str:
    """Return a one-word verdict."""
    return "not judged" if agrees is None else "agrees" if agrees else "differs"


def number(value: float | None, digits: int = 4) -> str:
    """Format a number for the page; a dash if it is unknown."""
    return "–" if value is None or np.isnan(value) else f"{value:.{digits}f}"


def _readable(verdict: Verdict) -> dict[str, str]:
    return {
        "curve": verdict.curve,
        "x": f"{verdict.x:g}",
        "published": number(verdict.published),
        "ours": number(verdict.ours),
        "error": number(verdict.error),
        "word": word(verdict.agrees),
        "style": "open" if verdict.agrees is None else "yes" if verdict.agrees else "no",
        "detail": verdict.detail,
    }


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "–"


def _csv(outcome: Reproduction) -> str:
    """Return every point of every curve, or the claims if there is no curve."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    if not outcome.curves:
        rows.writerow(("claim", "holds", "detail"))
        rows.writerows((claim.text, claim.holds, claim.detail) for claim in outcome.claims)
        return text.getvalue()
    rows.writerow(CURVES)
    for curve in outcome.curves:
        columns = (curve.published, curve.ours, curve.error)
        for i, x in enumerate(curve.x):
            values = [_cell(column, i) for column in columns]
            judged = curve.published is not None and (curve.judged is None or curve.judged[i])
            rows.writerow([curve.panel, curve.name, f"{x:g}", *values, bool(judged)])
    return text.getvalue()


def _cell(column: np.ndarray | None, i: int) -> str:
    return "" if column is None or np.isnan(column[i]) else repr(float(column[i]))


def _inline(svg: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode()


class Points(NamedTuple):
    """A published curve."""

    x: np.ndarray
    mean: np.ndarray
    std: np.ndarray | None


@cache
def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a published table."""
    text = files(__package__).joinpath("published", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def curve(name: str, value: str, std: str | None = None, **where: Any) -> Points:
    """Return a published curve over β, from the rows where columns have the given values."""
    rows = [
        row for row in table(name) if all(_same(row[key], value) for key, value in where.items())
    ]
    if not rows:
        raise KeyError(f"Nothing was published in {name} for {where}.")
    return Points(
        np.array([float(row["beta"]) for row in rows]),
        np.array([float(row[value]) for row in rows]),
        np.array([float(row[std]) for row in rows]) if std else None,
    )


def _same(text: str, value: Any) -> bool:
    return text == value if isinstance(value, str) else float(text) == value
