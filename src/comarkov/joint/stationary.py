"""Where a Markov chain stays: its stationary distribution, by linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.lib.stride_tricks import as_strided
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackError, eigs

from .._compat import threadpool_controller

MIN_STATE_MASS = 2.0**-900  # the least mass of a state: one that underflows would not be a mass
MIN_STEP = 2.0**-500  # the least probability of a step, so that products of two do not underflow
FEW_STATES = 200  # that are eliminated one by one
ELIMINATED_SHARE = 0.25  # of the states must be eliminated at once for that to pay
BLOCK_STATES = 64  # that are eliminated before the rest of the chain is updated
QUICK_OPERATIONS, MAX_OPERATIONS = (
    2e10,
    2e12,
)  # operations of an elimination: a second or two; a minute or so
MAX_BAND_NUMBERS = 1.5e8  # numbers in memory that it may take
QUICK_RESTARTS, MAX_RESTARTS = (
    15,
    300,
)  # restarts of the eigensolver: for chains that mix fast, and for the others
LINK_LEVELS = (1e-3, 1e-6, 1e-9, 1e-12)  # probabilities so small that they hardly link states


def stationary_distribution(P: sp.csr_array) -> np.ndarray:
    """μ = μP of an irreducible chain, periodic or not, by linear algebra and not by waiting.

    States are taken out of the chain without any subtraction, so that no digit is lost (GTH).
    Only where that would fill up is μ an eigenvector. Masses are ``MIN_STATE_MASS`` at the least.
    """
    return _masses(_log_masses(P))


def _masses(logs: np.ndarray) -> np.ndarray:
    mu = np.maximum(np.exp2(logs - logs.max()), MIN_STATE_MASS)
    return mu / mu.sum()


def _log_masses(P: sp.csr_array, levels: tuple[float, ...] = LINK_LEVELS) -> np.ndarray:
    """log2 of the masses, but for a constant: they may differ by more than numbers can."""
    if P.shape[0] == 1:
        return np.zeros(1)
    jumps, rate = _without_loops(P)
    return _of_jumps(jumps, levels) - np.log2(rate)


def _without_loops(P: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """The chain of moves to another state, and how likely each state is left.

    States that are rarely left keep their digits so.
    """
    entries = P.tocoo()
    before, after = entries.coords
    moves = before != after
    before, after, data = before[moves], after[moves], entries.data[moves]
    rate = np.bincount(before, weights=data, minlength=P.shape[0])
    data = np.maximum(data / rate[before], MIN_STEP)
    return sp.csr_array((data, (before, after)), P.shape), rate


def _of_jumps(P: sp.csr_array, levels: tuple[float, ...]) -> np.ndarray:
    """Log masses of a chain without loops: by elimination, or iterated if that takes too long."""
    n = P.shape[0]
    apart = _far_apart(P) if n > FEW_STATES else np.zeros(n, bool)
    if apart.mean() >= ELIMINATED_SHARE:
        return _without(P, apart, levels)
    band = _band(P)
    logs = (
        _eliminated(band) if band.work <= QUICK_OPERATIONS else _iterated(P, QUICK_RESTARTS, levels)
    )
    if logs is None:
        logs = (
            _eliminated(band) if band.work <= MAX_OPERATIONS else _iterated(P, MAX_RESTARTS, levels)
        )
    if logs is None:
        raise ValueError(
            f"The stationary distribution of these {n} states could not be found: they mix too "
            "slowly to iterate and are too many to be solved for."
        )
    return logs


# --- states that are far apart are taken out together -------------------------------------------


def _far_apart(P: sp.csr_array) -> np.ndarray:
    """Which states have fewer neighbours than all of these; these are not neighbours themselves."""
    n = P.shape[0]
    links = sp.csr_array(P + P.T)
    filled = np.diff(P.indptr) * np.bincount(P.indices, minlength=n)  # if it is taken out
    ties = np.arange(n) * 0.6180339887498949 % 1  # in no order
    price = filled + ties
    least: np.ndarray = np.minimum.reduceat(price[links.indices], links.indptr[:-1])
    return price < least


def _without(P: sp.csr_array, apart: np.ndarray, levels: tuple[float, ...]) -> np.ndarray:
    """Log masses by those of the chain that is seen in the other states only."""
    rest, apart = np.flatnonzero(~apart), np.flatnonzero(apart)
    there = P[rest][:, apart]
    logs = np.empty(P.shape[0])
    logs[rest] = _log_masses(sp.csr_array(P[rest][:, rest] + there @ P[apart][:, rest]), levels)
    columns = sp.csc_array(there)
    starts, sizes = columns.indptr[:-1], np.diff(columns.indptr)
    sources = logs[rest][columns.indices]
    top = np.maximum.reduceat(sources, starts)
    inflow = np.add.reduceat(np.exp2(sources - np.repeat(top, sizes)) * columns.data, starts)
    logs[apart] = top + np.log2(inflow)
    return logs


# --- state after state is taken out, within a band ----------------------------------------------


class Band(NamedTuple):
    """A chain whose states are in an order that lets them go to near ones only."""

    P: sp.csr_array
    order: np.ndarray
    width: int  # how far they go
    block: int
    reach: int  # of a block and all states that it is linked to

    @property
    def is_narrow(self) -> bool:
        """Does it take less memory than the whole matrix?"""
        return 2 * self.reach < self.order.size

    @property
    def work(self) -> float:
        """Operations of its elimination; infinite if there is no room for it."""
        n = self.order.size
        if n * min(2 * self.reach, n) > MAX_BAND_NUMBERS:
            return np.inf
        return 2.0 * n * self.width**2


def _band(P: sp.csr_array) -> Band:
    order = reverse_cuthill_mckee(sp.csr_array(P + P.T), symmetric_mode=True)
    place = np.argsort(order)
    before, after = P.nonzero()
    width = int(abs(place[before] - place[after]).max())
    block = min(BLOCK_STATES, width + 1)
    return Band(P, order, width, block, width + block)


def _windows(band: Band) -> Callable[[int, int], np.ndarray]:
    """A function that gives the square between two states, as a view of the band in memory."""
    n = band.order.size
    row, first = (2 * band.reach, band.reach) if band.is_narrow else (n, 0)
    memory = np.zeros(first + n * (row + 1))
    place = np.argsort(band.order)
    entries = band.P.tocoo()
    before, after = (place[states] for states in entries.coords)
    memory[first + before * row + after] = entries.data
    size = memory.itemsize

    def window(low: int, high: int) -> np.ndarray:
        start = memory[first + low * (row + 1) :]
        return as_strided(start, (high - low, high - low), (row * size, size))

    return window


def _eliminated(band: Band) -> np.ndarray:
    """Log masses. Blocks of states are taken out of the chain from the last to the first.

    Each step from state to state by way of one that is taken out becomes a direct one.
    """
    n, width, block = band.order.size, band.width, band.block
    window = _windows(band)
    blocks = [(max(high - block, 1), high) for high in range(n, 1, -block)]
    with threadpool_controller().limit(
        limits=1, user_api="blas"
    ):  # they wait for each other, in small steps
        for low, high in blocks:
            first = max(low - width, 0)
            P, rest = window(first, high), low - first
            for last in range(high - first - 1, rest - 1, -1):
                P[last, :last] += P[last, last + 1 :] @ P[last + 1 :, :last]
                P[:last, last] += P[:last, last + 1 :] @ P[last + 1 :, last]
                P[:last, last] /= max(P[last, :last].sum(), MIN_STATE_MASS)
            P[:rest, :rest] += P[:rest, rest:] @ P[rest:, :rest]
    logs = np.zeros(n)
    for low, high in blocks[::-1]:
        first = max(low - width, 0)
        P = window(first, high)
        for state in range(low, high):
            logs[state] = _log_inflow(logs[first:state], P[: state - first, state - first])
    in_order = np.empty(n)
    in_order[band.order] = logs
    return in_order


def _log_inflow(logs: np.ndarray, column: np.ndarray) -> float:
    """log2 of Σ mass x probability, which must not under- or overflow."""
    top = logs.max(where=column > 0, initial=logs.min())
    inflow = np.exp2(np.minimum(logs - top, 0)) @ column
    return float(top + np.log2(max(inflow, MIN_STATE_MASS)))


# --- an eigenvector -----------------------------------------------------------------------------


def _iterated(P: sp.csr_array, restarts: int, levels: tuple[float, ...]) -> np.ndarray | None:
    """Log masses by an eigenvector; None if that takes more restarts."""
    n = P.shape[0]
    lazy = sp.csr_array((P.T + sp.eye_array(n)) / 2)  # the same μ, and only 1 on the unit circle
    try:
        _, vectors = eigs(lazy, k=1, which="LR", v0=np.full(n, 1.0 / n), maxiter=restarts)
    except ArpackError:
        return None
    mu = np.maximum(abs(vectors[:, 0].real), MIN_STATE_MASS)
    mu = _balanced(_settled(mu, lazy), P, lazy, levels)
    return np.log2(np.maximum(mu, MIN_STATE_MASS))


def _settled(mu: np.ndarray, lazy: sp.csr_array) -> np.ndarray:
    """A few steps of the lazy chain make rounding errors of the smallest entries positive mass."""
    for _ in range(20):
        mu = lazy @ (mu / mu.sum())
    return mu / mu.sum()


def _balanced(
    mu: np.ndarray, P: sp.csr_array, lazy: sp.csr_array, levels: tuple[float, ...]
) -> np.ndarray:
    """The masses of parts that are hardly linked, from the chain of parts.

    Within parts the distribution is right already; how much mass each has hangs on links so small
    that rounding errors matter beside them. One step of aggregation and disaggregation at each
    level mends that.
    """
    entries = P.tocoo()
    before, after = entries.coords
    for i, level in enumerate(levels):
        strong = entries.data >= level
        if strong.all():
            continue
        links = sp.csr_array((entries.data[strong], (before[strong], after[strong])), P.shape)
        n_parts, part = connected_components(links, directed=True, connection="strong")
        if not 1 < n_parts < mu.size:
            continue
        flow = mu[before] * entries.data
        between = sp.csr_array((flow, (part[before], part[after])), (n_parts, n_parts))
        mass = np.bincount(part, weights=mu, minlength=n_parts)
        steps = sp.csr_array(sp.diags_array(1 / mass) @ between)
        wanted = _masses(_log_masses(steps, levels[i + 1 :]))
        mu = _settled(mu * (wanted / mass)[part], lazy)
    return mu
