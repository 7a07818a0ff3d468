"""The command line: reads what the user wants, says what came out. Nothing is computed here."""

from __future__ import annotations

import os
import shlex
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from .reproduce.experiment import Experiment, Result

app = typer.Typer(
    name="comarkov",
    help="Information-theoretic co-clustering of the rows and columns of a matrix.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(
    help="Data sets: what there is, fetching it, where it is.", no_args_is_help=True
)
app.add_typer(data_app, name="datasets")


@contextmanager
def _clear_errors() -> Iterator[None]:
    """What the user can mend is one line and exit code 2; Ctrl-C is 130."""
    try:
        yield
    except (ValueError, OSError, ModuleNotFoundError, sqlite3.Error) as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        raise typer.Exit(130) from None


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
    """Information-theoretic co-clustering of the rows and columns of a matrix."""


# --- reproduce --------------------------------------------------------------------------------


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="stuck, unequal, trading (Fig. 1), noise (Fig. 2d, e), circulant (Fig. 2h), "
            "newsgroups (Table 1, Fig. 3), movielens (Fig. 4), southern-women (Fig. 5), or all. "
            "Without a name: all that need no download.",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Random starts of each experiment (for newsgroups: samples).",
            show_default="as in the paper: 500; 20 for newsgroups; 50 for southern-women",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs: a minute or two.")] = False,
    best: Annotated[
        bool, typer.Option("--best", help="Also run with our best settings, for comparison.")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where results go.", file_okay=False)
    ] = Path("reproduction"),
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder with the data sets.",
            exists=True,
            file_okay=False,
            show_default="COMARKOV_DATA, then the cache folder",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Processes.", show_default="one per core")
    ] = os.cpu_count() or 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Make all runs anew, also those kept from before.")
    ] = False,
) -> None:
    """Run the paper's examples, figures and tables again, beside the published numbers.

    Every run is kept in the output folder: what is interrupted goes on when started again.
    """
    with _clear_errors():
        from . import reproduce as reproduction
        from .reproduce.experiment import Options

        chosen = _chosen(names or [], list(reproduction.EXPERIMENTS), reproduction.DEFAULT)
        options = Options(runs, quick, best, data)
        try:
            with _progress() as advance:
                for experiment, result in reproduction.reproduce(
                    chosen, out, options, jobs, advance, fresh
                ):
                    _tell(experiment, result)
        except KeyboardInterrupt:
            again = shlex.join(["comarkov", *(arg for arg in sys.argv[1:] if arg != "--fresh")])
            typer.echo(f"Interrupted. What is done is kept in {out}; to go on: {again}", err=True)
            raise typer.Exit(130) from None
        typer.echo(f"The page is {(out / 'index.html').resolve()}")


def _chosen(names: list[str], known: list[str], default: list[str]) -> list[str]:
    unknown = [name for name in names if name not in [*known, "all"]]
    if unknown:
        raise ValueError(
            f"There is no experiment {unknown[0]!r}: there are {', '.join(known)}, and all."
        )
    if not names:
        return default
    return [name for name in known if name in names or "all" in names]


@contextmanager
def _progress(unit: str = "count") -> Iterator[Callable[[str, int, int], None]]:
    """Show bars; gives the function that is told of what how much is done."""
    from .progress import bar

    tasks: dict[str, int] = {}
    with bar(unit, transient=True) as bars:

        def advance(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(f"{name:<14}", total=total)
            bars.update(tasks[name], completed=done)

        yield advance


def _tell(experiment: Experiment, result: Result) -> None:
    """One line for each curve and each claim."""
    from .reproduce.page import number, word

    colors = {True: "green", False: "red", None: None}
    typer.secho(f"\n{experiment.title}", bold=True)
    for verdict in result.verdicts:
        error = "" if verdict.error is None else f" ± {number(verdict.error)}"
        best = "" if verdict.best is None else f", at its best {number(verdict.best)}"
        typer.echo(
            f"  {verdict.curve}: at {result.x_label} = {verdict.x:g} published "
            f"{number(verdict.published)}, ours {number(verdict.ours)}{error}{best}: ",
            nl=False,
        )
        typer.secho(word(verdict.agrees), fg=colors[verdict.agrees], nl=False)
        typer.echo(f" ({verdict.detail})")
    for claim in result.claims:
        typer.secho(
            "  holds" if claim.holds else "  does not hold", fg=colors[claim.holds], nl=False
        )
        typer.echo(f": {claim.text}" + (f" ({claim.detail})" if claim.detail else ""))


# --- datasets ---------------------------------------------------------------------------------


@data_app.command("list")
def list_datasets() -> None:
    """List the data sets, and say which are on this machine."""
    from . import datasets

    for name, entry in datasets.CATALOGUE.items():
        if entry.archive is None:
            where = "bundled"
        else:
            found = datasets.find(name)
            size = f"{entry.archive.size / 1e6:.1f} MB"
            where = str(found) if found else f"not here: comarkov datasets fetch {name} ({size})"
        typer.secho(name, bold=True, nl=False)
        typer.echo(f"  {entry.about}\n  licence: {entry.licence}\n  {where}")


@data_app.command("fetch")
def fetch_dataset(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="movielens, newsgroups.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where to.", show_default="the cache folder"),
    ] = None,
) -> None:
    """Download data sets from where they are published, and verify size and checksum.

    A download that was cut off goes on where it stopped.
    """
    from . import datasets

    with _clear_errors():
        for name in names:
            with _progress("bytes") as advance:
                path = datasets.fetch(name, out, partial(advance, name))
            typer.echo(path)


@data_app.command("path")
def dataset_path(
    name: Annotated[
        str | None,
        typer.Argument(help="movielens or newsgroups; the cache folder without it."),
    ] = None,
) -> None:
    """Say where a data set is on this machine."""
    with _clear_errors():
        from . import datasets
        from .datasets.archives import cache_folder

        if name is None:
            typer.echo(cache_folder())
            return
        found = datasets.find(name)
        if found is None and datasets.CATALOGUE[name].archive is None:
            raise ValueError(f"{name} is bundled: comarkov.datasets.load({name!r}) gives it.")
        if found is None:
            raise FileNotFoundError(datasets.missing(name))
        typer.echo(found)


if __name__ == "__main__":
    app()
