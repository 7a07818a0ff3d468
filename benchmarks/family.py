"""Markov aggregation of a large sparse chain, multi-way clustering, and their kernel's price."""

import numpy as np
import scipy.sparse as sp
from common import Report, planted, seconds

from comarkov import MarkovAggregation, MultiwayClustering, evaluate
from comarkov.costs.objective import co_clustering
from comarkov.joint.chains import chain
from comarkov.joint.joint import joint
from comarkov.search.run import Run, Seed
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.graph import Graph, WeightedRelation
from comarkov.search.state.network_state import network
from comarkov.search.state.starts import free_start

STATES, CLUSTERS, STEPS = 10_000, 20, 100


def large_chain(inside: float, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """100 weights a state; a share goes to its own cluster or the next, the rest anywhere."""
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.arange(STATES) % CLUSTERS)
    members = np.argsort(label, kind="stable").reshape(CLUSTERS, -1)
    before = np.repeat(np.arange(STATES), STEPS)
    target = (label[before] + (rng.random(before.size) < 0.3)) % CLUSTERS
    near = members[target, rng.integers(members.shape[1], size=before.size)]
    after = np.where(rng.random(before.size) < inside, near, rng.integers(STATES, size=before.size))
    weights = rng.gamma(2.0, size=before.size)
    return sp.csr_array((weights, (before, after)), (STATES, STATES)), label


def markov(report: Report) -> None:
    report.title("Markov aggregation: 10,000 states, 1e6 transitions, 20 clusters, one thread")
    MarkovAggregation(3, random_state=0).fit(np.random.default_rng(0).random((30, 30)))  # compile
    for inside in (0.6, 0.2):
        W, label = large_chain(inside)
        report.fact(f"{inside:.0%} of steps planned: non-zeros", f"{W.nnz}")
        alone = seconds(lambda W=W: chain(W, np.arange(STATES), False))
        report.fact("of which stationary distribution", f"{alone:.2f} s")
        model = MarkovAggregation(CLUSTERS, random_state=0)
        report.figure("whole fit", seconds(lambda m=model, W=W: m.fit(W)), "<=", 30, "s")
        result = evaluate.matching_accuracy(label, model.labels_)
        report.figure("planted clusters found (MAP)", result, ">=", 0.98, "")


def multiway(report: Report) -> None:
    report.title("Multi-way clustering: 10,000 documents, 5,000 words, 2,000 authors, 20 each")
    words = planted(10**6, CLUSTERS)
    authors = planted(10**6, CLUSTERS, columns=2_000)
    X = {("documents", "words"): words, ("documents", "authors"): authors}
    model = MultiwayClustering(CLUSTERS, random_state=0)
    report.fact("non-zeros", f"{words.nnz + authors.nnz}")
    report.fact("whole fit", f"{seconds(lambda: model.fit(X)):.1f} s")


def kernels(report: Report) -> None:
    report.title(
        "The general kernel and that of co-clustering: one sweep over rows, k = 20, β = 0.7"
    )
    data = joint(planted(10**6, CLUSTERS))
    labels = [np.random.default_rng(0).integers(CLUSTERS, size=size) for size in data.shape]
    rows, columns = (free_start(CLUSTERS, mass) for mass in (data.row_mass, data.column_mass))
    graph = Graph((WeightedRelation(0, 1, data, co_clustering),), 2)
    states = (
        network(graph, [rows, columns], labels),
        CoClusterProblem(data, (rows, columns)).with_labels(labels),
    )
    run = Run(0.7, Seed((0,)))
    times = np.array(
        [
            [seconds(lambda s=state: s.sweep(s.sides()[0], run)) for state in states]
            for _ in range(6)
        ]
    )
    general, special = times[1:].min(axis=0)
    report.fact("general", f"{general * 1e3:.0f} ms")
    report.fact("co-clustering's, counts", f"{special * 1e3:.0f} ms")
    slowdown = general / special / run.NETWORK_SLOWDOWN
    report.figure("slowdown / that of budgets", slowdown, "<=", 2)


def main(report: Report) -> None:
    markov(report)
    multiway(report)
    kernels(report)


if __name__ == "__main__":
    main(Report())
