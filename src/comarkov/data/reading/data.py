"""Data: a matrix of weights with the names of its rows and columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..inputs import as_csr
from ..nouns import plural
from .npz import Annotations, write_npz

Names = Sequence[str] | np.ndarray
MOST = 100_000_000  # rows or columns, whose names are in memory
FEW = 1 << 22  # so many may have no entries at all
TIMES = 100  # beyond that, rows or columns for each entry


@dataclass(frozen=True, eq=False, init=False)
class Data:
    """A nonnegative matrix with names, as ``read`` returns it and ``CoClustering.fit`` takes it.

    Known classes and texts do not influence a fit. They serve to check and to explain its clusters.

    Examples
    --------
    >>> from comarkov import Data
    >>> Data([[2, 0], [1, 3]], ["Ann", "Bob"], ["apples", "pears"])
    Data(2 rows x 2 columns, 3 entries)
    """

    matrix: sp.csr_array  #: canonical: sorted indices, no duplicates, no explicit zeros
    row_names: np.ndarray  #: of str; "0", "1", ... if there are none
    column_names: np.ndarray  #: as row_names
    row_kind: str  #: what a row is, for example "user"
    column_kind: str  #: what a column is, for example "item"
    source: str  #: what was read, for people
    weighting: str | None  #: the weighting that suits such data; None is as they are
    named: tuple[bool, bool]  #: False where names are only numbers made up
    row_classes: dict[str, np.ndarray]  #: known classes, by classification; "" where unknown
    column_classes: dict[str, np.ndarray]  #: as row_classes
    texts: np.ndarray | None  #: the text of each row if rows are documents
    entry_kind: str  #: what the weights count, for example "flights"; "" if not known
    reading: dict[str, Any]  #: keywords with which ``read`` reads similar data; {} if not read

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
        *,
        row_classes: Mapping[str, Iterable[Any]] | None = None,
        column_classes: Mapping[str, Iterable[Any]] | None = None,
        texts: Iterable[str] | None = None,
        entry_kind: str = "",
        reading: Mapping[str, Any] | None = None,
    ) -> None:
        _refuse_absurd(matrix)
        csr = as_csr(matrix)
        names = row_names, column_names
        values = {
            "matrix": csr,
            "row_names": as_names(row_names, csr.shape[0], "row_names"),
            "column_names": as_names(column_names, csr.shape[1], "column_names"),
            "row_kind": row_kind,
            "column_kind": column_kind,
            "source": source,
            "weighting": weighting,
            "named": tuple(
                has and side is not None for has, side in zip(named, names, strict=True)
            ),
            "row_classes": as_classes(row_classes, csr.shape[0], "row_classes"),
            "column_classes": as_classes(column_classes, csr.shape[1], "column_classes"),
            "texts": None if texts is None else _as_strings(texts, csr.shape[0], "texts"),
            "entry_kind": entry_kind,
            "reading": dict(reading or {}),
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)  # frozen for all others

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.matrix.shape

    @property
    def T(self) -> Data:  # noqa: N802, as in NumPy
        """Rows and columns exchanged. Texts are left out, as they belong to rows."""
        return replace(self, matrix=self.matrix.T.tocsr(), **self._exchanged())

    def _exchanged(self) -> dict[str, Any]:
        """What belongs to rows as that of columns, and the other way round."""
        return {
            "row_names": self.column_names,
            "column_names": self.row_names,
            "row_kind": self.column_kind,
            "column_kind": self.row_kind,
            "named": self.named[::-1],
            "row_classes": self.column_classes,
            "column_classes": self.row_classes,
            "texts": None,
        }

    def changed(self, **fields: Any) -> Self:
        """The same with other values of some fields."""
        return replace(self, **fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the data as npz, atomically: you get all of it or none.

        ``read`` returns the same data, but each text ends after 20,000 characters;
        ``scipy.sparse.load_npz`` returns the matrix.
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
        facts |= {"entry_kind": self.entry_kind} if self.entry_kind else {}
        if self.weighting is not None:
            facts["weighting"] = self.weighting
        classes = {"row": self.row_classes, "column": self.column_classes}
        notes = Annotations(classes, self.texts, self.reading)
        write_npz(path, self.matrix, names, facts, notes)

    def __repr__(self) -> str:
        n, m = self.shape
        sides = f"{n:,} {plural(self.row_kind)} x {m:,} {plural(self.column_kind)}"
        source = f", from {self.source}" if self.source else ""
        return f"Data({sides}, {self.matrix.nnz:,} entries{source})"


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


def as_names(names: Names | None, size: int, what: str) -> np.ndarray:
    """Names as strings, numbers from 0 if there are none."""
    return _as_strings(range(size) if names is None else names, size, what)


def _as_strings(values: Iterable[Any], size: int, what: str) -> np.ndarray:
    """Strings, one for each element; of the type object, as one long string would widen all."""
    listed = list(map(str, values))
    if len(listed) != size:
        noun = what.split("[")[0].split("_")[-1]
        raise ValueError(f"{what} has {len(listed):,} {noun} for {size:,} elements.")
    array = np.empty(size, dtype=object)
    array[:] = listed
    return array


def as_classes(
    classes: Mapping[str, Iterable[Any]] | None, size: int, what: str
) -> dict[str, np.ndarray]:
    """Classifications as strings, "" where a class is missing (None or NaN)."""
    if classes is not None and not isinstance(classes, Mapping):
        raise TypeError(
            f'{what} must map the name of a classification to classes, as {{"group": [...]}}, '
            f"not {type(classes).__name__}."
        )
    return {
        str(name): _as_strings(
            ("" if _is_missing(value) else value for value in listed),
            size,
            f"{what}[{name!r}]",
        )
        for name, listed in (classes or {}).items()
    }


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA, which cannot be compared
        return True
