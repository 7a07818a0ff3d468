"""Masses by (item, cluster), with the logarithms and differences that sweeps need."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .compiling import FUSED, borrow, kernel, step
from .logarithm import RESIDUE, left, single, xlogx
from .matrix import xlogx_below

_approximate = kernel(fastmath=FUSED)
_approximate_step = step(fastmath=FUSED)
_log, _enter = single.log, single.enter

f32 = np.float32
LANES = 8  # clusters in a table are padded to a multiple of this
HEAVY = 32767  # in the first cell of a packed item: one of its counts is this or more
CACHED_BYTES = 1 << 22  # of a table with cells of 4 bytes; larger tables of counts are packed
NO_LOOKUP = np.zeros((0, 3), np.float32)
NO_CELLS = np.zeros((0, 0), np.float32)


class MassTable(NamedTuple):
    """Masses by (item, cluster) and the values derived from them; padded to LANES clusters.

    Tables of counts that exceed the cache are packed: ``near`` has 16 bits, and nothing else is
    derived. Fetching a number then takes longer than computing it.
    """

    mass: np.ndarray  # exact: int32 for counts, else float64
    near: np.ndarray  # mass in 32 bits; for counts the same array, or uint16 if packed
    log: np.ndarray  # float32: ln mass; empty if packed
    unit: np.ndarray  # float32: enter(1, mass); empty unless counts
    pair: np.ndarray  # float32: enter(2, mass); empty unless counts
    lookup: np.ndarray  # float32 (size, 3): log, unit and pair of counts below size


def padded(k: int) -> int:
    """Return the number of lanes for k clusters: 4 are faster than 3; 1 and 2 faster than 4."""
    lanes = LANES // 2 if k <= LANES // 2 else LANES
    return k if k <= 2 else -(-k // lanes) * lanes


def is_packed(n: int, k: int) -> bool:
    """Is a table of counts too large for the cache, so that it is packed?"""
    return 4 * n * padded(k) > CACHED_BYTES


def new_table(n: int, k: int, lookup: np.ndarray = NO_LOOKUP) -> MassTable:
    """Return zeros for n items and k clusters, not derived yet: of counts if there is a lookup.

    Zeros take no memory before they are written, which ``zeros_like`` does at once.
    """
    shape = n, padded(k)
    if lookup.size and is_packed(n, k):
        packed = np.zeros(shape, np.uint16)
        return MassTable(np.zeros(shape, np.int32), packed, NO_CELLS, NO_CELLS, NO_CELLS, lookup)
    first, second, third = (np.zeros(shape, np.float32) for _ in range(3))
    if lookup.size:
        mass = np.zeros(shape, np.int32)
        return MassTable(mass, mass, first, second, third, lookup)
    return MassTable(np.zeros(shape), first, second, NO_CELLS, NO_CELLS, lookup)


@lru_cache(maxsize=4)
def lookup_of_size(size: int) -> np.ndarray:
    """Return ln v, enter(1, v) and enter(2, v) of all counts below a size."""
    v = np.arange(1.0, size + 2)
    f = xlogx_below(size + 2)
    log = np.concatenate([[single.of_zero], np.log(v[: size - 1])])
    columns = [log, f[1 : size + 1] - f[:size], f[2:] - f[:size]]
    return np.stack(columns, axis=1).astype(np.float32)


def float_table(masses: np.ndarray) -> MassTable:
    """Return a table of the given masses."""
    table = new_table(*masses.shape)
    table.mass[:, : masses.shape[1]] = masses
    derive(table)
    return table


def copied(table: MassTable) -> MassTable:
    """Return a copy of a table."""
    mass, near, *derived, lookup = table
    copy = mass.copy()
    own = copy if near is mass else near.copy()
    return MassTable(copy, own, *(array.copy() for array in derived), lookup)


def without_derived(table: MassTable) -> MassTable:
    """Return the masses of a table alone: a quarter of its memory for counts, half for weights."""
    near = table.mass if table.lookup.size else NO_CELLS
    return MassTable(table.mass, near, NO_CELLS, NO_CELLS, NO_CELLS, table.lookup)


def with_derived(table: MassTable, into: MassTable | None = None) -> MassTable:
    """Return a copy of masses with all that is derived from them, in memory of the same form."""
    mass, lookup = table.mass, table.lookup
    if into is None or (into.mass.shape, into.mass.dtype) != (mass.shape, mass.dtype):
        into = new_table(*mass.shape, lookup)
    into = into._replace(lookup=lookup)
    np.copyto(into.mass, mass)
    derive(into)
    return into


def fill_table(table, matrix, label):
    """Fill an empty table with the masses by (column, row cluster)."""
    add_labelled(table.mass, matrix, label)
    derive(table)


def add_labelled(out, matrix, label):
    """Add the masses by (column, row cluster)."""
    move_labelled(out, matrix, np.full_like(label, -1), label)


@kernel()
def move_labelled(out, matrix, before, after):
    """Move masses by (column, row cluster) to where rows are after a change; -1 is no cluster."""
    for x in range(after.size):
        old, new = before[x], after[x]
        if old != new:
            for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
                y, w = matrix.indices[p], matrix.weights[p]
                if old >= 0:
                    out[y, old] -= w
                if new >= 0:
                    out[y, new] += w


@kernel()
def count_labels(label, bounds, counts):
    """Write how many rows of each cluster each part has."""
    counts[:] = 0
    for part in range(counts.shape[0]):
        for x in range(bounds[part], bounds[part + 1]):
            if label[x] >= 0:
                counts[part, label[x]] += 1


@kernel()
def add_blocks(out, cross, label, mass):
    """Add the masses by (column cluster, row cluster), and by row cluster in the last row."""
    last = out.shape[0] - 1
    for x in range(label.size):
        a = label[x]
        if a < 0:
            continue
        out[last, a] += mass[x]
        for b in range(last):
            out[b, a] += cross[x, b]


def derive(table):
    """Compute all values that are derived from the masses of a table."""
    derive_only(table, np.arange(table.mass.shape[0], dtype=np.uint32))


def derive_only(table, items):
    """Compute what is derived from the masses of these items."""
    derive_items(table, np.zeros(1, np.int64), np.array([0, items.size]), items)


@_approximate
def derive_items(table, rows, indptr, indices):
    """Derive the values of the items in which the given rows of a matrix have entries."""
    table = borrow(table)
    for x in rows:
        for p in range(indptr[x], indptr[x + 1]):
            _derive_item(table, indices[p])


@_approximate_step
def add(table, indices, weights, start, stop, a):
    """Add the weights from start to stop to cluster a."""
    for p in range(start, stop):
        table.mass[indices[p], a] += weights[p]
    _derive(table, indices, start, stop, a)


@_approximate_step
def remove(table, indices, weights, start, stop, a):
    """Remove the weights from start to stop from cluster a."""
    mass = table.mass
    for p in range(start, stop):
        y = indices[p]
        mass[y, a] = left(mass[y, a], weights[p])
    _derive(table, indices, start, stop, a)


@_approximate_step
def _pack(mass, near, y, a):
    """Write a count in 16 bits, or mark its item as heavy, which it stays."""
    if near[y, 0] != HEAVY:
        v = mass[y, a]
        if v < HEAVY:
            near[y, a] = v
        else:
            near[y, 0] = HEAVY


@_approximate_step
def _derive_large(table, y, a):
    """Compute the values that are derived from a count that is not in the look-up table."""
    v = f32(table.mass[y, a])
    log = _log(v)
    table.log[y, a] = log
    table.unit[y, a] = _enter(f32(1.0), v, log)
    table.pair[y, a] = _enter(f32(2.0), v, log)


@_approximate_step
def _derive_item(table, y):
    """Compute the values that are derived from the masses of an item in all clusters."""
    mass, near, log, unit, pair, lookup = table
    limit, lanes = lookup.shape[0], mass.shape[1]
    if log.shape[0] == 0:
        near[y, 0] = 0
        for a in range(lanes):
            _pack(mass, near, y, a)
        return
    if limit == 0:
        for a in range(lanes):
            near[y, a] = mass[y, a]
            log[y, a] = _log(f32(mass[y, a]))
        return
    large = 0
    for a in range(lanes):
        large += mass[y, a] >= limit
        i = np.uint32(min(mass[y, a], limit - 1))
        log[y, a] = lookup[i, 0]
        unit[y, a] = lookup[i, 1]
        pair[y, a] = lookup[i, 2]
    for a in range(lanes if large > 0 else 0):
        if mass[y, a] >= limit:
            _derive_large(table, y, a)


@_approximate_step
def _derive(table, indices, start, stop, a):
    """Compute the values that are derived from the masses of cluster a."""
    mass, near, log, unit, pair, lookup = table
    limit = lookup.shape[0]
    if log.shape[0] == 0:
        for p in range(start, stop):
            _pack(mass, near, indices[p], a)
        return
    if limit == 0:
        for p in range(start, stop):
            y = indices[p]
            near[y, a] = mass[y, a]
            log[y, a] = _log(f32(mass[y, a]))
        return
    large = 0
    for p in range(start, stop):
        y = indices[p]
        large += mass[y, a] >= limit
        i = np.uint32(min(mass[y, a], limit - 1))
        log[y, a] = lookup[i, 0]
        unit[y, a] = lookup[i, 1]
        pair[y, a] = lookup[i, 2]
    if large == 0:
        return
    for p in range(start, stop):  # a separate loop keeps the common case free of branches
        y = indices[p]
        if mass[y, a] >= limit:
            _derive_large(table, y, a)


@kernel()
def mark_items(matrix, before, after, marks):
    """Mark the items in which rows have entries whose label has changed."""
    for x in range(before.size):
        if before[x] != after[x]:
            for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
                marks[matrix.indices[p]] = True


@kernel()
def take_back(copy, mass, items, cells, places):
    """Add to lines of cells by how much the masses of items differ in a copy; make them equal."""
    for i in range(items.size):
        y, line = items[i], places[i]
        for a in range(cells.shape[1]):
            cells[line, a] += copy[y, a] - mass[y, a]
            copy[y, a] = mass[y, a]


@kernel()
def add_cells(mass, items, cells):
    """Add a change to masses; what is left by rounding becomes 0."""
    for i in range(items.size):
        y = items[i]
        for a in range(cells.shape[1]):
            before = mass[y, a]
            after = before + cells[i, a]
            mass[y, a] = after if after > RESIDUE * before else before - before


@kernel()
def entropy_change(mass, items, cells):
    """Return the change of Σ f(A_ya), f(v) = v ln v, if these cells were added to the masses."""
    total = 0.0
    for i in range(items.size):
        y = items[i]
        for a in range(cells.shape[1]):
            if cells[i, a] != 0:
                before = np.float64(mass[y, a])
                total += xlogx(max(before + cells[i, a], 0.0)) - xlogx(before)
    return total


def add_pair_terms(out, mass, factor):
    """out[i, j] += factor Σ_y [f(A_yi + A_yj) - f(A_yi) - f(A_yj)] for i < j, of float64 masses."""
    k = mass.shape[1]
    _add_pair_terms(out, mass, factor, np.empty(k, np.int64), np.empty(k))


@kernel()
def _add_pair_terms(out, mass, factor, present, term):
    """Add pair terms, with scratch memory: allocating it here would take longer to compile."""
    n, k = mass.shape
    for y in range(n):
        count = 0
        for i in range(k):
            if mass[y, i] > 0.0:
                present[count] = i
                term[count] = xlogx(mass[y, i])
                count += 1
        for p in range(count):
            i = present[p]
            for q in range(p + 1, count):
                both = xlogx(mass[y, i] + mass[y, present[q]])
                out[i, present[q]] += factor * (both - term[p] - term[q])


@kernel()
def add_loop_pairs(out, M, factor):
    """Add factor times the growth of Σ f(M) when i and j are merged, in rows and columns."""
    k = M.shape[0]
    for i in range(k):
        for j in range(i + 1, k):
            growth = xlogx(M[i, i] + M[i, j] + M[j, i] + M[j, j])
            growth -= xlogx(M[i, i]) + xlogx(M[i, j]) + xlogx(M[j, i]) + xlogx(M[j, j])
            for b in range(k):
                if b not in (i, j):
                    growth += xlogx(M[i, b] + M[j, b]) - xlogx(M[i, b]) - xlogx(M[j, b])
                    growth += xlogx(M[b, i] + M[b, j]) - xlogx(M[b, i]) - xlogx(M[b, j])
            out[i, j] += factor * growth
