"""Writing a store from data in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...kernels.matrix import Matrix
from ..joint import Joint, joint
from ..reading.data import Data
from ..reading.npz import Annotations
from .arrays import Written, write_array
from .layout import ARRAYS, COLUMNS, FACTS, NAMES, ROWS, Description
from .names import names_file, write_annotations, write_names


def write_data(data: Data, folder: Path) -> None:
    """Write data in memory as a store, into an existing folder."""
    matrix = joint(data)
    for name in (ROWS, COLUMNS, NAMES):
        (folder / name).mkdir(exist_ok=True)
    files = write_matrix(folder / ROWS, matrix.matrix) | write_matrix(
        folder / COLUMNS, matrix.T.matrix
    )
    finish(data, replace(describe(matrix), files=files), folder)


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


def finish(data: Data, about: Description, folder: Path) -> None:
    """Write the names of data and, as the last file, the description of the store."""
    files = dict(about.files)
    for side, is_named in zip(("row", "column"), data.named, strict=True):
        is_new = names_file(side) not in files or f"{side}_names" in vars(data)
        if is_named and is_new:  # else they are in the folder already
            files |= write_names(folder, side, getattr(data, f"{side}_names"))
    classes = {"row": data.row_classes, "column": data.column_classes}
    files |= write_annotations(folder, Annotations(classes, data.texts, {}))
    replace(about, files=files, **{name: getattr(data, name) for name in FACTS}).write(folder)
