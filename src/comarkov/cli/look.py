"""``comarkov report`` and ``comarkov info``: results that are there already, looked at again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from . import out as folder
from .errors import clear_errors, notes
from .groups import takes_groups
from .options import Telling
from .tables import say_json

if TYPE_CHECKING:
    from ..estimators import CoClustering


@takes_groups
def report(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The folder of fit or sweep.", show_default=False)
    ],
    opened: folder.Opened = False,
    *,
    telling: Telling,
) -> None:  # fmt: skip
    """Make report.html anew from a folder of results.

    [bold]Example[/bold]

    comarkov report women --open
    """
    with clear_errors(), notes(telling.quiet):
        page = (out / "report.html").absolute()
        folder.write_text(page, folder.results_again(out).to_html())
        if telling.json:
            say_json({"report": str(page)})
        else:
            typer.echo(page if telling.quiet else f"The report is {page}")
        if opened:
            typer.launch(page.as_uri())


@takes_groups
def info(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="OUT of fit, or its folder model.", show_default=False
        ),
    ],
    *,
    telling: Telling,
) -> None:
    """Say what a model is: its parameters, its clusters and what they keep.

    [bold]Example[/bold]

    comarkov info women
    """
    with clear_errors(), notes(telling.quiet):
        from ..storage import load

        about = _about(load(model))
        if telling.json:
            say_json(about)
            return
        width = max(map(len, about))
        for name, value in about.items():
            typer.echo(f"{name.replace('_', ' '):<{width}}  {_shown(value)}")


def _about(fitted: CoClustering) -> dict[str, Any]:
    """What is worth knowing of a model."""
    told = fitted.information_
    weighting = fitted.weighting_
    return {
        "model": type(fitted).__name__,
        "rows": fitted.row_labels_.size,
        "columns": fitted.column_labels_.size,
        "row_clusters": _sizes(fitted, 0),
        "column_clusters": _sizes(fitted, 1),
        "beta": fitted.beta_,
        "cost": fitted.cost_,
        "information": told.rows_columns,
        "kept": told.kept,
        "weighting": "counts" if weighting is None else weighting.scheme,
        "parameters": {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in fitted.get_params(deep=False).items()
        },
    }


def _sizes(fitted: CoClustering, side: int) -> list[int] | None:
    """How many members each cluster has; None on a side that is not clustered."""
    if fitted.hierarchy_.n_fitted[side] is None:
        return None
    labels = (fitted.row_labels_, fitted.column_labels_)[side]
    return list(np.bincount(labels[labels >= 0]).tolist())


def _shown(value: Any) -> str:
    if value is None:
        return "not clustered"
    if isinstance(value, dict):
        return ", ".join(f"{name}={part!r}" for name, part in value.items())
    if isinstance(value, list):
        return f"{len(value)}, of {', '.join(f'{size:,}' for size in value)} members"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
