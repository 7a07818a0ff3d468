"""The processes of a distributed fit. Every one of them runs the whole search.

All peers take the same decisions from the same numbers, so nothing has to tell them what to do.
Only what takes long is divided: each peer computes its own parts, and all exchange the results.
Tables are summed by ranges of items: each peer adds up one range and sends it to all.

Exchanges are numbered. If a peer is lost, those that remain have the whole state of the search.
They wait until the client's process has shared out the parts again, and repeat the exchange; one
that has its result already passes it on. So the result is the same as without the loss.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...joint.parts import Change, aligned_ranges, total_of_ranges
from ...kernels.matrix import Matrix
from ...kernels.tables import MassTable
from ..checkpoint import Checkpoint, Content
from ..progress import Bar, Limits, Monitor, Progress, showing_in
from ..run import Run
from .dask_client import LostError, serialised, this_worker, unpickled
from .dask_joint import ClusterJoint, aligned, chosen_rows, joined
from .worker import (
    CHUNK,
    HalfStep,
    Job,
    OwnStep,
    Results,
    RowTask,
    Stop,
    Worker,
    joined_step,
    placed_rows,
)

SECONDS_BETWEEN_CHECKPOINTS = 2.0

T = TypeVar("T")
Work = Callable[[Any, Run], Any]  # of the data and the settings of the search

_peers: dict[str, Peer] = {}  # in this process, by the name of the fit


class LeftError(Exception):
    """The fit has ended for this peer."""


class PeerPlace(NamedTuple):
    """Where a peer is."""

    address: str
    key: str  # of the actor


class Plan(NamedTuple):
    """The peers of a distributed fit, and the parts of the matrix that each of them computes."""

    epoch: int  # grows when a peer is lost
    members: list[PeerPlace]
    shares: list[tuple[range, range]]
    known_by: int | None = None  # a peer that knows the result of the exchange to be repeated


class Order(NamedTuple):
    """What the client wants: work, and how it would run there."""

    work: bytes  # pickled, because Dask waits forever for what it cannot read
    run: Run  # without a monitor
    limits: Limits
    earlier: Content | None  # what an earlier search has left; None without a file


class News(NamedTuple):
    """What the first peer reports."""

    events: list[tuple[str, tuple[Any, ...]]]
    is_done: bool


class Peer:
    """An actor: one process of a distributed fit. Its search runs in a thread of its own."""

    def __init__(self, name: str, blank: ClusterJoint) -> None:
        self._server = this_worker()
        self._loop: asyncio.AbstractEventLoop = self._server.loop.asyncio_loop
        self.threads = int(self._server.state.nthreads)
        self.parts: tuple[dict[int, Matrix], dict[int, Matrix]] = {}, {}
        self.data = blank
        self.agreed = 0.0  # seconds since the fit began, by the first peer's clock
        self._name = name
        self._plan = Plan(-1, [], [])
        self._rank = 0
        self._number = self._phase = 0  # of the exchange, and of its rounds
        self._last: Any = None  # the result of the last exchange
        self._inbox: dict[tuple[int, int, int], dict[int, Any]] = defaultdict(dict)
        self._changed = asyncio.Condition()
        self._is_broken = self._is_parked = self._is_done = self._has_left = False
        self._end = ""  # why the client wants an early end
        self._events: list[tuple[str, tuple[Any, ...]]] = []
        self._result: Any = None
        _peers[name] = self

    # --- called by the client and by other peers, in the event loop -----------------------------

    async def begin(self, plan: Plan, order: Order) -> None:
        """Start the search."""
        self._join(plan)
        self._work: Work = unpickled(order.work)
        name = f"comarkov-search-{self._name}"
        threading.Thread(target=self._search, args=(order,), name=name, daemon=True).start()

    async def deliver(self, key: tuple[int, int, int], rank: int, value: Any) -> None:
        """Take what another peer sends."""
        self._inbox[key][rank] = value
        await self._notify()

    async def news(self, seconds: float) -> News:
        """Return what has happened since the last call; wait for it."""
        await self._until(lambda: bool(self._events) or self._is_done, seconds)
        events, self._events = self._events, []
        return News(events, self._is_done)

    async def end(self, reason: str) -> None:
        """Let the search end early, with the best result so far."""
        self._end = reason

    async def interrupt(self) -> int:
        """Wait until the search waits for others; return the number of its exchange, or -1."""
        self._is_broken = True
        await self._notify()
        await self._until(lambda: self._is_parked or self._is_done)
        return -1 if self._is_done else self._number

    async def resume(self, plan: Plan) -> None:
        """Go on with other members."""
        known = plan.known_by
        if known is not None:
            self._last, self.agreed = aligned(await self._call(plan.members[known], "last"))
        self._join(plan)
        self._is_parked = self._is_broken = False
        await self._notify()

    async def last(self) -> Any:
        """Return the result of the last exchange."""
        return self._last, self.agreed

    async def leave(self) -> None:
        """Forget everything."""
        self._has_left = self._is_broken = True
        _peers.pop(self._name, None)
        await self._notify()

    def _join(self, plan: Plan) -> None:
        self._plan, self._phase = plan, 0
        keys = [member.key for member in plan.members]
        here = [key for key, actor in self._server.state.actors.items() if actor is self]
        self._rank = keys.index(here[0])
        self._inbox = defaultdict(
            dict, {key: box for key, box in self._inbox.items() if key[0] == plan.epoch}
        )
        for i, data in enumerate((self.data, self.data.T)):
            if "worker" in data.__dict__:
                continue
            if data.bounds.size > 2:
                data.__dict__["worker"] = PeerWorker(self, i)
            else:  # too small to be divided: all peers have it, and do the same
                data.__dict__["matrix"] = self.parts[i][0]
                data.__dict__["worker"] = Worker(data, data.bounds, 1)

    async def _call(self, member: PeerPlace, method: str, *arguments: Any) -> Any:
        answer = await self._server.rpc(member.address).actor_execute(
            actor=member.key, function=method, args=serialised(arguments), kwargs={}
        )
        if answer["status"] != "OK":
            raise answer["exception"]
        return answer["result"]

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _until(self, holds: Callable[[], bool], seconds: float | None = None) -> None:
        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait_for(holds), seconds)
            except TimeoutError:
                return

    # --- the search, in its thread --------------------------------------------------------------

    def _search(self, order: Order) -> None:
        self.agreed = order.limits.elapsed
        self._began = time.monotonic() - self.agreed
        monitor = PeerMonitor(self, order.limits)
        checkpoint = None if order.earlier is None else PeerCheckpoint(self, order.earlier)
        run = replace(order.run, monitor=monitor, checkpoint=checkpoint, n_jobs=1)
        try:
            with showing_in(PeerBar(self) if order.limits.verbose else None):
                self._result = self._work(self.data, run), monitor.reason
        except LeftError:
            return
        except BaseException as error:
            self._result = error, ""
        self._is_done = True
        asyncio.run_coroutine_threadsafe(self._notify(), self._loop)

    def report(self, event: str, *arguments: Any) -> None:
        """Let the client know; only the first peer does."""
        if self._rank == 0:
            self._events.append((event, arguments))
            asyncio.run_coroutine_threadsafe(self._notify(), self._loop)

    def _clock(self) -> float:
        return np.inf if self._end else time.monotonic() - self._began

    @property
    def why(self) -> str:
        """The reason for an early end."""
        return self._end or "max_time was reached"

    def taken(self) -> Any:
        """Return the result, or raise the error, of the search."""
        result, reason = self._result
        if isinstance(result, BaseException):
            raise result
        return result, reason

    def together(self, work: Callable[[], T]) -> T:
        """Do work that exchanges values with all others; again if one of them is lost."""
        while True:
            number = self._number
            try:
                result = work()
                break
            except LostError:
                result = self._wait_for_others()
                if self._number > number:
                    return result
        self._last, self._number, self._phase = result, self._number + 1, 0
        return result

    def _wait_for_others(self) -> Any:
        """Wait until the parts are shared out again; return a result that another peer knew."""

        async def parked() -> None:
            self._is_parked = True
            await self._notify()
            await self._until(lambda: not self._is_parked or self._has_left)

        asyncio.run_coroutine_threadsafe(parked(), self._loop).result()
        if self._has_left:
            raise LeftError
        if self._plan.known_by is not None:
            self._number += 1
        return self._last

    def swap(self, values: Sequence[T]) -> list[T]:
        """Send values[r] to each peer r; return what all of them have sent to this one."""
        if len(values) == 1 and not self._is_broken:
            self.agreed = self._clock()
            return list(values)
        return asyncio.run_coroutine_threadsafe(self._swap(values), self._loop).result()

    async def _swap(self, values: Sequence[T]) -> list[T]:
        key = self._plan.epoch, self._number, self._phase
        self._phase += 1
        box, members = self._inbox[key], self._plan.members
        clock = self._clock() if self._rank == 0 else None
        box[self._rank] = values[self._rank], clock
        sent = [
            self._call(member, "deliver", key, self._rank, (value, clock))
            for rank, (member, value) in enumerate(zip(members, values, strict=True))
            if rank != self._rank
        ]
        sending = asyncio.gather(*sent, return_exceptions=True)  # the client notices losses
        await self._until(lambda: len(box) == len(members) or self._is_broken)
        if self._is_broken:
            sending.cancel()
            raise LostError
        self._inbox.pop(key)
        self.agreed = box[0][1]
        return [aligned(box[rank][0]) for rank in range(len(members))]

    def share(self, value: T) -> list[T]:
        """Send a value to all; return those of all."""
        return self.swap([value] * self.count)

    @property
    def count(self) -> int:
        """The number of peers."""
        return len(self._plan.members)

    @property
    def rank(self) -> int:
        """The place of this one among them."""
        return self._rank

    def shares(self, side: int) -> list[range]:
        """Return the parts of a side that each peer has."""
        return [both[side] for both in self._plan.shares]


class Share(NamedTuple):
    """What one peer contributes to a half-step."""

    labels: np.ndarray  # of the rows that it has visited
    margins: np.ndarray
    tallies: list[tuple[int, float]]
    changes: list[Change]  # one: of the items that it adds up
    blocks: list[np.ndarray]
    entropies: list[float]  # of chunks of these items


class PeerWorker(Worker):
    """A worker that has some parts of a matrix, and exchanges results with all others."""

    def __init__(self, peer: Peer, side: int) -> None:
        joint = peer.data if side == 0 else peer.data.T
        super().__init__(joint, joint.bounds, peer.threads)
        self._peer, self._side = peer, side

    @property
    def own(self) -> range:
        """The parts that this worker has; more if others are lost."""
        return self._shares[self._peer.rank]

    def part(self, p: int) -> Matrix:
        """Return the rows of a part."""
        return self._peer.parts[self._side][p]

    def map(self, task: Callable[..., T], own: Sequence[tuple[Any, ...]]) -> Iterable[T]:
        """Return task(part, *own[p]) of each part, in order."""
        return self._joined(lambda: list(Worker.map(self, task, own)))

    def each_row(self, job: Job, task: RowTask) -> Iterable[Results]:
        """Return the results of a task with the costs of the rows of each part, in order."""
        return self._joined(lambda: list(Worker.each_row(self, job, task)))

    def chunks(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return work(0), ..., work(count - 1), on chunks of a table; each peer does some."""
        if count == 1:
            return [work(0)]

        def own() -> list[T]:
            rank, peers = self._peer.rank, self._peer.count
            first, last = count * rank // peers, count * (rank + 1) // peers
            return self.each(lambda i: work(first + i), last - first)

        return self._joined(own)

    def rows(self, numbers: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Return a matrix in this process that has these rows, and where they are in it."""
        chosen, places = placed_rows(self.bounds, numbers)
        pieces = self._joined(lambda: [chosen_rows(self.part(p), chosen[p]) for p in self.own])
        return joined(pieces), places

    def masses(self, labels: np.ndarray, table: MassTable) -> np.ndarray:
        """Return the masses by (column, row cluster)."""
        items = np.arange(len(table.mass), dtype=np.uint32)

        def work() -> Change:
            sums = [Change(items, cells) for cells in self._sums(labels, table)]
            own = self._scattered([sums], [table])
            return joined_changes(self._peer.share(narrow(own[0])))

        return self._peer.together(work).cells.copy()

    def half_steps(self, jobs: Sequence[Job], stop: Stop) -> list[HalfStep] | None:
        """Move rows of all parts at the same time; None once ``stop`` returns True."""
        return None if stop() else self._peer.together(lambda: self._half_steps(jobs))

    def _half_steps(self, jobs: Sequence[Job]) -> list[HalfStep]:
        steps = self.own_steps(jobs, lambda: False) or []
        sums = self._scattered([s.changes for s in steps], [job.table.table for job in jobs])
        own = []
        for job, step, change in zip(jobs, steps, sums, strict=True):
            rows = self._visited(job, self.own)
            labels = step.labels[rows].astype(np.min_scalar_type(-job.clusters.size.size))
            first = self._ends(len(job.table.table.mass))[self._peer.rank]
            entropies = self.entropies(job, change, first)
            own.append(
                Share(labels, step.margins[rows], *step[2:], entropies)._replace(
                    changes=[narrow(change)]
                )
            )
        every = self._peer.share(own)
        of_jobs = zip(*every, strict=True)
        return [self._whole(*each) for each in zip(jobs, steps, of_jobs, strict=True)]

    def _whole(self, job: Job, step: OwnStep, of_peers: Sequence[Share]) -> HalfStep:
        """Join what all peers have done."""
        for parts, theirs in zip(self._shares, of_peers, strict=True):
            rows = self._visited(job, parts)
            step.labels[rows], step.margins[rows] = theirs.labels, theirs.margins
        tallies, blocks, entropies = (
            list(itertools.chain.from_iterable(getattr(theirs, part) for theirs in of_peers))
            for part in ("tallies", "blocks", "entropies")
        )
        change = joined_changes([theirs.changes[0] for theirs in of_peers])
        ranges = [some for parts in self._shares for some in aligned_ranges(parts)]
        mass = total_of_ranges(zip(ranges, blocks, strict=True), np.add)
        return joined_step(step._replace(tallies=tallies), change, [mass], entropies)

    def _ends(self, items: int) -> list[int]:
        """Return where the items begin and end that each peer adds up: at ends of chunks."""
        chunks, count = -(-items // CHUNK), self._peer.count
        return [min(items, chunks * i // count * CHUNK) for i in range(count + 1)]

    def _visited(self, job: Job, share: range) -> np.ndarray:
        """Return the rows that a peer visits."""
        rows = [job.rows[p] + self.bounds[p] for p in share]
        return np.concatenate([*rows, np.zeros(0, np.int64)])

    @property
    def _shares(self) -> list[range]:
        return self._peer.shares(self._side)

    def _joined(self, work: Callable[[], list[T]]) -> list[T]:
        """Return the results of all peers, one after another."""
        exchanged = self._peer.together(lambda: self._peer.share(work()))
        return list(itertools.chain.from_iterable(exchanged))

    def _scattered(
        self, sums: Sequence[Sequence[Change]], tables: Sequence[MassTable]
    ) -> list[Change]:
        """Add up the changes of all peers, each in a range of items; return those of this one.

        For each table there are the changes of the aligned ranges of this peer's parts, or one.
        """

        def cuts(rank: int) -> list[list[Change]]:
            """Return what another peer is to add up."""
            own = []
            for changes, table in zip(sums, tables, strict=True):
                ends = self._ends(len(table.mass))[rank : rank + 2]
                own.append([narrow(cut(change, *ends)) for change in changes])
            return own

        swapped = self._peer.swap([cuts(rank) for rank in range(self._peer.count)])
        return [self._added(own) for own in zip(*swapped, strict=True)]

    def _added(self, of_peers: Sequence[Sequence[Change]]) -> Change:
        """Add up changes in the order that does not depend on how many peers there are."""
        if self.is_exact:
            ranges = [range(i, i + 1) for i in range(len(of_peers))]
            known = zip(ranges, (own[0] for own in of_peers if own), strict=False)
        else:
            shares = [some for share in self._shares for some in aligned_ranges(share)]
            known = zip(shares, itertools.chain.from_iterable(of_peers), strict=True)
        return total_of_ranges(((some, wide(change)) for some, change in known), Change.plus)


def cut(change: Change, start: int, stop: int) -> Change:
    """Return the change of a range of items."""
    first, last = np.searchsorted(change.items, [start, stop])
    return Change(change.items[first:last], change.cells[first:last])


def joined_changes(changes: Sequence[Change]) -> Change:
    """Return the change of several ranges of items, one after another."""
    known = [wide(change) for change in changes if change.items.size] or [wide(changes[0])]
    items, cells = (np.concatenate(arrays) for arrays in zip(*known, strict=True))
    return Change(items, cells)


def narrow(change: Change) -> Change:
    """Return a change with counts in the smallest integers that hold them."""
    cells = change.cells
    if cells.dtype != np.int32 or cells.size == 0:
        return change
    low, high = cells.min(), cells.max()
    for kind in (np.int8, np.int16):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return Change(change.items, cells.astype(kind))
    return change


def wide(change: Change) -> Change:
    """Return a change with counts of the type of tables."""
    is_float = change.cells.dtype.kind == "f"
    return change if is_float else Change(change.items, change.cells.astype(np.int32, copy=False))


def attach(name: str, side: int, numbers: Sequence[int], parts: Sequence[Matrix]) -> None:
    """Give parts to the peer of this process."""
    _peers[name].parts[side].update(zip(numbers, map(aligned, parts), strict=True))


def result_of(name: str) -> Any:
    """Return the result of the peer of this process, and why it ended early."""
    return _peers[name].taken()


class PeerMonitor(Monitor):
    """Decides by the clock of the first peer, and reports to the client."""

    def __init__(self, peer: Peer, limits: Limits) -> None:
        callback = self._told if limits.has_callback else None
        super().__init__(limits.max_time, callback, limits.verbose)
        self._peer = peer

    def is_late(self, share: float) -> bool:
        """Should no further start be made? Starts have this share of the time."""
        limit = np.inf if self._max_time is None else share * self._max_time
        if not self._stopped and self._peer.agreed < limit:
            return False
        self.reason = self.reason or self._peer.why
        return True

    def _told(self, state: Progress) -> None:
        self._peer.report("callback", state)

    @contextmanager
    def interruptible(self) -> Any:
        """Let the client decide what Ctrl-C ends."""
        yield


class PeerCheckpoint(Checkpoint):
    """Sends the best labels to the client, which writes them."""

    def __init__(self, peer: Peer, content: Content) -> None:
        super().__init__(peer.data, content)
        self._peer = peer

    def _now(self) -> float:
        return self._peer.agreed

    def _write(self) -> None:
        self._peer.report("checkpoint", self._best_labels)
        self._next = self._now() + SECONDS_BETWEEN_CHECKPOINTS


class PeerBar(Bar):
    """Shows progress at the client."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def begin(self, stage: str, total: float = 1.0) -> None:
        """Go on with a stage, which has so many parts."""
        self._peer.report("begin", stage, total)

    def describe(self, text: str) -> None:
        """Set the text beside the bar."""
        self._peer.report("describe", text)

    def advance(self, parts: float = 1.0) -> None:
        """Count parts of the present stage as done."""
        self._peer.report("advance", parts)
