"""Which settings for which data: the measurements behind docs/how_to/settings.md.

Each kind of data is fitted with the recommended setting and with alternatives. Where classes are
known, the score is the adjusted Rand index (ARI) of row clusters and classes, with as many clusters
as classes. Elsewhere it is the ARI between the clusters of two random halves of the data. Both
compare labels only, so they mean the same for all settings. A difference is given with its standard
error over the samples. Arguments name kinds: texts, ratings, ...
"""

import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import kinds
import numpy as np
import scipy.sparse as sp
from common import circumstances
from kinds import Sample
from sklearn.metrics import adjusted_rand_score
from sknetwork.clustering import Leiden
from threadpoolctl import threadpool_limits

from comarkov import CoClustering, MarkovAggregation, MultiwayClustering
from comarkov.joint.weighting import SCHEMES

SAMPLES, MORE_SAMPLES = 3, 6  # the latter where they differ more
OTHER_BETAS = (1.0, 0.5)  # beside the default
Labels = Callable[[Sample], np.ndarray]  # the clusters of rows
Score = Callable[[Sample, Any, int], float]


def main(chosen: list[str]) -> None:
    print("| kind | data | setting | score | behind the recommended one |\n|---|---|---|---|---|")
    for kind, measure in KINDS.items():
        if not chosen or kind in chosen:
            for data, scores in measure().items():
                report(kind, data, scores)

    print("\n| kind | data | chosen numbers | known classes |\n|---|---|---|---|")
    for kind, (samples, weighting) in NUMBERS.items():
        if not chosen or kind in chosen:
            report_numbers(kind, samples, weighting)


def report_numbers(kind: str, samples: Callable[[int], Iterable[Sample]], weighting: str) -> None:
    """What "auto" chooses for one sample of each data set."""
    for sample in {sample.name: sample for sample in samples(1)}.values():
        model = CoClustering(weighting=weighting, random_state=0).fit(sample.matrix)
        numbers = f"{model.row_labels_.max() + 1} x {model.column_labels_.max() + 1}"
        known = "" if sample.classes is None else len(np.unique(sample.classes))
        print(f"| {kind} | {sample.name} | {numbers} | {known} |", flush=True)


def report(kind: str, data: str, scores: dict[str, list[float]]) -> None:
    """A line for each setting; the first one is recommended."""
    best = np.array(next(iter(scores.values())))
    for name, values in scores.items():
        gaps = best - np.array(values)
        error = f" ± {gaps.std(ddof=1) / np.sqrt(gaps.size):.2f}" if gaps.size > 1 else ""
        gap = f"{gaps.mean():.2f}{error}" if gaps.any() else ""
        cells = kind, f"{data} ({gaps.size})", name, f"{np.mean(values):.2f}", gap
        print(f"| {' | '.join(cells)} |", flush=True)


def measured(samples: Iterable[Sample], settings: dict[str, Any], score: Score) -> dict:
    """The scores of each setting by name of the data, one for each sample."""
    result: dict[str, dict[str, list[float]]] = {}
    for seed, sample in enumerate(samples):
        scores = result.setdefault(sample.name, {name: [] for name in settings})
        for name, setting in settings.items():
            scores[name].append(score(sample, setting, seed))
    return result


def weightings(best: str) -> dict[str, dict]:
    """The recommended weighting, the others, and the recommended one at other β."""
    schemes = {name: {"weighting": name} for name in (best, *SCHEMES)}
    return schemes | {f"{best}, β = {b:g}": {"weighting": best, "beta": b} for b in OTHER_BETAS}


def co_clustering(sample: Sample, settings: dict) -> CoClustering:
    return CoClustering(sample.n_clusters, n_init=1, random_state=0, **settings)


def by_classes(sample: Sample, settings: dict, seed: int) -> float:
    return agreement(sample.classes, co_clustering(sample, settings).fit_predict(sample.matrix))


def by_column_halves(sample: Sample, settings: dict, seed: int) -> float:
    """Agreement on the rows, clustered by either half of the columns."""
    order = np.random.default_rng(seed).permutation(sample.matrix.shape[1])
    parts = np.array_split(order, 2)
    model = co_clustering(sample, settings)
    return agreement(*(model.fit_predict(sample.matrix[:, part]) for part in parts))


def by_count_halves(sample: Sample, settings: dict, seed: int) -> float:
    """Agreement on rows and columns of two tables to which every count is divided at random."""
    half = np.random.default_rng(seed).binomial(sample.matrix, 0.5)
    tables = half, sample.matrix - half
    one, other = (co_clustering(sample, settings).fit(table) for table in tables)
    rows = agreement(one.row_labels_, other.row_labels_)
    return (rows + agreement(one.column_labels_, other.column_labels_)) / 2


def by_labels(sample: Sample, labels: Labels, seed: int) -> float:
    return agreement(sample.classes, labels(sample))


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """The adjusted Rand index of elements that are in clusters of both."""
    both = (one != -1) & (other != -1)
    return adjusted_rand_score(one[both], other[both])


def same_on_both_sides(beta: float) -> Labels:
    """Nodes of a network in the same clusters as rows and as columns."""

    def labels(sample: Sample) -> np.ndarray:
        model = MultiwayClustering(sample.n_clusters[0], beta=beta, n_init=1, random_state=0)
        return model.fit({("nodes", "nodes"): sample.matrix}).labels_["nodes"]

    return labels


def as_table(**settings: Any) -> Labels:
    """Nodes of a network by a co-clustering of the adjacency matrix."""
    return lambda sample: co_clustering(sample, settings).fit_predict(sample.matrix)


def leiden(sample: Sample) -> np.ndarray:
    return Leiden(random_state=0).fit(sp.csr_matrix(sample.matrix)).labels_


def chain(beta: float) -> Labels:
    def labels(sample: Sample) -> np.ndarray:
        model = MarkovAggregation(sample.n_clusters[0], beta=beta, random_state=0)
        return model.fit(sample.matrix).labels_

    return labels


NETWORKS = {f"same clusters on both sides, β = {b}": same_on_both_sides(b) for b in (0.7, 1, 0.5)}
NETWORKS |= {f"CoClustering, β = {b}": as_table(beta=b) for b in (0.7, 1, 0.5)}
NETWORKS |= {f"CoClustering, {w}": as_table(weighting=w) for w in ("uniform", "bm25")}
NETWORKS |= {"Leiden, which chooses the number": leiden}
KINDS: dict[str, Callable[[], dict]] = {
    "texts": lambda: measured(kinds.texts(SAMPLES), weightings("bm25"), by_classes),
    "ratings": lambda: measured(
        kinds.ratings(MORE_SAMPLES), weightings("counts"), by_column_halves
    ),
    "purchases": lambda: measured(kinds.purchases(SAMPLES), weightings("bm25"), by_classes),
    "cells": lambda: measured(kinds.cells(MORE_SAMPLES), weightings("bm25"), by_classes),
    "contingency": lambda: measured(kinds.contingency(), weightings("counts"), by_count_halves),
    "networks": lambda: measured(kinds.networks(SAMPLES), NETWORKS, by_labels),
    "chains": lambda: measured(
        kinds.chains(), {f"β = {b}": chain(b) for b in (0.3, 0, 0.1, 0.5, 1)}, by_labels
    ),
}
NUMBERS = {  # where the numbers are chosen, and with which weighting
    "texts": (kinds.texts, "bm25"),
    "purchases": (kinds.purchases, "bm25"),
    "cells": (kinds.cells, "bm25"),
    "networks": (kinds.networks, "counts"),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of rows without mass in a half
    threadpool_limits(1)
    print(circumstances(), flush=True)
    main(sys.argv[1:])
