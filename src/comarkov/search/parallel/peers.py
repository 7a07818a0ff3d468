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
import ctypes
import gc
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, reduce
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...joint.parts import Change, aligned_ranges, total_of_ranges
from ...kernels.matrix import Matrix, chosen_rows
from ...kernels.tables import MassTable
from ..checkpoint import Checkpoint, Content
from ..progress import Limits, Monitor, show_in
from ..run import Run
from .dask_client import LostError, serialised, this_worker
from .dask_joint import NO_BOX, Box, PeerJoint, aligned, joined, packed, unpacked
from .half_steps import Mover
from .worker import CHUNK, HalfStep, Stop, Worker, placed_rows

SECONDS_BETWEEN_CHECKPOINTS = 2.0
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
KEPT_BYTES, KEPT_ARRAY_BYTES = 1 << 30, 1 << 25  # during a fit; glibc keeps no larger arrays
MALLOC_BYTES = 1 << 17  # what glibc keeps by default
MAX_DIRECT = 3  # peers that send all changes to each other, which takes one round in place of two
MAX_DIRECT_VISITS = 0.25  # share of the rows; the cost of more is computed by ranges of items

T = TypeVar("T")
Work = Callable[[Any, Run], Any]  # of the data and the settings of the search

_peers: dict[str, Peer] = {}  # in this process, by the name of the fit


class LeftError(Exception):
    """The fit has ended for this peer."""


class Plan(NamedTuple):
    """The peers of a distributed fit, and the parts of the matrix that each of them computes."""

    epoch: int  # grows when a peer is lost
    members: list[tuple[str, str]]  # the address of each peer, and the key of its actor
    shares: list[tuple[range, range]]
    known_by: int | None = None  # a peer that knows the result of the exchange to be repeated


class Peer:
    """An actor: one process of a distributed fit. Its search runs in a thread of its own."""

    def __init__(self, name: str, facts: dict[str, Any]) -> None:
        self._server = this_worker()
        self._loop: asyncio.AbstractEventLoop = self._server.loop.asyncio_loop
        self.threads = int(self._server.state.nthreads)
        self.parts: tuple[dict[int, Matrix], dict[int, Matrix]] = {}, {}
        self.data = PeerJoint(facts)
        self.agreed = 0.0  # seconds since the fit began, by the first peer's clock
        self.why_end = ""  # why the client wants an early end
        self.plan = Plan(-1, [], [])
        self.rank = 0
        self._name = name
        self._number = self._phase = 0  # of the exchange, and of its rounds
        self._last: Any = None  # the result of the last exchange
        self._inbox: dict[tuple[int, int, int], dict[int, Any]] = defaultdict(dict)
        self._comms: dict[str, Any] = {}  # to other peers, by address
        self._changed = asyncio.Condition()  # for the event loop
        self._arrived = threading.Condition()  # for the search
        self._is_broken = self._is_parked = self._is_done = self._has_left = False
        self._events: list[tuple[str, tuple[Any, ...]]] = []
        self.result: Any = None
        _peers[name] = self

    # --- called by the client and by other peers, in the event loop -----------------------------

    async def begin(
        self, plan: Plan, pickled: bytes, run: Run, limits: Limits, earlier: Content | None
    ) -> None:
        """Start the search that the client wants.

        The work is pickled, because Dask waits forever for what it cannot read. The run has no
        monitor. ``earlier`` is what an earlier search has left; None without a file.
        """
        import cloudpickle  # which Dask requires

        keep_memory()
        self._join(plan)
        self.agreed = limits.elapsed
        self._began = time.monotonic() - self.agreed
        monitor = PeerMonitor(self, limits)
        checkpoint = None if earlier is None else PeerCheckpoint(self, earlier)
        run = replace(run, monitor=monitor, checkpoint=checkpoint, n_jobs=1)
        search = partial(self._search, cloudpickle.loads(pickled), run, bool(limits.verbose))
        name = f"comarkov-search-{self._name}"
        threading.Thread(target=search, name=name, daemon=True).start()

    async def deliver(self, key: tuple[int, int, int], rank: int, clock: float, *box: Any) -> None:
        """Take what another peer sends."""
        with self._arrived:
            self._inbox[key][rank] = Box(*box), clock
            self._arrived.notify()

    async def news(self, seconds: float, why_end: str) -> tuple[list[Any], bool]:
        """Return what has happened since the last call, and whether the search has ended.

        With a reason, the search ends early, with the best result so far.
        """
        self.why_end = self.why_end or why_end
        await self._until(lambda: bool(self._events) or self._is_done, seconds)
        events, self._events = self._events, []
        return events, self._is_done

    async def interrupt(self) -> int:
        """Wait until the search waits for others; return the number of its exchange, or -1."""
        self._is_broken = True
        await self._notify()
        await self._until(lambda: self._is_parked or self._is_done)
        return -1 if self._is_done else self._number

    async def resume(self, plan: Plan) -> None:
        """Go on with other members."""
        if plan.known_by is not None:
            known, self.agreed = await self._ask(plan.members[plan.known_by], "last")
            self._last = unpacked(known)
            self._number += 1
        self._join(plan)
        self._is_parked = self._is_broken = False
        await self._notify()

    async def last(self) -> Any:
        """Return the result of the last exchange."""
        return packed(self._last), self.agreed

    async def leave(self) -> None:
        """Forget everything."""
        self._has_left = self._is_broken = True
        for address, comm in self._comms.items():
            self._server.rpc.reuse(address, comm)
        _peers.pop(self._name, None)
        await self._notify()

    def _join(self, plan: Plan) -> None:
        self.plan, self._phase = plan, 0
        (here,) = (key for key, actor in self._server.state.actors.items() if actor is self)
        self.rank = [key for _, key in plan.members].index(here)
        for key in [key for key in self._inbox if key[0] != plan.epoch]:
            del self._inbox[key]
        for i, data in enumerate((self.data, self.data.T)):
            if "worker" in data.__dict__:
                continue
            bounds = data.bounds[0]
            if bounds.size > 2:
                data.__dict__["worker"] = PeerWorker(self, i)
            else:  # too small to be divided: all peers have it, and do the same
                data.__dict__["matrix"] = self.parts[i][0]
                data.__dict__["worker"] = Worker(data, bounds, 1)

    async def _ask(self, member: tuple[str, str], method: str) -> Any:
        answer = await self._server.rpc(member[0]).actor_execute(**_call(member, method))
        if answer["status"] != "OK":
            raise answer["exception"]
        return answer["result"]

    async def _send(self, member: tuple[str, str], *arguments: Any) -> None:
        """Let a peer take a message, for which there is no answer, over a connection of our own."""
        address, _ = member
        if address not in self._comms:
            self._comms[address] = await self._server.rpc.connect(address)
        call = _call(member, "deliver", *arguments)
        await self._comms[address].write({"op": "actor_execute", "reply": False, **call})

    async def _notify(self) -> None:
        with self._arrived:
            self._arrived.notify()
        async with self._changed:
            self._changed.notify_all()

    async def _until(self, holds: Callable[[], bool], seconds: float | None = None) -> None:
        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait_for(holds), seconds)
            except TimeoutError:
                return

    # --- the search, in its thread --------------------------------------------------------------

    def _search(self, work: Work, run: Run, is_shown: bool) -> None:
        bar: Any = PeerBar(self) if is_shown else None
        show_in(bar)
        try:
            self.result = work(self.data, run), run.monitor.reason
        except LeftError:
            return
        except BaseException as error:
            self.result = error, ""
        self._is_done = True
        self._in_loop(self._notify())

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def report(self, event: str, *arguments: Any) -> None:
        """Let the client know; only the first peer does."""
        if self.rank == 0:
            self._events.append((event, arguments))
            self._in_loop(self._notify())

    def together(self, work: Callable[[], T]) -> T:
        """Do work that exchanges values with all others; again if one of them is lost."""
        number = self._number
        while self._number == number:
            try:
                self._last = work()
                self._number, self._phase = number + 1, 0
            except LostError:
                self._in_loop(self._wait_for_others()).result()
                if self._has_left:
                    raise LeftError from None
        result: T = self._last
        return result

    async def _wait_for_others(self) -> None:
        """Wait until the parts are shared out again; another peer may know the result."""
        self._is_parked = True
        await self._notify()
        await self._until(lambda: not self._is_parked or self._has_left)

    def swap(self, values: Sequence[T]) -> list[T]:
        """Send values[r] to each peer r; return what all of them have sent to this one."""
        boxes = [NO_BOX if rank == self.rank else packed(v) for rank, v in enumerate(values)]
        return self._swap(values[self.rank], boxes)

    def share(self, value: T) -> list[T]:
        """Send a value to all; return those of all."""
        return self._swap(value, [packed(value)] * len(self.plan.members))

    def _swap(self, own: T, boxes: Sequence[Box]) -> list[T]:
        key = self.plan.epoch, self._number, self._phase
        self._phase += 1
        clock = np.inf if self.why_end else time.monotonic() - self._began
        self._in_loop(self._send_all(key, clock, boxes))
        with self._arrived:
            inbox, count = self._inbox[key], len(boxes)
            inbox[self.rank] = NO_BOX, clock
            self._arrived.wait_for(lambda: len(inbox) == count or self._is_broken)
            if self._is_broken:
                raise LostError
            del self._inbox[key]
        self.agreed = inbox[0][1]
        return [own if rank == self.rank else unpacked(inbox[rank][0]) for rank in range(count)]

    async def _send_all(
        self, key: tuple[int, int, int], clock: float, boxes: Sequence[Box]
    ) -> None:
        sent = [
            self._send(member, key, self.rank, clock, *box)
            for rank, (member, box) in enumerate(zip(self.plan.members, boxes, strict=True))
            if rank != self.rank
        ]
        await asyncio.gather(*sent, return_exceptions=True)  # the client notices losses


def _call(member: tuple[str, str], method: str, *arguments: Any) -> dict[str, Any]:
    """Return the request that calls a method of a peer."""
    return {"actor": member[1], "function": method, "args": serialised(arguments), "kwargs": {}}


class PeerWorker(Worker):
    """A worker that has some parts of a matrix, and exchanges results with all others."""

    def __init__(self, peer: Peer, side: int) -> None:
        joint = peer.data if side == 0 else peer.data.T
        super().__init__(joint, joint.bounds[0], peer.threads)
        self._peer, self._side = peer, side

    @property
    def own(self) -> range:
        """The parts that this worker has; more if others are lost."""
        return self._shares[self._peer.rank]

    @property
    def _shares(self) -> list[range]:
        return [both[self._side] for both in self._peer.plan.shares]

    def part(self, p: int) -> Matrix:
        """Return the rows of a part."""
        return self._peer.parts[self._side][p]

    def each_part(self, work: Callable[[int], T]) -> list[T]:
        """Return work(p) of each part p, in order."""
        return self._joined(lambda: list(self._each_own(work)))

    def chunks(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return work(0), ..., work(count - 1), on chunks of a table; each peer does some."""
        if count == 1:
            return [work(0)]

        def own() -> list[T]:
            rank, peers = self._peer.rank, len(self._shares)
            first, last = count * rank // peers, count * (rank + 1) // peers
            return self._chunks(work, range(first, last))

        return self._joined(own)

    def rows(self, numbers: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Return a matrix in this process that has these rows, and where they are in it."""
        chosen, places = placed_rows(self.bounds, numbers)
        return joined(self.each_part(lambda p: chosen_rows(self.part(p), chosen[p]))), places

    def _joined(self, work: Callable[[], list[T]]) -> list[T]:
        """Return the results of all peers, one after another."""
        return list(chain(*self._peer.together(lambda: self._peer.share(work()))))

    def masses(self, before: np.ndarray, after: np.ndarray, table: MassTable) -> np.ndarray:
        """Return the change of the masses by (column, row cluster); label -1 is no cluster."""
        items = np.arange(len(table.mass), dtype=np.uint32)

        def work() -> Change:
            sums = [Change(items, cells) for cells in self._sums(before, after, table)]
            (own,) = self._scattered([sums], [table])
            return joined_changes(self._peer.share(narrow(own)))

        return self._peer.together(work).cells.copy()

    def half_steps(
        self, movers: Sequence[Mover], stop: Stop, needs_cost: bool
    ) -> list[HalfStep] | None:
        """Move rows of all parts at the same time; None once ``stop`` returns True."""
        return None if stop() else self._peer.together(lambda: self._half_steps(movers, needs_cost))

    def _half_steps(self, movers: Sequence[Mover], needs_cost: bool) -> list[HalfStep]:
        steps = self.own_steps(movers, lambda: False) or []
        visited = max(sum(rows.size for rows in mover.rows) for mover in movers)
        is_small = not needs_cost or visited <= MAX_DIRECT_VISITS * self.bounds[-1]
        is_direct = is_small and len(self._shares) <= MAX_DIRECT
        own = steps if is_direct else self._summed(movers, steps, needs_cost)
        sent = zip(*self._peer.share(list(map(self._to_send, movers, own))), strict=True)
        every = [self._joined_step(*each) for each in zip(movers, steps, sent, strict=True)]
        if not is_direct:
            return [s._replace(changes=[joined_changes(s.changes)]) for s in every]
        if needs_cost or not self.is_exact:
            every = [s._replace(changes=[self._added(s.changes)]) for s in every]
        return self.with_entropies(movers, every) if needs_cost else every

    def _summed(
        self, movers: Sequence[Mover], steps: Sequence[HalfStep], needs_cost: bool
    ) -> list[HalfStep]:
        """Return steps with the changes by all peers, of the items that this one adds up."""
        tables = [mover.table for mover in movers]
        sums = self._scattered([step.changes for step in steps], tables)
        summed = [step._replace(changes=[s]) for step, s in zip(steps, sums, strict=True)]
        if not needs_cost:
            return summed
        firsts = [self._ends(len(table.mass))[self._peer.rank] for table in tables]
        entropies = map(self.entropies, movers, sums, firsts)
        return [s._replace(entropies=each) for s, each in zip(summed, entropies, strict=True)]

    def _to_send(self, mover: Mover, step: HalfStep) -> HalfStep:
        """Return what others need to know, as small as it can be."""
        rows = self._visited(mover, self.own)
        return step._replace(
            labels=step.labels[rows].astype(np.min_scalar_type(-mover.clusters.size.size)),
            margins=step.margins[rows],
            changes=list(map(narrow, step.changes)),
        )

    def _joined_step(self, mover: Mover, step: HalfStep, of_peers: Sequence[HalfStep]) -> HalfStep:
        """Join what all peers have done, with all their changes."""
        for parts, theirs in zip(self._shares, of_peers, strict=True):
            rows = self._visited(mover, parts)
            step.labels[rows], step.margins[rows] = theirs.labels, theirs.margins
        ranges = chain(*map(aligned_ranges, self._shares))
        blocks = chain(*(theirs.blocks for theirs in of_peers))
        return step._replace(
            tallies=list(chain(*(theirs.tallies for theirs in of_peers))),
            changes=[wide(change) for theirs in of_peers for change in theirs.changes],
            blocks=[total_of_ranges(zip(ranges, blocks, strict=True), np.add)],
            entropies=list(chain(*(theirs.entropies for theirs in of_peers))),
        )

    def _ends(self, items: int) -> list[int]:
        """Return where the items begin and end that each peer adds up: at ends of chunks."""
        chunks, count = -(-items // CHUNK), len(self._shares)
        return [min(items, chunks * i // count * CHUNK) for i in range(count + 1)]

    def _visited(self, mover: Mover, share: range) -> np.ndarray:
        """Return the rows that a peer visits."""
        rows = [mover.rows[p] + self.bounds[p] for p in share]
        return np.concatenate([*rows, np.zeros(0, np.int64)])

    def _scattered(
        self, sums: Sequence[Sequence[Change]], tables: Sequence[MassTable]
    ) -> list[Change]:
        """Add up the changes of all peers, each in a range of items; return those of this one.

        For each table there are the changes of the aligned ranges of this peer's parts, or one.
        """

        def cut(changes: Sequence[Change], table: MassTable, rank: int) -> list[Change]:
            """Return what another peer is to add up."""
            ends = self._ends(len(table.mass))[rank : rank + 2]
            places = [slice(*np.searchsorted(change.items, ends)) for change in changes]
            some = [
                Change(c.items[own], c.cells[own]) for c, own in zip(changes, places, strict=True)
            ]
            return some if rank == self._peer.rank else list(map(narrow, some))

        pairs = list(zip(sums, tables, strict=True))
        ranks = range(len(self._shares))
        swapped = self._peer.swap([[cut(*pair, rank) for pair in pairs] for rank in ranks])
        return [self._added(list(map(wide, chain(*each)))) for each in zip(*swapped, strict=True)]

    def _added(self, changes: Sequence[Change]) -> Change:
        """Add up the changes of all peers, in an order that does not depend on their number."""
        if self.is_exact:
            return reduce(Change.plus, changes)
        ranges = chain(*map(aligned_ranges, self._shares))
        return total_of_ranges(zip(ranges, changes, strict=True), Change.plus)


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
    kind = np.min_scalar_type(min(int(cells.min()), -int(cells.max()) - 1))
    return Change(change.items, cells.astype(kind))


def wide(change: Change) -> Change:
    """Return a change with counts of the type of tables."""
    is_float = change.cells.dtype.kind == "f"
    return change if is_float else Change(change.items, change.cells.astype(np.int32, copy=False))


def attach(name: str, side: int, numbers: Sequence[int], parts: Sequence[Matrix]) -> None:
    """Give parts to the peer of this process."""
    _peers[name].parts[side].update(zip(numbers, map(aligned, parts), strict=True))


def result_of(name: str) -> Any:
    """Return the result of the peer of this process, and why it ended early; or raise its error."""
    result, reason = _peers[name].result
    if isinstance(result, BaseException):
        raise result
    return result, reason


def keep_memory() -> None:
    """Let glibc keep the memory of freed arrays for the next ones.

    Dask lets its workers return it at once. The system then has to clear all pages of each array
    that a half-step makes, which takes longer than what is done with it.
    """
    _set_malloc(KEPT_BYTES, KEPT_ARRAY_BYTES)


def give_back() -> None:
    """Return the memory of a fit to the system, and go on as the worker was started."""
    _set_malloc(int(os.environ.get("MALLOC_TRIM_THRESHOLD_", MALLOC_BYTES)), MALLOC_BYTES)
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # which only glibc has
        trim(0)


def _set_malloc(most: int, most_of_array: int) -> None:
    """Set how much memory glibc keeps at the end of an arena, and of which arrays."""
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(M_TRIM_THRESHOLD, most)
        mallopt(M_MMAP_THRESHOLD, most_of_array)


class PeerMonitor(Monitor):
    """Decides by the clock of the first peer, and reports to the client."""

    def __init__(self, peer: Peer, limits: Limits) -> None:
        callback = partial(peer.report, "callback") if limits.has_callback else None
        super().__init__(limits.max_time, callback, limits.verbose)
        self._peer = peer

    def is_late(self, share: float) -> bool:
        """Should no further start be made? Starts have this share of the time."""
        limit = np.inf if self._max_time is None else share * self._max_time
        if not self._stopped and self._peer.agreed < limit:
            return False
        self.reason = self.reason or self._peer.why_end or "max_time was reached"
        return True

    def interruptible(self) -> Any:
        """Let the client decide what Ctrl-C ends."""
        return nullcontext()


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


class PeerBar:
    """Shows progress at the client: all that is called is reported."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def __getattr__(self, event: str) -> Callable[..., None]:
        return partial(self._peer.report, event)
