"""What the workers of a cluster do: they keep copies of tables, and move the rows of their parts.

A task names the versions of the tables that it needs. Its worker has the table as the last task
left it, and the task brings the changes since then, or the whole table. If a worker has neither, as
a new one may, the task does nothing and returns None; then it is sent again with whole tables.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from ...joint.parts import Change, TableSum, total
from ...kernels.matrix import Matrix
from .boards import (
    NO_LOOKUP,
    Answer,
    Ask,
    Board,
    Copies,
    Copy,
    Results,
    RowSetting,
    RowTask,
    lookup_of_size,
    masses_alone,
)
from .dask_parts import aligned

REPLICA_THREADS = 64  # the most that a worker has

Token = tuple[str, Hashable]  # of the session and of the board

_here = uuid4().hex  # this process
_boards: dict[Token, Board] = {}
_copies: dict[tuple[int, ...], Copies] = {}  # by the shape of the table
_readers: Counter[int] = Counter()  # tasks that read a table now, by its identity
_lock = threading.Lock()


class Call(NamedTuple):
    """A function of a part, and its further arguments."""

    task: Callable[..., Any]
    arguments: tuple[Any, ...]


class Wanted(NamedTuple):
    """The version of a table that a task needs, and how to get it."""

    token: Token
    version: int
    since: int | None  # the version to which changes are sent; None if the whole table is
    jobs: tuple[int, ...]  # which of the jobs of each sent half-step made the change
    lookup: int  # the size of the look-up table; 0 unless masses are counts


class PackedAsk(NamedTuple):
    """What a part is asked to do, in few bytes: only what concerns the rows to visit."""

    order: np.ndarray | tuple[int, int]  # positions, or the ends of a range
    labels: np.ndarray
    margins: np.ndarray | float  # one number if all are the same
    sizes: np.ndarray
    cross: np.ndarray | None  # None if the rows of a table that the worker has


class PartJob(NamedTuple):
    """What the parts of a group are asked to do with one table."""

    board: int  # the number of the table in the list of those that are wanted
    cross: int | None  # the number of the table of the other side, if it is among them
    asks: list[PackedAsk]
    setting: RowSetting


class CopyRequest(NamedTuple):
    """What a group of parts is asked to do."""

    rows: list[tuple[int, int]]  # where the parts begin and end
    wanted: list[Wanted]
    jobs: list[PartJob]
    in_use: frozenset[Token]  # the tables that will be needed again

    @property
    def nbytes(self) -> int:
        """The size of what is sent, without names of tables."""
        return sum(_nbytes(ask) for job in self.jobs for ask in job.asks) + sum(
            _nbytes(job.setting.blocks) for job in self.jobs
        )


@dataclass
class Sealed:
    """A request in which Dask does not look for results of other tasks, as it does in tuples."""

    content: CopyRequest


class PackedAnswer(NamedTuple):
    """What a part has done: the labels and margins of the rows that were visited."""

    labels: np.ndarray
    margins: np.ndarray
    moves: int
    drift: float

    @property
    def nbytes(self) -> int:
        """The size of what is sent."""
        return _nbytes(self)


class Sum(NamedTuple):
    """Changes in sum."""

    changes: list[Change]  # by job, in few bytes
    place: str  # the process in which it was computed
    moved: int = 0  # bytes of all terms that came from other processes

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return sum(change.nbytes for change in self.changes)


class Reply(NamedTuple):
    """What a group of parts has done."""

    answers: list[list[PackedAnswer]]  # by job and part
    sum: Sum


# --- tasks ----------------------------------------------------------------------------------------


def move(parts: Sequence[Matrix], request: Sealed, sent: Sequence[Any]) -> Reply | None:
    """Move rows of the parts of a group; None if this worker lacks a table."""
    parts, content = [aligned(part) for part in parts], aligned(request.content)
    answers: list[list[PackedAnswer]] = []
    changes = []
    with _reading(content, sent) as boards:
        if boards is None:
            return None
        for job in content.jobs:
            asks = [
                _unpacked(ask, rows, job, boards)
                for ask, rows in zip(job.asks, content.rows, strict=True)
            ]
            done, change = _moved(parts, boards[job.board], asks, job.setting)
            answers.append(list(map(_packed, done, asks)))
            changes.append(narrow(change))
    return Reply(answers, Sum(changes, _here))


def each_row(
    parts: Sequence[Matrix], request: Sealed, sent: Sequence[Any], task: RowTask
) -> list[Results] | None:
    """Do a task with the costs of each row of the parts; None if this worker lacks a table."""
    parts, content = [aligned(part) for part in parts], aligned(request.content)
    with _reading(content, sent) as boards:
        if boards is None:
            return None
        (job,) = content.jobs
        board = boards[job.board]
        with _copy_of(board) as copy:
            return [
                board.each_row(copy, part, _unpacked(ask, rows, job, boards), job.setting, task)
                for part, ask, rows in zip(parts, job.asks, content.rows, strict=True)
            ]


def answers_of(reply: Reply | None) -> list[list[PackedAnswer]] | None:
    """Return what the driver needs of a reply."""
    return reply and reply.answers


def sum_of(reply: Reply | None) -> Sum | None:
    """Return the changes of the only group."""
    return reply and reply.sum


def plus(one: Sum | Reply | None, other: Sum | Reply | None) -> Sum | None:
    """Add up the changes of each job; None if a worker lacked a table."""
    if one is None or other is None:
        return None
    terms = [aligned(term.sum if isinstance(term, Reply) else term) for term in (one, other)]
    pairs = zip(*(map(wide, term.changes) for term in terms), strict=True)
    came = sum(term.nbytes for term in terms if term.place != _here)
    moved = terms[0].moved + terms[1].moved + came
    return Sum([narrow(mine.plus(yours)) for mine, yours in pairs], _here, moved)


def each_part(parts: Sequence[Matrix], calls: Sequence[Call]) -> list[Any]:
    """Return the results of a function of each part."""
    return list(_results(parts, calls))


def sum_of_parts(parts: Sequence[Matrix], calls: Sequence[Call]) -> np.ndarray:
    """Return the sum of the results of a function of each part."""
    return total(_results(parts, calls), np.ndarray.__iadd__)


def _results(parts: Sequence[Matrix], calls: Sequence[Call]) -> Iterator[Any]:
    for part, call in zip(parts, calls, strict=True):
        yield call.task(aligned(part), *aligned(list(call.arguments)))


# --- tables ---------------------------------------------------------------------------------------


@contextmanager
def _reading(request: CopyRequest, sent: Sequence[Any]) -> Iterator[list[Board] | None]:
    """Yield the tables that a task needs, which do not change meanwhile; None if one is lacking.

    Tables that are no longer in use are forgotten.
    """
    session = request.wanted[0].token[0]
    with _lock:
        _forget(session, request.in_use)
        boards = [
            _board(wanted, parcel) for wanted, parcel in zip(request.wanted, sent, strict=True)
        ]
        present = [board for board in boards if board is not None]
        _readers.update(map(id, present))
    try:
        yield present if len(present) == len(boards) else None
    finally:
        with _lock:
            _readers.subtract(map(id, present))


def _forget(session: str, in_use: Collection[Token]) -> None:
    for token in list(_boards):
        if token[0] == session and token not in in_use:
            del _boards[token]


def _board(wanted: Wanted, parcel: Any) -> Board | None:
    board = _boards.get(wanted.token)
    if board is not None and board.version == wanted.version:
        return board
    if wanted.since is None:
        counts = lookup_of_size(wanted.lookup) if wanted.lookup else NO_LOOKUP
        board = Board(masses_alone(parcel.copy(), counts), wanted.token)
        board.version = wanted.version
        _boards[wanted.token] = board
        return board
    if board is None or board.version != wanted.since or None in parcel:
        return None
    if _readers[id(board)] > 0:  # a task of an earlier version, sent again when a worker was lost
        mass, lookup, version = board.table.mass.copy(), board.table.lookup, board.version
        board = _boards[wanted.token] = Board(masses_alone(mass, lookup), wanted.token)
        board.version = version
    for step, job in zip(parcel, wanted.jobs, strict=True):
        board.accept(aligned(wide(step.changes[job])))
    return board


def narrow(change: Change) -> Change:
    """Return a change with counts in the smallest integers that hold them."""
    cells = change.cells
    if cells.dtype != np.int32 or cells.size == 0:
        return change
    low, high = cells.min(), cells.max()
    for kind in (np.int8, np.int16):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return Change(change.items, cells.astype(kind))
    return change


def wide(change: Change) -> Change:
    """Return a change with counts of the type of tables."""
    is_float = change.cells.dtype.kind == "f"
    return change if is_float else Change(change.items, change.cells.astype(np.int32))


# --- parts ----------------------------------------------------------------------------------------


def _moved(
    parts: Sequence[Matrix], board: Board, asks: Sequence[Ask], setting: RowSetting
) -> tuple[list[Answer], Change]:
    """Move rows of the parts of a group; return their answers, and their changes in sum."""
    mass = board.table.mass
    whole = TableSum(mass) if mass.dtype == np.int32 else None
    with _copy_of(board) as copy:
        done = [
            board.sweep(copy, part, ask, setting, whole) if ask.order.size else board.idle(ask)
            for part, ask in zip(parts, asks, strict=True)
        ]
    if whole is not None:
        return done, whole.change()
    return done, total((answer.change for answer in done), Change.plus)


@contextmanager
def _copy_of(board: Board) -> Iterator[Copy]:
    """Use a copy of a table that nobody else uses meanwhile."""
    copies = _copies.setdefault(board.table.mass.shape, Copies(REPLICA_THREADS))
    copy = copies.take(board)
    yield copy
    copies.put_back(copy)


def pack(ask: Ask, has_table: bool) -> PackedAsk:
    """Return a request in few bytes."""
    order, margins = ask.order, ask.margins[ask.order]
    is_range = order.size > 0 and np.array_equal(order, np.arange(order[0], order[0] + order.size))
    return PackedAsk(
        (int(order[0]), int(order[-1])) if is_range else order.astype(np.int32),
        short(ask.labels[order], ask.sizes.size),
        float(margins[0]) if margins.size and (margins == margins[0]).all() else margins,
        ask.sizes,
        None if has_table else ask.cross,
    )


def short(labels: np.ndarray, k: int) -> np.ndarray:
    """Return labels below k, or -1, in the smallest integers that hold them."""
    return labels.astype(np.min_scalar_type(-k))


def _positions(order: np.ndarray | tuple[int, int]) -> np.ndarray:
    if isinstance(order, tuple):
        return np.arange(order[0], order[1] + 1)
    return order.astype(np.int64)


def _unpacked(ask: PackedAsk, rows: tuple[int, int], job: PartJob, boards: list[Board]) -> Ask:
    size = rows[1] - rows[0]
    order = _positions(ask.order)
    labels, margins = np.full(size, -1, np.int32), np.full(size, np.inf, np.float32)
    labels[order], margins[order] = ask.labels, ask.margins
    if ask.cross is not None:
        cross = ask.cross
    else:
        assert job.cross is not None
        cross = boards[job.cross].table.mass[rows[0] : rows[1]]
    return Ask(order, labels, margins, ask.sizes, cross)


def _packed(answer: Answer, ask: Ask) -> PackedAnswer:
    labels = short(answer.labels[ask.order], ask.sizes.size)
    return PackedAnswer(labels, answer.margins[ask.order], answer.moves, answer.drift)


def _nbytes(values: tuple[Any, ...]) -> int:
    """Return the size of arrays and numbers."""
    return sum(value.nbytes if isinstance(value, np.ndarray) else 8 for value in values)
