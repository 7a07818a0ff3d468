"""Data: a matrix with the names of its rows and columns; matrices in files and archives."""

from __future__ import annotations

import io
import json
import lzma
import os
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ...joint.inputs import as_csr, sound_csr
from ...joint.messages import InputError, plural_of_kind, quote
from ...joint.objects import as_objects, refuse_surrogates
from ..files import BAD_HEADER, whole_file
from ..read_options import ReadOptions
from .opened import DAMAGED, Opened, unpacking_limit
from .raw_tables import first_line, reason, weight_problem

# What zip files raise: RuntimeError if encrypted, NotImplementedError for unknown methods.
UNREADABLE = (
    *(ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError, RuntimeError, KeyError),
    *(zlib.error, lzma.LZMAError, MemoryError, TypeError, IndexError, *BAD_HEADER),
)
BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
SAVE_MTX = "Write it again, for example with scipy.io.mmwrite."
SAVE_NPZ = "Save it again, for example with comarkov.Data.save or scipy.sparse.save_npz."
SPARSE_PARTS = ("format", "shape", "data", "indices", "indptr", "row", "col", "_is_array")
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
        if texts is not None:  # only shown, unlike names: halves of characters are replaced
            texts = (str(text).encode("utf-8", "replace").decode() for text in texts)
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
            "texts": None if texts is None else _as_strings(texts, n, "texts"),
            "entry_kind": _as_words(entry_kind, "entry_kind"),
            "reading": dict(reading or {}),
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)  # frozen for all others

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self.matrix.shape

    def changed(self, **fields: Any) -> Self:
        """A copy with other values of some fields."""
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
    """Refuse a sparse matrix with more rows or columns than its entries can fill: names cost."""
    if not sp.issparse(matrix) or matrix.ndim != 2:
        return
    for size, what in zip(matrix.shape, ("rows", "columns"), strict=True):
        if size > min(MAX_ELEMENTS, max(MAX_EMPTY, MAX_PER_ENTRY * matrix.nnz)):
            problem = f"{size:,} {what} for {matrix.nnz:,} entries are too many"
            advice = f"Leave out {what} without entries, and take at most {MAX_ELEMENTS:,}."
            raise InputError(problem, advice=advice)


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
    known = {}
    for name, listed in (classes or {}).items():
        values = ("" if _is_missing(value) else value for value in listed)
        known[str(name)] = _as_strings(values, size, f"{what}[{name!r}]")
    return known


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA, which cannot be compared
        return True


def load_array(file: Opened) -> np.ndarray:
    """The array in an npy file, mapped into memory: nothing is allocated yet."""
    try:
        return np.asarray(np.load(file.path, mmap_mode="r", allow_pickle=False))
    except UNREADABLE as error:
        problem = f"not a readable npy file: {reason(error)}"
        advice = "Save the array again with numpy.save(path, array, allow_pickle=False)."
        raise InputError(problem, file=file.name, advice=advice) from error


def from_npy(file: Opened, options: ReadOptions) -> Data:
    """A NumPy array, whose rows and columns have no names."""
    array = load_array(file)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        problem = f"it holds an array of shape {array.shape} and type {array.dtype}"
        advice = "Save a matrix of numbers with numpy.save(path, matrix)."
        raise InputError(problem, file=file.name, advice=advice)
    matrix = np.array(array)
    refuse_bad_weights(matrix, None, None, file.name)
    with errors_in(file.name):
        return Data(matrix, source=file.name)


def from_matrix_market(file: Opened, options: ReadOptions) -> Data:
    """A Matrix Market file, whose rows and columns have no names."""
    from scipy.io import mmread

    content = file.content
    binary = BINARY.search(content)
    if binary:  # SciPy's reader may go on beyond its line, or beyond a last line that does not end
        problem, line = f"not text: it has the byte {binary[0][0]}", content[: binary.start()]
        raise InputError(problem, file=file.name, line=line.count(b"\n") + 1, advice=SAVE_MTX)
    is_ended = content[-1:] == b"\n"
    try:
        with warnings.catch_warnings():  # from SciPy 1.18 on, of arrays instead of matrices
            warnings.simplefilter("ignore", DeprecationWarning)
            matrix = mmread(file.path if is_ended else io.BytesIO(content[:] + b"\n"))
    except (ValueError, OverflowError, OSError, MemoryError) as error:
        why = first_line(error) or "it claims to be larger than memory"
        problem = f"not a Matrix Market file: {why}"
        raise InputError(problem, file=file.name, advice=SAVE_MTX) from error
    refuse_bad_weights(matrix, None, None, file.name)
    with errors_in(file.name):
        return Data(matrix, source=file.name)


def refuse_bad_weights(matrix: Any, rows: Names | None, columns: Names | None, name: str) -> None:
    """Raise an error that names the first entry that is not a weight, and its place."""
    values = matrix.data if sp.issparse(matrix) else np.asarray(matrix)
    is_known = values.size and values.dtype.kind in "iuf"
    is_known = is_known and values.ndim == (1 if sp.issparse(matrix) else 2)
    if not is_known or (values.min() >= 0 and values.max() < np.inf):
        return
    entries = sp.coo_array(matrix)
    first = np.flatnonzero(~((entries.data >= 0) & (entries.data < np.inf)))[0]
    row, column = (
        f"{place[first] + 1}" + (f" ({names[place[first]]})" if names is not None else "")
        for place, names in zip(entries.coords, (rows, columns), strict=True)
    )
    problem = weight_problem(entries.data[first])
    raise InputError(f"row {row}, column {column}: {problem}", file=name)


@contextmanager
def errors_in(name: str) -> Iterator[None]:
    """Errors about what is in a file, which begin with its name."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(error.args[0], file=name, advice=error.advice) from error
    except (ValueError, TypeError, KeyError, IndexError, MemoryError, SystemError) as error:
        raise InputError(reason(error), file=name) from error


def from_npz(file: Opened, options: ReadOptions) -> Data:
    """A NumPy archive: a sparse matrix as SciPy saves it, our own with names, or one array."""
    refuse_large_archive(file, "an npz file", options.max_bytes)
    try:
        with np.load(file.path, allow_pickle=False) as archive:
            is_sparse = "format" in archive.files
            keys = [key for key in archive.files if not (is_sparse and key in SPARSE_PARTS)]
            parts = {key: _sound_text(archive[key]) for key in keys}
        matrix = sound_csr(sp.load_npz(file.path)) if is_sparse else None
    except UNREADABLE as error:
        problem = f"not an npz file: {reason(error)}"
        raise InputError(problem, file=file.name, advice=SAVE_NPZ) from error
    with errors_in(file.name):
        if not is_sparse and len(parts) != 1:
            problem = f"it holds {', '.join(parts) or 'nothing'}, but one matrix is needed"
            raise InputError(problem, advice=SAVE_NPZ)
        if not is_sparse:
            _, matrix = parts.popitem()
        kept: dict[str, Any] = {f: str(parts.pop(f)[()]) for f in KIND_FIELDS if f in parts}
        rows, columns = (pop_strings(parts, side) for side in ("row", "column"))
        facts = {**kept, "source": kept.get("source") or file.name, **annotations_in(parts)}
        refuse_bad_weights(matrix, rows, columns, file.name)
        return Data(matrix, rows, columns, **facts)


def _sound_text(array: np.ndarray) -> np.ndarray:
    """An array, unless it is text with characters that do not exist, which crash Python."""
    if array.dtype.kind == "U":
        codes = np.frombuffer(array.astype(array.dtype.newbyteorder("=")).tobytes(), np.uint32)
        if (codes > sys.maxunicode).any():
            raise ValueError("it holds characters that do not exist")
    return array


def refuse_large_archive(
    file: Opened, kind: str, max_bytes: int | None, advice: str = SAVE_NPZ
) -> None:
    """Refuse a zip file that unpacks to more than the limit, before anything is unpacked."""
    limit = unpacking_limit(file.path, max_bytes)
    try:
        with zipfile.ZipFile(file.path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except DAMAGED as error:
        problem = f"not {kind}: {reason(error)}"
        raise InputError(problem, file=file.name, advice=advice) from error
    if size > limit:
        problem = f"it unpacks to {size:,} bytes, more than {limit:,}, which may be a trap"
        how = f"If you trust it, use max_bytes={size}."
        raise InputError(problem, file=file.name, advice=how)
