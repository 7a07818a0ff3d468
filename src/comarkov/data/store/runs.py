"""Runs: the edges of each source file on disk, with codes for their names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...kernels.sorting import count_keys
from ..reading.coding import Numbers, Texts
from ..reading.edge_files import EdgeFiles
from ..reading.edges import Edges
from ..units import INT32_MAX
from .arrays import mapped, write_array
from .buckets import INDEX, Entries
from .journal import Journal
from .names import read_names, write_names

FOLDER, NUMBERING = "runs", "numbering"  # in a draft
SIDES = ("row", "column")


class Tally(NamedTuple):
    """How often codes of a side occur in all runs, and the sums of their weights."""

    counts: np.ndarray
    sums: np.ndarray


@dataclass(frozen=True)
class Runs:
    """The runs of a draft: for each source file its blocks, of so many edges of a type."""

    folder: Path
    blocks: Sequence[Sequence[tuple[int, str]]]

    @property
    def size(self) -> int:
        """The number of edges."""
        return sum(size for run in self.blocks for size, _ in run)

    @property
    def are_whole(self) -> bool:
        """Are all weights whole numbers?"""
        return all(np.dtype(dtype).kind != "f" for run in self.blocks for _, dtype in run)

    def read(self) -> Iterator[Entries]:
        """All edges in the order of the sources, a block at a time."""
        for number, run in enumerate(self.blocks):
            with (self.folder / str(number)).open("rb") as file:
                for size, dtype in run:
                    entries = Entries.empty(size, dtype)
                    for array in entries:
                        file.readinto(array.data.cast("B"))
                    yield entries

    def tally(self, sizes: Sequence[int]) -> list[Tally]:
        """Count how often each row and each column occurs, given the numbers of both."""
        tallies = [Tally(np.zeros(size, np.int64), np.zeros(size)) for size in sizes]
        for entries in self.read():
            for tally, codes in zip(tallies, entries[:2], strict=True):
                count_keys(codes, entries.weights, tally.counts, tally.sums)
        return tallies


def write_runs(edges: EdgeFiles, journal: Journal, advance: Any) -> tuple[Runs, list[Any]]:
    """Write the runs of all files that have none yet; returns them and the codings."""
    folder = journal.folder / FOLDER
    folder.mkdir(exist_ok=True)
    (journal.folder / NUMBERING).mkdir(exist_ok=True)
    with edges.table(edges.files[0]) as first:
        if "about" not in journal.steps:
            journal.note("about", edges.facts(first))
        codings = _codings(edges, first, journal)
        sizes = [path.stat().st_size for path in edges.files]
        for number, path in enumerate(edges.files):
            if f"run {number}" not in journal.steps:
                batches = edges.batches(path, first, codings)
                blocks = _write_run(folder / str(number), batches)
                new = [_write_new_names(journal, c, s) for c, s in zip(codings, SIDES, strict=True)]
                journal.note(f"run {number}", {"blocks": blocks, "names": new})
            advance("Reading", sum(sizes[: number + 1]), sum(sizes))
    runs = [journal.steps[f"run {number}"]["blocks"] for number in range(len(edges.files))]
    return Runs(folder, runs), codings


def _write_run(path: Path, batches: Iterator[Edges]) -> list[tuple[int, str]]:
    """Write edges in their order; returns the size and the type of weights of each block."""
    blocks = []
    with path.open("wb") as file:
        for edges in batches:
            weights = _narrow(edges.weights)
            for array in (*(codes.astype(INDEX, copy=False) for codes in edges.codes), weights):
                file.write(np.ascontiguousarray(array).data.cast("B"))
            blocks.append((weights.size, weights.dtype.str))
        file.flush()
        os.fsync(file.fileno())
    return blocks


def _narrow(weights: np.ndarray) -> np.ndarray:
    """Weights in the smallest type that holds them exactly."""
    if weights.size == 0 or not (weights == np.floor(weights)).all():
        return weights.astype(np.float64, copy=False) if weights.size else weights.astype(np.uint8)
    most = weights.max()
    if most > INT32_MAX:
        return weights.astype(np.float64, copy=False)
    return weights.astype(np.uint8 if most <= np.iinfo(np.uint8).max else np.int32)


# --- codings that can be continued --------------------------------------------------------------


def _codings(edges: EdgeFiles, first: Any, journal: Journal) -> list[Any]:
    """The codings of rows and columns, with what they knew after the last complete run."""
    folder = journal.folder / NUMBERING
    if "codings" not in journal.steps:
        codings = edges.codings(first)
        for coding, side in zip(codings, SIDES, strict=True):
            if isinstance(coding, Numbers):
                write_array(folder / f"{side}.npy", coding.ids)
        journal.note("codings", [type(coding).__name__ for coding in codings])
        return codings
    return [
        Numbers(np.array(mapped(folder / f"{side}.npy")))
        if kind == Numbers.__name__
        else Texts(edges.options.keep_na, _known_names(journal, side))
        for kind, side in zip(journal.steps["codings"], SIDES, strict=True)
    ]


def _write_new_names(journal: Journal, coding: Any, side: str) -> int:
    """Write the names that are new since the last run; returns how many are known now."""
    if isinstance(coding, Numbers):
        return 0
    known = max((names[SIDES.index(side)] for names in _noted(journal)), default=0)
    new = coding.known_names[known:]
    if new.size:
        folder = journal.folder / NUMBERING / f"{side}-{known}"
        folder.mkdir(parents=True, exist_ok=True)
        write_names(folder, side, new)
    return int(known + new.size)


def _known_names(journal: Journal, side: str) -> list[str]:
    ends = sorted({names[SIDES.index(side)] for names in _noted(journal)} | {0})
    return [
        name
        for start, end in pairwise(ends)
        for name in read_names(journal.folder / NUMBERING / f"{side}-{start}", side, end - start)
    ]


def _noted(journal: Journal) -> list[list[int]]:
    """How many names were known after each run."""
    return [about["names"] for step, about in journal.steps.items() if step.startswith("run ")]
