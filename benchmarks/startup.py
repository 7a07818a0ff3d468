"""Import and first small fits, in Python and by the command, with kernels cached and without."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import Report, seconds

YARDSTICK = "import sklearn.base, sklearn.utils.validation, numba"
COMMAND_IMPORTS = "import numpy, scipy.sparse, numba, sklearn.base, polars, typer, jinja2"
COMMAND = [sys.executable, "-m", "comarkov"]
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""
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
    return run_command([sys.executable, "-c", script])


def run_command(words):
    return seconds(lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=True))


def command(report):
    """How long the command takes to start, as a multiple of the imports it cannot do without."""
    report.title("Start: comarkov fit on a table of six lines, kernels cached")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        table.write_text("who,what\nann,x\nann,y\nbob,y\ncy,x\ncy,z\ndee,z\n")
        fit = [
            *COMMAND,
            "fit",
            table,
            *["-k", "2", "-l", "2", "--force", "-o"],
            Path(folder, "out"),
        ]
        times = [(run(COMMAND_IMPORTS), run_command(fit)) for _ in range(4)]
        imports, ours = (min(column) for column in zip(*times, strict=True))
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *fit], capture_output=True, text=True, check=True
        )
    report.fact("yardstick: imports of the command", f"{imports:.2f} s")
    report.figure("comarkov fit", ours / imports, "<=", 1.7)
    report.figure("comarkov fit: peak memory", float(done.stdout), "<=", 350, "MB")
    helps = min(run_command([*COMMAND, "--help"]) for _ in range(4))
    report.figure("comarkov --help", helps, "<=", 0.3, "s")


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

    command(report)
    report.title("Start: fits on a new installation, one process each, kernels not cached")
    with tempfile.TemporaryDirectory() as cache:
        for number, (name, kind) in enumerate(TYPES.items()):
            fit, limit = ("first", 15.0) if number == 0 else ("then", 3.0)
            report.figure(f"{fit} fit, {name}: CPU time", cpu(cache, *kind), "<=", limit, "s")


if __name__ == "__main__":
    main(Report())
