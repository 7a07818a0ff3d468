"""A fit on a Dask cluster, as the process of the client sees it: peers start, report and end.

If a worker is lost, the fit begins again on the others, and so its result is the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

from ..progress import active_bar
from ..run import Run
from .dask_client import LostError, Task
from .dask_joint import DaskJoint
from .peers import Peer, Plan, Work, attach, result_of

ATTEMPTS = 20  # at the same fit, while workers are lost
PAUSE = 0.3  # seconds until the scheduler has noticed that a worker is lost
PATIENCE = 60.0  # seconds in which a peer must answer
POLL = 0.25  # seconds between looks at what else happens
LOST = (OSError, RuntimeError, KeyError, TimeoutError)  # what calls of lost peers raise


def compute(data: DaskJoint, work: Work, run: Run) -> Any:
    """Return work(data, run), done by all workers that have parts of the data."""
    if all(side.bounds.size == 2 for side in data.sides):  # too small to be divided
        return work(data, run)
    for _ in range(ATTEMPTS):
        ended = run.monitor.interruptible()
        with suppress(LostError), ended, _Fit(data, run).running(work) as fit:
            return fit.result()
        time.sleep(PAUSE)
    raise ConnectionError(
        f"Dask workers were lost {ATTEMPTS} times in the same fit. They may have too little "
        "memory: start more of them, or some with a higher limit."
    )


class _Fit:
    """The peers of a fit, one on each worker."""

    def __init__(self, data: DaskJoint, run: Run) -> None:
        self._data, self._run, self._cluster = data, run, data.cluster
        self._name = uuid4().hex
        self._actors: dict[str, Any] = {}  # by address
        self._futures: list[Task] = []

    @contextmanager
    def running(self, work: Work) -> Iterator[_Fit]:
        """Start the peers; in the end nothing of them stays on workers."""
        try:
            with self._cluster.noticing_losses():
                self._start(work)
            yield self
        finally:
            with suppress(*LOST):
                for left in [actor.leave() for actor in self._actors.values()]:
                    left.result(timeout=PAUSE)
            with suppress(*LOST):
                self._cluster.client.cancel(self._futures, force=True)

    def _start(self, work: Work) -> None:
        import cloudpickle  # which Dask requires

        self._cluster.refresh()
        addresses, facts = sorted(set(self._cluster.workers)), self._data.facts
        for where in addresses:
            options: Any = {"actor": True, "workers": [where], "pure": False}
            self._futures.append(self._cluster.client.submit(Peer, self._name, facts, **options))
        for where, future in zip(addresses, self._futures, strict=True):
            self._actors[where] = future.result()
        members = [(where, each.key) for where, each in zip(addresses, self._futures, strict=True)]
        blank: Any = {"monitor": None, "checkpoint": None}  # peers have their own
        checkpoint, monitor = self._run.checkpoint, self._run.monitor
        earlier = None if checkpoint is None else checkpoint.content
        order = cloudpickle.dumps(work), replace(self._run, **blank), monitor.limits, earlier
        plan = Plan(members, self._shares(addresses))
        for started in [actor.begin(plan, *order) for actor in self._actors.values()]:
            started.result(timeout=PATIENCE)

    def _shares(self, addresses: list[str]) -> list[tuple[range, range]]:
        """Give each worker its parts of rows and columns, by its number of threads."""
        threads = [self._cluster.workers.count(address) for address in addresses]
        ends = [sum(threads[:i]) / sum(threads) for i in range(len(threads) + 1)]
        sides, tasks = [], []
        for i, side in enumerate(self._data.sides):
            side.restore()
            count = side.bounds.size - 1
            shares = [range(round(count * a), round(count * b)) for a, b in pairwise(ends)]
            sides.append(shares if count > 1 else [range(1)] * len(shares))
            for address, share in zip(addresses, sides[i], strict=True):
                futures = [side.futures[p] for p in share]
                arguments = self._name, i, list(share), futures
                tasks.append(
                    self._cluster.client.submit(attach, *arguments, workers=[address], pure=False)
                )
        self._cluster.results(tasks)
        return list(zip(*sides, strict=True))

    def result(self) -> Any:
        """Return the result of the peers, and pass on what they report meanwhile."""
        monitor, looked = self._run.monitor, time.monotonic()
        first, is_done = next(iter(self._actors)), False
        while not is_done:
            if time.monotonic() - looked > POLL:
                looked = time.monotonic()
                if not self._cluster.present().issuperset(self._actors):
                    raise LostError
            why_end = monitor.reason if monitor.stop() else ""
            try:
                events, is_done = self._actors[first].news(POLL, why_end).result(timeout=PATIENCE)
            except LOST:
                self._cluster.check_scheduler()
                time.sleep(PAUSE)
                continue
            for event, arguments in events:
                self._show(event, arguments)
        task = self._cluster.client.submit(result_of, self._name, workers=[first], pure=False)
        ((result, reason),) = self._cluster.results([task])
        monitor.reason = monitor.reason or reason
        return result

    def _show(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Pass on a report to the callback of the user, the checkpoint or the progress bar."""
        if event == "callback":
            self._run.monitor.tell(*arguments)
        elif event == "checkpoint":
            assert self._run.checkpoint is not None
            self._run.checkpoint.write(*arguments)
        elif (bar := active_bar()) is not None:
            getattr(bar, event)(*arguments)
