"""How often the default ends at the least cost that there is, on data too small to excuse less.

Some 3 minutes of one core. The least costs come from plain NumPy, which tries all partitions;
beyond 6 x 5, from 2,000 random starts of the paper's sequential algorithm.
"""

import time
from itertools import product

import numpy as np
from common import Report, least_seconds, run
from scipy.special import xlogy

from comarkov import CoClustering, MarkovAggregation
from comarkov.joint.joint import joint
from comarkov.search.optimise import exact
from comarkov.search.optimise.exact import cost_parts
from comarkov.search.run import RATE, Run, Seed
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.starts import starts_for

BETAS = (0.0, 0.25, 0.5, 0.75, 1.0)
MATRICES = 380
CHAINS = 10  # of each size
LARGER = 12  # matrices up to 10 x 8
STARTS = 2_000
SAME = 1e-9  # bits


def main(report: Report) -> None:
    matrices(report)
    chains(report)
    larger(report)
    rate(report)


def matrices(report: Report) -> None:
    report.title(f"The global optimum: {MATRICES} matrices up to 6 x 5, all partitions tried")
    reached = np.zeros((MATRICES, len(BETAS)), bool)
    for i in range(MATRICES):
        rng = np.random.default_rng([1, i])
        W, counts = _drawn(rng, i, (6, 5))
        sides = [_memberships(size, k) for size, k in zip(W.shape, counts, strict=True)]
        for b, beta in enumerate(BETAS):
            least = _co_clustering_costs(W / W.sum(), *sides, beta).min()
            model = CoClustering(counts, beta=beta, random_state=i).fit(W)
            reached[i, b] = model.cost_ <= least + SAME
    for b, beta in enumerate(BETAS):
        report.figure(f"reached at β = {beta:g}", reached[:, b].mean(), ">=", 1.0, "")


def chains(report: Report) -> None:
    report.title(f"The global optimum: {CHAINS} chains each of 5 to 8 states, all partitions tried")
    for n in range(5, 9):
        reached = []
        for i in range(CHAINS):
            rng = np.random.default_rng([2, n, i])
            P = rng.dirichlet(np.full(n, rng.choice([0.2, 0.5, 1.0])), n) + 1e-3
            k = int(rng.integers(2, n))
            for beta in BETAS:
                model = MarkovAggregation(k, beta=beta, random_state=i).fit(P)
                flow = model.stationary_distribution_[:, None] * P / P.sum(axis=1, keepdims=True)
                least = _chain_costs(flow, _memberships(n, k), beta).min()
                reached.append(model.cost_ <= least + SAME)
        report.figure(f"reached with {n} states", float(np.mean(reached)), ">=", 1.0, "")


def larger(report: Report) -> None:
    report.title(f"Up to 10 x 8: the best of {STARTS:,} random starts, {LARGER} matrices at each β")
    reached, lower, ours = [], [], []
    for i in range(LARGER):
        W, counts = _drawn(np.random.default_rng([3, i]), i, (10, 8))
        for beta in BETAS:
            many = CoClustering(
                counts, beta=beta, method="sequential", n_init=STARTS, tol=0, random_state=i
            ).fit(W)
            began = time.process_time()
            model = CoClustering(counts, beta=beta, random_state=i).fit(W)
            ours.append(time.process_time() - began)
            reached.append(model.cost_ <= many.cost_ + SAME)
            lower.append(model.cost_ < many.cost_ - SAME)
    report.figure("reached or passed", float(np.mean(reached)), ">=", 0.99, "")
    report.fact("passed", f"{np.mean(lower):.2f}")
    report.fact("a fit takes, mean and most", f"{np.mean(ours):.2f}, {max(ours):.2f} s")


def rate(report: Report) -> None:
    report.title("All partitions: what they take, against what is counted for them")
    for shape, counts, beta in (((10, 8), (6, 4), 0.3), ((20, 5), (2, 2), 0.5), ((17, 9), 4, 1.0)):
        data = joint(np.random.default_rng(0).random(shape))
        problem = CoClusterProblem(data, starts_for(data, counts, None, None))
        parts = cost_parts(problem, beta)
        counted = min(exact.work(parts, outer) for outer in (None, 0, 1)) / RATE
        taken = least_seconds(lambda p=problem, b=beta: exact.optimum(p, Run(b, Seed((0,)))), 3)
        n, m = shape
        report.figure(f"{n} x {m}: seconds / those counted", taken / counted, "<=", 2)


def _drawn(
    rng: np.random.Generator, i: int, largest: tuple[int, int]
) -> tuple[np.ndarray, tuple[int, int]]:
    """Dense weights, sparse counts, zeros and ones, or planted blocks; and numbers of clusters."""
    n, m = (int(rng.integers(3, size + 1)) for size in largest)
    k, l = int(rng.integers(2, n)), int(rng.integers(2, m))
    blocks = rng.gamma(0.3, size=(k, l))
    planted = blocks[np.ix_(rng.integers(k, size=n), rng.integers(l, size=m))]
    W = (
        rng.gamma(0.5, size=(n, m)) + 1e-3,
        rng.poisson(1.0, (n, m)).astype(float),
        (rng.random((n, m)) < 0.5).astype(float),
        rng.poisson(5 * planted + 0.2).astype(float),
    )[i % 4]
    W[np.arange(n), rng.integers(m, size=n)] += W.sum(axis=1) == 0
    W[rng.integers(n, size=m), np.arange(m)] += W.sum(axis=0) == 0
    return W, (k, l)


# --- the oracle -------------------------------------------------------------------------------


def _memberships(n: int, k: int) -> np.ndarray:
    """All partitions of n elements into k clusters: partitions x elements x clusters."""
    labels = [
        labels
        for labels in product(range(k), repeat=n)
        if list(dict.fromkeys(labels)) == list(range(k))
    ]
    return (np.array(labels)[:, :, None] == np.arange(k)).astype(float)


def _co_clustering_costs(P: np.ndarray, rows: np.ndarray, columns: np.ndarray, beta: float):
    """L_β of all pairs of partitions."""
    by_column = _information(np.einsum("xy,qyb->qxb", P, columns))
    by_row = _information(np.einsum("pxa,xy->pay", rows, P))
    blocks = _information(np.einsum("pxa,xy,qyb->pqab", rows, P, columns, optimize=True))
    alone = by_row[:, None] + by_column[None]
    return 2 * beta * _information(P) + (1 - 2 * beta) * alone - 2 * (1 - beta) * blocks


def _chain_costs(flow: np.ndarray, members: np.ndarray, beta: float) -> np.ndarray:
    """β L_1 + (1-β) L_0 of all partitions of a chain."""
    next_cluster = _information(np.einsum("xy,qyb->qxb", flow, members))
    both = _information(np.einsum("qxa,xy,qyb->qab", members, flow, members, optimize=True))
    return beta * (_information(flow) - next_cluster) + (1 - beta) * (next_cluster - both)


def _information(P: np.ndarray) -> np.ndarray:
    """The mutual information in bits of tables of probabilities, in the last two axes."""
    margins = sum(xlogy(M, M).sum(axis=-1) for M in (P.sum(axis=-1), P.sum(axis=-2)))
    return (xlogy(P, P).sum(axis=(-2, -1)) - margins) / np.log(2)


if __name__ == "__main__":
    run(main)
