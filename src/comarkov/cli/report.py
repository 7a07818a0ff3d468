"""``comarkov report``: the report of results that are there already, made anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..data.writing import write_text
from .errors import clear_errors, notes
from .option_groups import takes_groups
from .options import OutputOptions
from .results_folder import opened_option, read_any_results
from .tables import print_json


@dataclass(frozen=True)
class ReportOptions:
    """What to do with the report."""

    opened: bool = opened_option()


@takes_groups
def report(
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="The folder of fit, sweep, chain or multi.", show_default=False
        ),
    ],
    options: ReportOptions,
    *,
    output: OutputOptions,
) -> None:
    """Make report.html anew from a folder of results.

    [bold]Example[/bold]

    comarkov report women --open
    """
    with clear_errors(), notes(output.quiet):
        page = (out / "report.html").absolute()
        write_text(page, read_any_results(out).to_html())
        if output.json:
            print_json({"report": str(page)})
        else:
            typer.echo(page if output.quiet else f"The report is {page}")
        if options.opened:
            typer.launch(page.as_uri())
