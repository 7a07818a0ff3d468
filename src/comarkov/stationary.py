"""Where a Markov chain stays: its stationary distribution, by linear algebra."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackError, eigs, splu

DENSE = 400  # states up to which the stationary distribution is computed by elimination
FEW, MANY = 15, 300  # restarts of the eigensolver: for chains that mix fast, and for the others
BAND_WORK = 1e11  # operations of a direct solver that are worth it: a minute or so at the most
LEVELS = (1e-3, 1e-6, 1e-9, 1e-12)  # probabilities so small that they hardly link states


def stationary_distribution(P: sp.csr_array) -> np.ndarray:
    """μ = μP of an irreducible chain, periodic or not, by linear algebra and not by waiting.

    Chains that mix fast take the eigensolver a few steps. The others are mostly long, with a
    narrow band, and are solved directly; where that would fill up, the eigensolver goes on.
    """
    n = P.shape[0]
    if n <= DENSE:
        return _eliminated(P.toarray())
    lazy = sp.csr_array((P.T + sp.eye_array(n)) / 2)  # the same μ, and only 1 on the unit circle
    mu = _iterated(lazy, FEW)
    if mu is None and _band_work(P) <= BAND_WORK:
        mu = _solved(P)
    if mu is None:
        mu = _iterated(lazy, MANY)
    if mu is None:
        mu = _solved(P)
    if mu is None:
        raise ValueError(
            f"The stationary distribution of these {n} states could not be found: they mix too "
            "slowly to iterate and are too many to be solved for."
        )
    return _balanced(_settled(mu, lazy), P, lazy)


def _iterated(lazy: sp.csr_array, restarts: int) -> np.ndarray | None:
    """μ as an eigenvector; None if that takes more restarts."""
    n = lazy.shape[0]
    try:
        _, vectors = eigs(lazy, k=1, which="LR", v0=np.full(n, 1.0 / n), maxiter=restarts)
    except ArpackError:
        return None
    return abs(vectors[:, 0].real)


def _band_work(P: sp.csr_array) -> float:
    """Operations of an elimination within a band: what a direct solver needs at the most."""
    order = reverse_cuthill_mckee(sp.csr_array(P + P.T), symmetric_mode=True)
    place = np.argsort(order)
    before, after = P.nonzero()
    width = float(abs(place[before] - place[after]).max())
    return 2 * P.shape[0] * width**2


def _solved(P: sp.csr_array) -> np.ndarray | None:
    """μ from μ(I - P) = 0 with the first entry 1; None if there is no memory for it."""
    n = P.shape[0]
    system = sp.csc_array(sp.eye_array(n) - P.T)
    try:
        rest = splu(sp.csc_matrix(system[1:, 1:])).solve(-system[1:, [0]].toarray().ravel())
    except (MemoryError, RuntimeError):  # the latter where rounding makes it singular
        return None
    return abs(np.concatenate([[1.0], rest]))


def _settled(mu: np.ndarray, lazy: sp.csr_array) -> np.ndarray:
    """A few steps of the lazy chain make rounding errors of the smallest entries positive mass."""
    for _ in range(20):
        mu = lazy @ (mu / mu.sum())
    return mu / mu.sum()


def _balanced(mu: np.ndarray, P: sp.csr_array, lazy: sp.csr_array) -> np.ndarray:
    """The masses of parts that are hardly linked, from the chain of parts, which loses no digit.

    Within parts the distribution is right already; how much mass each has hangs on links so small
    that rounding errors matter beside them. One step of aggregation and disaggregation at each
    level mends that.
    """
    entries = P.tocoo()
    before, after = entries.coords
    for level in LEVELS:
        strong = entries.data >= level
        if strong.all():
            continue
        links = sp.csr_array((entries.data[strong], (before[strong], after[strong])), P.shape)
        n_parts, part = connected_components(links, directed=True, connection="strong")
        if not 1 < n_parts <= DENSE:
            continue
        flow = mu[before] * entries.data
        places = part[before] * n_parts + part[after]
        between = np.bincount(places, weights=flow, minlength=n_parts**2).reshape(n_parts, -1)
        mass = np.bincount(part, weights=mu, minlength=n_parts)
        mu = mu * (_eliminated(between / mass[:, None]) / mass)[part]
        mu = _settled(mu, lazy)
    return mu


def _eliminated(P: np.ndarray) -> np.ndarray:
    """State after state is taken out of the chain; no subtraction, so no digit is lost (GTH)."""
    n = P.shape[0]
    for last in range(n - 1, 0, -1):
        P[:last, last] /= P[last, :last].sum()
        P[:last, :last] += np.outer(P[:last, last], P[last, :last])
    mu = np.ones(n)
    for state in range(1, n):
        mu[state] = mu[:state] @ P[:state, state]
    return mu / mu.sum()
