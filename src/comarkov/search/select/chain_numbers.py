"""How many clusters the states of a Markov chain have, and which β finds them.

The correlations of two successive states are the singular values of P(Z1,Z2) / √(P(Z1) P(Z2)). A
correlation σ stands for a process that fades in -1 / ln σ steps, for reversible chains exactly. If
k - 1 processes are much slower than all others, there are k clusters between which the chain moves
slowly, or in a fixed order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigs, svds

from ...joint.joint import joint
from ..run import Run
from . import choose_numbers

MAX_CLUSTERS = 30  # that are compared
DENSE_STATES = 800  # up to which all correlations are computed
ALL_EIGENVALUES = 300  # states up to which all eigenvalues are computed ...
MAX_EIGENVALUE_STATES = 20_000  # ... and up to which the largest are
ERROR, ROUGH_ERROR = 0.03, 0.1  # of correlations of many states and of more; gaps are larger
CLEAR_GAP = 1.5  # how many times slower than the next the last process must be
NEARLY_BEST = 0.8  # of the largest gap: the most clusters before such a gap are chosen ...
SLOW = 3.0  # ... if the last process lasts as many steps
NEVER_LEFT = 1e-9  # a correlation this close to 1 is 1, but for rounding
BETAS = (0.5, 0.2)  # that beta="auto" tries
TABLE = np.dtype(
    [("clusters", int), ("correlation", float), ("steps", float), ("gap", float), ("chosen", bool)]
)


class ChainNumber(NamedTuple):
    """The number of clusters, the evidence, and the reason in words."""

    number: int
    table: np.ndarray | None
    reason: str | None


def correlations(flow: sp.csr_array, most: int) -> np.ndarray:
    """Return the largest correlations of two successive states but the first, which is 1."""
    sides = [np.asarray(flow.sum(axis=axis), np.float64).ravel() for axis in (1, 0)]
    inverse = [np.divide(1, np.sqrt(s), out=np.zeros(s.size), where=s > 0) for s in sides]
    scaled = sp.csr_array(sp.diags_array(inverse[0]) @ flow @ sp.diags_array(inverse[1]))
    n = scaled.shape[0]
    most = min(most, n - 1)
    if n <= max(DENSE_STATES, most + 2):
        values = np.linalg.svd(scaled.toarray(), compute_uv=False)
    else:
        is_rough = n > MAX_EIGENVALUE_STATES and _is_connected(scaled)
        error = ROUGH_ERROR if is_rough else ERROR  # correlations of 1 need the smaller one
        start = np.random.default_rng(0).random(n)
        try:
            values = svds(scaled, most + 1, tol=error, v0=start, return_singular_vectors=False)
        except ArpackError:
            return np.zeros(0)
    return np.clip(np.sort(values)[::-1][1 : most + 1], 0.0, 1.0)


def _is_connected(flow: sp.csr_array) -> bool:
    parts, part = connected_components(sp.block_array([[None, flow], [flow.T, None]]))
    return np.count_nonzero(np.bincount(part, minlength=parts) > 1) == 1  # but for empty sides


def time_scales(values: np.ndarray, longest: float = np.inf) -> np.ndarray:
    """Return how many steps processes with these correlations last; ``longest`` at most."""
    with np.errstate(divide="ignore"):
        steps = np.where(values < 1 - NEVER_LEFT, -1 / np.log(values), np.inf)
    return np.asarray(np.minimum(steps, longest))


def slowest_processes(P: sp.csr_array, count: int) -> np.ndarray:
    """Return how many steps the slowest processes of a chain last: -1 / ln |λ|, the longest first.

    Empty for very large chains and if the eigenvalues do not converge.
    """
    n = P.shape[0]
    if not 1 < n <= MAX_EIGENVALUE_STATES:
        return np.zeros(0)
    try:
        if n <= max(ALL_EIGENVALUES, count + 3):
            values = np.linalg.eigvals(P.toarray())
        else:
            values = eigs(P, count + 1, v0=np.ones(n), return_eigenvectors=False)
    except (ArpackError, np.linalg.LinAlgError):
        return np.zeros(0)
    return time_scales(np.sort(np.clip(abs(values), 0.0, 1.0))[::-1][1 : count + 1])


def slowness(blocks: np.ndarray) -> float:
    """Return the sum of all squared correlations of two successive clusters.

    Each cluster counts alike, be it large or small, unlike in the information (the VAMP-2 score).
    """
    rows, columns = blocks.sum(axis=1, keepdims=True), blocks.sum(axis=0)
    expected = rows * columns
    squares = np.divide(blocks**2, expected, out=np.zeros_like(blocks), where=expected > 0)
    return float(squares.sum())


def choose_number(flow: sp.csr_array, counts: sp.csr_array | None, run: Run) -> ChainNumber:
    """Choose by the gap between slow and fast processes, else as for rows and columns of counts."""
    n = flow.shape[0]
    values = correlations(flow, min(MAX_CLUSTERS, n - 1))
    longest = np.inf if counts is None else float(counts.sum())
    steps = np.maximum(time_scales(values, longest), 1e-9)
    with np.errstate(invalid="ignore"):
        gaps = np.nan_to_num(steps[:-1] / steps[1:], nan=1.0)  # both may be infinite
    allowed = gaps[: max(n // 2 - 1, 1)]
    is_best = allowed == allowed.max(initial=0.0)
    is_finer = (allowed >= NEARLY_BEST * allowed.max(initial=0.0)) & (steps[: allowed.size] >= SLOW)
    k = 2 + int(np.flatnonzero(is_best | is_finer)[-1]) if allowed.size else min(n, 2)
    is_clear = bool(allowed.size) and gaps[k - 2] >= CLEAR_GAP
    reason = f"{k} clusters: {_slow(k, steps, gaps)}." if is_clear else ""
    if not is_clear and counts is not None:
        # the larger of the numbers that the counts have as rows and as columns
        k = max(choose_numbers.select(("auto", "auto"), joint(counts), run).numbers)
        reason = (
            f"{k} clusters: no process is much slower than the next, but these fit the counted "
            "transitions."
        )
    elif not is_clear:
        reason = (
            f"{k} clusters: one possible view, because no number stands out (no process is much "
            "slower than the next)."
        )
    table = np.zeros(gaps.size, TABLE)
    table["clusters"], table["chosen"] = np.arange(gaps.size) + 2, np.arange(gaps.size) + 2 == k
    table["correlation"], table["steps"], table["gap"] = values[:-1], steps[:-1], gaps
    return ChainNumber(k, table, reason)


def _slow(k: int, steps: np.ndarray, gaps: np.ndarray) -> str:
    """The processes that are slower than all others, in words."""
    if not np.isfinite(steps[k - 2]):
        return "sets of states between which the chain never moves"
    last = f"{steps[k - 2]:,.3g} steps or more, {gaps[k - 2]:,.3g} times as long as the next"
    if k == 2:
        return f"one process is slower than all others ({last} one)"
    return f"{k - 1} processes are slower than all others ({last} one)"
