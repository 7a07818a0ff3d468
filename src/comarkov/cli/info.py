"""``comarkov info``: the parameters and clusters of a model, or what a store holds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..io.files import is_store
from ..joint.messages import size_text
from .input_options import options_in_errors
from .options import OutputOptions, takes_groups
from .output import clear_errors, echo, notes, print_json, progress_bars

if TYPE_CHECKING:
    from ..estimators.coclustering import CoClustering
    from ..estimators.markov import MarkovAggregation
    from ..estimators.multiway import MultiwayClustering


@takes_groups
def info(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="The output folder of fit, or a folder that model.save or pack wrote.",
            show_default=False,
        ),
    ],
    *,
    output: OutputOptions,
) -> None:
    """Print the parameters of a model, its clusters, and how much information they keep.

    For a store, print its contents, and compare all files with their checksums.

    [bold]Example[/bold]

    comarkov info women
    """
    with clear_errors(), notes(output.quiet):
        if is_store(model):
            with options_in_errors():
                about = _verified(model)
        else:
            from ..model.storage import load

            about = _about(load(model))
        if output.json:
            print_json(about)
        else:
            print_facts(about)


def print_facts(about: Mapping[str, Any]) -> None:
    """Print facts, one in a line."""
    width = max(map(len, about))
    for name, value in about.items():
        echo(f"{name.replace('_', ' '):<{width}}  {_shown(value)}")


def store_facts(folder: Path) -> dict[str, Any]:
    """The facts about a store, by name."""
    from ..io.store.layout import Description  # slow to import

    about = Description.read(folder)
    return {
        "store": str(folder),
        "rows": about.shape[0],
        "columns": about.shape[1],
        "entries": about.entries,
        "weights": "counts" if about.is_count and about.scale >= 1 else "numbers",
        "row_kind": about.row_kind,
        "column_kind": about.column_kind,
        "weighting": about.weighting or "counts",
        "source": about.source,
        "size": size_text(about.bytes),
    }


def _verified(folder: Path) -> dict[str, Any]:
    """The facts about a store whose files are all as they were written."""
    from ..io.store.layout import Description

    about = store_facts(folder)
    with progress_bars("bytes") as advance:
        Description.read(folder).verify(folder, partial(advance, "Checking files"))
    return {**about, "checksums": "all files are as they were written"}


def _about(fitted: Any) -> dict[str, Any]:
    """The facts about a model, by name."""
    about: dict[str, Any] = {"MarkovAggregation": _about_chain, "MultiwayClustering": _about_types}
    kind = type(fitted).__name__
    return {
        "model": kind,
        **about.get(kind, _about_both_sides)(fitted),
        "parameters": {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in fitted.get_params(deep=False).items()
        },
    }


def _about_chain(fitted: MarkovAggregation) -> dict[str, Any]:
    return {
        "states": fitted.labels_.size,
        "clusters": _sizes(fitted.labels_),
        "beta": fitted.beta,
        "cost": fitted.cost_,
        "prediction_loss": fitted.prediction_loss_,
        "lumpability_loss": fitted.lumpability_loss_,
        "information": fitted.information_.rows_columns,
        "kept": fitted.information_.kept,
    }


def _about_types(fitted: MultiwayClustering) -> dict[str, Any]:
    return {
        **{f"clusters of {name}": _sizes(labels) for name, labels in fitted.labels_.items()},
        "beta": fitted.beta,
        "cost": fitted.cost_,
        **{f"kept of {s} x {t}": each.kept for (s, t), each in fitted.information_.items()},
    }


def _about_both_sides(fitted: CoClustering) -> dict[str, Any]:
    weighting = fitted.weighting_
    labels = fitted.row_labels_, fitted.column_labels_
    row_clusters, column_clusters = (
        None if count is None else _sizes(side)
        for count, side in zip(fitted.hierarchy_.n_fitted, labels, strict=True)
    )
    return {
        "rows": fitted.row_labels_.size,
        "columns": fitted.column_labels_.size,
        "row_clusters": row_clusters,
        "column_clusters": column_clusters,
        "beta": fitted.beta_,
        "cost": fitted.cost_,
        "information": fitted.information_.rows_columns,
        "kept": fitted.information_.kept,
        "weighting": "counts" if weighting is None else weighting.scheme,
    }


def _sizes(labels: np.ndarray) -> list[int]:
    """The number of members of each cluster."""
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
