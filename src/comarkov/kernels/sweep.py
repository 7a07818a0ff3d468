"""Numba kernels: the sequential sweep, and what it stands on.

Symbols, for a sweep over the rows (columns are the rows of the transpose):

    w      a weight n_xy          n_x    the mass of row x
    A_ya   table.mass[y, a]       M_ba   blocks.mass[b, a]
    B_xb   cross[x, b]            N_a    blocks.mass[-1, a]
    f(v) = v ln v                 λ      the coupling 2β - 1

The cost of putting a removed row x into cluster a, in nats times the total mass, is

    c_a = enter(n_x, N_a) - λ Σ_y enter(w, A_ya) - (1 - λ) Σ_b enter(B_xb, M_ba)
    enter(w, v) = f(v + w) - f(v)

All clusters of a row are first costed at once in single precision, with a bound on the error.
Only candidates that the bound cannot tell apart are costed again in double precision, so the
choice is that of exact arithmetic at a fraction of its price.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiling import kernel, step
from .matrix import Matrix

# Single precision may fuse operations and so differ between machines; double must not.
_approximate = kernel(error_model="numpy", fastmath={"contract"})
_approximate_step = step(error_model="numpy", fastmath={"contract"})
_exact = kernel(error_model="numpy")
_exact_step = step(error_model="numpy")

f32 = np.float32
LANES = 8  # clusters in a table are padded to a multiple of this
CHUNK = 512  # entries summed in single precision before they join the total in double
ROUNDOFF = 2.0**-24  # of single precision
TIE = 1e-10  # a difference in cost per unit of mass that counts as none
RESIDUE = 2.0**-46  # a relative remainder of a float subtraction that counts as nothing left
LN2 = f32(np.log(2.0))
LOG_OF_ZERO = f32(-127.0 * np.log(2.0))  # makes `_enter` right for an empty cell


class Table(NamedTuple):
    """Masses by (item, cluster) with what is derived from them; padded to LANES clusters."""

    mass: np.ndarray  # exact: int32 for counts, else float64
    near: np.ndarray  # mass in 32 bits; for counts the same array
    log: np.ndarray  # float32: ln mass
    unit: np.ndarray  # float32: enter(1, mass); empty unless counts
    pair: np.ndarray  # float32: enter(2, mass); empty unless counts
    lookup: np.ndarray  # float32 (size, 3): log, unit and pair of counts below size


class Clusters(NamedTuple):
    """A partition of the rows."""

    label: np.ndarray  # int32 (n,); -1 for a row without mass
    size: np.ndarray  # int64 (k,): members
    margin: np.ndarray  # float32 (n,): second best less best cost per mass, when last visited


class Workspace(NamedTuple):
    """Scratch memory of a sweep."""

    total: np.ndarray  # float64 (clusters,): costs
    partial: np.ndarray  # float32 (clusters,): sums on their way into total; zero in between
    indices: np.ndarray  # uint32 (blocks,): where a row has mass in the blocks
    weights: np.ndarray  # float64 (blocks,): how much


# --- logarithms in single precision ---------------------------------------------------------


@intrinsic
def _octaves(typing_context, v, u):
    """log2(v / u) rounded to an integer, read off the bits (off by one in places)."""

    def codegen(context, builder, signature, args):
        i32 = ir.IntType(32)
        v, u = (builder.bitcast(arg, i32) for arg in args)
        half_up = builder.add(builder.sub(v, u), ir.Constant(i32, 1 << 22))
        return builder.ashr(half_up, ir.Constant(i32, 23))

    return types.int32(types.float32, types.float32), codegen


@intrinsic
def _scale(typing_context, v, octaves):
    """v * 2**octaves, by adding to the exponent."""

    def codegen(context, builder, signature, args):
        i32 = ir.IntType(32)
        exponent = builder.shl(args[1], ir.Constant(i32, 23))
        bits = builder.add(builder.bitcast(args[0], i32), exponent)
        return builder.bitcast(bits, ir.FloatType())

    return types.float32(types.float32, types.int32), codegen


@_approximate_step
def _log_from(octaves, z):
    """octaves ln 2 + 2 artanh z, for |z| <= 0.2, where a short polynomial will do."""
    q = z * z
    series = f32(2.0) + q * (f32(0.66667001) + q * (f32(0.3995275) + q * f32(0.3046499)))
    return f32(octaves) * LN2 + z * series


@_approximate_step
def _log_ratio(s, v, w):
    """ln(s / v) where s = v + w, without a branch, to single precision also for small w / v.

    v is brought within a factor of 1.5 of s by whole octaves, to u; then s / u = (1+z) / (1-z).
    For v = 0 the result is ln s + 127 ln 2.
    """
    octaves = _octaves(s, v)
    u = _scale(v, octaves)
    return _log_from(octaves, ((v - u) + w) / (s + u))


@_approximate_step
def _log(v):
    """ln v, or LOG_OF_ZERO."""
    if v <= f32(0.0):
        return LOG_OF_ZERO
    octaves = _octaves(v, f32(1.0))
    u = _scale(f32(1.0), octaves)
    return _log_from(octaves, (v - u) / (v + u))


@_approximate_step
def _enter(w, v, log_v):
    """f(v + w) - f(v) = w ln v + (v + w) ln((v + w) / v)."""
    s = v + w
    return w * log_v + s * _log_ratio(s, v, w)


@_approximate_step
def _leave(w, v, log_v):
    """f(v) - f(v - w) = w ln v + (v - w) ln(v / (v - w))."""
    r = v - w
    return w * log_v + r * _log_ratio(v, r, w) if r > f32(0.0) else w * log_v


# --- references -----------------------------------------------------------------------------


@intrinsic
def _borrow(typing_context, array):
    """The array without its owner, so that numba counts no references to it.

    Counting takes an atomic operation per array and call, on a counter that all threads share.
    Whoever calls a kernel holds the owner for as long as the kernel runs.
    """

    def codegen(context, builder, signature, args):
        borrowed = context.make_array(signature.args[0])(context, builder, args[0])
        borrowed.meminfo = ir.Constant(borrowed.meminfo.type, None)
        borrowed.parent = ir.Constant(borrowed.parent.type, None)
        return borrowed._getvalue()

    return array(array), codegen


@_exact_step
def _borrow_matrix(m):
    return Matrix(
        _borrow(m.indptr), _borrow(m.indices), _borrow(m.weights), _borrow(m.ones),
        _borrow(m.twos), _borrow(m.mass), m.spread,
    )  # fmt: skip


@_exact_step
def _borrow_table(t):
    return Table(
        _borrow(t.mass), _borrow(t.near), _borrow(t.log), _borrow(t.unit), _borrow(t.pair),
        _borrow(t.lookup),
    )  # fmt: skip


@_exact_step
def _borrow_clusters(c):
    return Clusters(_borrow(c.label), _borrow(c.size), _borrow(c.margin))


@_exact_step
def _borrow_workspace(w):
    return Workspace(_borrow(w.total), _borrow(w.partial), _borrow(w.indices), _borrow(w.weights))


# --- tables ---------------------------------------------------------------------------------


@_exact_step
def _left(v, w):
    """v - w, and exactly nothing where only rounding is left."""
    r = v - w
    return r if r > RESIDUE * v else v - v  # not r * 0, which can be -0.0


@_approximate_step
def _derive(table, indices, start, stop, a):
    """Set what is derived from the masses of cluster a."""
    mass, near, log, unit, pair, lookup = table
    limit = lookup.shape[0]
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
    for p in range(start, stop):  # apart, to keep the common case free of branches
        y = indices[p]
        if mass[y, a] >= limit:
            v = f32(mass[y, a])
            log[y, a] = _log(v)
            unit[y, a] = _enter(f32(1.0), v, _log(v))
            pair[y, a] = _enter(f32(2.0), v, _log(v))


@_approximate_step
def _derive_all(table):
    n = table.mass.shape[0]
    every = np.empty(n, np.uint32)
    for y in range(n):
        every[y] = y
    for a in range(table.mass.shape[1]):
        _derive(table, every, np.int64(0), n, a)


@_approximate
def fill_table(table, matrix, label):
    """Write the masses by (column, row cluster) into an empty table."""
    for x in range(label.size):
        a = label[x]
        for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
            table.mass[matrix.indices[p], a] += matrix.weights[p]
    _derive_all(table)


@_approximate
def fill_blocks(blocks, cross, label, mass):
    """Write the masses by (column cluster, row cluster), and by row cluster in the last row."""
    last = blocks.mass.shape[0] - 1
    for x in range(label.size):
        a = label[x]
        if a < 0:
            continue
        blocks.mass[last, a] += mass[x]
        for b in range(last):
            blocks.mass[b, a] += cross[x, b]
    _derive_all(blocks)


@_approximate_step
def _shift(table, indices, weights, start, stop, a, b):
    """Take the weights from start to stop out of cluster a and put them into cluster b."""
    mass = table.mass
    for p in range(start, stop):
        y = indices[p]
        mass[y, a] = _left(mass[y, a], weights[p])
        mass[y, b] += weights[p]
    _derive(table, indices, start, stop, a)
    _derive(table, indices, start, stop, b)


# --- costs in single precision --------------------------------------------------------------


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
def _flush(total, partial, factor):
    for a in range(total.size):
        total[a] += factor * partial[a]
        partial[a] = f32(0.0)


@_approximate_step
def _add_table(total, partial, x, matrix, table, factor):
    """total[a] += factor Σ_y enter(w, A_ya) over the entries of row x."""
    start = matrix.indptr[x]
    ones = start + matrix.ones[x]
    twos = ones + matrix.twos[x]
    stop = matrix.indptr[x + 1]
    for p in range(start, ones, CHUNK):
        _add_rows(partial, matrix.indices, p, min(p + CHUNK, ones), table.unit)
        _flush(total, partial, factor)
    for p in range(ones, twos, CHUNK):
        _add_rows(partial, matrix.indices, p, min(p + CHUNK, twos), table.pair)
        _flush(total, partial, factor)
    for p in range(twos, stop, CHUNK):
        _add_enter(partial, matrix.indices, matrix.weights, p, min(p + CHUNK, stop), table)
        _flush(total, partial, factor)


@_approximate_step
def _leave_table(x, a, matrix, table):
    """Σ_y leave(w, A_ya) over the entries of row x, which is in cluster a."""
    mass, near, log, lookup = table.mass, table.near, table.log, table.lookup
    start = matrix.indptr[x]
    ones = start + matrix.ones[x]
    twos = ones + matrix.twos[x]
    limit = lookup.shape[0]
    total = 0.0
    for p in range(start, ones):
        y = matrix.indices[p]
        v = mass[y, a]
        if v <= limit:
            total += lookup[np.uint32(v - 1), 1]
        else:
            total += _leave(f32(1.0), f32(v), log[y, a])
    for p in range(ones, twos):
        y = matrix.indices[p]
        v = mass[y, a]
        if v <= limit:
            total += lookup[np.uint32(v - 2), 2]
        else:
            total += _leave(f32(2.0), f32(v), log[y, a])
    for p in range(twos, matrix.indptr[x + 1]):
        y = matrix.indices[p]
        total += _leave(f32(matrix.weights[p]), f32(near[y, a]), log[y, a])
    return total


@_approximate_step
def _block_entries(x, cross, mass, workspace):
    """Where row x has mass in the blocks, and how much; the last entry is for the masses N_a."""
    indices, weights = workspace.indices, workspace.weights
    size = 0
    for b in range(cross.shape[1]):
        if cross[x, b] > 0:
            indices[size] = b
            weights[size] = cross[x, b]
            size += 1
    indices[size] = indices.size - 1
    weights[size] = mass
    return indices, weights, size + 1


@_approximate_step
def _cost_all(x, home, matrix, table, blocks, entries, coupling, workspace):
    """Write c_a of row x, which is in cluster `home` (-1: in none), for every cluster."""
    total, partial = workspace.total, workspace.partial
    indices, weights, size = entries
    last = size - 1
    for a in range(total.size):
        total[a] = 0.0
    if coupling != 0.0:
        _add_table(total, partial, x, matrix, table, -coupling)
    for p in range(0, last, CHUNK):
        _add_enter(partial, indices, weights, p, min(p + CHUNK, last), blocks)
        _flush(total, partial, coupling - 1.0)
    n_x, n = f32(weights[last]), indices[last]
    for a in range(total.size):
        total[a] += _enter(n_x, blocks.near[n, a], blocks.log[n, a])
    if home < 0:
        return
    cost = np.float64(_leave(n_x, blocks.near[n, home], blocks.log[n, home]))
    if coupling != 0.0:
        cost -= coupling * _leave_table(x, home, matrix, table)
    for p in range(last):
        b = indices[p]
        leave = _leave(f32(weights[p]), blocks.near[b, home], blocks.log[b, home])
        cost -= (1.0 - coupling) * leave
    total[home] = cost


@_exact_step
def _error_bound(x, matrix, n_blocks, coupling):
    """How far a cost of `_cost_all` can lie from the exact one."""
    entries = max(matrix.indptr[x + 1] - matrix.indptr[x], n_blocks)
    steps = min(entries, CHUNK) / 2 + 12  # the longest chain of additions, and a term's own
    per_mass = 280.0 + steps * matrix.spread  # 280: three roundings of 127 ln 2, for empty cells
    return ROUNDOFF * matrix.mass[x] * per_mass * (1.0 + abs(coupling) + abs(1.0 - coupling))


# --- costs in double precision --------------------------------------------------------------


@_exact_step
def _enter_exact(w, v):
    return w * np.log(v) + (v + w) * np.log1p(w / v) if v > 0.0 else w * np.log(w)


@_exact
def cost_exact(x, a, home, matrix, table, blocks, entries, coupling):
    """c_a of row x, which is in cluster `home` (-1: in none)."""
    cost = 0.0
    if coupling != 0.0:
        for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
            w = np.float64(matrix.weights[p])
            v = np.float64(table.mass[matrix.indices[p], a])
            cost -= coupling * _enter_exact(w, _left(v, w) if a == home else v)
    indices, weights, size = entries
    for p in range(size):
        w = weights[p]
        v = blocks.mass[indices[p], a]
        enter = _enter_exact(w, _left(v, w) if a == home else v)
        cost += enter if p == size - 1 else (coupling - 1.0) * enter
    return cost


# --- sweeps ---------------------------------------------------------------------------------


@_exact_step
def _least_two(total):
    """Where the least cost is, the least and the second least."""
    best = 0
    least = second = np.inf
    for a in range(total.size):
        if total[a] < least:
            second, least, best = least, total[a], a
        elif total[a] < second:
            second = total[a]
    return best, least, second


@_exact
def _choose_exactly(x, home, limit, matrix, table, blocks, entries, coupling, total):
    """The cluster of least cost among those of at most `limit`, and what moving there saves."""
    tie = TIE * matrix.mass[x]
    best = home
    cost_home = cost_exact(x, home, home, matrix, table, blocks, entries, coupling)
    cost_best = cost_home
    for a in range(total.size):
        if a != home and total[a] <= limit:
            cost = cost_exact(x, a, home, matrix, table, blocks, entries, coupling)
            if cost < cost_best - tie:
                best, cost_best = a, cost
    return best, cost_home - cost_best


@_approximate
def sweep(order, matrix, clusters, table, blocks, cross, coupling, workspace):
    """Visit the rows in `order`, each moved to its cluster of least cost; ties: home, lowest.

    Writes clusters, table and blocks. Returns the number of moves, the cost that they saved
    (nats times total mass), and by how much margins have changed since the last visit, summed
    over the rows that stayed.
    """
    matrix, clusters = _borrow_matrix(matrix), _borrow_clusters(clusters)
    table, blocks, cross = _borrow_table(table), _borrow_table(blocks), _borrow(cross)
    workspace = _borrow_workspace(workspace)
    total = workspace.total[: clusters.size.size]
    moves, saved, drift = 0, 0.0, 0.0
    for x in order:
        home = np.int64(clusters.label[x])
        if clusters.size[home] == 1:
            continue
        entries = _block_entries(x, cross, matrix.mass[x], workspace)
        if matrix.spread < np.inf:
            _cost_all(x, home, matrix, table, blocks, entries, coupling, workspace)
        best, least, second = _least_two(total)
        gain = total[home] - least
        limit = least + 2.0 * _error_bound(x, matrix, entries[2], coupling)
        if second <= limit:
            best, gain = _choose_exactly(
                x, home, limit, matrix, table, blocks, entries, coupling, total
            )
        margin = f32((second - least) / matrix.mass[x])
        if best != home:
            start, stop = matrix.indptr[x], matrix.indptr[x + 1]
            _shift(table, matrix.indices, matrix.weights, start, stop, home, best)
            _shift(blocks, entries[0], entries[1], np.int64(0), entries[2], home, best)
            clusters.label[x] = best
            clusters.size[home] -= 1
            clusters.size[best] += 1
            moves += 1
            saved += gain
        elif clusters.margin[x] < np.inf:
            drift += abs(margin - clusters.margin[x])
        clusters.margin[x] = margin
    return moves, saved, drift


@_approximate
def derive(table):
    """Set what is derived from the masses of a table."""
    _derive_all(table)


@_approximate
def insertion_costs(out, home, matrix, table, blocks, cross, coupling, workspace):
    """Write c_a of every row for every cluster a, the row taken out of `home` (-1: in none).

    The least is where it is in exact arithmetic; costs are within single precision.
    """
    matrix, table, blocks = _borrow_matrix(matrix), _borrow_table(table), _borrow_table(blocks)
    cross, workspace = _borrow(cross), _borrow_workspace(workspace)
    total = workspace.total[: out.shape[1]]
    for x in range(out.shape[0]):
        at = np.int64(home[x])
        entries = _block_entries(x, cross, matrix.mass[x], workspace)
        if matrix.spread < np.inf:
            _cost_all(x, at, matrix, table, blocks, entries, coupling, workspace)
        _, least, second = _least_two(total)
        limit = least + 2.0 * _error_bound(x, matrix, entries[2], coupling)
        for a in range(out.shape[1]):
            out[x, a] = total[a]
            if second <= limit and total[a] <= limit:
                out[x, a] = cost_exact(x, a, at, matrix, table, blocks, entries, coupling)


# --- merging --------------------------------------------------------------------------------


@_exact
def add_pair_terms(out, mass, factor):
    """out[i, j] += factor Σ_y [f(A_yi + A_yj) - f(A_yi) - f(A_yj)] for i < j, of float64 masses."""
    n, k = mass.shape
    some = np.empty(k, np.int64)
    term = np.empty(k)
    for y in range(n):
        count = 0
        for i in range(k):
            if mass[y, i] > 0.0:
                some[count] = i
                term[count] = mass[y, i] * np.log(mass[y, i])
                count += 1
        for p in range(count):
            i = some[p]
            for q in range(p + 1, count):
                both = mass[y, i] + mass[y, some[q]]
                out[i, some[q]] += factor * (both * np.log(both) - term[p] - term[q])


@_exact
def add_terms_with(out, mass, i, factor):
    """out[j] += factor Σ_y [f(A_yi + A_yj) - f(A_yi) - f(A_yj)] for j other than i."""
    n, k = mass.shape
    for y in range(n):
        one = mass[y, i]
        if one > 0.0:
            term = one * np.log(one)
            for j in range(k):
                other = mass[y, j]
                if other > 0.0 and j != i:
                    both = one + other
                    out[j] += factor * (both * np.log(both) - term - other * np.log(other))
