"""Sweeps and fits of 20 Newsgroups beside yardsticks and IBM sib; growth; peak memory (Linux)."""

import os
import subprocess
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import Report, least_seconds, newsgroups, planted, run, seconds

import comarkov
from comarkov import CoClustering
from comarkov.joint.joint import joint
from comarkov.model.leaves import take_leaves
from comarkov.search.run import RATE, Run, Seed
from comarkov.search.state.coclusters import CoClusters, Solution
from comarkov.search.state.side import Side

K = 20
SEEDS = range(5)
GROWTH_SIZES = (10**5, 10**6, 10**7)
GROWTH_CLUSTERS = (5, 20, 100, 500)
MEASURE_PEAK = """
import sys, gc
import scipy.sparse as sp
from comarkov import CoClustering

def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))

X = sp.load_npz(sys.argv[1])
n_clusters = eval(sys.argv[2])
warm = CoClustering((2, n_clusters[1] and 2), method="anneal", random_state=0, max_iter=1)
warm.fit(X[:200])  # kernels
gc.collect()
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
CoClustering(n_clusters, method="anneal", random_state=0, max_iter=3).fit(X)
print(status("VmHWM") - before)
"""


def sweeps(X, seed, count=10):
    """Times of complete sweeps over the rows, from a random start."""
    distribution = joint(X)
    labels = np.random.default_rng(seed).integers(K, size=X.shape[0])
    side = Side(distribution, labels, K, np.arange(X.shape[0]))
    settings = Run(1.0, Seed((seed,)))
    return [seconds(lambda: side.sweep(None, settings)) for _ in range(count)]


def sweep_ratios(report, X):
    report.title("One sweep over the rows, k = 20, β = 1, one thread")
    floats = X.astype(np.float64)
    table = np.random.default_rng(0).random((X.shape[1], K))
    weights = X.astype(np.float64)
    weights.data = np.log1p(weights.data)
    sweeps(X, 0, 1), sweeps(weights, 0, 1)  # compile
    yardsticks, count_sweeps, float_sweeps = [], [], []
    for seed in SEEDS:  # interleaved, for the machine's moods
        yardsticks.append(least_seconds(lambda: floats @ table, 3))
        count_sweeps.append(sweeps(X, seed))
        float_sweeps.append(sweeps(weights, seed))
    yardstick = min(yardsticks)
    report.fact("yardstick: SciPy CSR @ dense(10,000 x 20)", f"{yardstick * 1e3:.1f} ms")
    for name, times, target in (("counts", count_sweeps, 2), ("log weights", float_sweeps, 5)):
        best = np.min(times, axis=0) / yardstick
        report.figure(f"{name}: mean of the first 10 sweeps", best.mean(), "<=", target)
        report.fact(f"{name}: first sweep, in which almost all rows move", f"{best[0]:.2f} x")
        report.fact(f"{name}: tenth sweep", f"{best[-1]:.2f} x")
    rate = X.nnz * K / np.min(count_sweeps, axis=0).mean()
    report.figure("terms of the cost in a second / the rate of budgets", rate / RATE, ">=", 0.5)


def against_sib(report, X):
    from sib import SIB

    report.title("Whole fit from a random start, k = 20, one thread, mean of 5 seeds")
    columns = np.arange(X.shape[1])

    def kept(labels):
        return comarkov.information(X, labels, columns).row_clusters_columns

    ours, theirs = [], {False: [], True: []}
    CoClustering((K, None), beta=1.0, method="anneal", random_state=0).fit(X)  # compiled
    for seed in SEEDS:
        model = CoClustering((K, None), beta=1.0, method="anneal", random_state=seed)
        ours.append((least_seconds(lambda m=model: m.fit(X), 3), kept(model.row_labels_)))
        for fast_log in theirs:
            peer = SIB(
                K, n_init=1, uniform_prior=False, n_jobs=1, random_state=seed, fast_log=fast_log
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                time = least_seconds(lambda p=peer: p.fit(X), 3)
            theirs[fast_log].append((time, kept(peer.labels_)))
    own_time, own_kept = np.mean(ours, axis=0)
    for fast_log, results in theirs.items():
        time, information = np.mean(results, axis=0)
        report.fact(f"IBM sib, fast_log={fast_log}", f"{time:.2f} s")
        report.fact(f"IBM sib, fast_log={fast_log}: information kept", f"{information:.4f} bits")
    report.fact("comarkov", f"{own_time:.3f} s")
    report.fact("comarkov: information kept", f"{own_kept:.4f} bits")
    time, information = min(np.mean(results, axis=0).tolist() for results in theirs.values())
    report.figure("faster than the faster sib (aim: 20)", time / own_time, ">=", 12)
    report.figure("information kept / that sib's", own_kept / information, ">=", 1)


def threads(report, X):
    report.title("10 restarts on two threads")
    model = CoClustering((K, None), beta=1.0, method="anneal", n_init=10, random_state=0)
    times = [
        [seconds(lambda n=n_jobs: model.set_params(n_jobs=n).fit(X)) for n_jobs in (1, 2)]
        for _ in range(4)
    ]
    one, two = np.min(times, axis=0)
    report.fact("one thread", f"{one:.2f} s")
    report.figure("time on two threads / on one", two / one, "<=", 0.6)


def hierarchy(report, X):
    report.title("The hierarchy of a default fit, k = l = 20, one thread")
    model = CoClustering(K, random_state=0)
    fit = seconds(lambda: model.fit(X))
    data = joint(X)
    labels = zip((data, data.T), (model.row_labels_, model.column_labels_), strict=True)
    rows, columns = (Side(side, label, K, np.arange(label.size)) for side, label in labels)
    counts = list(model.hierarchy_.n_leaves)
    solution = Solution(CoClusters(data, rows, columns))
    settings = Run(0.7, Seed((0,)))
    leaves = seconds(lambda: take_leaves(solution, [None, None], counts, settings))
    way = seconds(lambda: model.hierarchy_.merges)
    report.fact("fit", f"{fit:.2f} s")
    report.figure("making leaves / the rest of the fit", leaves / (fit - leaves), "<=", 0.1, "")
    report.figure("merging them / the rest of the fit", way / (fit - leaves), "<=", 0.1, "")


# --- growth with the non-zeros and with the clusters, on planted blocks ------------------------


def fit_rows(X, k):
    """A whole fit of the rows from one random start; larger data also need more sweeps."""
    CoClustering((k, None), beta=1.0, method="anneal", random_state=0).fit(X)


def three_sweeps(X, k):
    """The same work per entry for all: read the matrix, then three complete sweeps."""
    labels = np.random.default_rng(0).permutation(np.arange(X.shape[0]) % k)
    side = Side(joint(X), labels, k, np.arange(X.shape[0]))
    for _ in range(3):
        side.sweep(None, Run(1.0, Seed((0,))))


def exponent(sizes, times):
    """The slope in a log-log plot."""
    return np.polyfit(np.log(sizes), np.log(times), 1)[0]


def growth(report: Report) -> None:
    matrices = [planted(size, 20) for size in GROWTH_SIZES]
    nnz = [X.nnz for X in matrices]
    fit_rows(matrices[0], 5)  # compile
    for work in (three_sweeps, fit_rows):
        name = work.__name__.replace("_rows", "").replace("_", " ")
        report.title(f"Growth: {name}, rows only, one thread; 5,000 columns, 100 words a row")
        cases = [[partial(work, X, k) for k in GROWTH_CLUSTERS] for X in matrices]
        seconds = np.array([[least_seconds(case, 3) for case in row] for row in cases])
        print(f"{'non-zeros':>12} " + " ".join(f"{f'k = {k}':>10}" for k in GROWTH_CLUSTERS))
        for count, row in zip(nnz, seconds, strict=True):
            print(f"{count:>12} " + " ".join(f"{value:>8.3f} s" for value in row))
        for k, column in zip(GROWTH_CLUSTERS, seconds.T, strict=True):
            what = f"{name}: exponent in non-zeros, k = {k}"
            report.figure(what, exponent(nnz, column), "<=", 1.05, "")
        for count, row in zip(nnz, seconds, strict=True):
            what = f"{name}: exponent in k, {count} non-zeros"
            report.figure(what, exponent(GROWTH_CLUSTERS, row), "<=", 1.05, "")


# --- memory --------------------------------------------------------------------------------------


def peak(X, n_clusters) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npz"
        sp.save_npz(path, X, compressed=False)
        command = [sys.executable, "-c", MEASURE_PEAK, str(path), repr(n_clusters)]
        # Large blocks go back to the system when freed, so that the peak is of memory in use.
        env = os.environ | {"MALLOC_MMAP_THRESHOLD_": "100000"}
        child = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        return int(child.stdout)


def memory(report: Report, counts) -> None:
    report.title("Peak memory above the input / (2 x CSR + 12 bytes a table cell)")
    weights = counts.astype(np.float64)
    weights.data = np.log1p(weights.data)
    for name, X in (("counts", counts), ("log weights", weights)):
        csr = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        report.fact(f"{name}: CSR of the input", f"{csr / 1e6:.1f} MB")
        for k, l in ((20, None), (20, 20), (100, 100)):
            allowed = 2 * csr + 12 * (X.shape[1] * k + X.shape[0] * (l or 0))
            used = peak(X, (k, l))
            what = f"{name}: n_clusters=({k}, {l}): {used / 1e6:.0f} of {allowed / 1e6:.0f} MB"
            report.figure(what, used / allowed, "<=", 1)


def main(report: Report) -> None:
    X = newsgroups()
    report.fact("20 Newsgroups", f"{X.shape[0]} x {X.shape[1]}")
    report.fact("non-zeros", f"{X.nnz}")
    sweep_ratios(report, X)
    against_sib(report, X)
    threads(report, X)
    hierarchy(report, X)
    growth(report)
    memory(report, X)


if __name__ == "__main__":
    run(main)
