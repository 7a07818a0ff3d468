"""A worker: it computes parts of a matrix with the threads of its process.

A half-step of a sweep asks for all parts at once. Each part moves its rows one after another,
against a copy of the table as it was at the beginning, so the answer depends neither on who
computes a part nor on when. One worker has all parts of a matrix in memory or on disk; several, on
a Dask cluster, have some each, see ``peers``.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...joint.joint import Joint
from ...joint.machine import in_order
from ...joint.parts import Change, TableSum, aligned_ranges, count_parts, part_bounds, total
from ...kernels.matrix import Matrix, row_parts
from ...kernels.sweep import Clusters, insertion_costs, sweep
from ...kernels.tables import (
    MassTable,
    add_blocks,
    add_cells,
    add_labelled,
    copy_items,
    derive_items,
    entropy_change,
    mark_items,
    take_back,
)
from .mass_tables import copied, new_workspace, with_derived

JOBS_PER_THREAD = 2  # with at least so many, each thread does whole jobs
REMEMBERED = 8  # changes that copies can catch up with; older copies are made again
CHUNK = 1 << 12  # items that one thread looks at

T = TypeVar("T")
Rows = list[np.ndarray]  # of each part, as positions in the part
Stop = Callable[[], bool]
Results = tuple[np.ndarray, ...]

#: A function of the clusters of rows, the rows, and their costs in each cluster, in nats times
#: mass, after each was removed from its own. It returns arrays with a line for each row.
RowTask = Callable[[np.ndarray, Matrix, np.ndarray], Results]


class SharedTable:
    """A table of masses whose copies derive only what has changed since they were made."""

    def __init__(self, table: MassTable) -> None:
        self.table = table
        self.version = 0
        self._changed: deque[np.ndarray] = deque(maxlen=REMEMBERED)

    def accept(self, change: Change) -> None:
        """Add a change to the masses."""
        add_cells(self.table.mass, change.items, change.cells)
        self._changed.append(change.items)
        self.version += 1

    def changed_since(self, version: int) -> list[np.ndarray] | None:
        """Return the items of each change since a version; None if that is forgotten."""
        behind = self.version - version
        known = list(self._changed)
        return known[len(known) - behind :] if 0 <= behind <= len(known) else None


class TableCopy(NamedTuple):
    """A copy of a shared table, as it was at some version."""

    source: SharedTable
    version: int
    table: MassTable


class Job(NamedTuple):
    """What all parts are asked to do with one table."""

    table: SharedTable
    clusters: Clusters  # of all rows
    rows: Rows  # to visit, in this order
    sizes: Sequence[np.ndarray]  # of the clusters, as far as each part has to know
    blocks: MassTable
    cross: np.ndarray  # masses of all rows by clusters of the other side; empty without influence
    coupling: float


class OwnStep(NamedTuple):
    """What the parts of one worker have done; sums are those of ``aligned_ranges`` of parts."""

    labels: np.ndarray  # of all rows; those of others are as before
    margins: np.ndarray
    tallies: list[tuple[int, float]]  # moves and drift of each part
    changes: list[Change]  # of the table; one in sum if it has counts
    blocks: list[np.ndarray]  # masses by (column cluster, row cluster), and by row cluster


class HalfStep(NamedTuple):
    """The clusters after a job, and what it has changed."""

    labels: np.ndarray
    margins: np.ndarray
    moves: int
    drift: float
    change: Change  # of the table
    blocks: np.ndarray
    entropy: float  # by how much Σ f of the table grows, f(v) = v ln v


class Worker:
    """Threads that share a matrix in memory, or mapped from disk."""

    def __init__(self, joint: Joint, bounds: np.ndarray, threads: int) -> None:
        self.joint = joint
        self.bounds = bounds  # part p has the rows from bounds[p] to bounds[p + 1]
        self.n = threads
        self.is_exact = joint.mass_dtype is np.int32
        self._copies: dict[int, TableCopy] = {}  # by thread

    # --- what all parts compute -------------------------------------------------------------------

    def map(self, task: Callable[..., T], own: Sequence[tuple[Any, ...]]) -> Iterable[T]:
        """Return task(part, *own[p]) of each part, in order."""
        return self._each_own(lambda p: task(self.part(p), *own[p]))

    def masses(self, labels: np.ndarray, table: MassTable) -> np.ndarray:
        """Return the masses by (column, row cluster)."""
        (whole,) = self._sums(labels, table)
        return whole

    def half_steps(self, jobs: Sequence[Job], stop: Stop) -> list[HalfStep] | None:
        """Move rows of all parts at the same time; None once ``stop`` returns True."""
        steps = self.own_steps(jobs, stop)
        if steps is None:
            return None
        return [
            joined_step(own, own.changes[0], own.blocks, self.entropies(job, own.changes[0]))
            for job, own in zip(jobs, steps, strict=True)
        ]

    def each_row(self, job: Job, task: RowTask) -> Iterable[Results]:
        """Return the results of a task with the costs of the rows of each part, in order."""

        def work(p: int) -> Results:
            rows = slice(self.bounds[p], self.bounds[p + 1])
            costs_of = self._copy(job.table), job.blocks, job.cross[rows], job.coupling
            return _costed(
                self.part(p), job.clusters.label[rows], job.sizes[p].size, task, *costs_of
            )

        return self._each_own(work)

    def rows(self, numbers: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Return a matrix in this process that has these rows, and where they are in it."""
        return self.joint.matrix, numbers

    def chunks(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return work(0), ..., work(count - 1), on chunks of a table, done at the same time."""
        return self.each(work, count)

    def each(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return work(0), ..., work(count - 1), done at the same time in this process."""
        return list(in_order(work, range(count), self.n))

    # --- what this worker computes of it ----------------------------------------------------------

    @property
    def own(self) -> range:
        """The parts that this worker has."""
        return range(self.bounds.size - 1)

    def part(self, p: int) -> Matrix:
        """Return the rows of a part."""
        start, stop = self.bounds[p], self.bounds[p + 1]
        matrix = self.joint.matrix
        return matrix._replace(
            indptr=matrix.indptr[start : stop + 1],
            ones=matrix.ones[start:stop],
            twos=matrix.twos[start:stop],
            mass=matrix.mass[start:stop],
        )

    def _each_own(self, work: Callable[[int], T]) -> Iterator[T]:
        """Yield the results of work on each part of this worker, in order."""

        def released(p: int) -> T:
            result = work(p)
            self.joint.release_rows(self.bounds[p], self.bounds[p + 1])
            return result

        return in_order(released, self.own, self.n)

    def _sums(self, labels: np.ndarray, table: MassTable) -> list[np.ndarray]:
        """Return the masses of aligned ranges of parts; of all together if sums are exact."""
        free: list[np.ndarray] = []  # as many tables as there are threads, if sums are exact

        def add(p: int) -> np.ndarray:
            mass = _popped(free) if self.is_exact else None
            mass = np.zeros(table.mass.shape, table.mass.dtype) if mass is None else mass
            add_labelled(mass, self.part(p), labels[self.bounds[p] : self.bounds[p + 1]])
            if self.is_exact:
                free.append(mass)
            return mass

        done = self._each_own(add)
        if not self.is_exact:
            return self._by_range(done, np.ndarray.__iadd__)
        deque(done, maxlen=0)
        return [reduce(np.ndarray.__iadd__, free)] if free else []

    def own_steps(self, jobs: Sequence[Job], stop: Stop) -> list[OwnStep] | None:
        """Move the rows of the parts of this worker; None once ``stop`` returns True."""
        try:
            if len(jobs) >= JOBS_PER_THREAD * self.n:  # a thread needs one copy for a whole job
                return self.each(lambda i: self._own_step(jobs[i], stop), len(jobs))
            return [self._own_step(job, stop) for job in jobs]
        except _StoppedError:
            return None

    def _own_step(self, job: Job, stop: Stop) -> OwnStep:
        labels, margins = job.clusters.label.copy(), job.clusters.margin.copy()
        tallies: list[tuple[int, float]] = []
        blocks: list[np.ndarray] = []
        whole = TableSum(job.table.table.mass) if self.is_exact else None

        def move(p: int) -> tuple[int, float, Change, np.ndarray]:
            if stop():
                raise _StoppedError
            rows = slice(self.bounds[p], self.bounds[p + 1])
            after = Clusters(labels[rows], job.sizes[p].copy(), margins[rows])
            done = self._moved(job, p, after, whole)
            mass = np.zeros_like(job.blocks.mass)
            add_blocks(mass, job.cross[rows], after.label, self.part(p).mass)
            return *done, mass

        def changes() -> Iterator[Change]:
            for moves, drift, change, mass in self._each_own(move):
                tallies.append((moves, drift))
                blocks.append(mass)
                last = [change]
                del change
                yield last.pop()  # nothing here holds it while the next part works

        if whole is None:
            sums = self._by_range(changes(), Change.plus)
        else:
            deque(changes(), maxlen=0)
            sums = [whole.change()]
        return OwnStep(
            labels, margins, tallies, sums, self._by_range(iter(blocks), np.ndarray.__iadd__)
        )

    def entropies(self, job: Job, change: Change, first: int = 0) -> list[float]:
        """Return by how much Σ f of each chunk of the table grows; items count from ``first``."""
        if job.coupling == 0.0 or change.items.size == 0:
            return []
        mass, (items, cells) = job.table.table.mass, change
        starts = range(first, int(items[-1]) + 1, CHUNK)
        ends = np.searchsorted(items, [*starts, starts.stop])

        def of_chunk(i: int) -> float:
            some = slice(ends[i], ends[i + 1])
            return float(entropy_change(mass, items[some], cells[some]))

        return self.each(of_chunk, len(starts))

    def _moved(
        self, job: Job, p: int, after: Clusters, whole: TableSum | None
    ) -> tuple[int, float, Change]:
        """Move rows of a part, against a copy of the table, which is as before afterwards."""
        if job.rows[p].size == 0:
            return 0, 0.0, NO_CHANGE
        part, table, blocks = self.part(p), self._copy(job.table), copied(job.blocks)
        cross = job.cross[self.bounds[p] : self.bounds[p + 1]]
        before = after.label.copy()
        scratch = new_workspace(blocks)
        moves, _, drift = sweep(
            job.rows[p], part, after, table, blocks, cross, job.coupling, scratch
        )
        items = _touched(part, before, after.label, len(table.mass))
        shared, change = job.table.table.mass, NO_CHANGE
        if whole is not None:
            whole.take_back(table.mass, shared, items)
        else:
            change = Change(items, np.empty((items.size, shared.shape[1]), shared.dtype))
            take_back(table.mass, shared, *change)
        _derive_again(table, items)
        return moves, drift, change

    def _by_range(self, values: Iterator[T], plus: Callable[[T, T], T]) -> list[T]:
        """Add up the values of parts in each aligned range of them."""
        return [total(islice(values, len(some)), plus) for some in aligned_ranges(self.own)]

    def _copy(self, shared: SharedTable) -> MassTable:
        """Return the copy of this thread, which is as the shared table is now."""
        here = threading.get_ident()
        copy = self._copies.get(here)
        changes = shared.changed_since(copy.version) if copy and copy.source is shared else None
        if copy is None or changes is None:
            table = with_derived(shared.table, copy and copy.table)
        else:
            table = copy.table
            for items in changes:
                copy_items(shared.table.mass, table.mass, items)
                _derive_again(table, items)
        self._copies[here] = TableCopy(shared, shared.version, table)
        return table


def joined_step(
    own: OwnStep, change: Change, blocks: Iterable[np.ndarray], entropies: Sequence[float]
) -> HalfStep:
    """Return what all parts have done."""
    moves, drift = (sum(each) for each in zip(*own.tallies, strict=True))
    (mass,) = blocks
    return HalfStep(own.labels, own.margins, moves, drift, change, mass, sum(entropies))


NO_CHANGE = Change(np.zeros(0, np.uint32), np.zeros((0, 0)))


class _StoppedError(Exception):
    """Raised in a thread when the work is to end."""


def _popped(values: list[T]) -> T | None:
    """Take one of several values, if any is left: other threads take some at the same time."""
    try:
        return values.pop()
    except IndexError:
        return None


def _costed(part: Matrix, labels: np.ndarray, k: int, task: RowTask, *costs_of: Any) -> Results:
    """Do a task with the costs of rows in each cluster, a few thousand at a time."""
    table, blocks, cross, coupling = costs_of
    workspace, results = new_workspace(blocks), []
    for place, rows in row_parts(part):
        costs = np.empty((rows.mass.size, k))
        arguments = table, blocks, cross[place], coupling, workspace
        insertion_costs(costs, labels[place], rows, *arguments)
        results.append(task(labels[place], rows, costs))
    return tuple(np.concatenate(arrays) for arrays in zip(*results, strict=True))


def _touched(part: Matrix, before: np.ndarray, after: np.ndarray, count: int) -> np.ndarray:
    """Return the items in which rows that were moved have entries."""
    marks = np.zeros(count, bool)
    mark_items(part, before, after, marks)
    return np.flatnonzero(marks).astype(np.uint32)


def _derive_again(table: MassTable, items: np.ndarray) -> None:
    """Derive the values of these items."""
    derive_items(table, np.zeros(1, np.int64), np.array([0, items.size]), items)


def rows_of_parts(bounds: np.ndarray, rows: np.ndarray) -> Rows:
    """Return rows as positions in their parts; the rows of each part keep their order."""
    part = np.searchsorted(bounds, rows, side="right") - 1
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=bounds.size - 1))
    split = np.split(rows[order], ends[:-1])
    return [own - start for own, start in zip(split, bounds[:-1], strict=True)]


def placed_rows(bounds: np.ndarray, rows: np.ndarray) -> tuple[Rows, np.ndarray]:
    """Return rows as positions in their parts, and where each is if these are joined."""
    part = np.searchsorted(bounds, rows, side="right") - 1
    places = np.empty(rows.size, np.int64)
    places[np.argsort(part, kind="stable")] = np.arange(rows.size)
    return rows_of_parts(bounds, rows), places


def labels_of_parts(bounds: np.ndarray, labels: np.ndarray) -> Rows:
    """Return the labels of each part."""
    return [labels[a:b] for a, b in pairwise(bounds)]


def worker_of(joint: Joint) -> Worker:
    """Return what computes the parts of a matrix; one on a cluster has its own already."""
    known = joint.__dict__
    if "worker" not in known:
        bounds = part_bounds(joint.matrix.indptr, count_parts(joint.nnz, joint.shape[1]))
        known["worker"] = Worker(joint, bounds, joint.threads)
    worker: Worker = known["worker"]
    return worker
