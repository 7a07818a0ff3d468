"""Splitting one cluster in two."""

import numpy as np

from .compiling import kernel, step
from .logarithm import xlogx
from .sweep import sweep
from .tables import derive, derive_items


def halve(order, matrix, halves, table, blocks, cross, coupling, workspace):
    """Put the rows in `order` into two halves, each where it costs less, then sweep once.

    The first two rows start one half each. On entry `halves`, `table` and `blocks` are those of no
    rows; all three are written. Returns what the split gains, in nats times total mass.
    """
    derive(blocks)
    derive_items(table, order, matrix.indptr, matrix.indices)
    twice = np.concatenate([order, order])  # the first visit inserts a row, the second moves it
    sweep(twice, matrix, halves, table, blocks, cross, coupling, workspace)
    return _gain(order, matrix, table.mass, blocks.mass, coupling)


@kernel()
def _gain(rows, matrix, mass, blocks, coupling):
    """Return the cost of merging the halves again. Empties the table, to count each item once.

    g(N_0, N_1) - λ Σ_y g(A_y0, A_y1) - (1-λ) Σ_b g(M_b0, M_b1);  g(u, v) = f(u+v) - f(u) - f(v)
    """
    last = blocks.shape[0] - 1
    gain = _joining(blocks[last, 0], blocks[last, 1])
    for b in range(last):
        gain -= (1.0 - coupling) * _joining(blocks[b, 0], blocks[b, 1])
    for x in rows:
        for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
            y = matrix.indices[p]
            gain -= coupling * _joining(mass[y, 0], mass[y, 1])
            mass[y, 0] = mass[y, 1] = 0
    return gain


@step()
def _joining(u, v):
    """g(u, v); 0 if either is 0."""
    if u == 0 or v == 0:
        return 0.0
    u, v = np.float64(u), np.float64(v)
    return xlogx(u + v) - xlogx(u) - xlogx(v)
