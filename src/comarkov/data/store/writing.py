"""Writing a store from data in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...kernels.matrix import Matrix
from ..joint import Joint, joint
from ..reading.data import Data
from ..reading.npz import Annotations
from .arrays import Written, write_array
from .layout import ARRAYS, COLUMNS, NAMES, ROWS, Description
from .names import write_annotations, write_names


def write_data(data: Data, folder: Path) -> None:
    """Write data in memory as a store, into an existing folder."""
    matrix = joint(data)
    for name in (ROWS, COLUMNS, NAMES):
        (folder / name).mkdir(exist_ok=True)
    files = write_matrix(folder / ROWS, matrix.matrix) | write_matrix(
        folder / COLUMNS, matrix.T.matrix
    )
    finish(data, describe(matrix), files, folder)


def write_matrix(folder: Path, matrix: Matrix) -> dict[str, Written]:
    """Write the arrays of a matrix; the names of the files begin with that of the folder."""
    return {
        f"{folder.name}/{name}.npy": write_array(folder / f"{name}.npy", getattr(matrix, name))
        for name in ARRAYS
    }


def describe(matrix: Joint) -> Description:
    """The description of a matrix, without that of its names."""
    return Description(
        matrix.shape,
        matrix.matrix.indices.size,
        matrix.is_count,
        matrix.scale,
        matrix.matrix.spread,
        matrix.matrix.weights.dtype.name,
    )


def finish(data: Data, about: Description, files: dict[str, Written], folder: Path) -> None:
    """Write the names of data and, as the last file, the description of the store."""
    sides = ("row", data.row_names, data.named[0]), ("column", data.column_names, data.named[1])
    for side, names, is_named in sides:
        files = files | (write_names(folder, side, names) if is_named else {})
    classes = {"row": data.row_classes, "column": data.column_classes}
    files |= write_annotations(folder, Annotations(classes, data.texts, {}))
    replace(
        about,
        row_kind=data.row_kind,
        column_kind=data.column_kind,
        source=data.source,
        weighting=data.weighting,
        named=data.named,
        entry_kind=data.entry_kind,
        reading=data.reading,
        files=files,
    ).write(folder)
