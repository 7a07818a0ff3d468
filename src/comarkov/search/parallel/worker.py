"""A worker: it computes parts of a matrix with the threads of its process.

A half-step of a sweep asks for all parts at once. Each part moves its rows one after another,
against a copy of the table as it was at the beginning, so the answer depends neither on who
computes a part nor on when. One worker has all parts of a matrix in memory or on disk; several, on
a Dask cluster, have some each, see ``peers``.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...joint.joint import Joint
from ...joint.machine import in_order
from ...joint.parts import Change, TableSum, aligned_ranges, count_parts, part_bounds, total
from ...kernels.insertion import Workspace
from ...kernels.logarithm import single
from ...kernels.matrix import Matrix, row_parts, xlogx_below
from ...kernels.sweep import Clusters, insertion_costs, sweep
from ...kernels.tables import (
    LANES,
    MassTable,
    add_blocks,
    add_cells,
    add_labelled,
    copy_items,
    derive,
    derive_items,
    entropy_change,
    mark_items,
    take_back,
)

LOOKUP_LIMIT = 1 << 16
CACHED_BYTES = 1 << 23  # of a table with cells of 4 bytes; larger tables of counts are packed
LINE_BYTES = 128  # bytes that processors fetch together
NO_LOOKUP = np.zeros((0, 3), np.float32)
NO_CELLS = np.zeros((0, 0), np.float32)
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


def padded(k: int) -> int:
    """Return the number of lanes for k clusters: 4 are faster than 3; 1 and 2 faster than 4."""
    lanes = LANES // 2 if k <= LANES // 2 else LANES
    return k if k <= 2 else -(-k // lanes) * lanes


def empty_table(joint: Joint, k: int) -> MassTable:
    """Return an empty table for the columns of a matrix in k row clusters."""
    return new_table(joint.shape[1], k, _lookup(joint))


def empty_blocks(cross: np.ndarray, k: int) -> MassTable:
    """Return an empty table for the clusters of the other side, and for totals, in k clusters."""
    return new_table(cross.shape[1] + 1, k, NO_LOOKUP)


def new_table(n: int, k: int, lookup: np.ndarray) -> MassTable:
    """Return zeros for n items and k clusters, not derived yet: of counts if there is a lookup.

    Zeros take no memory before they are written, which ``zeros_like`` does at once.
    """
    shape = n, padded(k)
    if lookup.size and is_packed(n, k):
        packed = np.zeros(shape, np.uint16)
        return MassTable(np.zeros(shape, np.int32), packed, NO_CELLS, NO_CELLS, NO_CELLS, lookup)
    first, second, third = (np.zeros(shape, np.float32) for _ in range(3))
    if lookup.size:
        mass = np.zeros(shape, np.int32)
        return MassTable(mass, mass, first, second, third, lookup)
    return MassTable(np.zeros(shape), first, second, NO_CELLS, NO_CELLS, lookup)


def is_packed(n: int, k: int) -> bool:
    """Is a table of counts too large for the cache, so that it is packed?"""
    return 4 * n * padded(k) > CACHED_BYTES


def float_table(masses: np.ndarray) -> MassTable:
    """Return a table of the given masses."""
    table = new_table(masses.shape[0], masses.shape[1], NO_LOOKUP)
    table.mass[:, : masses.shape[1]] = masses
    derive(table)
    return table


def _lookup(joint: Joint) -> np.ndarray:
    """Return ln v, enter(1, v) and enter(2, v) of the likely counts."""
    if joint.mass_dtype is not np.int32:
        return NO_LOOKUP
    largest = int(joint.column_mass.max())
    return lookup_of_size(min(1 << (largest + 3).bit_length(), LOOKUP_LIMIT))


@lru_cache(maxsize=4)
def lookup_of_size(size: int) -> np.ndarray:
    """Return the same for all counts below a size."""
    v = np.arange(1.0, size + 2)
    f = xlogx_below(size + 2)
    log = np.concatenate([[single.of_zero], np.log(v[: size - 1])])
    columns = [log, f[1 : size + 1] - f[:size], f[2:] - f[:size]]
    return np.stack(columns, axis=1).astype(np.float32)


def without_derived(table: MassTable) -> MassTable:
    """Return the masses of a table alone: a quarter of its memory for counts, half for weights."""
    near = table.mass if table.lookup.size else NO_CELLS
    return MassTable(table.mass, near, NO_CELLS, NO_CELLS, NO_CELLS, table.lookup)


def with_derived(table: MassTable, into: MassTable | None = None) -> MassTable:
    """Return a copy of masses with all that is derived from them, in memory of the same form."""
    n, k = table.mass.shape
    if into is None or (into.mass.shape, into.mass.dtype) != ((n, k), table.mass.dtype):
        into = new_table(n, k, table.lookup)
    into = into._replace(lookup=table.lookup)
    np.copyto(into.mass, table.mass)
    derive(into)
    return into


def copied(table: MassTable) -> MassTable:
    """Return a copy of a table."""
    mass = table.mass.copy()
    near = mass if table.near is table.mass else table.near.copy()
    return MassTable(
        mass, near, table.log.copy(), table.unit.copy(), table.pair.copy(), table.lookup
    )


def new_workspace(blocks: MassTable, ties_first: bool = False) -> Workspace:
    """Return scratch memory for sweeps with these blocks."""
    n_blocks, lanes = blocks.mass.shape
    return Workspace(
        total=_apart(lanes, np.float64),
        partial=_apart(lanes, np.float32),
        indices=_apart(n_blocks, np.uint32),
        weights=_apart(n_blocks, np.float64),
        costs=np.zeros((0, 0)),
        ties_first=ties_first,
    )


def _apart(size: int, kind: type[np.generic]) -> np.ndarray:
    """Return zeros that share no cache line with other arrays, which other threads may write."""
    margin = LINE_BYTES // np.dtype(kind).itemsize
    return np.zeros(size + 2 * margin, kind)[margin:-margin]


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


class Job(NamedTuple):
    """What all parts are asked to do with one table."""

    table: SharedTable
    clusters: Clusters  # of all rows
    rows: Rows  # to visit, in this order
    sizes: Sequence[np.ndarray]  # of the clusters, as far as each part has to know
    blocks: MassTable
    cross: np.ndarray  # masses of all rows by clusters of the other side; empty without influence
    coupling: float


class HalfStep(NamedTuple):
    """What the parts of one worker, or of all, have done with one table.

    Sums are those of ``aligned_ranges`` of the parts; there is one in the end.
    """

    labels: np.ndarray  # of all rows; those of other workers are as before
    margins: np.ndarray
    tallies: list[tuple[int, float]]  # moves and drift of each part
    changes: list[Change]  # of the table; one if it has counts
    blocks: list[np.ndarray]  # masses by (column cluster, row cluster), and by row cluster
    entropies: list[float]  # by how much Σ f of chunks of the table grows, f(v) = v ln v


class Worker:
    """Threads that share a matrix in memory, or mapped from disk."""

    def __init__(self, joint: Joint, bounds: np.ndarray, threads: int) -> None:
        self.joint = joint
        self.bounds = bounds  # part p has the rows from bounds[p] to bounds[p + 1]
        self.n = threads
        self.is_exact = joint.mass_dtype is np.int32
        #: By thread: a shared table, a version of it, and a copy of that.
        self._copies: dict[int, tuple[SharedTable, int, MassTable]] = {}

    # --- what all parts compute -------------------------------------------------------------------

    def each_part(self, work: Callable[[int], T]) -> list[T]:
        """Return work(p) of each part p, in order."""
        return list(self._each_own(work))

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
            step._replace(entropies=self.entropies(job, step.changes[0]))
            for job, step in zip(jobs, steps, strict=True)
        ]

    def each_row(self, job: Job, task: RowTask) -> list[Results]:
        """Return the results of a task with the costs of the rows of each part, in order."""

        def work(p: int) -> Results:
            rows = slice(self.bounds[p], self.bounds[p + 1])
            costs_of = self._copy(job.table), job.blocks, job.cross[rows], job.coupling
            return _costed(
                self.part(p), job.clusters.label[rows], job.sizes[p].size, task, *costs_of
            )

        return self.each_part(work)

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
        by_thread: dict[int, np.ndarray] = {}

        def add(p: int) -> np.ndarray:
            mass = np.zeros(table.mass.shape, table.mass.dtype)
            mass = by_thread.setdefault(threading.get_ident(), mass) if self.is_exact else mass
            add_labelled(mass, self.part(p), labels[self.bounds[p] : self.bounds[p + 1]])
            return mass

        done = self._each_own(add)
        if not self.is_exact:
            return self._by_range(done, np.ndarray.__iadd__)
        deque(done, maxlen=0)
        return [reduce(np.ndarray.__iadd__, by_thread.values())] if by_thread else []

    def own_steps(self, jobs: Sequence[Job], stop: Stop) -> list[HalfStep] | None:
        """Move the rows of the parts of this worker; None once ``stop`` returns True."""
        try:
            if len(jobs) >= JOBS_PER_THREAD * self.n:  # a thread needs one copy for a whole job
                return self.each(lambda i: self._own_step(jobs[i], stop), len(jobs))
            return [self._own_step(job, stop) for job in jobs]
        except _StoppedError:
            return None

    def _own_step(self, job: Job, stop: Stop) -> HalfStep:
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
        block_sums = self._by_range(iter(blocks), np.ndarray.__iadd__)
        return HalfStep(labels, margins, tallies, sums, block_sums, [])

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
        is_touched = np.zeros(len(table.mass), bool)
        mark_items(part, before, after.label, is_touched)
        items = np.flatnonzero(is_touched).astype(np.uint32)
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
        source, version, table = self._copies.get(here, (None, 0, None))
        changes = shared.changed_since(version) if source is shared else None
        if table is None or changes is None:
            table = with_derived(shared.table, table)
        else:
            for items in changes:
                copy_items(shared.table.mass, table.mass, items)
                _derive_again(table, items)
        self._copies[here] = shared, shared.version, table
        return table


NO_CHANGE = Change(np.zeros(0, np.uint32), np.zeros((0, 0)))


class _StoppedError(Exception):
    """Raised in a thread when the work is to end."""


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


def _derive_again(table: MassTable, items: np.ndarray) -> None:
    """Derive the values of these items."""
    derive_items(table, np.zeros(1, np.int64), np.array([0, items.size]), items)


def rows_of_parts(bounds: np.ndarray, rows: np.ndarray) -> Rows:
    """Return rows as positions in their parts; the rows of each part keep their order."""
    return placed_rows(bounds, rows)[0]


def placed_rows(bounds: np.ndarray, rows: np.ndarray) -> tuple[Rows, np.ndarray]:
    """Return rows as positions in their parts, and where each is if these are joined."""
    part = np.searchsorted(bounds, rows, side="right") - 1
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=bounds.size - 1))
    split = np.split(rows[order], ends[:-1])
    places = np.empty(rows.size, np.int64)
    places[order] = np.arange(rows.size)
    return [own - start for own, start in zip(split, bounds[:-1], strict=True)], places


def worker_of(joint: Joint) -> Worker:
    """Return what computes the parts of a matrix; one on a cluster has its own already."""
    known = joint.__dict__
    if "worker" not in known:
        bounds = part_bounds(joint.matrix.indptr, count_parts(joint.nnz, joint.shape[1]))
        known["worker"] = Worker(joint, bounds, joint.threads)
    worker: Worker = known["worker"]
    return worker
