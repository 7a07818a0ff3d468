"""make bench-scale: threads, memory and growth up to 1e8 non-zeros, data on disk; Linux only.

Times are ratios within one run. Memory is that of the whole process: Python, the kernels, the input
and the fit. The planted data have 20 x 20 blocks, see ``scale_data``.
"""

import sys

from common import Report
from measuring import Measurement, measure
from scale_data import CLUSTERS, SIZES

MILLION = 10**6
TEN_MILLION = 10**7
HUNDRED_MILLION = 10**8
GB = 1e9


def main(report: Report) -> None:
    """Print all figures beside their targets."""
    for entries in (TEN_MILLION, HUNDRED_MILLION):
        size = SIZES[entries]
        report.fact(f"planted, {entries:.0e} non-zeros", f"{size.rows} x {size.columns}")
    growth(report)
    threads(report)


def growth(report: Report) -> None:
    """Time and memory of a default fit on one thread."""
    report.title(f"Default fit in memory, k = l = {CLUSTERS}, one thread")
    small, large = (
        _shown(report, entries, measure("scale_tasks:fit_planted", entries, {}))
        for entries in (TEN_MILLION, HUNDRED_MILLION)
    )
    ratio = large.seconds / HUNDRED_MILLION / (small.seconds / TEN_MILLION)
    report.figure("time for an entry: 1e8 / 1e7 non-zeros", ratio, "<=", 1.3)
    report.figure("1e8 non-zeros: peak memory", large.resident / GB, "<=", 3.5, "GB")


def threads(report: Report) -> None:
    """Two threads against one, for a single start."""
    report.title("Default fit on two threads")
    for name, task, target in (
        ("planted, 1e7 non-zeros", ("scale_tasks:fit_planted", TEN_MILLION), 1.7),
        ("20 Newsgroups", ("scale_tasks:fit_newsgroups",), 1.5),
    ):
        one, two = (measure(*task, {"n_init": 1, "n_jobs": n_jobs}) for n_jobs in (1, 2))
        report.fact(f"{name}: one thread", f"{one.seconds:.2f} s")
        report.fact(f"{name}: two threads", f"{two.seconds:.2f} s")
        report.figure(f"{name}: faster on two threads", one.seconds / two.seconds, ">=", target)
        report.figure(f"{name}: equal labels", one.result == two.result, ">=", 1, "")


def _shown(report: Report, entries: int, fit: Measurement) -> Measurement:
    report.fact(f"{entries:.0e} non-zeros: seconds", f"{fit.seconds:.1f} s")
    report.fact(f"{entries:.0e} non-zeros: ns for an entry", f"{1e9 * fit.seconds / entries:.0f}")
    report.fact(f"{entries:.0e} non-zeros: peak memory", f"{fit.resident / GB:.2f} GB")
    report.fact(f"{entries:.0e} non-zeros: of it anonymous", f"{fit.anonymous / GB:.2f} GB")
    return fit


if __name__ == "__main__":
    table = Report()
    main(table)
    print(f"\n{table.missed} targets missed")
    sys.exit(table.missed > 0)
