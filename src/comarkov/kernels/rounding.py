"""Tolerances: which differences count as ties, and which remainders as zero."""

from .compiling import step

ROUNDOFF = 2.0**-24  # of single precision
TIE = 1e-10  # a smaller difference in cost per unit of mass is a tie
RESIDUE = 2.0**-46  # a smaller relative remainder of a subtraction is zero


@step()
def left(v, w):
    """Return v - w, or exactly 0 if only a rounding error remains."""
    r = v - w
    return r if r > RESIDUE * v else v - v  # not r * 0, which can be -0.0
