"""``comarkov predict``: the clusters of new rows or columns."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

from ..io.csv_files import csv_text, for_spreadsheets
from ..io.files import MODEL, is_results, write_text
from ..joint.messages import InputError, listed
from .input_options import DATA_SETS, InputOptions
from .label_files import titles_in
from .networks import Table
from .options import CLUSTERING, OUTPUT, ModelFolder, OutputOptions, completion, takes_groups
from .output import clear_errors, echo, notes, print_json
from .results_folder import FOR_SPREADSHEETS, REPLACE, refuse_to_replace, summary

if TYPE_CHECKING:
    from ..io.read import Data
    from ..io.read.fit_input import Key


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="A file, a folder of texts, a database, a data set, or - for standard input. For "
        "results of multi: TYPE,TYPE=FILE for each table.",
        show_default=False,
        autocompletion=completion(list(DATA_SETS)),
    ),
]


class Placed(NamedTuple):
    """New elements and their clusters."""

    names: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray | None  # None if the model has none
    table: str  # which table of the results has the titles of the clusters


@dataclass(frozen=True)
class PredictOptions:
    """What is new, and where to write its clusters."""

    side: str = CLUSTERING.option(
        "--side SIDE", "What is new: rows, columns or, for results of multi, a type.", "rows"
    )
    out: Path | None = OUTPUT.option(
        "--out -o FILE", "A CSV file for the result.", shown="standard output"
    )
    force: bool = OUTPUT.option("--force -f", REPLACE, False)
    for_spreadsheets: bool = OUTPUT.option("--for-spreadsheets", FOR_SPREADSHEETS, False)


@takes_groups
def predict(
    model: ModelFolder,
    sources: Sources,
    options: PredictOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Predict the clusters of new rows, or of new columns.

    INPUT is read like the data of the model, unless you give other options. Columns are matched by
    name, and unknown columns are ignored. The result is CSV: name, cluster, confidence, title of
    the cluster. A row without entries in known columns has cluster -1.

    For results of chain, rows are new states, and columns are the known states that they go to.
    For results of multi, give tables as for multi; the result has no confidence.

    [bold]Examples[/bold]

    comarkov predict women new_women.csv -o clusters.csv

    comarkov predict letters-clusters letter.txt

    comarkov predict shop user,item=new_ratings.csv user,tag=new_tags.csv
    """
    with clear_errors(), notes(output.quiet):
        from ..model.storage import load

        refuse_to_replace(options.out, options.force)
        fitted = load(model)
        if hasattr(fitted, "types_"):
            placed = _place_elements(fitted, model, sources, options.side, reading)
        else:
            placed = _place_rows(fitted, model, sources, options.side, reading)
        folder = model.parent if model.name == MODEL else model
        _print(placed, titles_in(folder, placed.table), options, output)


def _place_rows(
    fitted: Any, model: Path, sources: list[str], side: str, reading: InputOptions
) -> Placed:
    """The clusters of new rows or columns, or of new states of a chain."""
    source, *more = sources
    is_chain = hasattr(fitted, "states_")
    works = shlex.join(["comarkov", "predict", str(model), source])
    if more:
        raise InputError(f"{model} takes one INPUT, not {1 + len(more)}", advice=f"Run: {works}")
    if side not in (("rows",) if is_chain else ("rows", "columns")):
        problem = f"--side must be {'rows' if is_chain else 'rows or columns'}, not {side!r}"
        raise InputError(problem, advice=f"Run: {works} --side rows")
    data = reading.read(source, like=fitted)
    if is_chain:
        advice = f"Choose the columns of new and known states: {works} --rows FROM --columns TO"
        _refuse_strangers(data, 1, fitted.states_, advice)
        labels, confidence = fitted.predict(
            data.changed(column_kind="state"), return_confidence=True
        )
        return Placed(data.row_names, labels, confidence, side)
    axis, other = (1, "columns") if side == "rows" else (0, "rows")
    known = fitted._model.column_names if axis else fitted._model.row_names
    if axis and data.texts is not None and _are_strangers(data, axis, known):
        warnings.warn(
            f"None of the words of {data.source} ({listed(data.column_names)}) is in the model, so "
            "the cluster is -1, which means none. Give texts in the language and about the topics "
            "of the model.",
            stacklevel=2,
        )
        size = data.shape[0]
        return Placed(data.row_names, np.full(size, -1), np.zeros(size), "rows")
    advice = (
        "Choose other columns of the table with --rows and --columns, or place its "
        f"{other} with --side {other}."
    )
    _refuse_strangers(data, axis, known, advice)
    labels, confidence = fitted.predict(data, side, return_confidence=True)
    return Placed(data.row_names if axis else data.column_names, labels, confidence, side)


def _place_elements(
    fitted: Any, model: Path, sources: list[str], side: str, reading: InputOptions
) -> Placed:
    """The clusters of new elements of one of several types."""
    keys = list(fitted.information_)
    start = shlex.join(["comarkov", "predict", str(model)])
    data: dict[Key, Data] = {}
    for table in map(Table.of, sources):
        key, matrix = table.read(reading, start)
        if key not in keys and key[::-1] not in keys:
            raise InputError(
                f"The model has no table of {key[0]} and {key[1]}, only {_pairs(keys)}",
                advice=f"Name the types of {table.file}: {start} {','.join(keys[0])}={table.file}",
            )
        data[key] = matrix
    element_type = _type_of(list(data), side, f"{start} {sources[0]}")
    for key, matrix in data.items():
        axis = 1 - key.index(element_type)
        advice = f"Choose its columns: {start} {','.join(key)}={matrix.source}:ROWS:COLUMNS"
        _refuse_strangers(matrix, axis, fitted.names_[key[axis]], advice)
    names, labels = fitted._place(data, element_type)
    folder = model.parent if model.name == MODEL else model
    types = summary(folder)["types"] if is_results(folder) else {}
    table_name = Path(types[element_type]["file"]).stem if types else element_type
    return Placed(names, labels, None, table_name)


def _type_of(keys: list[Key], side: str, works: str) -> str:
    """The type of the new elements, which all tables must have."""
    shared = [name for name in keys[0] if all(name in key for key in keys)]
    if not shared:
        advice = f"Place the elements of one type at a time: {works}"
        raise InputError(f"The tables have no type in common: {_pairs(keys)}", advice=advice)
    if side not in (*shared, "rows", "columns"):
        problem = f"--side must be a type that all tables have, not {side!r}"
        raise InputError(problem, advice=f"Run: {works} --side {shared[0]}")
    return side if side in shared else shared[0 if side == "rows" else -1]


def _pairs(keys: list[Key]) -> str:
    return " and ".join(",".join(key) for key in keys)


def _are_strangers(data: Data, axis: int, known: np.ndarray | None) -> bool:
    """Do INPUT and the model have no name in common?"""
    new = data.column_names if axis else data.row_names
    return known is not None and data.named[axis] and not set(new) & set(map(str, known))


def _refuse_strangers(data: Data, axis: int, known: np.ndarray | None, advice: str) -> None:
    """An error if INPUT and the model have no name in common, with options that may help."""
    if known is not None and _are_strangers(data, axis, known):
        what, new = ("columns", data.column_names) if axis else ("rows", data.row_names)
        raise InputError(
            f"None of the {new.size:,} {what} of {data.source} ({listed(new)}) is in the model, "
            f"which has {listed(known)}",
            advice=advice,
        )


def _print(
    placed: Placed, known: dict[str, str], options: PredictOptions, output: OutputOptions
) -> None:
    """Print the predictions, or write them into a file, or both if they are printed as JSON."""
    columns: dict[str, list[Any]] = {
        "name": placed.names.tolist(),
        "cluster": placed.labels.tolist(),
    }
    if placed.confidence is not None:
        columns["confidence"] = placed.confidence.round(4).tolist()
    columns["title"] = [known.get(str(label), "") for label in placed.labels]
    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    if output.json:
        print_json(lines)
    text = csv_text(tuple(columns), (map(_cell, line.values()) for line in lines))
    if options.out is not None:
        write_text(options.out, for_spreadsheets(text) if options.for_spreadsheets else text)
    elif not output.json:
        echo(text, nl=False)


def _cell(value: Any) -> Any:
    return f"{value:.4f}" if isinstance(value, float) else value
