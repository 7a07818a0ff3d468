"""AnnData: observations x variables in, clusters back into its tables."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...joint import objects as matrices_of
from ...joint.messages import InputError, did_you_mean, listed, need, warn_user
from ...joint.objects import Layer, is_anndata
from ..files import whole_file
from ..isolation import UnreadableError, check_in_child
from ..read_options import ReadOptions
from .data import Data
from .matrices import errors_in, refuse_bad_weights
from .naming import distinct, frame_classes
from .opened import Opened, unpacking_limit
from .raw_tables import reason

ANNDATA_OBJECT = "the AnnData object"


def from_anndata(annotated: Any, options: ReadOptions, name: str = ANNDATA_OBJECT) -> Data:
    """X of an AnnData object, or another of its matrices, with the names and classes of its sides.

    ``layer`` is the key of a layer, "raw" or "X". Without it X is read; if X has negative values,
    as scaled data do, the counts in a layer or in ``.raw`` are, with a warning.
    """
    layer = _layer(annotated, options.layer, name)
    problem = matrices_of.problem(layer.matrix)
    if problem is not None:
        raise _no_weights(annotated, layer, problem, name)
    rows, columns = distinct(layer.row_names), distinct(layer.column_names)
    reading = {} if layer.name == matrices_of.X else {"layer": layer.name}
    with errors_in(name):
        data = Data(layer.matrix, rows, columns, "observation", "variable", name, reading=reading)
    if not hasattr(annotated, "obs"):  # .raw alone
        return data
    variables = annotated.var if len(annotated.var) == data.shape[1] else annotated.raw.var
    return replace(
        data,
        row_classes=frame_classes(annotated.obs, options.row_classes, ".obs"),
        column_classes=frame_classes(variables, options.column_classes, ".var"),
    )


def from_h5ad(file: Opened, options: ReadOptions) -> Data:
    """An AnnData file."""
    annotated = read_h5ad(file.path, file.name, options.max_bytes)
    return from_anndata(annotated, options, file.name)


def _layer(annotated: Any, wanted: str | None, name: str) -> Layer:
    """The matrix that the user wants, or the one that holds weights."""
    if wanted is None:
        layer = matrices_of.weights_of(annotated)
        if layer.name != matrices_of.X and matrices_of.problem(layer.matrix) is None:
            x = annotated.X
            found = "" if x is None else matrices_of.problem(matrices_of.in_memory(x))
            why = f"has {found}" if found else "is missing"
            warn_user(
                f"X of {name} {why}, so {layer} is used instead. Choose it to silence this note: "
                f"{_call(name, layer.choice)}"
            )
        return layer
    layers = {layer.name: layer for layer in matrices_of.layers(annotated)}
    if wanted not in layers:
        example = f"Use layer={list(layers)[-1]!r}." if layers else None
        raise InputError(
            f"it has no layer {wanted!r}, only {', '.join(layers) or 'nothing to read'}",
            file=name,
            advice=did_you_mean(wanted, layers).strip() or example,
        )
    return layers[wanted]


def _no_weights(annotated: Any, layer: Layer, problem: str, name: str) -> InputError:
    """The error about a matrix that holds no weights, with one that could be read instead."""
    layers = matrices_of.layers(annotated)
    good = [each for each in layers if matrices_of.problem(each.matrix) is None]
    if good:
        advice = f"Read {good[0]}: {_call(name, good[0].choice)}"
    elif problem.startswith("missing"):
        advice = "Write 0 there, or leave out observations that lack values."
    elif not problem.startswith("negative"):
        advice = "Convert them to numbers."
    else:
        is_object, counts = name == ANNDATA_OBJECT, _call(name, 'layer="counts"')
        keep = 'run adata.layers["counts"] = adata.X.copy()' if is_object else "copy X to a layer"
        advice = (
            f"Pass the data as they were before scaling: none of {listed(layers, 9)} holds counts. "
            f"To keep them, {keep} before you scale, then use {counts}"
        )
    try:
        refuse_bad_weights(layer.matrix, layer.row_names, layer.column_names, name)
    except InputError as error:
        return InputError(error.args[0], file=name, advice=advice)
    return InputError(f"{layer} has {problem}", file=name, advice=advice)


def _call(name: str, choice: str) -> str:
    """How to choose a matrix: a call for an object; for a file the keyword, or option, alone."""
    return f"comarkov.read(adata, {choice})" if name == ANNDATA_OBJECT else choice


def read_h5ad(path: str | os.PathLike[str], name: str, max_bytes: int | None = None) -> Any:
    """An AnnData object from a file, all of which must be in it."""
    need("Reading h5ad files", "anndata", install="comarkov[anndata]")
    limit = unpacking_limit(Path(path), max_bytes)
    try:
        check_in_child("hdf5", Path(path), limit)
        import anndata

        return anndata.read_h5ad(path)
    except Exception as error:  # HDF5 files can be wrong in many ways, with an error for each
        problem, advice = reason(error), "Write it again with adata.write_h5ad."
        if isinstance(error, UnreadableError) and error.is_refused:
            advice = (
                f"If you trust it, raise the limit: max_bytes={10 * limit}."
                if "trap" in problem
                else "Only values in the file itself are read. If you trust it, write all of it "
                f"into one file: anndata.read_h5ad({name!r}).write_h5ad('copy.h5ad')"
            )
        else:
            problem = f"not a valid h5ad file: {problem}"
        raise InputError(problem, file=name, advice=advice) from error


# --- clusters written back --------------------------------------------------------------------


def write_h5ad(
    source: Any, target: str | os.PathLike[str] | None, model: Any, *, key: str = "comarkov"
) -> Any:
    """Write the clusters of a fitted model into an AnnData file.

    ``.obs[key]`` and ``.var[key]`` get the clusters of observations and variables as categories,
    missing where an element has none; ``.obs[key + "_confidence"]`` and the same column of
    ``.var`` their confidence; ``.uns[key]`` β, the cost and the numbers of clusters. If the model
    was fitted to ``.raw``, which may have other variables than X, ``.raw.var`` gets the clusters
    of all of them and ``.var`` those of the variables that it has, with a warning.

    Parameters
    ----------
    source : path or AnnData
        The data of the fit.
    target : path or None
        The file to write, which may be the source itself. It is written atomically: you get all
        of it or none. None annotates an AnnData object in place.
    model : CoClustering
        Fitted to the source.
    key : str, default="comarkov"
        The name of the new columns.

    Returns
    -------
    AnnData
        With the clusters.

    Examples
    --------
    >>> import anndata, comarkov, numpy as np
    >>> cells = anndata.AnnData(np.array([[3, 0, 1], [2, 0, 0], [0, 5, 4], [0, 2, 2]], dtype="f4"))
    >>> model = comarkov.CoClustering(2, random_state=0).fit(cells)
    >>> comarkov.write_h5ad(cells, None, model).obs["comarkov"].tolist()
    ['1', '1', '0', '0']
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
    raw: Any = getattr(annotated, "raw", None)
    sizes = []
    for side, names, table in (
        ("row", "row_names_in_", annotated.obs),
        ("column", "feature_names_in_", annotated.var),
    ):
        labels, fitted = getattr(model, f"{side}_labels_"), getattr(model, names, None)
        known = None if fitted is None else distinct(fitted)
        is_raw = side == "column" and raw is not None and not _matches(table, labels, known)
        whole = raw.var if is_raw else table
        if not _matches(whole, labels, known):
            raise InputError(
                f"The model was fitted to other data: its {labels.size:,} {side}s are not the "
                f"{len(table):,} here",
                advice="Fit it to these: model.fit(comarkov.read(source)).",
            )
        confidence = getattr(model, f"{side}_confidence_", None)
        _write_clusters(whole, key, labels, confidence, np.arange(labels.size))
        if is_raw:  # which may have other variables than X
            place = {name: i for i, name in enumerate(distinct(raw.var.index))}
            places = np.array([place.get(name, -1) for name in distinct(table.index)])
            _write_clusters(table, key, labels, confidence, places)
            _note_raw(key, labels.size, places)
        sizes.append(int(np.unique(labels[labels >= 0]).size))
    annotated.uns[key] = {"beta": model.beta_, "cost": model.cost_, "n_clusters": np.array(sizes)}


def _matches(table: Any, labels: np.ndarray, names: list[str] | None) -> bool:
    """Are the elements of a fit those of a table, in the same order?"""
    return len(table) == labels.size and names in (None, distinct(table.index))


def _write_clusters(
    table: Any, key: str, labels: np.ndarray, confidence: np.ndarray | None, places: np.ndarray
) -> None:
    """Add columns to a table; ``places`` are the elements of its lines, -1 for none."""
    import pandas as pd

    present = np.unique(labels[labels >= 0])
    own = np.where(places >= 0, labels[places], -1)
    codes = np.where(own >= 0, np.searchsorted(present, own), -1)
    table[key] = pd.Categorical.from_codes(codes, categories=[str(label) for label in present])
    if confidence is not None:
        table[f"{key}_confidence"] = np.where(places >= 0, confidence[places], np.nan)


def _note_raw(key: str, size: int, places: np.ndarray) -> None:
    missing = int((places < 0).sum())
    warn_user(
        f"The model was fitted to the {size:,} variables of .raw, and X has {places.size:,}: "
        f".raw.var[{key!r}] has all column clusters, .var[{key!r}] those of "
        f"{places.size - missing:,} variables"
        + (f"; {missing:,} that .raw does not have are left empty." if missing else ".")
    )
