"""What protection costs: the share of checks, digests and atomic writing in common tasks.

Each task runs in a process of its own, in which functions that do nothing but protect are timed.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from common import Report

ENTRIES = 10_000_000
RUNS = 3
#: The functions that do nothing but protect, by what they protect against.
PROTECTIONS = {
    "io.files": ["free_place"],
    "io.read.h5ad": ["_refuse_endless_heaps", "_refuse_other_files"],
    "io.read.data": ["refuse_large_archive"],
    "io.read.opened": ["refuse_far_cells"],
    "io.store.layout": ["Description.verify"],
    "io.store.opening": ["_check_places"],
    "joint.inputs": ["_checked", "_check_weights"],
    "joint.objects": ["refuse_surrogates"],
    "model.storage": ["_digest"],
}
TIMED = """
import functools, importlib, json, sys, time
spent, active = {}, []

def timed(name, function):
    @functools.wraps(function)
    def run(*arguments, **keywords):
        if active:  # within another one
            return function(*arguments, **keywords)
        active.append(name)
        start = time.perf_counter()
        try:
            return function(*arguments, **keywords)
        finally:
            active.pop()
            spent[name] = spent.get(name, 0) + time.perf_counter() - start
    return run

start = time.perf_counter()
import comarkov, comarkov.io.store.opening, comarkov.model.storage, comarkov.cli.fit
packages = [module for name, module in sys.modules.items() if name.startswith("comarkov")]
for module, names in json.loads(sys.argv[1]).items():
    for name in names:
        place = importlib.import_module("comarkov." + module)
        *inner, last = name.split(".")
        place = getattr(place, inner[0]) if inner else place
        old = getattr(place, last)
        new = timed(module + "." + name, old)
        for each in [place] if inner else packages:
            if getattr(each, last, None) is old:
                setattr(each, last, new)
"""
FIT = """
import os, runpy
sys.argv = ["comarkov", *sys.argv[2:]]
os.environ["COLUMNS"] = "80"
sys.stdout = open(os.devnull, "w")
try:
    runpy.run_module("comarkov", run_name="__main__")
except SystemExit as end:
    assert not end.code
    sys.stdout = sys.__stdout__
"""
READ = """
start = time.perf_counter()
comarkov.joint.joint.joint(comarkov.read(sys.argv[2]))
"""
TELL = "print(json.dumps([time.perf_counter() - start, spent]))"


def run(task: str, *arguments: object) -> tuple[float, dict[str, float]]:
    """The least of some times of a task, and what its protections took of it."""
    command = [sys.executable, "-c", TIMED + task + TELL, json.dumps(PROTECTIONS)]
    outcomes = []
    for _ in range(RUNS):
        done = subprocess.run(
            [*command, *map(str, arguments)], capture_output=True, text=True, check=True
        )
        outcomes.append(json.loads(done.stdout.splitlines()[-1]))
    return min(outcomes)


def sources(folder: Path) -> dict[str, Path]:
    """Files with many entries, and a store."""
    import comarkov

    rng = np.random.default_rng(0)
    rows, columns = rng.integers(100_000, size=ENTRIES), rng.integers(20_000, size=ENTRIES)
    table = pl.DataFrame({"user": rows, "item": columns, "n": rng.integers(1, 6, ENTRIES)})
    paths = {"CSV": folder / "edges.csv", "Parquet": folder / "edges.parquet"}
    table.write_csv(paths["CSV"])
    table.write_parquet(paths["Parquet"])
    comarkov.pack(paths["Parquet"], folder / "store")
    return paths | {"a store": folder / "store"}


def main(report: Report) -> None:
    report.title(f"Protection, as a share of the time of a task (best of {RUNS} runs)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = np.random.default_rng(0).poisson(2.0, (20, 30))
        table = folder / "small.csv"
        names = pl.Series("who", [f"row {i}" for i in range(20)])
        frame = pl.DataFrame(counts, schema=[f"c{j}" for j in range(30)])
        frame.insert_column(0, names).write_csv(table)
        fit = ("fit", table, "-k", 2, "-l", 2, "--force", "-o", folder / "out")
        _show(report, "comarkov fit, 20 x 30", *run(FIT, *fit))
        for form, path in sources(folder).items():
            _show(report, f"{ENTRIES:,} entries from {form}", *run(READ, path))


def _show(report: Report, task: str, seconds: float, spent: dict[str, float]) -> None:
    """Print what each protection takes; a store is opened and not read, so it has no target."""
    for name, each in sorted(spent.items(), key=lambda item: -item[1]):
        report.fact(f"  {name}", f"{1000 * each:.1f} ms")
    share = 100 * sum(spent.values()) / seconds
    if task.endswith("store"):
        report.fact(f"{task} ({seconds:.2f} s)", f"{share:.1f} %")
    else:
        report.figure(f"{task} ({seconds:.2f} s)", share, "<=", 5, "%")


if __name__ == "__main__":
    report = Report()
    main(report)
    sys.exit(report.missed > 0)
