"""How time grows with the non-zeros and with the clusters, on planted blocks."""

from functools import partial

import numpy as np
from common import Report, least_seconds, planted

from comarkov import CoClustering
from comarkov.joint.joint import joint
from comarkov.search.run import Run, Seed
from comarkov.search.state.side import Side

SIZES = (10**5, 10**6, 10**7)
CLUSTERS = (5, 20, 100, 500)


def fit(X, k):
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


def main(report: Report) -> None:
    matrices = [planted(size, 20) for size in SIZES]
    nnz = [X.nnz for X in matrices]
    fit(matrices[0], 5)  # compile
    for work in (three_sweeps, fit):
        name = work.__name__.replace("_", " ")
        report.title(f"Growth: {name}, rows only, one thread; 5,000 columns, 100 words a row")
        cases = [[partial(work, X, k) for k in CLUSTERS] for X in matrices]
        seconds = np.array([[least_seconds(case, 3) for case in row] for row in cases])
        print(f"{'non-zeros':>12} " + " ".join(f"{f'k = {k}':>10}" for k in CLUSTERS))
        for count, row in zip(nnz, seconds, strict=True):
            print(f"{count:>12} " + " ".join(f"{value:>8.3f} s" for value in row))
        for k, column in zip(CLUSTERS, seconds.T, strict=True):
            what = f"{name}: exponent in non-zeros, k = {k}"
            report.figure(what, exponent(nnz, column), "<=", 1.05, "")
        for count, row in zip(nnz, seconds, strict=True):
            what = f"{name}: exponent in k, {count} non-zeros"
            report.figure(what, exponent(CLUSTERS, row), "<=", 1.05, "")


if __name__ == "__main__":
    main(Report())
