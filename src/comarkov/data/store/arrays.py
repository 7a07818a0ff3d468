"""Plain .npy files that are written a part at a time, checked, and mapped into memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np

from ..array_headers import BAD_HEADER

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
