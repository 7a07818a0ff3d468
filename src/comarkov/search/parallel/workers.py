"""The parts of a matrix, computed by the threads of this process.

This is the only place that knows. A half-step of a sweep asks for all its parts at once, and gets
the same answers from any number of threads, from data in memory or on disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ...joint.joint import Joint
from ...joint.machine import in_order
from ...joint.parts import Change, TableSum, count_parts, part_bounds, total
from ...kernels.matrix import Matrix
from .boards import Answer, Ask, Board, Copies, Results, RowSetting, RowTask

PARTS_PER_THREAD = 2  # jobs for each thread

Stop = Callable[[], bool]
T = TypeVar("T")


class Job(NamedTuple):
    """What all parts are asked to do with a copy of the same table."""

    board: Board
    asks: Sequence[Ask]
    setting: RowSetting


class HalfStep(NamedTuple):
    """The answers of all parts to a job, and their changes in sum."""

    answers: list[Answer]  # without their changes
    change: Change
    tag: int | None = None  # identifies the change for those who have computed it


class Workers(Protocol):
    """What computes the parts of a matrix: threads or a Dask cluster."""

    @property
    def bounds(self) -> np.ndarray:
        """Where parts begin and end: part p has the rows from bounds[p] to bounds[p + 1]."""

    def map(self, task: Callable[..., Any], own: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield task(part, *own[p]) of each part, in order."""

    def sum(self, task: Callable[..., np.ndarray], own: Sequence[tuple[Any, ...]]) -> np.ndarray:
        """Return the sum of task(part, *own[p]) over all parts, in the order of ``total``.

        A further argument of the task is an array to which it adds, instead of returning a new one.
        """

    def half_steps(self, jobs: Sequence[Job], stop: Stop) -> list[HalfStep] | None:
        """Move rows of all parts at the same time; None once ``stop`` returns True."""

    def each_row(self, job: Job, task: RowTask) -> Iterator[Results]:
        """Yield the results of a task with the costs of each row, one part after another."""

    def rows(self, numbers: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Return a matrix in this process that has these rows, and where they are in it."""

    def each(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return work(0), ..., work(count - 1), done at the same time in this process."""


class Threads:
    """Threads that share the matrix in memory, or mapped from disk."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.n = joint.threads
        count = count_parts(joint.nnz, joint.shape[1])
        self.bounds = part_bounds(joint.matrix.indptr, count)
        self._copies = Copies(self.n)
        self._lock = threading.Lock()
        self._is_exact = joint.mass_dtype is np.int32

    def map(self, task: Callable[..., Any], own: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield task(part, *own[p]) of each part, in order."""
        return self._map(lambda p: task(self._part(p), *own[p]))

    def sum(self, task: Callable[..., np.ndarray], own: Sequence[tuple[Any, ...]]) -> np.ndarray:
        """Return the sum of task(part, *own[p]) over all parts, in the order of ``total``."""
        if not self._is_exact:
            return total(self.map(task, own), np.ndarray.__iadd__)
        tables: list[np.ndarray] = []  # as many as there are threads; each adds to one of them

        def add(p: int) -> None:
            with self._lock:
                table = [tables.pop()] if tables else []
            tables.append(task(self._part(p), *own[p], *table))

        for _ in self._map(add):
            continue
        return reduce(np.ndarray.__iadd__, tables)

    def half_steps(self, jobs: Sequence[Job], stop: Stop) -> list[HalfStep] | None:
        """Move rows of all parts at the same time; None once ``stop`` returns True."""
        try:
            if (
                len(jobs) >= PARTS_PER_THREAD * self.n
            ):  # then a thread does all parts of a job: it has a copy
                return self.each(lambda i: self._half_step(jobs[i], stop), len(jobs))
            return [self._half_step(job, stop) for job in jobs]
        except _StoppedError:
            return None

    def _half_step(self, job: Job, stop: Stop) -> HalfStep:
        whole = TableSum(job.board.table.mass) if self._is_exact else None

        def work(p: int) -> Answer:
            if stop():
                raise _StoppedError
            return self._moved(job, p, whole)

        return _joined(in_order(work, range(self.bounds.size - 1), self.n), whole)

    def _moved(self, job: Job, p: int, into: TableSum | None) -> Answer:
        """Move rows of one part."""
        ask = job.asks[p]
        if ask.order.size == 0:
            return job.board.idle(ask)
        copy = self._copies.take(job.board)
        answer = job.board.sweep(copy, self._part(p), ask, job.setting, into)
        self._copies.put_back(copy)
        self.joint.release_rows(self.bounds[p], self.bounds[p + 1])
        return answer

    def each_row(self, job: Job, task: RowTask) -> Iterator[Results]:
        """Yield the results of a task with the costs of each row, one part after another."""

        def work(p: int) -> Results:
            copy = self._copies.take(job.board)
            results = job.board.each_row(copy, self._part(p), job.asks[p], job.setting, task)
            self._copies.put_back(copy)
            return results

        return self._map(work)

    def rows(self, numbers: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Return a matrix in this process that has these rows, and where they are in it."""
        return self.joint.matrix, numbers

    def each(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return work(0), ..., work(count - 1), done at the same time in this process."""
        return list(in_order(work, range(count), self.n))

    def _part(self, p: int) -> Matrix:
        start, stop = self.bounds[p], self.bounds[p + 1]
        matrix = self.joint.matrix
        return matrix._replace(
            indptr=matrix.indptr[start : stop + 1],
            ones=matrix.ones[start:stop],
            twos=matrix.twos[start:stop],
            mass=matrix.mass[start:stop],
        )

    def _map(self, work: Callable[[int], T]) -> Iterator[T]:
        """Yield the results of work on each part in order."""

        def released(p: int) -> T:
            result = work(p)
            self.joint.release_rows(self.bounds[p], self.bounds[p + 1])
            return result

        return in_order(released, range(self.bounds.size - 1), self.n)


def _joined(answers: Iterator[Answer], whole: TableSum | None) -> HalfStep:
    """Join the answers of all parts; their changes are in sum already, or are added up."""
    kept: list[Answer] = []

    def changes() -> Iterator[Change]:
        for answer in answers:
            kept.append(answer._replace(change=NO_CHANGE))
            last = [answer.change]
            del answer
            yield last.pop()  # nothing here holds it while the next part works

    if whole is None:
        return HalfStep(kept, total(changes(), Change.plus))
    for _ in changes():
        continue
    return HalfStep(kept, whole.change())


NO_CHANGE = Change(np.zeros(0, np.uint32), np.zeros((0, 0)))


class _StoppedError(Exception):
    """Raised in a thread when the work is to end."""
