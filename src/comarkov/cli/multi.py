"""``comarkov multi``: clusters of several types of elements, from all tables between them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from . import network_options, results_folder
from .input_options import InputOptions
from .options import CLUSTERING, OutputOptions, beta_option, takes_groups
from .output import clear_errors, notes

if TYPE_CHECKING:
    from ..io.read import Data
    from ..io.read.element_types import Key


WORKS = "comarkov multi user,item=ratings.csv user,tag=tags.csv"
SPECIFIED = re.compile(r"([^=/\\]+),([^=/\\,]+)=(.+)")  # TYPE,TYPE=FILE
ABOUT = "TYPE,TYPE=FILE for each table; FILE:ROWS:COLUMNS:WEIGHTS picks its columns."
Tables = Annotated[list[str], typer.Argument(metavar="TABLE...", help=ABOUT, show_default=False)]


class Table(NamedTuple):
    """A table as the user names it."""

    types: Key | None
    file: str
    columns: list[str]  # of rows, columns and weights; or none

    @classmethod
    def of(cls, text: str) -> Table:
        """TYPE,TYPE=FILE:ROWS:COLUMNS:WEIGHTS, of which only FILE is needed."""
        parts = SPECIFIED.fullmatch(text)
        types = (parts[1].strip(), parts[2].strip()) if parts else None
        place = parts[3] if parts else text
        if Path(place).exists() or "://" in place:
            return cls(types, place, [])
        file, *columns = place.split(":")
        if len(columns) not in (0, 2, 3):
            raise ValueError(
                f"{text}: name the columns of rows and columns, and of weights if there are any, "
                f"as in {file}:user:item:stars."
            )
        return cls(types, file, columns)

    def read(self, reading: InputOptions, command: str = "comarkov multi") -> tuple[Key, Data]:
        """The two types of the table, and its data; an error ends with this command."""
        if self.columns:
            rows, columns, weights = (*self.columns, reading.weights)[:3]
            reading = replace(reading, rows=rows, columns=columns, weights=weights)
        data = reading.read(self.file)
        types = self.types or (data.row_kind, data.column_kind)
        if self.types is None and types == ("row", "column"):
            raise ValueError(
                f"{self.file} does not name the two types of elements that it relates. Name them: "
                f"{command} user,item={self.file}"
            )
        return types, replace(data, row_kind=types[0], column_kind=types[1])


@dataclass(frozen=True)
class _MultiOptions:
    k: str | None = CLUSTERING.option(
        "--clusters -k NUMBERS",
        "The number of clusters of every type, such as 3, or of each, such as user=4,item=6.",
        shown=str(network_options.CLUSTERS),
    )
    weight: list[str] | None = CLUSTERING.option(
        "--weight TYPE,TYPE=NUMBER", "How much a table counts; can be repeated.", shown="1"
    )

    beta: str = beta_option("0.5", "How strongly the two sides of a table are coupled, 0 to 1.")


@dataclass(frozen=True)
class MultiOptions(network_options.NetworkOptions, _MultiOptions):
    """How to cluster several types."""

    def numbers(self, types: list[str]) -> int | dict[str, int]:
        """The numbers of clusters as MultiwayClustering takes them."""
        if self.k is None:
            warnings.warn(
                f"Each type gets {network_options.CLUSTERS} clusters, the default. "
                "Set numbers with -k.",
                stacklevel=2,
            )
            return network_options.CLUSTERS
        example = "-k " + ",".join(f"{name}={network_options.CLUSTERS}" for name in types)
        if "=" not in self.k:
            return network_options.number(self.k, f"-k 3 or {example}")
        pairs = [part.rpartition("=") for part in self.k.split(",")]
        numbers = {name.strip(): network_options.number(text, example) for name, _, text in pairs}
        unknown = [name for name in numbers if name not in types]
        missing = [name for name in types if name not in numbers]
        faults = [f"there is no type {' or '.join(unknown)} in the tables"] if unknown else []
        faults += [f"no number is given for {' or '.join(missing)}"] if missing else []
        if faults:
            raise ValueError(f"-k {self.k}: {'; '.join(faults)}: try {example}.")
        return numbers

    def weights(self, keys: list[Key]) -> dict[Key, float] | None:
        """The weights of tables as MultiwayClustering takes them."""
        weights = {}
        for text in self.weight or []:
            types, _, value = text.rpartition("=")
            key = tuple(part.strip() for part in types.split(","))
            if key not in keys or not re.fullmatch(r"\d+(\.\d+)?", value.strip()):
                example = f"--weight {','.join(keys[0])}=2"
                raise ValueError(f"--weight {text} is not a table and a number: try {example}.")
            weights[keys[keys.index(key)]] = float(value)
        return weights or None


@takes_groups
def multi(
    tables: Tables,
    clustering: MultiOptions,
    folder: network_options.OpenedFolderOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Cluster several types of elements at once, and write all results into a folder.

    Each TABLE relates two types, and tables share types: users rate items and give tags. Elements
    are matched by name and need not be in every table. Without TYPE,TYPE=, the header of the file
    names its types. Options for reading apply to all files.

    OUT gets a CSV file for each type, blocks.csv, clusters.md, summary.json, report.html, and
    model/ for predict and info.

    [bold]Examples[/bold]

    comarkov multi user,item=ratings.csv user,tag=tags.csv -k 4

    comarkov multi carrier,dest=flights.csv:carrier:dest origin,dest=flights.csv:origin:dest
      -k carrier=3,dest=5,origin=2 -o flights
    """
    with clear_errors(), notes(output.quiet):
        named = [Table.of(text) for text in tables]
        out = folder.place(named[0].file)
        keywords = clustering.keywords(clustering.beta, output)
        data = _read(named, reading)
        types = list(dict.fromkeys(name for key in data for name in key))
        _warn_of_parts(data)
        numbers, weights = clustering.numbers(types), clustering.weights(list(data))
        from ..estimators.multiway import MultiwayClustering  # slow to import
        from ..results.multiway_results import MultiwayResults

        with network_options.parameters_as_options(), _files_named(data):
            model = MultiwayClustering(numbers, weights=weights, **keywords).fit(data)
        folder.write(MultiwayResults(model, data, results_folder.command()), out, output)


@contextmanager
def _files_named(data: dict[Key, Data]) -> Iterator[None]:
    """Errors name the file of a relation, and its types as they are on the command line."""
    try:
        yield
    except ValueError as error:
        message = str(error).replace("all relations", "all tables")
        for key, matrix in data.items():
            table = f"{','.join(key)}={matrix.source}"
            message = message.replace(f"Relation {key}", table).replace(str(key), table)
        raise ValueError(message) from error


def _warn_of_parts(data: dict[Key, Data]) -> None:
    """A note if tables share no type, not even through others."""
    parts: list[set[str]] = []
    for key in data:
        linked = [part for part in parts if part & set(key)]
        parts = [part for part in parts if part not in linked]
        parts.append(set(key).union(*linked))
    if len(parts) > 1:
        firsts = [next(",".join(key) for key in data if key[0] in part) for part in parts]
        warnings.warn(
            f"No type connects the tables {' and '.join(firsts)}, so they are clustered "
            "independently. If they share a type, give it the same name in both.",
            stacklevel=2,
        )


def _read(tables: list[Table], reading: InputOptions) -> dict[Key, Data]:
    """All tables by their types."""
    data: dict[Key, Data] = {}
    for table in tables:
        key, matrix = table.read(reading)
        if key in data:
            raise ValueError(
                f"Two tables relate {key[0]} and {key[1]}: {data[key].source} and {table.file}. "
                f"Join them into one file, or give them other types: {WORKS}"
            )
        data[key] = matrix
    return data
