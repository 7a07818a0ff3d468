"""Is a store as it was written? Kernels trust its arrays: a wrong index would end the process."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..joint import Joint
from .arrays import mapped
from .layout import ARRAYS, COLUMNS, ROWS, Description, damaged

COMPARED = 1 << 26  # bytes of a store that are compared with their checksums when it is opened
CHUNK = 1 << 22  # indices at a time
KINDS = {"indptr": "int64", "indices": "u", "ones": "int32", "twos": "int32", "mass": "float64"}


def check_arrays(folder: Path, about: Description) -> None:
    """An error if an array has another size or type than the store; small stores are compared."""
    for side, size in zip((ROWS, COLUMNS), about.shape, strict=True):
        lengths = {"indptr": size + 1, "indices": about.entries, "weights": about.entries}
        for name in ARRAYS:
            file = f"{side}/{name}.npy"
            array = mapped(folder / file)
            kind = array.dtype.kind if name == "indices" else array.dtype.name
            is_right = kind == KINDS.get(name, about.weights)
            if not is_right or array.shape != (lengths.get(name, size),):
                raise damaged(folder, file)
    if sum(written.bytes for written in about.files.values()) <= COMPARED:
        about.verify(folder)


def check_places(folder: Path, data: Joint) -> None:
    """An error if rows or indices lead out of the arrays."""
    for side, joint in ((ROWS, data), (COLUMNS, data.T)):
        matrix, width = joint.matrix, joint.shape[1]
        lengths = np.diff(matrix.indptr)
        ends = matrix.indptr[0], matrix.indptr[-1]
        if ends != (0, joint.nnz) or (lengths < 0).any():
            raise damaged(folder, f"{side}/indptr.npy")
        few = np.minimum(matrix.ones, matrix.twos).min() >= 0
        if not few or (matrix.ones.astype(np.int64) + matrix.twos > lengths).any():
            raise damaged(folder, f"{side}/ones.npy")
        for start in range(0, joint.nnz, CHUNK):
            stop = min(start + CHUNK, joint.nnz)
            if matrix.indices[start:stop].max() >= width:
                raise damaged(folder, f"{side}/indices.npy")
            if joint.pages is not None:
                joint.pages.release(start, stop)
