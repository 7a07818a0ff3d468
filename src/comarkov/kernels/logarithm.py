"""A fast logarithm in single and in double precision, and changes of f(v) = v ln v.

Bits give the nearest power of two; what remains is a short series:

    v = 2^octaves (1 + z) / (1 - z),  |z| <= 0.2,  ln v = octaves ln 2 + 2 artanh z

Logarithms are accurate to 6 roundings. The code has no branches, so loops can be vectorised.
ln 0 is ln 2^-127 in single and ln 2^-1023 in double precision, which makes `enter` correct for an
empty cell. The logarithms of subnormal numbers lie between that and those of normal ones.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .compiling import FUSED, step

ROUNDOFF = 2.0**-24  # of single precision
TIE = 1e-10  # a smaller difference in cost per unit of mass is a tie
RESIDUE = 2.0**-46  # a smaller relative remainder of a subtraction is zero


@step()
def left(v, w):
    """Return v - w, or exactly 0 if only a rounding error remains."""
    r = v - w
    return r if r > RESIDUE * v else v - v  # not r * 0, which can be -0.0


f32 = np.float32


@step()
def xlogx(v):
    """f(v) = v ln v in full precision; 0 for v = 0."""
    return v * np.log(v) if v > 0.0 else 0.0


def _series_single(z):
    """2 artanh z, for |z| <= 0.2."""
    q = z * z
    return z * (f32(2.0) + q * (f32(0.66667001) + q * (f32(0.3995275) + q * f32(0.3046499))))


def _series_double(z):
    """2 artanh z, for |z| <= 0.2."""
    q = z * z
    series = 1.0 / 21.0 + q * (1.0 / 23.0)
    series = 1.0 / 17.0 + q * (1.0 / 19.0 + q * series)
    series = 1.0 / 13.0 + q * (1.0 / 15.0 + q * series)
    series = 1.0 / 9.0 + q * (1.0 / 11.0 + q * series)
    series = 1.0 / 5.0 + q * (1.0 / 7.0 + q * series)
    series = 1.0 + q * (1.0 / 3.0 + q * series)
    return 2.0 * z * series


class Logarithm(NamedTuple):
    """Steps of kernels in one precision."""

    of_zero: np.floating  # used as ln 0
    log: Callable  # log(v) = ln v
    ratio: Callable  # ratio(s, v, w) = ln(s / v) where s = v + w, also for small w / v
    enter: Callable  # enter(w, v, log_v) = f(v + w) - f(v), for w > 0
    leave: Callable  # leave(w, v, log_v) = f(v) - f(v - w), for w > 0


def _logarithm(real: type, integer: type, series: Callable, step: Callable) -> Logarithm:
    """The steps for numbers of type ``real``, whose bits are those of an ``integer``."""
    ln2, one, residue = real(np.log(2.0)), real(1.0), real(RESIDUE)
    fraction = np.finfo(real).nmant
    half = integer(1 << (fraction - 1))
    of_zero = real(1 - np.finfo(real).maxexp) * ln2
    series = step(series)

    @step
    def octaves_of(v, u):
        """log2(v / u) rounded to an integer (off by one in places)."""
        difference = integer(real(v).view(integer) - real(u).view(integer))
        return integer(integer(difference + half) >> fraction)

    @step
    def scaled(v, octaves):
        """v * 2**octaves, by adding to the exponent."""
        return integer(real(v).view(integer) + integer(octaves << fraction)).view(real)

    @step
    def log(v):
        octaves = octaves_of(v, one)
        u = scaled(v, integer(-octaves))
        return real(octaves) * ln2 + series((u - one) / (u + one))

    @step
    def ratio(s, v, w):  # ln s - of_zero for v = 0
        octaves = octaves_of(s, v)
        u = scaled(v, octaves)  # within a factor of 1.5 of s
        return real(octaves) * ln2 + series(((v - u) + w) / (s + u))

    @step
    def enter(w, v, log_v):  # = w ln v + (v + w) ln((v + w) / v)
        s = v + w
        return w * log_v + s * ratio(s, v, w)

    @step
    def leave(w, v, log_v):  # = w ln v + (v - w) ln(v / (v - w))
        r = v - w  # only rounding if it is not more than the residue
        return w * log_v + r * ratio(v, r, w) if r > residue * v else w * log_v

    return Logarithm(of_zero, log, ratio, enter, leave)


single = _logarithm(np.float32, np.int32, _series_single, step(fastmath=FUSED))
double = _logarithm(np.float64, np.int64, _series_double, step())
