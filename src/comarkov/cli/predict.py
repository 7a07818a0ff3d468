"""``comarkov predict``: the clusters of new rows or columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..data.writing import write_text
from .errors import clear_errors, notes
from .groups import takes_groups
from .inputs import Reading, Source
from .options import OUTPUT, ModelFolder, Telling, option
from .tables import as_csv, say_json
from .waiting import explain_compiling


@takes_groups
def predict(
    model: ModelFolder,
    source: Source,
    side: Annotated[
        str,
        option(
            "--side", panel="Clustering", metavar="SIDE",
            help="What is new in INPUT: rows, or columns.",
        ),
    ] = "rows",
    out: Annotated[
        Path | None,
        option(
            "--out", "-o", panel=OUTPUT, metavar="FILE", show_default="standard output",
            help="A CSV file for the result.",
        ),
    ] = None,
    *,
    telling: Telling,
    reading: Reading,
) -> None:  # fmt: skip
    """Say to which clusters new rows, or new columns, belong.

    The result is CSV: name, cluster, confidence. What INPUT and the model have in common is
    matched by name. The cluster is -1 for what has nothing in common with the model.

    [bold]Example[/bold]

    comarkov predict women new_women.csv -o clusters.csv
    """
    with clear_errors(), notes(telling.quiet):
        if side not in ("rows", "columns"):
            raise ValueError(f"--side must be rows or columns, not {side!r}.")
        from ..model.storage import load

        explain_compiling(telling.shows_bars)
        fitted = load(model)
        if not hasattr(fitted, "predict_with_confidence"):
            raise ValueError(f"{model} holds a {type(fitted).__name__}, which predicts nothing.")
        data = reading.read(source, for_a_model=True)
        labels, sure = fitted.predict_with_confidence(data, side)
        names = data.row_names if side == "rows" else data.column_names
        lines = list(zip(names.tolist(), labels.tolist(), sure.round(4).tolist(), strict=True))
        if telling.json:
            keys = ("name", "cluster", "confidence")
            say_json([dict(zip(keys, line, strict=True)) for line in lines])
        elif out is None:
            typer.echo(_csv(lines), nl=False)
        if out is not None:
            write_text(out, _csv(lines))


def _csv(lines: list[tuple[Any, ...]]) -> str:
    return as_csv(
        ("name", "cluster", "confidence"), ((*line[:2], f"{line[2]:.4f}") for line in lines)
    )
