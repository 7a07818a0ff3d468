"""Where a Markov chain stays: its stationary distribution."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, eigs, splu

MIN_STATE_MASS = 2.0**-900  # the least mass of a state, relative to the largest
MAX_ELIMINATED = 3000  # states of a chain that are eliminated one by one: a few seconds
BLOCK_STATES = 64  # that are eliminated before the rest of the chain is updated
MAX_RESTARTS = 30  # of the eigensolver, enough for chains that mix fast
SETTLING_STEPS = 20  # which make rounding errors of the smallest masses positive


def stationary_distribution(P: sp.csr_array) -> np.ndarray:
    """μ = μP of an irreducible chain, periodic or not, by linear algebra and not by waiting.

    A small chain is eliminated without any subtraction, so that no digit is lost (GTH). μ of a
    large one is an eigenvector, or the solution of linear equations if the chain mixes slowly: such
    chains have few links, like a ring or a grid. Masses are MIN_STATE_MASS at the least.
    """
    if P.shape[0] == 1:
        return np.ones(1)
    jumps, rate = _without_loops(P)
    if P.shape[0] <= MAX_ELIMINATED:
        mu = _eliminated(jumps.toarray())
    else:
        iterated = _iterated(jumps)
        mu = _solved(jumps) if iterated is None else iterated
    mu = mu / mu.max() / rate
    mu = np.maximum(mu / mu.max(), MIN_STATE_MASS)
    return mu / mu.sum()


def _without_loops(P: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """The chain of moves to another state, and how likely each state is left.

    States that are rarely left keep their digits so.
    """
    entries = P.tocoo()
    before, after = entries.coords
    moves = before != after
    before, after, data = before[moves], after[moves], entries.data[moves]
    rate = np.bincount(before, weights=data, minlength=P.shape[0])
    return sp.csr_array((data / rate[before], (before, after)), P.shape), rate


def _eliminated(P: np.ndarray) -> np.ndarray:
    """Masses. Blocks of states are taken out of the chain from the last to the first.

    Each step from state to state by way of one that is taken out becomes a direct one.
    """
    n = len(P)
    for high in range(n, 1, -BLOCK_STATES):
        low = max(high - BLOCK_STATES, 1)
        for last in range(high - 1, low - 1, -1):
            P[last, :last] += P[last, last + 1 : high] @ P[last + 1 : high, :last]
            P[:last, last] += P[:last, last + 1 : high] @ P[last + 1 : high, last]
            P[:last, last] /= max(P[last, :last].sum(), MIN_STATE_MASS)
        P[:low, :low] += P[:low, low:high] @ P[low:high, :low]
    mu = np.ones(n)
    for state in range(1, n):
        mu[state] = max(mu[:state] @ P[:state, state], MIN_STATE_MASS)
        mu[: state + 1] /= mu[: state + 1].max()  # so that none overflows
    return mu


def _iterated(P: sp.csr_array) -> np.ndarray | None:
    """Masses by an eigenvector; None if that takes too many steps."""
    n = P.shape[0]
    lazy = sp.csr_array((P.T + sp.eye_array(n)) / 2)  # the same μ, and only 1 on the unit circle
    try:
        _, vectors = eigs(lazy, k=1, which="LR", v0=np.full(n, 1.0 / n), maxiter=MAX_RESTARTS)
    except ArpackError:
        return None
    mu = abs(vectors[:, 0].real)
    for _ in range(SETTLING_STEPS):
        mu = lazy @ (mu / mu.sum())
    return mu


def _solved(P: sp.csr_array) -> np.ndarray:
    """Masses relative to that of the state that is entered most, by sparse elimination."""
    n = P.shape[0]
    first = int(P.sum(axis=0).argmax())
    rest = np.delete(np.arange(n), first)
    equations = sp.csc_array(sp.eye_array(n) - P.T)[rest][:, rest]
    factors = splu(
        equations,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    inflow = P[[first]].toarray().ravel()[rest]
    mu = np.ones(n)
    mu[rest] = factors.solve(inflow)
    return np.maximum(mu, 0.0)
