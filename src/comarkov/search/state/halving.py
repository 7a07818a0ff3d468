"""Halving clusters: in random order, each row goes into the half where it costs less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...costs.objective import pair_costs
from ...joint.joint import Joint
from ...kernels.matrix import Matrix
from ...kernels.sweep import halve, sweep
from ...kernels.tables import derive
from ..optimise.refine import Split
from ..parallel.half_steps import Mover, insert, move_all
from ..parallel.mass_tables import empty_blocks, empty_table, new_workspace, without_derived
from ..parallel.worker import SharedTable, rows_of_parts, worker_of
from ..run import Run
from .side import coupled, no_clusters

SPLIT_SAMPLE_ENTRIES = 1 << 14  # of rows that are halved one after another, before all others
SPLIT_BYTES = 1 << 27  # bytes for clusters that are split at the same time ...
SPLIT_ITEM_BYTES, SPLIT_ROW_BYTES = 32, 40  # ... of which each cluster needs so many
MAX_SPLITS_AT_ONCE = 16  # clusters that are split at the same time, if their memory allows

Members = np.ndarray


def splits_at_once(data: Joint) -> int:
    """Return how many clusters are best split at the same time: 1 of small data."""
    if worker_of(data).bounds.size == 2:
        return 1
    return max(
        1,
        min(
            MAX_SPLITS_AT_ONCE,
            SPLIT_BYTES // (SPLIT_ITEM_BYTES * data.shape[1] + SPLIT_ROW_BYTES * data.shape[0]),
        ),
    )


def bisect(
    data: Joint, clusters: Sequence[Members], cross: np.ndarray | None, run: Run
) -> list[Split]:
    """Split each of these clusters in two: in random order, each row goes where it costs less.

    The gain is in nats times mass.
    """
    if worker_of(data).bounds.size == 2:
        return [_bisect_whole(data, members, cross, run) for members in clusters]
    many = splits_at_once(data)
    starts = range(0, len(clusters), many)
    batches = [_bisect_in_parts(data, clusters[i : i + many], cross, run) for i in starts]
    return [split for batch in batches for split in batch]


def _bisect_whole(data: Joint, members: Members, cross: np.ndarray | None, run: Run) -> Split:
    if members.size < 2:
        return Split(0.0, members[:0])
    table = empty_table(data, 2)
    cross, coupling = coupled(table, cross, run.beta)
    blocks = empty_blocks(cross, 2)
    order, workspace = run.rng.permutation(members), new_workspace(blocks)
    halves = no_clusters(data.shape[0], 2)
    gain = halve(order, data.matrix, halves, table, blocks, cross, coupling, workspace)
    return Split(gain, members[halves.label[members] == 1])


def _bisect_in_parts(
    data: Joint, clusters: Sequence[Members], cross: np.ndarray | None, run: Run
) -> list[Split]:
    """Halve a sample of each cluster; put all other rows into the halves; sweep once.

    Of small clusters, the sample is everything.
    """
    worker = worker_of(data)
    orders = [run.rng.permutation(members) for members in clusters]
    most = max(2, int(SPLIT_SAMPLE_ENTRIES * data.shape[0] / data.nnz))
    samples = [order[:most] for order in orders]
    matrix, places = worker.rows(np.concatenate(samples))
    ends = np.cumsum([sample.size for sample in samples])

    def halved(i: int) -> Mover:
        place = places[ends[i] - samples[i].size : ends[i]]
        return _halved(data, RowSample(samples[i], matrix, place), cross, run)

    movers = worker.each(halved, len(samples))
    large = [i for i, order in enumerate(orders) if order.size > most]
    if large:
        own = [movers[i] for i in large]
        others = [rows_of_parts(worker.bounds, orders[i][most:]) for i in large]
        insert(own, others, [most] * len(large))
        move_all(own, [rows_of_parts(worker.bounds, clusters[i]) for i in large])
    if run.stop():
        return [Split(0.0, members[:0]) for members in clusters]
    gains = worker.each(lambda i: _gain(movers[i]), len(movers))
    return [
        Split(gain, members[mover.clusters.label[members] == 1])
        for gain, mover, members in zip(gains, movers, clusters, strict=True)
    ]


class RowSample(NamedTuple):
    """Rows of a cluster, and where they are in a matrix."""

    rows: Members
    matrix: Matrix
    places: np.ndarray


def _halved(data: Joint, sample: RowSample, cross: np.ndarray | None, run: Run) -> Mover:
    """Return what moves the rows of a cluster, once those of its sample are in two halves."""
    table = empty_table(data, 2)
    derive(table)
    cross, coupling = coupled(table, cross, run.beta)
    blocks = empty_blocks(cross, 2)
    derive(blocks)
    halves, within = no_clusters(data.shape[0], 2), no_clusters(sample.matrix.mass.size, 2)
    near = cross
    if cross.size and sample.matrix.mass.size != data.shape[0]:  # not in the matrix of all rows
        near = np.zeros((sample.matrix.mass.size, cross.shape[1]), cross.dtype)
        near[sample.places] = cross[sample.rows]
    twice = np.concatenate([sample.places, sample.places])  # the first visit inserts a row
    workspace = new_workspace(blocks)
    sweep(twice, sample.matrix, within, table, blocks, near, coupling, workspace)
    halves.label[sample.rows] = within.label[sample.places]
    halves.size[:] = within.size
    worker, shared = worker_of(data), SharedTable(without_derived(table))
    return Mover(worker, shared, halves, blocks, cross, coupling, data.row_mass, run.stop)


def _gain(mover: Mover) -> float:
    """Return the cost of merging two halves again, in nats times mass."""
    blocks, masses = mover.blocks.mass, mover.table.table.mass
    return float(pair_costs(blocks[-1], masses, blocks[:-1], mover.coupling)[0, 1])
