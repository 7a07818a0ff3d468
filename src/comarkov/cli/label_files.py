"""Labels by name, from CSV files: clusters of a fit, and known classes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

LABELS = ("cluster", "class", "label", "topic", "group", "genre")  # what such a column is called
NOWHERE = ("", "-1")  # in no cluster


def read_labels(path: Path, column: str | None, encoding: str = "utf-8") -> dict[str, str]:
    """The label of each name in a file of commas, semicolons or tabs that has a header.

    Names are in the column "name" or else in the first; labels in the given column, or in one
    that is called so, or in the second.
    """
    try:
        text = path.read_text(encoding=encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not encoded in {encoding} (byte {error.start}).") from None
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    table = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header = next(table, [])
    if len(header) < 2:
        raise ValueError(f"{path} needs a header and two columns, of names and of labels.")
    at = header.index("name") if "name" in header else 0
    label = _label_column(path, header, column, at)
    labels: dict[str, str] = {}
    for line in table:
        if len(line) != len(header):
            raise ValueError(
                f"{path}, line {table.line_num}: {len(line)} columns where the header has "
                f"{len(header)}."
            )
        if line[at] in labels and labels[line[at]] != line[label]:
            raise ValueError(
                f"{path}, line {table.line_num}: {line[at]!r} has two labels, "
                f"{labels[line[at]]!r} and {line[label]!r}."
            )
        labels[line[at]] = line[label]
    if not labels:
        raise ValueError(f"{path} has no lines below its header.")
    return labels


def _label_column(path: Path, header: Sequence[str], wanted: str | None, names: int) -> int:
    if wanted is not None:
        if wanted not in header:
            raise ValueError(f"{path} has no column {wanted!r}: it has {', '.join(header)}.")
        return header.index(wanted)
    known = [header.index(name) for name in LABELS if name in header]
    return known[0] if known else next(i for i in range(len(header)) if i != names)


def joined(clusters: dict[str, str], classes: dict[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Classes and clusters of the names that have a class; -1 for those in no cluster."""
    common = [name for name in classes if name in clusters]
    if not common:
        raise ValueError("The two files have no name in common.")
    numbers: dict[str, int] = {}
    cluster = [
        -1 if clusters[name] in NOWHERE else numbers.setdefault(clusters[name], len(numbers))
        for name in common
    ]
    return np.array([classes[name] for name in common]), np.array(cluster)


def classes_of(names: Sequence[str], path: Path, column: str | None = None) -> np.ndarray:
    """The known class of each name, or an error that names one that is missing."""
    known = read_labels(path, column)
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(
            f"{path} has no class for {missing[0]!r}"
            + (f" and {len(missing) - 1:,} others." if len(missing) > 1 else ".")
        )
    return np.array([known[name] for name in names])
