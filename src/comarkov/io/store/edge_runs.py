"""From runs of edges to the rows of a matrix: names are sorted, and equal edges added up."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...joint.scale import INT32_MAX
from ...kernels.matrix import add_equal, count_keys, sort_by
from ..drafts import delayed
from ..files import draft_mode, put_folder, refuse_to_lose, room_for
from ..read.coding import Numbers, Texts
from ..read.edge_lists import EdgeBatch, EdgeFiles
from .building import INDEX, Block, Bucket, Buckets, Entries, MatrixWriter, settled
from .layout import ROWS, Description, mapped, read_names, write_array, write_names

JOURNAL, LOCK = "journal.jsonl", "lock"


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
    """Where the draft of a folder is, again and again."""
    return target.with_name(f".{target.name[:200]}.packing")


def has_draft(path: str | os.PathLike[str]) -> bool:
    """Is there a draft that can be continued?"""
    return (draft_of(Path(os.path.abspath(path))) / JOURNAL).is_file()


@contextmanager
def resumable_folder(
    target: Path, replace: bool, is_ours: Callable[[Path], bool], task: Any
) -> Iterator[Journal]:
    """A draft to write into, which gets the name of the target if all went well.

    If the work is interrupted or the disk is full, the draft stays, and the same ``task``
    continues it. If the work fails for another reason, it is removed.
    """
    draft, mode = draft_of(target), draft_mode(target, 0o777)
    with room_for(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            draft.mkdir(mode)
    with room_for(target), _locked(draft):
        journal = _continued(draft, json.loads(json.dumps(task)))
        try:
            yield journal
            refuse_to_lose(target, replace, is_ours)
        except (KeyboardInterrupt, OSError, MemoryError):
            raise
        except BaseException:
            with delayed():
                shutil.rmtree(draft, ignore_errors=True)
            raise
        with delayed():
            (draft / JOURNAL).unlink()
            (draft / LOCK).unlink()
            put_folder(draft, target)


def _continued(draft: Path, task: Any) -> Journal:
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


@contextmanager
def _locked(draft: Path) -> Iterator[None]:
    """Refuse to write into a draft that another process writes into."""
    try:
        import fcntl
    except ImportError:  # Windows, which has no such locks
        (draft / LOCK).touch()
        yield
        return
    with (draft / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BlockingIOError(
                f"{draft} is being written by another process. Wait for it, or choose another path."
            ) from None
        yield


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


def _write_run(path: Path, batches: Iterator[EdgeBatch]) -> list[tuple[int, str]]:
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


class Ranking(NamedTuple):
    """The names of a side in their final order, and the place of each code; None if equal."""

    names: np.ndarray
    places: np.ndarray | None

    @classmethod
    def of(cls, coding: Any, tally: Tally) -> Ranking:
        """The names that occur."""
        return cls(*coding.finish(np.flatnonzero(tally.counts)))

    def ranked(self, codes: np.ndarray) -> np.ndarray:
        """The places of codes."""
        return codes if self.places is None else self.places[codes]

    def added(self, amounts: np.ndarray) -> np.ndarray:
        """Amounts by code, added up by place."""
        if self.places is None:
            return amounts
        occurring = np.flatnonzero(amounts)
        return np.bincount(self.places[occurring], amounts[occurring], self.names.size)


def write_rows(
    runs: Runs, codings: Sequence[Any], folder: Path, memory: int, advance: Callable[..., None]
) -> Description:
    """Write the rows of the matrix and the names of both sides into a folder."""
    tallies = runs.tally([coding.size for coding in codings])
    rankings = [Ranking.of(*both) for both in zip(codings, tallies, strict=True)]
    sums = [ranking.added(tally.sums) for ranking, tally in zip(rankings, tallies, strict=True)]
    is_count = runs.are_whole and max(map(np.max, sums)) <= INT32_MAX
    counts = rankings[0].added(tallies[0].counts).astype(np.int64)
    shape = rankings[0].names.size, rankings[1].names.size
    names: dict[str, Any] = {}
    for side, ranking in zip(SIDES, rankings, strict=True):
        names |= write_names(folder, side, ranking.names)
    dtype = np.dtype(np.int32 if is_count else np.float64)
    del tallies, sums
    done = 0
    with Buckets(folder / "buckets", counts, memory, dtype) as buckets:
        for entries in runs.read():
            keys, others = (
                ranking.ranked(codes) for ranking, codes in zip(rankings, entries[:2], strict=True)
            )
            buckets.add(Entries(keys, others, entries.weights.astype(dtype, copy=False)))
            done += keys.size
            advance("Sorting rows", done, 2 * runs.size)
        with MatrixWriter(folder / ROWS, dtype) as writer:
            for bucket in buckets.read():
                writer.add(_summed(bucket, shape[1]))
                done += bucket.entries.keys.size
                advance("Sorting rows", done, 2 * runs.size)
    about = settled(folder, shape, writer)
    return replace(about, named=(True, True), files=about.files | names)


def _summed(bucket: Bucket, columns: int) -> Block:
    """Rows of a bucket, sorted by column, with equal edges added up and zeros left out."""
    if bucket.entries.weights.dtype == np.int32:
        return _summed_counts(bucket, columns)
    rows = bucket.entries.keys - INDEX(bucket.start)
    shape = bucket.stop - bucket.start, columns
    csr = sp.coo_array((bucket.entries.weights, (rows, bucket.entries.others)), shape).tocsr()
    csr.eliminate_zeros()
    return Block(csr.indptr, csr.indices, csr.data)


def _summed_counts(bucket: Bucket, columns: int) -> Block:
    """The same for counts, whose sums do not depend on their order: by column, then by row."""
    keys, others, weights = bucket.entries
    indptr = np.empty(columns + 1, np.int64)
    by_column = np.empty_like(keys), np.empty_like(weights)
    sort_by(others, (keys, weights), 0, indptr, by_column)
    columns_sorted = np.repeat(np.arange(columns, dtype=INDEX), np.diff(indptr))
    indptr = np.empty(bucket.stop - bucket.start + 1, np.int64)
    sort_by(by_column[0], (columns_sorted, by_column[1]), bucket.start, indptr, (others, weights))
    add_equal(indptr, others, weights)
    return Block(indptr, others[: indptr[-1]], weights[: indptr[-1]])
