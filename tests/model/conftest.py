"""Data and fits that tests of models share."""

import pytest
from helpers import blocks_with_gaps

from comarkov import CoClustering, datasets


@pytest.fixture(scope="module")
def counts():
    return blocks_with_gaps(40, 30)


@pytest.fixture(scope="module")
def fitted(counts):
    return CoClustering((4, 3), random_state=0).fit(counts)


@pytest.fixture(scope="module")
def women():
    return datasets.load("southern-women").matrix


@pytest.fixture(scope="module")
def model(women):
    return CoClustering((2, 3), random_state=0).fit(women)
