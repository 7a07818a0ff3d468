"""The map of elements: what it preserves, and what it does not depend on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from comarkov import SIB, CoClustering, Results, datasets
from comarkov.results.pictures import element_map, map_of_side

masses = arrays(
    np.float64,
    st.tuples(st.integers(2, 8), st.integers(1, 5)),
    elements=st.integers(0, 9).map(float),
).filter(lambda table: table.sum() > 0)


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def test_two_axes_show_all_of_three_parts_in_hellinger_distance():
    """Square roots of profiles lie on a sphere; with two parts the plane holds all of it."""
    table = np.array([[9.0, 1], [5, 5], [1, 9], [2, 8]])
    roots = np.sqrt(table / table.sum(axis=1, keepdims=True))
    assert distances(element_map(table).points) == pytest.approx(distances(roots))


@given(masses, st.sampled_from([0.25, 3.0]), st.randoms())
def test_the_map_ignores_units_and_the_order_of_parts(table, unit, random):
    order = random.sample(range(table.shape[1]), table.shape[1])
    ours, theirs = element_map(table), element_map(unit * table[:, order])
    assert theirs.shares == pytest.approx(ours.shares, abs=1e-9)
    for axis in range(2):
        if ours.shares[axis] - np.append(ours.shares, 0)[axis + 1] > 0.05:  # else axes may turn
            spread = [np.abs(each.points[:, axis]) for each in (ours, theirs)]
            if axis == 0 or ours.shares[0] - ours.shares[1] > 0.05:
                assert spread[1] == pytest.approx(spread[0], abs=1e-6, nan_ok=True)


@given(masses)
def test_elements_without_mass_have_no_place_and_others_do(table):
    points = element_map(table).points
    assert (np.isnan(points).all(axis=1) == (table.sum(axis=1) == 0)).all()
    assert np.nanmax(np.abs(points)) <= np.sqrt(2)


def test_equal_profiles_share_a_place_and_make_a_flat_map():
    flat = element_map(np.array([[1.0, 2], [2, 4]]))
    assert flat.points == pytest.approx(np.zeros((2, 2)))
    assert not flat.shares.any()


@pytest.mark.parametrize("model", [CoClustering((2, 3), random_state=0), SIB(2, random_state=0)])
def test_both_sides_have_a_map_also_where_only_one_is_clustered(model):
    women = datasets.load("southern-women")
    results = Results.of(model.fit(women.matrix), women)
    for side in (results.findings.rows, results.findings.columns):
        assert np.isfinite(map_of_side(results, side).points).all()
