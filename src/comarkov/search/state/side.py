"""One side of a co-clustering: its labels, its table of masses, its sweeps, merges and splits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ...costs.labels import merge_numbers
from ...costs.objective import joining, pair_costs
from ...joint.joint import Joint
from ...joint.messages import InputError
from ...kernels.insertion import new_workspace
from ...kernels.matrix import Matrix, table_bits
from ...kernels.sweep import Clusters, sweep
from ...kernels.tables import (
    MassTable,
    add_blocks,
    copied,
    derive,
    fill_table,
    new_table,
    with_derived,
    without_derived,
)
from ..optimise.refine import Split, Visit
from ..parallel.half_steps import Mover, insert, move_all
from ..parallel.worker import (
    CHUNK,
    Results,
    RowTask,
    Stop,
    empty_blocks,
    empty_table,
    rows_of_parts,
    worker_of,
)
from ..run import Budget, Run, in_parts

MARGIN_SAFETY = 2.0  # a row rests until margins have drifted by its own margin over this
INSERTED_FIRST_ENTRIES = 1 << 21  # of rows inserted one after another, before all others
SPLIT_SAMPLE_ENTRIES = 1 << 14  # of rows that are halved one after another, before all others
SPLIT_BYTES = 1 << 27  # bytes for clusters that are split at the same time ...
SPLIT_ITEM_BYTES, SPLIT_ROW_BYTES = 32, 40  # ... of which each cluster needs so many
MAX_SPLITS_AT_ONCE = 16  # clusters that are split at the same time, if their memory allows


class Side:
    """The rows of a matrix in k clusters, and the mass A[y, a] of column y in row cluster a.

    The columns of a matrix are the rows of its transpose. ``free`` are the rows that a sweep may
    move: nonempty rows that the user has not fixed. ``is_numbered`` if the user numbered the
    clusters.

    Late sweeps move few rows, so they visit only a part of them. Every visit records the margin of
    a row, the difference between the costs of its two best clusters per unit of mass, and sweeps
    measure how far margins drift. A row is due again when the drift since its last visit could have
    used up its margin. A complete sweep confirms the end.
    """

    def __init__(
        self,
        joint: Joint,
        labels: np.ndarray,
        k: int,
        free: np.ndarray,
        table: MassTable | None = None,
        is_numbered: bool = False,
    ) -> None:
        self.joint, self.k, self.free = joint, k, free
        self.is_numbered = is_numbered
        self.is_fresh = False  # are labels random, and has no sweep changed them yet?
        self.clusters = no_clusters(labels.size, k)
        label, size, _ = self.clusters
        label[:] = np.where(joint.row_mass > 0, labels, -1)
        size[:] = np.bincount(label[label >= 0], minlength=k)
        self.table = self._filled() if table is None else table
        self._due = np.zeros(label.size, np.float32)
        self._clock = 0.0

    @property
    def labels(self) -> np.ndarray:
        """The cluster of each row; -1 for empty rows."""
        return self.clusters.label

    @property
    def work(self) -> int:
        """The terms of the cost in a sweep: entries times clusters."""
        return self.joint.nnz * self.k

    def _filled(self) -> MassTable:
        """Return the table of these labels."""
        table = empty_table(self.joint, self.k)
        if _is_whole(self.joint):
            fill_table(table, self.joint.matrix, self.labels)
            return table
        mass = worker_of(self.joint).masses(np.full_like(self.labels, -1), self.labels, table)
        return without_derived(table._replace(mass=mass))

    @property
    def masses(self) -> np.ndarray:
        """A[y, a], without the padding."""
        return self.table.mass[:, : self.k]

    @property
    def cross(self) -> np.ndarray:
        """A[y, a] as sweeps over the other side use it."""
        return self.table.mass

    def cluster_mass(self) -> np.ndarray:
        """Return the mass of each cluster."""
        has_mass = self.labels >= 0
        return np.bincount(
            self.labels[has_mass], weights=self.joint.row_mass[has_mass], minlength=self.k
        )

    def blocks(self, cross: np.ndarray) -> MassTable:
        """Return the masses by (cluster of the other side, cluster); totals are in the last row."""
        blocks, labels, mass = empty_blocks(cross, self.k), self.labels, self.joint.row_mass

        def of_chunk(i: int) -> np.ndarray:
            rows = slice(i * CHUNK, (i + 1) * CHUNK)
            out = np.zeros_like(blocks.mass)
            add_blocks(out, cross[rows], labels[rows], mass[rows])
            return out

        blocks.mass[:] = sum(worker_of(self.joint).each(of_chunk, -(-labels.size // CHUNK)))
        derive(blocks)
        return blocks

    def information(self) -> float:
        """Return I(X̄;Y) in bits."""
        return table_bits(self.table.mass, self.cluster_mass(), self.joint.column_mass)

    def release(self) -> np.ndarray:
        """Return the masses and free the table, after which the side cannot be used."""
        masses = self.masses
        del self.table
        return masses

    def copy(self) -> Side:
        """Return a copy that can be changed independently."""
        table = copied(self.table)
        return Side(self.joint, self.labels, self.k, self.free, table, self.is_numbered)

    def relabelled(self, labels: np.ndarray) -> Side:
        """Return the side with new labels of the same k clusters.

        Only rows of changed clusters are due: for others the cost of their home is the same.
        """
        table, worker = None, worker_of(self.joint)
        if worker.is_exact and not _is_whole(self.joint):  # only rows that move make a difference
            after = np.where(self.labels < 0, -1, labels).astype(np.int32)
            mass = worker.masses(self.labels, after, self.table)
            mass += self.table.mass
            table = without_derived(self.table._replace(mass=mass))
        other = Side(self.joint, labels, self.k, self.free, table, self.is_numbered)
        moved = self.labels != other.labels
        changed = np.zeros(self.k + 1, bool)  # the last is for empty rows, which never move
        changed[self.labels[moved]] = changed[other.labels[moved]] = True
        other._due[~changed[other.labels]] = np.inf
        return other

    def coarsened(self, number: np.ndarray) -> Side:
        """Return the side with cluster a renamed number[a]; clusters of equal number are merged."""
        k = int(number.max()) + 1
        table = new_table(self.joint.shape[1], k, self.table.lookup)
        for a, new in enumerate(number):
            table.mass[:, new] += self.table.mass[:, a]
        return Side(self.joint, number[self.labels], k, self.free, _ready(self.joint, table))

    def merged(self, i: int, j: int) -> Side:
        """Return the side with clusters i and j merged."""
        return self.coarsened(merge_numbers(self.k, i, j))

    def merge_costs(self, cross: np.ndarray | None, beta: float) -> np.ndarray:
        """Return the costs of merging clusters i < j, in nats times mass; infinite elsewhere."""
        cross, coupling = coupled(self.table, cross, beta)
        blocks = self.blocks(cross).mass[:, : self.k]
        chunks = worker_of(self.joint).chunks
        return pair_costs(blocks[-1], self.masses, blocks[:-1], coupling, chunks)

    def sweep(self, cross: np.ndarray | None, run: Run, complete: bool = True) -> Visit:
        """Move the rows that are due, or all free rows, each to its cluster of least cost.

        ``cross`` are the masses by (row, cluster of the other side), None if that is not clustered.
        """
        order = self.free if complete else self.free[self._due[self.free] <= self._clock]
        is_all = order.size == self.free.size
        cross, coupling = coupled(self.table, cross, run.beta)
        move = self._sweep_whole if _is_whole(self.joint) else self._sweep_in_parts
        moves, saved, drift, visited = move(order, cross, coupling, run)
        if drift == 0.0:  # nothing moved, or first visits: no drift has been measured yet
            self._due[visited] = self._clock
        else:
            self._due[visited] = self._clock + self.clusters.margin[visited] / MARGIN_SAFETY
            self._clock += drift / max(visited.size - moves, 1)
        bits_saved = saved / self.joint.total / np.log(2)
        return Visit(moves, bits_saved, is_all and visited.size == order.size)

    def _sweep_whole(
        self, order: np.ndarray, cross: np.ndarray, coupling: float, run: Run
    ) -> tuple[int, float, float, np.ndarray]:
        """Move rows one after another; return moves, what they saved, drift and rows visited."""
        blocks = self.blocks(cross)
        workspace = new_workspace(blocks, run.settings.ties == "first")
        moves, saved, drift, visited = 0, 0.0, 0.0, 0
        for rows in in_parts(order, self._rows_per_call(), run):
            matrix, clusters, table = self.joint.matrix, self.clusters, self.table
            part = sweep(rows, matrix, clusters, table, blocks, cross, coupling, workspace)
            moves, saved, drift = moves + part[0], saved + part[1], drift + part[2]
            visited += rows.size
        return moves, saved, drift, order[:visited]

    def _sweep_in_parts(
        self, order: np.ndarray, cross: np.ndarray, coupling: float, run: Run
    ) -> tuple[int, float, float, np.ndarray]:
        """Move the rows of all parts at the same time; return what ``_sweep_whole`` does."""
        if run.settings.ties == "first":
            raise InputError(
                'ties="first" needs a matrix that is swept as a whole, and this one is too large',
                advice="Leave it out.",
            )
        mover = self.mover(self.blocks(cross), cross, coupling, run.stop)
        rows = rows_of_parts(mover.worker.bounds, order)
        (mover.sweep_growing if self.is_fresh else mover.sweep)(rows)
        self.is_fresh = self.is_fresh and not mover.is_complete
        return mover.moves, mover.saved, mover.drift, order if mover.is_complete else order[:0]

    def mover(self, blocks: MassTable, cross: np.ndarray, coupling: float, stop: Stop) -> Mover:
        """Return what moves the rows of this side in parts."""
        worker = worker_of(self.joint)
        return Mover(worker, self.table, self.clusters, blocks, cross, coupling, stop)

    def each_row(self, task: RowTask, cross: np.ndarray | None, beta: float) -> Results:
        """Do a task with the costs of each row in each cluster, and join its results."""
        cross, coupling = coupled(self.table, cross, beta)
        mover = self.mover(self.blocks(cross), cross, coupling, lambda: False)
        return mover.worker.each_row(mover, task)

    def _rows_per_call(self) -> int:
        per_row = self.joint.nnz / max(self.free.size, 1) * self.table.mass.shape[1]
        return max(1, int(Budget.CALL.terms / max(per_row, 1.0)))


def _is_whole(joint: Joint) -> bool:
    """Is the matrix too small to be divided into parts?"""
    return worker_of(joint).bounds.size == 2


def _ready(joint: Joint, table: MassTable) -> MassTable:
    """Return a table with what is derived from its masses; only these, if there are parts."""
    if not _is_whole(joint):
        return without_derived(table)
    derive(table)
    return table


def inserted(joint: Joint, k: int, free: np.ndarray, run: Run) -> Side:
    """Insert rows in random order, each where it keeps most of I(X̄;Y); the first k start clusters.

    This takes as long as one sweep and is as good as random labels after three. When time is over,
    the remaining rows get random labels. All nonempty rows must be free.
    """
    table = _ready(joint, empty_table(joint, k))
    side = Side(joint, np.full(joint.shape[0], -1), k, free, table)
    blocks = empty_blocks(coupled(table, None, 1.0)[0], k)
    derive(blocks)
    order = run.rng.permutation(free)
    if _is_whole(joint):
        _insert_whole(side, side.clusters, joint.matrix, order, table, blocks, run)
    else:
        _insert_in_parts(side, order, blocks, run)
    remaining = free[side.labels[free] < 0]
    if remaining.size == 0:
        return side
    side.labels[remaining] = run.rng.integers(k, size=remaining.size)
    return Side(joint, side.labels, k, free)


def _insert_whole(
    side: Side,
    clusters: Clusters,
    matrix: Matrix,
    order: np.ndarray,
    table: MassTable,
    blocks: MassTable,
    run: Run,
) -> None:
    """Insert rows of a matrix one after another into clusters with this table."""
    cross, coupling = coupled(table, None, 1.0)
    workspace = new_workspace(blocks)
    others = in_parts(order[side.k :], side._rows_per_call(), run)
    for rows in chain([order[: side.k]], others):
        sweep(rows, matrix, clusters, table, blocks, cross, coupling, workspace)


def _insert_in_parts(side: Side, order: np.ndarray, blocks: MassTable, run: Run) -> None:
    """Insert a sample of rows one after another, then all others in parts."""
    worker = worker_of(side.joint)
    size = max(side.k, int(order.size * min(1.0, INSERTED_FIRST_ENTRIES / side.joint.nnz)))
    matrix, places = worker.rows(order[:size])
    sample, table = no_clusters(matrix.mass.size, side.k), with_derived(side.table)
    _insert_whole(side, sample, matrix, places, table, blocks, run)
    side.table.mass[:] = table.mass
    del table
    side.labels[order[:size]] = sample.label[places]
    side.clusters.size[:] = sample.size
    cross, coupling = coupled(side.table, None, 1.0)
    rows = rows_of_parts(worker.bounds, order[size:])
    insert([side.mover(blocks, cross, coupling, run.stop)], [rows], [size])


def no_clusters(n: int, k: int) -> Clusters:
    """Return k clusters of n rows, all still empty."""
    return Clusters(np.full(n, -1, np.int32), np.zeros(k, np.int64), np.full(n, np.inf, np.float32))


def coupled(table: MassTable, cross: np.ndarray | None, beta: float) -> tuple[np.ndarray, float]:
    """Return the masses by clusters of the other side, and λ; at β = 1 they have no influence."""
    if cross is None or beta == 1.0:
        return np.zeros((0, 0), table.mass.dtype), 1.0
    return cross, 2.0 * beta - 1.0


# --- splits -------------------------------------------------------------------------------------


def splits_at_once(data: Joint) -> int:
    """Return how many clusters are best split at the same time: 1 of small data."""
    if _is_whole(data):
        return 1
    each = SPLIT_ITEM_BYTES * data.shape[1] + SPLIT_ROW_BYTES * data.shape[0]
    return max(1, min(MAX_SPLITS_AT_ONCE, SPLIT_BYTES // each))


def bisect(
    data: Joint, clusters: Sequence[np.ndarray], cross: np.ndarray | None, run: Run
) -> list[Split]:
    """Split each of these clusters in two: in random order, each row goes where it costs less.

    The gain is in nats times mass.
    """
    many = splits_at_once(data)
    parts = [clusters[i : i + many] for i in range(0, len(clusters), many)]
    return [split for part in parts for split in _bisect_together(data, part, cross, run)]


def _bisect_together(
    data: Joint, clusters: Sequence[np.ndarray], cross: np.ndarray | None, run: Run
) -> list[Split]:
    """Halve a sample of each cluster; put all other rows into the halves; sweep once.

    Of small clusters, and of a matrix that is not divided, the sample is everything.
    """
    worker = worker_of(data)
    orders = [run.rng.permutation(members) for members in clusters]
    most = data.shape[0]
    if not _is_whole(data):
        most = max(2, int(SPLIT_SAMPLE_ENTRIES * data.shape[0] / data.nnz))
    samples = [order[:most] for order in orders]
    matrix, places = worker.rows(np.concatenate(samples))
    ends = np.cumsum([sample.size for sample in samples])

    def halved(i: int) -> Mover:
        near = places[ends[i] - samples[i].size : ends[i]]
        return _halved(data, samples[i], (matrix, near), cross, run)

    movers = worker.each(halved, len(samples))
    large = [i for i, order in enumerate(orders) if order.size > most]
    if large:
        own = [movers[i] for i in large]
        others = [rows_of_parts(worker.bounds, orders[i][most:]) for i in large]
        insert(own, others, [most] * len(large))
        move_all(own, [rows_of_parts(worker.bounds, clusters[i]) for i in large])
    if run.stop():
        return [Split(0.0, members[:0]) for members in clusters]
    gains = worker.chunks(lambda i: _gain(movers[i]), len(movers))
    return [
        Split(gain, members[mover.clusters.label[members] == 1])
        for gain, mover, members in zip(gains, movers, clusters, strict=True)
    ]


def _halved(
    data: Joint,
    sample: np.ndarray,
    placed: tuple[Matrix, np.ndarray],
    cross: np.ndarray | None,
    run: Run,
) -> Mover:
    """Return what moves the rows of a cluster, once those of a sample are in two halves.

    The sample is ``placed`` in a matrix.
    """
    matrix, places = placed
    table = empty_table(data, 2)
    derive(table)
    cross, coupling = coupled(table, cross, run.beta)
    blocks = empty_blocks(cross, 2)
    derive(blocks)
    halves, within = no_clusters(data.shape[0], 2), no_clusters(matrix.mass.size, 2)
    near = cross
    if cross.size and matrix.mass.size != data.shape[0]:  # not in the matrix of all rows
        near = np.zeros((matrix.mass.size, cross.shape[1]), cross.dtype)
        near[places] = cross[sample]
    twice = np.concatenate([places, places])  # the first visit inserts a row, the second moves it
    sweep(twice, matrix, within, table, blocks, near, coupling, new_workspace(blocks))
    halves.label[sample] = within.label[places]
    halves.size[:] = within.size
    table = without_derived(table)
    return Mover(worker_of(data), table, halves, blocks, cross, coupling, run.stop)


def _gain(mover: Mover) -> float:
    """Return the cost of merging two halves again, in nats times mass."""
    (*pairs, whole), masses, coupling = mover.blocks.mass, mover.table.mass, mover.coupling
    shared = masses[masses.all(axis=1)].T  # items of only one half gain nothing
    gain = joining(*whole) - coupling * joining(*shared)
    return gain - (1 - coupling) * joining(*np.reshape(pairs, (-1, 2)).T)
