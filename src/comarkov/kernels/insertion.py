"""The cost of putting a row into each cluster.

Symbols, for the rows (columns are the rows of the transpose):

    w      a weight n_xy          n_x    the mass of row x
    A_ya   table.mass[y, a]       M_ba   blocks.mass[b, a]
    B_xb   cross[x, b]            N_a    blocks.mass[-1, a]
    f(v) = v ln v                 λ      the coupling 2β - 1

The cost of putting a removed row x into cluster a, in nats times the total mass, is

    c_a = enter(n_x, N_a) - λ Σ_y enter(w, A_ya) - (1 - λ) Σ_b enter(B_xb, M_ba)
    enter(w, v) = f(v + w) - f(v)

The costs of all clusters are first computed together in single precision, with a bound on the
error. Only candidates that the bound cannot separate are computed again in double precision, so
the choice is that of exact arithmetic at a fraction of the time.
"""

from typing import NamedTuple

import numpy as np

from .compiling import FUSED, fetch, fetch_row, step, subroutine
from .logarithm import ROUNDOFF, left, single
from .matrix import Matrix
from .tables import HEAVY, MassTable

_approximate_step = step(fastmath=FUSED)
_enter, _leave, _log = single.enter, single.leave, single.log

f32 = np.float32
Q_LEAST = f32(np.exp(-2.0))
Q_SHIFT = f32(0.1656)  # 1/6 would be best for large counts; this is for 1 and 2
Q_ERROR = 6e-5  # bound on the error of enter(1, v) from q(v)
FETCHED_AHEAD = 8  # entries whose cells are fetched before they are needed
PACKED_AHEAD = 16  # the same, of packed items
ENTRIES_IN_SINGLE = 512  # entries summed in single precision before they join the total in double
LINE_BYTES = 128  # bytes that processors fetch together


class CostContext(NamedTuple):
    """Everything that costs depend on, apart from the row."""

    matrix: Matrix
    table: MassTable
    blocks: MassTable
    coupling: float


class BlockEntries(NamedTuple):
    """The blocks in which a row has mass; the last entry is for the masses N_a."""

    indices: np.ndarray  # uint32, of which the first `size` count
    weights: np.ndarray  # float64
    size: int


class Workspace(NamedTuple):
    """Scratch memory of a sweep, and where to write costs if these are wanted instead of moves."""

    total: np.ndarray  # float64 (clusters,): costs
    partial: np.ndarray  # float32 (clusters,): sums on their way into total; zero in between
    indices: np.ndarray  # uint32 (blocks,): where a row has mass in the blocks
    weights: np.ndarray  # float64 (blocks,): how much
    costs: np.ndarray  # float64 (rows, clusters), written; no rows in a sweep that moves rows
    ties_first: bool  # does a row go to the first of the best clusters, although home is as good?


def new_workspace(blocks: MassTable, ties_first: bool = False) -> Workspace:
    """Return scratch memory for sweeps with these blocks."""

    def apart(size: int, kind: type[np.generic]) -> np.ndarray:
        # zeros that share no cache line with other arrays, which other threads may write
        margin = LINE_BYTES // np.dtype(kind).itemsize
        return np.zeros(size + 2 * margin, kind)[margin:-margin]

    n_blocks, lanes = blocks.mass.shape
    own = apart(lanes, np.float64), apart(lanes, np.float32)
    entries = apart(n_blocks, np.uint32), apart(n_blocks, np.float64)
    return Workspace(*own, *entries, np.zeros((0, 0)), ties_first)


@step()
def block_entries(x, cross, mass, workspace):
    """Return the blocks in which row x has mass; ``mass`` is its total."""
    indices, weights = workspace.indices, workspace.weights
    size = 0
    for b in range(cross.shape[1]):
        if cross[x, b] > 0:
            indices[size] = b
            weights[size] = cross[x, b]
            size += 1
    indices[size] = indices.size - 1
    weights[size] = mass
    return BlockEntries(indices, weights, size + 1)


@step()
def least_two(total):
    """Return the cluster of least cost, that cost, and the second least."""
    best = 0
    least = second = np.inf
    for a in range(total.size):
        if total[a] < least:
            second, least, best = least, total[a], a
        elif total[a] < second:
            second = total[a]
    return best, least, second


# --- in single precision ----------------------------------------------------------------------


@_approximate_step
def cost_all(x, home, setting, entries, workspace):
    """Write c_a of row x, which is in cluster `home` (-1: in none), for every cluster.

    Writes nothing if masses exceed the range of single precision.
    """
    if setting.matrix.spread == np.inf:
        return
    matrix, table, blocks, coupling = setting
    total, partial = workspace.total, workspace.partial
    indices, weights, size = entries
    last = size - 1
    for a in range(total.size):
        total[a] = 0.0
    if coupling != 0.0:
        _add_table(total, partial, x, matrix, table, -coupling)
    for p in range(0, last, ENTRIES_IN_SINGLE):
        _add_enter(partial, indices, weights, p, min(p + ENTRIES_IN_SINGLE, last), blocks)
        _flush(total, partial, coupling - 1.0)
    n_x, n = f32(weights[last]), indices[last]
    for a in range(total.size):
        total[a] += _enter(n_x, blocks.near[n, a], blocks.log[n, a])
    if home >= 0:
        total[home] = _cost_home(x, home, setting, entries)


@_approximate_step
def _cost_home(x, home, setting, entries):
    """Return c_a of row x for its own cluster."""
    matrix, table, blocks, coupling = setting
    indices, weights, size = entries
    last = size - 1
    n_x, n = f32(weights[last]), indices[last]
    cost = np.float64(_leave(n_x, blocks.near[n, home], blocks.log[n, home]))
    if coupling != 0.0:
        cost -= coupling * _leave_table(x, home, matrix, table)
    for p in range(last):
        b = indices[p]
        leave = _leave(f32(weights[p]), blocks.near[b, home], blocks.log[b, home])
        cost -= (1.0 - coupling) * leave
    return cost


@_approximate_step
def _add_table(total, partial, x, matrix, table, factor):
    """total[a] += factor Σ_y enter(w, A_ya) over the entries of row x."""
    start = matrix.indptr[x]
    ones = start + matrix.ones[x]
    twos = ones + matrix.twos[x]
    stop = matrix.indptr[x + 1]
    if table.log.shape[0] == 0:
        for p in range(start, stop, ENTRIES_IN_SINGLE):
            end = min(p + ENTRIES_IN_SINGLE, stop)
            _add_packed(partial, matrix, p, end, min(ones, end), min(twos, end), table)
            _flush(total, partial, factor)
        return
    for p in range(start, ones, ENTRIES_IN_SINGLE):
        _add_rows(partial, matrix.indices, p, min(p + ENTRIES_IN_SINGLE, ones), table.unit)
        _flush(total, partial, factor)
    for p in range(ones, twos, ENTRIES_IN_SINGLE):
        _add_rows(partial, matrix.indices, p, min(p + ENTRIES_IN_SINGLE, twos), table.pair)
        _flush(total, partial, factor)
    for p in range(twos, stop, ENTRIES_IN_SINGLE):
        _add_enter(
            partial, matrix.indices, matrix.weights, p, min(p + ENTRIES_IN_SINGLE, stop), table
        )
        _flush(total, partial, factor)


@_approximate_step
def _add_rows(partial, indices, start, stop, rows):
    """partial[a] += Σ_p rows[indices[p], a], for p from start to stop."""
    p = start
    while p + 7 < stop:
        y0, y1, y2, y3 = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
        y4, y5, y6, y7 = indices[p + 4], indices[p + 5], indices[p + 6], indices[p + 7]
        for a in range(partial.size):
            first = (rows[y0, a] + rows[y1, a]) + (rows[y2, a] + rows[y3, a])
            second = (rows[y4, a] + rows[y5, a]) + (rows[y6, a] + rows[y7, a])
            partial[a] += first + second
        p += 8
    while p < stop:
        y0 = indices[p]
        for a in range(partial.size):
            partial[a] += rows[y0, a]
        p += 1


@_approximate_step
def _add_enter(partial, indices, weights, start, stop, table):
    """partial[a] += Σ_p enter(weights[p], near[indices[p], a]), for p from start to stop."""
    near, log = table.near, table.log
    p = start
    while p + 1 < stop:
        for q in range(p + FETCHED_AHEAD, min(p + FETCHED_AHEAD + 2, indices.size)):
            fetch_row(near, indices[q])
            fetch_row(log, indices[q])
        y0, y1 = indices[p], indices[p + 1]
        w0, w1 = f32(weights[p]), f32(weights[p + 1])
        for a in range(partial.size):
            first = _enter(w0, f32(near[y0, a]), log[y0, a])
            second = _enter(w1, f32(near[y1, a]), log[y1, a])
            partial[a] += first + second
        p += 2
    if p < stop:
        y0, w0 = indices[p], f32(weights[p])
        for a in range(partial.size):
            partial[a] += _enter(w0, f32(near[y0, a]), log[y0, a])


@_approximate_step
def _add_packed(partial, matrix, start, stop, ones, twos, table):
    """partial[a] += Σ_p enter(weights[p], A_ya), for p from start to stop, of a packed table.

    Entries before ``ones`` are 1, then before ``twos`` 2. A logarithm serves three or two of them:
    enter(1, v) = 1 + ½ ln q(v), enter(2, v) = enter(1, v) + enter(1, v + 1).
    """
    indices, near = matrix.indices, table.near
    p = start
    while p < stop:
        for q in range(p + PACKED_AHEAD, min(p + PACKED_AHEAD + 3, indices.size)):
            fetch_row(near, indices[q])
        y0 = indices[p]
        if p + 2 < ones:
            y1, y2 = indices[p + 1], indices[p + 2]
            if max(near[y0, 0], near[y1, 0], near[y2, 0]) != HEAVY:
                for a in range(partial.size):
                    product = _q(f32(near[y0, a])) * _q(f32(near[y1, a])) * _q(f32(near[y2, a]))
                    partial[a] += f32(3.0) + f32(0.5) * _log(product)
                p += 3
                continue
        elif ones <= p < twos - 1:
            y1 = indices[p + 1]
            if max(near[y0, 0], near[y1, 0]) != HEAVY:
                for a in range(partial.size):
                    v0, v1 = f32(near[y0, a]), f32(near[y1, a])
                    product = _q(v0) * _q(v0 + f32(1.0)) * _q(v1) * _q(v1 + f32(1.0))
                    partial[a] += f32(4.0) + f32(0.5) * _log(product)
                p += 2
                continue
        if near[y0, 0] != HEAVY:
            _add_packed_row(partial, f32(matrix.weights[p]), near, y0)
        else:
            _add_packed_row(partial, f32(matrix.weights[p]), table.mass, y0)
        p += 1


@_approximate_step
def _q(v):
    """q(v) = exp(2 enter(1, v) - 2), which is nearly v² + v + 1/6, and e^-2 for an empty cell."""
    return v * v + (v + min(Q_LEAST + v, Q_SHIFT))


@_approximate_step
def _add_packed_row(partial, w, mass, y):
    for a in range(partial.size):
        v = f32(mass[y, a])
        partial[a] += _enter(w, v, _log(v))


@_approximate_step
def _flush(total, partial, factor):
    for a in range(total.size):
        total[a] += factor * partial[a]
        partial[a] = f32(0.0)


@_approximate_step
def _leave_table(x, a, matrix, table):
    """Return Σ_y leave(w, A_ya) over the entries of row x, which is in cluster a.

    Those of weight 1 or 2 are looked up where possible.
    """
    indices, weights, near = matrix.indices, matrix.weights, table.near
    total = 0.0
    for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
        fetch(near, indices[min(p + FETCHED_AHEAD, indices.size - 1)], a)
        y, w = indices[p], weights[p]
        v = near[y, a] if near[y, 0] != HEAVY else table.mass[y, a]
        if v <= table.lookup.shape[0] and w <= 2:
            total += table.lookup[np.uint32(v - w), np.uint32(w)]
        else:
            total += _leave(f32(w), f32(v), _log(f32(v)))
    return total


@step()
def error_bound(x, setting, entries):
    """Return a bound on the error of `cost_all`; infinite if it wrote nothing."""
    matrix, coupling = setting.matrix, setting.coupling
    terms = max(matrix.indptr[x + 1] - matrix.indptr[x], entries.size)
    # The longest chain of additions, and a term's own:
    steps = min(terms, ENTRIES_IN_SINGLE) / 2 + 12
    per_mass = 280.0 + steps * matrix.spread  # 280: three roundings of 127 ln 2, for empty cells
    if setting.table.log.shape[0] == 0:
        per_mass += Q_ERROR / ROUNDOFF
    return ROUNDOFF * matrix.mass[x] * per_mass * (1.0 + abs(coupling) + abs(1.0 - coupling))


# --- in double precision ----------------------------------------------------------------------


@subroutine()
def cost_exact(x, a, home, setting, entries):
    """Return c_a of row x, which is in cluster `home` (-1: in none)."""
    matrix, table, blocks, coupling = setting
    cost = 0.0
    if coupling != 0.0:
        for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
            w = np.float64(matrix.weights[p])
            v = np.float64(table.mass[matrix.indices[p], a])
            cost -= coupling * _enter_exact(w, left(v, w) if a == home else v)
    indices, weights, size = entries
    for p in range(size):
        w = weights[p]
        v = blocks.mass[indices[p], a]
        enter = _enter_exact(w, left(v, w) if a == home else v)
        cost += enter if p == size - 1 else (coupling - 1.0) * enter
    return cost


@step()
def _enter_exact(w, v):
    return w * np.log(v) + (v + w) * np.log1p(w / v) if v > 0.0 else w * np.log(w)
