"""``comarkov predict``: the clusters of new rows or columns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from ..data.own_folders import MODEL
from ..data.writing import write_text
from ..results.formats import csv_text
from .errors import clear_errors, notes
from .inputs import InputOptions, Source
from .label_files import titles_in
from .option_groups import takes_groups
from .options import CLUSTERING, OUTPUT, ModelFolder, OutputOptions
from .tables import print_json

if TYPE_CHECKING:
    from ..data.reading import Data

COLUMNS = ("name", "cluster", "confidence", "title")


@dataclass(frozen=True)
class PredictOptions:
    """What is new, and where to write its clusters."""

    side: str = CLUSTERING.option("--side SIDE", "What is new in INPUT: rows or columns.", "rows")
    out: Path | None = OUTPUT.option(
        "--out -o FILE", "A CSV file for the result.", shown="standard output"
    )


@takes_groups
def predict(
    model: ModelFolder,
    source: Source,
    options: PredictOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Predict the clusters of new rows, or of new columns.

    INPUT is read like the data of the model, unless you give other options. Columns are matched by
    name, and those that the model does not know are ignored. The result is CSV: name, cluster,
    confidence, title of the cluster. The cluster of a row that has no known column is -1.

    [bold]Examples[/bold]

    comarkov predict women new_women.csv -o clusters.csv

    comarkov predict letters-clusters letter.txt
    """
    with clear_errors(), notes(output.quiet):
        if options.side not in ("rows", "columns"):
            raise ValueError(f"--side must be rows or columns, not {options.side!r}.")
        from ..model.storage import load

        fitted = load(model)
        if not hasattr(fitted, "predict_with_confidence"):
            raise ValueError(
                f"{model} holds a {type(fitted).__name__}, which cannot place new elements; only "
                "co-clusterings can. To see the clusters of those it was fitted to, run: "
                f"comarkov report {model} --open"
            )
        data = reading.read(source, like=fitted)
        if _are_strangers(fitted, data, options.side, source):
            labels, confidence = np.full(data.shape[0], -1), np.zeros(data.shape[0])
        else:
            labels, confidence = fitted.predict_with_confidence(data, options.side)
        names = data.row_names if options.side == "rows" else data.column_names
        known = titles_in(model.parent if model.name == MODEL else model, options.side)
        titles = [known.get(str(label), "") for label in labels]
        columns = names.tolist(), labels.tolist(), confidence.round(4).tolist(), titles
        _print(list(zip(*columns, strict=True)), options.out, output)


def _are_strangers(fitted: Any, data: Data, side: str, source: str) -> bool:
    """Do INPUT and the model have no name in common?

    Texts without a known word are in no cluster, with a note. A table of which nothing is known was
    probably read in another way than that of the model: this is an error, with options that help.
    """
    if side == "rows":
        what, new, known = "columns", data.column_names, fitted._model.column_names
    else:
        what, new, known = "rows", data.row_names, fitted._model.row_names
    if known is None or not data.named[side == "rows"] or set(new.tolist()) & set(map(str, known)):
        return False
    theirs, ours = (
        ", ".join(map(str, names[:3])) + (", ..." if len(names) > 3 else "")
        for names in (new, known)
    )
    if data.texts is not None and side == "rows":
        warnings.warn(
            f"None of the words of {source} ({theirs}) is in the model, which has {ours}: cluster "
            "-1 means none. Give texts in the language and about the topics of the model.",
            stacklevel=2,
        )
        return True
    raise ValueError(
        f"None of the {new.size:,} {what} of {source} ({theirs}) is in the model, which has "
        f"{ours}. Choose other columns of the table with --rows and --columns, or place its "
        f"{what} with --side {what}."
    )


def _print(lines: list[tuple[Any, ...]], out: Path | None, output: OutputOptions) -> None:
    """Print the predictions, or write them into a file, or both if they are printed as JSON."""
    if output.json:
        print_json([dict(zip(COLUMNS, line, strict=True)) for line in lines])
    text = csv_text(COLUMNS, ((*line[:2], f"{line[2]:.4f}", line[3]) for line in lines))
    if out is not None:
        write_text(out, text)
    elif not output.json:
        typer.echo(text, nl=False)
