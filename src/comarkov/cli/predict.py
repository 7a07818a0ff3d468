"""``comarkov predict`` and ``comarkov info``: what can be done with a model that was kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from .errors import clear_errors, notes
from .groups import takes_groups
from .options import OUTPUT, Reading, Source, Telling, option
from .tables import as_csv, say_json

if TYPE_CHECKING:
    from ..estimators import CoClustering

ModelFolder = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="OUT of fit, or its folder model.", show_default=False),
]


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
        from ..storage import load

        fitted = load(model)
        data = reading.read(source, min_df=1)
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
    return as_csv(("name", "cluster", "confidence"), ((*line[:2], f"{line[2]:.4f}") for line in lines))


def write_text(path: Path, text: str) -> None:
    """Write a file that is whole or as it was."""
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@takes_groups
def info(model: ModelFolder, *, telling: Telling) -> None:
    """Say what a model is: its parameters, its clusters and what they keep.

    [bold]Example[/bold]

    comarkov info women
    """
    with clear_errors(), notes(telling.quiet):
        from ..storage import load, written_by

        fitted = load(model)
        about = {"written by": written_by(model), **_about(fitted)}
        if telling.json:
            say_json(about)
            return
        width = max(map(len, about))
        for name, value in about.items():
            typer.echo(f"{name:<{width}}  {_shown(value)}")


def _about(fitted: CoClustering) -> dict[str, Any]:
    """What is worth knowing of a model."""
    parameters = fitted.get_params(deep=False)
    kept = fitted.information_
    return {
        "model": type(fitted).__name__,
        "rows": fitted.row_labels_.size,
        "columns": fitted.column_labels_.size,
        "row clusters": _sizes(fitted, 0),
        "column clusters": _sizes(fitted, 1),
        "beta": fitted.beta_,
        "cost": fitted.cost_,
        "information": kept.rows_columns,
        "kept": kept.kept,
        "weighting": "counts" if fitted.weighting_ is None else fitted.weighting_.scheme,
        "seed": parameters.get("random_state"),
        "parameters": {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in parameters.items()
        },
    }


def _sizes(fitted: CoClustering, side: int) -> list[int] | None:
    """How many members each cluster has; None on a side that is not clustered."""
    if fitted.hierarchy_.n_fitted[side] is None:
        return None
    labels = (fitted.row_labels_, fitted.column_labels_)[side]
    return np.bincount(labels[labels >= 0]).tolist()


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{name}={part!r}" for name, part in value.items())
    if isinstance(value, list):
        return f"{len(value)}, of {', '.join(f'{size:,}' for size in value)}"
    return "not clustered" if value is None else f"{value:,}" if isinstance(value, int) else value
