"""``comarkov datasets``: list, download and locate data sets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .output import clear_errors, echo, progress_bars

app = typer.Typer(help="List, download and locate data sets.", no_args_is_help=True)


@app.command("list")
def list_datasets() -> None:
    """List the data sets, and which are on this machine.

    [bold]Example[/bold]

    comarkov datasets list
    """
    from ..io import datasets

    for name, entry in datasets.CATALOGUE.items():
        if entry.archive is None:
            where = "bundled"
        else:
            place = datasets.find(name)
            size = f"{entry.archive.size / 1e6:.1f} MB"
            where = str(place) if place else f"download: comarkov datasets fetch {name} ({size})"
        echo(name, bold=True, nl=False)
        echo(f"  {entry.about}\n  licence: {entry.licence}\n  {where}")


@app.command("fetch")
def fetch_dataset(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="movielens, newsgroups.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder.", show_default="the cache folder"),
    ] = None,
) -> None:
    """Download data sets from their publishers, and verify size and checksum.

    An interrupted download continues where it stopped.

    [bold]Example[/bold]

    comarkov datasets fetch movielens
    """
    from ..io import datasets

    with clear_errors():
        for name in names:
            with progress_bars() as advance:
                path = datasets.fetch(name, out, partial(advance, name))
            echo(path)


@app.command("path")
def dataset_path(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="movielens or newsgroups. Without it, the cache folder is printed."
        ),
    ] = None,
) -> None:
    """Print the path of a data set on this machine.

    [bold]Example[/bold]

    comarkov datasets path movielens
    """
    with clear_errors():
        from ..io import datasets
        from ..io.datasets.archives import cache_folder

        if name is None:
            echo(cache_folder())
            return
        place = datasets.find(name)
        if place is None and datasets.CATALOGUE[name].archive is None:
            raise ValueError(
                f"{name} is bundled and has no file. Use its name: comarkov fit {name}"
            )
        if place is None:
            raise FileNotFoundError(datasets.missing(name))
        echo(place)
