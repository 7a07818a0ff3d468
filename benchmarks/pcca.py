"""Markov aggregation beside PCCA+: a diffusion between wells, and a chain that goes round.

Prints the table of docs/concepts/markov.md; its chains are also those of settings.py.
"""

import numpy as np

from comarkov import MarkovAggregation, evaluate, information
from comarkov.costs.objective import markov

WELLS = 4


def wells(n=120, barrier=5.0):
    """Metropolis steps to the neighbours in a potential with four wells of different depth."""
    x = np.linspace(0, WELLS, n, endpoint=False) + WELLS / n / 2
    energy = barrier / 2 * (1 + np.cos(2 * np.pi * x)) - 0.6 * np.floor(x)
    P = np.zeros((n, n))
    for step in (-1, 1):
        start = np.arange(max(0, -step), min(n, n - step))
        uphill = np.maximum(energy[start + step] - energy[start], 0)
        P[start, start + step] = np.exp(-uphill) / 2
    P[np.arange(n), np.arange(n)] = 1 - P.sum(axis=1)
    return P, np.floor(x).astype(int)


def rounds(n=120, stray=0.1, seed=0):
    """Four groups of states that are visited in turn; some steps go anywhere."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % WELLS
    P = rng.gamma(0.5, size=(n, n)) * (truth[:, None] == (truth - 1) % WELLS)
    P = (1 - stray) * P / P.sum(axis=1, keepdims=True) + stray / n
    return P, truth


def compare(name, P, truth):
    """Both methods on one chain: groups found, losses in bits, how often a cluster is kept."""
    from deeptime.markov import pcca

    print(f"\n{name}\n{'':20}{'MAP':>6}{'L_1':>8}{'L_0':>8}{'I(Z̄1;Z̄2)':>11}{'stays':>8}")
    found = {}
    for beta in (0.5, 0.1):
        model = MarkovAggregation(WELLS, beta=beta, random_state=0).fit(P)
        found[f"comarkov, β = {beta}"] = model.labels_
    try:
        found["PCCA+ (deeptime)"] = pcca(P, WELLS).assignments
    except ValueError as error:
        print(f"PCCA+ declines: {error}")
    found["the groups as made"] = truth
    flow = model.stationary_distribution_[:, None] * P
    for method, labels in found.items():
        kept = information(flow, labels, labels)
        print(
            f"{method:20}{evaluate.matching_accuracy(truth, labels):6.2f}"
            f"{markov(1.0).cost(kept):8.3f}{markov(0.0).cost(kept):8.4f}"
            f"{kept.row_clusters_column_clusters:11.3f}"
            f"{flow[labels[:, None] == labels].sum():8.3f}"
        )


if __name__ == "__main__":
    P, truth = wells()
    for lag in (1, 100, 1000):
        compare(f"Four wells, seen every {lag} steps", np.linalg.matrix_power(P, lag), truth)
    P, truth = rounds()
    compare("Round and round", P, truth)
