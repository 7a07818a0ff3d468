"""Reading beside polars: edge lists beside its grouping, a wide table beside its reader (Linux).

25 M edges between 200,000 rows and 50,000 columns, some much more frequent than others, as
Parquet, with numbers and with texts as ids; and a CSV file of 200 x 20,000 counts. Each run is a
process of its own; ours and polars' alternate, and the medians are compared. Arguments: number of
edges, number of runs.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from common import Report

EDGES = 25_000_000
RUNS = 3
SHAPE = (200_000, 50_000)
WIDE = (200, 20_000)
MEASURE = """
import sys, time
import numpy as np, polars as pl, comarkov
from comarkov.joint.joint import joint

def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))

joint(np.eye(3)), comarkov.read(pl.DataFrame({"a": ["x"], "b": [1]}))  # kernels and imports
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
start = time.perf_counter()
"""
OURS = """
data = comarkov.read(sys.argv[1])
joint(data)
csr = data.matrix
size = csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes
"""
POLARS = """
query = pl.scan_parquet(sys.argv[1]).group_by("user", "item").agg(pl.col("rating").sum())
size = len(query.collect(engine="streaming"))
"""
READ_WIDE = "data = comarkov.read(sys.argv[1]); size = data.matrix.nnz\n"
POLARS_WIDE = "size = pl.read_csv(sys.argv[1]).height\n"
TELL = 'print(time.perf_counter() - start, status("VmHWM") - before, size)'


def write(folder: Path, edges: int) -> dict[str, Path]:
    rng = np.random.default_rng(0)
    rows = (SHAPE[0] * rng.random(edges) ** 2).astype(np.int64)
    columns = (SHAPE[1] * rng.random(edges) ** 3).astype(np.int64)
    table = pl.DataFrame({"user": rows, "item": columns, "rating": rng.integers(1, 6, edges)})
    paths = {"numbers": folder / "numbers.parquet", "texts": folder / "texts.parquet"}
    table.write_parquet(paths["numbers"])
    table.lazy().with_columns(
        pl.format("user{}", "user").alias("user"), pl.format("item{}", "item").alias("item")
    ).sink_parquet(paths["texts"])
    return paths


def run(what: str, path: Path) -> tuple[float, ...]:
    """Seconds, peak bytes above the imports, and the size of what comes out."""
    # Large blocks go back to the system when freed, so that the peak is of memory in use.
    env = os.environ | {"MALLOC_MMAP_THRESHOLD_": "100000"}
    command = [sys.executable, "-c", MEASURE + what + TELL, str(path)]
    child = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return tuple(map(float, child.stdout.split()))


def write_wide(folder: Path) -> Path:
    counts = np.random.default_rng(0).poisson(1.0, WIDE)
    names = pl.Series("cell", [f"cell {i}" for i in range(WIDE[0])])
    table = pl.DataFrame(counts, schema=[f"gene {j}" for j in range(WIDE[1])])
    path = folder / "wide.csv"
    table.insert_column(0, names).write_csv(path)
    return path


def compare_wide(report: Report, path: Path, runs: int) -> None:
    pairs = [(run(POLARS_WIDE, path), run(READ_WIDE, path)) for _ in range(runs)]
    polars, ours = (
        statistics.median(seconds for seconds, *_ in side) for side in zip(*pairs, strict=True)
    )
    report.fact(f"wide CSV of {WIDE[0]} x {WIDE[1]:,}: polars", f"{polars:.1f} s")
    report.figure(f"wide CSV: time ({ours:.1f} s) / polars'", ours / polars, "<=", 3)


def main(report: Report, edges: int = EDGES, runs: int = RUNS) -> None:
    report.title(f"{edges:,} edges from Parquet to a joint distribution, medians of {runs} runs")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write(Path(folder), edges).items():
            pairs = [(run(POLARS, path), run(OURS, path)) for _ in range(runs)]
            polars, ours = (
                [statistics.median(values) for values in zip(*side, strict=True)]
                for side in zip(*pairs, strict=True)
            )
            report.fact(f"{name}: polars reads and groups", f"{polars[0]:.1f} s")
            report.fact(f"{name}: polars' peak / CSR", f"{polars[1] / ours[2]:.2f} x")
            report.figure(f"{name}: time ({ours[0]:.1f} s) / polars'", ours[0] / polars[0], "<=", 3)
            what = f"{name}: peak ({ours[1] / 1e6:.0f} MB) / CSR ({ours[2] / 1e6:.0f} MB)"
            report.figure(what, ours[1] / ours[2], "<=", 4)
        compare_wide(report, write_wide(Path(folder)), runs)


if __name__ == "__main__":
    report = Report()
    main(report, *map(int, sys.argv[1:]))
    sys.exit(report.missed > 0)
