"""``comarkov pack``: a source of any size as a store on disk, which fit loads as needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from ..io.files import free_place, is_store
from ..joint.messages import size_text
from .input_options import InputOptions, as_bytes, refuse_missing, source_of
from .options import OUTPUT, OutputOptions, argument, takes_groups
from .output import clear_errors, echo, ended_by_user, notes, print_json, progress_bars
from .results_folder import stem_of

SOURCES = (
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

    def place(self, sources: Sequence[str]) -> Path:
        """The folder of the store; an error before the work begins if it cannot be written."""
        for source in sources:
            refuse_missing(source)
        out = Path(f"{stem_of(sources[0])}-store") if self.out is None else self.out
        free_place(out, self.force, is_store, "--force")
        return out


@takes_groups
def pack(
    sources: Annotated[list[str], argument("SOURCE...", SOURCES)],
    store: StoreOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Convert data of any size to an on-disk store for fit.

    Edge lists may be larger than memory. If the command is interrupted, run it again: it continues
    where it stopped, unless the sources have changed.

    [bold]Examples[/bold]

    comarkov pack clicks/ -o store --rows user --columns page

    comarkov fit store -k 20 -l 20
    """
    with clear_errors(), notes(output.quiet):
        out = store.place(sources)
        with _advice_to_continue(out), progress_bars() as advance:
            from ..io.store.packing import pack as pack_store  # slow to import

            loaded = [source_of(source) for source in sources]
            pack_store(
                loaded[0] if len(loaded) == 1 else loaded,
                out,
                memory_limit=as_bytes(store.memory_limit, "--memory-limit"),
                overwrite=store.force,
                progress=advance,
                **reading.keywords(),
            )
        print_facts(store_facts(out), output)


@contextmanager
def _advice_to_continue(out: Path) -> Iterator[None]:
    """After Ctrl-C, print that the same command continues, if it does."""
    try:
        yield
    except KeyboardInterrupt:
        from ..io.store.edge_runs import has_draft

        if not has_draft(out):
            raise
        raise ended_by_user("Run the same command again to continue.") from None


def store_facts(folder: Path) -> dict[str, Any]:
    """The facts about a store, by name."""
    from ..io.store.layout import Description  # slow to import

    about = Description.read(folder)
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
    }


def verified_facts(folder: Path) -> dict[str, Any]:
    """The facts about a store; an error if its files are not as they were written."""
    from ..io.store.layout import Description

    about = store_facts(folder)
    with progress_bars() as advance:
        Description.read(folder).verify(folder, partial(advance, "Checking files"))
    return {**about, "checksums": "all files are as they were written"}


def print_facts(facts: Mapping[str, Any], output: OutputOptions) -> None:
    """Print facts as JSON, or one in a line."""
    if output.json:
        print_json(facts)
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        echo(f"{name.replace('_', ' '):<{width}}  {_fact_text(value)}")


def _fact_text(value: Any) -> str:
    if value is None:
        return "not clustered"
    if isinstance(value, dict):
        return ", ".join(f"{name}={part!r}" for name, part in value.items())
    if isinstance(value, list):
        return f"{len(value)}, of {', '.join(f'{size:,}' for size in value)} members"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
