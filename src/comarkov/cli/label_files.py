"""Clusters and known classes by name: from results, tables, AnnData files and folders of texts."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..io.files import SUMMARY, is_results
from ..joint.messages import quote

if TYPE_CHECKING:
    from ..io.read.naming import Labels


NOWHERE = ("", "-1")  # in no cluster
SIDES = ("rows", "columns")


def clusters_in(path: Path, column: str | None, side: str) -> Labels:
    """The clusters in a table, or those of the rows or columns of a folder of results."""
    from ..io.read.naming import read_labels

    return read_labels(_table_of(path, side) if path.is_dir() else path, None, column)


def _table_of(folder: Path, side: str) -> Path:
    """The table of a side in a folder of results; of a chain, that of its states."""
    states, table = folder / "states.csv", folder / f"{side}.csv"
    if not states.exists() and not table.exists() and is_results(folder):
        _refuse_types(folder)
    return states if states.exists() else table


def _refuse_types(folder: Path) -> None:
    """An error about results of several types, each of which has a table of its own."""
    about = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    files = [str(folder / each["file"]) for each in about.get("types", {}).values()]
    if files:
        raise ValueError(
            f"{folder} holds results of multi, which evaluate does not take. Give the table of "
            f"one type: {' or '.join(files)}."
        )


def titles_in(path: Path, side: str) -> dict[str, str]:
    """The titles of clusters, by their number, of a folder of results."""
    from ..io.read.naming import read_labels

    if not is_results(path):
        return {}
    try:
        by_cluster = read_labels(_table_of(path, side), "cluster", "title").by_name
    except ValueError:  # results of an earlier version have no titles
        return {}
    return by_cluster


def classes_in(truth: str | None, column: str | None, side: str, labels: Path) -> Labels:
    """The known classes in TRUTH; if there is none, those of the data that were clustered."""
    if truth is None or (not Path(truth).exists() and is_results(labels)):
        return _chosen(*_in_results(labels, side), column if truth is None else truth)
    path = Path(truth)
    if path.is_dir() and not is_results(path):
        return _chosen(*_in_folder(path), column)
    if path.suffix.lower() == ".h5ad":
        return _chosen(*_in_anndata(path, column, side), column)
    return clusters_in(path, column, side)


Known = tuple[str, Sequence[str], dict[str, np.ndarray]]  # source, names, classifications


def _in_results(out: Path, side: str) -> Known:
    from ..io.read import read

    if not is_results(out):
        raise ValueError(
            f"{out} is not a folder of results, so it has no known classes. Give a file with "
            f"them: comarkov evaluate {out} classes.csv"
        )
    data = read(out)
    names = data.row_names if side == "rows" else data.column_names
    classes = data.row_classes if side == "rows" else data.column_classes
    if not classes:
        raise ValueError(
            f"{out} has no known classes of {side}. Give a file with them: comarkov evaluate {out} "
            "classes.csv"
        )
    return str(out), names.tolist(), classes


def _in_folder(folder: Path) -> Known:
    from ..io.read.texts import folder_classes, names_in

    names = names_in(folder)
    classes = folder_classes(names)
    if not classes:
        raise ValueError(
            f"{folder} has no subfolders that could be classes. Give a file with names and classes."
        )
    return str(folder), names, classes


def _in_anndata(path: Path, column: str | None, side: str) -> Known:
    from ..io.read.classes import of_table
    from ..io.read.h5ad import read_h5ad
    from ..io.read.naming import distinct

    annotated = read_h5ad(path, str(path))
    table, part = (annotated.obs, ".obs") if side == "rows" else (annotated.var, ".var")
    classes = of_table(table, None if column is None else [column])
    if not classes:
        columns = ", ".join(map(str, table.columns)) or "none"
        raise ValueError(
            f"{part} of {path} has no column {quote(column)}. Choose one with --truth-column: "
            f"{columns}."
            if column is not None
            else f"{part} of {path} has no column of 2 to 50 categories. Choose one with "
            f"--truth-column: {columns}."
        )
    return str(path), distinct(table.index) or [], classes


def _chosen(
    source: str, names: Sequence[str], classes: dict[str, np.ndarray], column: str | None
) -> Labels:
    """One of several classifications: the one that is asked for, or the first, with a note."""
    from ..io.read.naming import Labels

    if column is None:
        column, *others = classes
        if others:
            warnings.warn(
                f"The classes are {quote(column)}. {source} also has {', '.join(others)}: choose "
                "with "
                f"--truth-column {others[0]}.",
                stacklevel=2,
            )
    column = column.removeprefix("obs:").removeprefix("var:")
    if column not in classes:
        raise ValueError(
            f"There is no file {quote(column)}, and {source} has no classes of that name. Choose "
            "one of "
            f"these: {', '.join(classes)}."
        )
    values = ["" if value is None or value != value else str(value) for value in classes[column]]
    return Labels(column, dict(zip(names, values, strict=True)))


def joined(clusters: dict[str, str], classes: dict[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Classes and clusters of the names that have a class; -1 for those in no cluster."""
    common = [name for name, label in classes.items() if label and name in clusters]
    if not common:
        ours, theirs = (", ".join(map(repr, list(names)[:2])) for names in (clusters, classes))
        raise ValueError(
            f"No name has both a cluster and a class. There are clusters of {ours}, ..., and "
            f"classes of {theirs}, ... Give a file of classes with the same names."
        )
    cluster = ["-1" if clusters[name] in NOWHERE else clusters[name] for name in common]
    return np.array([classes[name] for name in common]), np.array(cluster)


def classes_of(names: Sequence[str], path: Path, column: str | None = None) -> np.ndarray:
    """The known class of each name, or an error that names one that is missing."""
    from ..io.read.naming import read_labels

    known = read_labels(path, None, column, known=set(names)).by_name
    missing = [name for name in names if name not in known]
    if missing:
        others = f" and {len(missing) - 1:,} others" if len(missing) > 1 else ""
        raise ValueError(
            f"{path} has no class for {quote(missing[0])}{others}. Add a line for each to the file."
        )
    return np.array([known[name] for name in names])
