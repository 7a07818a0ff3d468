"""The command line: reads what the user wants, prints what came out. Nothing is computed here."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .options import OPTIONS_BY_PARAMETER
from .output import print_error

# The commands and their modules, by panel of the help.
COMMANDS = {
    "Cluster": {
        "fit": "fit",
        "choose": "choose",
        "cut": "saved_results",
        "chain": "networks",
        "network": "networks",
        "multi": "networks",
        "predict": "predict",
        "report": "saved_results",
        "info": "saved_results",
    },
    "Evaluate": {"compare": "compare", "evaluate": "evaluate"},
    "Data and the paper": {"pack": "pack", "reproduce": "reproduce", "datasets": "datasets"},
}


class Command(TyperCommand):
    """A command that reports wrong options in one line, and suggests those for Python's names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command line."""
        try:
            return super().parse_args(ctx, args)
        except Exception as raised:
            error: Any = raised  # typer does not export the types of its errors
            if not hasattr(error, "format_message"):
                raise
            name = (getattr(error, "option_name", None) or "").lstrip("-").replace("-", "_")
            option = OPTIONS_BY_PARAMETER.get(name)
            if option in [flag for each in self.params for flag in each.opts]:
                error.possibilities = [option]
            message = " ".join(error.format_message().split()).rstrip(".")
            print_error(f"{message}. See: {ctx.command_path} --help")
            raise typer.Exit(2) from None


def program(only: str = "") -> typer.Typer:
    """The program with all its commands, or with the one to run, so that no other is imported."""
    app = typer.Typer(
        name="comarkov",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback()(_start)
    is_known = any(only in commands for commands in COMMANDS.values())
    for panel, commands in COMMANDS.items():
        for name, file in commands.items():
            if is_known and name != only:
                continue
            module = import_module(f".{file}", __package__)
            if hasattr(module, "app"):
                app.add_typer(module.app, name=name, rich_help_panel=panel)
            else:
                app.command(cls=Command, rich_help_panel=panel)(getattr(module, name))
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"comarkov {version('comarkov')}")
        raise typer.Exit


def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Information-theoretic co-clustering of the rows and columns of a matrix.

    To get started: [bold]comarkov fit southern-women -o women[/bold]
    """
