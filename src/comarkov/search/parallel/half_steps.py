"""Half-steps in parts: the rows of all parts move at the same time.

Each part moves its rows one after another, against its own copy of the table. Then labels are
joined and changes are added up. Moves of different parts do not know of each other, so together
they may raise the cost. The cost is known from the sums; such a half-step is made again in smaller
steps, at last one part after another, which never raises it. The part that has most of a cluster
keeps the last of its rows there, so that no cluster becomes empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from ...costs.objective import saved_nats
from ...joint.parts import Change
from ...kernels.matrix import Matrix
from ...kernels.sweep import Clusters
from ...kernels.tables import MassTable, add_blocks, add_labelled, derive, entropy_change
from .boards import Ask, Board, RowSetting, copied
from .workers import HalfStep, Job, Stop, Workers

STEP_HALVINGS = 2  # of a half-step that raises the cost, before its parts move one after another
DOUBLINGS = 6  # of the first step from random labels, until it is a whole sweep
STEP_GROWTH = 8  # by which the number of inserted rows grows from one step to the next

ITEMS_PER_CHUNK = 1 << 12  # items or rows that one thread looks at

T = TypeVar("T")
Rows = list[np.ndarray]  # of each part, as positions in the part


class SweepTally(NamedTuple):
    """What half-steps have done."""

    moves: int = 0
    saved: float = 0.0  # nats times mass
    drift: float = 0.0
    complete: bool = True  # False if it was stopped

    def plus(self, other: SweepTally) -> SweepTally:
        """Return both in sum."""
        return SweepTally(
            self.moves + other.moves,
            self.saved + other.saved,
            self.drift + other.drift,
            self.complete and other.complete,
        )


class StepOutcome(NamedTuple):
    """The clusters after a half-step, and what it saves."""

    labels: np.ndarray
    sizes: np.ndarray
    blocks: MassTable
    saved: float


@dataclass
class Mover:
    """Moves the rows of one side in parts. Writes its clusters, its table and the blocks."""

    workers: Workers
    board: Board
    clusters: Clusters
    blocks: MassTable
    cross: np.ndarray  # masses of rows by clusters of the other side; empty without influence
    coupling: float
    row_mass: np.ndarray
    stop: Stop

    def sweep(self, rows: Rows) -> SweepTally:
        """Move rows, each to its cluster of least cost."""
        if _count(rows) == 0:
            return SweepTally()
        tally = self._sweep(rows, STEP_HALVINGS)
        return tally.plus(self._one_after_another(self._kept(rows)))

    def _sweep(self, rows: Rows, halvings: int) -> SweepTally:
        steps = self.workers.half_steps([self.job(rows)], self.stop)
        if steps is None:
            return SweepTally(complete=False)
        (step,) = steps
        moves, drift = (sum(getattr(a, part) for a in step.answers) for part in ("moves", "drift"))
        outcome = self._outcome(step) if moves else None
        if outcome is not None and outcome.saved < 0.0 and _count(rows) > 1:
            return self._again(rows, halvings)
        self._accept(step, outcome)
        return SweepTally(moves, outcome.saved if outcome else 0.0, drift)

    def sweep_growing(self, rows: Rows) -> SweepTally:
        """Move rows, each to its cluster of least cost, in steps that double from a small one.

        Random labels say little. With many parts at the same time, each would follow others.
        """
        tally, begin = SweepTally(), 0.0
        for end in (2.0**-i for i in reversed(range(DOUBLINGS + 1))):
            step = [part[int(begin * part.size) : int(end * part.size)] for part in rows]
            tally, begin = tally.plus(self.sweep(step)), end
        return tally

    def _again(self, rows: Rows, halvings: int) -> SweepTally:
        """Make a half-step in two, or one part after another."""
        if halvings:
            first = [part[: part.size // 2] for part in rows]
            second = [part[part.size // 2 :] for part in rows]
            return self._sweep(first, halvings - 1).plus(self._sweep(second, halvings - 1))
        return self._one_after_another(rows)

    def _one_after_another(self, rows: Rows) -> SweepTally:
        """Move the rows of one part, then those of the next, which is the sequential sweep."""
        tally = SweepTally()
        for p, part in enumerate(rows):
            if part.size:
                alone = [part if p == q else part[:0] for q in range(len(rows))]
                tally = tally.plus(self._sweep(alone, 0))
        return tally

    def _kept(self, rows: Rows) -> Rows:
        """Return the rows that could not leave their cluster because it might become empty.

        These are single rows in their part, of clusters that have no more in any part.
        """
        labels, kept = self._labels(), self.no_rows()
        own = self._counts(labels)
        for a in np.flatnonzero((own.max(axis=0) == 1) & (own.sum(axis=0) > 1)):
            p = own[:, a].argmax()
            (x,) = np.flatnonzero(labels[p] == a)
            if x in rows[p]:
                kept[p] = np.append(kept[p], x)
        return kept

    def job(self, rows: Rows) -> Job:
        """Return what the parts are asked to do."""
        labels, sizes = self._labels(), [self.clusters.size] * len(rows)
        if _count(rows) > 1:
            sizes = self._sizes(self._counts(labels))
        asks = []
        for p, (start, stop) in enumerate(pairwise(self.workers.bounds)):
            margins, cross = self.clusters.margin[start:stop], self.cross[start:stop]
            asks.append(Ask(rows[p], labels[p], margins, sizes[p], cross))
        setting = RowSetting(self.blocks, self.coupling)
        return Job(self.board, asks, setting)

    def no_rows(self) -> Rows:
        """Return that no rows are to be visited."""
        return [np.zeros(0, np.int64)] * (self.workers.bounds.size - 1)

    def accept(self, step: HalfStep) -> None:
        """Make the changes of a half-step, whatever they cost."""
        self._accept(step, self._outcome(step))

    def _labels(self) -> Rows:
        """Return the labels of each part."""
        return np.split(self.clusters.label, self.workers.bounds[1:-1])

    def _counts(self, labels: Rows) -> np.ndarray:
        """Return how many rows of each cluster each part has."""
        k = self.clusters.size.size
        return np.array([np.bincount(part[part >= 0], minlength=k) for part in labels])

    def _sizes(self, own: np.ndarray) -> list[np.ndarray]:
        """Return the sizes of clusters that parts see: their own rows, and one more of others.

        The part that has most of a cluster sees only its own rows, the last of which never leaves.
        """
        keeper = own.argmax(axis=0)
        return list(own + (np.arange(len(own))[:, None] != keeper))

    def _outcome(self, step: HalfStep) -> StepOutcome:
        labels = np.concatenate([answer.labels for answer in step.answers])
        sizes = np.bincount(labels[labels >= 0], minlength=self.clusters.size.size)
        blocks = copied(self.blocks)
        fill_blocks(self.workers, blocks, self.cross, labels, self.row_mass)
        return StepOutcome(labels, sizes, blocks, self._saved(step.change, blocks))

    def _saved(self, change: Change, blocks: MassTable) -> float:
        """Return by how much the cost falls, in nats times mass."""
        cells = self._entropy_change(change) if self.coupling != 0.0 else 0.0
        return saved_nats(self.blocks.mass, blocks.mass, cells, self.coupling)

    def _entropy_change(self, change: Change) -> float:
        mass, (items, cells) = self.board.table.mass, change

        def of_chunk(chunk: slice) -> float:
            return float(entropy_change(mass, items[chunk], cells[chunk]))

        return sum(in_chunks(self.workers, items.size, of_chunk))

    def _accept(self, step: HalfStep, outcome: StepOutcome | None) -> None:
        self.clusters.margin[:] = np.concatenate([answer.margins for answer in step.answers])
        if outcome is None:
            return
        self.board.accept(step.change, step.tag)
        self.clusters.label[:] = outcome.labels
        self.clusters.size[:] = outcome.sizes
        self.blocks = outcome.blocks


def insert(movers: Sequence[Mover], rows: Sequence[Rows], inserted: Sequence[int]) -> None:
    """Put rows that are in no cluster into theirs; so many of each mover are in one already.

    Every step inserts a few times as many rows as there are, so that all see enough of them.
    """
    waiting = [list(own) for own in rows]
    counts = list(inserted)
    while any(_count(own) for own in waiting):
        now = []
        for i, own in enumerate(waiting):
            share = min(1.0, (STEP_GROWTH - 1) * counts[i] / max(sum(part.size for part in own), 1))
            sizes = [int(np.ceil(share * part.size)) for part in own]
            now.append([part[:n] for part, n in zip(own, sizes, strict=True)])
            waiting[i] = [part[n:] for part, n in zip(own, sizes, strict=True)]
            counts[i] += sum(sizes)
        if not move_all(movers, now):
            return


def move_all(movers: Sequence[Mover], rows: Sequence[Rows]) -> bool:
    """Move the rows of several movers at the same time, whatever that costs; False if stopped."""
    workers, stop = movers[0].workers, movers[0].stop
    jobs = workers.each(lambda i: movers[i].job(rows[i]), len(movers))
    steps = workers.half_steps(jobs, stop)
    if steps is None:
        return False
    workers.each(lambda i: movers[i].accept(steps[i]), len(movers))
    return True


def fill_blocks(
    workers: Workers, blocks: MassTable, cross: np.ndarray, labels: np.ndarray, mass: np.ndarray
) -> None:
    """Write the masses by (column cluster, row cluster), and by row cluster in the last row."""

    def of_chunk(chunk: slice) -> np.ndarray:
        out = np.zeros_like(blocks.mass)
        add_blocks(out, cross[chunk], labels[chunk], mass[chunk])
        return out

    blocks.mass[:] = sum(in_chunks(workers, labels.size, of_chunk))
    derive(blocks)


def in_chunks(workers: Workers, size: int, work: Callable[[slice], T]) -> list[T]:
    """Return the results of work on chunks of a range, done at the same time in this process."""
    starts = range(0, size, ITEMS_PER_CHUNK)
    return workers.each(lambda i: work(slice(starts[i], starts[i] + ITEMS_PER_CHUNK)), len(starts))


def masses(workers: Workers, labels: np.ndarray, table: MassTable) -> np.ndarray:
    """Return the masses by (column, row cluster), summed over parts."""
    shape, kind = table.mass.shape, table.mass.dtype.str
    bounds = workers.bounds
    own = [(labels[a:b], shape, kind) for a, b in pairwise(bounds)]
    return workers.sum(part_masses, own)


def part_masses(
    part: Matrix,
    labels: np.ndarray,
    shape: tuple[int, int],
    kind: str,
    mass: np.ndarray | None = None,
) -> np.ndarray:
    """Return the masses by (column, row cluster) of a part; if ``mass`` is given, added to it."""
    mass = np.zeros(shape, kind) if mass is None else mass
    add_labelled(mass, part, labels)
    return mass


def rows_of_parts(workers: Workers, rows: np.ndarray) -> Rows:
    """Return rows as positions in their parts; the rows of each part keep their order."""
    part = np.searchsorted(workers.bounds, rows, side="right") - 1
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=workers.bounds.size - 1))
    split = np.split(rows[order], ends[:-1])
    return [own - start for own, start in zip(split, workers.bounds[:-1], strict=True)]


def _count(rows: Rows) -> int:
    """Return the number of parts that have rows to visit."""
    return sum(part.size > 0 for part in rows)
