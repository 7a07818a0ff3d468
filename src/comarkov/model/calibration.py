"""Calibrate the confidence: how much the entries of an element are worth as evidence.

The posterior of an element's clusters (see ``confidence``) counts its v effective observations as
v^γ independent ones; γ is below 1 if entries come in groups, as the words of a text do. Elements
then differ from each other more than independent entries would. Shuffling the entries among the
elements of each cluster shows how much independent entries differ. For an element x removed from
its cluster a, let d_x(b) be the deviation of c_b - c_a, per unit of mass, from the mean of its
cluster, and s_a(b)² the mean of v d(b)² over shuffled elements. Then

    γ = argmax  Σ_x mean_b [γ ln v_x - v_x^γ d_x(b)² / s_a(b)²] / 2 - (ln γ)² / 2    over γ ≤ 1

maximises the likelihood of normal deviations of variance s² / v^γ. The last term keeps γ near 1 if
there are few elements. γ never exceeds 1: elements are in their cheapest cluster, so they deviate
less than shuffled ones if clusters overlap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from ..costs.labels import membership
from ..data.joint import joint
from ..kernels.matrix import observations
from ..search import budgets
from ..search.coclusters import CoClusters
from ..search.run import Run
from ..search.side import Side
from ..search.streams import Purpose
from ..search.threads import in_order
from .placing import Target, costs_in

SAMPLE = 1000  # elements: enough for one number
SHUFFLES = 10  # if there is time
TERMS = 150  # terms of the cost that take as long as shuffling an entry
LIMIT = 4.0  # of -ln γ
ROUNDING = 1e-6  # nats per unit of mass: smaller differences of costs are rounding errors


class Sample(NamedTuple):
    """A sample of the elements of a side, and what their costs depend on."""

    entries: sp.csr_array  # elements by the items where they have mass
    home: np.ndarray  # the clusters of the elements
    target: Target
    spread: float


class Deviations(NamedTuple):
    """Deviations of the costs of elements from the mean of their cluster."""

    squares: np.ndarray  # d_x(b)², by (element, cluster)
    observations: np.ndarray  # the effective number of them


def evidence_exponents(state: CoClusters, run: Run) -> list[float | None]:
    """Return γ of rows and of columns; None for a side that is not clustered."""
    sides = state.rows, state.columns

    def exponent(i: int) -> float | None:
        side, other = sides[i], sides[1 - i]
        if side is None:
            return None
        return evidence_exponent(side, other, run.beta, run.seed.stream(Purpose.EVIDENCE, i))

    return list(in_order(exponent, range(2), state.joint.threads))


def evidence_exponent(
    side: Side, other: Side | None, beta: float, rng: np.random.Generator
) -> float:
    """Return γ of a side; 1 if there is nothing to measure."""
    if side.k == 1:
        return 1.0
    sample = _sample(side, other, beta, rng)
    work = sample.entries.nnz * (side.k + TERMS)
    n_shuffles = budgets.times(budgets.EVIDENCE, work, 1, SHUFFLES)
    shuffles = [_variances(sample, _shuffled(sample, rng)) for _ in range(n_shuffles)]
    expected = np.mean(shuffles, axis=0)[sample.home]
    return _exponent(_deviations(sample, sample.entries), expected)


def _exponent(given: Deviations, expected: np.ndarray) -> float:
    """Return γ, given deviations and their expected squares at v = 1, by (element, cluster)."""
    counts = expected > ROUNDING**2
    squares = np.divide(given.squares, expected, out=np.zeros_like(expected), where=counts)
    squares = squares.sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    logs = np.log(given.observations, where=counts.any(axis=1), out=np.zeros(len(squares)))

    def loss(log_gamma: float) -> float:
        powers = np.exp(log_gamma) * logs
        return float((squares * np.exp(powers) - powers).sum() + log_gamma**2) / 2

    best = minimize_scalar(loss, bounds=(-LIMIT, 0.0), method="bounded")
    return float(np.exp(best.x)) if best.fun < loss(0.0) else 1.0


def _sample(side: Side, other: Side | None, beta: float, rng: np.random.Generator) -> Sample:
    elements = np.flatnonzero(side.labels >= 0)
    if elements.size > SAMPLE:
        elements = np.sort(rng.choice(elements, SAMPLE, replace=False))
    entries = side.joint.subset(elements, squeeze=False).csr
    items = np.unique(entries.indices)
    if other is None:
        member, coupling = sp.csr_array((side.joint.shape[1], 0)), 1.0
    else:
        member, coupling = membership(other.labels, other.k), 2.0 * beta - 1.0
    blocks = np.vstack([member.T @ side.masses, side.cluster_mass()])
    target = Target(side.masses[items], member[items], blocks, coupling)
    return Sample(entries[:, items], side.labels[elements], target, side.joint.spread)


def _shuffled(sample: Sample, rng: np.random.Generator) -> sp.csr_array:
    """Shuffle entries among the elements of each cluster; every element keeps its number of them.

    Entries of the same item and element are summed.
    """
    entries = sample.entries
    element = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
    home = sample.home[element]
    places = np.argsort(home, kind="stable")
    drawn = rng.permutation(home.size)
    drawn = drawn[np.argsort(home[drawn], kind="stable")]
    where = element[places], entries.indices[drawn]
    return sp.coo_array((entries.data[drawn], where), shape=entries.shape).tocsr()


def _variances(sample: Sample, entries: sp.csr_array) -> np.ndarray:
    """Return the mean of v d(b)² over the elements of each cluster, by (cluster, b)."""
    squares, counts = _deviations(sample, entries)
    return _means(sample, squares * counts[:, None], np.ones(counts.size))


def _deviations(sample: Sample, entries: sp.csr_array) -> Deviations:
    """Return d_x(b)² of elements with these entries."""
    rows = joint(entries, 1.0)
    counts = observations(rows.matrix)
    costs = costs_in(sample.target, rows, sample.home, sample.spread) / rows.row_mass[:, None]
    margins = costs - np.take_along_axis(costs, sample.home[:, None], axis=1)
    return Deviations((margins - _means(sample, margins, counts)[sample.home]) ** 2, counts)


def _means(sample: Sample, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weighted means over the elements of each cluster."""
    member = membership(sample.home, values.shape[1])
    total = member.T @ weights
    return (member.T @ (values * weights[:, None])) / np.where(total > 0, total, 1.0)[:, None]
