"""``comarkov sweep``: which numbers of clusters, which β, and what speaks for them."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import out as folder
from .errors import clear_errors, notes
from .groups import takes_groups
from .inputs import Reading, Source
from .options import CLUSTERING, Beta, Clustering, Numbers, Telling, option
from .out import Annotate, Force, Out
from .tables import Records, aligned, records, records_csv, say_json

if TYPE_CHECKING:
    from ..data.reading import Data
    from ..estimators.coclustering import CoClustering
    from ..results.results import Results
    from ..search.coclusters import Step

LINES = 16  # of the table of numbers that are shown; its file has all
LEAST = 0.1  # seconds for the path if the time is over


@dataclass(frozen=True)
class Sweeping(Clustering):
    """The same, with another default."""

    beta: Beta = "auto"


@takes_groups
def sweep(
    source: Source,
    numbers: Numbers,
    clustering: Sweeping,
    betas: Annotated[
        str | None,
        option(
            "--betas", panel=CLUSTERING, metavar="B,B,...", show_default="1,0.9,...,0",
            help="The β of the path.",
        ),
    ] = None,
    out: Out = None,
    force: Force = False,
    h5ad: Annotate = True,
    *,
    telling: Telling,
    reading: Reading,
) -> None:  # fmt: skip
    """Try numbers of clusters and β; say what each keeps, and which are suggested by what rule.

    Writes what fit writes for the suggested ones, a report with a slider for β, numbers.csv,
    betas.csv and path.png. A number given with -k or -l, or a --beta, is not questioned.

    [bold]Example[/bold]

    comarkov sweep southern-women -o women-sweep
    """
    with clear_errors(), notes(telling.quiet):
        place = folder.place(out, source, force)
        wanted = _betas(betas)
        clustering.checked(numbers)
        data = reading.read(source)
        began = time.monotonic()
        model = clustering.estimator(numbers, telling)
        model.set_params(weighting=clustering.weighting_for(data)).fit(data)
        results = folder.results_of(model, data, _path(model, data, wanted, began))
        tables = {"numbers.csv": _records_of(results.selection), "betas.csv": _of_betas(results)}
        files = {name: records_csv(lines) for name, lines in tables.items() if lines}
        folder.write(results, place, force, folder.h5ad_file(source, h5ad), files)
        _tell(results, tables, place, telling)


def _records_of(table: Any) -> Records:
    """The lines of a table, if there is one."""
    return [] if table is None else records(table)


def _betas(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--betas must be numbers from 0 to 1 like 1,0.7,0.5, not {text!r}."
        ) from None


def _path(model: CoClustering, data: Data, betas: list[float] | None, began: float) -> list[Step]:
    """The co-clusterings at many β, in the time that is left."""
    again = copy(model)
    if model.max_time is not None:
        again.max_time = max(model.max_time - (time.monotonic() - began), LEAST)
    return again.beta_path(data, betas)


def _of_betas(results: Results) -> Records:
    """What is kept at each β, and how well halves of the data agree there."""
    evidence = {line["beta"]: line for line in _records_of(results.beta_selection)}
    path = {view.beta: view for view in results.views}
    return [
        {
            "beta": beta,
            "cost": path[beta].cost if beta in path else None,
            "kept": path[beta].kept if beta in path else None,
            "row_agreement": evidence.get(beta, {}).get("rows"),
            "column_agreement": evidence.get(beta, {}).get("columns"),
            "agreement": evidence.get(beta, {}).get("agreement"),
            "standard_error": evidence.get(beta, {}).get("standard_error"),
            "suggested": bool(evidence.get(beta, {}).get("chosen", False)),
        }
        for beta in sorted({*evidence, *path}, reverse=True)
    ]


def _tell(results: Results, tables: dict[str, Records], place: Path, telling: Telling) -> None:
    numbers, betas = tables.values()
    if telling.json:
        say_json({**folder.summary(place), "numbers": numbers, "betas": betas})
        return
    if numbers:
        typer.echo(f"Numbers of clusters\n{aligned(_some(numbers))}\n")
    typer.echo(f"β\n{aligned(betas)}\n\n{results.headline}")
    for line in _reasons(numbers, betas):
        typer.echo(line)
    if not telling.quiet:
        typer.echo(f"The report is {(place / 'report.html').absolute()}")


def _reasons(numbers: Records, betas: Records) -> list[str]:
    """By which rules numbers of clusters and β are suggested."""
    reasons = [
        f"{line['row_clusters']} x {line['column_clusters']} clusters by {line['rule']}."
        for line in numbers
        if line["suggested"]
    ]
    return reasons + [
        f"β = {line['beta']:g} by agreement of halves: the nearest to 0.7 of the best."
        for line in betas
        if line["suggested"]
    ]


def _some(lines: Records) -> Records:
    """The lines at the end and some before, evenly, but always what is suggested."""
    step = -(-len(lines) // LINES)
    return [line for i, line in enumerate(reversed(lines)) if i % step == 0 or line["suggested"]][
        ::-1
    ]
