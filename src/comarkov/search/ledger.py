"""What the workers of a cluster know of the tables of a search, and the bytes that this takes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from ..data.cluster.client import Task
from .boards import Board, tokens_in_use
from .replicas import Token, Wanted

Send = Callable[[list[np.ndarray]], Sequence[Any]]  # tables to all workers


class Tables(NamedTuple):
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

    def tables(self, boards: list[Board], send: Send) -> Tables:
        """Return how workers get the present versions of tables; ``send`` sends whole ones."""
        with self._lock:
            pairs = [self._wanted(board) for board in boards]
            known = [steps for _, steps in pairs]
            tables = [board.table.mass for board in boards]
            unknown = [mass for mass, steps in zip(tables, known, strict=True) if steps is None]
            whole = iter(send(unknown) if unknown else [])
        parcels = [next(whole) if steps is None else steps for steps in known]
        return Tables(boards, [wanted for wanted, _ in pairs], parcels)

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
