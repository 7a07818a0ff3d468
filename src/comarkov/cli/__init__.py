"""The command line: reads what the user wants, prints what came out. Nothing is computed here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .output import OPTIONS_BY_PARAMETER, print_error

# The commands and their modules, by panel of the help.
COMMANDS = {
    "Cluster": {
        "fit": "fit",
        "choose": "fit",
        "cut": "saved_results",
        "chain": "networks",
        "network": "networks",
        "multi": "networks",
        "predict": "predict",
        "report": "saved_results",
        "info": "saved_results",
    },
    "Evaluate": {"compare": "evaluate", "evaluate": "evaluate"},
    "Data": {"pack": "pack", "datasets": "pack"},
    "Research": {"reproduce": "reproduce"},
}
# Options that --help leaves to --help-all: those of these panels but the first ones that people
# need, and some others.
LONG_PANELS = ("Input", "Input: tables", "Input: texts", "Engine")
OFTEN = {"rows", "columns", "weights", "kind", "row_classes"}
SELDOM = {"starts", "jobs", "for_spreadsheets", "h5ad", "estimate", "json", "quiet"}
HELP_ALL = "--help-all"


class PlainHelp:
    """A help in which flags have no <bool>, and arguments neither braces nor types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All options and arguments."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in params:
            if getattr(each, "is_flag", False):
                each.metavar = " "
            if each.param_type_name == "argument":
                each.display_type_rich = lambda ctx: None  # newer versions of typer ask for it
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What the line of usage consists of."""
        pieces = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [re.sub(r"[{}]|(?<=\.\.\.})\.\.\.", "", piece) for piece in pieces]


@contextmanager
def one_line_errors(ctx: Any, params: Sequence[Any] = ()) -> Iterator[None]:
    """Report a wrong command or option in one line; for Python's name of an option, suggest it."""
    try:
        yield
    except Exception as raised:
        error: Any = raised  # typer does not export the types of its errors
        if not hasattr(error, "format_message"):
            raise
        name = (getattr(error, "option_name", None) or "").lstrip("-").replace("-", "_")
        option = OPTIONS_BY_PARAMETER.get(name)
        if option in [flag for each in params for flag in each.opts]:
            error.possibilities = [option]
        message = " ".join(error.format_message().split()).rstrip(".")
        print_error(f"{message}{'.' * (message[-1] != '?')} See: {ctx.command_path} --help")
        raise typer.Exit(2) from None


class Group(PlainHelp, TyperGroup):
    """Several commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words before the name of a command."""
        with one_line_errors(ctx) if args else nullcontext():  # without any it shows the help
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of this name."""
        with one_line_errors(ctx):
            return super().resolve_command(ctx, args)


class Command(PlainHelp, TyperCommand):
    """A command with a short help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command line; ``--help`` shows the options that people use."""
        if HELP_ALL in args:
            args = ["--help"]
        elif not {"-h", "--help"}.isdisjoint(args):
            params: list[Any] = self.params
            for each in params:
                is_long = getattr(each, "rich_help_panel", None) in LONG_PANELS
                each.hidden = (is_long and each.name not in OFTEN) or each.name in SELDOM
            has_more = any(each.hidden for each in params)
            self.epilog = f"All options: {ctx.command_path} {HELP_ALL}" if has_more else None
        with one_line_errors(ctx, self.params):
            return super().parse_args(ctx, args)


def program(only: str = "") -> typer.Typer:
    """The program with all its commands, or with the one to run, so that no other is imported."""
    app = typer.Typer(
        name="comarkov",
        cls=Group,
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
            command = getattr(import_module(f".{file}", __package__), name)
            if isinstance(command, typer.Typer):
                for each in command.registered_commands:
                    each.cls = Command
                app.add_typer(command, cls=Group, name=name, rich_help_panel=panel)
            else:
                text = inspect.cleandoc(command.__doc__)
                text = re.sub(
                    r"(?<!\n)\n *(?!\n)", " ", text
                )  # line breaks of the source would stay
                app.command(cls=Command, rich_help_panel=panel, help=text)(command)
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
    """Find the groups in a table, and what defines them.

    To get started: [bold]comarkov fit southern-women -o women[/bold]
    """
