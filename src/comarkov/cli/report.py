"""``comarkov report``: write the report of existing results again, with your titles if given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..io.csv_files import tables_for_spreadsheets
from ..io.files import write_text
from .options import OUTPUT, OutputOptions, takes_groups
from .output import clear_errors, echo, notes, print_json
from .results_folder import FOR_SPREADSHEETS, opened_option, read_any_results, read_results


@dataclass(frozen=True)
class ReportOptions:
    """What to write, and whether to open it."""

    titles: Path | None = OUTPUT.option(
        "--titles FILE",
        "Your titles, downloaded from the report. They are written into all files in OUT.",
        shown="your earlier titles, if any",
    )
    opened: bool = opened_option()
    for_spreadsheets: bool = OUTPUT.option("--for-spreadsheets", FOR_SPREADSHEETS, False)


@takes_groups
def report(
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="The output folder of fit, sweep, chain or multi.",
            show_default=False,
        ),
    ],
    options: ReportOptions,
    *,
    output: OutputOptions,
) -> None:
    """Write report.html again from a folder of results.

    [bold]Examples[/bold]

    comarkov report women --open

    comarkov report women --titles titles.json
    """
    with clear_errors(), notes(output.quiet):
        texts = tables_for_spreadsheets(_texts(out, options), options.for_spreadsheets)
        for name, text in texts.items():
            write_text(out / name, text)
        page = (out / "report.html").absolute()
        if output.json:
            print_json({"report": str(page)})
        else:
            echo(page if output.quiet else f"The report is {page}")
        if options.opened:
            typer.launch(page.as_uri())


def _texts(out: Path, options: ReportOptions) -> dict[str, str]:
    """The files to write: with titles all that contain them, else the report alone."""
    if options.titles is None:
        return {"report.html": read_any_results(out).to_html()}
    return read_results(out, options.titles).texts()
