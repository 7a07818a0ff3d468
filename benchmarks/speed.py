"""Sweeps against one look at the data, and whole fits against IBM sib, on 20 Newsgroups."""

import warnings

import numpy as np
from common import Report, least_seconds, newsgroups, seconds

import comarkov
from comarkov import CoClustering
from comarkov.joint.joint import joint
from comarkov.model.leaves import take_leaves
from comarkov.search import budgets
from comarkov.search.run import Run, Seed
from comarkov.search.state.coclusters import CoClusters, Solution
from comarkov.search.state.side import Side

K = 20
SEEDS = range(5)


def sweeps(X, seed, count=10):
    """Times of complete sweeps over the rows, from a random start."""
    distribution = joint(X)
    labels = np.random.default_rng(seed).integers(K, size=X.shape[0])
    side = Side(distribution, labels, K, np.arange(X.shape[0]))
    run = Run(1.0, Seed((seed,)))
    return [seconds(lambda: side.sweep(None, run)) for _ in range(count)]


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
    report.figure(
        "terms of the cost in a second / the rate of budgets", rate / budgets.RATE, ">=", 0.5
    )


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
    run = Run(0.7, Seed((0,)))
    leaves = seconds(lambda: take_leaves(solution, [None, None], counts, run))
    way = seconds(lambda: model.hierarchy_.merges)
    report.fact("fit", f"{fit:.2f} s")
    report.figure("making leaves / the rest of the fit", leaves / (fit - leaves), "<=", 0.1, "")
    report.figure("merging them / the rest of the fit", way / (fit - leaves), "<=", 0.1, "")


def main(report: Report) -> None:
    X = newsgroups()
    report.fact("20 Newsgroups", f"{X.shape[0]} x {X.shape[1]}")
    report.fact("non-zeros", f"{X.nnz}")
    sweep_ratios(report, X)
    against_sib(report, X)
    threads(report, X)
    hierarchy(report, X)


if __name__ == "__main__":
    main(Report())
