"""Parts of batch updates, against NumPy."""

import numpy as np
import pytest
from helpers import callable_from_python
from numpy.testing import assert_allclose

from comarkov.kernels import batch

subtract_all = callable_from_python(batch._subtract_all)
least = callable_from_python(batch._least)


@pytest.mark.parametrize("clusters", range(1, 10))  # of the other side; four are added at a time
def test_all_products_are_subtracted(clusters):
    rng = np.random.default_rng(clusters)
    logs, weights, cost = rng.random((clusters, 3)), rng.random(clusters), rng.random(3)
    expected = cost - weights @ logs
    subtract_all(cost, weights, logs)
    assert_allclose(cost, expected)


def test_of_equal_costs_the_first_is_taken():
    assert least(np.array([3.0, 1.0, 2.0, 1.0])) == 1
    assert least(np.array([2.0])) == 0
