"""How fast 20 workers could be: their parts are computed here, one after another, and timed.

All that is divided among workers counts as the slowest of them would take; all that each of them
repeats counts in full. Times are those of the processor, so that other programs hardly matter.
Exchanges take what they took between two real workers: so long for each, so long for each further
worker that a message goes to, and so long for each byte.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
from measuring import Clock
from scale_tasks import CLUSTERS, planted_csr

from comarkov import CoClustering
from comarkov.joint.joint import joint
from comarkov.search.parallel.dask_client import session
from comarkov.search.parallel.dask_joint import on_cluster
from comarkov.search.parallel.peers import narrow
from comarkov.search.parallel.worker import Worker
from comarkov.search.run import Run, Seed

MESSAGES, LARGE = 100, 8 << 20  # of each kind, and bytes of a large one


class Simulation:
    """What a fit by several workers would save, and what they would send."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.saved = 0.0  # seconds
        self.exchanges = 0
        self.bytes = 0.0  # that each worker sends
        self._copying = 0.0  # seconds: each worker copies tables itself

    def each_own(self, original: Callable[..., Iterator[Any]], worker: Worker, work: Any) -> Any:
        """Time each part."""
        seconds = np.zeros(worker.bounds.size - 1)

        def timed(p: int) -> Any:
            began, copied = time.process_time(), self._copying
            result = work(p)
            seconds[p] = time.process_time() - began - (self._copying - copied)
            return result

        yield from original(worker, timed)
        ends = np.round(seconds.size * np.arange(self.workers + 1) / self.workers).astype(int)
        slowest = max(seconds[a:b].sum() for a, b in pairwise(ends))
        self.saved += seconds.sum() - slowest

    def chunks(self, original: Any, worker: Worker, work: Any, count: int) -> Any:
        """Divide chunks evenly."""
        began = time.process_time()
        results = original(worker, work, count)
        if count > 1 and worker.bounds.size > 2:
            spent = time.process_time() - began
            self.saved += spent * (1 - -(-count // self.workers) / count)
            self.exchanges += 1
        return results

    def entropies(self, original: Any, worker: Worker, job: Any, change: Any) -> Any:
        """Divide the items evenly."""
        began = time.process_time()
        results = original(worker, job, change)
        self.saved += (time.process_time() - began) * (1 - 1 / self.workers)
        return results

    def half_steps(
        self, original: Any, worker: Worker, jobs: Any, stop: Any, needs_cost: bool
    ) -> Any:
        """Count the bytes of changes, of which a worker adds up a share, and sends that to all."""
        steps = original(worker, jobs, stop, needs_cost)
        for job, step in zip(jobs, steps or [], strict=True):
            visited = sum(rows.size for rows in job.rows) / self.workers
            sent = sum(array.nbytes for array in narrow(step.changes[0]))
            self.bytes += 2 * sent + self.workers * 5 * visited
        self.exchanges += 2
        return steps

    def masses(self, original: Any, worker: Worker, *arguments: Any) -> Any:
        """Count the bytes of a whole table."""
        whole = original(worker, *arguments)
        self.bytes += 2 * whole.nbytes
        self.exchanges += 2
        return whole

    def copy(self, original: Any, worker: Worker, mover: Any) -> Any:
        """Time copies of tables."""
        began = time.process_time()
        table = original(worker, mover)
        self._copying += time.process_time() - began
        return table


def fit_simulated(clock: Clock, entries: int, workers: int) -> dict[str, float]:
    """Fit planted data on one thread; return what ``workers`` would save and send."""
    simulation = Simulation(workers)
    methods = ("_each_own", "chunks", "entropies", "half_steps", "masses", "_copy")
    X = planted_csr(entries)
    CoClustering(CLUSTERS, random_state=0, max_time=1.0).fit(X)  # loads kernels
    for name in methods:
        original, own = getattr(Worker, name), getattr(simulation, name.lstrip("_"))
        patch.object(Worker, name, lambda *a, f=own, o=original, **k: f(o, *a, **k)).start()
    with clock:
        CoClustering(CLUSTERS, random_state=0, n_init=1).fit(X)
    patch.stopall()
    return {
        "saved": float(simulation.saved),
        "exchanges": simulation.exchanges,
        "bytes": simulation.bytes,
    }


def exchange_values(size: int, data: Any, run: Any) -> tuple[float, float]:
    """Return the seconds of an exchange of so many bytes, on a worker of two, and those of CPU."""
    peer = data.__dict__["worker"]._peer
    value, seconds = np.zeros(size, np.uint8), []
    peer.share(value)
    busy = time.process_time()
    for _ in range(MESSAGES if size < LARGE else MESSAGES // 10):
        began = time.perf_counter()
        peer.share(value)
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds)), (time.process_time() - busy) / len(seconds)


def exchanges(clock: Clock) -> tuple[float, float, float]:
    """Return the seconds of a message between two workers, its CPU, and the seconds of a byte."""
    X = planted_csr(10**7)
    with session(None, 2) as cluster:
        data = on_cluster(joint(X), cluster)
        run = Run(1.0, Seed((0,)))
        small, large = (data.compute(partial(exchange_values, n), run) for n in (8, LARGE))
    return *small, (large[0] - small[0]) / LARGE
