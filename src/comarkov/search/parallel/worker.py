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
from concurrent.futures import CancelledError
from functools import partial, reduce
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ...joint.joint import Joint
from ...joint.machine import in_order
from ...joint.parts import Change, aligned_ranges, count_parts, part_bounds, total
from ...kernels.insertion import Workspace, new_workspace
from ...kernels.matrix import Matrix, row_parts, rows_between
from ...kernels.sweep import Clusters, insertion_costs, sweep
from ...kernels.tables import (
    MassTable,
    add_blocks,
    copied,
    derive_only,
    entropy_change,
    lookup_of_size,
    mark_items,
    move_labelled,
    new_table,
    take_back,
    with_derived,
)

if TYPE_CHECKING:
    from .half_steps import Mover

LOOKUP_LIMIT = 1 << 16
MOVERS_PER_THREAD = 2  # with at least so many, each thread does all parts of one
CHUNK = 1 << 12  # items that one thread looks at

T = TypeVar("T")
Rows = list[np.ndarray]  # of each part, as positions in the part
Stop = Callable[[], bool]
Results = tuple[np.ndarray, ...]

#: A function of the clusters of rows, the rows, and their costs in each cluster, in nats times
#: mass, after each was removed from its own. It returns arrays with a line for each row.
RowTask = Callable[[np.ndarray, Matrix, np.ndarray], Results]

NO_CHANGE = Change(np.zeros(0, np.uint32), np.zeros((0, 0)))


def empty_table(joint: Joint, k: int) -> MassTable:
    """Return an empty table for the columns of a matrix in k row clusters."""
    if joint.mass_dtype is not np.int32:
        return new_table(joint.shape[1], k)
    largest = int(joint.column_mass.max())
    lookup = lookup_of_size(min(1 << (largest + 3).bit_length(), LOOKUP_LIMIT))
    return new_table(joint.shape[1], k, lookup)


def empty_blocks(cross: np.ndarray, k: int) -> MassTable:
    """Return an empty table for the clusters of the other side, and for totals, in k clusters."""
    return new_table(cross.shape[1] + 1, k)


class HalfStep(NamedTuple):
    """What the parts of one worker, or of all, have done with one table.

    Sums are those of ``aligned_ranges`` of the parts; there is one in the end.
    """

    labels: np.ndarray  # of all rows; those of other workers are as before
    margins: np.ndarray
    tallies: list[tuple[int, float]]  # moves and drift of each part
    changes: list[Change]  # of the table; one to compute its entropies
    blocks: list[np.ndarray]  # masses by (column cluster, row cluster), and by row cluster
    entropies: list[float]  # growth of Σ f of chunks of the table, f(v) = v ln v, if it is needed


class Worker:
    """Threads that share a matrix in memory, or mapped from disk."""

    def __init__(self, joint: Joint, bounds: np.ndarray, threads: int) -> None:
        self.joint = joint
        self.bounds = bounds  # part p has the rows from bounds[p] to bounds[p + 1]
        self.n = threads
        self.is_exact = joint.mass_dtype is np.int32
        # by thread; for which half-step
        self._copies: dict[int, tuple[object, MassTable, Workspace]] = {}

    # --- what all parts compute -------------------------------------------------------------------

    def each_part(self, work: Callable[[int], T]) -> list[T]:
        """Return work(p) of each part p, in order."""
        return list(self._each_own(work))

    def masses(self, before: np.ndarray, after: np.ndarray, table: MassTable) -> np.ndarray:
        """Return the change of the masses by (column, row cluster); label -1 is no cluster."""
        (whole,) = self._sums(before, after, table)
        return whole

    def half_steps(
        self, movers: Sequence[Mover], stop: Stop, needs_cost: bool
    ) -> list[HalfStep] | None:
        """Move rows of all parts at the same time; None once ``stop`` returns True."""
        steps = self.own_steps(movers, stop)
        return steps if steps is None or not needs_cost else self.with_entropies(movers, steps)

    def with_entropies(self, movers: Sequence[Mover], steps: Sequence[HalfStep]) -> list[HalfStep]:
        """Return whole half-steps with the growth of Σ f of their tables."""

        def complete(i: int) -> HalfStep:
            return steps[i]._replace(entropies=self.entropies(movers[i], steps[i].changes[0]))

        return self.each(complete, len(movers))

    def each_row(self, mover: Mover, task: RowTask) -> Results:
        """Do a task with the costs of each row in each cluster, and join its results."""
        k, blocks, coupling = mover.clusters.size.size, mover.blocks, mover.coupling

        def work(p: int) -> list[Results]:
            rows = slice(self.bounds[p], self.bounds[p + 1])
            labels, cross = mover.clusters.label[rows], mover.cross[rows]
            (table, workspace), results = self._copy(mover), []
            for place, some in row_parts(self.part(p)):
                costs = np.empty((some.mass.size, k))
                near = table, blocks, cross[place], coupling, workspace
                insertion_costs(costs, labels[place], some, *near)
                results.append(task(labels[place], some, costs))
            return results

        every = [each for results in self.each_part(work) for each in results]
        return tuple(np.concatenate(arrays) for arrays in zip(*every, strict=True))

    def rows(self, numbers: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Return a matrix in this process that has these rows, and where they are in it."""
        return self.joint.matrix, numbers

    def chunks(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return work(0), ..., work(count - 1), on chunks of a table, done at the same time."""
        return self._chunks(work, range(count))

    def each(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return work(0), ..., work(count - 1), done at the same time in this process."""
        return list(in_order(work, range(count), self.n))

    # --- what this worker computes of it ----------------------------------------------------------

    def _chunks(self, work: Callable[[int], T], numbers: range) -> list[T]:
        """Return the results of work on chunks; each thread is handed its share at once."""
        ends = [len(numbers) * i // self.n for i in range(self.n + 1)]
        shares = [numbers[start:end] for start, end in pairwise(ends)]
        return list(chain(*self.each(lambda i: list(map(work, shares[i])), self.n)))

    @property
    def own(self) -> range:
        """The parts that this worker has."""
        return range(self.bounds.size - 1)

    def part(self, p: int) -> Matrix:
        """Return the rows of a part."""
        return rows_between(self.joint.matrix, self.bounds[p], self.bounds[p + 1])

    def _each_own(self, work: Callable[[int], T]) -> Iterator[T]:
        """Yield the results of work on each part of this worker, in order."""

        def released(p: int) -> T:
            result = work(p)
            self.joint.release_rows(self.bounds[p], self.bounds[p + 1])
            return result

        return in_order(released, self.own, self.n)

    def _sums(self, before: np.ndarray, after: np.ndarray, table: MassTable) -> list[np.ndarray]:
        """Return changes of aligned ranges of parts; of all together if sums are exact."""
        by_thread: dict[int, np.ndarray] = {}

        def add(p: int) -> np.ndarray:
            mass = np.zeros(table.mass.shape, table.mass.dtype)
            mass = by_thread.setdefault(threading.get_ident(), mass) if self.is_exact else mass
            rows = slice(self.bounds[p], self.bounds[p + 1])
            move_labelled(mass, self.part(p), before[rows], after[rows])
            return mass

        done = self._each_own(add)
        if not self.is_exact:
            return self._by_range(done, np.ndarray.__iadd__)
        deque(done, maxlen=0)
        return [reduce(np.ndarray.__iadd__, by_thread.values())] if by_thread else []

    def own_steps(self, movers: Sequence[Mover], stop: Stop) -> list[HalfStep] | None:
        """Move the rows of the parts of this worker; None once ``stop`` returns True."""
        try:
            if len(movers) >= MOVERS_PER_THREAD * self.n:  # a thread needs one copy for all parts
                return self.each(lambda i: self._own_step(movers[i], stop), len(movers))
            return [self._own_step(mover, stop) for mover in movers]
        except CancelledError:
            return None

    def _own_step(self, mover: Mover, stop: Stop) -> HalfStep:
        step = HalfStep(mover.clusters.label.copy(), mover.clusters.margin.copy(), [], [], [], [])
        mass, lock = mover.table.mass, threading.Lock()
        whole = np.zeros(mass.shape if self.is_exact else (0, 0), mass.dtype)
        is_changed = np.zeros(len(mass), bool)

        def change_of(copy: np.ndarray, items: np.ndarray) -> Change:
            """Make a copy as before; exact sums do not depend on the order, and are added here."""
            if not self.is_exact:
                change = Change(items, np.zeros((items.size, mass.shape[1]), mass.dtype))
                take_back(copy, mass, *change, np.arange(items.size, dtype=items.dtype))
                return change
            with lock:
                take_back(copy, mass, items, whole, items)
                is_changed[items] = True
            return NO_CHANGE

        def changes() -> Iterator[Change]:
            work = partial(self._moved, mover, step, change_of, stop)
            for tally, change, blocks in self._each_own(work):
                step.tallies.append(tally)
                step.blocks.append(blocks)
                yield change

        if self.is_exact:
            deque(changes(), maxlen=0)
            items = np.flatnonzero(is_changed).astype(np.uint32)
            sums = [Change(items, whole if items.size == len(whole) else whole[items])]
        else:
            sums = self._by_range(changes(), Change.plus)
        block_sums = self._by_range(iter(step.blocks), np.ndarray.__iadd__)
        return step._replace(changes=sums, blocks=block_sums)

    def _moved(
        self,
        mover: Mover,
        step: HalfStep,
        change_of: Callable[[np.ndarray, np.ndarray], Change],
        stop: Stop,
        p: int,
    ) -> tuple[tuple[int, float], Change, np.ndarray]:
        """Move rows of a part, against a copy of the table, which is as before afterwards."""
        if stop():
            raise CancelledError
        rows = slice(self.bounds[p], self.bounds[p + 1])
        part, cross, tally, change = self.part(p), mover.cross[rows], (0, 0.0), NO_CHANGE
        after = Clusters(step.labels[rows], mover.sizes[p].copy(), step.margins[rows])
        if mover.rows[p].size:
            (table, workspace), blocks = self._copy(mover), copied(mover.blocks)
            before = after.label.copy()
            near = table, blocks, cross, mover.coupling, workspace
            moves, _, drift = sweep(mover.rows[p], part, after, *near)
            tally = moves, drift
            if moves:
                is_touched = np.zeros(len(table.mass), bool)
                mark_items(part, before, after.label, is_touched)
                items = np.flatnonzero(is_touched).astype(np.uint32)
                change = change_of(table.mass, items)
                derive_only(table, items)
        mass = np.zeros_like(mover.blocks.mass)
        add_blocks(mass, cross, after.label, part.mass)
        return tally, change, mass

    def entropies(self, mover: Mover, change: Change, first: int = 0) -> list[float]:
        """Return by how much Σ f of each chunk of the table grows; items count from ``first``."""
        if mover.coupling == 0.0 or change.items.size == 0:
            return []
        mass, (items, cells) = mover.table.mass, change
        starts = range(first, int(items[-1]) + 1, CHUNK)
        ends = np.searchsorted(items, [*starts, starts.stop])

        def of_chunk(i: int) -> float:
            some = slice(ends[i], ends[i + 1])
            return float(entropy_change(mass, items[some], cells[some]))

        return self._chunks(of_chunk, range(len(starts)))

    def _by_range(self, values: Iterator[T], plus: Callable[[T, T], T]) -> list[T]:
        """Add up the values of parts in each aligned range of them."""
        return [total(islice(values, len(some)), plus) for some in aligned_ranges(self.own)]

    def _copy(self, mover: Mover) -> tuple[MassTable, Workspace]:
        """Return what this thread has in a half-step: a copy of the table, and scratch memory."""
        here = threading.get_ident()
        step, table, workspace = self._copies.get(here, (None, None, None))
        if table is None or workspace is None or step is not mover.step:
            table, workspace = with_derived(mover.table, table), new_workspace(mover.blocks)
            self._copies[here] = mover.step, table, workspace
        return table, workspace


def rows_of_parts(bounds: np.ndarray, rows: np.ndarray) -> Rows:
    """Return rows as positions in their parts; the rows of each part keep their order."""
    return placed_rows(bounds, rows)[0]


def placed_rows(bounds: np.ndarray, rows: np.ndarray) -> tuple[Rows, np.ndarray]:
    """Return rows as positions in their parts, and where each is if these are joined."""
    part = np.searchsorted(bounds, rows, side="right") - 1
    order = np.argsort(part.astype(np.uint16), kind="stable")  # which numpy sorts by radix
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
