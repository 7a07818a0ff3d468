"""The command line: reads what the user wants, prints what came out. Nothing is computed here."""

from __future__ import annotations

from typing import Annotated

import typer

from . import (
    chain,
    compare,
    cut,
    datasets,
    evaluate,
    explore,
    fit,
    info,
    multi,
    pack,
    predict,
    report,
    reproduce,
)
from .options import Command
from .output import echo

CLUSTER, JUDGE, DATA = "Cluster", "Evaluate", "Data and the paper"  # panels of the help

app = typer.Typer(
    name="comarkov",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        echo(f"comarkov {version('comarkov')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Information-theoretic co-clustering of the rows and columns of a matrix.

    To get started: [bold]comarkov fit southern-women -o women[/bold]
    """


for panel, commands in {
    CLUSTER: (
        fit.fit,
        explore.sweep,
        cut.cut,
        chain.chain,
        multi.multi,
        predict.predict,
        report.report,
        info.info,
    ),
    JUDGE: (compare.compare, evaluate.evaluate),
    DATA: (pack.pack, reproduce.reproduce),
}.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=panel)(command)
app.add_typer(datasets.app, name="datasets", rich_help_panel=DATA)
