"""The paper's four guidelines on β: MAP at every β for four properties of data."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...costs.agreement import matching_accuracy
from ...costs.objective import cost
from ...io import datasets
from ..experiment import (
    Experiment,
    Key,
    PhaseDiagram,
    Reproduction,
    RunOptions,
    Runs,
    about,
    solve,
    verdicts,
)
from .synthetic import CIRCULANT_TRUTH, circulant_blocks

Sample = tuple[Any, np.ndarray, np.ndarray, int]  # matrix, true rows and columns, column clusters
ANNEALINGS = 5  # of which the best counts
RANGES = {"larger": slice(4), "intermediate": slice(4, 7), "smaller": slice(7, 11)}  # of β


def _planted(
    shape: tuple[int, int], counts: tuple[int, int], l: int, seed: int, **kind: float
) -> Sample:
    """Draw planted blocks whose column clusters are joined to l of them."""
    data = datasets.planted(shape, counts, random_state=seed, **kind)
    joined = np.asarray(data.column_classes) * l // counts[1]
    return data.matrix, np.asarray(data.row_classes), joined, l


def coupled(k: float, seed: int) -> Sample:
    """Circulant blocks: the fewer ones a row has, the stronger rows and columns are coupled."""
    return circulant_blocks(int(k)), CIRCULANT_TRUTH, CIRCULANT_TRUTH, 3


class Guideline(NamedTuple):
    """A property of data, values of it from mild to strong, and how to draw data that have it."""

    title: str
    label: str
    values: tuple[float, ...]
    draw: Callable[[float, int], Sample]


GUIDELINES = {
    "unequal": Guideline(  # eight diagonal blocks, with fewer column clusters
        "Unequal numbers",
        "column clusters for 8 row clusters",
        (8, 6, 4, 3, 2),
        lambda l, seed: _planted((120, 120), (8, 8), int(l), seed, diagonal=6.0, mean=0.325),
    ),
    "imbalanced": Guideline(  # each cluster has 1/ratio times the members of the one before
        "Imbalanced clusters",
        "ratio of sizes",
        (1.0, 1.5, 2.0, 2.5, 3.0),
        lambda ratio, seed: _planted(
            (120, 120), (4, 4), 4, seed, unequal=ratio, diagonal=4.0, mean=0.26
        ),
    ),
    "noise": Guideline(  # blocks that are observed with few counts
        "Noise",
        "mean count",
        (0.6, 0.3, 0.2, 0.15, 0.1),
        lambda mean, seed: _planted((150, 100), (5, 4), 4, seed, mean=mean),
    ),
    "coupled": Guideline("Coupling inside clusters", "ones in a row", (15, 9, 6, 4, 3), coupled),
}


def _run(key: Key, options: RunOptions) -> Any:
    """Return the MAP of rows at every β, and by how much the truth costs more at β = 0."""
    name, value, seed = str(key[0]), float(key[1]), int(key[2])
    matrix, rows, columns, l = GUIDELINES[name].draw(value, seed)
    counts = int(rows.max()) + 1, l
    path = solve(matrix, counts, 0.0, "anneal", n_init=ANNEALINGS, random_state=seed)
    maps = [matching_accuracy(rows, step.row_labels) for step in path]
    return {"maps": maps, "truth_costs_more": cost(matrix, rows, columns, 0.0) - path[-1].cost}


def _conclude(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    def every(name: str, value: float, what: str = "maps") -> np.ndarray:
        return np.array([run[what] for key, run in runs.items() if key[:2] == (name, value)])

    def ahead(name: str, best: str, *others: str) -> np.ndarray:
        maps = every(name, GUIDELINES[name].values[-1])
        means = {part: maps[:, of].mean(axis=1) for part, of in RANGES.items()}
        return np.column_stack([means[best] - means[other] for other in others])

    cheaper = every("imbalanced", GUIDELINES["imbalanced"].values[-1], "truth_costs_more")
    findings = {
        "unequal": ahead("unequal", "larger", "intermediate", "smaller"),
        "imbalanced": ahead("imbalanced", "smaller", "intermediate", "larger"),
        "noise": ahead("noise", "intermediate", "smaller", "larger"),
        "coupled": ahead("coupled", "intermediate", "larger"),
    }
    diagrams = [
        PhaseDiagram(*each[:3], np.array([every(name, v).mean(axis=0) for v in each.values]))
        for name, each in GUIDELINES.items()
    ]
    return Reproduction(
        **about("guidelines", n=n, starts=ANNEALINGS, cheaper=f"{np.mean(cheaper > 0):.0%}"),
        y_label="MAP of rows",
        claims=verdicts("guidelines", findings),
        diagrams=diagrams,
    )


guidelines = Experiment(
    "guidelines",
    "The four guidelines",
    _conclude,
    _run,
    lambda options, n: [
        key for name, each in GUIDELINES.items() for key in product([name], each.values, range(n))
    ],
    runs=20,
    quick_runs=4,
    batch=10,
)
