"""Clusters and known classes by name: from results, tables, AnnData files and folders of texts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.files import SUMMARY, errors_in_json, is_results, read_json
from ..joint.messages import InputError, listed, quote

if TYPE_CHECKING:
    from ..io.read.naming import Labels


NO_CLUSTER = ("", "-1")


def clusters_in(path: Path, column: str | None, side: str) -> Labels:
    """The clusters in a table, or those of the rows or columns of a folder of results."""
    from ..io.read.naming import read_labels

    return read_labels((_table_of(path, side) if path.is_dir() else path, None, column))


def _table_of(folder: Path, side: str) -> Path:
    """The table of a side in a folder of results; of a chain, that of its states."""
    states, table = folder / "states.csv", folder / f"{side}.csv"
    if states.exists():
        return states
    if not table.exists() and is_results(folder):
        with errors_in_json(folder / SUMMARY):
            types = read_json(folder / SUMMARY).get("types", {})
            files = [str(folder / each["file"]) for each in types.values()]
        raise InputError(
            "it holds results of multi, which evaluate does not take",
            file=folder,
            advice=f"Give the table of one type: {' or '.join(files)}.",
        )
    return table


def titles_in(path: Path, side: str) -> dict[str, str]:
    """The titles of clusters, by their number, of a folder of results."""
    from ..io.read.naming import read_labels

    if not is_results(path):
        return {}
    try:
        return read_labels((_table_of(path, side), "cluster", "title")).by_name
    except ValueError:  # results of an earlier version have no titles
        return {}


def classes_in(truth: str | None, column: str | None, side: str, labels: Path) -> Labels:
    """The known classes in TRUTH; if there is none, those of the data that were clustered."""
    if truth is None or (not Path(truth).exists() and is_results(labels)):
        return _classes_of_data(labels, column if truth is None else truth, side)
    path = Path(truth)
    if path.suffix.lower() == ".h5ad" or (path.is_dir() and not is_results(path)):
        return _classes_of_data(path, column, side)
    return clusters_in(path, column, side)


def _classes_of_data(path: Path, column: str | None, side: str) -> Labels:
    """One classification of a folder of results or texts, or of an AnnData file."""
    from ..io.read import read
    from ..io.read.naming import Labels

    what = side.removesuffix("s")
    column = column and column.removeprefix("obs:").removeprefix("var:")
    keywords: dict[str, Any] = {}
    if path.suffix.lower() == ".h5ad":
        keywords = {} if column is None else {f"{what}_classes": [column]}
    elif not is_results(path):  # texts, of which only the names and folders matter
        keywords = {"min_df": 1, "stop_words": "none"}
    data = read(path, **keywords) if path.is_dir() or path.suffix.lower() == ".h5ad" else None
    classes: dict[str, Any] = getattr(data, f"{what}_classes", {})
    if column is None and len(classes) > 1:
        column, *others = classes
        warnings.warn(
            f"The classes are {quote(column)}. {path} also has {', '.join(others)}: choose with "
            f"--truth-column {others[0]}.",
            stacklevel=2,
        )
    title = next(iter(classes), "") if column is None else column
    if title not in classes:
        known = f"Choose one of {listed(classes, 99)}, or give" if classes else "Give"
        raise InputError(
            f"no known classes of {side}" + (f" called {quote(column)}" if column else ""),
            file=path,
            advice=f"{known} a file with names and classes: comarkov evaluate OUT classes.csv",
        )
    return Labels(title, dict(zip(getattr(data, f"{what}_names"), classes[title], strict=True)))


def join(clusters: dict[str, str], classes: dict[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Classes and clusters of the names that have a class; -1 for those in no cluster."""
    common = [name for name, label in classes.items() if label and name in clusters]
    if not common:
        ours, theirs = (listed(map(repr, names)) for names in (clusters, classes))
        raise InputError(
            f"No name has both a cluster and a class: clusters of {ours}; classes of {theirs}",
            advice="Give a file of classes with the same names.",
        )
    cluster = ["-1" if clusters[name] in NO_CLUSTER else clusters[name] for name in common]
    return np.array([classes[name] for name in common]), np.array(cluster)


def classes_of(names: Sequence[str], path: Path, column: str | None = None) -> np.ndarray:
    """The known class of each name, or an error that names one that is missing."""
    from ..io.read.naming import read_labels

    known = read_labels((path, None, column), known=set(names)).by_name
    missing = [quote(name) for name in names if name not in known]
    if missing:
        problem = f"it has no class for {listed(missing)}"
        raise InputError(problem, file=path, advice="Add a line for each to the file.")
    return np.array([known[name] for name in names])
