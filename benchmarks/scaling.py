"""How time grows with the non-zeros and with the clusters, on planted blocks."""

import numpy as np
from common import Report, least_seconds, planted

from comarkov.joint import joint
from comarkov.tables import Side

SIZES = (10**5, 10**6, 10**7)
CLUSTERS = (5, 20, 100, 500)
SWEEPS = 3


def run(X, k):
    """A fixed amount of work: reading the matrix and three sweeps from a random start."""

    def work():
        labels = np.random.default_rng(0).permutation(np.arange(X.shape[0]) % k)
        side = Side(joint(X), labels, k, np.arange(X.shape[0]))
        for _ in range(SWEEPS):
            side.sweep(None, 1.0, None, complete=True, stop=lambda: False)

    return least_seconds(work, 3 if X.nnz * k < 10**9 else 1)


def exponent(sizes, times):
    """The slope in a log-log plot."""
    return np.polyfit(np.log(sizes), np.log(times), 1)[0]


def main(report: Report) -> None:
    report.title(f"Growth: read the matrix, {SWEEPS} complete sweeps, 5,000 columns, 100 a row")
    matrices = [planted(size, 20) for size in SIZES]
    run(matrices[0], 5)  # compile
    seconds = np.array([[run(X, k) for k in CLUSTERS] for X in matrices])
    print(f"{'non-zeros':>12} " + " ".join(f"{f'k = {k}':>10}" for k in CLUSTERS))
    for X, row in zip(matrices, seconds, strict=True):
        print(f"{X.nnz:>12} " + " ".join(f"{value:>8.3f} s" for value in row))
    nnz = [X.nnz for X in matrices]
    for k, column in zip(CLUSTERS, seconds.T, strict=True):
        report.figure(f"exponent in non-zeros, k = {k}", exponent(nnz, column), "<=", 1.05, "")
    for X, row in zip(matrices, seconds, strict=True):
        report.figure(f"exponent in k, {X.nnz} non-zeros", exponent(CLUSTERS, row), "<=", 1.05, "")


if __name__ == "__main__":
    main(Report())
