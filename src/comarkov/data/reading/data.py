"""Data: a matrix of weights with the names of its rows and columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..inputs import as_csr
from .npz import write_npz

Names = Sequence[str] | np.ndarray
MOST = 100_000_000  # rows or columns, whose names are in memory
FEW = 1 << 22  # so many may have no entries at all
TIMES = 100  # beyond that, rows or columns for each entry


@dataclass(frozen=True, eq=False, init=False)
class Data:
    """A nonnegative matrix with names, as ``read`` gives it and ``CoClustering.fit`` takes it.

    Examples
    --------
    >>> from comarkov import Data
    >>> Data([[2, 0], [1, 3]], ["Ann", "Bob"], ["apples", "pears"])
    Data(2 rows x 2 columns, 3 entries)
    """

    matrix: sp.csr_array  #: canonical: sorted indices, no duplicates, no explicit zeros
    row_names: np.ndarray  #: of str; "0", "1", ... if there are none
    column_names: np.ndarray
    row_kind: str  #: what a row is, for example "user"
    column_kind: str  #: what a column is, for example "item"
    source: str  #: what was read, for people
    weighting: str | None  #: the weighting that suits such data; None is as they are
    named: tuple[bool, bool]  #: False where names are only numbers made up

    def __init__(
        self,
        matrix: Any,
        row_names: Names | None = None,
        column_names: Names | None = None,
        row_kind: str = "row",
        column_kind: str = "column",
        source: str = "",
        weighting: str | None = None,
        named: tuple[bool, bool] = (True, True),
    ) -> None:
        _refuse_absurd(matrix)
        csr = as_csr(matrix)
        names = row_names, column_names
        values = {
            "matrix": csr,
            "row_names": _as_names(row_names, csr.shape[0], "row_names"),
            "column_names": _as_names(column_names, csr.shape[1], "column_names"),
            "row_kind": row_kind,
            "column_kind": column_kind,
            "source": source,
            "weighting": weighting,
            "named": tuple(
                has and side is not None for has, side in zip(named, names, strict=True)
            ),
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)  # frozen for all others

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.matrix.shape

    @property
    def T(self) -> Data:  # noqa: N802, as in NumPy
        """Rows and columns exchanged."""
        return Data(
            self.matrix.T.tocsr(),
            self.column_names,
            self.row_names,
            self.column_kind,
            self.row_kind,
            self.source,
            self.weighting,
            self.named[::-1],
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the matrix and the names as npz, whole or not at all.

        ``read`` gives the same data again; ``scipy.sparse.load_npz`` the matrix.
        """
        sides = {"row": self.row_names, "column": self.column_names}
        names = {
            side: names
            for (side, names), is_named in zip(sides.items(), self.named, strict=True)
            if is_named
        }
        facts = {
            "row_kind": self.row_kind,
            "column_kind": self.column_kind,
            "source": self.source,
        }
        if self.weighting is not None:
            facts["weighting"] = self.weighting
        write_npz(path, self.matrix, names, facts)

    def __repr__(self) -> str:
        n, m = self.shape
        what = f"{n:,} {self.row_kind}s x {m:,} {self.column_kind}s, {self.matrix.nnz:,} entries"
        return f"Data({what}{', from ' + self.source if self.source else ''})"


def _refuse_absurd(matrix: Any) -> None:
    """Refuse a sparse matrix that claims far more rows or columns than its entries can fill.

    A file of a few bytes can claim any size, and names would be made for all of it.
    """
    if not sp.issparse(matrix) or matrix.ndim != 2:
        return
    for size, what in zip(matrix.shape, ("rows", "columns"), strict=True):
        if size > min(MOST, max(FEW, TIMES * matrix.nnz)):
            raise ValueError(
                f"{size:,} {what} for {matrix.nnz:,} entries are too many: leave out {what} "
                "without entries" + (f", and take at most {MOST:,}." if size > MOST else ".")
            )


def _as_names(names: Names | None, size: int, what: str) -> np.ndarray:
    """Strings, one for each element; of the type object, as one long name would widen all."""
    listed = list(map(str, range(size) if names is None else names))
    if len(listed) != size:
        raise ValueError(f"{what} has {len(listed):,} names for {size:,} elements.")
    array = np.empty(size, dtype=object)
    array[:] = listed
    return array
