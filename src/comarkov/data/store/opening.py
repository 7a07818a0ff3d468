"""Opening a store: its arrays are mapped into memory, and loaded where they are used."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...kernels.matrix import Matrix
from ..joint import Joint, linked
from ..reading.data import Data
from .arrays import mapped
from .layout import ARRAYS, COLUMNS, ROWS, Description, damaged
from .names import read_annotations, read_names
from .pages import Pages

ABOUT = ("row_kind", "column_kind", "source", "weighting", "named", "entry_kind", "reading")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Store(Data):
    """Data on disk, as ``read`` returns them for a folder that ``pack`` wrote.

    It is used like any :class:`Data`, and gives the same results. The arrays of the matrix are
    loaded where they are used, and the names when they are first asked for.
    """

    joint: Joint  #: the matrix as a fit takes it, without a copy
    path: Path  #: the folder

    def __init__(self, *, joint: Joint, path: Path, matrix: Any = None, **fields: Any) -> None:
        del matrix  # is that of the joint distribution; ``dataclasses.replace`` passes it
        for field, value in {"joint": joint, "path": path, **fields}.items():
            object.__setattr__(self, field, value)  # frozen for all others

    def __getattr__(self, name: str) -> Any:
        """Load what is first used: names, and the weights as CSR.

        The CSR shares the memory of the joint distribution; in each row counts of 1 come first,
        then those of 2.
        """
        if name == "matrix":
            value = self.joint.csr if self.joint.scale == 1.0 else self.joint.csr * self.joint.scale
        elif name in ("row_names", "column_names"):
            value = read_names(self.path, name.split("_")[0], self.shape[name == "column_names"])
        else:
            raise AttributeError(f"a store has no attribute {name!r}")
        object.__setattr__(self, name, value)
        return value

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.joint.shape

    @property
    def T(self) -> Data:  # noqa: N802, as in NumPy
        """Rows and columns exchanged. Texts are left out, as they belong to rows."""
        return replace(self, joint=self.joint.T, **self._exchanged())

    def __repr__(self) -> str:
        return super().__repr__().replace("Data(", "Store(", 1)


def open_store(path: str | os.PathLike[str]) -> Store:
    """Open a folder that ``pack`` wrote, after a look at the sizes of its files."""
    folder = Path(path)
    about = Description.read(folder)
    annotations = read_annotations(folder)
    annotations["reading"] = about.reading
    for side in ("row", "column"):
        annotations.setdefault(f"{side}_classes", {})
    facts = {name: getattr(about, name) for name in ABOUT}
    return Store(joint=_joint(folder, about), path=folder.absolute(), **{**facts, **annotations})


def open_joint(path: str | os.PathLike[str]) -> Joint:
    """The matrix of a store, without its names."""
    folder = Path(path)
    return _joint(folder, Description.read(folder))


def _joint(folder: Path, about: Description) -> Joint:
    """The matrix and its transpose."""
    return linked(
        *(
            Joint(matrix, shape, about.scale, about.is_count, pages=_pages(matrix))
            for matrix, shape in (
                (_matrix(folder, ROWS, about), about.shape),
                (_matrix(folder, COLUMNS, about), about.shape[::-1]),
            )
        )
    )


def _pages(matrix: Matrix) -> Pages:
    return Pages((matrix.indices, matrix.weights))


def _matrix(folder: Path, side: str, about: Description) -> Matrix:
    size = about.shape[side == COLUMNS]
    arrays = {}
    for name in ARRAYS:
        file = f"{side}/{name}.npy"
        try:
            arrays[name] = mapped(folder / file)
        except (OSError, ValueError) as error:
            raise damaged(folder, file) from error
        expected = {"indptr": size + 1, "indices": about.entries, "weights": about.entries}
        if arrays[name].shape != (expected.get(name, size),):
            raise damaged(folder, file)
    return Matrix(**arrays, spread=about.spread)
