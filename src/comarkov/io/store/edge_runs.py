"""From edge lists of any size to the rows of a matrix, in a folder in which work can be continued.

The edges of each source file become a run, a file of numbered edges in their order. Then names are
sorted, edges are sorted by row, and equal ones are added up.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...joint.scale import INT32_MAX, are_whole
from ...kernels.matrix import add_equal, count_keys, sort_by
from ..files import draft_mode, free_place, is_store, put_folder, room_for
from ..interrupts import delayed
from ..read.coding import Texts
from ..read.edge_lists import EdgeBatch, EdgeFiles
from .building import (
    INDEX_TYPE,
    Block,
    Bucket,
    KeyedEntries,
    MatrixWriter,
    settle,
    sort_on_disk,
)
from .layout import ROWS_FOLDER, Description, read_names, write_names

JOURNAL, LOCK = "journal.jsonl", "lock"  # files in a draft
RUNS, NUMBERING = "runs", "numbering"  # folders in a draft
BOTH_SIDES = ("row", "column")


class Journal(NamedTuple):
    """A draft folder, and the steps in it that are complete."""

    folder: Path
    steps: dict[str, Any]  #: what is known about each complete step

    def note(self, step: str, about: Any = None) -> None:
        """Note that a step is complete; its files are on the disk already."""
        with (self.folder / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(json.dumps([step, about]) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.steps[step] = about


def draft_of(target: Path) -> Path:
    """Where the draft of a store is, again and again."""
    return target.with_name(f".{target.name[:200]}.packing")


def has_draft(path: str | os.PathLike[str]) -> bool:
    """Is there a draft that can be continued?"""
    return (draft_of(Path(os.path.abspath(path))) / JOURNAL).is_file()


@contextmanager
def resumable_store(target: Path, replace: bool, task: Any) -> Iterator[Journal]:
    """A draft to write into, which gets the name of the target if all went well.

    If the work is interrupted or the disk is full, the draft stays, and the same ``task``
    continues it. If the work fails for another reason, it is removed.
    """
    draft, mode = draft_of(target), draft_mode(target, 0o777)
    with room_for(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            draft.mkdir(mode)
        with _lock(draft):
            try:
                yield _open_journal(draft, json.loads(json.dumps(task)))
                free_place(target, replace, is_store)
            except (KeyboardInterrupt, OSError, MemoryError):
                raise
            except BaseException:
                with delayed():
                    shutil.rmtree(draft, ignore_errors=True)
                raise
            with delayed():
                (draft / JOURNAL).unlink()
                (draft / LOCK).unlink()
                put_folder(draft, target, replace, is_store)


@contextmanager
def _lock(draft: Path) -> Iterator[None]:
    """Refuse to write into a draft that another process writes into."""
    with (draft / LOCK).open("w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # Windows has no such locks
        except OSError:
            raise BlockingIOError(
                f"{draft} is being written by another process. Wait for it, or choose another path."
            ) from None
        yield


def _open_journal(draft: Path, task: Any) -> Journal:
    """The journal of a draft; a new one, in an empty folder, if it is that of another task."""
    steps: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        for line in (draft / JOURNAL).read_text(encoding="utf-8").splitlines():
            step, about = json.loads(line)  # the last may be incomplete
            steps[step] = about
    if steps.get("task") == task:
        return Journal(draft, steps)
    for path in draft.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
    journal = Journal(draft, {})
    journal.note("task", task)
    return journal


# --- runs ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EdgeRuns:
    """The runs of a draft: for each source file its blocks, of so many edges of a type."""

    folder: Path
    blocks: Sequence[Sequence[tuple[int, str]]]

    @property
    def size(self) -> int:
        """The number of edges."""
        return sum(size for run in self.blocks for size, _ in run)

    def read(self) -> Iterator[KeyedEntries]:
        """All edges in the order of the sources, a block at a time."""
        for number, run in enumerate(self.blocks):
            with (self.folder / str(number)).open("rb") as file:
                for size, dtype in run:
                    entries = KeyedEntries.empty(size, dtype)
                    entries.read(file)
                    yield entries


def write_runs(edges: EdgeFiles, journal: Journal, advance: Any) -> tuple[EdgeRuns, list[Any]]:
    """Write the runs of all files that have none yet; returns them and the codings of names."""
    folder, numbering = journal.folder / RUNS, journal.folder / NUMBERING
    folder.mkdir(exist_ok=True)
    with edges.table(edges.files[0]) as first:
        if "about" not in journal.steps:
            journal.note("about", edges.facts(first))
        codings = _codings(edges, first, journal)
        sizes = [path.stat().st_size for path in edges.files]
        for number, path in enumerate(edges.files):
            if f"run {number}" not in journal.steps:
                known = [_names(coding).size for coding in codings]
                blocks = _write_run(folder / str(number), edges.batches(path, first, codings))
                for coding, side, start in zip(codings, BOTH_SIDES, known, strict=True):
                    if (new := _names(coding)[start:]).size:
                        write_names(numbering / str(number), side, new)
                journal.note(f"run {number}", blocks)
            advance("Reading", sum(sizes[: number + 1]), sum(sizes))
    return EdgeRuns(folder, [journal.steps[f"run {n}"] for n in range(len(edges.files))]), codings


def _write_run(path: Path, batches: Iterator[EdgeBatch]) -> list[tuple[int, str]]:
    """Write edges in their order; returns the size and the type of weights of each block."""
    blocks = []
    with path.open("wb") as file:
        for edges in batches:
            weights = _narrow(edges.weights)
            rows, columns = (codes.astype(INDEX_TYPE, copy=False) for codes in edges.codes)
            KeyedEntries(rows, columns, weights).write(file)
            blocks.append((weights.size, weights.dtype.str))
        file.flush()
        os.fsync(file.fileno())
    return blocks


def _narrow(weights: np.ndarray) -> np.ndarray:
    """Weights in the smallest type that holds them exactly."""
    most = weights.max(initial=0)
    if most > INT32_MAX or not are_whole(weights):
        return weights.astype(np.float64, copy=False)
    return weights.astype(np.uint8 if most <= np.iinfo(np.uint8).max else np.int32)


def _codings(edges: EdgeFiles, first: Any, journal: Journal) -> list[Any]:
    """The codings of rows and columns, as they were after the last complete run."""
    runs = sum(step.startswith("run ") for step in journal.steps)
    codings = edges.codings(first)
    for i, side in enumerate(BOTH_SIDES):
        folders = [journal.folder / NUMBERING / str(number) for number in range(runs)]
        names = [name for folder in folders for name in read_names(folder, side, 0)]
        if isinstance(codings[i], Texts) and names:
            codings[i] = Texts(edges.options.keep_na, names)
    return codings


def _names(coding: Any) -> np.ndarray:
    """The names that have codes so far, unless they are numbers, which are all known before."""
    return coding.known_names if isinstance(coding, Texts) else np.empty(0, object)


# --- rows ---------------------------------------------------------------------------------------


class Ranking(NamedTuple):
    """The names of a side in their final order, and what is known about each."""

    names: np.ndarray
    places: np.ndarray | None  #: of codes; None if they are equal
    counts: np.ndarray  #: how often each occurs in all runs
    sums: np.ndarray  #: of the weights

    @classmethod
    def of(cls, coding: Any, counts: np.ndarray, sums: np.ndarray) -> Ranking:
        """The ranking of a coding, from the counts and sums of all codes."""
        codes = np.flatnonzero(counts)
        names, places = coding.finish(codes)
        if places is not None:
            counts, sums = (
                np.bincount(places[codes], amounts[codes], names.size) for amounts in (counts, sums)
            )
        return cls(names, places, counts.astype(np.int64), sums)

    def rank(self, codes: np.ndarray) -> np.ndarray:
        """The places of codes."""
        return codes if self.places is None else self.places[codes]


def _rank_names(runs: EdgeRuns, codings: Sequence[Any]) -> list[Ranking]:
    tallies = [(np.zeros(coding.size, np.int64), np.zeros(coding.size)) for coding in codings]
    for entries in runs.read():
        for tally, codes in zip(tallies, entries[:2], strict=True):
            count_keys(codes, entries.weights, *tally)
    return [Ranking.of(coding, *tally) for coding, tally in zip(codings, tallies, strict=True)]


def write_rows(
    runs: EdgeRuns, codings: Sequence[Any], folder: Path, memory: int, advance: Any
) -> Description:
    """Write the rows of the matrix and the names of both sides into a folder."""
    rows, columns = rankings = _rank_names(runs, codings)
    are_whole = all(np.dtype(dtype).kind != "f" for run in runs.blocks for _, dtype in run)
    is_count = are_whole and max(rows.sums.max(), columns.sums.max()) <= INT32_MAX
    dtype = np.dtype(np.int32 if is_count else np.float64)
    names: dict[str, Any] = {}
    for side, ranking in zip(BOTH_SIDES, rankings, strict=True):
        names |= write_names(folder, side, ranking.names)
    entries = (
        KeyedEntries(rows.rank(keys), columns.rank(others), weights.astype(dtype, copy=False))
        for keys, others, weights in runs.read()
    )
    report = partial(advance, "Sorting rows")
    buckets = sort_on_disk(folder / "buckets", rows.counts, entries, dtype, memory, report)
    with MatrixWriter(folder / ROWS_FOLDER, dtype) as writer:
        for bucket in buckets:
            writer.add(_add_edges(bucket, columns.names.size))
    about = settle(folder, (rows.names.size, columns.names.size), writer)
    return replace(about, named=(True, True), files=about.files | names)


def _add_edges(bucket: Bucket, columns: int) -> Block:
    """Rows of a bucket, sorted by column, with equal edges added up and zeros left out."""
    if bucket.entries.weights.dtype == np.int32:
        return _add_counts(bucket, columns)
    rows = bucket.entries.keys - INDEX_TYPE(bucket.start)
    shape = bucket.stop - bucket.start, columns
    csr = sp.coo_array((bucket.entries.weights, (rows, bucket.entries.others)), shape).tocsr()
    csr.eliminate_zeros()
    return Block(csr.indptr, csr.indices, csr.data)


def _add_counts(bucket: Bucket, columns: int) -> Block:
    """Rows of counts, whose sums do not depend on their order: sorted by column, then by row."""
    keys, others, weights = bucket.entries
    indptr = np.empty(columns + 1, np.int64)
    by_column = np.empty_like(keys), np.empty_like(weights)
    sort_by(others, (keys, weights), 0, indptr, by_column)
    columns_sorted = np.repeat(np.arange(columns, dtype=INDEX_TYPE), np.diff(indptr))
    indptr = np.empty(bucket.stop - bucket.start + 1, np.int64)
    sort_by(by_column[0], (columns_sorted, by_column[1]), bucket.start, indptr, (others, weights))
    add_equal(indptr, others, weights)
    return Block(indptr, others[: indptr[-1]], weights[: indptr[-1]])
