"""A fit on a Dask cluster, as the process of the client sees it: peers start, report and end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

from ..progress import active_bar
from ..run import Run
from .dask_client import Cluster, LostError, Task, pickled
from .dask_joint import ClusterJoint
from .peers import Order, Peer, PeerPlace, Plan, Work, attach, result_of

ATTEMPTS = 20  # at the same fit, while all workers are lost
PAUSE = 0.3  # seconds until the scheduler has noticed that a worker is lost
PATIENCE = 60.0  # seconds in which a peer must answer
POLL = 0.25  # seconds between looks at what else happens
LOST = (OSError, RuntimeError, KeyError, TimeoutError)  # what calls of lost peers raise


def compute(data: ClusterJoint, work: Work, run: Run) -> Any:
    """Return work(data, run), done by all workers that have parts of the data."""
    if data.bounds.size == data.T.bounds.size == 2:  # too small to be divided
        return work(data.gather().with_threads(run.n_jobs), run)
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

    def __init__(self, data: ClusterJoint, run: Run) -> None:
        self._data, self._run = data, run
        self._monitor, self._checkpoint = run.monitor, run.checkpoint
        self._cluster: Cluster = data.parts.cluster
        self._name = uuid4().hex
        self._members: list[PeerPlace] = []
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

    def result(self) -> Any:
        """Return the result of the peers, and pass on what they report meanwhile."""
        asked, looked = "", time.monotonic()
        while True:
            if not asked and self._monitor.stop():
                asked = self._monitor.reason
                self._actor(0).end(asked)
            if time.monotonic() - looked > POLL:
                looked = time.monotonic()
                if self._lost():
                    self._recover()
            try:
                news = self._actor(0).news(POLL).result(timeout=PATIENCE)
            except LOST:
                self._cluster.check_scheduler()
                time.sleep(PAUSE)
                continue
            for event, arguments in news.events:
                self._show(event, arguments)
            if news.is_done:
                return self._taken()

    def _start(self, work: Work) -> None:
        cluster = self._cluster
        earlier = None if self._checkpoint is None else self._checkpoint.content
        cluster.refresh()
        addresses = sorted(set(cluster.workers))
        submit = cluster.client.submit
        self._futures = [
            submit(Peer, self._name, self._data, actor=True, workers=[where], pure=False)
            for where in addresses
        ]
        for where, future in zip(addresses, self._futures, strict=True):
            self._actors[where] = future.result()
            self._members.append(PeerPlace(where, future.key))
        plan = Plan(self._epoch, self._members, self._shares())
        self._attach(plan.shares)
        blank: Any = {"monitor": None, "checkpoint": None}  # peers have their own
        order = Order(pickled(work), replace(self._run, **blank), self._monitor.limits, earlier)
        for started in [actor.begin(plan, order) for actor in self._actors.values()]:
            started.result(timeout=PATIENCE)

    def _shares(self) -> list[tuple[range, range]]:
        """Return the parts of rows and columns for each member, by its number of threads."""
        threads = [self._cluster.workers.count(member.address) for member in self._members]
        ends = [sum(threads[:i]) / sum(threads) for i in range(len(threads) + 1)]
        sides = []
        for data in (self._data, self._data.T):
            count = data.bounds.size - 1
            cuts = [round(count * end) for end in ends]
            own = [range(a, b) for a, b in pairwise(cuts)]
            sides.append(own if count > 1 else [range(1)] * len(own))
        return list(zip(*sides, strict=True))

    def _attach(self, shares: list[tuple[range, range]]) -> None:
        """Give each member its parts."""
        tasks = []
        for i, data in enumerate((self._data, self._data.T)):
            data.parts.restore()
            for member, share in zip(self._members, shares, strict=True):
                futures = [data.parts.futures[p] for p in share[i]]
                tasks.append(
                    self._cluster.client.submit(
                        attach,
                        self._name,
                        i,
                        list(share[i]),
                        futures,
                        workers=[member.address],
                        pure=False,
                    )
                )
        self._cluster.results(tasks)

    def _actor(self, rank: int) -> Any:
        return self._actors[self._members[rank].address]

    def _lost(self) -> bool:
        present = self._cluster.present()
        return any(member.address not in present for member in self._members)

    def _recover(self) -> None:
        """Share out the parts among the members that are left, and let them go on."""
        self._cluster.refresh()
        self._members = [one for one in self._members if one.address in self._cluster.workers]
        if not self._members:
            raise LostError
        with self._cluster.noticing_losses():
            waiting = [self._actor(rank).interrupt() for rank in range(len(self._members))]
            numbers = [each.result() for each in waiting]
            if -1 in numbers:  # one has the result
                self._members = [self._members[numbers.index(-1)]]
                return
            self._epoch += 1
            plan = Plan(self._epoch, self._members, self._shares())
            self._attach(plan.shares)
            first = numbers.index(max(numbers))
            resumed = [
                self._actor(rank).resume(
                    plan._replace(known_by=None if number == max(numbers) else first)
                )
                for rank, number in enumerate(numbers)
            ]
            for each in resumed:
                each.result(timeout=PATIENCE)

    def _show(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Pass on a report to the progress bar or the callback of the user."""
        if event == "callback":
            self._monitor.tell(*arguments)
            return
        if event == "checkpoint":
            assert self._checkpoint is not None
            self._checkpoint.write(*arguments)
            return
        bar = active_bar()
        if bar is not None:
            show: Callable[..., None] = getattr(bar, event)
            show(*arguments)

    def _taken(self) -> Any:
        where = self._members[0].address
        task = self._cluster.client.submit(result_of, self._name, workers=[where], pure=False)
        ((result, reason),) = self._cluster.results([task])
        self._monitor.reason = self._monitor.reason or reason
        return result
