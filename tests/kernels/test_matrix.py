"""Sums over the rows of a matrix, against NumPy."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from comarkov.joint.joint import joint
from comarkov.kernels import matrix as module
from comarkov.kernels.matrix import observations, row_parts

W = np.array([[1.5, 2, 0], [0, 0, 0], [3, 3, 3], [0, 0.5, 0], [4, 0, 1]])


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
