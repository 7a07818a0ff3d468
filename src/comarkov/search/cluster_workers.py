"""The workers of a Dask cluster: they compute the same parts as threads do.

Parts stay where they are. In a half-step each worker moves the rows of a group of parts. Changes
are added up on the workers, in the same order as by threads; this process gets the sum, and the
labels of the rows that were visited. Workers keep copies of tables, and get changes of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..data.cluster.client import LostError, Task
from ..data.cluster.joint import ClusterJoint
from ..data.cluster.parts import joined
from ..data.joint import Joint
from . import replicas
from .boards import Answer, Ask, Board, Results, RowTask, board_of
from .half_steps import rows_of_parts
from .ledger import Ledger, Tables
from .replicas import PackedAnswer, PartJob, Request, Sum
from .workers import NOTHING, HalfStep, Job, Stop

ATTEMPTS = 20  # at the same work, while workers are lost
FINER = 4  # groups for each worker, if the number of workers is no power of two
_tags = itertools.count()


class ClusterWorkers:
    """Workers that hold the parts of a matrix."""

    def __init__(self, joint: ClusterJoint, ledger: Ledger) -> None:
        self.joint = joint
        self.bounds = joint.parts.bounds
        self.ledger = ledger
        self._parts = joint.parts
        self._cluster = joint.parts.cluster

    # --- the protocol of workers ------------------------------------------------------------------

    def map(self, task: Callable[..., Any], own: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield task(part, *own[p]) of each part, in order."""
        results = self._results(lambda: self._on_groups(replicas.each_part, task, own))
        return itertools.chain.from_iterable(results)

    def sum(self, task: Callable[..., np.ndarray], own: Sequence[tuple[Any, ...]]) -> np.ndarray:
        """Return the sum of task(part, *own[p]) over all parts, in the order of ``total``."""

        def start() -> list[Task]:
            sums = self._on_groups(replicas.sum_of_parts, task, own)
            return [self._cluster.reduced(np.add, sums)]

        (whole,) = self._results(start)
        self.ledger.traffic["sums"] += whole.nbytes * len(set(self._cluster.workers))
        return whole

    def half_steps(self, jobs: Sequence[Job], stop: Stop) -> list[HalfStep] | None:
        """Move rows of all parts at the same time; None if ``stop`` says so meanwhile."""
        root: list[Task] = []

        def start() -> list[Task]:
            replies = self._ask(replicas.move, jobs)
            sums = self._cluster.map(replicas.sum_of, replies)
            root[:] = [self._cluster.reduced(replicas.plus, sums)]
            return [*root, *self._cluster.map(replicas.answers_of, replies)]

        results = self._results_unless(stop, start)
        if results is None:
            return None
        whole, *answers = results
        self._count(whole, answers)
        tags = [next(_tags) for _ in jobs]
        for number, (job, tag) in enumerate(zip(jobs, tags, strict=True)):
            self.ledger.propose(job.board, tag, root[0], number)
        by_job = [
            [answer for group in answers for answer in group[number]] for number in range(len(jobs))
        ]
        return [
            HalfStep(list(map(_unpacked, job.asks, own)), change, tag)
            for job, own, change, tag in zip(jobs, by_job, whole.changes, tags, strict=True)
        ]

    def each_row(self, job: Job, task: RowTask) -> Iterator[Results]:
        """Yield the results of a task with the costs of each row, one part after another."""
        every = job._replace(asks=list(map(_of_all_rows, job.asks)))
        results = self._results(lambda: self._ask(replicas.each_row, [every], task))
        return itertools.chain.from_iterable(results)

    def rows(self, numbers: np.ndarray) -> Joint:
        """Return these rows, with all columns, in this process."""
        positions = rows_of_parts(self, numbers)
        own = [(part,) for part in positions]
        pieces = self._results(lambda: self._on_groups(replicas.chosen_of_parts, None, own))
        matrix = joined(list(pieces))
        by_part = np.concatenate(
            [p + start for p, start in zip(positions, self.bounds, strict=False)]
        )
        place = np.empty(numbers.size, np.int64)
        place[np.argsort(numbers, kind="stable")] = np.argsort(by_part, kind="stable")
        self.ledger.traffic["rows"] += sum(array.nbytes for array in matrix[:-1])
        chosen = replicas.chosen_rows(matrix, place)
        shape = numbers.size, self.joint.shape[1]
        return Joint(chosen, shape, self.joint.scale, self.joint.is_count)

    # --- tasks ------------------------------------------------------------------------------------

    def _groups(self) -> list[range]:
        """Return the parts of each group: those that are added up first, one group per worker."""
        workers, count = len(self._cluster.workers), self.bounds.size - 1
        groups = 1 << (workers - 1).bit_length()
        groups = min(groups if groups == workers else groups * FINER, count)
        size = count // groups
        return [range(i * size, (i + 1) * size) for i in range(groups)]

    def _on_groups(
        self, work: Callable[..., Any], task: Callable[..., Any] | None, own: Sequence[Any]
    ) -> list[Task]:
        """Start work(parts, task, own) on each group."""
        groups = self._groups()
        return [
            self._cluster.submit(
                work, self._of(group), task, [own[p] for p in group], place=i / len(groups)
            )
            for i, group in enumerate(groups)
        ]

    def _ask(self, work: Callable[..., Any], jobs: Sequence[Job], *more: Any) -> list[Task]:
        """Start work(parts, request, parcels) on each group."""
        crosses = [board_of(job.asks[0].cross) for job in jobs]
        boards = dict.fromkeys([*(job.board for job in jobs), *(b for b in crosses if b)])
        tables = self.ledger.tables(list(boards), self._sent)
        in_use, groups = self.ledger.in_use(), self._groups()
        tasks = []
        for i, group in enumerate(groups):
            rows = [(int(self.bounds[p]), int(self.bounds[p + 1])) for p in group]
            asked = [
                _part_job(job, cross, group, tables)
                for job, cross in zip(jobs, crosses, strict=True)
            ]
            request = Request(rows, tables.wanted, asked, in_use)
            self.ledger.traffic["requests"] += request.nbytes
            arguments = self._of(group), request, tables.parcels, *more
            tasks.append(self._cluster.submit(work, *arguments, place=i / len(groups)))
        return tasks

    def _of(self, group: range) -> list[Task]:
        return [self._parts.futures[p] for p in group]

    def _sent(self, masses: np.ndarray) -> Task:
        self.ledger.traffic["tables"] += masses.nbytes * len(set(self._cluster.workers))
        return self._cluster.broadcast(masses)

    def _count(self, whole: Sum, answers: list[list[list[PackedAnswer]]]) -> None:
        """Count the bytes of a half-step: the sum goes to this process and to each worker."""
        others = len(set(self._cluster.workers)) - 1
        self.ledger.traffic["changes"] += whole.moved + whole.nbytes * (1 + others)
        self.ledger.traffic["answers"] += sum(
            answer.nbytes for group in answers for job in group for answer in job
        )

    # --- results ----------------------------------------------------------------------------------

    def _results(self, start: Callable[[], list[Task]]) -> list[Any]:
        results = self._results_unless(lambda: False, start)
        assert results is not None
        return results

    def _results_unless(self, stop: Stop, start: Callable[[], list[Task]]) -> list[Any] | None:
        """Return the results of tasks, which are started again if workers are lost meanwhile."""
        for _ in range(ATTEMPTS):
            try:
                results = self._cluster.results(start(), stop)
                if results is None or all(result is not None for result in results):
                    return results
            except LostError:
                self._cluster.refresh()
                self._parts.restore()
            self.ledger.forget()
        raise ConnectionError(
            f"Dask workers were lost {ATTEMPTS} times during the same step. They may have too little "
            "memory: start more of them, or some with a higher limit."
        )


def _part_job(job: Job, cross: Board | None, group: range, tables: Tables) -> PartJob:
    """Return what a group is asked to do."""
    number = tables.number(job.board)
    assert number is not None
    asks = [replicas.pack(job.asks[p], has_table=cross is not None) for p in group]
    return PartJob(number, tables.number(cross), asks, job.setting)


def _of_all_rows(ask: Ask) -> Ask:
    """Return a request about all rows, without margins."""
    size = ask.labels.size
    return ask._replace(order=np.arange(size), margins=np.zeros(size, np.float32))


def _unpacked(ask: Ask, answer: PackedAnswer) -> Answer:
    """Return an answer about all rows of a part."""
    labels, margins = ask.labels.copy(), ask.margins.copy()
    labels[ask.order], margins[ask.order] = answer.labels, answer.margins
    return Answer(labels, margins, answer.moves, answer.drift, NOTHING)
