"""Sums over the rows of a matrix, and sorted entries, against NumPy."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from comarkov.joint.joint import joint
from comarkov.kernels import matrix as module
from comarkov.kernels.matrix import (
    add_equal,
    count_keys,
    observations,
    partition,
    row_parts,
    sort_by,
)

W = np.array([[1.5, 2, 0], [0, 0, 0], [3, 3, 3], [0, 0.5, 0], [4, 0, 1]])
RNG = np.random.default_rng(0)
KEYS = RNG.integers(0, 6, 40).astype(np.int32)
OTHERS = RNG.integers(0, 4, 40).astype(np.int32)
WEIGHTS = RNG.integers(1, 9, 40).astype(np.float64)


def test_observations_are_effective_counts():
    with np.errstate(invalid="ignore"):
        expected = W.sum(axis=1) ** 2 / (W**2).sum(axis=1)
    assert_allclose(observations(joint(W).matrix), np.nan_to_num(expected))


def test_parts_of_rows_are_all_rows(monkeypatch):
    monkeypatch.setattr(module, "ROWS_AT_A_TIME", 2)
    data, masses = joint(W), []
    whole = data.matrix
    for rows, part in row_parts(whole):
        assert part.indptr.size == part.mass.size + 1
        assert_array_equal(part.mass, whole.mass[rows])
        for i in range(part.mass.size):
            masses.append(whole.weights[part.indptr[i] : part.indptr[i + 1]].sum())
    assert_allclose(np.array(masses) * data.scale, W.sum(axis=1))


def test_keys_are_counted_and_their_weights_summed():
    counts, sums = np.ones(6, np.int64), np.ones(6)
    count_keys(KEYS, WEIGHTS, counts, sums)
    assert_array_equal(counts, 1 + np.bincount(KEYS, minlength=6))
    assert_array_equal(sums, 1 + np.bincount(KEYS, WEIGHTS, 6))


def test_entries_go_into_buckets_in_their_order():
    bucket_of = np.array([2, 0, 1, 1, 2, 0])
    sizes = np.full(3, 9)
    out = tuple(np.empty_like(array) for array in (KEYS, OTHERS, WEIGHTS))
    partition(bucket_of, (KEYS, OTHERS, WEIGHTS), sizes, out)
    order = np.argsort(bucket_of[KEYS], kind="stable")
    assert_array_equal(sizes, np.bincount(bucket_of[KEYS]))
    for got, given in zip(out, (KEYS, OTHERS, WEIGHTS), strict=True):
        assert_array_equal(got, given[order])


def test_entries_are_sorted_by_keys_that_begin_anywhere():
    indptr = np.full(7, 9)
    out = np.empty_like(OTHERS), np.empty_like(WEIGHTS)
    sort_by(KEYS + np.int32(5), (OTHERS, WEIGHTS), 5, indptr, out)
    order = np.argsort(KEYS, kind="stable")
    assert_array_equal(out[0], OTHERS[order])
    assert_array_equal(out[1], WEIGHTS[order])
    assert_array_equal(indptr, np.append(0, np.cumsum(np.bincount(KEYS, minlength=6))))


def test_equal_neighbours_are_added_and_zeros_left_out():
    indptr = np.array([0, 4, 4, 7, 9])
    indices = np.array([1, 1, 1, 3, 0, 2, 2, 3, 3], np.int32)
    weights = np.array([1.0, 2.0, 4.0, 8.0, 1.0, 5.0, -5.0, 3.0, 3.0])
    add_equal(indptr, indices, weights)
    assert_array_equal(indptr, [0, 2, 2, 3, 4])
    assert_array_equal(indices[:4], [1, 3, 0, 3])
    assert_array_equal(weights[:4], [7.0, 8.0, 1.0, 6.0])
