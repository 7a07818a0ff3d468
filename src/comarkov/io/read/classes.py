"""Known classes of rows and columns: from columns of the source, files or Python objects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...joint.messages import warn_user
from .data import Data
from .naming import Labels, as_file, as_objects, looked_up, read_labels

if TYPE_CHECKING:
    import polars as pl

    from .raw_tables import RawTable


MOST = 50  # different values of a column that is taken for classes without being asked
OWN = "comarkov"  # columns of clusters that we wrote ourselves begin with this
SIDES = ("row", "column")


def as_choice(classes: Any) -> Any:
    """What a user gives as classes: a mapping, or a list of files and names of columns.

    A series is a mapping of its index. A text with commas is a list.
    """
    if classes is None or isinstance(classes, Mapping):
        return classes
    if isinstance(classes, os.PathLike | tuple):
        return [classes]
    if isinstance(classes, str):
        return [classes] if _is_file(classes) else [part.strip() for part in classes.split(",")]
    if hasattr(classes, "to_dict"):
        return {str(getattr(classes, "name", None) or "class"): dict(classes.items())}
    return list(classes)


def columns_in(choice: Any) -> list[str]:
    """The columns of the source that a choice names."""
    if not isinstance(choice, list):
        return []
    names = [str(each) for each in choice if not _is_file(each)]
    return [name.removeprefix("obs:").removeprefix("var:") for name in names]


def _is_file(choice: Any) -> bool:
    return isinstance(choice, os.PathLike | tuple) or Path(as_file(choice).path).is_file()


def chosen_columns(
    columns: Mapping[str, Iterable[Any]], choice: Any, size: int
) -> dict[str, np.ndarray]:
    """Those columns that a choice names; if there is none, those that hold classes by their look.

    They have 2 to 50 different values, each of which two rows share on average.
    """
    if choice is not None:
        return {name: as_objects(columns[name]) for name in columns_in(choice) if name in columns}
    listed = {name: list(values) for name, values in columns.items() if not name.startswith(OWN)}
    return {
        name: as_objects(values)
        for name, values in listed.items()
        if 2 <= len(set(map(str, values)) - {"", "nan", "None"}) <= min(MOST, size // 2)
    }


def of_anndata(data: Data, annotated: Any, choices: tuple[Any, Any]) -> Data:
    """Data with the classes in the columns of ``.obs`` and ``.var``, or of ``.raw.var``."""
    variables = annotated.var
    if len(variables) != data.shape[1]:  # the matrix is that of .raw
        variables = annotated.raw.var
    tables = annotated.obs, variables
    rows, columns = (of_table(table, choice) for table, choice in zip(tables, choices, strict=True))
    return replace(data, row_classes=rows, column_classes=columns)


def of_table(table: Any, choice: Any) -> dict[str, np.ndarray]:
    """The classes in the columns of a pandas data frame."""
    return chosen_columns(_categories(table, choice), choice, len(table))


def _categories(table: Any, choice: Any) -> dict[str, Iterable[Any]]:
    """The columns of a data frame that hold categories, or all of them if one is chosen."""
    return {
        str(name): table[name]
        for name in table.columns
        if choice is not None or not hasattr(table[name].dtype, "kind") or _holds_names(table[name])
    }


def _holds_names(column: Any) -> bool:
    return column.dtype.kind in "ObU" or str(column.dtype) == "category"


def of_elements(
    table: RawTable, element: str, columns: Iterable[str], names: np.ndarray
) -> dict[str, np.ndarray]:
    """The classes in columns of an edge list: for each element that of most of its edges."""
    import polars as pl

    classes = {}
    for name in columns:
        if name not in table.columns:
            raise _no_such(name, table.name, table.columns)
        field = table.field(name, "row_classes")
        pairs = table.frame.select(
            pl.col(element).cast(pl.String).str.strip_chars().alias("id"),
            pl.col(field).cast(pl.String).alias("class"),
        )
        counts = pairs.drop_nulls().group_by("id", "class").len().collect()
        by_name = _most_frequent(counts, table.name, name)
        classes[name] = looked_up(Labels(name, by_name), names)
    return classes


def _most_frequent(counts: pl.DataFrame, source: str, column: str) -> dict[str, str]:
    ordered = counts.sort(["len", "class"], descending=[False, True])
    by_name = dict(zip(ordered["id"].to_list(), ordered["class"].to_list(), strict=True))
    several = len(counts) - len(by_name)
    if several:
        warn_user(
            f"{source}, column {column}: some elements have several classes. The most frequent one "
            "is taken for each."
        )
    return by_name


def classified(data: Data, ids: Data, choices: tuple[Any, Any], encoding: str | None) -> Data:
    """Data with the classes in files or mappings; ``ids`` has the names before renaming."""
    if choices == (None, None):
        return data
    rows, columns = (
        _chosen(data, ids, side, choice, encoding)
        for side, choice in zip(SIDES, choices, strict=True)
    )
    return replace(data, row_classes=rows, column_classes=columns)


def _chosen(
    data: Data, ids: Data, side: str, choice: Any, encoding: str | None
) -> dict[str, np.ndarray]:
    """All classes of one side."""
    names = getattr(ids, f"{side}_names"), getattr(data, f"{side}_names")
    classes: dict[str, np.ndarray] = getattr(data, f"{side}_classes")
    if choice is None:
        return classes
    if isinstance(choice, Mapping):
        return _of_mapping(choice, names)
    columns = columns_in(choice)
    for name in columns:
        if name not in classes:
            raise _no_such(name, data.source or "the source", list(classes))
    files = (each for each in choice if _is_file(each))
    from_files = dict(_of_file(file, names, f"{side}_classes", encoding) for file in files)
    return {name: classes[name] for name in columns} | from_files


def _of_mapping(choice: Mapping[Any, Any], names: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """Classes by the name of the classification: a list in order, or a mapping of names."""
    if not any(isinstance(value, Mapping | list | tuple | np.ndarray) for value in choice.values()):
        choice = {"class": choice}
    return {
        str(title): looked_up(Labels("", {str(k): str(v) for k, v in classes.items()}), *names)
        if isinstance(classes, Mapping)
        else classes
        for title, classes in choice.items()
    }


def _of_file(
    choice: Any, names: tuple[np.ndarray, ...], role: str, encoding: str | None
) -> tuple[str, np.ndarray]:
    file = as_file(choice)
    known = {name for listed in names for name in listed.tolist()}
    labels = read_labels(Path(file.path), file.key, file.name, encoding=encoding, known=known)
    classes = looked_up(labels, *names)
    if not (classes != "").any():
        theirs = ", ".join(map(repr, list(labels.by_name)[:3]))
        ours = ", ".join(map(repr, names[-1][:3]))
        raise ValueError(
            f"{file.path} has a class for none of the names {ours}, ... It has classes for "
            f'{theirs}, ... Name its columns, for example {role}="{file.path}:name:class".'
        )
    return labels.title, classes


def _no_such(name: str, source: str, columns: list[str]) -> ValueError:
    choice = (
        f"Choose one of its columns ({', '.join(columns[:10])}), or give" if columns else "Give"
    )
    return ValueError(
        f"There is no file {name!r}, and {source} has no column of that name with classes. "
        f"{choice} a file with names and classes, such as classes.csv."
    )
