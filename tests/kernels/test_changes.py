"""Changes of tables are taken back, added and measured as in plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from comarkov.joint.joint import joint
from comarkov.kernels.tables import (
    add_cells,
    count_labels,
    entropy_change,
    mark_items,
    take_back,
)

RNG = np.random.default_rng(0)
ITEMS = np.array([0, 2, 5])


def tables():
    """Masses of 6 items in 3 clusters, and a copy in which some items differ."""
    mass = RNG.integers(1, 9, (6, 3)).astype(np.float64)
    copy = mass.copy()
    copy[ITEMS] += RNG.integers(0, 5, (3, 3))
    return mass, copy


def test_items_of_rows_that_moved_are_marked():
    matrix = joint(np.array([[1.5, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])).matrix
    marks = np.zeros(4, bool)
    mark_items(matrix, np.array([0, 1, 1], np.int32), np.array([1, 1, 0], np.int32), marks)
    assert_array_equal(marks, [True, False, True, True])


def test_rows_are_counted_by_part_and_cluster():
    counts = np.ones((3, 2), np.int64)
    count_labels(np.array([0, 1, 1, -1, 0], np.int32), np.array([0, 3, 3, 5]), counts)
    assert_array_equal(counts, [[1, 2], [0, 0], [1, 0]])


def test_what_a_copy_differs_by_is_taken_back():
    mass, copy = tables()
    difference = copy - mass
    for places, expected in ((np.arange(3), difference[ITEMS]), (ITEMS, difference)):
        differs, cells = copy.copy(), np.ones(expected.shape)
        take_back(differs, mass, ITEMS, cells, places)
        assert_array_equal(cells, 1 + expected)
        assert_array_equal(differs, mass)


def test_changes_are_added_and_residues_are_zero():
    mass, copy = tables()
    cells = copy[ITEMS] - mass[ITEMS]
    cells[0, 0] = 1e-16 - mass[0, 0]
    before, expected = mass.copy(), mass.copy()
    expected[ITEMS] += cells
    expected[0, 0] = 0.0
    change = entropy_change(before, ITEMS, cells)
    add_cells(mass, ITEMS, cells)
    assert_array_equal(mass, expected)

    def total(table):
        return (table * np.log(np.where(table > 0, table, 1.0))).sum()

    assert change == pytest.approx(total(expected) - total(before), abs=1e-10)
