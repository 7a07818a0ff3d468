"""Dask: two workers against one thread, what is left of a fit, 20 workers simulated, and cgc.

Workers have one thread each and run on this machine, so that two cores must be idle.
"""

import hashlib
import importlib.util
import logging
import os
import threading
import time
from typing import Any
from unittest.mock import patch

import numpy as np
import psutil
from common import Report, run
from measuring import Clock, measure
from scale_tasks import CLUSTERS, planted_csr

import comarkov
from comarkov import CoClustering
from comarkov.joint.joint import joint
from comarkov.search.parallel.dask_client import session
from comarkov.search.parallel.dask_joint import on_cluster

ENTRIES = 10**7
WORKERS = 2
MANY = 20  # workers that are simulated
FITS = 10  # after which nothing must be left
INTERVAL = 0.05  # seconds between two looks at memory
DENSE = (6_000, 1_000, 15)  # rows, columns and clusters of a matrix that cgc can hold
MOST_ITERATIONS = 100


def main(report: Report) -> None:
    """Print all figures beside their targets."""
    report.title(f"Dask: {WORKERS} workers on this machine, planted, {ENTRIES:.0e} non-zeros")
    for method, target in (("anneal", 1.5), ("auto", 1.4)):
        options = {"n_init": 1, "method": method}
        local = measure("scale_tasks:fit_planted", ENTRIES, options)
        dask = measure("scale_dask:fit_on_workers", ENTRIES, options)
        labels, idle, busy = dask.result
        report.fact(f"{method}: one thread", f"{local.seconds:.2f} s")
        report.fact(f"{method}: {WORKERS} workers", f"{dask.seconds:.2f} s")
        report.figure(f"{method}: faster on workers", local.seconds / dask.seconds, ">=", target)
        report.figure(f"{method}: equal labels", labels == local.result, ">=", 1, "")
        share = 100 * idle / (idle + busy)
        report.figure(f"{method}: CPU of client and scheduler", share, "<=", 8, "%")
    growth = measure("scale_dask:memory_after_fits", ENTRIES, FITS).result
    report.figure(f"memory of workers: after {FITS} fits / after 2", growth, "<=", 1.1)
    simulated(report)
    against_cgc(report)


def simulated(report: Report) -> None:
    """What 20 workers could reach, see ``scale_simulation``."""
    latency, per_message, per_byte = measure("scale_simulation:exchanges").result
    per_exchange = latency + (MANY - 2) * per_message  # a message to each other worker
    report.fact("an exchange between two workers", f"{1e3 * latency:.1f} ms")
    report.fact("CPU of a message", f"{1e3 * per_message:.1f} ms")
    report.fact("bytes between two workers", f"{1e-6 / per_byte:.0f} MB/s")
    for entries in (ENTRIES, 10 * ENTRIES):
        fit = measure("scale_simulation:fit_simulated", entries, MANY)
        sent = fit.result["exchanges"] * per_exchange + fit.result["bytes"] * per_byte
        divided = fit.cpu - fit.result["saved"]
        name = f"{entries:.0e}: {MANY} workers, simulated"
        report.fact(f"{name}: exchanges", f"{fit.result['exchanges']}")
        report.fact(f"{name}: its exchanges take", f"{sent:.1f} s")
        report.fact(f"{name}: without exchanges", f"{fit.cpu / divided:.1f} times faster")
        report.figure(f"{name}: faster than one thread", fit.cpu / (divided + sent), ">=", 10)


def fit_on_workers(clock: Clock, entries: int, options: dict[str, Any]) -> Any:
    """A fit of planted data on workers: a digest of the labels, and CPU seconds of others and them.

    The client and the scheduler share this process; sending the data does not count.
    """
    X = planted_csr(entries)
    with session(None, WORKERS) as cluster:
        CoClustering(CLUSTERS, engine="dask", random_state=0, max_time=1.0).fit(X)  # loads kernels
        data = on_cluster(joint(X), cluster)
        with patch("comarkov.estimators.fitting.read_weighted", lambda X, *_: (X, None, data)):
            model = CoClustering(CLUSTERS, engine="dask", random_state=0, **options)
            before = sum(cluster.client.run(_cpu).values())
            with clock:
                model.fit(X)
        busy = sum(cluster.client.run(_cpu).values()) - before
    labels = model.row_labels_.tobytes() + model.column_labels_.tobytes()
    return hashlib.md5(labels, usedforsecurity=False).hexdigest(), clock.cpu, busy


def memory_after_fits(clock: Clock, entries: int, fits: int) -> float:
    """The memory of all workers after many fits, as a multiple of that after two."""
    X = planted_csr(entries)
    sizes = []
    with session(None, WORKERS) as cluster:
        for _ in range(fits):
            CoClustering(CLUSTERS, engine="dask", random_state=0, max_time=3.0).fit(X)
            sizes.append(sum(cluster.client.run(_resident).values()))
    return sizes[-1] / sizes[1]


def _cpu() -> float:
    """CPU seconds of this process."""
    return sum(os.times()[:2])


def _resident() -> int:
    return psutil.Process().memory_info().rss


# --- cgc ------------------------------------------------------------------------------------------


def against_cgc(report: Report) -> None:
    """The same matrix by cgc's Dask engine, which densifies it: time, memory, information kept."""
    report.title(f"Against cgc on Dask: {DENSE[0]} x {DENSE[1]}, {DENSE[2]} x {DENSE[2]} clusters")
    if importlib.util.find_spec("cgc") is None:
        report.fact("cgc is not installed", "skipped")
        return
    for name in ("cgc", "comarkov"):
        done = measure(f"scale_dask:fit_{name}_on_dask")
        kept, memory = done.result
        report.fact(f"{name}: time", f"{done.seconds:.1f} s")
        report.fact(f"{name}: memory of all processes", f"{memory / 1e9:.2f} GB")
        report.fact(f"{name}: information kept", f"{100 * kept:.1f} %")


def fit_cgc_on_dask(clock: Clock) -> Any:
    """The share of the information that cgc's clusters keep, and memory."""
    import dask.array as da
    from cgc.coclustering import Coclustering

    logging.getLogger("cgc").setLevel("ERROR")
    X = _dense()
    with session(None, WORKERS) as cluster, Peak() as peak:
        Z = da.from_array(X + 1e-9, chunks=(DENSE[0] // WORKERS, DENSE[1]))  # it needs no zeros
        parameters = {"max_iterations": MOST_ITERATIONS, "nruns": 1}
        with clock:
            results = Coclustering(Z, DENSE[2], DENSE[2], **parameters).run_with_dask(
                cluster.client
            )
    return _kept(X, results.row_clusters, results.col_clusters), peak.bytes


def fit_comarkov_on_dask(clock: Clock) -> Any:
    """The share that our clusters keep, and memory."""
    import dask.array as da

    X = _dense()
    with session(None, WORKERS), Peak() as peak:
        blocks = da.from_array(X, chunks=(DENSE[0] // WORKERS, DENSE[1]))
        with clock:
            model = CoClustering(DENSE[2], engine="dask", beta=0.5, random_state=0).fit(blocks)
    return _kept(X, model.row_labels_, model.column_labels_), peak.bytes


def _dense() -> np.ndarray:
    rng = np.random.default_rng(0)
    rows, columns, k = DENSE
    rates = rng.gamma(0.5, 0.4, (k, k))[rng.integers(k, size=rows)]
    return rng.poisson(rates[:, rng.integers(k, size=columns)]).astype(float)


def _kept(X: np.ndarray, rows: Any, columns: Any) -> float:
    return comarkov.information(X, np.asarray(rows), np.asarray(columns)).kept


class Peak(threading.Thread):
    """The most memory that this process and its children have at a time."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.bytes, self._ended = 0, threading.Event()

    def run(self) -> None:
        this = psutil.Process()
        while not self._ended.is_set():
            total = 0
            for process in (this, *this.children(recursive=True)):
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.bytes = max(self.bytes, total)
            time.sleep(INTERVAL)

    def __enter__(self) -> "Peak":
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()


if __name__ == "__main__":
    run(main)
