"""Chains with metastable sets beside PCCA+, and networks with planted groups beside peers.

Part of make bench-quality. No options are set: how many clusters there are, and β, are chosen.
"""

import time

import networkx as nx
import numpy as np
from common import Report, run
from real_networks import real_networks
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

import comarkov
from comarkov import MarkovAggregation

SETS = ((60, 5, 5, 5), (20, 20, 20, 20), (40, 20, 10, 5), (15,) * 6, (100, 10, 10))
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


def planted(n, mixing, is_directed, seed):
    """Groups and degrees of very different sizes, as LFR has; a share of edges goes anywhere."""
    rng = np.random.default_rng(seed)
    sizes: list[int] = []
    while sum(sizes) < n:
        sizes.append(int(min(15 * (1 - rng.random()) ** -0.7, 100 if n > 500 else n // 5)))
    sizes[-1] -= sum(sizes) - n
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    degree = np.minimum(5 * (1 - rng.random(n)) ** -0.55, 60)
    draws = rng.poisson(degree if is_directed else degree / 2)
    source, target = np.repeat(np.arange(n), draws), np.empty(draws.sum(), int)
    is_free = rng.random(target.size) < mixing
    target[is_free] = rng.choice(n, is_free.sum(), p=degree / degree.sum())
    for group in np.unique(truth):
        members = np.flatnonzero(truth == group)
        here = np.flatnonzero(~is_free & (truth[source] == group))
        target[here] = rng.choice(members, here.size, p=degree[members] / degree[members].sum())
    graph = nx.DiGraph() if is_directed else nx.Graph()
    graph.add_nodes_from(range(n))
    ends = zip(source.tolist(), target.tolist(), strict=True)
    graph.add_edges_from((u, v) for u, v in ends if u != v)
    return graph, truth


def peers(graph: nx.Graph) -> tuple[dict[str, np.ndarray], float]:
    """The groups that others find, and the seconds of Leiden."""
    import igraph
    import leidenalg
    from infomap import Infomap

    is_directed = graph.is_directed()
    number = {node: i for i, node in enumerate(graph)}
    edges = [(number[u], number[v], w) for u, v, w in graph.edges(data="weight", default=1)]
    made = igraph.Graph(len(graph), [edge[:2] for edge in edges], directed=is_directed)
    made.es["weight"] = [edge[2] for edge in edges]
    start = time.perf_counter()
    quality = leidenalg.ModularityVertexPartition
    leiden = leidenalg.find_partition(made, quality, weights="weight", seed=0).membership
    seconds = time.perf_counter() - start
    flow = Infomap(silent=True, seed=1, directed=is_directed, two_level=True)
    for edge in edges:
        flow.add_link(*edge)
    flow.run()
    modules = flow.get_modules()
    undirected = made.as_undirected(combine_edges="sum")
    louvain = undirected.community_multilevel(weights="weight").membership
    infomap = [modules.get(i, -1) for i in range(len(graph))]
    found = {"Leiden": leiden, "Louvain": louvain, "infomap": infomap}
    return {name: np.array(labels) for name, labels in found.items()}, seconds


def ours(graph: nx.Graph) -> tuple[list[np.ndarray], float]:
    """The groups of each side in the order of the nodes, -1 for none, and the seconds."""
    start = time.perf_counter()
    model = comarkov.communities(graph).fitted
    seconds = time.perf_counter() - start
    sides = []
    for name, labels in model.labels_.items():
        of = dict(zip(map(str, model.names_[name]), labels.tolist(), strict=True))
        sides.append(np.array([of.get(str(node), -1) for node in graph]))
    return sides, seconds


def compare(report: Report, cases) -> tuple[dict[str, float], list[bool], list[float]]:
    """Mean AMI by method; whether numbers are near; times of Leiden. Prints a line for each."""
    scores: dict[str, list[float]] = {}
    near, times = [], []
    for name, (graph, truth) in cases:
        found, leiden_seconds = peers(graph)
        sides, seconds = ours(graph)
        each = {method: adjusted_mutual_info_score(truth, x) for method, x in found.items()}
        each["comarkov"] = np.mean([adjusted_mutual_info_score(truth, side) for side in sides])
        for method, score in each.items():
            scores.setdefault(method, []).append(score)
        k, wanted = sides[0].max() + 1, len(np.unique(truth))
        near.append(1 / NEAR <= k / wanted <= NEAR)
        times.append(seconds / leiden_seconds)
        line = ", ".join(f"{method} {score:.2f}" for method, score in each.items())
        two = " senders" * (len(sides) > 1)
        report.fact(name, f"{line}; {k} of {wanted}{two}; {times[-1]:.1f} x Leiden")
    return {name: float(np.mean(each)) for name, each in scores.items()}, near, times


def networks(report: Report) -> None:
    comarkov.communities(nx.karate_club_graph())  # compiled
    for title, cases, has_numbers in (
        ("30 planted networks, without options: AMI", planted_cases(), True),
        ("Real networks with known groups, without options: AMI", real_networks(report), False),
    ):
        report.title(title)
        means, near, times = compare(report, cases)
        own = means.pop("comarkov")
        for name, mean in means.items():
            report.figure(f"comarkov, beside {name}", own, ">=", mean, "")
        if has_numbers:
            report.figure("numbers within a factor of 1.5", float(np.mean(near)), ">=", 0.85, "")
        report.figure("median time", float(np.median(times)), "<=", LEIDEN_TIMES, "x Leiden")


def planted_cases():
    cases = [(n, mixing) for n in (200, 600, 1500, 4000, 10_000) for mixing in (0.1, 0.3, 0.5)]
    for seed, (n, mixing) in enumerate(cases):
        for is_directed in (False, True):
            kind = "directed" if is_directed else "undirected"
            graph = planted(n, mixing, is_directed, 1000 + 2 * seed + is_directed)
            yield f"{n:,} nodes, mixing {mixing}, {kind}", graph


def main(report: Report) -> None:
    chains(report)
    networks(report)


if __name__ == "__main__":
    run(main)
