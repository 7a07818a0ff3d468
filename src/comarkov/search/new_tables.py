"""New tables of masses, padded for the kernels, and the look-up tables for those of counts."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..data.joint import Joint
from ..kernels.logarithm import single
from ..kernels.tables import LANES, Table, derive

LOOKUP_LIMIT = 1 << 16
NO_LOOKUP = np.zeros((0, 3), np.float32)
NOTHING = np.zeros((0, 0), np.float32)


def padded(k: int) -> int:
    """Return the number of lanes for k clusters: 4 are faster than 3; 1 and 2 faster than 4."""
    lanes = LANES // 2 if k <= LANES // 2 else LANES
    return k if k <= 2 else -(-k // lanes) * lanes


def empty_table(joint: Joint, k: int) -> Table:
    """Return an empty table for the columns of a matrix in k row clusters."""
    return new_table(joint.shape[1], k, _lookup(joint))


def empty_blocks(cross: np.ndarray, k: int) -> Table:
    """Return an empty table for the clusters of the other side, and for totals, in k clusters."""
    return new_table(cross.shape[1] + 1, k, NO_LOOKUP)


def new_table(n: int, k: int, lookup: np.ndarray) -> Table:
    """Return an empty table for n items and k clusters: of counts if there is a look-up table."""
    return zeros((n, padded(k)), lookup)


def zeros(shape: tuple[int, int], lookup: np.ndarray) -> Table:
    """Return a table of zeros, not derived yet: of counts if there is a look-up table.

    Zeros take no memory before they are written, which ``zeros_like`` does at once.
    """
    first, second, third = (np.zeros(shape, np.float32) for _ in range(3))
    if lookup.size:
        mass = np.zeros(shape, np.int32)
        return Table(mass, mass, first, second, third, lookup)
    return Table(np.zeros(shape), first, second, NOTHING, NOTHING, lookup)


def float_table(masses: np.ndarray) -> Table:
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
    f = np.concatenate([[0.0], v * np.log(v)])
    log = np.concatenate([[single.of_zero], np.log(v[: size - 1])])
    columns = [log, f[1 : size + 1] - f[:size], f[2:] - f[:size]]
    return np.stack(columns, axis=1).astype(np.float32)
