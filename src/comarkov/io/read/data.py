"""Data: a matrix of weights with the names of its rows and columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ...joint.inputs import as_csr
from ...joint.messages import InputError, plural_of_kind, quote
from ...joint.objects import as_objects, refuse_surrogates
from ..files import whole_file

MAX_TEXT = 20_000  # characters of a text that are kept
MAX_WORDS, MAX_SOURCE = 200, 4096  # characters of what elements are called, and of the source
NOTES = "annotations"  # the entry with known classes and the keywords of ``read``


def annotation_parts(data: Data, reading: Mapping[str, Any]) -> dict[str, Any]:
    """The beginnings of texts; known classes and how the data were read, as JSON."""
    parts: dict[str, Any] = {}
    if data.texts is not None:
        parts |= string_parts([text[:MAX_TEXT] for text in data.texts], "text")
    notes: dict[str, Any] = {"reading": dict(reading)}
    for side in ("row_classes", "column_classes"):
        notes[side] = {title: list(classes) for title, classes in getattr(data, side).items()}
    if any(notes.values()):
        parts[NOTES] = np.array(json.dumps(notes))
    return parts


def annotations_in(parts: dict[str, np.ndarray]) -> dict[str, Any]:
    """Known classes, texts and reading as keywords of ``Data``, taken out of a file's parts."""
    keywords: dict[str, Any] = {"texts": pop_strings(parts, "text")}
    if NOTES not in parts:
        return keywords
    try:
        notes = json.loads(str(parts.pop(NOTES)[()]))
        return keywords | {
            name: dict(notes[name]) for name in ("reading", "row_classes", "column_classes")
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"its {NOTES} are damaged ({quote(error)})") from error


def string_parts(names: Iterable[str], side: str) -> dict[str, np.ndarray]:
    """Strings end to end in UTF-8, and where each ends: one long string does not widen all."""
    encoded = [name.encode("utf-8") for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    text = np.frombuffer(b"".join(encoded), np.uint8)
    return {f"{side}_names": text, f"{side}_name_ends": ends}


def pop_strings(parts: dict[str, np.ndarray], side: str) -> list[str] | None:
    """Take the strings under a key out of the parts of a file; None if there are none."""
    if f"{side}_names" not in parts:
        return None
    text = parts.pop(f"{side}_names").tobytes()
    if f"{side}_name_ends" not in parts:
        raise ValueError(f"{side}_name_ends is missing, so {side}_names cannot be split")
    ends = parts.pop(f"{side}_name_ends").ravel().tolist()
    starts = [0, *ends[:-1]]
    return [text[start:end].decode("utf-8") for start, end in zip(starts, ends, strict=True)]


Names = Sequence[str] | np.ndarray
KIND_FIELDS = ("row_kind", "column_kind", "source", "weighting", "entry_kind")  # texts in npz
MAX_ELEMENTS = 100_000_000  # rows or columns, whose names are in memory
MAX_EMPTY = 1 << 22  # rows or columns that may have no entries at all
MAX_PER_ENTRY = 100  # beyond that, rows or columns for each entry


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
    row_names: np.ndarray  #: of str; "0", "1", ... if there are none; of texts "1", "2", ...
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
        n, m = csr.shape
        own = row_names
        if own is None and texts is not None:
            own = [str(number) for number in range(1, n + 1)]
        values = {
            "matrix": csr,
            "row_names": as_names(own, n, "row_names"),
            "column_names": as_names(column_names, m, "column_names"),
            "row_kind": _as_words(row_kind, "row_kind"),
            "column_kind": _as_words(column_kind, "column_kind"),
            "source": _as_words(source, "source", MAX_SOURCE),
            "weighting": weighting,
            "named": (named[0] and row_names is not None, named[1] and column_names is not None),
            "row_classes": as_classes(row_classes, n, "row_classes"),
            "column_classes": as_classes(column_classes, m, "column_classes"),
            "texts": None if texts is None else _as_strings(map(_valid_text, texts), n, "texts"),
            "entry_kind": _as_words(entry_kind, "entry_kind"),
            "reading": dict(reading or {}),
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)  # frozen for all others

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.matrix.shape

    def changed(self, **fields: Any) -> Self:
        """Data with other values of some fields."""
        return replace(self, **fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the data as npz, atomically: you get all of it or none.

        ``read`` returns the same data, but each text ends after 20,000 characters;
        ``scipy.sparse.load_npz`` returns the matrix.
        """
        csr = self.matrix
        parts: dict[str, Any] = {
            name: getattr(self, name) for name in KIND_FIELDS if getattr(self, name) is not None
        }
        parts |= {name: getattr(csr, name) for name in ("shape", "data", "indices", "indptr")}
        parts |= {"format": b"csr", "_is_array": True, **annotation_parts(self, self.reading)}
        for side, is_named in zip(("row", "column"), self.named, strict=True):
            if is_named:
                parts |= string_parts(getattr(self, f"{side}_names"), side)
        with whole_file(path) as draft, draft.open("wb") as file:
            np.savez_compressed(file, **parts)

    def __repr__(self) -> str:
        n, m = self.shape
        sides = f"{n:,} {plural_of_kind(self.row_kind, 'rows')} x "
        sides += f"{m:,} {plural_of_kind(self.column_kind, 'columns')}"
        source = f", from {self.source}" if self.source else ""
        return f"Data({sides}, {self.matrix.nnz:,} entries{source})"


def _refuse_absurd(matrix: Any) -> None:
    """Refuse a sparse matrix that claims far more rows or columns than its entries can fill.

    A file of a few bytes can claim any size, and names would be made for all of it.
    """
    if not sp.issparse(matrix) or matrix.ndim != 2:
        return
    for size, what in zip(matrix.shape, ("rows", "columns"), strict=True):
        if size > min(MAX_ELEMENTS, max(MAX_EMPTY, MAX_PER_ENTRY * matrix.nnz)):
            raise InputError(
                f"{size:,} {what} for {matrix.nnz:,} entries are too many",
                advice=f"Leave out {what} without entries, and take at most {MAX_ELEMENTS:,}.",
            )


def as_names(names: Names | None, size: int, what: str) -> np.ndarray:
    """Names as strings, numbers from 0 if there are none."""
    return _as_strings(range(size) if names is None else names, size, what)


def _as_strings(values: Iterable[Any], size: int, what: str) -> np.ndarray:
    """Strings, one for each element; of the type object, as one long string would widen all."""
    array = as_objects(map(str, values))
    refuse_surrogates(array, what)
    if array.size != size:
        noun = what.split("[")[0].split("_")[-1]
        raise ValueError(f"{what} has {array.size:,} {noun} for {size:,} elements.")
    return array


def _as_words(text: Any, what: str, most: int = MAX_WORDS) -> str:
    """A short text about the data; the end of a long one is left out."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, got {type(text).__name__}.")
    refuse_surrogates([text], what)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _valid_text(text: Any) -> str:
    """A text without halves of characters: it is only shown, unlike names, which must match."""
    return str(text).encode("utf-8", "replace").decode()


def valid_name(name: str) -> str:
    """The name of a file as text: bytes of it that are no characters are written in hexadecimal."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


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
