"""AnnData: observations x variables in, clusters back into its tables."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..extras import need
from ..inputs import is_anndata, named
from ..writing import whole_file
from .data import Data
from .matrices import named_errors, refuse_bad_weights
from .naming import distinct
from .tables import reason


def from_anndata(annotated: Any, layer: str | None, name: str) -> Data:
    """The matrix X of an AnnData object, or one of its layers, with its names."""
    if layer is not None and layer not in annotated.layers:
        layers = ", ".join(annotated.layers) or "none"
        raise ValueError(f"{name} has no layer {layer!r}: it has {layers}.")
    held = named(annotated)
    assert held is not None
    matrix = held.matrix if layer is None else annotated.layers[layer]
    if matrix is None:
        raise ValueError(f"{name} has no matrix X: say layer=.")
    rows, columns = (distinct(side) for side in (held.row_names, held.column_names))
    refuse_bad_weights(matrix, rows, columns, name)
    return named_errors(name, lambda: Data(matrix, rows, columns, "observation", "variable", name))


def read_h5ad(path: str | os.PathLike[str], name: str) -> Any:
    """An AnnData object from a file."""
    need("Reading h5ad files", "anndata", install="comarkov[anndata]")
    import anndata

    try:
        return anndata.read_h5ad(path)
    except Exception as error:  # HDF5 may hold anything, and anndata says so in many ways
        raise ValueError(f"{name} is no h5ad file: {reason(error)}.") from error


def write_h5ad(
    source: Any, target: str | os.PathLike[str] | None, model: Any, *, key: str = "comarkov"
) -> Any:
    """Write the clusters of a fitted model into an AnnData file.

    ``.obs[key]`` and ``.var[key]`` get the clusters of observations and variables as categories,
    missing where an element has none; ``.obs[key + "_confidence"]`` and the same of ``.var`` how
    sure they are; ``.uns[key]`` β, the cost and the numbers of clusters.

    Parameters
    ----------
    source : path or AnnData
        The data of the fit.
    target : path or None
        Where to write: the file is whole, or absent. It may be the source itself. None only
        annotates an AnnData object, in place.
    model : CoClustering
        Fitted to the source.
    key : str, default="comarkov"
        The name of the new columns.

    Returns
    -------
    AnnData
        With the clusters.
    """
    if is_anndata(source):
        annotated = source if target is None else source.copy()
    else:
        annotated = read_h5ad(source, str(source))
    _annotate(annotated, model, key)
    if target is not None:
        with whole_file(target) as draft:
            annotated.write_h5ad(draft)
    return annotated


def _annotate(annotated: Any, model: Any, key: str) -> None:
    sides = (
        ("row", annotated.obs, model.row_labels_, "row_names_in_"),
        ("column", annotated.var, model.column_labels_, "feature_names_in_"),
    )
    for what, table, labels, names in sides:
        known = getattr(model, names, None)
        if len(table) != labels.size or (
            known is not None and distinct(table.index) != distinct(known)
        ):
            raise ValueError(
                f"The model was fitted to other data: its {labels.size:,} {what}s are not the "
                f"{len(table):,} here."
            )
    import pandas as pd

    for what, table, labels, _ in sides:
        present = np.unique(labels[labels >= 0])
        table[key] = pd.Categorical.from_codes(
            np.where(labels >= 0, np.searchsorted(present, labels), -1),
            categories=[str(label) for label in present],
        )
        confidence = getattr(model, f"{what}_confidence_", None)
        if confidence is not None:
            table[f"{key}_confidence"] = confidence
    counts = [int(np.unique(labels[labels >= 0]).size) for _, _, labels, _ in sides]
    annotated.uns[key] = {"beta": model.beta_, "cost": model.cost_, "n_clusters": np.array(counts)}
