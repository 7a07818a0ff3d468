"""Markov chains: from matrices, counts and sequences, and the distribution in which they stay."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigs, splu

from .graphs import GraphEdges
from .inputs import NamedMatrix, are_numbers, as_csr, is_data, is_matrix, named, names, sound_csr
from .messages import InputError, listed
from .objects import as_objects, is_graph, refuse_unsuitable
from .scale import are_whole, shared_out

START_TOLERANCE = 1e-6  # by how much one step may change a given distribution, being rounded
SUM_TOLERANCE = 1e-3  # by how much a row of probabilities may miss 1, being rounded
STATES_TO_NAME = 5  # in an error
RESTARTS = 0.15  # the probability of a restart, if states do not all lead to each other
RESTART_STEPS = 250  # after which the distribution no longer changes: 0.85**250 is rounding
MIN_STATE_MASS = 2.0**-900  # the least mass of a state, relative to the largest
MAX_ELIMINATED = 3000  # states of a chain that are eliminated one by one: a few seconds
BLOCK_STATES = 64  # that are eliminated before the rest of the chain is updated
MAX_RESTARTS = 30  # of the eigensolver, enough for chains that mix fast
SETTLING_STEPS = 20  # which make rounding errors of the smallest masses positive


def are_sequences(X: Any) -> bool:
    """Is X a sequence of states, or several of them, rather than a square matrix of numbers?"""
    if is_matrix(X) or isinstance(X, NamedMatrix):
        return False
    if hasattr(X, "shape"):
        is_text = getattr(getattr(X, "dtype", None), "kind", None) in ("U", "S")
        return len(X.shape) == 1 or is_text
    if not isinstance(X, Sequence):
        return False
    lengths = {len(row) if np.ndim(row) == 1 else -1 for row in X}
    return lengths != {len(X)} or any(isinstance(item, str) for item in X[0])


def numbered(X: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """The states of one sequence or of several, and the sequences as numbers of states."""
    is_one = all(np.ndim(item) == 0 for item in X)
    arrays = [_as_states(sequence) for sequence in ([X] if is_one else X)]
    filled = [array for array in arrays if array.size] or [np.empty(0, np.int64)]
    kinds = {array.dtype.kind for array in filled}
    if not (kinds <= set("biu") or (len(kinds) == 1 and kinds <= set("US"))):
        raise InputError(
            "States must be all whole numbers or all strings, and none may be missing",
            advice='Pass a 1-D list such as ["sun", "rain", "sun"], or a list of several between '
            "the gaps. To convert states: [str(state) for state in X]",
        )
    states, number = np.unique(np.concatenate(filled), return_inverse=True)
    ends = np.cumsum([array.size for array in arrays])[:-1]
    return states, np.split(number, ends)


def _as_states(sequence: Any) -> np.ndarray:
    """A sequence as an array of whole numbers or of strings; of objects if it holds others."""
    if np.ma.is_masked(sequence):
        return np.array([None])
    array = np.asarray(sequence, None if hasattr(sequence, "dtype") else object)
    if array.ndim != 1:
        return np.array([None])
    if array.dtype.kind == "O":
        for kind, base in ((str, str), (bytes, bytes), (np.int64, Integral)):
            if all(isinstance(item, base) for item in array):
                return array.astype(kind)
    return array


def transitions(sequences: list[np.ndarray], n: int) -> sp.csr_array:
    """Counts of transitions between n states; none from the end of a sequence to the next."""
    before = np.concatenate([sequence[:-1] for sequence in sequences])
    after = np.concatenate([sequence[1:] for sequence in sequences])
    return sp.csr_array((np.ones(before.size, np.int64), (before, after)), (n, n))


class Transitions(NamedTuple):
    """Weights of transitions between states, and the sequences that they were counted in."""

    weights: sp.csr_array
    states: np.ndarray  # names
    has_names: bool  # False if the names are only the numbers of rows
    sequences: list[np.ndarray] | None  # of numbers of states
    is_counted: bool  # are the weights numbers of observed transitions?
    step: float = 1.0  # the time that a step takes, in the unit of rates


class Chain(NamedTuple):
    """A Markov chain, and how often each of its steps is made."""

    inside: np.ndarray  # the states of the input that are in it
    transition: sp.csr_array  # P; states that are never left stay
    occupancy: np.ndarray  # the share of time in each state; μ if it is stationary
    flow: sp.csr_array  # P(Z1, Z2); diag(μ) P if it is stationary
    origin: str  # of the flow: stationary, observed, restarts or given


def read_transitions(X: Any, kind: str, ends: str = "stay") -> Transitions:
    """Read a square matrix, whose rows are put in the order of columns by name, or sequences.

    If ``ends`` is "restart", each sequence goes on from its last state to its first.
    """
    if is_graph(X):  # a random walk on it
        edges = GraphEdges.of(X)
        nodes = as_objects(edges.nodes)
        X = NamedMatrix(edges.adjacency(), nodes, nodes)
    if isinstance(X, str | bytes) or not (isinstance(X, Sequence) or is_data(X)):
        refuse_unsuitable(X)
    if kind == "rates" or (kind == "auto" and _are_rates(X)):
        return _uniformised(X)
    if kind == "sequences" or (kind == "auto" and are_sequences(X)):
        return _from_sequences(X, ends)
    X = with_all_states(X)
    csr = as_csr(X)
    n, m = csr.shape
    if n != m:
        raise InputError(
            f"A chain needs a square matrix of transitions between states, got shape {csr.shape}",
            advice='For sequences of states set kind="sequences".',
        )
    if csr.nnz == 0:
        raise ValueError("The matrix is empty: there are no transitions.")
    sums = _row_sums(csr)
    is_stochastic = bool((abs(sums - 1) <= SUM_TOLERANCE).all())
    if kind == "probabilities" and not is_stochastic:
        row = int(abs(sums - 1).argmax())
        raise InputError(
            f"Rows of probabilities must sum to 1, but row {row} sums to {sums[row]:.6g}",
            advice='For counts set kind="counts"; for other weights kind="auto", which divides '
            "each row by its sum.",
        )
    is_counted = kind == "counts" or (not is_stochastic and are_whole(csr.data))
    if is_counted and not are_whole(csr.data):
        raise InputError(
            "Counts must be whole numbers", advice='For other weights set kind="auto".'
        )
    states, order, has_names = _states_of(*names(X), n)
    return Transitions(csr[order], states, has_names, None, is_counted)


def _from_sequences(X: Any, ends: str) -> Transitions:
    states, sequences = numbered(X)
    if ends == "restart":
        sequences = [np.concatenate([sequence, sequence[:1]]) for sequence in sequences]
    weights = transitions(sequences, states.size)
    if weights.nnz == 0:
        raise ValueError("There are no transitions: a sequence needs at least two states.")
    return Transitions(weights, states, True, sequences, True)


def with_all_states(X: Any) -> Any:
    """Data whose rows and columns both are all states that either has; other input as it is."""
    given = named(X)
    if given is None or given.row_names is None or given.column_names is None:
        return X
    sides = given.row_names, given.column_names
    rows, columns = ({name: i for i, name in enumerate(side)} for side in sides)
    sizes = len(rows), len(columns)
    if sizes != as_csr(X).shape or rows.keys() == columns.keys() or not rows.keys() & columns:
        return X  # nothing to add, or an error that is reported elsewhere
    place = {name: i for i, name in enumerate({**columns, **rows})}
    entries = as_csr(X).tocoo()
    source, target = (
        np.array([place[name] for name in side])[coordinates]
        for side, coordinates in zip((rows, columns), entries.coords, strict=True)
    )
    states = np.array([*place], dtype=object)
    matrix = sp.csr_array((entries.data, (source, target)), (states.size, states.size))
    return NamedMatrix(matrix, states, states)


def _are_rates(X: Any) -> bool:
    """Is X a square matrix with negative numbers in its diagonal only, whose rows sum to 0?"""
    if not is_data(X) or len(getattr(X, "shape", ())) != 2 or X.shape[0] != X.shape[1]:
        return False
    matrix = sound_csr(X) if sp.issparse(X) else np.asarray(X)
    if matrix.dtype.kind not in "if" or not (diagonal := matrix.diagonal()).size:
        return False
    if not (diagonal.min() < 0 and diagonal.max() <= 0):
        return False
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    return bool((abs(sums) <= SUM_TOLERANCE * abs(diagonal).max()).all())


def _uniformised(X: Any) -> Transitions:
    """The chain of a process with rates Q, P = 1 + Q / 2q, where the fastest state is left by q.

    With steps of 1 / q, a chain could seem to go back and forth: P would have eigenvalues < 0.
    """
    rates = sp.csr_array(X if sp.issparse(X) else np.asarray(X), dtype=np.float64)
    moves = rates - sp.diags_array(rates.diagonal(), format="csr")
    off = as_csr(moves)
    leaving = _row_sums(off)
    if off.shape[0] != off.shape[1] or leaving.max() <= 0:
        raise InputError(
            "Rates are a square matrix in which some state is left",
            advice="Pass the rate from each state (row) to each other one (column).",
        )
    step = 0.5 / float(leaving.max())
    stays = sp.diags_array(1 - leaving * step, format="csr")
    P = as_csr(sp.csr_array(off * step + stays))
    states, order, has_names = _states_of(*names(X), P.shape[0])
    return Transitions(P[order], states, has_names, None, False, step)


def _states_of(
    rows: np.ndarray | None, columns: np.ndarray | None, n: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """The states of a matrix, the row of each, and whether they have names, not just numbers."""
    in_order = np.arange(n)
    given = [side for side in (columns, rows) if side is not None and not are_numbers(side)]
    if rows is None or columns is None or rows.tolist() == columns.tolist():
        return (given[0] if given else in_order), in_order, bool(given)
    place = {name: i for i, name in enumerate(rows)}
    if len(place) == rows.size and set(columns) == set(place):
        return columns, np.array([place[name] for name in columns]), True
    if len(given) == 2:
        raise InputError(
            "Rows and columns of a chain are the same states, but their names differ: "
            f"{listed(sorted({*rows} ^ {*columns} or rows, key=str), STATES_TO_NAME)}",
            advice="Use the same names, or drop those of the rows to match states by position: "
            "X.reset_index(drop=True)",
        )
    return given[0], in_order, True


def places_of(data: Transitions, states: np.ndarray) -> np.ndarray:
    """Where states are among those of a fit: by name if both have names, else by position."""
    place = {name: i for i, name in enumerate(states.tolist())}
    unknown = [name for name in data.states.tolist() if name not in place]
    is_numbered = are_numbers(np.array([*place], object))
    by_name = data.has_names and not (unknown and is_numbered and data.sequences is None)
    if by_name and unknown:
        raise InputError(
            f"State {unknown[0]} was not in the fit",
            advice="Leave out states other than those of the fit: "
            f"{listed(states, STATES_TO_NAME)}.",
        )
    if by_name:
        return np.array([place[name] for name in data.states.tolist()])
    if data.states.size != states.size:
        raise InputError(
            f"X has {data.states.size} states, but the fit had {states.size}",
            advice="Pass transitions between the states of the fit, in the same order.",
        )
    return np.arange(states.size)


def hold_out(
    data: Transitions, share: float, rng: np.random.Generator
) -> tuple[sp.csr_array, sp.csr_array]:
    """Transitions to fit and transitions to test, about this share of them.

    The end of each sequence is held out, or of some sequences if they are very short. Counts are
    divided at random (binomial thinning).
    """
    if not data.is_counted:
        raise InputError(
            "held_out needs counts or sequences: probabilities do not state how many transitions "
            "were observed",
            advice="Pass counts, or set held_out=0.",
        )
    if data.sequences is None:
        tested, fitted = shared_out(data.weights, data.weights.data, share, rng)
        return fitted, tested
    heads, tails = divided(data.sequences, share)
    n = data.states.size
    return transitions(heads, n), transitions(tails, n)


def divided(sequences: list[np.ndarray], share: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The beginnings of sequences, and their ends, which hold about this share of transitions."""
    ends = np.cumsum([0] + [max(sequence.size - 1, 0) for sequence in sequences])
    cuts = np.diff(np.floor((1 - share) * ends + 0.5).astype(int))  # rounding errors do not add up
    pairs = list(zip(sequences, cuts, strict=True))
    return [part[: cut + 1] for part, cut in pairs], [part[cut:] for part, cut in pairs]


def chain(weights: sp.csr_array, is_counted: bool, restrict: bool = False) -> Chain:
    """The chain of these transitions, which may be counts.

    If all states lead to each other, its steps are those of the stationary chain. Otherwise
    ``restrict`` keeps the largest set of states that do. Without it, steps are counted as they
    were observed, or as the weights are if these are symmetric; else the chain restarts anywhere
    with probability RESTARTS after each step.
    """
    n_sets, member = connected_components(weights, directed=True, connection="strong")
    inside = np.arange(member.size)
    if restrict and n_sets > 1:
        inside = np.flatnonzero(member == int(np.bincount(member).argmax()))
        n_sets = 1
    part = sp.csr_array(weights[inside][:, inside], dtype=np.float64)
    if part.nnz == 0:
        raise InputError(
            "No two states lead to each other: there are no transitions within a set of states",
            advice="Pass more transitions, or leave out restrict and held_out.",
        )
    P = _probabilities(part)
    if n_sets == 1:
        origin, mu = "stationary", stationary_distribution(P)
    elif is_counted or (abs(part - part.T) > 0).nnz == 0:
        origin, mu = "observed", _row_sums(part)
    else:
        origin, n = "restarts", P.shape[0]
        back, mu = sp.csr_array(P.T), np.full(n, 1.0 / n)
        for _ in range(RESTART_STEPS):
            mu = (1 - RESTARTS) * (back @ mu) + RESTARTS / n
    flow = sp.csr_array(sp.diags_array(mu / mu.sum()) @ P)
    occupancy = mu if origin == "stationary" else (_row_sums(flow) + _row_sums(flow.T)) / 2
    return Chain(inside, P, occupancy, flow, origin)


def chain_from(weights: sp.csr_array, states: np.ndarray, start: ArrayLike) -> Chain:
    """The chain that starts from these masses of states, which one step must not change.

    States without mass are left out. The masses decide how much each part of the chain counts.
    """
    mass, n, problem = np.asarray(start, dtype=float), weights.shape[0], ""
    if mass.shape != (n,) or not (mass >= 0).all() or not 0 < mass.sum() < np.inf:
        problem = f"must have a mass, 0 or more, for each of the {n} states"
    else:
        mass = mass / mass.sum()
        P = _probabilities(weights)
        after = mass @ P
        worst = int(np.abs(after - mass).argmax())
        if abs(after[worst] - mass[worst]) > START_TOLERANCE * mass.max():
            change = f"from {mass[worst]:.6g} to {after[worst]:.6g}"
            problem = f"is not a distribution that stays: one step changes {states[worst]} {change}"
    if problem:
        raise InputError(f"stationary {problem}", advice="Leave it out, and it is computed.")
    inside = np.flatnonzero(mass)
    transition = sp.csr_array(P[inside][:, inside])
    flow = sp.csr_array(sp.diags_array(mass[inside]) @ transition)
    return Chain(inside, transition, mass[inside], flow, "given")


def _row_sums(csr: sp.csr_array) -> np.ndarray:
    """Sums in double precision, infinite if too large; those of SciPy can wrap around."""
    sums: np.ndarray = csr.astype(np.float64) @ np.ones(csr.shape[1])
    return sums


def _probabilities(weights: sp.csr_array) -> sp.csr_array:
    """Each row divided by its sum; states that are never left stay."""
    stays = sp.diags_array((_row_sums(weights) == 0).astype(np.float64), format="csr")
    weights = sp.csr_array(weights + stays, dtype=np.float64)
    with np.errstate(over="ignore", divide="ignore"):
        P = sp.csr_array(sp.diags_array(1 / _row_sums(weights)) @ weights)
    if not np.isfinite(P.data).all() or np.count_nonzero(P.data) < weights.nnz:
        raise InputError(
            f"Weights from {weights.data.min():g} to {weights.data.max():g} are too large, too "
            "small or too different to be added up in double precision",
            advice="Divide them by the largest, and set the smallest to 0: X / X.max()",
        )
    return P


# --- where a chain stays ------------------------------------------------------------------------


def stationary_distribution(P: sp.csr_array) -> np.ndarray:
    """μ = μP of an irreducible chain, periodic or not, by linear algebra and not by waiting.

    A small chain is eliminated without any subtraction, so that no digit is lost (GTH). μ of a
    large one is an eigenvector, or the solution of linear equations if the chain mixes slowly: such
    chains have few links, like a ring or a grid. Masses are MIN_STATE_MASS at the least.
    """
    if P.shape[0] == 1:
        return np.ones(1)
    entries = P.tocoo()  # without loops, so that states that are rarely left keep their digits
    before, after = entries.coords
    moves = before != after
    before, after, data = before[moves], after[moves], entries.data[moves]
    rate = np.bincount(before, weights=data, minlength=P.shape[0])  # at which each is left
    jumps = sp.csr_array((data / rate[before], (before, after)), P.shape)
    if P.shape[0] <= MAX_ELIMINATED:
        mu = _eliminated(jumps.toarray())
    else:
        iterated = _iterated(jumps)
        mu = _solved(jumps) if iterated is None else iterated
    mu = mu / mu.max() / rate
    mu = np.maximum(mu / mu.max(), MIN_STATE_MASS)
    return mu / mu.sum()


def _eliminated(P: np.ndarray) -> np.ndarray:
    """Masses. Blocks of states are taken out; steps by way of them become direct ones."""
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
