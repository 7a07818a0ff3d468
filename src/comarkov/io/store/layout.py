"""What a store is on disk: a folder of plain arrays, and store.json, which describes them.

``rows`` holds the arrays of ``Joint.matrix``, ``columns`` those of its transpose, ``names`` the
names of rows and columns, and what else is known about them.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ...joint.messages import InputError
from ...joint.objects import as_objects
from ..files import BAD_HEADER, STORE
from ..read.data import NOTES, annotations_in, pop_strings

STORE_FORMAT = 2
ROWS_FOLDER, COLUMNS_FOLDER, NAMES_FOLDER = "rows", "columns", "names"  # folders in a store
#: The arrays of a matrix, as kernels take them; None for the type of the weights.
MATRIX_TYPES: dict[str, Any] = {
    "indptr": np.int64,
    "indices": np.uint32,
    "weights": None,
    "ones": np.int32,
    "twos": np.int32,
    "mass": np.float64,
}
BOTH_SIDES = ("row", "column")
WEIGHT_TYPES = ("int32", "float32", "float64")
#: What a description and ``Data`` have in common.
FACTS = ("row_kind", "column_kind", "source", "weighting", "named", "entry_kind", "reading")
LEAST_MAPPED_BYTES = 1 << 22  # what is smaller is read whole: nothing can change it any more
ARRAY_HEADER = 128  # bytes before the values of an array with one dimension, whatever its size


def damaged(path: Path) -> InputError:
    """The error about a file of a store that is not as it was written."""
    problem = "the file is damaged or missing, so the store cannot be used"
    return InputError(problem, file=path, advice="Pack its source again with overwrite=True.")


class Written(NamedTuple):
    """What is known about a complete file: its size and a digest of its values."""

    bytes: int
    sha256: str


class ArrayWriter:
    """An array in a new file that grows at its end; it is complete and on the disk on exit."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._file = path.open("wb")
        self._digest = hashlib.sha256()

    def __enter__(self) -> Self:
        self._write_header()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._file:
            if kind is None:
                self._write_header()
                self._file.flush()
                os.fsync(self._file.fileno())

    def append(self, values: np.ndarray) -> None:
        """Add values at the end."""
        if values.size:
            content = np.ascontiguousarray(values, self.dtype).data.cast("B")
            self._digest.update(content)
            self._file.write(content)
            self.size += values.size

    @property
    def written(self) -> Written:
        """What is known about the file so far."""
        return Written(ARRAY_HEADER + self.size * self.dtype.itemsize, self._digest.hexdigest())

    def _write_header(self) -> None:
        """Write the header, which has room for any size."""
        about = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.size,)}
        self._file.seek(0)
        np.lib.format.write_array_header_1_0(self._file, about)
        assert self._file.tell() == ARRAY_HEADER


def write_array(path: Path, values: np.ndarray) -> Written:
    """Write an array into a new file."""
    with ArrayWriter(path, values.dtype) as writer:
        writer.append(values)
    return writer.written


def map_array(path: Path) -> np.ndarray:
    """The array in a file, if it is large loaded where it is used; writing changes no file."""
    try:
        mode: Any = "c" if path.stat().st_size > LEAST_MAPPED_BYTES else None
        return np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False))
    except (OSError, ValueError, *BAD_HEADER) as error:
        raise damaged(path) from error


class MappedPages(NamedTuple):
    """The mapped arrays of a matrix that are large: one value for each entry."""

    arrays: tuple[np.ndarray, ...]

    def release(self, start: int, stop: int) -> None:
        """Give back the memory of the entries from start to stop; they are read again if needed."""
        for array in self.arrays:
            mapping: Any = array
            while isinstance(mapping, np.ndarray):
                mapping = mapping.base
            if not isinstance(mapping, mmap.mmap) or not hasattr(mapping, "madvise"):
                continue
            before = array.ctypes.data - np.frombuffer(mapping, np.uint8).ctypes.data
            first, last = (before + place * array.itemsize for place in (start, stop))
            first = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE
            last = len(mapping) if stop >= array.size else last // mmap.PAGESIZE * mmap.PAGESIZE
            if last > first:
                mapping.madvise(mmap.MADV_DONTNEED, first, last - first)


@dataclass(frozen=True)
class Description:
    """The content of store.json."""

    shape: tuple[int, int]
    entries: int
    is_count: bool
    scale: float
    spread: float
    weights: str  #: the type of the weights
    row_kind: str = "row"
    column_kind: str = "column"
    source: str = ""
    weighting: str | None = None
    named: tuple[bool, bool] = (False, False)
    entry_kind: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Written] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write store.json, the last file of a store."""
        files = {name: written._asdict() for name, written in self.files.items()}
        spread = None if np.isinf(self.spread) else self.spread
        content = asdict(self) | {"spread": spread, "files": files}
        about = {"format": STORE_FORMAT, "digest": _digest(content), **content}
        text = json.dumps(about, indent=1, ensure_ascii=False) + "\n"
        (folder / STORE).write_text(text, encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Description:
        """Read store.json, and check that all arrays are listed, and have their sizes."""
        arrays = {path.relative_to(folder).as_posix() for path in folder.rglob("*.npy")}
        try:
            content = json.loads((folder / STORE).read_text(encoding="utf-8"))
            if (version := content.pop("format")) != STORE_FORMAT:
                problem = f"it is a store of format {version}, and this comarkov reads format "
                advice = "Pack its source again, or install the version that wrote it."
                raise InputError(f"{problem}{STORE_FORMAT}", file=folder, advice=advice)
            is_unchanged = content.pop("digest") == _digest(content)
            content |= {name: tuple(content[name]) for name in ("shape", "named")}
            content["spread"] = np.inf if content["spread"] is None else content["spread"]
            content["files"] = {name: Written(**each) for name, each in content["files"].items()}
            about = cls(**content)
            is_sound = is_unchanged and about._is_sound() and arrays <= about.files.keys()
        except InputError:
            raise
        except (OSError, KeyError, TypeError, AttributeError, RecursionError, ValueError) as error:
            raise damaged(folder / STORE) from error
        if not is_sound:
            raise damaged(folder / STORE)
        for name, written in about.files.items():
            path = folder / name
            if not path.is_file() or path.stat().st_size != written.bytes:
                raise damaged(path)
        return about

    def _is_sound(self) -> bool:
        """Have all values their types, and numbers that can be?"""
        counts = (*self.shape, self.entries)
        texts = (self.row_kind, self.column_kind, self.source, self.entry_kind)
        return (
            len(self.shape) == 2
            and all(type(count) is int and count > 0 for count in counts)
            and type(self.is_count) is bool
            and self.weights in WEIGHT_TYPES
            and all(type(value) is float for value in (self.scale, self.spread))  # for kernels
            and isinstance(self.weighting, str | None)
            and 0 < self.scale < math.inf
            and self.spread > 0
            and all(isinstance(text, str) for text in texts)
            and len(self.named) == 2
            and isinstance(self.reading, dict)
            and not any(".." in name or name.startswith("/") for name in self.files)
        )

    def verify(self, folder: Path, advance: Any = None) -> None:
        """Compare all files with their checksums; an error names the first that differs."""
        done, total = 0, self.bytes
        for name, written in self.files.items():
            with (folder / name).open("rb") as file:
                file.seek(ARRAY_HEADER)
                if hashlib.file_digest(file, "sha256").hexdigest() != written.sha256:
                    raise damaged(folder / name)
            done += written.bytes
            if advance is not None:
                advance(done, total)

    @property
    def bytes(self) -> int:
        """The size of all files together."""
        return sum(written.bytes for written in self.files.values())


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def write_names(folder: Path, parts: Mapping[str, np.ndarray]) -> dict[str, Written]:
    """Write arrays with names, classes and texts."""
    (folder / NAMES_FOLDER).mkdir(exist_ok=True)
    files = {f"{NAMES_FOLDER}/{name}.npy": values for name, values in parts.items()}
    return {name: write_array(folder / name, values) for name, values in files.items()}


def map_names(folder: Path) -> dict[str, np.ndarray]:
    """The arrays with names, classes and texts; they stay as they are if the folder is replaced."""
    return {path.stem: map_array(path) for path in (folder / NAMES_FOLDER).glob("*.npy")}


def names_in(arrays: Mapping[str, np.ndarray], side: str, size: int) -> np.ndarray:
    """The names of a side, or its numbers from 0 if it has none."""
    names = pop_strings(dict(arrays), side)
    return as_objects(list(map(str, range(size))) if names is None else names)


def annotations_of(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Classes, texts and the keywords of ``read``, as keywords of ``Data``."""
    parts = dict(arrays)
    if NOTES in parts:
        parts[NOTES] = np.array(parts[NOTES].tobytes().decode("utf-8"))
    annotations = annotations_in(parts)
    texts = annotations["texts"]
    return annotations | {"texts": None if texts is None else as_objects(texts)}
