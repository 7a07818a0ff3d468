"""Results of a Markov aggregation: the aggregated chain in words, tables and a page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..io.csv_files import csv_text
from ..io.files import DATA_FILE
from ..io.read import Data
from ..joint.chains import read_transitions
from ..joint.messages import listed
from ..joint.objects import as_objects
from .base_results import BaseResults, ClusteredElements, information_figures, records
from .describe import short
from .words.figures import bits_text, count_text, joined, percent_text

ORIGINS = {
    "observed": "Some states do not lead to each other, as in visits that end: steps count as "
    "often as they were observed, and clusters that are never left stay.",
    "restarts": "Some states do not lead to each other: the chain is taken to restart anywhere "
    "after 15% of its steps.",
    "given": "How often each state occurs was given.",
}
SIGNIFICANT = 0.05  # p-values below it reject lumpability
NO_LOSS = 1e-9  # bits
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
        super().__post_init__()
        if not isinstance(self.data, Data):
            given = read_transitions(self.data, self.fitted.kind, self.fitted.ends)
            names = [str(state) for state in given.states] if given.has_names else None
            data = Data(given.weights, names, names, "state", "state")
            object.__setattr__(self, "data", data)

    @cached_property
    def states(self) -> ClusteredElements:
        """All states in their clusters."""
        masses = self.fitted.stationary_distribution_
        names = as_objects(str(state) for state in self.fitted.states_)
        elements = {"kind": "state", "names": names, "labels": self.fitted.labels_}
        return ClusteredElements(**elements, masses=masses, typicality=masses)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.shares)

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each next cluster, given the cluster."""
        return np.asarray(self.fitted.transition_matrix_)

    @property
    def shares(self) -> np.ndarray:
        """The stationary mass of each cluster: the share of time that the chain spends there."""
        return np.asarray(self.fitted.cluster_distribution_)

    @cached_property
    def titles(self) -> list[str]:
        """A title for each cluster: its states with the most stationary mass."""
        return self.states.titles_by(self.states.masses)

    @cached_property
    def is_counted(self) -> bool:
        """Were transitions observed, so that some can be held out for a test?"""
        kind = "counts" if self.fitted.kind == "sequences" else self.fitted.kind
        return read_transitions(self.data, kind).is_counted

    def mean_steps(self, cluster: int) -> float:
        """How many steps a visit to a cluster lasts on average; infinite if it is never left."""
        chain = self.fitted.chain_
        return float(chain.holding_times()[cluster] / chain.step)

    def successors(self, cluster: int, n: int | None = None) -> list[tuple[int, float]]:
        """The other clusters that may follow a cluster and their probabilities, likeliest first."""
        row = self.probabilities[cluster]
        order = [int(b) for b in np.argsort(-row, kind="stable") if b != cluster and row[b] > 0]
        return [(b, float(row[b])) for b in order[:n]]

    @property
    def sentences(self) -> list[str]:
        """What was aggregated and what was kept, in plain words."""
        kept, outside = self.fitted.information_, self.states.outside
        n_inside = len(self.states.names) - len(outside)
        lines = [
            f"{count_text(n_inside, 'state')} in {count_text(self.n_clusters, 'cluster')}: the "
            f"clusters keep {percent_text(kept.kept)} of the information that a state gives about "
            f"the next one ({bits_text(kept.row_clusters_column_clusters)} of "
            f"{bits_text(kept.rows_columns)} bits).",
            self._visits(),
            self._slowest(),
            self._lumpability(),
            self.test,
            self.fitted.selection_reason_,
            ORIGINS.get(self.fitted.origin_, ""),
        ]
        if outside.size:
            lines.append(
                f"{count_text(len(outside), 'state')} outside the largest set of states that all "
                f"lead to each other ({listed(map(short, outside), 5)}): in no cluster."
            )
        steps = getattr(self.fitted, "step_test_", None)
        if steps is not None and steps.size:
            parts = [f"{count_text(int(x['steps']), 'step')} {x['error']:.2f}" for x in steps]
            lines.append(
                "What the chain of clusters predicts differs from held-out sequences by this share "
                f"(total variation), after {', '.join(parts)}."
            )
        return [line for line in lines if line]

    def _visits(self) -> str:
        if self.n_clusters == 1:
            return ""
        steps = [self.mean_steps(a) for a in range(self.n_clusters)]
        most, longest = int(self.shares.argmax()), int(np.argmax(steps))
        first, second = (f"in cluster {a + 1} ({self.titles[a]})" for a in (most, longest))
        spends = f"The chain spends {percent_text(self.shares[most])} of its time {first}."
        if steps[longest] < NOTABLE_STEPS:
            return f"{spends} It hardly ever stays in a cluster for a second step."
        time = steps[longest] * self.fitted.step_
        lasts = "for ever" if np.isinf(time) else f"{bits_text(time)} {self.unit} on average"
        where = "there" if longest == most else second
        return f"{spends} It stays longest {where}: {lasts}."

    def _slowest(self) -> str:
        """Implied time scales before and after."""
        before, after = (
            [bits_text(x) for x in times if self.fitted.step_ < x < np.inf][:NAMED_SUCCESSORS]
            for times in (self.fitted.time_scales_, self.fitted.chain_.time_scales())
        )
        if not before or not after:  # no process is slow, or all last for ever
            return ""
        return (
            f"The slowest processes that end last {joined(before)} {self.unit} between states, and "
            f"{joined(after)} between clusters: the closer, the better the clusters keep them."
        )

    @property
    def unit(self) -> str:
        """In what times are measured: steps, or the unit of rates."""
        return "steps" if self.fitted.step_ == 1 else "units of time"

    def _lumpability(self) -> str:
        worst = self.fitted.lumpability_
        if worst.holds() or self.fitted.lumpability_loss_ < NO_LOSS:
            states = "All states of a cluster from which the chain goes on"
            if worst.holds():
                states = "The chain is strongly lumpable: all states of a cluster"
            same = "go to each cluster with the same probability"
            return f"{states} {same}, so the clusters form a Markov chain themselves."
        first, second = (self.states.names[i] for i in worst.states)
        return (
            "The clusters are not exactly a Markov chain: the state adds "
            f"{bits_text(self.fitted.lumpability_loss_)} bits to what its cluster reveals about "
            f"the next cluster. The largest difference is in cluster {worst.cluster + 1}: the "
            f"probability of going to cluster {worst.target + 1} next is higher from {first} than "
            f"from {second}, by {worst.violation:.2g}."
        )

    @property
    def test(self) -> str:
        """What the test of lumpability found on held-out transitions; empty without one."""
        test = getattr(self.fitted, "lumpability_test_", None)
        if test is None:
            return ""
        held_out = f"{count_text(test.n_transitions)} held-out transitions"
        if np.isnan(test.p_value):
            return f"A test on {held_out} has nothing to compare."
        verdict = "are compatible with a lumpable chain: the next cluster seems to depend on"
        if test.p_value < SIGNIFICANT:
            verdict = "contradict a lumpable chain: the next cluster does not depend on"
        p_value = "p < 0.0001" if test.p_value < 1e-4 else f"p = {test.p_value:.2g}"
        return (
            f"{held_out} {verdict} the cluster alone (G-test, {p_value}; G = "
            f"{bits_text(test.statistic)}, where {bits_text(test.expected)} is expected)."
        )

    def cluster_lines(self, n: int) -> list[list[str]]:
        """A heading and lines about each cluster."""
        lines = []
        for a, title in enumerate(self.titles):
            size, share = count_text(self.states.sizes[a], "state"), percent_text(self.shares[a])
            states = f"states: {listed(map(short, self.states.typical(a, None)), n)}"
            stays = f"stays with probability {self.probabilities[a, a]:.3f}"
            if following := self.successors(a, NAMED_SUCCESSORS):
                stays += f"; next: {', '.join(f'{b + 1} ({p:.3f})' for b, p in following)}"
            head = f"Cluster {a + 1}: {title}"
            lines.append([head, f"{size}, {share} of the time", states, stays])
        return lines

    def tables(self) -> dict[str, str]:
        """The text of states.csv, clusters.csv and transitions.csv."""
        shares, probabilities = self.shares, self.probabilities
        transitions = (
            (a + 1, b + 1, f"{p:.6g}", f"{shares[a] * p:.6g}")
            for (a, b), p in np.ndenumerate(probabilities)
        )
        clusters = []
        for a, (title, size) in enumerate(zip(self.titles, self.states.sizes, strict=True)):
            numbers = shares[a], probabilities[a, a], self.mean_steps(a)
            clusters.append((a + 1, title, size, *(f"{number:.6g}" for number in numbers)))
        return {
            "states.csv": self.states.table(self.titles, "stationary_mass"),
            "clusters.csv": csv_text(CLUSTER_COLUMNS, clusters),
            "transitions.csv": csv_text(TRANSITION_COLUMNS, transitions),
        }

    def summary(self) -> dict[str, Any]:
        """All figures for summary.json."""
        fitted = self.fitted
        test = getattr(fitted, "lumpability_test_", None)
        data = {"source": self.source, "states": len(self.states.names)}
        data |= {"transitions": self.data.matrix.nnz, "in_no_cluster": len(self.states.outside)}
        return {
            "data": data,
            "beta": fitted.beta_,
            "reason": fitted.selection_reason_,
            "steps_from": fitted.origin_,
            "time_scales": fitted.chain_.time_scales(),
            "time_scales_of_states": fitted.time_scales_,
            "time_of_a_step": fitted.step_,
            "step_test": records(getattr(fitted, "step_test_", None)),
            "selection": records(fitted.selection_),
            "cost": fitted.cost_,
            "prediction_loss": fitted.prediction_loss_,
            "lumpability_loss": fitted.lumpability_loss_,
            "information": information_figures(fitted.information_),
            "lumpability": fitted.lumpability_._asdict(),
            "lumpability_test": None if test is None else test._asdict(),
            "clusters": [
                {"cluster": a + 1, "label": a, "title": title, "size": self.states.sizes[a]}
                | {"stationary_mass": self.shares[a], "mean_steps": self.mean_steps(a)}
                | {"states": self.states.typical(a)}
                for a, title in enumerate(self.titles)
            ],
            "transition_matrix": self.probabilities,
            "sentences": self.sentences,
        }

    def to_html(self) -> str:
        """The page: one file that needs no network."""
        from .report.network_pages import chain_page

        return chain_page(self)

    @property
    def python(self) -> str:
        """Python code that repeats the fit."""
        data = f'comarkov.read("{DATA_FILE}")  # in the folder of this page'
        return self._code(data, "print(model.labels_)")
