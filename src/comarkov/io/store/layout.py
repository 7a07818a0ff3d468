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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np

from ..files import STORE
from ..isolation import BAD_HEADER
from ..read.data import NOTES, Data, annotation_parts, annotations_in, pop_strings

CHUNK = 1 << 22  # bytes at a time
HEADER = 128  # bytes before the values of an array with one dimension, whatever its size


class Written(NamedTuple):
    """What is known about a complete file: its size and a digest of its values."""

    bytes: int
    sha256: str


class ArrayWriter:
    """An array in a file that grows at its end, with a digest of what was written."""

    def __init__(self, file: IO[bytes], dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._file = file
        self._digest = hashlib.sha256()
        self._write_header()

    @classmethod
    @contextmanager
    def to(cls, path: Path, dtype: Any) -> Iterator[Self]:
        """Write to a new file, which is complete and on the disk in the end."""
        with path.open("wb") as file:
            writer = cls(file, dtype)
            yield writer
            writer._write_header()
            file.flush()
            os.fsync(file.fileno())

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
        return Written(HEADER + self.size * self.dtype.itemsize, self._digest.hexdigest())

    def _write_header(self) -> None:
        """Write the header, which has room for any size."""
        about = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.size,)}
        self._file.seek(0)
        np.lib.format.write_array_header_1_0(self._file, about)
        if self._file.tell() != HEADER:
            raise OSError(f"The header of an array takes {self._file.tell()} bytes, not {HEADER}.")


def write_array(path: Path, values: np.ndarray) -> Written:
    """Write an array into a new file."""
    with ArrayWriter.to(path, values.dtype) as writer:
        writer.append(values)
    return writer.written


def digest_of(path: Path) -> str:
    """The digest of the values in a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(HEADER)
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def mapped(path: Path) -> np.ndarray:
    """The array in a file, loaded where it is used; writing to it changes no file."""
    try:
        return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
    except (OSError, ValueError, *BAD_HEADER) as error:
        raise damaged_file(path) from error


def damaged_file(path: Path) -> ValueError:
    """The error about a file of a store that is not as it was written."""
    return ValueError(
        f"{path} is damaged or missing, so the store cannot be used. Pack its source again with "
        "overwrite=True."
    )


FORMAT = 1
ROWS, COLUMNS, NAMES = "rows", "columns", "names"  # folders in a store
ARRAYS = ("indptr", "indices", "weights", "ones", "twos", "mass")  # of a matrix, as kernels take it

WEIGHTS = ("int32", "float32", "float64")
#: What a description and ``Data`` have in common.
FACTS = ("row_kind", "column_kind", "source", "weighting", "named", "entry_kind", "reading")


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

    def as_json(self) -> dict[str, Any]:
        """The description as plain values."""
        content = asdict(self)
        content["spread"] = None if np.isinf(self.spread) else self.spread
        content["files"] = {name: written._asdict() for name, written in self.files.items()}
        return content

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> Description:
        """The description from plain values."""
        values = dict(content)
        values["shape"], values["named"] = tuple(values["shape"]), tuple(values["named"])
        values["spread"] = np.inf if values["spread"] is None else values["spread"]
        values["files"] = {name: Written(**each) for name, each in values["files"].items()}
        return cls(**values)

    def write(self, folder: Path) -> None:
        """Write store.json, the last file of a store."""
        content = {"format": FORMAT, **self.as_json()}
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        (folder / STORE).write_text(text, encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Description:
        """Read store.json, and check that all files have their sizes."""
        content = _content(folder)
        try:
            description = cls.of_json(content)
            is_sound = description._is_sound()
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise damaged(folder, STORE) from error
        if not is_sound:
            raise damaged(folder, STORE)
        for name, written in description.files.items():
            path = folder / name
            if not path.is_file() or path.stat().st_size != written.bytes:
                raise damaged(folder, name)
        return description

    def _is_sound(self) -> bool:
        """Have all values their types, and numbers that can be?"""
        counts = (*self.shape, self.entries)
        texts = (self.row_kind, self.column_kind, self.source, self.entry_kind)
        return (
            len(self.shape) == 2
            and all(type(count) is int and count > 0 for count in counts)
            and type(self.is_count) is bool
            and self.weights in WEIGHTS
            and all(isinstance(value, int | float) for value in (self.scale, self.spread))
            and 0 < self.scale < math.inf
            and self.spread > 0
            and all(isinstance(text, str) for text in texts)
            and len(self.named) == 2
            and isinstance(self.reading, dict)
            and not any(".." in name or name.startswith("/") for name in self.files)
        )

    def verify(self, folder: Path, advance: Any = None) -> None:
        """Compare all files with their checksums; an error names the first that differs."""
        done, total = 0, sum(written.bytes for written in self.files.values())
        for name, written in self.files.items():
            if digest_of(folder / name) != written.sha256:
                raise damaged(folder, name)
            done += written.bytes
            if advance is not None:
                advance(done, total)


def _content(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / STORE).read_text(encoding="utf-8"))
        version = content.pop("format")
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise damaged(folder, STORE) from error
    if version != FORMAT:
        raise ValueError(
            f"{folder} is a store of format {version}, but this version of comarkov reads format "
            f"{FORMAT}. Pack its source again, or install the version that wrote it."
        )
    return dict(content)


def damaged(folder: Path, name: str) -> ValueError:
    """The error about a file of a store that is not as it was written."""
    return damaged_file(folder / name)


class Pages(NamedTuple):
    """The mapped arrays of a matrix that are large: one value for each entry."""

    arrays: tuple[np.ndarray, ...]

    def release(self, start: int, stop: int) -> None:
        """Give back the memory of the entries from start to stop; they are read again if needed.

        Nothing that was written to them is kept: mapped arrays are only read.
        """
        for array in self.arrays:
            mapping = _mapping_of(array)
            if mapping is not None and hasattr(mapping, "madvise"):
                _release(mapping, array, start, stop)


def _mapping_of(array: np.ndarray) -> mmap.mmap | None:
    """The mapped file that an array is in."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return owner if isinstance(owner, mmap.mmap) else None


def _release(mapping: mmap.mmap, array: np.ndarray, start: int, stop: int) -> None:
    """Give back all pages that lie between two positions of an array."""
    before = array.ctypes.data - np.frombuffer(mapping, np.uint8).ctypes.data
    first, last = (before + place * array.itemsize for place in (start, stop))
    first = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE
    last = len(mapping) if stop >= array.size else last // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        mapping.madvise(mmap.MADV_DONTNEED, first, last - first)


AT_A_TIME = 1 << 16  # names


def names_file(side: str) -> str:
    """The file in a store with the names of a "row" or "column"."""
    return f"{NAMES}/{side}_names.npy"


def write_names(folder: Path, side: str, names: Sequence[str] | np.ndarray) -> dict[str, Written]:
    """Write the names of a "row" or "column", a part at a time."""
    (folder / NAMES).mkdir(exist_ok=True)
    texts, ends = names_file(side), f"{NAMES}/{side}_name_ends.npy"
    with (
        ArrayWriter.to(folder / texts, np.uint8) as text,
        ArrayWriter.to(folder / ends, np.int64) as end,
    ):
        for start in range(0, len(names), AT_A_TIME):
            part = [
                name.encode("utf-8", "surrogatepass") for name in names[start : start + AT_A_TIME]
            ]
            end.append(text.size + np.cumsum([len(name) for name in part], dtype=np.int64))
            text.append(np.frombuffer(b"".join(part), np.uint8))
    return {texts: text.written, ends: end.written}


def write_annotations(folder: Path, data: Data) -> dict[str, Written]:
    """Write classes and texts."""
    parts = annotation_parts(data, {})
    if NOTES in parts:
        parts[NOTES] = np.frombuffer(str(parts[NOTES]).encode("utf-8"), np.uint8)
    files = {f"{NAMES}/{name}.npy": values for name, values in parts.items()}
    return {name: write_array(folder / name, values) for name, values in files.items()}


def read_names(folder: Path, side: str, size: int) -> np.ndarray:
    """The names of a side, or its numbers from 0 if it has none."""
    listed = pop_strings(_parts(folder, f"{side}_name*"), side)
    return _as_objects(list(map(str, range(size))) if listed is None else listed)


def read_annotations(folder: Path) -> dict[str, Any]:
    """Classes, texts and the keywords of ``read``, as keywords of ``Data``."""
    parts = _parts(folder, "*")
    for side in ("row", "column"):
        parts.pop(f"{side}_names", None)
        parts.pop(f"{side}_name_ends", None)
    if NOTES in parts:
        parts[NOTES] = np.array(parts[NOTES].tobytes().decode("utf-8"))
    annotations = annotations_in(parts)
    texts = annotations["texts"]
    return annotations | {"texts": None if texts is None else _as_objects(texts)}


def _as_objects(texts: list[str]) -> np.ndarray:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def _parts(folder: Path, pattern: str) -> dict[str, np.ndarray]:
    return {path.stem: mapped(path) for path in (folder / NAMES).glob(f"{pattern}.npy")}
