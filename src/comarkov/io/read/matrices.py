"""Matrices in files: Matrix Market, NumPy arrays and archives, with names where they are kept."""

from __future__ import annotations

import io
import lzma
import os
import re
import sys
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..isolation import BAD_HEADER
from .data import Data, Names, annotations_in, unjoined
from .opened import COPY_CHUNK, UNOPENED, Opened, unpacking_limit
from .raw_tables import first_line, reason, weight_problem

KEYS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
# What zip files raise: RuntimeError if encrypted, NotImplementedError for unknown methods.
UNREADABLE = (
    ValueError,
    OSError,
    EOFError,
    zipfile.BadZipFile,
    AttributeError,
    RuntimeError,
    KeyError,
    zlib.error,
    lzma.LZMAError,
    MemoryError,
    *BAD_HEADER,
)


BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
WRITE = "Write it again, for example with scipy.io.mmwrite."
AGAIN = "Save it again, for example with comarkov.Data.save."


def loaded(file: Opened) -> np.ndarray:
    """The array in an npy file, mapped into memory: nothing is allocated yet."""
    try:
        return np.asarray(np.load(file.path, mmap_mode="r", allow_pickle=False))
    except UNREADABLE as error:
        raise ValueError(
            f"{file.name} is not a readable npy file: {reason(error)}. Save the array again with "
            "numpy.save(path, array, allow_pickle=False)."
        ) from error


def from_npy(file: Opened) -> Data:
    """A NumPy array, whose rows and columns have no names."""
    array = loaded(file)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{file.name} holds an array of shape {array.shape} and type {array.dtype}, but a "
            "matrix of numbers is needed. Save that with numpy.save(path, matrix)."
        )
    matrix = np.array(array)
    refuse_bad_weights(matrix, None, None, file.name)
    return named_errors(file.name, lambda: Data(matrix, source=file.name))


def from_matrix_market(file: Opened) -> Data:
    """A Matrix Market file, whose rows and columns have no names."""
    from scipy.io import mmread

    _refuse_binary(file)
    _check_claim(file)
    try:
        with warnings.catch_warnings():  # from SciPy 1.18 on, of arrays instead of matrices
            warnings.simplefilter("ignore", DeprecationWarning)
            matrix = mmread(_with_line_end(file.path))
    except (ValueError, OverflowError, OSError, MemoryError) as error:
        why = first_line(error) or "it claims to be larger than memory"
        raise ValueError(f"{file.name} is not a Matrix Market file: {why}. {WRITE}") from error
    values = matrix.data if sp.issparse(matrix) else matrix
    if _are_bad(values):
        _blame_line(file)
    return named_errors(file.name, lambda: Data(matrix, source=file.name))


def _refuse_binary(file: Opened) -> None:
    """Refuse bytes that no text of numbers has: SciPy's reader may go on beyond their line."""
    line = 1
    with file.path.open("rb") as stream:
        while chunk := stream.read(COPY_CHUNK):
            bad = BINARY.search(chunk)
            line += chunk.count(b"\n", 0, bad.start() if bad else len(chunk))
            if bad:
                raise ValueError(
                    f"{file.name}, line {line} is not text: it has the byte {bad[0][0]}. {WRITE}"
                )


def _with_line_end(path: Path) -> Any:
    """What SciPy can read: it goes on beyond the end of a last line that does not end."""
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        if stream.read() == b"\n":
            return path
    return io.BytesIO(path.read_bytes() + b"\n")


def _check_claim(file: Opened) -> None:
    """Refuse sizes that the file is too short for, before memory is taken for them."""
    from scipy.io import mminfo

    try:
        rows, columns, entries, form, _, symmetry = mminfo(file.path)
    except (ValueError, OverflowError, OSError) as error:
        why = first_line(error)
        raise ValueError(f"{file.name} is not a Matrix Market file: {why}. {WRITE}") from error
    is_dense = form == "array"
    least = 2 if is_dense else 4  # bytes of an entry: "1\n", or "1 1\n"
    claimed = rows * columns // (1 if symmetry == "general" else 3) if is_dense else entries
    if least * claimed > file.path.stat().st_size + 1:  # the last line end may be missing
        raise ValueError(
            f"{file.name} is not a Matrix Market file: it claims {rows:,} x {columns:,} with "
            f"{entries:,} entries, but is too short for them. {WRITE}"
        )


def _blame_line(file: Opened) -> None:
    """Raise an error that names the first entry that is not a weight."""
    with file.path.open(encoding="utf-8", errors="replace") as lines:
        entries = ((n, line.split()) for n, line in enumerate(lines, 1) if line[0] not in "%\n")
        next(entries)  # the sizes
        for number, fields in entries:
            problem = weight_problem(float(fields[-1]))
            if problem:
                raise ValueError(f"{file.name}, line {number}, column {len(fields)}: {problem}")


def _are_bad(values: np.ndarray) -> bool:
    """Is one of the numbers not a weight?"""
    is_number = values.size and values.dtype.kind in "iuf"
    return bool(is_number and not (values.min() >= 0 and values.max() < np.inf))


def refuse_bad_weights(matrix: Any, rows: Names | None, columns: Names | None, name: str) -> None:
    """Raise an error that names the first entry that is not a weight, and its place."""
    is_sparse = sp.issparse(matrix)
    values = matrix.data if is_sparse and matrix.format in KEYS else np.asarray(matrix)
    if values.ndim != (1 if is_sparse else 2) or not _are_bad(values):
        return
    entries = sp.coo_array(matrix)
    first = np.flatnonzero(~((entries.data >= 0) & (entries.data < np.inf)))[0]
    places = [
        f"{what} {place + 1}" + (f" ({names[place]})" if names is not None else "")
        for what, place, names in (
            ("row", entries.coords[0][first], rows),
            ("column", entries.coords[1][first], columns),
        )
    ]
    raise ValueError(f"{name}, {', '.join(places)}: {weight_problem(entries.data[first])}")


def named_errors(name: str, make: Any) -> Data:
    """The result of ``make``, whose errors begin with the name of the file."""
    try:
        data: Data = make()
    except (ValueError, TypeError, MemoryError) as error:
        message = first_line(error)
        where = "" if message.startswith(name) else f"{name}: "
        raise ValueError(f"{where}{message}.") from error
    return data


def from_npz(file: Opened, max_bytes: int | None = None) -> Data:
    """A NumPy archive: a sparse matrix as SciPy saves it, our own with names, or one array."""
    refuse_large_archive(file, "an npz file", max_bytes)
    try:
        with np.load(file.path, allow_pickle=False) as archive:
            parts = {key: archive[key] for key in archive.files}
    except UNREADABLE as error:
        raise ValueError(f"{file.name} is not an npz file: {reason(error)}. {AGAIN}") from error
    for key, part in parts.items():
        if not isinstance(part, np.ndarray):  # NumPy returns the bytes of a member it cannot read
            raise ValueError(f"{file.name} is not an npz file: {key!r} is not an array. {AGAIN}")
        if not is_text(part):
            raise ValueError(f"{file.name} is not an npz file: {key!r} is not text. {AGAIN}")
    kinds: dict[str, Any] = {
        field: str(parts.pop(field)[()])
        for field in ("row_kind", "column_kind", "source", "weighting", "entry_kind")
        if field in parts
    }
    kinds["source"] = kinds.get("source") or file.name
    return named_errors(file.name, lambda: _from_parts(parts, kinds, file.name))


def _from_parts(parts: dict[str, np.ndarray], kinds: dict[str, Any], name: str) -> Data:
    rows, columns = (unjoined(parts, side) for side in ("row", "column"))
    annotations = annotations_in(parts) if "format" in parts else {}
    matrix = _matrix(parts)
    refuse_bad_weights(matrix, rows, columns, name)
    return Data(matrix, rows, columns, **kinds, **annotations)


def refuse_large_archive(
    file: Opened, kind: str, max_bytes: int | None, advice: str = AGAIN
) -> None:
    """Refuse a zip file that unpacks to more than the limit, before anything is unpacked."""
    limit = unpacking_limit(file.path, max_bytes)
    try:
        with zipfile.ZipFile(file.path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except UNOPENED as error:
        raise ValueError(f"{file.name} is not {kind}: {reason(error)}. {advice}") from error
    if size > limit:
        raise ValueError(
            f"{file.name} unpacks to {size:,} bytes, more than {limit:,}, which may be a trap. If "
            f"you trust it, use max_bytes={size}."
        )


def _matrix(parts: dict[str, np.ndarray]) -> Any:
    if "format" not in parts:
        if len(parts) != 1:
            keys = ", ".join(parts) or "nothing"
            raise ValueError(
                f"it holds {keys}, but a SciPy sparse matrix or one array is needed. Save it with "
                "scipy.sparse.save_npz"
            )
        return next(iter(parts.values()))
    kind = parts["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else kind
    if kind not in KEYS:
        raise ValueError(
            f"the sparse format {kind} cannot be read. Save it with "
            "scipy.sparse.save_npz(path, X.tocsr())"
        )
    missing = [key for key in (*KEYS[kind], "data", "shape") if key not in parts]
    if missing:
        raise ValueError(f"{', '.join(missing)} is missing. Save it with scipy.sparse.save_npz")
    first, second = (parts[key] for key in KEYS[kind])
    make = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array}[kind]
    places = (first, second) if kind != "coo" else ((first, second),)
    matrix = make((parts["data"], *places), shape=tuple(parts["shape"].tolist()))
    if kind != "coo":
        matrix.check_format(full_check=True)  # indices from a file must not lead out of it
    return matrix


def is_text(array: np.ndarray) -> bool:
    """Are all characters of an array of text characters? Python ends with SystemError if not."""
    if array.dtype.kind != "U" or array.dtype.itemsize == 0 or array.size == 0:
        return True
    code = np.dtype(np.uint32).newbyteorder(array.dtype.byteorder)
    codes = np.ascontiguousarray(array).reshape(-1).view(code)
    return bool(codes.max() <= sys.maxunicode)
