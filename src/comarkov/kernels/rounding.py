"""What counts as equal and what as nothing, in arithmetic that rounds."""

from .compiling import step

ROUNDOFF = 2.0**-24  # of single precision
TIE = 1e-10  # a difference in cost per unit of mass that counts as none
RESIDUE = 2.0**-46  # a relative remainder of a float subtraction that counts as nothing left


@step()
def left(v, w):
    """v - w, and exactly nothing where only rounding is left."""
    r = v - w
    return r if r > RESIDUE * v else v - v  # not r * 0, which can be -0.0
