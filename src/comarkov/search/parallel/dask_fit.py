"""A fit on a Dask cluster, as the process of the client sees it: peers start, report and end."""

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
from .peers import Peer, Plan, Work, attach, give_back, result_of

ATTEMPTS = 20  # at the same fit, while all workers are lost
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
        self._members: list[tuple[str, str]] = []  # addresses, and keys of actors
        self._actors: dict[str, Any] = {}  # by address
        self._futures: list[Task] = []
        self._epoch = 0

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
                present = self._cluster.present().intersection(self._actors)
                self._cluster.client.run(give_back, workers=list(present), on_error="ignore")

    def _start(self, work: Work) -> None:
        import cloudpickle  # which Dask requires

        self._cluster.refresh()
        addresses, facts = sorted(set(self._cluster.workers)), self._data.facts
        for where in addresses:
            options: Any = {"actor": True, "workers": [where], "pure": False}
            self._futures.append(self._cluster.client.submit(Peer, self._name, facts, **options))
        for where, future in zip(addresses, self._futures, strict=True):
            self._actors[where] = future.result()
            self._members.append((where, future.key))
        plan = self._shared_out()
        blank: Any = {"monitor": None, "checkpoint": None}  # peers have their own
        checkpoint, monitor = self._run.checkpoint, self._run.monitor
        earlier = None if checkpoint is None else checkpoint.content
        order = cloudpickle.dumps(work), replace(self._run, **blank), monitor.limits, earlier
        for started in [actor.begin(plan, *order) for actor in self._actors.values()]:
            started.result(timeout=PATIENCE)

    def _shared_out(self) -> Plan:
        """Give each member its parts of rows and columns, by its number of threads."""
        threads = [self._cluster.workers.count(address) for address, _ in self._members]
        ends = [sum(threads[:i]) / sum(threads) for i in range(len(threads) + 1)]
        sides, tasks = [], []
        for i, side in enumerate(self._data.sides):
            side.restore()
            count = side.bounds.size - 1
            shares = [range(round(count * a), round(count * b)) for a, b in pairwise(ends)]
            sides.append(shares if count > 1 else [range(1)] * len(shares))
            for (address, _), share in zip(self._members, sides[i], strict=True):
                futures = [side.futures[p] for p in share]
                arguments = self._name, i, list(share), futures
                tasks.append(
                    self._cluster.client.submit(attach, *arguments, workers=[address], pure=False)
                )
        self._cluster.results(tasks)
        return Plan(self._epoch, self._members, list(zip(*sides, strict=True)))

    def result(self) -> Any:
        """Return the result of the peers, and pass on what they report meanwhile."""
        monitor, looked = self._run.monitor, time.monotonic()
        while True:
            if time.monotonic() - looked > POLL:
                looked = time.monotonic()
                if not self._cluster.present().issuperset(address for address, _ in self._members):
                    self._recover()
            why_end = monitor.reason if monitor.stop() else ""
            try:
                events, is_done = self._actor(0).news(POLL, why_end).result(timeout=PATIENCE)
            except LOST:
                self._cluster.check_scheduler()
                time.sleep(PAUSE)
                continue
            for event, arguments in events:
                self._show(event, arguments)
            if is_done:
                return self._taken()

    def _actor(self, rank: int) -> Any:
        return self._actors[self._members[rank][0]]

    def _recover(self) -> None:
        """Share out the parts among the members that are left, and let them go on."""
        self._cluster.refresh()
        self._members = [one for one in self._members if one[0] in self._cluster.workers]
        if not self._members:
            raise LostError
        with self._cluster.noticing_losses():
            ranks = range(len(self._members))
            numbers = [each.result() for each in [self._actor(r).interrupt() for r in ranks]]
            if -1 in numbers:  # one has the result
                self._members = [self._members[numbers.index(-1)]]
                return
            self._epoch += 1
            plan, most = self._shared_out(), max(numbers)
            known = [None if number == most else numbers.index(most) for number in numbers]
            resumed = [self._actor(r).resume(plan._replace(known_by=known[r])) for r in ranks]
            for each in resumed:
                each.result(timeout=PATIENCE)

    def _show(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Pass on a report to the callback of the user, the checkpoint or the progress bar."""
        if event == "callback":
            self._run.monitor.tell(*arguments)
        elif event == "checkpoint":
            assert self._run.checkpoint is not None
            self._run.checkpoint.write(*arguments)
        elif (bar := active_bar()) is not None:
            getattr(bar, event)(*arguments)

    def _taken(self) -> Any:
        where = self._members[0][0]
        task = self._cluster.client.submit(result_of, self._name, workers=[where], pure=False)
        ((result, reason),) = self._cluster.results([task])
        self._run.monitor.reason = self._run.monitor.reason or reason
        return result
