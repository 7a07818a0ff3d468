"""Units and counts: weights are stored in a power of two that follows from them.

If all weights are multiplied by a power of two, so is the unit, and what is stored stays the same
to the last bit. Therefore no result can change. Dividing by a power of two rounds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

EXACT_FLOATS = 2.0**53  # smaller floats represent whole numbers exactly
INT32_MAX = np.iinfo(np.int32).max
COUNT_BITS = 20  # of the largest count: fewer than numbers of single precision have
WEIGHTS_AT_ONCE = 1 << 16  # that are examined at a time
SAFE_OCTAVES = 75  # weights and residues of them this far from 1 are normal in single precision
RANGE = 499  # octaves to both sides of 1 in which ratios and products of two weights are numbers
LEAST_OCTAVE = -1074  # of the smallest number above 0
FAINTEST = 2.0**-500  # smaller weights are raised to it: no cost can tell beside the largest


def are_whole(weights: np.ndarray) -> bool:
    """Are all weights whole numbers, so that they can be counts?"""
    if weights.dtype.kind != "f":
        return True
    flat = weights.ravel()
    parts = (flat[i : i + WEIGHTS_AT_ONCE] for i in range(0, flat.size, WEIGHTS_AT_ONCE))
    return all(
        bool(((part == np.floor(part)) & (np.abs(part) <= EXACT_FLOATS)).all()) for part in parts
    )


class Extent(NamedTuple):
    """How many weights there are, all of them above 0, and how large they are."""

    size: int = 0
    least: float = np.inf
    most: float = 0.0
    divisor: float = np.inf  #: the largest power of two that divides all; 0 if no counts have it

    @classmethod
    def of(cls, weights: np.ndarray) -> Extent:
        """The extent of an array."""
        if weights.size == 0:
            return cls()
        least, most = float(weights.min()), float(weights.max())
        return cls(weights.size, least, most, _divisor(weights, most))

    def union(self, other: Extent) -> Extent:
        """The extent of the weights of both."""
        most, divisor = max(self.most, other.most), min(self.divisor, other.divisor)
        are_too_large = most >= 2.0**COUNT_BITS * divisor
        return Extent(
            self.size + other.size,
            min(self.least, other.least),
            most,
            0.0 if are_too_large else divisor,
        )

    def are_counts(self, *largest_sums: Callable[[], float]) -> bool:
        """Are the weights counts of some unit, and one of these sums small enough for integers?"""
        most = INT32_MAX * self.divisor
        return self.divisor > 0 and any(bool(largest() <= most) for largest in largest_sums)

    @property
    def unit(self) -> float:
        """The unit of weights that are no counts: the power of two at or below the largest.

        Weights that are too unequal for single precision have the middle of their range as unit.
        """
        low, high = _octave(self.least), _octave(self.most)
        if max(high - low, self.size.bit_length()) > SAFE_OCTAVES:
            high = max((low + high) // 2, high - RANGE)
        return float(np.ldexp(1.0, high))

    def fits_single(self, unit: float) -> bool:
        """Are the weights in a unit, and all sums of them, numbers of single precision?"""
        low, high = _octave(self.least) - _octave(unit), _octave(self.most) - _octave(unit)
        return max(-low, high + self.size.bit_length()) <= SAFE_OCTAVES


def _octave(weight: float) -> int:
    return int(np.frexp(weight)[1]) - 1  # of the power of two at or below it


def _divisor(weights: np.ndarray, most: float) -> float:
    """Return the largest power of two that divides all weights; 0 if they are too large for counts.

    Otherwise any numbers of single precision would be counts of a tiny unit.
    """
    finest = max(_octave(most) + 1 - COUNT_BITS, LEAST_OCTAVE)
    bits = 0
    for i in range(0, weights.size, WEIGHTS_AT_ONCE):
        with np.errstate(under="ignore"):
            quotients = np.ldexp(weights[i : i + WEIGHTS_AT_ONCE].astype(np.float64), -finest)
        whole = quotients.astype(np.int64)
        if (whole != quotients).any() or not whole.all():
            return 0.0
        bits |= int(np.bitwise_or.reduce(whole))
    return float(np.ldexp(bits & -bits, finest))


def counts_of(csr: sp.csr_array) -> np.ndarray | None:
    """Return weights in their unit as whole numbers; None if they are no counts of any."""
    divisor = count_unit(csr, Extent.of(csr.data))
    return None if divisor == 0 else csr.data / divisor


def count_unit(csr: sp.csr_array, extent: Extent) -> float:
    """Return the unit of which weights are counts; 0 if they are no counts of any."""

    def largest() -> float:
        return float(max(csr.sum(axis=axis, dtype=np.float64).max() for axis in (0, 1)))

    are_counts = extent.are_counts(lambda: float(csr.data.sum(dtype=np.float64)), largest)
    return extent.divisor if are_counts else 0.0


def scaled(weights: np.ndarray, unit: float, least: float | None = FAINTEST) -> np.ndarray:
    """Weights in a unit, none below ``least``; without it, relative to the largest."""
    if unit == 1.0 or weights.size == 0:
        return weights
    with np.errstate(over="ignore", under="ignore"):
        quotients = np.ldexp(weights, -_octave(unit))
        faintest = quotients.max() * FAINTEST**2 if least is None else least
        quotients = np.maximum(quotients, weights.dtype.type(faintest))
    if quotients.min() == 0 or np.isinf(quotients.max()):
        raise ValueError(
            f"The weights differ too much for one table, from {weights.min():g} to "
            f"{weights.max():g}. Set the smallest to 0, or multiply new data by the factor between "
            "their unit and that of the fit."
        )
    return quotients


def spread_of(weights: np.ndarray, total: float) -> float:
    """A bound on |ln v| + 1 for sums v of weights; infinite beyond single precision."""
    if weights.size == 0 or total == 0:
        return 1.0
    octaves = max(abs(np.log2(weights.min())), abs(np.log2(total)))
    return float(octaves * np.log(2) + 1) if octaves <= SAFE_OCTAVES else np.inf


# --- counts shared out to two parts, as if less had been observed, twice ------------------------


def halves(csr: sp.csr_array, rng: np.random.Generator) -> tuple[sp.csr_array, sp.csr_array]:
    """Each count is shared out by fair coins, so that the halves sum to it.

    Weights that are not counts are first made counts w Σw / Σw², whose sum is the effective number
    of observations (Σw)² / Σw², and rounded up or down at random, so that the mean is kept.
    """
    unit = count_unit(csr, Extent.of(csr.data))
    if unit == 0:
        share = csr.data / csr.data.max()
        means = np.asarray(share * (share.sum() / (share**2).sum()), np.float64)
        return shared_out(csr, np.floor(means + rng.random(share.size)), 0.5, rng)
    first, second = shared_out(csr, csr.data / unit, 0.5, rng)
    return (first, second) if unit == 1 else (first * unit, second * unit)


def shared_out(
    csr: sp.csr_array, counts: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[sp.csr_array, sp.csr_array]:
    """Binomial thinning, by this share: if counts are Poisson, the two parts are independent."""
    counts = counts.astype(np.int64)
    first = rng.binomial(counts, share)
    parts = []
    for data in (first, counts - first):
        part = sp.csr_array((data, csr.indices, csr.indptr), csr.shape, copy=True)
        part.eliminate_zeros()
        parts.append(part)
    return parts[0], parts[1]
