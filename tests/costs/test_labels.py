"""Comparing and renumbering labels; -1 is no cluster."""

import numpy as np
import pytest
from helpers import refused
from numpy.testing import assert_array_equal

from comarkov.costs.labels import as_labels, matched, overlaps, ranks, renumbered

LABELS = np.array([0, 0, 1, 1, 2, -1, 0])
OTHERS = np.array([1, 1, 0, 0, -1, 2, 0])


def test_labels_become_positions_in_an_order_and_none_stays_none():
    assert_array_equal(renumbered(LABELS, np.array([2, 0, 1])), [1, 1, 2, 2, 0, -1, 1])
    assert renumbered(LABELS, None) is LABELS
    assert_array_equal(ranks(np.array([2, 0, 1])), [1, 2, 0])


def test_overlaps_count_the_elements_that_both_have():
    assert_array_equal(overlaps(LABELS, OTHERS), [[1, 2, 0], [2, 0, 0], [0, 0, 0]])
    nothing = np.array([-1, -1])
    assert overlaps(nothing, nothing).shape == (0, 0)


def test_clusters_beyond_those_of_the_first_get_new_numbers():
    many = np.array([3, 3, 2, 1, 0])
    assert_array_equal(matched(many, np.array([0, 0, 1, 1, 1]))[:2], [0, 0])
    assert sorted(set(matched(many, np.array([0, 0, 1, 1, 1])))) == [0, 1, 2, 3]


def test_labels_may_be_whole_numbers_of_any_type():
    for values in ([0, 1, -1], [0.0, 1.0, -1.0], np.array([0, 1, -1], np.int8)):
        labels = as_labels(values, 3, "labels")
        assert_array_equal(labels, [0, 1, -1])
        assert labels.dtype == np.int64


@pytest.mark.parametrize(
    "values", [[0.0, 0.5, 1.0], [0.0, np.nan, 1.0], ["0", "1", "2"], [0, -2, 1], [0, 1]]
)
def test_what_labels_cannot_be(values):
    with refused("labels"):
        as_labels(values, 3, "labels")
