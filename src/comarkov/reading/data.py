"""Data: a matrix of weights with the names of its rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..joint import as_csr


@dataclass(frozen=True, eq=False)
class Data:
    """A nonnegative matrix with names, as ``read`` gives it and ``CoClustering.fit`` takes it.

    Examples
    --------
    >>> from comarkov import Data
    >>> Data([[2, 0], [1, 3]], ["Ann", "Bob"], ["apples", "pears"])
    Data(2 rows x 2 columns, 3 entries)
    """

    matrix: sp.csr_array  #: canonical: sorted indices, no duplicates, no explicit zeros
    #: of str; "0", "1", ... if there are none
    row_names: np.ndarray = None  # type: ignore[assignment]
    column_names: np.ndarray = None  # type: ignore[assignment]
    row_kind: str = "row"  #: what a row is, for example "user"
    column_kind: str = "column"  #: what a column is, for example "item"
    source: str = ""  #: what was read, for people
    weighting: str | None = None  #: the weighting that suits such data; None is as they are
    named: tuple[bool, bool] = (True, True)  #: False where names are only numbers made up

    def __post_init__(self) -> None:
        matrix = as_csr(self.matrix)
        object.__setattr__(self, "matrix", matrix)
        sides = zip(("row_names", "column_names"), matrix.shape, self.named, strict=True)
        named = []
        for field, size, has_names in sides:
            names = getattr(self, field)
            named.append(has_names and names is not None)
            names = np.arange(size) if names is None else names
            object.__setattr__(self, field, _as_names(names, size, field))
        object.__setattr__(self, "named", tuple(named))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.matrix.shape

    @property
    def T(self) -> Data:  # noqa: N802, as in NumPy
        """Rows and columns exchanged."""
        return Data(
            self.matrix.T.tocsr(), self.column_names, self.row_names, self.column_kind,
            self.row_kind, self.source, self.weighting, self.named[::-1],
        )  # fmt: skip

    def __repr__(self) -> str:
        n, m = self.shape
        what = f"{n:,} {self.row_kind}s x {m:,} {self.column_kind}s, {self.matrix.nnz:,} entries"
        return f"Data({what}{', from ' + self.source if self.source else ''})"


def _as_names(names: Any, size: int, what: str) -> np.ndarray:
    """Strings, one for each element; of the type object, as one long name would widen all."""
    array = np.empty(size, dtype=object)
    listed = [str(name) for name in names]
    if len(listed) != size:
        raise ValueError(f"{what} has {len(listed):,} names for {size:,} elements.")
    array[:] = listed
    return array
