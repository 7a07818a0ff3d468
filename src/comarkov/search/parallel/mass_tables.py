"""Tables of masses: making, copying and deriving them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...joint.joint import Joint
from ...kernels.insertion import Workspace
from ...kernels.logarithm import single
from ...kernels.matrix import xlogx_below
from ...kernels.tables import LANES, MassTable, derive

LOOKUP_LIMIT = 1 << 16
LINE_BYTES = 128  # bytes that processors fetch together
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
