"""Methods beside CoClustering: aIB, ITCC against plain code, a large chain, several tables."""

import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from time import process_time

import numpy as np
import scipy.sparse as sp
from common import Report, newsgroups, planted, run, seconds

from comarkov import ITCC, MarkovAggregation, MultiwayClustering, evaluate
from comarkov.costs.objective import co_clustering
from comarkov.joint.chains import chain
from comarkov.joint.joint import joint
from comarkov.search.optimise.batch_updates import Batch
from comarkov.search.progress import Monitor
from comarkov.search.run import Run, Seed, Settings
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.network_state import (
    NETWORK_SLOWDOWN,
    Graph,
    WeightedRelation,
    network,
)
from comarkov.search.state.starts import free_start, starts_for

STATES, CLUSTERS, STEPS = 10_000, 20, 100
K, L = 20, 64
TOL = 1e-3  # bits
REPEATS = 5

AIB_MEASURED = """
import re, sys, time
import numpy as np
import scipy.sparse as sp
from comarkov import AIB
X = sp.load_npz(sys.argv[1]) if sys.argv[1].endswith("npz") else np.load(sys.argv[1])
AIB(2).fit(X[:200])  # kernels
before, cpu = time.perf_counter(), time.process_time()
AIB(20).fit(X)
print(time.process_time() - cpu, time.perf_counter() - before)
status = open("/proc/self/status").read()  # ru_maxrss would count the parent as well
print(int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) * 1.024e-3)
"""


def aib(report, X):
    report.title("aIB of 5,000 x 2,000 down to one cluster; CPU time, of one thread")
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(X.shape[0])[:5_000])
    words = np.sort(np.argsort(-np.asarray(X.sum(axis=0)).ravel())[:2_000])
    counts = X[rows][:, words]
    weights = counts.astype(np.float64).log1p()
    planted = 5 * rng.gamma(1.0, size=(20, 2_000))[rng.integers(20, size=5_000)]
    for name, matrix in (
        ("documents x words", counts),
        ("their log weights", weights),
        ("gamma floats without a zero", rng.gamma(0.5, size=(5_000, 2_000)) + 1e-6),
        ("Poisson counts without a zero", rng.poisson(5.0, (5_000, 2_000)) + 1),
        ("Poisson counts of 20 planted clusters", rng.poisson(planted) + 1),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("X.npz" if sp.issparse(matrix) else "X.npy")
            (sp.save_npz if sp.issparse(matrix) else np.save)(path, matrix)
            command = [sys.executable, "-c", AIB_MEASURED, str(path)]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        cpu, wall, memory = map(float, out.split())
        report.figure(name, cpu, "<=", 60, "s")
        report.fact("  on the clock, beside whatever else ran", f"{wall:.1f} s")
        report.figure("  peak memory of the process", memory, "<=", 1000, "MB")


# --- ITCC ---------------------------------------------------------------------------------------


def one_hot(labels, k):
    return sp.csr_matrix((np.ones(labels.size), (np.arange(labels.size), labels)), (labels.size, k))


def plain_itcc(P, rows, columns):
    """ITCC the way coclust does it: clusters as one-hot matrices, all else sparse products.

    With δ_kl = p_kl / (p_k. p_.l), row i goes to the k of largest Σ_l p_il ln δ_kl. As many
    products as in coclust, but an empty block is never chosen instead of having ln 0.0001, so that
    the updates are those of ITCC. Returns the informations kept, in bits, and the row labels.
    """
    Z, W = one_hot(rows, K), one_hot(columns, L)

    def blocks_and_logs(p_kj, p_il):
        p_kl = ((Z.T @ P) @ W).toarray()
        with np.errstate(divide="ignore"):
            return p_kl, np.log(p_kl / np.outer(p_kj.sum(axis=0), p_il.sum(axis=0)))

    def nearest(masses, logs):
        empty = np.isneginf(logs)
        scores = (masses @ sp.csr_matrix(np.where(empty, 0.0, logs))).toarray()
        if empty.any():
            scores[(masses.astype(bool) @ sp.csr_matrix(empty)).toarray()] = -np.inf
        return one_hot(scores.argmax(axis=1), logs.shape[1])

    _, logs = blocks_and_logs(P.T @ Z, P @ W)
    kept = [0.0]
    while len(kept) < 3 or kept[-1] - kept[-2] > TOL:
        p_il = P @ W
        Z = nearest(p_il, logs.T)
        _, logs = blocks_and_logs(P.T @ Z, p_il)
        p_kj = P.T @ Z
        W = nearest(p_kj, logs)
        p_kl, logs = blocks_and_logs(p_kj, P @ W)
        kept.append(p_kl[p_kl > 0] @ logs[p_kl > 0] / np.log(2))
    return kept[1:], Z.toarray().argmax(axis=1)


def cpu_seconds(work):
    """Of this process: both sides have one thread, and others may use the machine."""
    before = process_time()
    work()
    return process_time() - before


def itcc(report, X):
    report.title(f"ITCC, k = {K}, l = {L}, to a saving of {TOL} bits, from one start; CPU time")
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(K, size=X.shape[0]), rng.integers(L, size=X.shape[1])
    P = sp.csr_matrix(X, dtype=np.float64, copy=True)
    P = P * (1 / P.sum())
    data = joint(X)
    problem = CoClusterProblem(data, starts_for(data, (K, L), (rows, columns), None))
    costs, plain, times = [], [], []
    monitor = Monitor(callback=lambda progress: costs.append(progress.cost))
    settings = Run(0.5, Seed((0,)), monitor, Settings(tol=TOL))
    _ = data.T, data.information

    def updates():
        costs.clear()
        Batch(problem, [rows, columns]).refine(settings, "")

    fitted = ITCC((K, L), init=(rows, columns), tol=TOL).fit(X)
    for _ in range(REPEATS):  # interleaved, for the machine's moods
        own = cpu_seconds(updates)
        fit = cpu_seconds(lambda: fitted.fit(X))
        times.append((own, fit, cpu_seconds(lambda: plain.append(plain_itcc(P, rows, columns)))))
    own, fit, theirs = np.min(times, axis=0)
    kept, labels = plain[0]
    report.fact("iterations of both", f"{len(costs)}, {len(kept)}")
    report.figure("rows in the same cluster", (labels == fitted.row_labels_).mean(), ">=", 1, "")
    rise = max(after - before for before, after in pairwise(costs))
    report.figure("largest rise of the cost in an iteration", max(rise, 0.0), "<=", 0, "bits")
    report.fact("NumPy and SciPy, as coclust does it", f"{theirs:.2f} s")
    report.fact("comarkov, data prepared as for the other", f"{own:.2f} s")
    report.figure("faster", theirs / own, ">=", 20)
    report.fact("comarkov, whole fit with model and confidence", f"{fit:.2f} s")


# --- chains and several tables --------------------------------------------------------------------


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
        alone = seconds(lambda W=W: chain(W, is_counted=False))
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
    settings = Run(0.7, Seed((0,)))
    times = np.array(
        [
            [seconds(lambda s=state: s.sweep(s.sides()[0], settings)) for state in states]
            for _ in range(6)
        ]
    )
    general, special = times[1:].min(axis=0)
    report.fact("general", f"{general * 1e3:.0f} ms")
    report.fact("co-clustering's, counts", f"{special * 1e3:.0f} ms")
    slowdown = general / special / NETWORK_SLOWDOWN
    report.figure("slowdown / that of budgets", slowdown, "<=", 2)


def main(report: Report) -> None:
    X = sp.csr_matrix(newsgroups())
    aib(report, X)
    itcc(report, X)
    markov(report)
    multiway(report)
    kernels(report)


if __name__ == "__main__":
    run(main)
