"""Markov chains: read from matrices, counts and sequences; recurrent states; where they stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigs, splu

from .joint import as_csr, holds_counts, names
from .thinning import parts

SUM_TOLERANCE = 1e-8  # by how much a row of probabilities may miss 1
DENSE = 400  # states up to which the stationary distribution is computed by elimination
RESTARTS = 300  # of the eigensolver, before a slow chain, mostly a long one, is solved directly
RESIDUAL = 1e-11  # Σ |μP - μ| at which a stationary distribution is right
SHOWN = 5  # states that an error names


class Transitions(NamedTuple):
    """Weights of transitions between states, and the sequences that they were counted in."""

    weights: sp.csr_array
    states: np.ndarray  # names
    sequences: list[np.ndarray] | None  # of numbers of states
    is_counted: bool  # are the weights numbers of observed transitions?


class Chain(NamedTuple):
    """An irreducible Markov chain."""

    inside: np.ndarray  # the states of the input that it has
    transition: sp.csr_array  # P
    stationary: np.ndarray  # μ


def read_transitions(X: Any, kind: str) -> Transitions:
    """Read a square matrix, or one or several sequences of states."""
    if kind == "sequences" or (kind == "auto" and _are_sequences(X)):
        return _counted(X)
    csr = as_csr(X)
    n, m = csr.shape
    if n != m:
        raise ValueError(
            f"A chain needs a square matrix, from state to state, got shape {csr.shape}. For "
            'sequences of states pass kind="sequences".'
        )
    if csr.nnz == 0:
        raise ValueError("The matrix has no mass: there are no transitions.")
    sums = csr.sum(axis=1, dtype=np.float64)
    is_stochastic = bool((abs(sums - 1) <= SUM_TOLERANCE).all())
    if kind == "probabilities" and not is_stochastic:
        row = int(abs(sums - 1).argmax())
        raise ValueError(f"Rows of probabilities sum to 1, but row {row} sums to {sums[row]:g}.")
    is_counted = kind == "counts" or (not is_stochastic and holds_counts(csr))
    if is_counted and not holds_counts(csr):
        raise ValueError('kind="counts" takes whole numbers only.')
    _, columns = names(X)
    return Transitions(csr, np.arange(n) if columns is None else columns, None, is_counted)


def hold_out(
    data: Transitions, share: float, rng: np.random.Generator
) -> tuple[sp.csr_array, sp.csr_array]:
    """Transitions to fit and transitions to test, about this share of them.

    Of a sequence its end is held out; counts are shared out by coins (binomial thinning).
    """
    if not data.is_counted:
        raise ValueError(
            "held_out needs counts or sequences: probabilities do not tell how many were observed."
        )
    if data.sequences is None:
        held, kept = parts(data.weights, rng, share)
        return kept, held
    cuts = [round((1 - share) * max(some.size - 1, 0)) for some in data.sequences]
    n = data.states.size
    kept = [some[: cut + 1] for some, cut in zip(data.sequences, cuts, strict=True)]
    held = [some[cut:] for some, cut in zip(data.sequences, cuts, strict=True)]
    return _count(kept, n), _count(held, n)


def chain(weights: sp.csr_array, states: np.ndarray, restrict: bool) -> Chain:
    """The chain of these transitions: all states, or the largest set that stays connected."""
    n_sets, member = connected_components(weights, directed=True, connection="strong")
    inside = np.arange(member.size)
    if n_sets > 1 or weights.nnz == 0:
        largest = int(np.bincount(member).argmax())
        inside = np.flatnonzero(member == largest)
        if not restrict:
            raise ValueError(_problem(weights, states, member, inside))
    part = sp.csr_array(weights[inside][:, inside], dtype=np.float64)
    if part.nnz == 0:
        raise ValueError("No two states lead to each other: there is no chain to aggregate.")
    sums = part.sum(axis=1)
    P = sp.csr_array(sp.diags_array(1 / sums) @ part)
    return Chain(inside, P, stationary_distribution(P))


def stationary_distribution(P: sp.csr_array) -> np.ndarray:
    """μ = μP of an irreducible chain, periodic or not, by linear algebra and not by waiting."""
    n = P.shape[0]
    if n <= DENSE:
        return _eliminated(P.toarray())
    lazy = (P.T + sp.eye_array(n)) / 2  # the same μ, and no eigenvalue but 1 on the unit circle
    try:
        _, vectors = eigs(lazy, k=1, which="LR", v0=np.full(n, 1.0 / n), maxiter=RESTARTS)
        mu = _settled(abs(vectors[:, 0].real), lazy)
    except ArpackError:
        mu = np.full(n, 1.0 / n)
    if abs(P.T @ mu - mu).sum() > RESIDUAL:
        mu = _settled(abs(_solved(P)), lazy)
    return mu


def _settled(mu: np.ndarray, lazy: sp.csr_array) -> np.ndarray:
    """A few steps of the lazy chain make rounding errors of the smallest entries positive mass."""
    for _ in range(20):
        mu = lazy @ (mu / mu.sum())
    return mu / mu.sum()


def _solved(P: sp.csr_array) -> np.ndarray:
    """μ from μ(I - P) = 0 with the first entry 1."""
    n = P.shape[0]
    system = sp.csc_array(sp.eye_array(n) - P.T)
    rest = splu(sp.csc_matrix(system[1:, 1:])).solve(-system[1:, [0]].toarray().ravel())
    return np.concatenate([[1.0], rest])


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


def _problem(
    weights: sp.csr_array, states: np.ndarray, member: np.ndarray, largest: np.ndarray
) -> str:
    """Which states are not connected, and what to do."""
    source, target = weights.nonzero()
    leaves = np.zeros(member.max() + 1, bool)
    leaves[member[source[member[source] != member[target]]]] = True
    stuck = np.flatnonzero(np.diff(weights.indptr) == 0)
    transient = np.setdiff1d(np.flatnonzero(leaves[member]), stuck)
    closed = int((~leaves).sum())
    said = f"The chain falls apart: of {member.size} states"
    if transient.size:
        said += f" {transient.size} can be left for good ({_some(states[transient])}),"
    if stuck.size:
        said += f" {stuck.size} have no transition out ({_some(states[stuck])}),"
    return (
        f"{said} and {closed} set{'s' * (closed != 1)} of states cannot be left. The largest set "
        f"whose states all lead to each other has {largest.size} ({_some(states[largest])}): pass "
        "restrict=True to aggregate these; transitions that leave it are dropped, and all other "
        "states get label -1."
    )


def _some(states: np.ndarray) -> str:
    shown = ", ".join(map(str, states[:SHOWN]))
    return shown + (", ..." if states.size > SHOWN else "")


def _are_sequences(X: Any) -> bool:
    """Is it a sequence of states, or a list of such that is no square matrix?"""
    if sp.issparse(X) or hasattr(X, "columns"):
        return False
    if hasattr(X, "ndim"):
        return bool(X.ndim == 1)
    if not isinstance(X, Sequence) or not len(X):
        return False
    lengths = {len(row) if np.ndim(row) == 1 else -1 for row in X}
    return lengths != {len(X)}


def _counted(X: Any) -> Transitions:
    """Transitions in one sequence or in several; none from the end of one to the next."""
    one = isinstance(X, str) or all(np.ndim(item) == 0 for item in X)
    lists = [np.asarray(some) for some in ([X] if one else X)]
    if not lists or any(some.ndim != 1 or some.dtype.kind not in "iubUSO" for some in lists):
        raise ValueError("Sequences are 1-D, and their states whole numbers or strings.")
    try:
        states, number = np.unique(np.concatenate(lists), return_inverse=True)
    except TypeError as error:
        raise ValueError("States must be all of one kind: numbers or strings.") from error
    ends = np.cumsum([some.size for some in lists])[:-1]
    sequences = np.split(number, ends)
    weights = _count(sequences, states.size)
    if weights.nnz == 0:
        raise ValueError("There are no transitions: a sequence needs two states at least.")
    return Transitions(weights, states, sequences, True)


def _count(sequences: list[np.ndarray], n: int) -> sp.csr_array:
    """How often each state follows each."""
    before = np.concatenate([some[:-1] for some in sequences])
    after = np.concatenate([some[1:] for some in sequences])
    return sp.csr_array((np.ones(before.size, np.int64), (before, after)), (n, n))
