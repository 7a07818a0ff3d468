"""``comarkov chain``, ``network`` and ``multi``: states, nodes, or several types of elements."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from ..joint.messages import warn_user
from .options import (
    CLUSTERING,
    FolderOptions,
    InputOptions,
    OutputOptions,
    SearchOptions,
    argument,
    command,
    one_of,
    parsed_beta,
    parsed_number,
)
from .output import command_line

if TYPE_CHECKING:
    from ..io.read import Data
    from ..io.read.fit_input import Key

TRANSITIONS = "A table of transitions, an edge list, or sequences of states."
OTHER_TABLES = ("not a number", "square matrix", "their names differ")  # in errors
VISITS = (
    "If each line is one visited state, name the columns of the sequence, the state and the time, "
    "for example --kind sequences --rows visit --columns page --time clicked."
)
SIDES = ("auto", "one", "two")
EDGES = "A graph file, an edge list or a square table."
RELATIONS = "TYPE,TYPE=FILE for each table; FILE:ROWS:COLUMNS:WEIGHTS picks its columns."
NAMED_TABLE = re.compile(r"([^=/\\]+),([^=/\\,]+)=(.+)")  # TYPE,TYPE=FILE


@dataclass(frozen=True)
class ChainOptions(SearchOptions):
    """How to aggregate a chain."""

    k: str = CLUSTERING.option(
        "--clusters -k NUMBER", "Number of clusters of states, or auto.", "auto"
    )
    beta: str = CLUSTERING.option(
        "--beta B",
        "From 0 to 1, or auto: 1 favours predicting the next cluster, 0 a lumpable chain.",
        "auto",
    )
    restrict: bool = CLUSTERING.option(
        "--restrict",
        "If some states cannot be reached from others: keep only the largest set that can.",
        False,
    )
    held_out: float = CLUSTERING.option(
        "--held-out SHARE",
        "Keep this share of observed transitions out of the fit, and test lumpability on it.",
        0.0,
        min=0,
        max=0.99,
    )


@command
def chain(
    source: Annotated[str, argument("INPUT", TRANSITIONS)],
    clustering: ChainOptions,
    folder: FolderOptions,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Aggregate the states of a Markov chain and write the results to a folder.

    INPUT is a square table or an edge list of probabilities or counts, from rows to columns. Or it
    is a text file with one sequence of states per line, or one state per line (discrete
    trajectories, also as .npy), or a folder of such files. A table with one visited state per line
    needs --kind sequences, --columns with the column of states and, for several sequences, --rows.

    OUT gets states.csv, clusters.csv, transitions.csv, clusters.md, summary.json, report.html, and
    model/ for info.

    [bold]Examples[/bold]

    comarkov chain transitions.csv -k 4 -o aggregated

    comarkov chain trajectories/ -k 5 --held-out 0.3

    comarkov chain clicks.csv --kind sequences --rows visit --columns page --time clicked -k 6

    comarkov chain genes.txt --kind sequences --separator none -k 2
    """
    out = folder.place(source)
    parameters = clustering.search_parameters(output)  # errors come before a slow import
    parameters |= {"n_clusters": parsed_number(clustering.k, "-k")}
    parameters |= {"beta": parsed_beta(clustering.beta), "held_out": clustering.held_out}
    from ..estimators.markov import MarkovAggregation
    from ..results.chain_results import ChainResults

    model = MarkovAggregation(restrict=clustering.restrict, **parameters)
    try:
        data = reading.read(source, kind=reading.kind or "chain")
        model.fit(data)
    except ValueError as error:
        if reading.kind is None and any(words in str(error) for words in OTHER_TABLES):
            raise ValueError(f"{error} {VISITS}") from error
        raise
    folder.finish(ChainResults(model, data, command_line()), out, output)


@dataclass(frozen=True)
class NetworkOptions(SearchOptions):
    """How to find the groups of a network."""

    k: str = CLUSTERING.option("--clusters -k NUMBER", "Number of groups, or auto.", "auto")
    directed: bool | None = CLUSTERING.option(
        "--directed/--undirected", "Whether edges have a direction.", shown="detected"
    )
    sides: str = CLUSTERING.option(
        "--sides SIDES",
        "One set of groups, or two: who links to whom, and who is linked by whom.",
        "auto",
        **one_of(SIDES),
    )


@command
def network(
    source: Annotated[str, argument("INPUT", EDGES)],
    clustering: NetworkOptions,
    folder: FolderOptions,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Find groups of nodes in a network and write the results to a folder.

    INPUT is a graph file (GraphML, GML, GEXF or Pajek), an edge list with two columns of
    nodes and perhaps one of weights, or a square table. By default, it works out how many groups
    there are. Known classes (attributes of nodes, or --row-classes) are compared
    with the groups.

    OUT gets a CSV file of the nodes, blocks.csv, clusters.md, summary.json, report.html, and
    model/ for predict and info.

    [bold]Examples[/bold]

    comarkov network friends.graphml

    comarkov network emails.csv --rows sender --columns recipient --directed -k 5 -o groups
    """
    out = folder.place(source)
    parameters = clustering.search_parameters(output)
    parameters["n_clusters"] = parsed_number(clustering.k, "-k")
    data = reading.read(source, kind=reading.kind or "network")
    from ..estimators.multiway import fit_network  # slow to import
    from ..io.read.fit_input import network_input
    from ..results.multiway_results import MultiwayResults

    edges = network_input(data, clustering.directed)
    if edges.note:
        warn_user(edges.note)
    model, relations = fit_network(edges, clustering.sides, parameters)
    folder.finish(MultiwayResults(model, relations, command_line()), out, output)


class Table(NamedTuple):
    """A table as the user names it."""

    types: Key | None
    file: str
    columns: list[str]  # of rows, columns and weights; or none

    @classmethod
    def of(cls, text: str) -> Table:
        """TYPE,TYPE=FILE:ROWS:COLUMNS:WEIGHTS, of which only FILE is needed."""
        parts = NAMED_TABLE.fullmatch(text)
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

    def read(self, reading: InputOptions, start: str = "comarkov multi") -> tuple[Key, Data]:
        """The two types of the table, and its data; ``start`` begins a command that works."""
        columns = dict(zip(("rows", "columns", "weights"), self.columns, strict=False))
        data = reading.read(self.file, **columns)
        types = self.types or (data.row_kind, data.column_kind)
        if types == ("row", "column"):
            raise ValueError(
                f"{self.file} does not name the two types of elements that it relates. Name them: "
                f"{start} user,item={self.file}"
            )
        return types, replace(data, row_kind=types[0], column_kind=types[1])


@dataclass(frozen=True)
class MultiOptions(SearchOptions):
    """How to cluster several types."""

    k: str = CLUSTERING.option(
        "--clusters -k NUMBERS",
        "Number of clusters of every type, such as 3 or auto, or of each: user=4,item=auto.",
        "auto",
    )
    beta: float = CLUSTERING.option(
        "--beta B", "How strongly the two sides of a table are coupled, 0 to 1.", 0.5, min=0, max=1
    )

    def numbers(self, types: list[str]) -> Any:
        """How many clusters each type gets, as MultiwayClustering takes it."""
        if "=" not in self.k:
            return parsed_number(self.k, "-k")
        pairs = [part.rpartition("=") for part in self.k.split(",")]
        numbers = {name.strip(): parsed_number(text, "-k") for name, _, text in pairs}
        if set(numbers) != set(types):
            example = ",".join(f"{name}=3" for name in types)
            raise ValueError(f"-k {self.k} must give each type a number: try -k {example}.")
        return numbers


@command
def multi(
    tables: Annotated[list[str], argument("TABLE...", RELATIONS)],
    clustering: MultiOptions,
    folder: FolderOptions,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Cluster several related tables at once and write the results to a folder.

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
    named = [Table.of(text) for text in tables]
    out = folder.place(named[0].file)
    parameters = clustering.search_parameters(output)
    data = _read(named, reading)
    types = list(dict.fromkeys(name for key in data for name in key))
    parameters |= {"n_clusters": clustering.numbers(types), "beta": clustering.beta}
    from ..estimators.multiway import MultiwayClustering  # slow to import
    from ..results.multiway_results import MultiwayResults

    model = MultiwayClustering(**parameters).fit(data)
    folder.finish(MultiwayResults(model, data, command_line()), out, output)


def _read(tables: list[Table], reading: InputOptions) -> dict[Key, Data]:
    """All tables by their types; a note if one shares no type with another."""
    data: dict[Key, Data] = {}
    for table in tables:
        key, matrix = table.read(reading)
        if key in data:
            raise ValueError(
                f"Two tables relate {key[0]} and {key[1]}: {data[key].source} and {table.file}. "
                f"Join them into one file, or give them other types: comarkov multi "
                f"user,item={data[key].source} user,tag={table.file}"
            )
        data[key] = matrix
    for key in data if len(data) > 1 else ():
        if not any(set(key) & set(other) for other in data if other != key):
            warn_user(
                f"No type connects {','.join(key)} with other tables, so it is clustered on its "
                "own. If it shares a type, give it the same name there."
            )
    return data
