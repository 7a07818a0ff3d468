"""``comarkov pack``: a source of any size as a store on disk, which fit loads as needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..io.files import free_place, is_store
from .info import print_facts, store_facts
from .input_options import (
    OWN,
    InputOptions,
    as_bytes,
    data_set,
    is_data_set,
    options_in_errors,
    refuse_missing,
)
from .options import OUTPUT, OutputOptions, takes_groups
from .output import clear_errors, ended_by_user, notes, print_json, progress_bars
from .results_folder import stem_of


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

    def place(self, sources: Sequence[str]) -> Path:
        """The folder of the store; an error before the work begins if it cannot be written."""
        for source in sources:
            if not is_data_set(source):
                refuse_missing(source)
        out = Path(f"{stem_of(sources[0])}-store") if self.out is None else self.out
        free_place(out, self.force, is_store, "--force")
        return out


@takes_groups
def pack(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Anything fit reads, or a folder of Parquet or CSV files with edges; several edge "
            "lists are combined.",
            show_default=False,
        ),
    ],
    store: StoreOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Pack data of any size into a folder on disk, which fit loads as needed.

    Edge lists may be larger than memory. If the command is interrupted, run it again: it continues
    where it stopped, unless the sources have changed.

    [bold]Examples[/bold]

    comarkov pack clicks/ -o store --rows user --columns page

    comarkov fit store -k 20 -l 20
    """
    with clear_errors(), notes(output.quiet):
        out = store.place(sources)
        with _continuing(out), options_in_errors(), progress_bars() as advance:
            _pack(sources, out, store, reading, advance)
        about = store_facts(out)
        if output.json:
            print_json(about)
        else:
            print_facts(about)


def _pack(
    sources: Sequence[str], out: Path, store: StoreOptions, reading: InputOptions, advance: Any
) -> None:
    from ..io.store.packing import pack as pack_store  # slow to import

    keywords = reading.keywords() | {name: getattr(reading, name) for name in OWN}
    loaded = [data_set(source) if is_data_set(source) else source for source in sources]
    pack_store(
        loaded[0] if len(loaded) == 1 else loaded,
        out,
        memory_limit=as_bytes(store.memory_limit, "--memory-limit"),
        overwrite=store.force,
        progress=advance,
        **keywords,
    )


@contextmanager
def _continuing(out: Path) -> Iterator[None]:
    """After Ctrl-C, say that the same command continues, if it does."""
    try:
        yield
    except KeyboardInterrupt:
        from ..io.store.edge_runs import has_draft

        if not has_draft(out):
            raise
        raise ended_by_user("Run the same command again to continue.") from None
