"""Half-steps in parts: the rows of all parts move at the same time.

Each part moves its rows one after another, against its own copy of the table. Then labels are
joined and changes are added up. Moves of different parts do not know of each other, so together
they may raise the cost. The cost is known from the sums; such a half-step is made again in smaller
steps, at last one part after another, which never raises it. The part that has most of a cluster
keeps the last of its rows there, so that no cluster becomes empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from ...costs.objective import saved_nats
from ...kernels.sweep import Clusters
from ...kernels.tables import MassTable, add_cells, count_labels, derive
from .worker import HalfStep, Rows, Stop, Worker

STEP_HALVINGS = 2  # of a half-step that raises the cost, before its parts move one after another
DOUBLINGS = 6  # of the first step from random labels, until it is a whole sweep
STEP_GROWTH = 8  # by which the number of inserted rows grows from one step to the next


@dataclass
class Mover:
    """Moves the rows of one side in parts. Writes its clusters, its table and the blocks."""

    worker: Worker
    table: MassTable
    clusters: Clusters  # of all rows
    blocks: MassTable
    cross: np.ndarray  # masses of rows by clusters of the other side; empty without influence
    coupling: float
    stop: Stop

    # what the parts are asked to do
    rows: Rows = field(default_factory=list)  # to visit, in this order
    sizes: Sequence[np.ndarray] = ()  # of the clusters, as far as each part has to know
    step: object = field(default_factory=object)  # which half-step that is: tables stay as they are

    # what all its sweeps have done
    moves: int = 0
    saved: float = 0.0  # nats times mass
    drift: float = 0.0
    is_complete: bool = True  # False if one of them was stopped

    def sweep(self, rows: Rows) -> None:
        """Move rows, each to its cluster of least cost."""
        if _count(rows):
            self._sweep(rows, STEP_HALVINGS)
            self._one_after_another(self._kept(rows))

    def sweep_growing(self, rows: Rows) -> None:
        """Move rows, each to its cluster of least cost, in steps that double from a small one.

        Random labels say little. With many parts at the same time, each would follow others.
        """
        begin = 0.0
        for end in (2.0**-i for i in reversed(range(DOUBLINGS + 1))):
            self.sweep([part[int(begin * part.size) : int(end * part.size)] for part in rows])
            begin = end

    def _sweep(self, rows: Rows, halvings: int) -> None:
        steps = self.worker.half_steps([self.asked(rows)], self.stop, needs_cost=True)
        if steps is None:
            self.is_complete = False
            return
        (step,) = steps
        moves, drift = (sum(each) for each in zip(*step.tallies, strict=True))
        saved = self._saved(step) if moves else 0.0
        if saved < 0.0 and _count(rows) > 1:
            self._again(rows, halvings)
            return
        if moves:
            self.accept(step)
        else:
            self.clusters.margin[:] = step.margins
        self.moves += moves
        self.saved += saved
        self.drift += drift

    def _saved(self, step: HalfStep) -> float:
        """Return by how much the cost falls, in nats times mass."""
        return saved_nats(self.blocks.mass, step.blocks[0], sum(step.entropies), self.coupling)

    def _again(self, rows: Rows, halvings: int) -> None:
        """Make a half-step in two, or one part after another."""
        if halvings:
            self._sweep([part[: part.size // 2] for part in rows], halvings - 1)
            self._sweep([part[part.size // 2 :] for part in rows], halvings - 1)
        else:
            self._one_after_another(rows)

    def _one_after_another(self, rows: Rows) -> None:
        """Move the rows of one part, then those of the next, which is the sequential sweep."""
        for p, part in enumerate(rows):
            if part.size:
                self._sweep([part if p == q else part[:0] for q in range(len(rows))], 0)

    def _kept(self, rows: Rows) -> Rows:
        """Return the rows that could not leave their cluster because it might become empty.

        These are single rows in their part, of clusters that have no more in any part.
        """
        own, bounds = self._counts(), self.worker.bounds
        kept = [part[:0] for part in rows]
        for a in np.flatnonzero((own.max(axis=0) == 1) & (own.sum(axis=0) > 1)):
            p = own[:, a].argmax()
            (x,) = np.flatnonzero(self.clusters.label[bounds[p] : bounds[p + 1]] == a)
            if x in rows[p]:
                kept[p] = np.append(kept[p], x)
        return kept

    def _counts(self) -> np.ndarray:
        """Return how many rows of each cluster each part has."""
        bounds = self.worker.bounds
        counts = np.empty((bounds.size - 1, self.clusters.size.size), np.int64)
        count_labels(self.clusters.label, bounds, counts)
        return counts

    def asked(self, rows: Rows) -> Self:
        """Set what the parts are asked to do.

        A part sees its own rows in the sizes of clusters, and one more of others. The part that has
        most of a cluster sees only its own rows, the last of which never leaves.
        """
        self.rows, self.sizes, self.step = rows, [self.clusters.size] * len(rows), object()
        if _count(rows) > 1:
            own = self._counts()
            self.sizes = list(own + (np.arange(len(own))[:, None] != own.argmax(axis=0)))
        return self

    def accept(self, step: HalfStep) -> None:
        """Make the changes of a half-step."""
        for change in step.changes:
            add_cells(self.table.mass, *change)
        self.clusters.margin[:] = step.margins
        self.clusters.label[:] = step.labels
        self.clusters.size[:] = self._counts().sum(axis=0)
        self.blocks.mass[:] = step.blocks[0]
        derive(self.blocks)


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
    worker, stop = movers[0].worker, movers[0].stop
    asked = worker.each(lambda i: movers[i].asked(rows[i]), len(movers))
    steps = worker.half_steps(asked, stop, needs_cost=False)
    if steps is None:
        return False
    worker.each(lambda i: movers[i].accept(steps[i]), len(movers))
    return True


def _count(rows: Rows) -> int:
    """Return the number of parts that have rows to visit."""
    return sum(part.size > 0 for part in rows)
