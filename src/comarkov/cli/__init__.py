"""The command line: reads what the user wants, says what came out. Nothing is computed here."""

from __future__ import annotations

from typing import Annotated

import typer

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

        typer.echo(f"comarkov {version('comarkov')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Information-theoretic co-clustering of the rows and columns of a matrix.

    To begin with: [bold]comarkov fit southern-women -o women[/bold]
    """


from . import data, reproduce  # noqa: E402

app.add_typer(data.app, name="datasets")
app.command()(reproduce.reproduce)
