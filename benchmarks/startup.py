"""Import and a first small fit with a warm cache, against importing scikit-learn and numba."""

import subprocess
import sys

from common import Report, seconds

YARDSTICK = "import sklearn.base, sklearn.utils.validation, numba"
FIRST_FIT = """
from comarkov import CoClustering, datasets
CoClustering((2, 3), random_state=0).fit(datasets.load("southern-women").matrix)
"""


def run(script):
    return seconds(lambda: subprocess.run([sys.executable, "-c", script], check=True))


def main(report: Report) -> None:
    report.title("Start: import and first fit, kernels cached")
    run(FIRST_FIT)
    times = [(run(YARDSTICK), run(FIRST_FIT)) for _ in range(9)]
    yardstick, ours = (min(column) for column in zip(*times, strict=True))
    report.fact("yardstick: import sklearn and numba", f"{yardstick:.2f} s")
    report.figure("import comarkov and first fit", ours / yardstick, "<=", 1.5)


if __name__ == "__main__":
    main(Report())
