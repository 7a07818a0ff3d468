"""Moves of nodes between the groups of a network, each of which shortens its description.

The description is that of a planted partition with given degrees: how many edges are inside each
group, how many are between groups, and which ends of edges those are. With a_r and b_r the edges
that begin and end in group r, m_r those inside it, E all edges and D = E - Σ m_r, it takes

    Σ_r ln [a_r! b_r! / (a_r - m_r)! (b_r - m_r)! m_r!] + ln D!
    + D ln(1 - Σ_r (a_r - m_r)(b_r - m_r) / D²)
    + ln C(E + B, B) + ln C(N + B - 1, B - 1) - Σ_r ln n_r!     in nats

up to a constant, for N nodes in B groups of n_r. The term in D² is the chance that ends of edges
between groups, joined at random, are in different groups. A group with fewer edges inside than
e = a_r b_r / E, which degrees explain, takes e - m + m ln(m/e) more: it is no group of nodes that
belong together. Edges may have any weight; one without a direction counts one half in each.
"""

import math
from typing import NamedTuple

import numpy as np

from .compiling import kernel, step, subroutine

MIN_GAIN = 1e-6  # nats: less may be rounding, and moves would never end
NO_EDGES = 1e-12  # as a share of all: rounding


class Nodes(NamedTuple):
    """Nodes, or groups of them, and the weights between any two, both directions added up."""

    indptr: np.ndarray  # int64 (n + 1,)
    indices: np.ndarray  # int64 (nnz,)
    weights: np.ndarray  # float64 (nnz,), without loops
    loops: np.ndarray  # float64 (n,): inside each
    begins: np.ndarray  # float64 (n,): a
    ends: np.ndarray  # float64 (n,): b
    sizes: np.ndarray  # float64 (n,): how many nodes each stands for


class Groups(NamedTuple):
    """Sums over the members of each group; all are 0 for groups that are empty."""

    label: np.ndarray  # int64 (n,): of each node
    begins: np.ndarray  # float64 (n,)
    ends: np.ndarray
    inside: np.ndarray
    sizes: np.ndarray
    nats: np.ndarray  # of each group
    total: np.ndarray  # float64 (4,): the number of groups, Σ m, Σ (a-m)(b-m), Σ nats


@step()
def _ln_factorial(x):
    return math.lgamma(x + 1.0) if x > 0.0 else 0.0


@step()
def _group_nats(a, b, m, n, edges):
    """The terms of one group; with fewer edges inside than expected it saves nothing."""
    nats = _ln_factorial(a) - _ln_factorial(a - m)
    nats += nats if a == b else _ln_factorial(b) - _ln_factorial(b - m)
    nats -= _ln_factorial(m) + _ln_factorial(n)
    expected = a * b / edges
    if m < expected:
        nats += expected - m
        if m > 0.0:
            nats += m * math.log(m / expected)
    return nats


@step()
def _shared_nats(inside, products, edges):
    """The terms of the edges between groups."""
    between = edges - inside
    if between <= NO_EDGES * edges:
        return 0.0
    apart = 1.0 - products / (between * between)
    return _ln_factorial(between) + between * math.log(max(apart, NO_EDGES))


@kernel()
def description(labels, nodes, count_nats, edges):
    """Return the nats of these groups."""
    return _nats(_groups(nodes, labels.copy(), edges), count_nats, edges)


@subroutine()
def _nats(groups, count_nats, edges):
    count, inside, products, nats = groups.total
    return nats + count_nats[int(count)] + _shared_nats(inside, products, edges)


@subroutine()
def _groups(nodes, label, edges):
    """Compute the sums of all groups from the labels, which are below the number of nodes."""
    begins, ends, inside, sizes, nats = np.zeros((5, label.size))
    groups = Groups(label, begins, ends, inside, sizes, nats, np.zeros(4))
    for x in range(label.size):
        r = label[x]
        groups.begins[r] += nodes.begins[x]
        groups.ends[r] += nodes.ends[x]
        groups.inside[r] += nodes.loops[x]
        groups.sizes[r] += nodes.sizes[x]
        for p in range(nodes.indptr[x], nodes.indptr[x + 1]):
            if label[nodes.indices[p]] == r:
                groups.inside[r] += nodes.weights[p] / 2.0  # which is seen from both
    for r in range(label.size):
        _add_group(groups, r, 1.0, edges)
    return groups


@step()
def _add_group(groups, r, sign, edges):
    """Add a group to the totals, or take it out."""
    n = groups.sizes[r]
    if n <= 0.0:
        return
    a, b, m = groups.begins[r], groups.ends[r], groups.inside[r]
    if sign > 0.0:
        groups.nats[r] = _group_nats(a, b, m, n, edges)
    groups.total[0] += sign
    groups.total[1] += sign * m
    groups.total[2] += sign * max(a - m, 0.0) * max(b - m, 0.0)
    groups.total[3] += sign * groups.nats[r]


@step()
def _shift(nodes, groups, x, r, weight, sign, edges):
    """Put node x into group r, or take it out; ``weight`` is what it has with the others there."""
    _add_group(groups, r, -1.0, edges)
    groups.begins[r] += sign * nodes.begins[x]
    groups.ends[r] += sign * nodes.ends[x]
    groups.inside[r] += sign * (weight + nodes.loops[x])
    groups.sizes[r] += sign * nodes.sizes[x]
    if groups.sizes[r] <= 0.5:
        groups.begins[r] = groups.ends[r] = groups.inside[r] = groups.sizes[r] = 0.0
    _add_group(groups, r, 1.0, edges)


@step()
def _nats_with(nodes, groups, x, r, weight, count_nats, edges):
    """The description if node x, which is in no group, were in group r."""
    a, b = groups.begins[r] + nodes.begins[x], groups.ends[r] + nodes.ends[x]
    m, n = groups.inside[r] + weight + nodes.loops[x], groups.sizes[r]
    count, inside, products, nats = groups.total
    if n > 0.0:
        old = groups.inside[r]
        count -= 1.0
        inside -= old
        products -= max(groups.begins[r] - old, 0.0) * max(groups.ends[r] - old, 0.0)
        nats -= groups.nats[r]
    products += max(a - m, 0.0) * max(b - m, 0.0)
    nats += _group_nats(a, b, m, n + nodes.sizes[x], edges)
    return nats + count_nats[int(count) + 1] + _shared_nats(inside + m, products, edges)


@kernel()
def climb(order, labels, nodes, count_nats, edges):
    """Move nodes, then groups, then groups of groups; return labels and their description."""
    whole, label, k = np.arange(labels.size), labels.copy(), labels.size
    while True:
        groups = _groups(nodes, label, edges)
        move(order[order < k], nodes, groups, count_nats, edges)
        below, k = k, _renumber(label)
        for x in range(whole.size):
            whole[x] = label[whole[x]]
        if k == below:
            return whole, _nats(groups, count_nats, edges)
        nodes, label = _merged(nodes, label, k), np.arange(k)


@subroutine()
def _renumber(label):
    """Number the groups that have members from 0, in place; return how many these are."""
    number = np.zeros(label.size, np.int64)
    number[label] = 1
    number = np.cumsum(number)
    for x in range(label.size):
        label[x] = number[label[x]] - 1
    return number[-1]


@subroutine()
def _merged(nodes, label, k):
    """Groups as nodes, with the weights between them."""
    begins, ends, loops = np.zeros(k), np.zeros(k), np.zeros(k)
    sizes, weight = np.zeros(k), np.zeros(k)
    first, near = np.zeros(k + 1, np.int64), np.empty(k, np.int64)
    for x in range(label.size):
        first[label[x] + 1] += 1
    first = np.cumsum(first)
    members, filled = np.empty(label.size, np.int64), first.copy()
    for x in range(label.size):
        members[filled[label[x]]] = x
        filled[label[x]] += 1
    indptr = np.zeros(k + 1, np.int64)
    indices, weights = np.empty(nodes.indices.size, np.int64), np.empty(nodes.indices.size)
    for r in range(k):
        count, entries = 0, indptr[r]
        for x in members[first[r] : first[r + 1]]:
            begins[r] += nodes.begins[x]
            ends[r] += nodes.ends[x]
            loops[r] += nodes.loops[x]
            sizes[r] += nodes.sizes[x]
            for p in range(nodes.indptr[x], nodes.indptr[x + 1]):
                s = label[nodes.indices[p]]
                if weight[s] == 0.0:
                    near[count] = s
                    count += 1
                weight[s] += nodes.weights[p]
        for s in near[:count]:
            if s == r:
                loops[r] += weight[s] / 2.0  # which is seen from both
            else:
                indices[entries], weights[entries] = s, weight[s]
                entries += 1
            weight[s] = 0.0
        indptr[r + 1] = entries
    size = indptr[k]
    return Nodes(indptr, indices[:size], weights[:size], loops, begins, ends, sizes)


@subroutine()
def move(order, nodes, groups, count_nats, edges):
    """Move nodes to groups of their neighbours until none shortens the description.

    Nodes are visited in this order, and again when a neighbour has left their group. Each may also
    leave for a group of its own. Writes groups.
    """
    n = order.size
    weight, near = np.zeros(n), np.empty(n + 1, np.int64)
    queue, waits = order.copy(), np.ones(n, np.bool_)
    empty = np.empty(n, np.int64)
    n_empty = 0
    for r in range(n):
        if groups.sizes[r] <= 0.0:
            empty[n_empty] = r
            n_empty += 1
    head, pending = 0, n
    while pending > 0:
        x = queue[head % n]
        head, pending = head + 1, pending - 1
        waits[x] = False
        home = groups.label[x]
        near[0], count = home, 1
        weight[home] = 0.0
        for p in range(nodes.indptr[x], nodes.indptr[x + 1]):
            r = groups.label[nodes.indices[p]]
            if weight[r] == 0.0 and r != home:
                near[count] = r
                count += 1
            weight[r] += nodes.weights[p]
        is_alone = groups.sizes[home] - nodes.sizes[x] < 0.5
        _shift(nodes, groups, x, home, weight[home], -1.0, edges)
        best, least = home, _nats_with(nodes, groups, x, home, weight[home], count_nats, edges)
        for i in range(1, count):
            nats = _nats_with(nodes, groups, x, near[i], weight[near[i]], count_nats, edges)
            if nats < least - MIN_GAIN:
                best, least = near[i], nats
        if not is_alone and n_empty > 0:
            r = empty[n_empty - 1]
            nats = _nats_with(nodes, groups, x, r, 0.0, count_nats, edges)
            if nats < least - MIN_GAIN:
                best, least = r, nats
                n_empty -= 1
        _shift(nodes, groups, x, best, weight[best], 1.0, edges)
        for i in range(count):
            weight[near[i]] = 0.0
        if best == home:
            continue
        groups.label[x] = best
        if is_alone:
            empty[n_empty] = home
            n_empty += 1
        for p in range(nodes.indptr[x], nodes.indptr[x + 1]):
            y = nodes.indices[p]
            if not waits[y] and groups.label[y] != best:
                queue[(head + pending) % n] = y
                pending += 1
                waits[y] = True
