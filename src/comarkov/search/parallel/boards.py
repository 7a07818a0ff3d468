"""Tables that parts of a sweep copy: each part moves its rows against a copy of its own."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from ...joint.joint import Joint
from ...joint.parts import Change, TableSum
from ...kernels.insertion import Workspace
from ...kernels.logarithm import single
from ...kernels.matrix import Matrix, row_parts, xlogx_below
from ...kernels.sweep import Clusters, insertion_costs, sweep
from ...kernels.tables import (
    LANES,
    MassTable,
    add_cells,
    copy_items,
    derive,
    derive_items,
    mark_items,
    take_back,
)

LOOKUP_LIMIT = 1 << 16
NO_LOOKUP = np.zeros((0, 3), np.float32)
NO_CELLS = np.zeros((0, 0), np.float32)


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
    """Return an empty table for n items and k clusters: of counts if there is a look-up table."""
    return zeros((n, padded(k)), lookup)


def zeros(shape: tuple[int, int], lookup: np.ndarray) -> MassTable:
    """Return a table of zeros, not derived yet: of counts if there is a look-up table.

    Zeros take no memory before they are written, which ``zeros_like`` does at once.
    """
    first, second, third = (np.zeros(shape, np.float32) for _ in range(3))
    if lookup.size:
        mass = np.zeros(shape, np.int32)
        return MassTable(mass, mass, first, second, third, lookup)
    return MassTable(np.zeros(shape), first, second, NO_CELLS, NO_CELLS, lookup)


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


LINE_BYTES = 128  # bytes that processors fetch together
REMEMBERED = 8  # changes that copies can catch up with; older copies are made again
_tokens = itertools.count()
_boards: WeakValueDictionary[int, Board] = WeakValueDictionary()  # by the identity of their masses

#: A function of the clusters of rows, the rows, and their costs in each cluster, in nats times
#: mass, after each was removed from its own. It returns arrays with a line for each row.
RowTask = Callable[[np.ndarray, Matrix, np.ndarray], tuple[np.ndarray, ...]]
Results = tuple[np.ndarray, ...]


class RowSetting(NamedTuple):
    """What all parts of a half-step start from, apart from the table."""

    blocks: MassTable
    coupling: float


class Ask(NamedTuple):
    """The rows of a part that are to be visited, and what is known of all its rows."""

    order: np.ndarray  # positions in the part
    labels: np.ndarray
    margins: np.ndarray
    sizes: np.ndarray  # of the clusters, as far as the part has to know
    cross: np.ndarray  # masses by clusters of the other side; empty without influence


class Answer(NamedTuple):
    """What a part has done."""

    labels: np.ndarray
    margins: np.ndarray
    moves: int
    drift: float
    change: Change


@dataclass(eq=False)
class Copy:
    """A copy of the table of a board, as it was at some version."""

    table: MassTable
    token: Hashable = -1
    version: int = -1
    thread: int = -1  # that used it last, whose cache may have it


class Board:
    """A table of masses, and which of its items have changed lately.

    Only its copies need the values that are derived from masses, see ``without_derived``.
    """

    def __init__(self, table: MassTable, token: Hashable = None) -> None:
        self.table = table
        self.token = next(_tokens) if token is None else token
        self.version = 0
        self._changed: deque[np.ndarray] = deque(maxlen=REMEMBERED)
        self._tags: deque[int | None] = deque(maxlen=REMEMBERED)
        _boards[id(table.mass)] = self

    def tags_since(self, version: int) -> list[int | None]:
        """Return the tags of the changes since a version; [None] if they are forgotten."""
        behind = self.version - version
        tags = list(self._tags)
        return tags[len(tags) - behind :] if behind <= len(tags) else [None]

    def accept(self, change: Change, tag: int | None = None) -> None:
        """Add a change to the table; the tag identifies it for those who have computed it."""
        add_cells(self.table.mass, change.items, change.cells)
        self._changed.append(change.items)
        self._tags.append(tag)
        self.version += 1

    def bring_up_to_date(self, copy: Copy) -> None:
        """Make a copy equal to the table."""
        behind = self.version - copy.version
        if copy.token == self.token and 0 <= behind <= len(self._changed):
            for items in list(self._changed)[len(self._changed) - behind :]:
                copy_items(self.table.mass, copy.table.mass, items)
                _derive_again(copy.table, items)
        else:
            copy.table = with_derived(self.table, copy.table)
        copy.token, copy.version = self.token, self.version

    def sweep(
        self, copy: Copy, part: Matrix, ask: Ask, setting: RowSetting, into: TableSum | None = None
    ) -> Answer:
        """Move rows of a part, one after another, against a copy of the table.

        The copy is as before afterwards. The change is added to a sum if there is one.
        """
        sizes, labels, margins = ask.sizes.copy(), ask.labels.copy(), ask.margins.copy()
        blocks = copied(setting.blocks)
        moves, _, drift = sweep(
            ask.order,
            part,
            Clusters(labels, sizes, margins),
            copy.table,
            blocks,
            ask.cross,
            setting.coupling,
            new_workspace(blocks),
        )
        items = _touched(part, ask.labels, labels, len(copy.table.mass))
        change = self._taken_back(copy.table, items, into)
        return Answer(labels, margins, moves, drift, change)

    def each_row(
        self, copy: Copy, part: Matrix, ask: Ask, setting: RowSetting, task: RowTask
    ) -> Results:
        """Do a task with the costs of the rows of a part in each cluster, and join its results.

        A few thousand rows at a time, to limit memory.
        """
        workspace, k = new_workspace(setting.blocks), ask.sizes.size
        results = []
        for place, rows in row_parts(part):
            home, cross = ask.labels[place], ask.cross[place]
            costs = np.empty((rows.mass.size, k))
            arguments = copy.table, setting.blocks, cross, setting.coupling, workspace
            insertion_costs(costs, home, rows, *arguments)
            results.append(task(home, rows, costs))
        return tuple(np.concatenate(arrays) for arrays in zip(*results, strict=True))

    def idle(self, ask: Ask) -> Answer:
        """Return the answer of a part without rows to visit."""
        return Answer(ask.labels, ask.margins, 0, 0.0, self._no_change())

    def _no_change(self) -> Change:
        lanes, kind = self.table.mass.shape[1], self.table.mass.dtype
        return Change(np.zeros(0, np.uint32), np.zeros((0, lanes), kind))

    def _taken_back(self, table: MassTable, items: np.ndarray, into: TableSum | None) -> Change:
        """Return what moves have changed in a copy of the table, and undo it there."""
        if into is not None:
            into.take_back(table.mass, self.table.mass, items)
            change = self._no_change()
        else:
            change = Change(items, np.empty((items.size, table.mass.shape[1]), table.mass.dtype))
            take_back(table.mass, self.table.mass, *change)
        _derive_again(table, items)
        return change


def _touched(part: Matrix, before: np.ndarray, after: np.ndarray, count: int) -> np.ndarray:
    """Return the items in which rows that were moved have entries."""
    marks = np.zeros(count, bool)
    mark_items(part, before, after, marks)
    return np.flatnonzero(marks).astype(np.uint32)


def board_of(masses: np.ndarray) -> Board | None:
    """Return the board whose masses these are, or of whose masses these are a part."""
    owner = masses if masses.base is None else masses.base
    return _boards.get(id(owner))


def tokens_in_use() -> list[Hashable]:
    """Return the tokens of all boards that exist."""
    return [board.token for board in list(_boards.values())]


class Copies:
    """Copies of tables that are in use by nobody, to be used again."""

    def __init__(self, most: int) -> None:
        self._free: list[Copy] = []
        self._most = most
        self._lock = threading.Lock()

    def take(self, board: Board) -> Copy:
        """Return a copy of the table of a board; if possible one that was used for it before."""
        with self._lock:
            here = threading.get_ident()
            mine = [copy for copy in self._free if copy.thread == here] or self._free
            same = [copy for copy in mine if copy.token == board.token]
            copy = (same or mine or [Copy(board.table)])[-1]
            copy.thread = here
            self._free = [other for other in self._free if other is not copy]
        board.bring_up_to_date(copy)
        return copy

    def put_back(self, copy: Copy) -> None:
        """Keep a copy for its next use."""
        with self._lock:
            if len(self._free) < self._most:
                self._free.append(copy)


def without_derived(table: MassTable) -> MassTable:
    """Return the masses of a table alone: a quarter of its memory for counts, half for weights."""
    return masses_alone(table.mass, table.lookup)


def masses_alone(mass: np.ndarray, lookup: np.ndarray) -> MassTable:
    """Return a table of masses without anything derived; of counts if there is a look-up table."""
    near = mass if lookup.size else NO_CELLS
    return MassTable(mass, near, NO_CELLS, NO_CELLS, NO_CELLS, lookup)


def with_derived(table: MassTable, into: MassTable | None = None) -> MassTable:
    """Return a copy of masses with all that is derived from them, in memory of the same form."""
    if into is None or not _is_alike(table, into):
        into = zeros(table.mass.shape, table.lookup)
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


def _is_alike(table: MassTable, other: MassTable) -> bool:
    """Has the other table room for a copy of this one, with what is derived?"""
    return (
        other.log.shape == table.mass.shape
        and other.mass.dtype == table.mass.dtype
        and other.mass is not table.mass
    )


def _derive_again(table: MassTable, items: np.ndarray) -> None:
    """Derive the values of these items."""
    derive_items(table, np.zeros(1, np.int64), np.array([0, items.size]), items)


def new_workspace(blocks: MassTable) -> Workspace:
    """Return scratch memory for sweeps with these blocks."""
    n_blocks, lanes = blocks.mass.shape
    return Workspace(
        total=_apart(lanes, np.float64),
        partial=_apart(lanes, np.float32),
        indices=_apart(n_blocks, np.uint32),
        weights=_apart(n_blocks, np.float64),
        costs=np.zeros((0, 0)),
    )


def _apart(size: int, kind: type[np.generic]) -> np.ndarray:
    """Return zeros that share no cache line with other arrays, which other threads may write."""
    margin = LINE_BYTES // np.dtype(kind).itemsize
    return np.zeros(size + 2 * margin, kind)[margin:-margin]
