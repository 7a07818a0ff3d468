"""Matrices in files: Matrix Market, NumPy arrays and archives, with names where they are kept."""

from __future__ import annotations

import io
import lzma
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...joint.inputs import sound_csr
from ...joint.messages import InputError
from ..files import BAD_HEADER
from ..read_options import ReadOptions
from .data import KIND_FIELDS, Data, Names, annotations_in, pop_strings
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


def load_array(file: Opened) -> np.ndarray:
    """The array in an npy file, mapped into memory: nothing is allocated yet."""
    try:
        return np.asarray(np.load(file.path, mmap_mode="r", allow_pickle=False))
    except UNREADABLE as error:
        raise InputError(
            f"not a readable npy file: {reason(error)}",
            file=file.name,
            advice="Save the array again with numpy.save(path, array, allow_pickle=False).",
        ) from error


def from_npy(file: Opened, options: ReadOptions) -> Data:
    """A NumPy array, whose rows and columns have no names."""
    array = load_array(file)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InputError(
            f"it holds an array of shape {array.shape} and type {array.dtype}, but a matrix of "
            "numbers is needed",
            file=file.name,
            advice="Save that with numpy.save(path, matrix).",
        )
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


def _are_bad(values: np.ndarray) -> bool:
    """Is one of the numbers not a weight?"""
    is_number = values.size and values.dtype.kind in "iuf"
    return bool(is_number and not (values.min() >= 0 and values.max() < np.inf))


def refuse_bad_weights(matrix: Any, rows: Names | None, columns: Names | None, name: str) -> None:
    """Raise an error that names the first entry that is not a weight, and its place."""
    values = matrix.data if sp.issparse(matrix) else np.asarray(matrix)
    if values.ndim != (1 if sp.issparse(matrix) else 2) or not _are_bad(values):
        return
    entries = sp.coo_array(matrix)
    first = np.flatnonzero(~((entries.data >= 0) & (entries.data < np.inf)))[0]
    row, column = (
        f"{place[first] + 1}" + (f" ({names[place[first]]})" if names is not None else "")
        for place, names in zip(entries.coords, (rows, columns), strict=True)
    )
    problem = weight_problem(entries.data[first]) or ""
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
        return _from_parts(matrix, parts, file.name)


def _sound_text(array: np.ndarray) -> np.ndarray:
    """An array, unless it is text with characters that do not exist, which crash Python."""
    if array.dtype.kind == "U":
        codes = np.frombuffer(array.astype(array.dtype.newbyteorder("=")).tobytes(), np.uint32)
        if (codes > sys.maxunicode).any():
            raise ValueError("it holds characters that do not exist")
    return array


def _from_parts(matrix: Any, parts: dict[str, np.ndarray], name: str) -> Data:
    """A sparse matrix with what else is stored, or the only array."""
    if matrix is None:
        (array,) = parts.values()
        refuse_bad_weights(array, None, None, name)
        return Data(array, source=name)
    facts: dict[str, Any] = {
        field: str(parts.pop(field)[()]) for field in KIND_FIELDS if field in parts
    }
    rows, columns = (pop_strings(parts, side) for side in ("row", "column"))
    facts |= {"source": facts.get("source") or name, **annotations_in(parts)}
    refuse_bad_weights(matrix, rows, columns, name)
    return Data(matrix, rows, columns, **facts)


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
        raise InputError(
            f"it unpacks to {size:,} bytes, more than {limit:,}, which may be a trap",
            file=file.name,
            advice=f"If you trust it, use max_bytes={size}.",
        )
