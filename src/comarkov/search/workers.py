"""Who computes the parts of a matrix: the threads of this process.

This is the only place that knows. A half-step of a sweep asks for all its parts at once, and gets
the same answers from any number of threads, from data in memory or on disk.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..data.changes import Change, TableSum, total
from ..data.joint import Joint
from ..data.parts import count_parts, part_bounds
from ..kernels.matrix import Matrix
from .boards import Answer, Ask, Board, Copies, Results, RowTask, Setting

NAME = "comarkov-part"  # of threads
AHEAD = 2  # parts for each thread whose results may wait for those before them

Stop = Callable[[], bool]
T = TypeVar("T")


class Job(NamedTuple):
    """What all parts are asked to do with a copy of the same table."""

    board: Board
    asks: Sequence[Ask]
    setting: Setting


class HalfStep(NamedTuple):
    """The answers of all parts to a job, and their changes in sum."""

    answers: list[Answer]  # without their changes
    change: Change
    tag: int | None = None  # identifies the change for those who have computed it


class Workers(Protocol):
    """Those who compute the parts of a matrix."""

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
        self._is_exact = joint.mass_dtype is np.int32

    def map(self, task: Callable[..., Any], own: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield task(part, *own[p]) of each part, in order."""
        return self._map(lambda p: task(self._part(p), *own[p]))

    def sum(self, task: Callable[..., np.ndarray], own: Sequence[tuple[Any, ...]]) -> np.ndarray:
        """Return the sum of task(part, *own[p]) over all parts, in the order of ``total``."""
        if self.n > 1 or not self._is_exact:
            return total(self.map(task, own), np.ndarray.__iadd__, self._is_exact)
        result: list[np.ndarray] = []  # whole numbers are added to the same table
        for _ in self._map(lambda p: result.append(task(self._part(p), *own[p], *result[:1]))):
            continue
        return result[0]

    def half_steps(self, jobs: Sequence[Job], stop: Stop) -> list[HalfStep] | None:
        """Move rows of all parts at the same time; None once ``stop`` returns True."""
        sums = [TableSum(job.board.table.mass) if self._is_exact else None for job in jobs]
        count = self.bounds.size - 1

        def work(number: int) -> Answer:
            if stop():
                raise _StoppedError
            job, p = divmod(number, count)
            return self._moved(jobs[job], p, sums[job])

        answers = self._in_order(work, range(len(jobs) * count))
        try:
            return [_joined(islice(answers, count), whole) for whole in sums]
        except _StoppedError:
            return None

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
        return list(self._in_order(work, range(count)))

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

        return self._in_order(released, range(self.bounds.size - 1))

    def _in_order(self, work: Callable[[int], T], numbers: range) -> Iterator[T]:
        """Yield the results of work on each number in order; a few of them may be ahead.

        Work that is done by one of several threads is not divided further.
        """
        is_part = threading.current_thread().name.startswith(NAME)
        if self.n == 1 or len(numbers) == 1 or is_part:
            yield from map(work, numbers)
            return
        pool, waiting = _pool(self.n, os.getpid()), deque[Future[Any]]()
        try:
            for number in numbers:
                waiting.append(pool.submit(work, number))
                if len(waiting) > AHEAD * self.n:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                if not future.cancel():
                    future.exception()  # wait for it: it uses arrays that may change from now on


def _joined(answers: Iterator[Answer], whole: TableSum | None) -> HalfStep:
    """Join the answers of all parts; their changes are in sum already, or are added up."""
    kept: list[Answer] = []

    def changes() -> Iterator[Change]:
        for answer in answers:
            kept.append(answer._replace(change=NOTHING))
            last = [answer.change]
            del answer
            yield last.pop()  # nothing here holds it while the next part works

    if whole is None:
        return HalfStep(kept, total(changes(), Change.plus))
    for _ in changes():
        continue
    return HalfStep(kept, whole.change())


NOTHING = Change(np.zeros(0, np.uint32), np.zeros((0, 0)))


class _StoppedError(Exception):
    """Raised in a thread when the work is to end."""


@lru_cache(maxsize=4)
def _pool(n: int, process: int) -> ThreadPoolExecutor:
    """Return n threads of a process: those of its parent do not run in a forked one."""
    return ThreadPoolExecutor(n, thread_name_prefix=NAME)
