"""The Markov chain of clusters: what comes next, how it goes on, and how well that is predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..costs.objective import surprise
from ..joint.messages import InputError, listed

STEPS = (1, 2, 5, 10)  # ahead, that are compared with what was observed
STEP_TEST = np.dtype(
    [("steps", int), ("pairs", int), ("error", float), ("bits", float), ("kept", float)]
)


@dataclass(frozen=True, eq=False)
class AggregatedChain:
    """The chain of the clusters of a fitted :class:`MarkovAggregation`.

    Examples
    --------
    >>> from comarkov import MarkovAggregation
    >>> model = MarkovAggregation(2, random_state=0).fit(list("abababcdcdcdcababab"))
    >>> model.labels_  # a and c take turns with b and d
    array([0, 1, 0, 1]...)
    >>> model.chain_.predict_next("a").round(2)
    array([0.11, 0.89])
    >>> len(model.chain_.simulate(10, random_state=0))
    10
    """

    transition_matrix: np.ndarray  #: the probability of each next cluster, given the cluster
    distribution: np.ndarray  #: the share of time in each cluster
    states: np.ndarray  #: the names of the states
    labels: np.ndarray  #: the cluster of each state; -1 for none
    step: float = 1.0  #: the time that a step takes, if the chain was given by rates

    def cluster_of(self, state: Any) -> int:
        """The cluster of a state, by name."""
        places = np.flatnonzero(self.states == state)
        if places.size == 0 or self.labels[places[0]] < 0:
            raise InputError(
                f"There is no state {state!r} in a cluster",
                advice=f"Use one of {listed(self.states[self.labels >= 0], 5)}.",
            )
        return int(self.labels[places[0]])

    def predict_next(self, state: Any, steps: int = 1) -> np.ndarray:
        """Return the probability of each cluster some steps after a state."""
        return np.linalg.matrix_power(self.transition_matrix, steps)[self.cluster_of(state)]

    def simulate(self, n_steps: int, start: Any = None, random_state: Any = None) -> np.ndarray:
        """Return the clusters of a random walk, from the cluster of a state or from anywhere."""
        rng = check_random_state(random_state)
        sums = np.cumsum(self.transition_matrix, axis=1)
        draws = rng.random_sample(n_steps) * (1 - 1e-12)
        if start is None:
            here = int(np.searchsorted(np.cumsum(self.distribution), draws[0], side="right"))
        else:
            here = self.cluster_of(start)
        walk = np.empty(n_steps, np.int64)
        for i, draw in enumerate(draws):
            walk[i] = here
            here = min(int(np.searchsorted(sums[here], draw, side="right")), len(sums) - 1)
        return walk

    def holding_times(self) -> np.ndarray:
        """Return how long a visit to each cluster lasts on average; infinite if it never ends."""
        leaves = 1 - np.diagonal(self.transition_matrix)
        return np.divide(self.step, leaves, out=np.full(leaves.size, np.inf), where=leaves > 1e-12)

    def time_scales(self) -> np.ndarray:
        """Return the implied time scales, -step / ln |λ|, of all eigenvalues but the first."""
        sizes = np.sort(abs(np.linalg.eigvals(self.transition_matrix)))[::-1][1:]
        with np.errstate(divide="ignore"):
            return np.asarray(self.step / abs(np.log(np.clip(sizes, 0.0, 1.0))))

    def compare_steps(
        self, sequences: Sequence[np.ndarray], steps: Sequence[int] = STEPS
    ) -> np.ndarray:
        """Compare P̄^n with what n steps led to in sequences of clusters (-1 for none).

        The fields are those of ``MarkovAggregation.test_steps``.
        """
        rows = []
        for n in steps:
            counts = np.zeros(self.transition_matrix.shape)
            for walk in sequences:
                before, after = walk[:-n], walk[n:]
                known = (before >= 0) & (after >= 0)
                np.add.at(counts, (before[known], after[known]), 1)
            pairs, before = counts.sum(), counts.sum(axis=1)
            if pairs == 0:
                continue
            predicted = np.linalg.matrix_power(self.transition_matrix, n)
            is_left = before[:, None] > 0
            observed = np.divide(counts, before[:, None], where=is_left, out=predicted.copy())
            error = before @ (abs(observed - predicted).sum(axis=1) / 2) / pairs
            bits, without = (surprise(counts, p) for p in (predicted, self.distribution))
            rows.append((n, pairs, error, bits, 1 - bits / without if without > 0 else 0.0))
        return np.array(rows, STEP_TEST)
