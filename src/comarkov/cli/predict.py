"""``comarkov predict``: the clusters of new rows or columns."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from ..io.csv_files import csv_text, for_spreadsheets
from ..io.files import MODEL, is_results, write_text
from ..joint.messages import InputError, listed, warn_user
from .evaluate import titles_in
from .networks import Table
from .options import (
    CLUSTERING,
    FOR_SPREADSHEETS,
    OUTPUT,
    SOURCE_HELP,
    SOURCES,
    FileOptions,
    InputOptions,
    OutputOptions,
    argument,
    command,
    summary,
)
from .output import echo, print_json

if TYPE_CHECKING:
    from ..io.read import Data
    from ..io.read.fit_input import Key

NEW_DATA = f"{SOURCE_HELP} for stdin. For results of multi: TYPE,TYPE=FILE for each table."


class Placed(NamedTuple):
    """New elements and their clusters."""

    names: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray
    table: str  # which table of the results has the titles of the clusters


@dataclass(frozen=True)
class PredictOptions(FileOptions):
    """What is new, and where to write its clusters."""

    side: str = CLUSTERING.option(
        "--side SIDE", "What is new: rows, columns or, for results of multi, a type.", "rows"
    )
    for_spreadsheets: bool = OUTPUT.option("--for-spreadsheets", FOR_SPREADSHEETS, False)


@command
def predict(
    model: Annotated[Path, argument("MODEL", "The output folder of fit.")],
    sources: Annotated[list[str], argument("INPUT...", NEW_DATA, **SOURCES)],
    options: PredictOptions,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Predict the clusters of new rows, or of new columns.

    INPUT is read like the data of the model, unless you give other options. Columns are matched by
    name, and unknown columns are ignored. The result is CSV: name, cluster, confidence, title of
    the cluster. A row without entries in known columns has cluster -1.

    For results of multi, give tables as for multi.

    [bold]Examples[/bold]

    comarkov predict women new_women.csv -o clusters.csv

    comarkov predict letters-clusters letter.txt

    comarkov predict shop user,item=new_ratings.csv user,tag=new_tags.csv
    """
    from ..model.storage import load

    options.refuse_to_replace()
    fitted = load(model)
    folder = model.parent if model.name == MODEL else model
    start = shlex.join(["comarkov", "predict", str(model)])
    place = _place_elements if hasattr(fitted, "types_") else _place_rows
    placed = place(fitted, folder, sources, options.side, reading, start)
    numbers = np.where(placed.labels < 0, -1, placed.labels + 1)
    if hasattr(fitted, "hierarchy_"):  # clusters have the numbers of the report
        from ..results.findings import findings_of

        numbers = getattr(findings_of(fitted), placed.table).numbers_of(placed.labels)
    placed = placed._replace(labels=numbers)
    _print(placed, titles_in(folder, placed.table), options, output)


def _place_rows(
    fitted: Any, folder: Path, sources: list[str], side: str, reading: InputOptions, start: str
) -> Placed:
    """The clusters of new rows or columns."""
    works = f"{start} {sources[0]}"
    if hasattr(fitted, "states_"):
        raise InputError("it holds a chain, which has no clusters for new states", file=folder)
    if len(sources) > 1 or side not in ("rows", "columns"):
        problem = "this model takes one INPUT, and --side rows or columns"
        raise InputError(problem, file=folder, advice=f"Run: {works} --side rows")
    data = reading.read(sources[0], like=fitted)
    advice = f"Choose the columns of a table: {works} --rows COLUMN --columns COLUMN"
    axis = 1 if side == "rows" else 0
    known = fitted._model.column_names if axis else fitted._model.row_names
    if _are_strangers(data, axis, known, advice):
        size = data.shape[0]
        return Placed(data.row_names, np.full(size, -1), np.zeros(size), "rows")
    labels, confidence = fitted.predict(data, side, return_confidence=True)
    return Placed(data.row_names if axis else data.column_names, labels, confidence, side)


def _place_elements(
    fitted: Any, folder: Path, sources: list[str], side: str, reading: InputOptions, start: str
) -> Placed:
    """The clusters of new elements of one of several types."""
    keys = list(fitted.information_)
    data: dict[Key, Data] = {}
    for table in map(Table.of, sources):
        key, matrix = table.read(reading, start)
        if key not in keys and key[::-1] not in keys:
            tables = " and ".join(",".join(each) for each in keys)
            raise InputError(
                f"The model has no table of {key[0]} and {key[1]}, only {tables}",
                advice=f"Name the types of {table.file}: {start} {','.join(keys[0])}={table.file}",
            )
        data[key] = matrix
    first, *others = data
    shared = [name for name in first if all(name in key for key in others)]
    if not shared or side not in (*shared, "rows", "columns"):
        works = f"{start} {sources[0]} --side {(shared or first)[0]}"
        raise InputError("--side must be a type that all tables have", advice=f"Run: {works}")
    element_type = side if side in shared else shared[0 if side == "rows" else -1]
    for key, matrix in data.items():
        axis = 1 - key.index(element_type)
        advice = f"Choose its columns: {start} {','.join(key)}={matrix.source}:ROWS:COLUMNS"
        _are_strangers(matrix, axis, fitted.names_[key[axis]], advice)
    names, labels, confidence = fitted._place(data, element_type)
    types = summary(folder)["types"] if is_results(folder) else {}
    table_name = Path(types[element_type]["file"]).stem if types else element_type
    return Placed(names, labels, confidence, table_name)


def _are_strangers(data: Data, axis: int, known: np.ndarray | None, advice: str) -> bool:
    """Have INPUT and the model no name in common? An error unless INPUT are texts."""
    what, new = ("columns", data.column_names) if axis else ("rows", data.row_names)
    if known is None or not data.named[axis] or set(new) & set(map(str, known)):
        return False
    if axis and data.texts is not None:
        warn_user(
            f"None of the words of {data.source} ({listed(new)}) is in the model, so the cluster "
            "is -1: none. Give texts in the language and about the topics of the model."
        )
        return True
    raise InputError(
        f"None of the {new.size:,} {what} of {data.source} ({listed(new)}) is in the model, "
        f"which has {listed(known)}",
        advice=advice,
    )


def _print(
    placed: Placed, titles: dict[str, str], options: PredictOptions, output: OutputOptions
) -> None:
    """Print the predictions, or write them into a file, or both if they are printed as JSON."""
    columns: dict[str, list[Any]] = {
        "name": placed.names.tolist(),
        "cluster": placed.labels.tolist(),
        "confidence": placed.confidence.round(4).tolist(),
        "title": [titles.get(str(label), "") for label in placed.labels],
    }
    if output.json:
        lines = zip(*columns.values(), strict=True)
        print_json([dict(zip(columns, line, strict=True)) for line in lines])
    columns["confidence"] = [f"{confidence:.4f}" for confidence in columns["confidence"]]
    text = csv_text(columns, zip(*columns.values(), strict=True))
    if options.out is not None:
        write_text(options.out, for_spreadsheets(text) if options.for_spreadsheets else text)
    elif not output.json:
        echo(text, nl=False)
