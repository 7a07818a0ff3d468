"""Units of weights against their definition, in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from comarkov.joint import scale
from comarkov.joint.scale import Extent, count_unit, counts_of, scaled

POSITIVE = st.floats(min_value=5e-324, max_value=1e300)
COUNTS = arrays(np.int64, st.integers(1, 30), elements=st.integers(1, 2**19))


def divisor_of(weights):
    """The largest power of two that divides all weights; 0 if one is 2^20 times as large."""
    unit = Fraction(float(weights.max()))
    unit = Fraction(2) ** (unit.numerator.bit_length() - unit.denominator.bit_length() + 1)
    while any((Fraction(float(w)) / unit).denominator > 1 for w in weights):
        unit /= 2
    return float(unit) if Fraction(float(weights.max())) / unit < 2**20 else 0.0


@given(arrays(np.float64, st.integers(1, 5), elements=POSITIVE))
def test_the_divisor_of_any_weights(weights):
    assert Extent.of(weights).divisor == divisor_of(weights)


@given(COUNTS, COUNTS, st.integers(-30, 30))
def test_the_extent_of_two_parts_is_that_of_the_whole(one, other, power):
    parts = one.astype(float), np.ldexp(other.astype(float), power)
    joined = Extent.of(parts[0]).union(Extent.of(parts[1]))
    assert joined == Extent.of(np.hstack(parts))


def test_weights_are_examined_to_the_end(monkeypatch):
    monkeypatch.setattr(scale, "WEIGHTS_AT_ONCE", 3)
    assert Extent.of(np.array([2, 4, 6, 8, 10, 12, 3.0])).divisor == 1
    assert Extent.of(np.array([2, 4, 6, 8, 10, 12, 0.1])).divisor == 0
    assert Extent.of(np.array([2, 4, 6, 8, 10, 12, 1e-300])).divisor == 0


def test_nothing_has_no_extent():
    nothing, some = Extent.of(np.array([])), Extent.of(np.array([2.0, 6.0]))
    assert nothing == Extent()
    assert nothing.union(some) == some == (2, 2.0, 6.0, 2.0)


@pytest.mark.parametrize(
    ("weights", "unit"),
    [
        ([0.3, 0.7], 0.5),
        ([0.3, 1.0], 1.0),
        ([0.3, 1.99], 1.0),
        ([0.3, 2.0], 2.0),
        ([2.0**-75, 1.0], 1.0),
        ([2.0**-76, 1.0], 2.0**-38),
        ([2.0**-998, 1.0], 2.0**-499),
        ([2.0**-1020, 1.0], 2.0**-499),
    ],
)
def test_the_unit_of_other_weights(weights, unit):
    assert Extent.of(np.array(weights)).unit == unit


@pytest.mark.parametrize(
    ("weights", "fits"),
    [
        ([2.0**-75, 1.0], True),
        ([2.0**-76, 1.0], False),
        ([1.0, 2.0**73], True),  # their sums may be four times as large
        ([1.0, 2.0**74], False),
    ],
)
def test_what_fits_into_single_precision(weights, fits):
    assert Extent.of(np.array(weights)).fits_single(1.0) == fits
    assert Extent.of(np.array(weights) * 8).fits_single(8.0) == fits


def test_counts_are_those_whose_sums_are_small_in_one_way():
    large = sp.csr_array(np.diag(np.full(2**12, 2.0**20 - 1)))  # their total is too large
    assert count_unit(large, Extent.of(large.data)) == 1
    rows = sp.csr_array(np.full((1, 2**12), 2.0**20 - 1))
    for each in (rows, rows.T.tocsr()):
        assert count_unit(each, Extent.of(each.data)) == 0
        assert counts_of(each) is None


@given(COUNTS, st.integers(-1050, 900))
def test_counts_are_the_same_in_any_unit(counts, power):
    one, other = (sp.csr_array(row[None]) for row in (counts, np.ldexp(counts * 1.0, power)))
    assert (counts_of(one) == counts_of(other)).all()


def test_the_smallest_weights_are_raised():
    weights = np.array([1e-300, 1.0, 8.0])
    assert scaled(weights, 2.0).tolist() == [scale.FAINTEST, 0.5, 4.0]
    assert scaled(weights, 1.0) is weights
    assert scaled(np.float32([3, 5]), 0.5).dtype == np.float32
