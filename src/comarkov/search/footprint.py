"""How much memory a fit needs, by formula, from the sizes of the data and of its tables.

A side in k clusters has a table with a line of k cells, padded, for each item of the other side.
Sweeps work on copies of it, one for each thread, with the values derived from masses; of large data
the state itself has masses alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..joint.joint import Joint
from ..joint.parts import count_parts
from .optimise.refine import fine_number, schedule
from .parallel.boards import padded
from .run import Run, Seed
from .state.halving import SPLIT_BYTES, SPLIT_ITEM_BYTES, SPLIT_ROW_BYTES
from .state.side import Side

CELL = 16  # bytes of a cell with all that is derived from its mass
ELEMENT = 100  # bytes of labels, margins and numbers of an element
INDEX = 4  # bytes of the column of an entry
SAMPLE = 1000  # elements whose entries are shuffled to calibrate confidences ...
SHUFFLED = 70  # ... which takes so many bytes of each entry


class Size(NamedTuple):
    """The size of a matrix, and where it is."""

    rows: int
    columns: int
    entries: int
    mass: int  # bytes of a mass: 4 for counts, else 8
    weight: int  # bytes of a weight
    shared: int = 0  # bytes of an entry that are used as they are, without a copy
    is_on_disk: bool = False  # are they, and those of the transpose, mapped from files?

    @property
    def matrix(self) -> int:
        """Bytes of the matrix."""
        return self.entries * (INDEX + self.weight)


class Tables(NamedTuple):
    """Bytes for one side."""

    state: int
    trial: int
    copies: int
    changes: int  # of masses, while nearly everything moves
    splits: int  # of clusters that are split at the same time
    leaves: int
    sample: int


def data_bytes(size: Size, is_turned: bool) -> int:
    """Return the bytes that a fit adds for the data: the matrix and, if needed, its transpose."""
    if size.is_on_disk:
        return 0
    return size.matrix * (1 + is_turned) - size.entries * size.shared


def search_bytes(size: Size, counts: Sequence[int | None], threads: int) -> int:
    """Return the most bytes of tables at the same time, for these numbers of clusters."""
    sizes = (size.rows, size.columns), (size.columns, size.rows)
    sides = [
        tables_of(size, elements, items, k, threads)
        for k, (elements, items) in zip(counts, sizes, strict=True)
        if k is not None
    ]
    sweeping = sum(side.copies for side in sides) + max(
        max(side.trial, side.changes) for side in sides
    )
    other = max(max(side.splits, side.leaves, side.sample) for side in sides)
    state = sum(side.state for side in sides)
    return state + max(sweeping, other) + ELEMENT * (size.rows + size.columns)


def tables_of(size: Size, elements: int, items: int, k: int, threads: int) -> Tables:
    """Return the bytes for the tables of a side with k clusters of these elements."""
    cells, parts = items * padded(k), count_parts(size.entries, items)
    fine = items * padded(fine_number(k, elements))
    sampled = min(size.entries, SAMPLE * size.entries // max(elements, 1))
    present = int(items * -math.expm1(-sampled / max(items, 1)))  # that a random sample hits
    sample = CELL * present * padded(k) + SHUFFLED * sampled
    split = SPLIT_ITEM_BYTES * items + SPLIT_ROW_BYTES * elements
    if parts == 1:
        whole = CELL * cells
        return Tables(whole, whole, whole, 0, split, CELL * fine, sample)
    mass, copies = size.mass * cells, min(threads, parts) * CELL * cells
    waiting = 2 if size.mass == INDEX else parts.bit_length() + 1  # see ``data.changes.total``
    splits, leaves = min(SPLIT_BYTES, k * split), 2 * size.mass * fine
    return Tables(mass, mass, copies, mass * waiting, splits, leaves, sample)


TERMS = 20_000_000  # entries of a sample times clusters
REPEATS = 6  # sweeps over a sample; the last half counts, when few elements move
SWEEPS = {"auto": 25, "anneal": 12, "sequential": 14, "batch": 14}  # of both sides, from one start
STEP_SWEEPS = 2  # and at each further β
READING = 6e-8  # seconds to read an entry, at the pace of TYPICAL
TYPICAL = 2e-9  # seconds for a term of the cost
SHARE = 0.6  # of a further thread that is used
DISK = 5e8  # bytes that are read from a disk in a second, if they do not fit into memory


def pace(sample: Joint, k: int) -> float:
    """Return the seconds for an entry in a sweep over the rows of a sample, once few move."""
    rows = np.flatnonzero(sample.row_mass > 0)
    k = min(k, rows.size)
    labels = np.random.default_rng(0).permutation(np.arange(sample.shape[0]) % k)
    side = Side(sample, labels, k, rows)
    run, seconds = Run(1.0, Seed((0,))), []
    for _ in range(REPEATS):
        begin = time.process_time()
        side.sweep(None, run)
        seconds.append(time.process_time() - begin)
    return float(np.median(seconds[REPEATS // 2 :])) / sample.nnz


def sweeps_of(method: str, beta: float, beta_step: float) -> float:
    """Return how many sweeps over both sides a fit takes from one start."""
    step = beta_step if method == "anneal" else 0.1
    steps = len(schedule(beta, step)) - 1
    return SWEEPS[method] + STEP_SWEEPS * (steps if method in ("auto", "anneal") else 0)


def fit_seconds(entries: int, paces: Sequence[float], sweeps: float, starts: int) -> float:
    """Return the seconds of a fit on one thread."""
    return entries * (READING + starts * sweeps * sum(paces))


def speed_up(entries: int, shape: tuple[int, int], threads: int) -> float:
    """Return how many times as fast several threads are: no part, no second thread."""
    useful = min(threads, *(count_parts(entries, items) for items in shape))
    return 1.0 + SHARE * (useful - 1)


def disk_seconds(read: int, available: int | None, sweeps: float) -> float:
    """Return the seconds to read a store from the disk in every sweep, if memory cannot hold it."""
    return 0.0 if available is None or read <= available else 2 * sweeps * read / DISK
