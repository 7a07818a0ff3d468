"""``comarkov pack`` and ``datasets``: data on disk, packed for fit or downloaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..io.files import free_place, is_store
from ..joint.messages import size_text
from .options import (
    OUTPUT,
    InputOptions,
    OutputOptions,
    argument,
    as_bytes,
    command,
    refuse_missing,
    source_of,
    stem_of,
)
from .output import echo, number_text, progress_bars

IN_BITS = ("cost", "information", "prediction_loss", "lumpability_loss")
PACKED = (
    "Anything fit reads, or a folder of Parquet or CSV files with edges; several edge lists are "
    "combined."
)


@dataclass(frozen=True)
class StoreOptions:
    """The folder of the store, and how much memory to use."""

    out: Path | None = OUTPUT.option(
        "--out -o STORE",
        "The folder to write, atomically: you get all of it or none.",
        shown="SOURCE-store",
    )
    force: bool = OUTPUT.option("--force -f", "Replace an earlier store.", False)
    memory_limit: str = OUTPUT.option(
        "--memory-limit SIZE",
        "How much memory to use for sorting; millions of names need more.",
        "1GB",
    )


@command
def pack(
    sources: Annotated[list[str], argument("SOURCE...", PACKED)],
    store: StoreOptions,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Convert data of any size to an on-disk store for fit.

    Edge lists may be larger than memory.

    [bold]Examples[/bold]

    comarkov pack clicks/ -o store --rows user --columns page

    comarkov fit store -k 20 -l 20
    """
    for source in sources:
        refuse_missing(source)
    out = store.out or Path(f"{stem_of(sources[0])}-store")
    free_place(out, store.force, is_store, "--force")
    from ..io.store.packing import pack as pack_store  # slow to import

    loaded = [source_of(source) for source in sources]
    with progress_bars() as advance:
        pack_store(
            loaded[0] if len(loaded) == 1 else loaded,
            out,
            memory_limit=as_bytes(store.memory_limit, "--memory-limit"),
            overwrite=store.force,
            progress=advance,
            **reading.keywords(),
        )
    print_facts(store_facts(out), output)


def store_facts(folder: Path, verified: bool = False) -> dict[str, Any]:
    """The facts about a store; if verified, an error if its files are not as they were written."""
    from ..io.store.layout import Description  # slow to import

    about = Description.read(folder)
    checksums = {}
    if verified:
        with progress_bars() as advance:
            about.verify(folder, partial(advance, "Checking files"))
        checksums = {"checksums": "all files are as they were written"}
    return {
        "store": str(folder),
        "rows": about.shape[0],
        "columns": about.shape[1],
        "entries": about.entries,
        "weights": "counts" if about.is_count and about.scale >= 1 else "numbers",
        "row_kind": about.row_kind,
        "column_kind": about.column_kind,
        "weighting": about.weighting or "counts",
        "source": about.source,
        "size": size_text(about.bytes),
        **checksums,
    }


def print_facts(facts: Mapping[str, Any], output: OutputOptions) -> None:
    """Print facts as JSON, or one in a line, with units."""
    from ..results.words.figures import joined, percent_text  # slow to import

    lines = []
    for name, value in facts.items():
        text = "not clustered" if value is None else number_text(value)
        text = percent_text(value) if name.startswith("kept") else text
        text += " bits" if name in IN_BITS else ""
        if isinstance(value, dict):
            text = ", ".join(f"{part}={each!r}" for part, each in value.items())
        if isinstance(value, list):
            text = f"{len(value)}, with {joined([f'{size:,}' for size in value])} members"
        lines.append(f"{name.replace('_', ' '):<{max(map(len, facts))}}  {text}")
    output.show(facts, "\n".join(lines))


# --- data sets ----------------------------------------------------------------------------------

datasets = typer.Typer(help="List and download data sets.", no_args_is_help=True)


@datasets.command("list")
def list_datasets() -> None:
    """List the data sets, and which are on this machine.

    [bold]Example[/bold]

    comarkov datasets list
    """
    from ..io.datasets import CATALOGUE, find

    for name, entry in CATALOGUE.items():
        where = "bundled"
        if entry.archive is not None:
            size = f"{entry.archive.size / 1e6:.1f} MB"
            where = str(find(name) or f"download: comarkov datasets fetch {name} ({size})")
        echo(name, bold=True, nl=False)
        echo(f"  {entry.about}\n  licence: {entry.licence}\n  {where}")


@datasets.command("fetch")
@command
def fetch_dataset(
    names: Annotated[list[str], argument("NAME...", "movielens, newsgroups.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder.", show_default="the cache folder"),
    ] = None,
) -> None:
    """Download data sets from their publishers, and verify size and checksum.

    If a download is interrupted, run the command again; nothing is left half-written.

    [bold]Example[/bold]

    comarkov datasets fetch movielens
    """
    from ..io.datasets import fetch

    for name in names:
        with progress_bars() as advance:
            path = fetch(name, out, partial(advance, name))
        echo(path)
