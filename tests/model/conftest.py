"""Data and a fit that tests of trees and leaves share."""

import numpy as np
import pytest

from comarkov import CoClustering


@pytest.fixture(scope="module")
def counts():
    """Counts in 4 x 3 blocks, a row and a column without mass."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(4, size=40), rng.integers(3, size=30)
    X = rng.poisson(rng.gamma(0.5, 2.0, size=(4, 3))[rows][:, columns])
    X[7] = 0
    X[:, 11] = 0
    return X


@pytest.fixture(scope="module")
def fitted(counts):
    return CoClustering((4, 3), random_state=0).fit(counts)
