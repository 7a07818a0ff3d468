"""The growth of Σ f(masses) when two clusters are merged; f(v) = v ln v."""

import numpy as np

from .compiling import kernel
from .logarithm import xlogx


def add_pair_terms(out, mass, factor):
    """out[i, j] += factor Σ_y [f(A_yi + A_yj) - f(A_yi) - f(A_yj)] for i < j, of float64 masses."""
    k = mass.shape[1]
    _add_pair_terms(out, mass, factor, np.empty(k, np.int64), np.empty(k))


@kernel()
def _add_pair_terms(out, mass, factor, present, term):
    """The same with scratch memory; allocating it here would take longer to compile."""
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
def add_terms_with(out, mass, i, factor):
    """out[j] += factor Σ_y [f(A_yi + A_yj) - f(A_yi) - f(A_yj)] for j other than i."""
    n, k = mass.shape
    for y in range(n):
        one = mass[y, i]
        if one > 0.0:
            term = xlogx(one)
            for j in range(k):
                other = mass[y, j]
                if other > 0.0 and j != i:
                    out[j] += factor * (xlogx(one + other) - term - xlogx(other))


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
