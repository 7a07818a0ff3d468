"""Dask: two workers against one thread, bytes that travel, and cgc's Dask engine; Linux only.

Workers have one thread each and run on this machine, so that two cores must be idle.
"""

import hashlib
import importlib.util
import logging
import threading
import time
from typing import Any

import numpy as np
import psutil
from common import Report, run
from measuring import Clock, measure
from scale_tasks import CLUSTERS, planted_csr

import comarkov
from comarkov import CoClustering
from comarkov.search.parallel.dask_client import session
from comarkov.search.parallel.dask_inputs import cluster_joint
from comarkov.search.parallel.dask_workers import workers_of

ENTRIES = 10**7
WORKERS = 2
INTERVAL = 0.05  # seconds between two looks at memory
DENSE = (6_000, 1_000, 15)  # rows, columns and clusters of a matrix that cgc can hold
MOST_ITERATIONS = 100


def main(report: Report) -> None:
    """Print all figures beside their targets."""
    report.title(f"Dask: {WORKERS} workers on this machine, planted, {ENTRIES:.0e} non-zeros")
    for method in ("anneal", "auto"):
        options = {"n_init": 1, "method": method}
        local = measure("scale_tasks:fit_planted", ENTRIES, options)
        dask = measure("scale_dask:fit_on_workers", ENTRIES, options)
        labels, counted, measured = dask.result
        report.fact(f"{method}: one thread", f"{local.seconds:.2f} s")
        report.fact(f"{method}: {WORKERS} workers", f"{dask.seconds:.2f} s")
        report.figure(f"{method}: faster on workers", local.seconds / dask.seconds, ">=", 1.4)
        report.figure(f"{method}: equal labels", labels == local.result, ">=", 1, "")
        for name, size in counted.items():
            report.fact(f"{method}: bytes by the formula, {name}", f"{size / 1e6:.1f} MB")
        ratio = measured / sum(counted.values())
        report.figure(f"{method}: bytes sent / bytes by the formula", ratio, "<=", 1.5)
    against_cgc(report)


def fit_on_workers(clock: Clock, entries: int, options: dict[str, Any]) -> Any:
    """A fit of planted data on workers; returns a digest of the labels, and bytes."""
    X = planted_csr(entries)
    with session(None, WORKERS) as cluster:
        CoClustering(CLUSTERS, engine="dask", random_state=0, max_time=1.0).fit(X)  # loads kernels
        data = cluster_joint(X, None, cluster)
        model = CoClustering(CLUSTERS, engine="dask", random_state=0, **options)
        model._read = lambda X, run: (X, None, data)  # parts are where they are used
        before = _sent()
        with clock:
            model.fit(X)
        measured = _sent() - before
        counted = dict(workers_of(data).ledger.traffic)
    labels = model.row_labels_.tobytes() + model.column_labels_.tobytes()
    return hashlib.md5(labels, usedforsecurity=False).hexdigest(), counted, measured


def _sent() -> int:
    """Bytes that were sent on loopback."""
    return psutil.net_io_counters(pernic=True)["lo"].bytes_sent


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
