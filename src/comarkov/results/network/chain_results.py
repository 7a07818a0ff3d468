"""Results of a Markov aggregation: the aggregated chain in words, tables and a page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...costs.labels import membership
from ...io.csv_files import csv_text
from ...io.files import DATA_FILE
from ...io.read import Data
from ...joint.chains import read_transitions
from ..words.figures import bits_text, count_text, percent_text
from ..words.titles import Words, titles_from
from .type_findings import NetworkResults, listed, short

SIGNIFICANT = 0.05  # p-values below it reject lumpability
NOTABLE = 1.05  # steps of a visit that are worth a sentence
NEXT = 3  # next clusters that a description names
STATES = ("name", "cluster", "stationary_mass", "rank", "title")
CLUSTERS = ("cluster", "title", "states", "stationary_mass", "stays", "mean_steps")
TRANSITIONS = ("from", "to", "probability", "flow")


@dataclass(frozen=True, eq=False)
class ChainResults(NetworkResults):
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
        super().__post_init__()
        if not isinstance(self.data, Data):
            object.__setattr__(self, "data", _as_data(self.data, self.fitted.kind))

    @property
    def source(self) -> str:
        """What was read."""
        return str(self.data.source)

    @cached_property
    def names(self) -> list[str]:
        """The names of all states."""
        return [str(state) for state in self.fitted.states_]

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.fitted.transition_matrix_.shape[0])

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
    def outside(self) -> list[str]:
        """The states that are in no cluster."""
        return [self.names[i] for i in np.flatnonzero(self.fitted.labels_ < 0)]

    @cached_property
    def titles(self) -> list[str]:
        """A title for each cluster: its states with the most stationary mass."""
        inside = np.flatnonzero(self.fitted.labels_ >= 0)
        names = [short(self.names[i]) for i in inside]
        member = membership(self.fitted.labels_[inside], self.n_clusters).toarray()
        scores = (member * self.fitted.stationary_distribution_[inside, None]).T
        prefix = "state " if all(name.isdecimal() for name in names) else ""
        first = [short(self.names[self.members(a)[0]]) for a in range(self.n_clusters)]
        return titles_from(Words(names, scores, prefix, first))

    @cached_property
    def is_counted(self) -> bool:
        """Were transitions observed, so that some can be held out for a test?"""
        kind = "counts" if self.fitted.kind == "sequences" else self.fitted.kind
        return read_transitions(self.data, kind).is_counted

    def members(self, cluster: int) -> np.ndarray:
        """The states of a cluster, those with the most stationary mass first."""
        inside = np.flatnonzero(self.fitted.labels_ == cluster)
        return inside[np.argsort(-self.fitted.stationary_distribution_[inside], kind="stable")]

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
        kept = self.fitted.information_
        n_inside = len(self.names) - len(self.outside)
        lines = [
            f"{count_text(n_inside, 'state')} in {count_text(self.n_clusters, 'cluster')}: the "
            f"clusters keep {percent_text(kept.kept)} of the information that a state gives about "
            f"the next one ({bits_text(kept.row_clusters_column_clusters)} of "
            f"{bits_text(kept.rows_columns)} bits)."
        ]
        if self.outside:
            lines.append(
                f"{count_text(len(self.outside), 'state')} outside the largest set of states that "
                f"all lead to each other ({listed(self.outside[:5], len(self.outside))}): in no "
                "cluster."
            )
        return [*lines, *self._visits(), self.lumpability, *self.test]

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
        if steps[longest] < NOTABLE:
            return [f"{spends} It hardly ever stays in a cluster for a second step."]
        return [f"{spends} It stays longest {where}: {_steps(steps[longest])} on average."]

    @cached_property
    def lumpability(self) -> str:
        """Is the aggregated process a Markov chain? In words."""
        worst, loss = self.fitted.lumpability_, self.fitted.lumpability_loss_
        if worst.holds():
            return (
                "The chain is strongly lumpable: all states of a cluster go to each cluster with "
                "the same probability, so the clusters form a Markov chain themselves."
            )
        first, second = (self.names[i] for i in worst.states)
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
        return [self._lines(a, n) for a in range(self.n_clusters)]

    def _lines(self, cluster: int, n: int) -> list[str]:
        size, share = self.members(cluster).size, percent_text(self.shares[cluster])
        return [
            f"Cluster {cluster}: {self.titles[cluster]}",
            f"{count_text(size, 'state')}, {share} of the time",
            f"states: {listed(self.member_names(cluster, n), size)}",
            self._next(cluster),
        ]

    def _next(self, cluster: int) -> str:
        """What follows a cluster."""
        stays = f"stays with probability {self.probabilities[cluster, cluster]:.3f}"
        others = [f"{b} ({p:.3f})" for b, p in self.successors(cluster, NEXT)]
        return f"{stays}; next: {', '.join(others)}" if others else stays

    def member_names(self, cluster: int, n: int | None = None) -> list[str]:
        """The names of the n states of a cluster with the most stationary mass."""
        return [self.names[i] for i in self.members(cluster)[:n]]

    # --- files ------------------------------------------------------------------------------

    def tables(self) -> dict[str, str]:
        """The text of states.csv, clusters.csv and transitions.csv."""
        k, flow = self.n_clusters, self.shares[:, None] * self.probabilities
        return {
            "states.csv": csv_text(STATES, self._state_lines()),
            "clusters.csv": csv_text(CLUSTERS, (self._cluster_line(a) for a in range(k))),
            "transitions.csv": csv_text(
                TRANSITIONS,
                (
                    (a, b, f"{self.probabilities[a, b]:.6g}", f"{flow[a, b]:.6g}")
                    for a, b in np.ndindex(k, k)
                ),
            ),
        }

    def _state_lines(self) -> list[tuple[Any, ...]]:
        rank = {
            int(i): place
            for a in range(self.n_clusters)
            for place, i in enumerate(self.members(a), 1)
        }
        columns = zip(
            self.names, self.fitted.labels_, self.fitted.stationary_distribution_, strict=True
        )
        return [
            (name, label, f"{mass:.6g}", rank.get(i, ""), "" if label < 0 else self.titles[label])
            for i, (name, label, mass) in enumerate(columns)
        ]

    def _cluster_line(self, cluster: int) -> tuple[Any, ...]:
        numbers = self.shares[cluster], self.probabilities[cluster, cluster]
        size, steps = self.members(cluster).size, self.mean_steps(cluster)
        return cluster, self.titles[cluster], size, *(f"{x:.6g}" for x in (*numbers, steps))

    def figures(self) -> dict[str, Any]:
        """All figures for summary.json."""
        fitted = self.fitted
        test = getattr(fitted, "lumpability_test_", None)
        return {
            "data": {
                "source": self.source,
                "states": len(self.names),
                "transitions": int(self.data.matrix.nnz),
                "in_no_cluster": len(self.outside),
            },
            "beta": fitted.beta,
            "cost": fitted.cost_,
            "prediction_loss": fitted.prediction_loss_,
            "lumpability_loss": fitted.lumpability_loss_,
            "information": fitted.information_._asdict() | {"kept": fitted.information_.kept},
            "lumpability": fitted.lumpability_._asdict(),
            "lumpability_test": None if test is None else test._asdict(),
            "clusters": [
                {
                    "cluster": a,
                    "title": self.titles[a],
                    "size": self.members(a).size,
                    "stationary_mass": self.shares[a],
                    "mean_steps": self.mean_steps(a),
                    "states": self.member_names(a, 10),
                }
                for a in range(self.n_clusters)
            ],
            "transition_matrix": self.probabilities,
            "sentences": self.sentences,
        }

    def save_data(self, folder: Path) -> None:
        """Write the transitions."""
        self.data.save(folder / DATA_FILE)

    def to_html(self) -> str:
        """The page: one file that needs no network."""
        from ..report.network_pages import chain_page

        return chain_page(self)

    def python(self) -> str:
        """Python code that repeats the fit."""
        return (
            "import comarkov\nfrom comarkov import MarkovAggregation\n\n"
            f'data = comarkov.read("{DATA_FILE}")  # in the folder of this page\n'
            f"model = {self.fitted!r}.fit(data)\nprint(model.labels_)"
        )


def _as_data(X: Any, kind: str) -> Data:
    """The transitions that a chain was fitted on."""
    transitions = read_transitions(X, kind)
    names = [str(state) for state in transitions.states] if transitions.has_names else None
    return Data(transitions.weights, names, names, "state", "state")


def _steps(steps: float) -> str:
    return f"{bits_text(steps)} steps" if np.isfinite(steps) else "for ever"
