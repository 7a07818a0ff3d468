"""The confidence of each element, and which elements to reject.

For an element x of mass n_x, removed from its cluster, c_a is the cost of inserting it into
cluster a, and

    v_x = n_x² / Σ_y n_xy²                    its effective number of observations
    p_x(a) ∝ exp(-v_x^γ c_a / n_x)            the posterior of its clusters

v_x counts the entries that carry the mass: n_x if all are ones, fewer if some are large. Words of
one document are not independent either: γ, which ``evidence_exponent`` estimates, reduces v to the
number of independent ones. The confidence is the posterior of an element's cluster times the share
of all results of the search, the best included, that have it there.

Aggregated counts (guests of hotels, hours of work) are observations themselves. There, the
confidence is the share of searches in resampled counts (Poisson) that have the element in this
cluster. Counts may vary more from year to year, but what is left inside blocks does not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from ..costs.labels import matched, membership
from ..joint.joint import Joint, joint
from ..joint.parts import row_ranges
from ..joint.scale import are_whole
from ..kernels.matrix import Matrix, observations
from ..search.optimise.refine import polish
from ..search.parallel.worker import worker_of
from ..search.run import Budget, Purpose, Run
from ..search.state.coclusters import CoClusterProblem, CoClusters, Solution
from ..search.state.side import Side, coupled
from ..search.state.starts import free_start
from .leaves import Target, costs_in

AGGREGATED = 10  # counts in an entry, on average, from which entries are sums of observations
MIN_RESAMPLES, MAX_RESAMPLES = 5, 20


class Confidence(NamedTuple):
    """The confidence of the elements of a side; 0 if they are empty."""

    margins: np.ndarray  # the extra cost of the best other cluster, in nats per unit of mass
    agreement: np.ndarray  # the share of other results that agree; NaN if there are none
    confidence: np.ndarray  # the posterior of its cluster times the share of results that agree


def learn_confidence(solution: Solution[CoClusters], run: Run) -> dict[str, Any]:
    """Return the fitted attributes that state how certain labels are; None if not clustered."""
    state, learnt = solution.state, {}
    sides = state.rows, state.columns
    others: list[Any] = list(zip(*solution.others, strict=True)) or [(), ()]
    repeated = _resampled(state, run)
    for i, (name, side) in enumerate(zip(("row", "column"), sides, strict=True)):
        sure = gamma = None
        if side is not None:
            rng = run.seed.stream(Purpose.EVIDENCE, i)
            gamma = evidence_exponent(side, sides[1 - i], run.beta, rng)
            sure = confidence(side, state.cross(side), run.beta, others[i], gamma)
            if repeated:
                agreement = _agreement(side, [labels[i] for labels in repeated])
                sure = sure._replace(confidence=agreement)
        learnt[f"{name}_evidence_exponent_"] = gamma
        learnt |= {f"{name}_{part}_": sure and getattr(sure, part) for part in Confidence._fields}
    return learnt


def confidence(
    side: Side,
    cross: np.ndarray | None,
    beta: float,
    others: Sequence[np.ndarray],
    gamma: float = 1.0,
) -> Confidence:
    """Return the confidence of a side, given the labels of other results."""
    margins, sure = side.each_row(partial(_against_others, gamma=gamma), cross, beta)
    has_mass = side.labels >= 0
    agreement = _agreement(side, others)
    if others:
        sure *= (1 + len(others) * agreement) / (1 + len(others))
    return Confidence(np.where(has_mass, margins, 0.0), agreement, np.where(has_mass, sure, 0.0))


def posterior(costs: np.ndarray, matrix: Matrix, gamma: float) -> np.ndarray:
    """Return p_x(a) of the rows of a matrix, from their costs c_a in nats times mass."""
    mass = np.where(matrix.mass > 0, matrix.mass, 1.0)
    return np.asarray(softmax(-costs * (observations(matrix) ** gamma / mass)[:, None], axis=1))


def rejected(
    labels: np.ndarray, sure: np.ndarray, threshold: float, fixed: np.ndarray
) -> np.ndarray:
    """Return the labels, with -1 for elements whose confidence is below the threshold.

    Fixed elements stay, and so does the (first) element of highest confidence in each cluster.
    """
    order = np.lexsort((-sure, labels))
    _, first = np.unique(labels[order], return_index=True)
    stays = fixed | (sure >= threshold)
    stays[order[first]] = True
    return np.where(stays, labels, -1)


def _against_others(
    home: np.ndarray, rows: Matrix, costs: np.ndarray, gamma: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the margins of rows, and the posterior of their own clusters."""
    each = np.arange(home.size)
    sure = posterior(costs, rows, gamma)[each, home]
    here = costs[each, home]
    costs[each, home] = np.inf
    with np.errstate(invalid="ignore", divide="ignore"):  # no mass, no margin
        return (costs.min(axis=1) - here) / rows.mass, sure


def _agreement(side: Side, others: Sequence[np.ndarray]) -> np.ndarray:
    """Return the share of other results that agree on each element; 0 if it is empty."""
    labels = side.labels
    if not others:
        return np.where(labels >= 0, np.nan, 0.0)
    agree = np.mean([matched(other, labels) == labels for other in others], axis=0)
    return np.where(labels >= 0, agree, 0.0)


def _resampled(state: CoClusters, run: Run) -> list[Any]:
    """Return the labels of a search in each of several tables of counts drawn again.

    Empty if counts are not aggregated, if labels were given, or if that would take long.
    """
    data, sides = state.joint, state.every_side()
    is_free = all(
        side is None or (not side.is_numbered and side.free.size == np.count_nonzero(mass))
        for side, mass in zip(sides, (data.row_mass, data.column_mass), strict=True)
    )
    if not is_free or type(data) is not Joint:
        return []
    work = data.nnz * sum(side.k for side in sides if side is not None)
    times = Budget.RESAMPLES.times(work, 0, MAX_RESAMPLES)
    observed = data.csr if data.is_count else data.unscaled  # counts may be too large for kernels
    is_aggregated = observed.data.mean() >= AGGREGATED and are_whole(observed.data)
    if not is_aggregated or times < MIN_RESAMPLES:
        return []
    means = _means_of_counts(observed.astype(np.float64))
    results = []
    for i in range(times):
        own = run.undisturbed().drawing(Purpose.RESAMPLES, i)
        counts = means.copy()
        counts.data[:] = own.rng.poisson(counts.data)
        counts.eliminate_zeros()
        masses = counts.sum(axis=1), counts.sum(axis=0)
        numbers = [None if side is None else side.k for side in sides]
        nonempty = [np.count_nonzero(mass) for mass in masses]
        if run.stop() or any((k or 0) > n for k, n in zip(numbers, nonempty, strict=True)):
            continue
        rows, columns = (free_start(k, mass) for k, mass in zip(numbers, masses, strict=True))
        again = CoClusterProblem(joint(counts), (rows, columns)).seeded(own)
        polish(again, own)
        results.append(again.labels())
    return results


def _means_of_counts(counts: sp.csr_array) -> sp.csr_array:
    """Return means of which draws vary as much between rows and columns as the counts do.

    Drawing adds as much to Pearson's X² as there is without structure, its degrees of freedom.
    Counts with more zeros than others are their own means: so many zeros are no chance.
    """
    if np.prod(counts.shape) > 2 * counts.nnz:
        return counts
    table = counts.toarray()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    independent = np.outer(rows, columns) / table.sum()
    squares = np.divide(
        (table - independent) ** 2, independent, where=independent > 0, out=0 * table
    )
    freedom = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
    kept = np.sqrt(max(1 - freedom / max(squares.sum(), 1), 0))
    return sp.csr_array(kept * table + (1 - kept) * independent)


SAMPLED_ELEMENTS = 1000  # elements: enough for one number
SHUFFLES = 10  # if there is time
COSTED_ENTRIES = 1 << 17  # of elements whose costs are computed at the same time
SHUFFLE_TERMS = 150  # terms of the cost that take as long as shuffling an entry
LOG_EXPONENTS = -4.0, 1.0  # of γ; above 0 only for measurements
MEASURED_SHARE = 0.5  # of the cells of a table of measurements have a weight
COST_ROUNDING = 1e-6  # nats per unit of mass: smaller differences of costs are rounding errors


class ElementSample(NamedTuple):
    """A sample of the elements of a side, and what their costs depend on."""

    entries: sp.csr_array  # elements by items
    home: np.ndarray  # the clusters of the elements
    target: Target
    spread: float


def evidence_exponent(
    side: Side, other: Side | None, beta: float, rng: np.random.Generator
) -> float:
    """Return γ of a side; 1 if there is nothing to measure."""
    if side.k == 1:
        return 1.0
    sample = _sample(side, other, beta, rng)
    work = sample.entries.nnz * (side.k + SHUFFLE_TERMS)
    n_shuffles = Budget.EVIDENCE.times(work, 1, SHUFFLES)
    orders = [rng.permutation(sample.entries.nnz) for _ in range(n_shuffles)]

    def deviations(i: int) -> tuple[np.ndarray, np.ndarray]:
        shuffled = sample.entries if i == n_shuffles else _shuffled(sample, orders[i])
        return _deviations(sample, shuffled)

    *shuffles, given = worker_of(side.joint).chunks(deviations, n_shuffles + 1)
    every = [_means(sample, squares * v[:, None], np.ones(v.size)) for squares, v in shuffles]
    data = side.joint
    is_measured = not data.is_count and data.nnz > MEASURED_SHARE * np.prod(data.shape)
    most = LOG_EXPONENTS[1] if is_measured else 0.0
    return _exponent(*given, np.mean(every, axis=0)[sample.home], most)


def _exponent(
    squares: np.ndarray, observed: np.ndarray, expected: np.ndarray, most: float
) -> float:
    """Return γ, given squared deviations, v, and the mean of v d² in shuffles, by element.

    ``most`` is the largest ln γ.
    """
    counts = expected > COST_ROUNDING**2
    squares = np.divide(squares, expected, out=np.zeros_like(expected), where=counts)
    squares = squares.sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    logs = np.log(observed, where=counts.any(axis=1), out=np.zeros(len(squares)))

    def loss(log_gamma: float) -> float:
        powers = np.exp(log_gamma) * logs
        return float((squares * np.exp(powers) - powers).sum() + log_gamma**2) / 2

    best = minimize_scalar(loss, bounds=(LOG_EXPONENTS[0], most), method="bounded")
    return float(np.exp(best.x)) if best.fun < loss(0.0) else 1.0


def _sample(side: Side, other: Side | None, beta: float, rng: np.random.Generator) -> ElementSample:
    elements = np.flatnonzero(side.labels >= 0)
    if elements.size > SAMPLED_ELEMENTS:
        elements = np.sort(rng.choice(elements, SAMPLED_ELEMENTS, replace=False))
    entries = side.joint.subset(elements, squeeze=False).csr
    cross, coupling = coupled(side.table, None if other is None else other.cross, beta)
    member = sp.csr_array((side.joint.shape[1], 0))
    if other is not None and cross.size:
        member = membership(other.labels, other.k)
    masses = side.blocks(cross).mass[:, : side.k]
    blocks = np.vstack([masses[: member.shape[1]], masses[-1:]])
    target = Target(side.masses, member, blocks, coupling)
    return ElementSample(entries, side.labels[elements], target, side.joint.spread)


def _shuffled(sample: ElementSample, drawn: np.ndarray) -> sp.csr_array:
    """Shuffle entries, drawn in random order, among elements of a cluster, which keep how many."""
    entries = sample.entries
    element = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
    home = sample.home[element]
    places = np.argsort(home, kind="stable")
    drawn = drawn[np.argsort(home[drawn], kind="stable")]
    where = element[places], entries.indices[drawn]
    return sp.coo_array((entries.data[drawn], where), shape=entries.shape).tocsr()


def _deviations(sample: ElementSample, entries: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return d_x(b)², the squared deviations of costs from the mean of their cluster, and v_x."""
    every = [_costs(sample, entries, part) for part in row_ranges(entries.indptr, COSTED_ENTRIES)]
    costs, counts = (np.concatenate(each) for each in zip(*every, strict=True))
    margins = costs - np.take_along_axis(costs, sample.home[:, None], axis=1)
    return (margins - _means(sample, margins, counts)[sample.home]) ** 2, counts


def _costs(
    sample: ElementSample, entries: sp.csr_array, part: slice
) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs of some elements per unit of mass, and v_x; only their items need memory."""
    own, target = entries[part], sample.target
    items = np.flatnonzero(np.bincount(own.indices, minlength=own.shape[1]))
    target = target._replace(masses=target.masses[items], member=target.member[items])
    rows = joint(own[:, items], 1.0)
    costs = costs_in(target, rows, sample.home[part], sample.spread)
    return costs / rows.row_mass[:, None], observations(rows.matrix)


def _means(sample: ElementSample, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weighted means over the elements of each cluster."""
    member = membership(sample.home, values.shape[1])
    total = member.T @ weights
    return (member.T @ (values * weights[:, None])) / np.where(total > 0, total, 1.0)[:, None]
