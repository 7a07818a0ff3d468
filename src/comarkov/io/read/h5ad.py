"""AnnData: observations x variables in, clusters back into its tables."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...joint import objects as matrices_of
from ...joint.messages import need, warn_user
from ...joint.objects import Layer, is_anndata
from ..files import whole_file
from ..isolation import UnreadableError, check_in_child
from .data import Data
from .matrices import named_errors, refuse_bad_weights
from .naming import distinct
from .opened import unpacking_limit
from .raw_tables import reason

OBJECT = "the AnnData object"


def from_anndata(annotated: Any, layer: str | None = None, name: str = OBJECT) -> Data:
    """X of an AnnData object, or another of its matrices, with the names of its sides.

    ``layer`` is the key of a layer, "raw" or "X". Without it X is read; if X has negative values,
    as scaled data do, the counts in a layer or in ``.raw`` are, with a warning.
    """
    chosen = _chosen(annotated, layer, name)
    rows, columns = (distinct(side) for side in (chosen.row_names, chosen.column_names))
    if matrices_of.problem(chosen.matrix) is not None:
        _refuse(annotated, chosen, name)
    reading = {} if chosen.name == matrices_of.X else {"layer": chosen.name}
    return named_errors(
        name,
        lambda: Data(
            chosen.matrix, rows, columns, "observation", "variable", name, reading=reading
        ),
    )


def _chosen(annotated: Any, wanted: str | None, name: str) -> Layer:
    """The matrix that the user wants, or the one that holds weights."""
    if wanted is None:
        chosen = matrices_of.weights_of(annotated)
        if chosen.name != matrices_of.X and matrices_of.problem(chosen.matrix) is None:
            warn_user(_note(annotated, chosen, name))
        return chosen
    every = matrices_of.layers(annotated)
    for layer in every:
        if layer.name == wanted:
            return layer
    names = [layer.name for layer in every]
    known = ", ".join(names) or "nothing to read"
    similar = get_close_matches(wanted, names, n=1)
    advice = f" Did you mean layer={similar[0]!r}?" if similar else ""
    if names and not similar:
        advice = f" Choose one of these, for example layer={names[-1]!r}."
    raise ValueError(f"{_sentence(name)} has no layer {wanted!r}, only {known}.{advice}")


def _note(annotated: Any, chosen: Layer, name: str) -> str:
    x = annotated.X
    why = "is missing" if x is None else f"has {matrices_of.problem(matrices_of.in_memory(x))}"
    scaled = ", as scaled data do" if "negative" in why else ""
    return (
        f"{_sentence(name)}: X {why}{scaled}, so {chosen} is used instead. "
        f"Choose it to silence this note: {_call(name, chosen.choice)}"
    )


def _refuse(annotated: Any, chosen: Layer, name: str) -> None:
    """Raise for a matrix that holds no weights, with the matrices that could be read instead."""
    every = matrices_of.layers(annotated)
    good = [layer for layer in every if matrices_of.problem(layer.matrix) is None]
    if good:
        advice = f"read {good[0]}: {_call(name, good[0].choice)}"
    else:
        listed = ", ".join(str(layer) for layer in every)
        advice = f"none of its matrices ({listed}) is free of such values. {_remedy(chosen, name)}"
    try:
        refuse_bad_weights(chosen.matrix, chosen.row_names, chosen.column_names, _sentence(name))
    except ValueError as error:
        raise ValueError(f"{error} Weights are counts or other amounts; {advice}") from error
    raise ValueError(
        f"{_sentence(name)}: {chosen} has {matrices_of.problem(chosen.matrix)}; {advice}"
    )


def _remedy(chosen: Layer, name: str) -> str:
    """What to do if no matrix holds weights, neither a layer nor ``.raw``."""
    problem = matrices_of.problem(chosen.matrix) or ""
    if problem.startswith("missing"):
        return "Write 0 where nothing was observed, or leave out observations that lack values."
    if not problem.startswith("negative"):
        return "Convert them to numbers."
    counts = _call(name, 'layer="counts"')
    if name == OBJECT:
        return (
            "Pass the data as they were before scaling. To keep them, run "
            f'adata.layers["counts"] = adata.X.copy() before you scale, then {counts}'
        )
    return (
        'Write the data as they were before scaling. To keep them, copy X to a layer "counts" '
        f"before you scale, and choose it: {counts}"
    )


def _call(name: str, choice: str) -> str:
    """How to choose a matrix: a call for an object; for a file the keyword, or option, alone."""
    return f"comarkov.read(adata, {choice})" if name == OBJECT else choice


def _sentence(name: str) -> str:
    return name[0].upper() + name[1:] if name == OBJECT else name


def read_h5ad(path: str | os.PathLike[str], name: str, max_bytes: int | None = None) -> Any:
    """An AnnData object from a file, all of which must be in it."""
    need("Reading h5ad files", "anndata", install="comarkov[anndata]")
    limit = unpacking_limit(Path(path), max_bytes)
    try:
        check_in_child("hdf5", Path(path), limit)
    except UnreadableError as error:
        raise ValueError(_unreadable(error, name, limit)) from error
    import anndata

    try:
        return anndata.read_h5ad(path)
    except Exception as error:  # HDF5 files can be wrong in many ways, with an error for each
        raise ValueError(f"{name} is not a valid h5ad file: {reason(error)}.") from error


def _unreadable(error: UnreadableError, name: str, limit: int) -> str:
    """What is wrong with a file that is damaged, or whose values are elsewhere."""
    if not error.is_refused:
        return f"{name} is not a valid h5ad file: {error}. Write it again with adata.write_h5ad."
    if "trap" in str(error):
        return f"{name}: {error}. If you trust it, raise the limit: max_bytes={10 * limit}."
    return (
        f"{name}: {error}. Only values in the file itself are read. If you trust it, write all of "
        f"it into one file: anndata.read_h5ad({name!r}).write_h5ad('copy.h5ad')"
    )


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


class Side(NamedTuple):
    """The clusters of one side of a model, with the names that their elements had in the fit."""

    what: str
    labels: np.ndarray
    confidence: np.ndarray | None
    names: list[str] | None

    @classmethod
    def of(cls, model: Any, what: str, names: str) -> Side:
        """One side of a fitted model."""
        labels = getattr(model, f"{what}_labels_")
        confidence = getattr(model, f"{what}_confidence_", None)
        return cls(what, labels, confidence, distinct(getattr(model, names, None)))

    def matches(self, table: Any) -> bool:
        """Are the elements those of a table, in the same order?"""
        is_same_size = len(table) == self.labels.size
        return is_same_size and (self.names is None or distinct(table.index) == self.names)

    def write(self, table: Any, key: str, places: np.ndarray) -> None:
        """Add columns to a table; ``places`` are the elements of its lines, -1 for none."""
        import pandas as pd

        present = np.unique(self.labels[self.labels >= 0])
        labels = np.where(places >= 0, self.labels[places], -1)
        table[key] = pd.Categorical.from_codes(
            np.where(labels >= 0, np.searchsorted(present, labels), -1),
            categories=[str(label) for label in present],
        )
        if self.confidence is not None:
            table[f"{key}_confidence"] = np.where(places >= 0, self.confidence[places], np.nan)


def _annotate(annotated: Any, model: Any, key: str) -> None:
    rows = Side.of(model, "row", "row_names_in_")
    columns = Side.of(model, "column", "feature_names_in_")
    raw: Any = getattr(annotated, "raw", None)
    is_raw = raw is not None and not columns.matches(annotated.var) and columns.matches(raw.var)
    for side, table in ((rows, annotated.obs), (columns, raw.var if is_raw else annotated.var)):
        if not side.matches(table):
            raise ValueError(
                f"The model was fitted to other data: its {side.labels.size:,} {side.what}s are "
                f"not the {len(table):,} here. Fit it to these: model.fit(comarkov.read(source))."
            )
    rows.write(annotated.obs, key, np.arange(rows.labels.size))
    columns.write(raw.var if is_raw else annotated.var, key, np.arange(columns.labels.size))
    if is_raw:
        _write_common(annotated, columns, key)
    counts = [int(np.unique(side.labels[side.labels >= 0]).size) for side in (rows, columns)]
    annotated.uns[key] = {"beta": model.beta_, "cost": model.cost_, "n_clusters": np.array(counts)}


def _write_common(annotated: Any, columns: Side, key: str) -> None:
    """The clusters of ``.raw`` for the variables that X has, too."""
    place = {name: i for i, name in enumerate(columns.names or [])}
    places = np.array([place.get(name, -1) for name in distinct(annotated.var_names) or []])
    columns.write(annotated.var, key, places)
    missing = int((places < 0).sum())
    warn_user(
        f"The model was fitted to the {columns.labels.size:,} variables of .raw, and X has "
        f"{places.size:,}: .raw.var[{key!r}] has all column clusters, .var[{key!r}] those of "
        f"{places.size - missing:,} variables"
        + (f"; {missing:,} that .raw does not have are left empty." if missing else ".")
    )
