"""Results of a Markov aggregation: the aggregated chain in words, tables and a page."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..costs.labels import membership
from ..io.csv_files import csv_text
from ..io.files import DATA_FILE
from ..io.read import Data
from ..joint.chains import read_transitions
from ..joint.messages import listed
from .base_results import BaseResults, ClusteredElements
from .describe import short
from .words.figures import bits_text, count_text, percent_text
from .words.titles import Words, titles_from

ORIGINS = {
    "observed": "Some states do not lead to each other, as in visits that end: steps count as "
    "often as they were observed, and clusters that are never left stay.",
    "restarts": "Some states do not lead to each other: the chain is taken to restart anywhere "
    "after 15% of its steps.",
    "given": "How often each state occurs was given.",
}
SIGNIFICANT = 0.05  # p-values below it reject lumpability
NOTABLE_STEPS = 1.05  # of a visit, which are worth a sentence
NAMED_SUCCESSORS = 3  # clusters that may follow, in a description
CLUSTER_COLUMNS = ("cluster", "title", "states", "stationary_mass", "stays", "mean_steps")
TRANSITION_COLUMNS = ("from", "to", "probability", "flow")


@dataclass(frozen=True, eq=False)
class ChainResults(BaseResults):
    """A fitted :class:`MarkovAggregation` on its transitions, and the files about them.

    ``data`` are the transitions, as ``comarkov.read`` returns them or as ``fit`` takes them.

    Examples
    --------
    >>> from comarkov import ChainResults, MarkovAggregation
    >>> visits = list("abacabacbabacacabab")
    >>> model = MarkovAggregation(2, random_state=0).fit(visits)
    >>> results = ChainResults(model, visits)
    >>> results.titles
    ['b · c', 'a']

    ``results.write("folder")`` writes all files, ``results.to_html()`` is the page alone.
    """

    def __post_init__(self) -> None:
        check_is_fitted(self.fitted)
        object.__setattr__(self, "fitted", copy(self.fitted))  # later fits leave results alone
        if not isinstance(self.data, Data):
            object.__setattr__(self, "data", _as_data(self.data, self.fitted.kind))

    @property
    def source(self) -> str:
        """What was read."""
        return str(self.data.source)

    @cached_property
    def states(self) -> ClusteredElements:
        """All states in their clusters."""
        masses = self.fitted.stationary_distribution_
        names = [str(state) for state in self.fitted.states_]
        return ClusteredElements(names, self.fitted.labels_, masses, masses)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.probabilities.shape[0])

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each next cluster, given the cluster."""
        matrix: np.ndarray = self.fitted.transition_matrix_
        return matrix

    @property
    def shares(self) -> np.ndarray:
        """The stationary mass of each cluster: the share of time that the chain spends there."""
        masses: np.ndarray = self.fitted.cluster_distribution_
        return masses

    @cached_property
    def titles(self) -> list[str]:
        """A title for each cluster: its states with the most stationary mass."""
        states = self.states
        inside = np.flatnonzero(states.labels >= 0)
        names = [short(states.names[i]) for i in inside]
        member = membership(states.labels[inside], self.n_clusters).toarray()
        scores = (member * states.masses[inside, None]).T
        prefix = "state " if all(name.isdecimal() for name in names) else ""
        first = [short(states.member_names(a, 1)[0]) for a in range(self.n_clusters)]
        return titles_from(Words(names, scores, prefix, first))

    @cached_property
    def is_counted(self) -> bool:
        """Were transitions observed, so that some can be held out for a test?"""
        kind = "counts" if self.fitted.kind == "sequences" else self.fitted.kind
        return read_transitions(self.data, kind).is_counted

    def mean_steps(self, cluster: int) -> float:
        """How many steps a visit to a cluster lasts on average; infinite if it is never left."""
        leaves = 1 - self.probabilities[cluster, cluster]
        return 1 / leaves if leaves > 1e-12 else np.inf

    def successors(self, cluster: int, n: int | None = None) -> list[tuple[int, float]]:
        """The other clusters that may follow a cluster and their probabilities, likeliest first."""
        row = self.probabilities[cluster]
        order = [int(b) for b in np.argsort(-row, kind="stable") if b != cluster and row[b] > 0]
        return [(b, float(row[b])) for b in order[:n]]

    # --- words ------------------------------------------------------------------------------

    @property
    def sentences(self) -> list[str]:
        """What was aggregated and what was kept, in plain words."""
        kept, outside = self.fitted.information_, self.states.outside
        n_inside = len(self.states.names) - len(outside)
        lines = [
            f"{count_text(n_inside, 'state')} in {count_text(self.n_clusters, 'cluster')}: the "
            f"clusters keep {percent_text(kept.kept)} of the information that a state gives about "
            f"the next one ({bits_text(kept.row_clusters_column_clusters)} of "
            f"{bits_text(kept.rows_columns)} bits)."
        ]
        if self.fitted.selection_reason_:
            lines.append(self.fitted.selection_reason_)
        if self.fitted.origin_ in ORIGINS:
            lines.append(ORIGINS[self.fitted.origin_])
        if outside:
            lines.append(
                f"{count_text(len(outside), 'state')} outside the largest set of states that all "
                f"lead to each other ({listed(map(short, outside), 5)}): in no cluster."
            )
        return [*lines, *self._visits(), self.lumpability, *self.test, *self.steps_ahead]

    @property
    def steps_ahead(self) -> list[str]:
        """How well the chain of clusters predicts held-out sequences, in words."""
        test = getattr(self.fitted, "step_test_", None)
        if test is None or not test.size:
            return []
        parts = [f"{count_text(int(each['steps']), 'step')} {each['error']:.2f}" for each in test]
        return [
            "What the chain of clusters predicts differs from held-out sequences by this share "
            f"(total variation), after {', '.join(parts)}."
        ]

    def _visits(self) -> list[str]:
        """Where the chain is most of the time, and where it stays longest."""
        if self.n_clusters == 1:
            return []
        most = int(self.shares.argmax())
        steps = [self.mean_steps(a) for a in range(self.n_clusters)]
        longest = int(np.argmax(steps))
        where = "there" if longest == most else f"in cluster {longest} ({self.titles[longest]})"
        spends = (
            f"The chain spends {percent_text(self.shares[most])} of its time in cluster {most} "
            f"({self.titles[most]})."
        )
        if steps[longest] < NOTABLE_STEPS:
            return [f"{spends} It hardly ever stays in a cluster for a second step."]
        time = f"{bits_text(steps[longest])} steps" if np.isfinite(steps[longest]) else "for ever"
        return [f"{spends} It stays longest {where}: {time} on average."]

    @cached_property
    def lumpability(self) -> str:
        """Is the aggregated process a Markov chain? In words."""
        worst, loss = self.fitted.lumpability_, self.fitted.lumpability_loss_
        if worst.holds():
            return (
                "The chain is strongly lumpable: all states of a cluster go to each cluster with "
                "the same probability, so the clusters form a Markov chain themselves."
            )
        first, second = (self.states.names[i] for i in worst.states)
        return (
            "The clusters are not exactly a Markov chain: the state adds "
            f"{bits_text(loss)} bits to what its cluster reveals about the next cluster. The "
            f"largest difference is in cluster {worst.cluster}: the probability of going to "
            f"cluster {worst.target} next is {worst.violation:.2g} higher "
            f"from {first} than from {second}."
        )

    @cached_property
    def test(self) -> list[str]:
        """What the test of lumpability found on held-out transitions, in words."""
        test = getattr(self.fitted, "lumpability_test_", None)
        if test is None:
            return []
        held_out = f"{count_text(test.n_transitions)} held-out transitions"
        if np.isnan(test.p_value):
            return [f"A test on {held_out} has nothing to compare."]
        verdict = (
            "reject that the next cluster depends on the cluster alone: the chain is not lumpable"
            if test.p_value < SIGNIFICANT
            else "are compatible with a lumpable chain: the next cluster seems to depend on the "
            "cluster alone"
        )
        p_value = "p < 0.0001" if test.p_value < 1e-4 else f"p = {test.p_value:.2g}"
        return [
            f"{held_out} {verdict} (G-test, {p_value}; G = {bits_text(test.statistic)}, where "
            f"{bits_text(test.expected)} is expected of a lumpable chain)."
        ]

    def cluster_lines(self, n: int) -> list[list[str]]:
        """A heading and lines about each cluster."""
        return [
            [
                f"Cluster {a}: {title}",
                f"{count_text(self.states.size(a), 'state')}, "
                f"{percent_text(self.shares[a])} of the time",
                f"states: {listed(map(short, self.states.member_names(a)), n)}",
                self._successors_text(a),
            ]
            for a, title in enumerate(self.titles)
        ]

    def _successors_text(self, cluster: int) -> str:
        stays = f"stays with probability {self.probabilities[cluster, cluster]:.3f}"
        others = [f"{b} ({p:.3f})" for b, p in self.successors(cluster, NAMED_SUCCESSORS)]
        return f"{stays}; next: {', '.join(others)}" if others else stays

    # --- files ------------------------------------------------------------------------------

    def tables(self) -> dict[str, str]:
        """The text of states.csv, clusters.csv and transitions.csv."""
        k, flow = self.n_clusters, self.shares[:, None] * self.probabilities
        transitions = (
            (a, b, f"{self.probabilities[a, b]:.6g}", f"{flow[a, b]:.6g}")
            for a, b in np.ndindex(k, k)
        )
        return {
            "states.csv": self.states.table(self.titles, "stationary_mass"),
            "clusters.csv": csv_text(CLUSTER_COLUMNS, map(self._cluster_line, range(k))),
            "transitions.csv": csv_text(TRANSITION_COLUMNS, transitions),
        }

    def _cluster_line(self, a: int) -> tuple[Any, ...]:
        numbers = self.shares[a], self.probabilities[a, a], self.mean_steps(a)
        return a, self.titles[a], self.states.size(a), *(f"{number:.6g}" for number in numbers)

    def summary(self) -> dict[str, Any]:
        """All figures for summary.json."""
        fitted = self.fitted
        test = getattr(fitted, "lumpability_test_", None)
        return {
            "data": {
                "source": self.source,
                "states": len(self.states.names),
                "transitions": int(self.data.matrix.nnz),
                "in_no_cluster": len(self.states.outside),
            },
            "beta": fitted.beta_,
            "reason": fitted.selection_reason_,
            "steps_from": fitted.origin_,
            "time_scales": fitted.chain_.time_scales(),
            "step_test": _records(getattr(fitted, "step_test_", None)),
            "selection": _records(fitted.selection_),
            "cost": fitted.cost_,
            "prediction_loss": fitted.prediction_loss_,
            "lumpability_loss": fitted.lumpability_loss_,
            "information": fitted.information_._asdict() | {"kept": fitted.information_.kept},
            "lumpability": fitted.lumpability_._asdict(),
            "lumpability_test": None if test is None else test._asdict(),
            "clusters": [
                {
                    "cluster": a,
                    "title": title,
                    "size": self.states.size(a),
                    "stationary_mass": self.shares[a],
                    "mean_steps": self.mean_steps(a),
                    "states": self.states.member_names(a, 10),
                }
                for a, title in enumerate(self.titles)
            ],
            "transition_matrix": self.probabilities,
            "sentences": self.sentences,
        }

    def save_data(self, folder: Path) -> None:
        """Write the transitions."""
        self.data.save(folder / DATA_FILE)

    def to_html(self) -> str:
        """The page: one file that needs no network."""
        from .report.network_pages import chain_page

        return chain_page(self)

    @property
    def python(self) -> str:
        """Python code that repeats the fit."""
        return (
            "import comarkov\nfrom comarkov import MarkovAggregation\n\n"
            f'data = comarkov.read("{DATA_FILE}")  # in the folder of this page\n'
            f"model = {self.fitted!r}.fit(data)\nprint(model.labels_)"
        )


def _records(table: np.ndarray | None) -> list[dict[str, Any]] | None:
    """A structured array as one dict for each line."""
    if table is None:
        return None
    return [dict(zip(table.dtype.names or (), line.tolist(), strict=True)) for line in table]


def _as_data(X: Any, kind: str) -> Data:
    """The transitions that a chain was fitted on."""
    transitions = read_transitions(X, kind)
    names = [str(state) for state in transitions.states] if transitions.has_names else None
    return Data(transitions.weights, names, names, "state", "state")
