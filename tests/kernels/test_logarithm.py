"""The fast logarithm against NumPy's, in both precisions."""

import re

import numpy as np
import pytest
from helpers import callable_from_python, enter
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from comarkov.kernels.logarithm import double, single


class Precision:
    """The steps of one precision, its type, and the unit of its rounding."""

    def __init__(self, logarithm, real):
        self.log = callable_from_python(logarithm.log)
        self.ratio = callable_from_python(logarithm.ratio)
        self.enter = callable_from_python(logarithm.enter)
        self.leave = callable_from_python(logarithm.leave)
        self.of_zero = logarithm.of_zero
        self.real = real
        self.roundoff = np.finfo(real).eps / 2

    def rounded(self, v):
        """A number of this precision, and the same with more digits."""
        return self.real(v), np.longdouble(self.real(v))


PRECISIONS = {"single": Precision(single, np.float32), "double": Precision(double, np.float64)}
both = pytest.mark.parametrize("precision", PRECISIONS.values(), ids=PRECISIONS)

fractions = st.floats(1.0, 2.0, exclude_max=True)
safe = st.builds(np.ldexp, fractions, st.integers(-75, 60))  # what sweeps take, with room for sums


@both
@given(fractions, st.floats(0.0, 1.0))
@example(1.0, 0.0)
@example(1.5, 0.5)
def test_logarithm(precision, fraction, where):
    """Within 6 roundings of itself, near 1, too."""
    limits = np.finfo(precision.real)
    octave = round(limits.minexp + where * (limits.maxexp - 1 - limits.minexp))
    for v in (np.ldexp(fraction, octave), 1 + np.ldexp(fraction, -abs(octave) - 2), fraction):
        v, exactly = precision.rounded(min(v, limits.max))
        expected = np.log(exactly)
        assert abs(precision.log(v) - expected) <= 6 * precision.roundoff * abs(expected)


@both
def test_logarithm_of_numbers_that_are_not_normal(precision):
    limits = np.finfo(precision.real)
    assert precision.log(precision.real(0)) == precision.of_zero
    assert precision.of_zero == pytest.approx(
        (limits.minexp - 1) * np.log(2), rel=4 * float(limits.eps)
    )
    subnormal = limits.smallest_subnormal * 2.0 ** np.arange(limits.nmant)
    logs = [precision.log(precision.real(v)) for v in subnormal]
    assert precision.of_zero <= min(logs)
    assert max(logs) < np.log(limits.tiny)
    assert logs == sorted(logs)


@both
@given(safe, safe)
@example(1.0, 2.0**-40)
@example(2.0**-75, 2.0**60)
def test_logarithm_of_a_ratio(precision, v, w):
    """To a few roundings of itself, however small w is beside v."""
    v, w = precision.real(v), precision.real(w)
    s = v + w
    expected = np.log1p(np.longdouble(w) / np.longdouble(v))
    lost = abs(np.longdouble(s) - v - w) / s  # by the sum, which callers round
    bound = 6 * precision.roundoff * abs(expected) + lost
    assert abs(precision.ratio(s, v, w) - expected) <= bound
    from_zero = precision.ratio(w, precision.real(0), w)
    bound = 4 * precision.roundoff * abs(precision.of_zero)
    assert abs(from_zero - (np.log(np.longdouble(w)) - precision.of_zero)) <= bound


@both
@given(safe, st.one_of(safe, st.just(0.0)))
def test_changes_of_v_ln_v(precision, w, v):
    """Within the bound that sweeps rely on: 280 in single precision are for empty cells."""
    (w, exact_w), (v, exact_v) = precision.rounded(w), precision.rounded(v)
    spread = 1 + max(abs(np.log(value)) for value in (exact_w, exact_v + exact_w))
    bound = precision.roundoff * (3.2 * abs(precision.of_zero) + 12 * spread) * w
    log = precision.of_zero if v == 0 else precision.real(np.log(exact_v))
    assert abs(precision.enter(w, v, log) - enter(exact_w, exact_v)) <= bound
    total, exact_total = precision.rounded(exact_v + exact_w)
    left = np.maximum(exact_total - exact_w, 0)
    log = precision.real(np.log(exact_total))
    assert abs(precision.leave(w, total, log) - enter(exact_w, left)) <= bound


@both
def test_loops_become_vectors(precision):
    """Without a branch or a call: at least two numbers are divided at once."""
    step = {np.float32: single, np.float64: double}[precision.real].enter

    @njit(error_model="numpy")
    def add_all(out, w, v, log):
        for a in range(out.size):
            out[a] += step(w, v[a], log[a])

    arrays = [np.ones(64, precision.real) for _ in range(3)]
    add_all(arrays[0], precision.real(2), *arrays[1:])
    (code,) = add_all.inspect_llvm().values()
    assert re.search(r"fdiv (contract )?<\d+ x (float|double)>", code)
