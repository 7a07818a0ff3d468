"""Sequences of states from files: counts of how often each state follows each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...joint.chains import numbered, transitions
from ...joint.messages import quote
from .data import Data
from .formats import ReadOptions
from .headers import is_number
from .matrices import loaded
from .opened import Opened, as_utf8, decoded
from .raw_tables import RawTable, table_error

PLAIN = ("", ".txt", ".dat", ".seq", ".dtraj")  # suffixes of files that may hold sequences
SAMPLE = 1 << 16  # bytes that are looked at to tell sequences from a table
BETWEEN = re.compile(r"[\s,;]+")  # separates states unless separator= names something else


def holds_sequences(file: Opened) -> bool:
    """Does a file look like sequences of states rather than a table of transitions?

    A text file does unless it is a square table of numbers, or has a number in the third and last
    column of every line below the first, as an edge list has. A NumPy array does if it is 1-D.
    """
    if file.suffix == ".npy":
        return loaded(file).ndim == 1
    if file.suffix not in PLAIN:
        return False
    with file.path.open("rb") as stream:
        text = stream.read(SAMPLE).decode("utf-8", "replace")
    lines = [_fields(line, None) for line in text.splitlines() if line.strip()]
    widths = {len(line) for line in lines}
    is_square = widths == {len(lines)} and all(is_number(field) for line in lines for field in line)
    are_edges = widths == {3} and len(lines) > 1 and all(is_number(line[2]) for line in lines[1:])
    return not is_square and not are_edges


def from_sequence_file(file: Opened, options: ReadOptions) -> Data:
    """Transitions in a text file with one sequence per line, or in a 1-D NumPy array."""
    return _counted(_sequences(file, options), file.name)


def from_sequence_folder(folder: Path, options: ReadOptions) -> Data:
    """Transitions in all files of a folder, each of which holds sequences."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
    opened = (Opened(str(path), path, path.suffix.lower()) for path in files)
    return _counted([each for file in opened for each in _sequences(file, options)], str(folder))


def from_events(
    table: RawTable, rows: str | int | None, columns: str | int, time: str | int | None
) -> Data:
    """Transitions in a table with one visited state per line.

    ``rows`` is the column of the sequence (all lines are one sequence without it), ``columns``
    that of the state, and ``time`` that to sort by; without it, lines are in order.
    """
    import polars as pl

    roles = {"rows": rows, "columns": columns, "time": time}
    fields = {
        role: table.field(column, role) for role, column in roles.items() if column is not None
    }
    try:
        events = table.frame.select(
            **{role: pl.col(field) for role, field in fields.items()}
        ).collect()
    except pl.exceptions.PolarsError as error:
        raise table_error(table, error) from error
    for role, field in fields.items():
        if events[role].null_count():
            raise ValueError(
                f"{table.name} has lines without a value in column {quote(table.heading(field))} "
                f"({role}=): fill them in, or drop these lines."
            )
    if time is not None:
        events = events.sort(_in_order(events["time"]), maintain_order=True)
    if rows is None:
        return _counted([events["columns"].to_list()], table.name)
    parts = events.partition_by("rows", maintain_order=True)
    return _counted([part["columns"].to_list() for part in parts], table.name)


def _in_order(times: Any) -> Any:
    """What sorts events: numbers if all times are, else the times as they are written."""
    import polars as pl

    numbers = times.cast(pl.Float64, strict=False) if times.dtype == pl.String else times
    return times if numbers.null_count() else numbers


def _sequences(file: Opened, options: ReadOptions) -> list[list[Any]]:
    if file.suffix == ".npy":
        array = loaded(file)
        return [array.tolist()] if array.ndim == 1 else array.tolist()
    with as_utf8(file, options.encoding) as plain:
        text = decoded(plain.path.read_bytes(), file.name, "utf-8")
    lines = [_fields(line, options.separator) for line in text.splitlines()]
    if all(len(line) <= 1 for line in lines):  # a state per line; a blank line ends a sequence
        return _parts(lines)
    return [line for line in lines if line]


def _fields(line: str, separator: str | None) -> list[str]:
    """The states of a line: split at blanks, commas and semicolons, or at the separator."""
    if separator == "":
        return list(line)
    parts = BETWEEN.split(line) if separator is None else line.split(separator)
    return [part.strip() for part in parts if part.strip()]


def _parts(lines: list[list[str]]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in lines:
        if line:
            parts[-1] += line
        else:
            parts.append([])
    return [part for part in parts if part]


def _counted(sequences: list[list[Any]], source: str) -> Data:
    """The counts of all transitions, with states sorted by name, or by number if all are whole."""
    if sum(map(len, sequences)) == 0:
        raise ValueError(f"{source} holds no states.")
    if _are_whole(sequences):
        sequences = [[int(float(state)) for state in each] for each in sequences]
    else:
        sequences = [list(map(str, each)) for each in sequences]
    states, places = numbered(sequences)
    weights = transitions(places, states.size)
    if weights.nnz == 0:
        raise ValueError(f"{source} holds no transitions: a sequence needs two states at least.")
    names = states.tolist()
    return Data(weights, names, names, "state", "state", source)


def _are_whole(sequences: list[list[Any]]) -> bool:
    """Are all states whole numbers, also if written as 1.0 or 1e+00?"""
    states = {str(state) for each in sequences for state in each}
    return all(is_number(state) and float(state).is_integer() for state in states)
