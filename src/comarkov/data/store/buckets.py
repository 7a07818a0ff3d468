"""Entries that are too many for memory, sorted in two steps: into buckets on disk, then in each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np

from ...kernels.sorting import partition

PER_ENTRY = 40  # bytes that sorting needs for each entry of a bucket
MOST_BUCKETS = 500  # files that are open at the same time
INDEX = np.int32


class Entries(NamedTuple):
    """Places and weights: by a key, which is a row or a column, and the other of the two."""

    keys: np.ndarray
    others: np.ndarray
    weights: np.ndarray

    @classmethod
    def empty(cls, size: int, dtype: Any) -> Self:
        """Room for this many."""
        return cls(np.empty(size, INDEX), np.empty(size, INDEX), np.empty(size, dtype))


class Bucket(NamedTuple):
    """The entries of a range of keys."""

    start: int
    stop: int
    entries: Entries


def bucket_bounds(counts: np.ndarray, most: int) -> np.ndarray:
    """Where ranges of keys begin and end that have at most so many entries each, or one key."""
    ends = np.cumsum(counts)
    most = max(most, int(ends[-1]) // MOST_BUCKETS + 1) if ends.size else most
    bounds = [0]
    while bounds[-1] < counts.size:
        before = int(ends[bounds[-1] - 1]) if bounds[-1] else 0
        stop = int(np.searchsorted(ends, before + most, side="right"))
        bounds.append(max(stop, bounds[-1] + 1))
    return np.array(bounds)


class Buckets:
    """Files of entries, one for each range of keys."""

    def __init__(self, folder: Path, counts: np.ndarray, memory: int, dtype: Any) -> None:
        """``counts`` are the numbers of entries by key, of which memory limits a bucket."""
        self.bounds = bucket_bounds(counts, max(memory // PER_ENTRY, 1))
        self.dtype = np.dtype(dtype)
        self.folder = folder
        self._bucket_of = np.repeat(np.arange(self.count, dtype=np.int16), np.diff(self.bounds))
        self._sizes: list[list[int]] = [[] for _ in range(self.count)]  # of parts
        self._files: list[IO[bytes]] = []
        self._stack = ExitStack()

    @property
    def count(self) -> int:
        """The number of buckets."""
        return self.bounds.size - 1

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        self._files = [
            self._stack.enter_context((self.folder / str(b)).open("wb")) for b in range(self.count)
        ]
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def add(self, entries: Entries) -> None:
        """Write entries to the files of their buckets."""
        sizes = np.empty(self.count, np.int64)
        ordered = Entries.empty(entries.keys.size, self.dtype)
        partition(self._bucket_of, tuple(entries), sizes, tuple(ordered))
        ends = np.cumsum(sizes)
        for b in np.flatnonzero(sizes).tolist():
            part = slice(ends[b] - sizes[b], ends[b])
            for array in ordered:
                self._files[b].write(array[part].data.cast("B"))
            self._sizes[b].append(int(sizes[b]))

    def read(self) -> Iterator[Bucket]:
        """The buckets in order, each with its entries in the order in which they were added.

        The file of each is deleted when it has been read.
        """
        self._stack.close()
        for b, sizes in enumerate(self._sizes):
            path = self.folder / str(b)
            entries = Entries.empty(sum(sizes), self.dtype)
            place = 0
            with path.open("rb") as file:
                for size in sizes:
                    for array in entries:
                        file.readinto(array[place : place + size].data.cast("B"))
                    place += size
            path.unlink()
            yield Bucket(int(self.bounds[b]), int(self.bounds[b + 1]), entries)
        self.folder.rmdir()
