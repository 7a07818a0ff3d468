"""make bench-scale: threads, memory and growth up to 1e8 non-zeros, data on disk; Linux only.

Times are ratios within one run. Memory is that of the whole process: Python, the kernels, the input
and the fit. The planted data have 20 x 20 blocks, see ``scale_tasks``. ``--largest`` fits 1e9
non-zeros from a store, once: that takes hours and 40 GB of disk.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import scale_dask
from common import Report, run
from measuring import Measurement, measure
from scale_tasks import CLUSTERS, SIZES

MILLION, TEN_MILLION, HUNDRED_MILLION, BILLION = 10**6, 10**7, 10**8, 10**9
TWENTY_MILLION = 2 * TEN_MILLION
GB = 1e9
NEAR = 1.5  # the factor within which predictions should be
PLANTED = "scale_tasks:fit_planted"


def main(report: Report) -> None:
    """Print all figures beside their targets."""
    for entries in (MILLION, TEN_MILLION, HUNDRED_MILLION):
        size = SIZES[entries]
        report.fact(f"planted, {entries:.0e} non-zeros", f"{size.rows} x {size.columns}")
    small, large = growth(report)
    threads(report)
    with tempfile.TemporaryDirectory() as folder:
        stores(report, Path(folder), small, large)
        chains(report, Path(folder))
    estimates(report, small, large)
    scale_dask.main(report)


def growth(report: Report) -> tuple[Measurement, Measurement]:
    """Time and memory of a default fit on one thread."""
    report.title(f"Default fit in memory, k = l = {CLUSTERS}, one thread")
    small, large = (
        _shown(report, f"{entries:.0e} non-zeros", entries, measure(PLANTED, entries, {}))
        for entries in (TEN_MILLION, HUNDRED_MILLION)
    )
    ratio = large.seconds / HUNDRED_MILLION / (small.seconds / TEN_MILLION)
    report.figure("time for an entry: 1e8 / 1e7 non-zeros", ratio, "<=", 1.3)
    report.figure("1e8 non-zeros: peak memory", large.resident / GB, "<=", 3.5, "GB")
    beside = measure("scale_tasks:sweep_and_product").result
    ratio = beside["sweep"] / beside["product"]
    report.figure("sweep / SciPy product, a table of 1,000,000 rows", ratio, "<=", 0.5)
    return small, large


def threads(report: Report) -> None:
    """Two threads against one, for a single start."""
    report.title("Default fit on two threads")
    for name, task, target in (
        ("planted, 1e7 non-zeros", (PLANTED, TEN_MILLION), 1.7),
        ("20 Newsgroups", ("scale_tasks:fit_newsgroups",), 1.5),
    ):
        one, two = (measure(*task, {"n_init": 1, "n_jobs": n_jobs}) for n_jobs in (1, 2))
        report.fact(f"{name}: one thread", f"{one.seconds:.2f} s")
        report.fact(f"{name}: two threads", f"{two.seconds:.2f} s")
        report.figure(f"{name}: faster on two threads", one.seconds / two.seconds, ">=", target)
        report.figure(f"{name}: equal labels", one.result == two.result, ">=", 1, "")


def stores(report: Report, folder: Path, small: Measurement, large: Measurement) -> None:
    """Packing against polars, and fits of stores against fits in memory."""
    report.title("Data on disk")
    for entries, in_memory in ((TEN_MILLION, small), (HUNDRED_MILLION, large)):
        name = f"{entries:.0e} non-zeros"
        packed = _packed(report, folder, entries)
        fit = measure("scale_tasks:fit_store", packed, {})
        _shown(report, f"{name} from a store", entries, fit)
        report.figure(f"{name}: store / memory", fit.seconds / in_memory.seconds, "<=", 1.3)
        if entries == TEN_MILLION:
            predicted = measure("scale_tasks:estimate_store", packed).result
            _compare(report, f"{name} from a store", predicted, fit)
        shutil.rmtree(packed)
    report.figure("1e8 from a store: anonymous memory", fit.anonymous / GB, "<=", 1.5, "GB")
    _packed(report, folder, TWENTY_MILLION, have_texts=True)


def _packed(report: Report, folder: Path, entries: int, have_texts: bool = False) -> str:
    """Pack planted edges and return the store."""
    edges, store, name = folder / "edges", folder / "store", f"{entries:.0e} edges"
    name += " with text ids" * have_texts
    edges.mkdir()
    measure("scale_tasks:write_edges", entries, str(edges), have_texts)
    group = measure("scale_tasks:group", str(edges), threads=2)
    pack = measure("scale_tasks:pack", str(edges), str(store), "1GB", threads=2)
    shutil.rmtree(edges)
    report.fact(f"{name}: polars reads and groups", f"{group.seconds:.1f} s")
    report.fact(f"{name}: its peak memory", f"{group.resident / GB:.2f} GB")
    report.fact(f"{name}: pack", f"{pack.seconds:.1f} s")
    if entries >= TWENTY_MILLION:
        report.figure(f"{name}: pack / polars", pack.seconds / group.seconds, "<=", 3)
        report.figure(f"{name}: memory of pack", pack.anonymous / GB, "<=", 1, "GB")
    return str(store)


def chains(report: Report, folder: Path) -> None:
    """One command for a chain of 1e6 states and 1e7 steps; nothing else is stated."""
    report.title("comarkov chain: 1e6 states, 1e7 steps")
    steps, out = str(folder / "steps.parquet"), str(folder / "chain")
    measure("scale_tasks:write_chain", steps)
    done = measure("scale_tasks:chain_command", steps, out)
    report.fact("the whole command", f"{done.seconds:.0f} s, {done.cpu:.0f} s of CPU")
    report.fact("its peak memory", f"{done.resident / GB:.2f} GB")
    report.figure("agreement with the sets (ARI)", done.result, ">=", 0.98, "")


def estimates(report: Report, small: Measurement, large: Measurement) -> None:
    """Predictions of time and memory beside measurements."""
    report.title("Estimates / measurements, one thread")
    fits = {TEN_MILLION: small, HUNDRED_MILLION: large}
    for entries in (MILLION, TEN_MILLION, HUNDRED_MILLION):
        predicted = measure("scale_tasks:estimate_planted", entries)
        report.fact(f"{entries:.0e}: the estimate takes", f"{predicted.seconds:.1f} s")
        fit = fits.get(entries) or measure(PLANTED, entries, {})
        _compare(report, f"planted, {entries:.0e}", predicted.result, fit)
    predicted = measure("scale_tasks:estimate_newsgroups")
    fit = measure("scale_tasks:fit_newsgroups", {})
    _compare(report, "20 Newsgroups", predicted.result, fit)


def _compare(report: Report, name: str, predicted: dict[str, float], fit: Measurement) -> None:
    for what, measured in (("seconds", fit.seconds), ("memory", fit.anonymous)):
        ratio = predicted[what] / measured
        report.figure(f"{name}: {what}, predicted x {ratio:.2f}", max(ratio, 1 / ratio), "<=", NEAR)


def _shown(report: Report, name: str, entries: int, fit: Measurement) -> Measurement:
    report.fact(f"{name}: seconds", f"{fit.seconds:.1f} s")
    report.fact(f"{name}: ns for an entry", f"{1e9 * fit.seconds / entries:.0f}")
    report.fact(f"{name}: peak memory", f"{fit.resident / GB:.2f} GB")
    report.fact(f"{name}: of it anonymous", f"{fit.anonymous / GB:.2f} GB")
    return fit


def largest(report: Report) -> None:
    """1e9 non-zeros from a store, on two threads."""
    size = SIZES[BILLION]
    report.title(f"1e9 non-zeros from a store, {size.rows} x {size.columns}, two threads")
    with tempfile.TemporaryDirectory() as name:
        edges, store = Path(name) / "edges", str(Path(name) / "store")
        edges.mkdir()
        measure("scale_tasks:write_edges", BILLION, str(edges), False)
        pack = measure("scale_tasks:pack", str(edges), store, "2GB", threads=2)
        shutil.rmtree(edges)
        report.fact("pack", f"{pack.seconds:.0f} s")
        report.fact("its peak memory", f"{pack.resident / GB:.2f} GB")
        fit = measure("scale_tasks:fit_store", store, {"n_jobs": 2})
        _shown(report, "fit", BILLION, fit)
        report.figure("peak resident memory", fit.resident / GB, "<=", 8, "GB")


if __name__ == "__main__":
    run(largest if "--largest" in sys.argv else main)
