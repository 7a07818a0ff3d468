"""Sequences of states from files: counts of how often each state follows each other."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import Any

from ...joint.chains import numbered, transitions
from ...joint.messages import InputError
from ..read_options import SEQUENCE_LINES, ReadOptions
from .data import Data, load_array
from .headers import is_number
from .opened import Opened, decoded
from .raw_tables import RawTable, pl

PLAIN_SUFFIXES = ("", ".txt", ".dat", ".seq", ".dtraj")  # of files that may hold sequences
BETWEEN_STATES = re.compile(r"[\s,;]+")  # unless separator= names something else


def holds_sequences(file: Opened) -> bool:
    """Does a file look like sequences of states rather than a table of transitions?

    A text file does unless it is a square table of numbers, or has a number in the third and last
    column of every line below the first, as an edge list has. A NumPy array does if it is 1-D.
    """
    if file.suffix == ".npy":
        return load_array(file).ndim == 1
    if file.suffix not in PLAIN_SUFFIXES:
        return False
    text = file.content[: 1 << 16].decode("utf-8", "replace")
    lines = [_states(line, None) for line in text.splitlines() if line.strip()]
    widths = {len(line) for line in lines}
    is_square = widths == {len(lines)} and all(is_number(field) for line in lines for field in line)
    are_edges = widths == {3} and len(lines) > 1 and all(is_number(line[2]) for line in lines[1:])
    return not is_square and not are_edges


def from_sequence_files(place: Opened | Path, options: ReadOptions) -> Data:
    """Transitions in a text file with a sequence per line, a 1-D array, or a folder of these."""
    options.check("sequences", SEQUENCE_LINES)
    if isinstance(place, Opened):
        return _count_transitions(_sequences(place, options), place.name)
    paths = sorted(path for path in place.iterdir() if path.is_file() and path.name[0] != ".")
    files = (Opened(str(path), path, path.suffix.lower()) for path in paths)
    sequences = [each for file in files for each in _sequences(file, options)]
    return _count_transitions(sequences, str(place))


def from_events(table: RawTable, options: ReadOptions) -> Data:
    """Transitions in a table with a state per line, in sequences and by time if chosen."""
    roles = {name: getattr(options, name) for name in ("rows", "columns", "time")}
    fields = {name: table.field(which, name) for name, which in roles.items() if which is not None}
    events = table.frame.select(**fields).collect()
    for role, field in fields.items():
        if events[role].null_count():
            problem = f"some lines have no value ({role}=)"
            advice = "Fill them in, or drop these lines."
            raise InputError(problem, file=table.name, column=table.heading(field), advice=advice)
    if "time" in fields:
        times = events["time"]
        numbers = times.cast(pl.Float64, strict=False) if times.dtype == pl.String else times
        events = events.sort(times if numbers.null_count() else numbers, maintain_order=True)
    parts = events.partition_by("rows", maintain_order=True) if "rows" in fields else [events]
    return _count_transitions([part["columns"].to_list() for part in parts], table.name)


def _sequences(file: Opened, options: ReadOptions) -> list[list[Any]]:
    if file.suffix == ".npy":
        array = load_array(file)
        return [array.tolist()] if array.ndim == 1 else array.tolist()
    text = decoded(file.content[:], file.name, options.encoding)
    lines = [_states(line, options.separator) for line in text.splitlines()]
    if any(len(line) > 1 for line in lines):
        return [line for line in lines if line]
    groups = groupby(lines, key=bool)  # a state per line; a blank line ends a sequence
    return [[line[0] for line in group] for is_filled, group in groups if is_filled]


def _states(line: str, separator: str | None) -> list[str]:
    """The states of a line: split at blanks, commas and semicolons, or at the separator."""
    if separator == "":
        return list(line)
    parts = BETWEEN_STATES.split(line) if separator is None else line.split(separator)
    return [part.strip() for part in parts if part.strip()]


def _count_transitions(sequences: list[list[Any]], source: str) -> Data:
    """The counts of all transitions, with states sorted by name, or by number if all are whole."""
    texts = {str(state) for each in sequences for state in each}
    if not texts:
        raise InputError("it holds no states", file=source)
    are_whole = all(is_number(text) and float(text).is_integer() for text in texts)
    convert: Any = (lambda state: int(float(state))) if are_whole else str  # 1.0 and 1e+00 are 1
    states, places = numbered([list(map(convert, each)) for each in sequences])
    weights = transitions(places, states.size)
    if weights.nnz == 0:
        problem = "it holds no transitions: a sequence needs two states at least"
        raise InputError(problem, file=source)
    names = states.tolist()
    return Data(weights, names, names, "state", "state", source)
