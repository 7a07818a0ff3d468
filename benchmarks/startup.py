"""Import and first small fits, with kernels in the cache and without."""

import os
import subprocess
import sys
import tempfile

from common import Report, seconds

YARDSTICK = "import sklearn.base, sklearn.utils.validation, numba"
FIRST_FIT = """
from comarkov import CoClustering, datasets
CoClustering((2, 3), random_state=0).fit(datasets.load("southern-women").matrix)
"""
TYPED_FIT = """
import time
import numpy as np
from comarkov import CoClustering, datasets
X = datasets.load("southern-women").matrix
CoClustering(random_state=0).fit((X * {factor}).astype("{dtype}"))
print(time.process_time())
"""
TYPES = {"counts": (1, "int64"), "floats": (0.37, "float64"), "single precision": (0.37, "float32")}


def run(script):
    return seconds(lambda: subprocess.run([sys.executable, "-c", script], check=True))


def cpu(cache, factor, dtype):
    """CPU seconds of a process that imports comarkov and fits once."""
    script = TYPED_FIT.format(factor=factor, dtype=dtype)
    settings = {"NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(done.stdout)


def main(report: Report) -> None:
    report.title("Start: import and first fit, kernels cached")
    run(FIRST_FIT)
    times = [(run(YARDSTICK), run(FIRST_FIT)) for _ in range(9)]
    yardstick, ours = (min(column) for column in zip(*times, strict=True))
    report.fact("yardstick: import sklearn and numba", f"{yardstick:.2f} s")
    report.figure("import comarkov and first fit", ours / yardstick, "<=", 1.5)

    report.title("Start: fits on a new installation, one process each, kernels not cached")
    with tempfile.TemporaryDirectory() as cache:
        for number, (name, kind) in enumerate(TYPES.items()):
            fit, limit = ("first", 15.0) if number == 0 else ("then", 3.0)
            report.figure(f"{fit} fit, {name}: CPU time", cpu(cache, *kind), "<=", limit, "s")


if __name__ == "__main__":
    main(Report())
