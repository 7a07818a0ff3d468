"""Splitting clusters in two: all rows one after another or, in large data, in parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.joint import Joint
from ..kernels.halving import halve
from ..kernels.sweep import Clusters, sweep
from ..kernels.tables import derive
from .boards import Board, new_workspace
from .engines import workers_of
from .half_steps import Mover, insert, move_all, rows_of_parts
from .merging import pair_costs
from .new_tables import empty_blocks, empty_table
from .refinement import Split
from .run import Run
from .side import coupled

SAMPLE = 1 << 17  # entries of rows that are halved one after another, before all others
CELLS = 1 << 24  # of the tables of clusters that are split at the same time

Members = np.ndarray


def bisect(
    data: Joint, clusters: Sequence[Members], cross: np.ndarray | None, run: Run
) -> list[Split]:
    """Split each of these clusters in two: in random order, each row goes where it costs less.

    The gain is in nats times mass.
    """
    if workers_of(data).bounds.size == 2:
        return [_bisect_whole(data, members, cross, run) for members in clusters]
    at_once = max(1, CELLS // (2 * data.shape[1]))
    starts = range(0, len(clusters), at_once)
    batches = [_bisect_in_parts(data, clusters[i : i + at_once], cross, run) for i in starts]
    return [split for batch in batches for split in batch]


def _bisect_whole(data: Joint, members: Members, cross: np.ndarray | None, run: Run) -> Split:
    if members.size < 2:
        return Split(0.0, members[:0])
    table = empty_table(data, 2)
    cross, coupling = coupled(table, cross, run.beta)
    blocks = empty_blocks(cross, 2)
    order, workspace = run.rng.permutation(members), new_workspace(blocks)
    halves = _no_halves(data.shape[0])
    gain = halve(order, data.matrix, halves, table, blocks, cross, coupling, workspace)
    return Split(gain, members[halves.label[members] == 1])


def _bisect_in_parts(
    data: Joint, clusters: Sequence[Members], cross: np.ndarray | None, run: Run
) -> list[Split]:
    """Halve a sample of each cluster; put all other rows into the halves; sweep once."""
    splits = [Split(0.0, members[:0]) for members in clusters]
    large = [i for i, members in enumerate(clusters) if members.size > 1]
    orders = [run.rng.permutation(clusters[i]) for i in large]
    share = SAMPLE * data.shape[0] / data.nnz
    samples = [order[: max(2, int(share))] for order in orders]
    movers = _with_samples(data, samples, cross, run)
    if not movers:
        return splits
    workers = movers[0].workers
    others = [order[sample.size :] for order, sample in zip(orders, samples, strict=True)]
    sizes = [sample.size for sample in samples]
    insert(movers, [rows_of_parts(workers, rows) for rows in others], sizes)
    every = [rows_of_parts(workers, clusters[i]) for i in large]
    if run.stop() or not move_all(movers, every):
        return splits
    for i, mover in zip(large, movers, strict=True):
        members = clusters[i]
        splits[i] = Split(_gain(mover), members[mover.clusters.label[members] == 1])
    return splits


def _with_samples(
    data: Joint, samples: Sequence[Members], cross: np.ndarray | None, run: Run
) -> list[Mover]:
    """Return what moves the rows of each cluster, once the rows of its sample are in two halves."""
    if not samples:
        return []
    workers = workers_of(data)
    numbers = np.concatenate(samples)
    rows = workers.rows(numbers)
    ends = np.cumsum([sample.size for sample in samples])
    movers = []
    for sample, end in zip(samples, ends, strict=True):
        table = empty_table(data, 2)
        derive(table)
        own, coupling = coupled(table, cross, run.beta)
        blocks = empty_blocks(own, 2)
        derive(blocks)
        halves, within = _no_halves(data.shape[0]), _no_halves(rows.shape[0])
        place = np.arange(end - sample.size, end)
        near = own[numbers] if own.size else own
        arguments = within, table, blocks, near, coupling, new_workspace(blocks)
        sweep(np.concatenate([place, place]), rows.matrix, *arguments)
        halves.label[sample] = within.label[place]
        halves.size[:] = within.size
        mass = data.row_mass
        movers.append(Mover(workers, Board(table), halves, blocks, own, coupling, mass, run.stop))
    return movers


def _gain(mover: Mover) -> float:
    """Return the cost of merging two halves again, in nats times mass."""
    blocks, masses, coupling = mover.blocks.mass, mover.board.table.mass, mover.coupling
    terms = [(blocks[-1:], 1.0), (masses, -coupling), (blocks[:-1], coupling - 1.0)]
    return float(pair_costs(terms)[0, 1])


def _no_halves(n: int) -> Clusters:
    return Clusters(np.full(n, -1, np.int32), np.zeros(2, np.int64), np.zeros(n, np.float32))
