"""Chains with metastable sets beside PCCA+, and networks with planted groups beside peers.

Part of make bench-quality. No options are set: how many clusters there are, and β, are chosen.
"""

import time

import networkx as nx
import numpy as np
from common import Report, run
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

import comarkov
from comarkov import MarkovAggregation

SETS = ((60, 5, 5, 5), (20, 20, 20, 20), (40, 20, 10, 5), (15,) * 6, (100, 10, 10))
PLANTED = ((4, 50, 0.3, 0.05), (5, 40, 0.2, 0.05), (10, 30, 0.3, 0.02), (20, 50, 0.2, 0.005))
LEIDEN_TIMES = 5  # the most that a network may take, in times of Leiden
NEAR = 1.5  # the factor within which a number of clusters is right


def metastable(sizes, stay, is_reversible, seed):
    """A chain that leaves the set of its state with probability 1 - stay, and the sets."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    W = rng.gamma(0.5, size=(truth.size, truth.size))
    inside = truth[:, None] == truth
    if is_reversible:
        W = W + W.T
        share = np.minimum.outer(sizes, sizes) * (1 - stay) / (len(sizes) - 1)
        np.fill_diagonal(share, np.array(sizes) * stay)
        member = truth == np.arange(len(sizes))[:, None]
        W = W * (share / (member @ W @ member.T))[truth[:, None], truth]
        return W / W.sum(axis=1, keepdims=True), truth
    parts = (W * part / (W * part).sum(axis=1, keepdims=True) for part in (inside, ~inside))
    return np.average(list(parts), axis=0, weights=[stay, 1 - stay]), truth


def chains(report: Report) -> None:
    from deeptime.markov import pcca

    report.title("20 metastable chains, without options")
    ours, theirs, near = [], [], []
    cases = [(s, p, r) for s in SETS for p in (0.9, 0.97) for r in (True, False)]
    for seed, (sizes, stay, is_reversible) in enumerate(cases):
        P, truth = metastable(sizes, stay, is_reversible, seed)
        model = MarkovAggregation(random_state=0).fit(P)
        ours.append(adjusted_rand_score(truth, model.labels_))
        near.append(1 / NEAR <= model.n_clusters_ / len(sizes) <= NEAR)
        if is_reversible:
            theirs.append(ours[-1] - adjusted_rand_score(truth, pcca(P, len(sizes)).assignments))
    report.figure("mean ARI", float(np.mean(ours)), ">=", 0.98, "")
    report.figure("above PCCA+ with k given, reversible chains", np.mean(theirs), ">=", 0, "")
    report.figure("numbers within a factor of 1.5", float(np.mean(near)), ">=", 0.85, "")


def graphs():
    """Names, graphs and groups: planted partitions, and LFR graphs where networkx finds one."""
    for k, size, inside, outside in PLANTED:
        for is_directed in (False, True):
            for seed in (0, 1):
                graph = nx.planted_partition_graph(
                    k, size, inside, outside, seed=seed, directed=is_directed
                )
                yield graph, np.arange(k * size) // size
    for n in (200, 1000, 3000, 10_000):
        for mixing in (0.1, 0.3, 0.5):
            sizes = {"min_community": 20, "max_community": 60 if n < 1000 else 100}
            for seed in range(20):
                try:
                    graph = nx.LFR_benchmark_graph(
                        n, 3, 2, mixing, average_degree=12, max_degree=50, seed=seed, **sizes
                    )
                except nx.ExceededMaxIterations:
                    continue
                groups = {frozenset(graph.nodes[node]["community"]) for node in graph}
                label = {node: i for i, group in enumerate(groups) for node in group}
                yield graph, np.array([label[node] for node in graph])
                break


def peers(graph: nx.Graph) -> tuple[dict[str, np.ndarray], float]:
    """The groups that others find, and the seconds of Leiden."""
    import igraph
    import leidenalg
    from infomap import Infomap

    is_directed = graph.is_directed()
    made = igraph.Graph(len(graph), list(graph.edges), directed=is_directed)
    start = time.perf_counter()
    leiden = leidenalg.find_partition(made, leidenalg.ModularityVertexPartition, seed=0).membership
    seconds = time.perf_counter() - start
    flow = Infomap(silent=True, seed=1, directed=is_directed, two_level=True)
    for u, v in graph.edges:
        flow.add_link(u, v)
    flow.run()
    modules = flow.get_modules()
    louvain = made.as_undirected().community_multilevel().membership
    found = {"Leiden": leiden, "Louvain": louvain, "infomap": [modules.get(x, -1) for x in graph]}
    return {name: np.array(labels) for name, labels in found.items()}, seconds


def networks(report: Report) -> None:
    report.title("Networks with planted groups, without options: mean AMI")
    scores: dict[str, list[float]] = {}
    near, times = [], []
    comarkov.communities(nx.karate_club_graph())  # compiled
    for graph, truth in graphs():
        found, leiden_seconds = peers(graph)
        start = time.perf_counter()
        model = comarkov.communities(graph).fitted
        times.append((time.perf_counter() - start) / leiden_seconds)
        (found["comarkov"],) = model.labels_.values()
        for name, labels in found.items():
            scores.setdefault(name, []).append(adjusted_mutual_info_score(truth, labels))
        near.append(1 / NEAR <= (found["comarkov"].max() + 1) / (truth.max() + 1) <= NEAR)
    ours = float(np.mean(scores.pop("comarkov")))
    for name, values in scores.items():
        report.figure(f"comarkov, beside {name}", ours, ">=", float(np.mean(values)), "")
    report.figure("numbers within a factor of 1.5", float(np.mean(near)), ">=", 0.85, "")
    report.figure("median time", float(np.median(times)), "<=", LEIDEN_TIMES, "x Leiden")


def main(report: Report) -> None:
    chains(report)
    networks(report)


if __name__ == "__main__":
    run(main)
