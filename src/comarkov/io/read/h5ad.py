"""AnnData: observations x variables in, clusters back into its tables."""

from __future__ import annotations

import os
import re
import struct
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from ...joint import objects as matrices_of
from ...joint.messages import InputError, need, warn_user
from ...joint.objects import Layer, is_anndata
from ..files import whole_file
from ..read_options import ReadOptions
from .data import Data, errors_in, refuse_bad_weights
from .naming import distinct, frame_classes
from .opened import Opened, unpacking_limit
from .raw_tables import reason

ANNDATA_OBJECT = "the AnnData object"
#: Strings in HDF5 files: the size of all, then of each its number, or 0 at the end, and its size.
HEAP, HEAP_OBJECT = re.compile(rb"GCOL\x01\0\0\0(.{8})", re.DOTALL), struct.Struct("<H6xQ")


def from_anndata(annotated: Any, options: ReadOptions, name: str = ANNDATA_OBJECT) -> Data:
    """X of an AnnData object, or the layer that the user wants, with names and classes."""
    layers = matrices_of.layers(annotated)
    wanted = options.layer or "X"
    if wanted not in layers:
        similar = [*get_close_matches(wanted, layers, n=1), *layers, "counts"][0]
        have = ", ".join(layers) or "nothing to read"
        advice = f"Use layer={similar!r}."
        raise InputError(f"it has no layer {wanted!r}, only {have}", file=name, advice=advice)
    layer = layers[wanted]
    try:
        refuse_bad_weights(layer.matrix, layer.row_names, layer.column_names, name)
    except InputError as error:
        error.advice = _advice(layers, "negative" in error.args[0], name)
        raise
    rows, columns = distinct(layer.row_names), distinct(layer.column_names)
    reading = {} if wanted == "X" else {"layer": wanted}
    with errors_in(name):
        data = Data(layer.matrix, rows, columns, "observation", "variable", name, reading=reading)
    if not hasattr(annotated, "obs"):  # .raw alone
        return data
    variables = annotated.var if len(annotated.var) == data.shape[1] else annotated.raw.var
    rows = frame_classes(annotated.obs, options.row_classes, ".obs")
    columns = frame_classes(variables, options.column_classes, ".var")
    return replace(data, row_classes=rows, column_classes=columns)


def from_h5ad(file: Opened, options: ReadOptions) -> Data:
    """An AnnData file."""
    return from_anndata(_load(file, options.max_bytes), options, file.name)


def _advice(layers: dict[str, Layer], is_scaled: bool, name: str) -> str:
    """What to read instead of a matrix that holds no weights."""
    good = [key for key, each in layers.items() if matrices_of.are_weights(each.matrix)]
    if not good and not is_scaled:
        return "Write 0 where values are missing."
    choice = f'layer="{[*good, "counts"][0]}"'
    call = f"comarkov.read(adata, {choice})" if name == ANNDATA_OBJECT else choice
    return f"Pass the data as they were before scaling: {call}"


def _load(file: Opened, max_bytes: int | None = None) -> Any:
    """An AnnData object from a file, all of which must be in it."""
    need("Reading h5ad files", "anndata", install="comarkov[anndata]")
    try:
        _refuse_endless_heaps(file)
        _refuse_other_files(file, unpacking_limit(file.path, max_bytes))
        import anndata

        return anndata.read_h5ad(file.path)
    except InputError:
        raise
    except Exception as error:  # HDF5 files can be wrong in many ways, with an error for each
        problem = f"not a valid h5ad file: {reason(error)}"
        advice = "Write it again with adata.write_h5ad."
        raise InputError(problem, file=file.name, advice=advice) from error


def _refuse_endless_heaps(file: Opened) -> None:
    """An error about strings of which HDF5 would never find the end: the next is at their place."""
    for heap in HEAP.finditer(file.content):
        place, end = heap.end(), heap.start() + int.from_bytes(heap[1], "little")
        while place + HEAP_OBJECT.size <= min(end, len(file.content)):
            index, size = HEAP_OBJECT.unpack_from(file.content, place)
            step = size if index == 0 else HEAP_OBJECT.size + -(-size // 8) * 8
            if not 0 < step <= end - place:
                raise ValueError("the places of its strings are wrong")
            place += step


def _refuse_other_files(file: Opened, limit: int) -> None:
    """An error about values that are in other files, or claim more than ``limit`` bytes."""
    import h5py

    size = 0

    def visit(place: str, member: Any) -> None:
        nonlocal size
        problem = ""
        if isinstance(member, h5py.Group):
            links = {key: member.get(key, getlink=True) for key in member}
            outside = [key for key, link in links.items() if isinstance(link, h5py.ExternalLink)]
            problem = f"{place}/{outside[0]} is a link to another file" if outside else ""
        elif isinstance(member, h5py.Dataset):
            plan = member.id.get_create_plist()
            is_virtual = plan.get_layout() == h5py.h5d.VIRTUAL
            problem = f"{place} is in another file" * bool(is_virtual or plan.get_external_count())
            size += (member.size or 0) * member.dtype.itemsize
            if size > limit:
                problem = f"its data sets claim more than {limit:,} bytes, which may be a trap"
        if problem:
            advice = "If you trust it, read it yourself: comarkov.read(anndata.read_h5ad(path))."
            raise InputError(problem, file=file.name, advice=advice)

    with h5py.File(file.path, "r") as content:
        visit("", content)
        content.visititems(lambda place, member: visit(f"/{place}", member))


def write_h5ad(
    source: Any, target: str | os.PathLike[str] | None, model: Any, *, key: str = "comarkov"
) -> Any:
    """Write the clusters of a fitted model into an AnnData file.

    ``.obs[key]`` and ``.var[key]`` get the clusters of observations and variables as categories,
    missing where an element has none; ``.obs[key + "_confidence"]`` and the same column of
    ``.var`` their confidence; ``.uns[key]`` β, the cost and the counts of clusters. If the model
    was fitted to ``.raw`` with other variables than X, ``.raw.var`` gets the clusters of
    variables, with a warning.

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
        path = Path(source)
        annotated = _load(Opened(str(source), path, path.suffix))
    _annotate(annotated, model, key)
    if target is not None:
        with whole_file(target) as draft:
            annotated.write_h5ad(draft)
    return annotated


def _annotate(annotated: Any, model: Any, key: str) -> None:
    from pandas import Categorical

    raw: Any = getattr(annotated, "raw", None)  # which may have other variables than X
    columns = [annotated.var] if raw is None else [annotated.var, raw.var]
    sizes = []
    for side, names, tables in (
        ("row", "row_names_in_", [annotated.obs]),
        ("column", "feature_names_in_", columns),
    ):
        labels, fitted = getattr(model, f"{side}_labels_"), getattr(model, names, None)
        known = None if fitted is None else distinct(fitted)
        same = [table for table in tables if len(table) == labels.size]
        matching = [table for table in same if known in (None, distinct(table.index))]
        if not matching:
            fact = f"its {labels.size:,} {side}s are not the {len(tables[0]):,} here"
            advice = "Fit it to these: model.fit(comarkov.read(source))."
            raise InputError(f"The model was fitted to other data: {fact}", advice=advice)
        present = np.unique(labels[labels >= 0])
        codes = np.where(labels >= 0, np.searchsorted(present, labels), -1)
        matching[0][key] = Categorical.from_codes(codes, categories=list(map(str, present)))
        if (confidence := getattr(model, f"{side}_confidence_", None)) is not None:
            matching[0][f"{key}_confidence"] = confidence
        if matching[0] is not tables[0]:
            warn_user(
                f"The model was fitted to .raw, so .raw.var[{key!r}] has the column clusters."
            )
        sizes.append(present.size)
    annotated.uns[key] = {"beta": model.beta_, "cost": model.cost_, "n_clusters": np.array(sizes)}
