"""The workers of a Dask cluster: they compute the same parts as threads do.

Parts stay where they are. In a half-step each worker moves the rows of a group of parts. Changes
are added up on the workers, in the same order as by threads; this process gets the sum, and the
labels of the rows that were visited. Workers keep copies of tables, and get changes of them.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np

from ...joint.joint import Joint
from ...joint.machine import in_order, n_threads
from ...kernels.matrix import Matrix
from . import replicas
from .boards import Answer, Ask, Board, Results, RowTask, board_of, tokens_in_use
from .dask_client import Task
from .dask_joint import ClusterJoint
from .dask_parts import aligned
from .replicas import Call, CopyRequest, PackedAnswer, PartJob, Sealed, Sum, Token, Wanted
from .workers import NO_CHANGE, HalfStep, Job, Stop, Threads, Workers

Send = Callable[[list[np.ndarray]], Sequence[Any]]  # tables to all workers


class WorkerTables(NamedTuple):
    """The tables that jobs need: how workers get them, and what is sent for that."""

    boards: list[Board]
    wanted: list[Wanted]
    parcels: list[Any]

    def number(self, board: Board | None) -> int | None:
        """Return the number of a table in the list; None for none."""
        return None if board is None else self.boards.index(board)


class Ledger:
    """The versions of tables that workers have; shared by the rows and columns of a matrix."""

    def __init__(self) -> None:
        self.traffic: Counter[str] = Counter()  # bytes, by what they are
        self._session = uuid4().hex
        self._lock = threading.Lock()
        self._versions: dict[Hashable, int] = {}
        self._steps: dict[Hashable, dict[int | None, tuple[Task, int]]] = {}  # by token and tag

    def forget(self) -> None:
        """Assume that workers have no tables."""
        with self._lock:
            self._versions.clear()
            self._steps.clear()

    def propose(self, board: Board, tag: int, step: Task, job: int) -> None:
        """Remember which task has the change that a half-step proposes for a table."""
        with self._lock:
            self._steps[board.token] = {tag: (step, job)}

    def tables(self, boards: list[Board], send: Send) -> WorkerTables:
        """Return how workers get the present versions of tables; ``send`` sends whole ones."""
        with self._lock:
            pairs = [self._wanted(board) for board in boards]
            known = [steps for _, steps in pairs]
            tables = [board.table.mass for board in boards]
            unknown = [mass for mass, steps in zip(tables, known, strict=True) if steps is None]
            whole = iter(send(unknown) if unknown else [])
        parcels = [next(whole) if steps is None else steps for steps in known]
        return WorkerTables(boards, [wanted for wanted, _ in pairs], parcels)

    def in_use(self) -> frozenset[Token]:
        """Return the tables that workers should keep; what is known of others is forgotten."""
        tokens = set(tokens_in_use())
        with self._lock:
            for token in [token for token in self._versions if token not in tokens]:
                del self._versions[token]
                self._steps.pop(token, None)
        return frozenset((self._session, token) for token in tokens)

    def _wanted(self, board: Board) -> tuple[Wanted, list[Task] | None]:
        """Return the present version of a table, and tasks with changes that lead to it, if any."""
        since = self._versions.get(board.token)
        tags = [None] if since is None else board.tags_since(since)
        steps = self._steps.get(board.token, {})
        self._versions[board.token] = board.version
        token, lookup = (self._session, board.token), board.table.lookup.shape[0]
        if all(tag in steps for tag in tags):
            jobs = tuple(steps[tag][1] for tag in tags)
            return Wanted(token, board.version, since, jobs, lookup), [steps[t][0] for t in tags]
        self._steps.pop(board.token, None)
        return Wanted(token, board.version, None, (), lookup), None


T = TypeVar("T")
HOPS = 2  # what goes between this process and a worker passes the scheduler
WORKER_THREADS = 4  # the most that this process uses while workers wait for it
INLINE = 1 << 18  # bytes of tables that are sent with each request, not before
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
        calls = [Call(task, arguments) for arguments in own]
        results = self._results(lambda: self._parts.on_groups(replicas.each_part, calls))
        return itertools.chain.from_iterable(results)

    def sum(self, task: Callable[..., np.ndarray], own: Sequence[tuple[Any, ...]]) -> np.ndarray:
        """Return the sum of task(part, *own[p]) over all parts, in the order of ``total``."""
        calls = [Call(task, arguments) for arguments in own]

        def start() -> list[Task]:
            sums = self._parts.on_groups(replicas.sum_of_parts, calls)
            return [self._cluster.reduced(np.add, sums)]

        (whole,) = self._results(start)
        self.ledger.traffic["sums"] += whole.nbytes * (self._others + HOPS)
        return whole.copy()  # so that parts of it are known to be parts of it

    def half_steps(self, jobs: Sequence[Job], stop: Stop) -> list[HalfStep] | None:
        """Move rows of all parts at the same time; None once ``stop`` returns True."""
        if stop():
            return None
        root: list[Task] = []

        def start() -> list[Task]:
            replies = self._ask(replicas.move, jobs)
            if len(replies) == 1:
                root[:] = self._cluster.map(replicas.sum_of, replies)
            else:
                root[:] = [self._cluster.reduced(replicas.plus, replies)]
            return [*root, *self._cluster.map(replicas.answers_of, replies)]

        results = self._parts.results(start, stop, self.ledger.forget)
        if results is None:
            return None
        whole, *answers = aligned(results)
        self._count(whole, answers)
        tags = [next(_tags) for _ in jobs]
        for number, (job, tag) in enumerate(zip(jobs, tags, strict=True)):
            self.ledger.propose(job.board, tag, root[0], number)
        changes = map(replicas.wide, whole.changes)
        by_job = [
            [answer for group in answers for answer in group[number]] for number in range(len(jobs))
        ]
        return [
            HalfStep(list(map(_unpacked, job.asks, own)), change, tag)
            for job, own, change, tag in zip(jobs, by_job, changes, tags, strict=True)
        ]

    def each_row(self, job: Job, task: RowTask) -> Iterator[Results]:
        """Yield the results of a task with the costs of each row, one part after another."""
        every = job._replace(asks=list(map(_of_all_rows, job.asks)))
        results = self._results(lambda: self._ask(replicas.each_row, [every], task))
        return itertools.chain.from_iterable(results)

    def rows(self, numbers: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Return a matrix in this process that has these rows, and where they are in it."""
        matrix, places = self._parts.rows(numbers)
        self.ledger.traffic["rows"] += HOPS * sum(array.nbytes for array in matrix[:-1])
        return matrix, places

    def each(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return work(0), ..., work(count - 1), done at the same time in this process."""
        return list(in_order(work, range(count), min(n_threads(-1), WORKER_THREADS)))

    # --- tasks ------------------------------------------------------------------------------------

    def _ask(self, work: Callable[..., Any], jobs: Sequence[Job], *more: Any) -> list[Task]:
        """Start work(parts, request, parcels) on each group."""
        crosses = [board_of(job.asks[0].cross) for job in jobs]
        boards = dict.fromkeys([*(job.board for job in jobs), *(b for b in crosses if b)])
        tables = self.ledger.tables(list(boards), self._sent)
        in_use, groups = self.ledger.in_use(), self._parts.groups()
        tasks = []
        for i, group in enumerate(groups):
            rows = [(int(self.bounds[p]), int(self.bounds[p + 1])) for p in group]
            asked = [
                _part_job(job, cross, group, tables)
                for job, cross in zip(jobs, crosses, strict=True)
            ]
            request = Sealed(CopyRequest(rows, tables.wanted, asked, in_use))
            self.ledger.traffic["requests"] += HOPS * request.content.nbytes
            parts = [self._parts.futures[p] for p in group]
            arguments = parts, request, tables.parcels, *more
            tasks.append(self._cluster.submit(work, *arguments, place=i / len(groups)))
        return tasks

    def _sent(self, tables: list[np.ndarray]) -> Sequence[Any]:
        """Return tables as they are sent: once to all workers or, if small, in each request."""
        size = sum(masses.nbytes for masses in tables)
        if size < INLINE:
            self.ledger.traffic["tables"] += HOPS * size * len(self._parts.groups())
            return [masses.copy() for masses in tables]
        self.ledger.traffic["tables"] += size * (1 + len(set(self._cluster.workers)))
        return self._cluster.broadcast(tables)

    @property
    def _others(self) -> int:
        """The number of workers to which one of them sends."""
        return len(set(self._cluster.workers)) - 1

    def _count(self, whole: Sum, answers: list[list[list[PackedAnswer]]]) -> None:
        """Count the bytes of a half-step: the sum goes to this process and to all workers."""
        self.ledger.traffic["changes"] += whole.moved + whole.nbytes * (self._others + HOPS)
        self.ledger.traffic["answers"] += HOPS * sum(
            answer.nbytes for group in answers for job in group for answer in job
        )

    def _results(self, start: Callable[[], list[Task]]) -> list[Any]:
        results = self._parts.results(start, forget=self.ledger.forget)
        assert results is not None
        return results


def _part_job(job: Job, cross: Board | None, group: range, tables: WorkerTables) -> PartJob:
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
    return Answer(labels, margins, answer.moves, answer.drift, NO_CHANGE)


def workers_of(joint: Joint) -> Workers:
    """Return those who compute the parts of a matrix."""
    known = joint.__dict__
    if "workers" not in known:
        if isinstance(joint, ClusterJoint):
            ledger = Ledger()
            for matrix in (joint, joint.T):
                matrix.__dict__["workers"] = ClusterWorkers(matrix, ledger)
        else:
            known["workers"] = Threads(joint)
    workers: Workers = known["workers"]
    return workers
