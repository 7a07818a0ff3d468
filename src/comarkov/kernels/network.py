"""Sequential moves of the elements of one type in a network of relations.

A star is a type with all its relations. It contains a relation of the type to itself twice, once
from each end. Symbols for an element x of the type:

    w      a weight with y, at the other end    A_ya   table.mass[y, a]: of y with cluster a
    B_xj   cross[x, j]: of x with item j        M_ja   blocks.mass[j, a]: of item j with cluster a

Items are the clusters at the other end of each relation, and its mass. The cost of putting a
removed element x into cluster a is

    c_a = Σ_y factor_y enter(w, A_ya) + Σ_j factor_j enter(B_xj, M_ja),  enter(w, v) = f(v+w) - f(v)

and f(v) = v ln v. In a relation of the type to itself x is on both sides: M_aa changes at once by
what x has with cluster a as source, as target, and by its loop; and a loop also changes the rows of
x in the table.
"""

from typing import NamedTuple

import numpy as np

from .compiling import kernel, step
from .logarithm import TIE, double, left

_enter, _leave = double.enter, double.leave
LOG_OF_ZERO = double.of_zero  # makes `_enter` right for an empty cell


class Star(NamedTuple):
    """A type and its relations, those to itself without loops."""

    indptr: np.ndarray  # int64 (n + 1,)
    indices: np.ndarray  # uint32 (nnz,): rows of the table
    weights: np.ndarray  # float64 (nnz,)
    factor: np.ndarray  # float64 (rows,): of each row of the table in the cost
    item_factor: np.ndarray  # float64 (items,): of each item of the blocks
    own: np.ndarray  # int64 (items,): which of the type's own clusters an item is; else -1
    loops: np.ndarray  # float64 (relations to itself, n)
    twice: np.ndarray  # int64 (relations to itself, 4): first row and first item, as both ends


class Masses(NamedTuple):
    """Masses by (item, cluster), and their logarithms."""

    mass: np.ndarray  # float64
    log: np.ndarray  # float64; LOG_OF_ZERO where the mass is 0


class Partition(NamedTuple):
    """A partition of the elements."""

    label: np.ndarray  # int64 (n,); -1 for an element without mass
    size: np.ndarray  # int64 (k,)
    weight: np.ndarray  # float64 (n,): by how much an element can change the cost, for ties


# --- tables -----------------------------------------------------------------------------------


@step()
def _log(v):
    return np.log(v) if v > 0.0 else LOG_OF_ZERO


@step()
def _set(masses, row, a, value):
    masses.mass[row, a] = value
    masses.log[row, a] = _log(value)


@kernel()
def derive(masses):
    """Compute the logarithms."""
    rows, clusters = masses.mass.shape
    for row in range(rows):
        for a in range(clusters):
            _set(masses, row, a, masses.mass[row, a])


@kernel()
def fill(masses, star, label):
    """Fill an empty table with the masses by (element at the other end, cluster)."""
    for x in range(label.size):
        a = label[x]
        if a < 0:
            continue
        for p in range(star.indptr[x], star.indptr[x + 1]):
            masses.mass[star.indices[p], a] += star.weights[p]
        for q in range(star.twice.shape[0]):
            masses.mass[star.twice[q, 0] + x, a] += star.loops[q, x]
            masses.mass[star.twice[q, 1] + x, a] += star.loops[q, x]
    derive(masses)


@kernel()
def add_up(out, rows, label):
    """Add rows to those of their clusters: out[a] += rows[x] for all x in a."""
    for x in range(label.size):
        if label[x] >= 0:
            for j in range(rows.shape[1]):
                out[label[x], j] += rows[x, j]


# --- one element ------------------------------------------------------------------------------


@step()
def _read_items(x, home, star, table, cross, weight):
    """Write the present B_xj for all items; for items of its own type, without the loop."""
    for j in range(weight.size):
        weight[j] = cross[x, j]
    for q in range(star.twice.shape[0]):
        as_source, as_target = star.twice[q, 2], star.twice[q, 3]
        for b in range(table.mass.shape[1]):
            weight[as_source + b] = table.mass[star.twice[q, 1] + x, b]
            weight[as_target + b] = table.mass[star.twice[q, 0] + x, b]
        weight[as_source + home] = left(weight[as_source + home], star.loops[q, x])
        weight[as_target + home] = left(weight[as_target + home], star.loops[q, x])


@step()
def _changed(v, w, enters):
    return v + w if enters else left(v, w)


@step()
def _change_blocks(x, a, enters, star, blocks, weight):
    """Add element x to cluster a of the blocks, or remove it."""
    for j in range(weight.size):
        if star.own[j] < 0 and weight[j] > 0.0:
            _set(blocks, j, a, _changed(blocks.mass[j, a], weight[j], enters))
    for q in range(star.twice.shape[0]):
        source, target = star.twice[q, 2], star.twice[q, 3]
        for b in range(blocks.mass.shape[1]):
            if b == a:
                w = weight[source + a] + weight[target + a] + star.loops[q, x]
                value = _changed(blocks.mass[source + a, a], w, enters)
                _set(blocks, source + a, a, value)
                _set(blocks, target + a, a, value)
                continue
            forth = _changed(blocks.mass[source + b, a], weight[source + b], enters)  # from a to b
            _set(blocks, source + b, a, forth)
            _set(blocks, target + a, b, forth)
            back = _changed(blocks.mass[target + b, a], weight[target + b], enters)
            _set(blocks, target + b, a, back)
            _set(blocks, source + a, b, back)


@step()
def _shift_table(x, home, to, star, table):
    """Move element x in the table."""
    for p in range(star.indptr[x], star.indptr[x + 1]):
        y, w = star.indices[p], star.weights[p]
        _set(table, y, home, left(table.mass[y, home], w))
        _set(table, y, to, table.mass[y, to] + w)
    for q in range(star.twice.shape[0]):
        w = star.loops[q, x]
        if w > 0.0:
            for end in range(2):
                y = star.twice[q, end] + x
                _set(table, y, home, left(table.mass[y, home], w))
                _set(table, y, to, table.mass[y, to] + w)


@step()
def _add_enter(total, first, w, masses, row, factor):
    """total[i] += factor enter(w, v) for all clusters first + i."""
    mass, log, row = masses.mass, masses.log, np.uint64(row)
    for i in range(total.size):
        a = np.uint64(first) + np.uint64(i)
        total[i] += factor * _enter(w, mass[row, a], log[row, a])


@step()
def _add_table(x, home, first, star, table, total):
    """Add the terms of the table; return that of `home`, which still contains the element."""
    cost_home = 0.0
    for p in range(star.indptr[x], star.indptr[x + 1]):
        y, w = star.indices[p], star.weights[p]
        factor = star.factor[y]
        if factor != 0.0:
            _add_enter(total, first, w, table, y, factor)
            cost_home += factor * _leave(w, table.mass[y, home], table.log[y, home])
    return cost_home


@step()
def _add_blocks(first, star, blocks, weight, total):
    """Add the terms of the blocks, from which the element has been removed."""
    for j in range(weight.size):
        w, factor, i = weight[j], star.item_factor[j], star.own[j] - first
        if w <= 0.0 or factor == 0.0:
            continue
        is_own = star.own[j] >= 0 and 0 <= i < total.size
        kept = total[i] if is_own else 0.0
        _add_enter(total, first, w, blocks, j, factor)
        if is_own:  # M_aa has a term of its own
            total[i] = kept


@step()
def _add_loops(x, first, star, blocks, weight, total):
    """Add the further terms of relations of the type to itself: M_aa, and the rows of x."""
    for q in range(star.twice.shape[0]):
        s = star.loops[q, x]
        source, target = star.twice[q, 2], star.twice[q, 3]
        for i in range(total.size):
            a = first + i
            out, into = weight[source + a], weight[target + a]
            w = out + into + s
            if w > 0.0:
                v, log_v = blocks.mass[source + a, a], blocks.log[source + a, a]
                total[i] += star.item_factor[source] * _enter(w, v, log_v)
            if s > 0.0:  # its mass with cluster a is its own row in the table of the other end
                total[i] += star.factor[star.twice[q, 1] + x] * _enter(s, out, _log(out))
                total[i] += star.factor[star.twice[q, 0] + x] * _enter(s, into, _log(into))


@step()
def _cost_all(x, home, first, star, table, blocks, weight, total):
    """Write c_a for clusters from `first` on, `home` among them; the blocks are without x."""
    for i in range(total.size):
        total[i] = 0.0
    cost_home = _add_table(x, home, first, star, table, total)
    total[home - first] = cost_home
    _add_blocks(first, star, blocks, weight, total)
    _add_loops(x, first, star, blocks, weight, total)


@step()
def _choose(home, first, total, tie):
    """Return the cluster of least cost, and what a move there saves; ties: home, lowest."""
    best, least = home, total[home - first]
    for i in range(total.size):
        if total[i] < least - tie:
            best, least = first + i, total[i]
    return best, total[home - first] - least


# --- sweeps -----------------------------------------------------------------------------------


@kernel()
def sweep(order, span, star, partition, table, blocks, cross):
    """Visit the elements in `order` and move each to its cluster of least cost.

    Only the clusters from span[0] up to span[1] are considered; they must contain all elements.
    Writes partition, table and blocks. Returns the number of moves and the cost saved, in nats.
    """
    first, last = span
    weight = np.empty(cross.shape[1])
    total = np.empty(last - first)
    moves, saved = 0, 0.0
    for x in order:
        home = partition.label[x]
        if partition.size[home] == 1:
            continue
        _read_items(x, home, star, table, cross, weight)
        _change_blocks(x, home, False, star, blocks, weight)
        _cost_all(x, home, first, star, table, blocks, weight, total)
        best, gain = _choose(home, first, total, TIE * partition.weight[x])
        _change_blocks(x, best, True, star, blocks, weight)
        if best != home:
            _shift_table(x, home, best, star, table)
            partition.label[x] = best
            partition.size[home] -= 1
            partition.size[best] += 1
            moves += 1
            saved += gain
    return moves, saved
