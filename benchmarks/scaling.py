"""How time grows with the non-zeros and with the clusters, on planted blocks."""

import numpy as np
from common import Report, least_seconds, planted

from comarkov import CoClustering

SIZES = (10**5, 10**6, 10**7)
CLUSTERS = (5, 20, 100, 500)


def run(X, k):
    """Time of a whole fit of the rows, from one random start."""
    model = CoClustering((k, None), beta=1.0, random_state=0)
    return least_seconds(lambda: model.fit(X), 3 if X.nnz * k < 10**9 else 1)


def exponent(sizes, times):
    """The slope in a log-log plot."""
    return np.polyfit(np.log(sizes), np.log(times), 1)[0]


def main(report: Report) -> None:
    report.title("Growth of a whole fit of the rows, one thread; 5,000 columns, 100 words a row")
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
