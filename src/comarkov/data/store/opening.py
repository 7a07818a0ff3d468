"""Opening a store: its arrays are mapped into memory, and loaded where they are used."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..joint import Joint
from ..reading.data import Data, as_classes, as_names
from .building import mapped_joint
from .checking import check_arrays, check_places
from .layout import FACTS, Description
from .names import read_annotations, read_names

CHECKED = 10**8  # entries of a store that are looked at when it is opened


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
        for side, size in zip(("row", "column"), joint.shape, strict=True):
            names = fields.get(f"{side}_names")
            if names is not None and not isinstance(names, np.ndarray):
                fields[f"{side}_names"] = as_names(names, size, f"{side}_names")
            classes = fields.get(f"{side}_classes")
            fields[f"{side}_classes"] = as_classes(classes, size, f"{side}_classes")
        self.__dict__.update(joint=joint, path=path, **fields)  # frozen for all others

    @classmethod
    def of(cls, joint: Joint, path: Path, about: Description, **more: Any) -> Self:
        """A matrix in a folder, with a description, and classes and texts if there are any."""
        facts = {name: getattr(about, name) for name in FACTS}
        return cls(joint=joint, path=path, **{"texts": None, **facts, **more})

    def changed(self, **fields: Any) -> Self:
        """The same with other values of some fields; what is not loaded yet stays so."""
        return type(self)(**{**self.__dict__, **fields})

    def __getattr__(self, name: str) -> Any:
        """Load what is first used: names, and the weights as CSR.

        The CSR shares the memory of the joint distribution, except for weights in another unit;
        in each row counts of 1 come first, then those of 2.
        """
        if name == "matrix":
            value = self.joint.unscaled
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
    """Open a folder that ``pack`` wrote, after a look at its files."""
    folder = Path(path)
    about = Description.read(folder)
    joint = _joint(folder, about)
    annotations = read_annotations(folder) | {"reading": about.reading}
    return Store.of(joint, folder.absolute(), about, **annotations)


def open_joint(path: str | os.PathLike[str]) -> Joint:
    """The matrix of a store, without its names."""
    folder = Path(path)
    return _joint(folder, Description.read(folder))


def check_large(data: Any) -> None:
    """Look at all of a store before a fit, if that was too much when it was opened."""
    if isinstance(data, Store) and data.joint.nnz > CHECKED:
        check_places(data.path, data.joint)


def _joint(folder: Path, about: Description) -> Joint:
    """The matrix and its transpose; in large stores places are checked when a fit begins."""
    check_arrays(folder, about)
    data = mapped_joint(folder, about)
    if about.entries <= CHECKED:
        check_places(folder, data)
    return data
