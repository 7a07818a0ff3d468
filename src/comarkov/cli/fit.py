"""``comarkov fit``: from a file to clusters with names, tables, a picture and a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from . import out as folder
from .errors import clear_errors, notes
from .groups import takes_groups
from .inputs import Reading, Source
from .options import Clustering, Numbers, Telling
from .out import Annotate, Force, Opened, Out
from .tables import say_json

if TYPE_CHECKING:
    from pathlib import Path

    from ..results.results import Results


@takes_groups
def fit(
    source: Source,
    numbers: Numbers,
    clustering: Clustering,
    out: Out = None,
    force: Force = False,
    opened: Opened = False,
    h5ad: Annotate = True,
    *,
    telling: Telling,
    reading: Reading,
) -> None:
    """Co-cluster the rows and columns of INPUT, and write all results into a folder.

    OUT gets rows.csv, columns.csv, blocks.csv, clusters.md, summary.json, heatmap.png,
    report.html, and model/ for predict. Ctrl-C keeps the best so far.

    [bold]Examples[/bold]

    comarkov fit southern-women -k 2 -l 3 -o women

    comarkov fit ratings.csv --rows user --columns movie --weights stars

    comarkov fit letters/ -k 10 -l 20 --time-limit 5m
    """
    with clear_errors(), notes(telling.quiet):
        place = folder.place(out, source, force)
        clustering.checked(numbers)  # what is wrong here is told before a large file is read
        data = reading.read(source)
        model = clustering.estimator(numbers, telling)
        model.set_params(weighting=clustering.weighting_for(data)).fit(data)
        results = folder.results_of(model, data)
        folder.write(results, place, force, folder.h5ad_file(source, h5ad))
        _tell(results, place, telling)
        if opened:
            typer.launch((place / "report.html").absolute().as_uri())


def _tell(results: Results, place: Path, telling: Telling) -> None:
    """What came out, and where it is."""
    if telling.json:
        say_json(folder.summary(place))
        return
    typer.echo(results.describe(4))
    if not telling.quiet:
        typer.echo(f"\nThe report is {(place / 'report.html').absolute()}")
