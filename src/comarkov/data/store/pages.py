"""Pages of mapped files: giving them back while a sweep goes on to other rows."""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple

import numpy as np


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
