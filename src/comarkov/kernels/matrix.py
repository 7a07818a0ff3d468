"""Sparse matrices as the kernels take them: row sums, grouping and transposition."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .compiling import kernel, step
from .logarithm import xlogx

ROWS_AT_A_TIME = 8192


def xlogx_below(size: int) -> np.ndarray:
    """Return v ln v of the whole numbers below a size."""
    v = np.arange(1.0, size)
    return np.concatenate([[0.0], v * np.log(v)])


_XLOGX = xlogx_below(256)


class Matrix(NamedTuple):
    """Canonical CSR. In a row of counts the ones come first, then the twos, then the rest."""

    indptr: np.ndarray  # int64 (n + 1,)
    indices: np.ndarray  # unsigned (nnz,)
    weights: np.ndarray  # int32 for counts, else floating (nnz,)
    ones: np.ndarray  # int32 (n,): how many entries of weight 1; 0 unless counts
    twos: np.ndarray  # int32 (n,): how many of weight 2; 0 unless counts
    mass: np.ndarray  # float64 (n,): row sums
    spread: float  # bound on |ln v| + 1 over all weights and sums of weights


def rows_between(matrix: Matrix, start: int, stop: int) -> Matrix:
    """Return a range of rows, whose entries stay where they are."""
    return matrix._replace(
        indptr=matrix.indptr[start : stop + 1],
        ones=matrix.ones[start:stop],
        twos=matrix.twos[start:stop],
        mass=matrix.mass[start:stop],
    )


def row_parts(matrix: Matrix) -> Iterator[tuple[slice, Matrix]]:
    """Yield a few thousand rows at a time, to limit memory."""
    for start in range(0, matrix.mass.size, ROWS_AT_A_TIME):
        stop = min(start + ROWS_AT_A_TIME, matrix.mass.size)
        yield slice(start, stop), rows_between(matrix, start, stop)


def chosen_rows(matrix: Matrix, rows: np.ndarray) -> Matrix:
    """Return a copy of some rows."""
    counts = np.diff(matrix.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    places = np.repeat(matrix.indptr[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
    ones, twos, mass = (array[rows] for array in (matrix.ones, matrix.twos, matrix.mass))
    indices, weights = matrix.indices[places], matrix.weights[places]
    return Matrix(indptr, indices, weights, ones, twos, mass, matrix.spread)


@kernel()
def group_counts(indptr, indices, weights, matrix):
    """Copy indices and weights into a matrix: in each row the ones first, then the twos."""
    for x in range(matrix.ones.size):
        n_ones = n_twos = 0
        for p in range(indptr[x], indptr[x + 1]):
            n_ones += weights[p] == 1
            n_twos += weights[p] == 2
        one = indptr[x]
        two = one + n_ones
        other = two + n_twos
        matrix.ones[x] = n_ones
        matrix.twos[x] = n_twos
        for p in range(indptr[x], indptr[x + 1]):
            w = weights[p]
            q = one if w == 1 else (two if w == 2 else other)
            matrix.indices[np.uint64(q)] = indices[p]
            matrix.weights[np.uint64(q)] = w
            one += w == 1
            two += w == 2
            other += w > 2


def observations(matrix: Matrix) -> np.ndarray:
    """Return the effective number of observations of each row, (Σ w)² / Σ w²; 0 if empty."""
    counts = np.zeros(matrix.mass.size)
    effective_counts(matrix.indptr, matrix.weights, matrix.mass, counts)
    return counts


@kernel()
def effective_counts(indptr, weights, mass, out):
    """Write (Σ w)² / Σ w² of each nonempty row."""
    for x in range(out.size):
        squares = 0.0
        for p in range(indptr[x], indptr[x + 1]):
            squares += (weights[p] / mass[x]) ** 2
        if squares > 0.0:
            out[x] = 1.0 / squares


@kernel()
def add_columns(indices, weights, mass):
    """Add the weights to their columns."""
    for p in range(indices.size):
        mass[indices[p]] += weights[p]


@kernel()
def sum_xlogx(values):
    """Return Σ v ln v over nonnegative values, with 0 ln 0 = 0. Small integers are looked up."""
    total = 0.0
    for v in values:
        if v < 256 and v == np.int64(v):
            total += _XLOGX[np.int64(v)]
        else:
            total += xlogx(np.float64(v))
    return total


def table_bits(
    masses: np.ndarray, columns: np.ndarray | None = None, rows: np.ndarray | None = None
) -> float:
    """Return the mutual information in bits of a table of masses; its margins if they are known."""
    columns = masses.sum(axis=0) if columns is None else columns
    rows = masses.sum(axis=1) if rows is None else rows
    return table_bits_of(sum_xlogx(masses.ravel()), columns, rows)


def table_bits_of(cells: float, rows: np.ndarray, columns: np.ndarray) -> float:
    """Return the mutual information in bits of a table, from Σ v ln v over its cells v."""
    total = rows.sum()
    nats = cells - sum_xlogx(rows) - sum_xlogx(columns) + total * np.log(total)
    return max(float(nats / total / np.log(2)), 0.0)


@kernel()
def add_rows(indptr, weights, mass):
    """Write the row sums."""
    for x in range(mass.size):
        total = 0.0
        for p in range(indptr[x], indptr[x + 1]):
            total += weights[p]
        mass[x] = total


@step()
def _group(p, one, two):
    """Return 0 for ones, 1 for twos, 2 for other entries, given where they end."""
    return np.uint64(0 if p < one else 1 if p < two else 2)


@kernel()
def count_by_column(matrix, start, stop, counts):
    """Add how many ones, twos and other entries these rows have in each column, int64 (3, m)."""
    for x in range(start, stop):
        one = matrix.indptr[x] + matrix.ones[x]
        two = one + matrix.twos[x]
        for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
            counts[_group(p, one, two), matrix.indices[p]] += 1


@kernel()
def turn(matrix, start, stop, cursor, indices, weights):
    """Write these rows into the transpose; ``cursor`` has the places of their first entries."""
    for x in range(start, stop):
        one = matrix.indptr[x] + matrix.ones[x]
        two = one + matrix.twos[x]
        for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
            y, group = matrix.indices[p], _group(p, one, two)
            q = np.uint64(cursor[group, y])
            indices[q] = x
            weights[q] = matrix.weights[p]
            cursor[group, y] += 1


@kernel()
def add_affinities(matrix, x, root, out):
    """Write out[z] = Σ_y √(n_xy n_zy / (n_x n_z)) for nonempty rows z; root is scratch of zeros."""
    for p in range(matrix.indptr[x], matrix.indptr[x + 1]):
        root[matrix.indices[p]] = np.sqrt(matrix.weights[p] / matrix.mass[x])
    for z in range(out.size):
        total = 0.0
        for p in range(matrix.indptr[z], matrix.indptr[z + 1]):
            total += np.sqrt(np.float64(matrix.weights[p])) * root[matrix.indices[p]]
        if matrix.mass[z] > 0:
            out[z] = total / np.sqrt(matrix.mass[z])
