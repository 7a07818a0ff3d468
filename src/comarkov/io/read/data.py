"""Data: a matrix of weights with the names of its rows and columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ...joint.inputs import as_csr
from ...joint.messages import plural, quote
from ..files import whole_file

LONGEST = 20_000  # characters of a text that are kept
NOTES = "annotations"  # the entry with the names of classifications and the keywords of ``read``


class Annotations(NamedTuple):
    """What is known about the rows and columns of a matrix beside their names."""

    classes: Mapping[str, Mapping[str, np.ndarray]]  #: by side, "row" or "column", then by name
    texts: np.ndarray | None
    reading: Mapping[str, Any]


def write_npz(
    path: str | os.PathLike[str],
    matrix: sp.csr_array,
    names: Mapping[str, np.ndarray],
    facts: Mapping[str, str],
    annotations: Annotations,
) -> None:
    """Write a matrix, the names of "row" and "column" where it has them, and facts about it."""
    parts: dict[str, Any] = {
        "format": b"csr",
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "_is_array": True,
        **facts,
        **annotation_parts(annotations),
    }
    for side, listed in names.items():
        parts |= _joined(listed, side)
    with whole_file(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **parts)


def annotation_parts(annotations: Annotations) -> dict[str, Any]:
    """Classes as codes and their names, the beginnings of texts, and the rest as JSON."""
    parts: dict[str, Any] = {}
    listing: dict[str, Any] = {"reading": dict(annotations.reading)}
    for side, classifications in annotations.classes.items():
        listing[side] = list(classifications)
        for i, classes in enumerate(classifications.values()):
            distinct = sorted(set(classes.tolist()))
            code = {name: j for j, name in enumerate(distinct)}
            key = f"{side}_classes_{i}"
            parts[f"{key}_codes"] = np.array([code[name] for name in classes], dtype=np.int32)
            parts |= _joined(distinct, key)
    if annotations.texts is not None:
        parts |= _joined([text[:LONGEST] for text in annotations.texts], "text")
    if any(listing.values()):
        parts[NOTES] = np.array(json.dumps(listing))
    return parts


def annotations_in(parts: dict[str, np.ndarray]) -> dict[str, Any]:
    """Known classes, texts and reading as keywords of ``Data``, taken out of a file's parts."""
    keywords: dict[str, Any] = {"texts": unjoined(parts, "text")}
    if NOTES not in parts:
        return keywords
    try:
        listing = json.loads(str(parts.pop(NOTES)[()]))
        keywords["reading"] = dict(listing["reading"])
        for side in ("row", "column"):
            keywords[f"{side}_classes"] = {
                str(name): _decoded(parts, f"{side}_classes_{i}")
                for i, name in enumerate(listing[side])
            }
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"its {NOTES} are damaged ({quote(error)})") from error
    return keywords


def _decoded(parts: dict[str, np.ndarray], key: str) -> np.ndarray:
    names = np.array(unjoined(parts, key) or [""], dtype=object)
    codes = parts.pop(f"{key}_codes")
    if codes.size and codes.min() < 0:
        raise IndexError(f"a code in {key}_codes is negative")
    return names[codes]


def _joined(names: Iterable[str], side: str) -> dict[str, np.ndarray]:
    """Strings end to end in UTF-8, and where each ends: one long string does not widen all."""
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    text = np.frombuffer(b"".join(encoded), np.uint8)
    return {f"{side}_names": text, f"{side}_name_ends": ends}


def unjoined(parts: dict[str, np.ndarray], side: str) -> list[str] | None:
    """The strings stored under a key, taken out of the parts of a file; None if there are none."""
    if f"{side}_names" not in parts:
        return None
    text = parts.pop(f"{side}_names").tobytes()
    if f"{side}_name_ends" not in parts:
        raise ValueError(f"{side}_name_ends is missing, so {side}_names cannot be split")
    ends = parts.pop(f"{side}_name_ends").ravel().tolist()
    starts = [0, *ends[:-1]]
    return [
        text[start:end].decode("utf-8", "surrogatepass")
        for start, end in zip(starts, ends, strict=True)
    ]


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
