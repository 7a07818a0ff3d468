"""The Dask client: finding or starting one, and tasks on its workers.

Only this module imports Dask.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ...joint.messages import need

if TYPE_CHECKING:
    from distributed import Client


Task = Any  # a distributed.Future: a value that is, or will be, on a worker

PURPOSE = "The Dask engine"
INSTALL = "comarkov[dask]"
ANSWER = 5.0  # seconds in which a scheduler must answer
ARRIVAL = 10.0  # seconds in which the first worker must arrive
CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
LOOPBACK = "127.0.0.1"
NO_CLIENT = (
    "The Dask engine needs a client, and there is none. Start one on this machine with "
    "'from distributed import Client; client = Client()', or connect to a cluster with "
    "Client('tcp://ADDRESS:8786')."
)


class LostError(Exception):
    """A worker was lost, and what it held with it."""


class Cluster:
    """The workers of a client, and tasks that are placed on them."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.address = str(client.scheduler_info()["address"])
        self.workers = checked_workers(client)

    def refresh(self) -> None:
        """Look which workers are there: some may be lost, others may be new."""
        self.workers = checked_workers(self.client)

    def submit(self, function: Callable[..., Any], *arguments: Any, place: float = 0.0) -> Task:
        """Start a task at a place from 0 to 1 among the workers; elsewhere if its worker is lost.

        Tasks with near places are on the same worker, so that they need not exchange data.
        """
        return self.client.submit(
            function,
            *arguments,
            workers=[self.worker(place)],
            allow_other_workers=True,
            pure=False,
        )

    def map(self, function: Callable[..., Any], tasks: Sequence[Any], *more: Any) -> list[Task]:
        """Start a task for each of many values; neighbours are on the same worker."""
        return [
            self.submit(function, task, *more, place=place)
            for task, place in zip(tasks, places(len(tasks)), strict=True)
        ]

    def worker(self, place: float) -> str:
        """Return the address of the worker at a place."""
        count = len(self.workers)
        return self.workers[min(int(place * count), count - 1)]

    def compute(self, delayed: Sequence[Any]) -> list[Task]:
        """Start the tasks of delayed values."""
        return self.client.compute(list(delayed))

    def scatter(self, value: Any, place: float) -> Task:
        """Send a value to the worker at a place. It is lost if this worker is."""
        with self.noticing_losses():
            return self.client.scatter([value], workers=[self.worker(place)], hash=False)[0]

    def gather(self, futures: Sequence[Task]) -> list[Any]:
        """Return the results of tasks."""
        return self.client.gather(list(futures))

    def results(self, tasks: Sequence[Task]) -> list[Any]:
        """Return the results of tasks. Raises a LostError if a worker took data with it."""
        with self.noticing_losses():
            return self.gather(tasks)

    def present(self) -> set[str]:
        """Return the addresses of the workers that are there."""
        self.check_scheduler()
        with self.noticing_losses():
            return set(self.client.nthreads())

    @contextmanager
    def noticing_losses(self) -> Iterator[None]:
        """Raise a LostError in place of what Dask raises if a worker is lost."""
        from distributed import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise ConnectionError(
                "Dask workers die of the same task again and again. They may have too little "
                "memory: start more of them, or some with a higher limit."
            ) from error
        except (*CANCELLED, OSError, KeyError, RuntimeError) as error:
            self.check_scheduler()
            raise LostError from error

    def check_scheduler(self) -> None:
        """Raise an error if the scheduler is gone."""
        if self.client.status != "running":
            raise ConnectionError(
                f"The Dask scheduler at {self.address} is gone. Start it and its workers again, "
                "and repeat the fit. With checkpoint='FILE' a fit goes on where it was."
            )

    def finish(self, futures: Sequence[Task]) -> None:
        """Wait for tasks whose results stay where they are; raise the error of one that failed."""
        from distributed import wait

        wait(futures)
        for future in futures:
            if future.status == "error":
                future.result()

    def reduced(self, function: Callable[[Any, Any], Any], futures: Sequence[Task]) -> Task:
        """Combine results in pairs of neighbours, then pairs of pairs, on their workers."""
        level, leaves = list(futures), len(futures)
        width = 1
        while len(level) > 1:
            pairs = [
                self.submit(function, *level[i : i + 2], place=i * width / leaves)
                for i in range(0, len(level) - 1, 2)
            ]
            level = pairs + level[2 * len(pairs) :]
            width *= 2
        return level[0]


def this_worker() -> Any:
    """Return the Dask worker of this process."""
    from distributed import get_worker

    return get_worker()


def serialised(values: Sequence[Any]) -> list[Any]:
    """Return values as they are sent between workers, arrays without copies."""
    from distributed.protocol.serialize import to_serialize

    return [to_serialize(value) for value in values]


def pickled(function: Callable[..., Any]) -> bytes:
    """Return a function as bytes, also one that only this process has."""
    import cloudpickle  # which Dask requires

    return cloudpickle.dumps(function)


def unpickled(data: bytes) -> Any:
    """Return the function again."""
    import cloudpickle

    return cloudpickle.loads(data)


def places(count: int) -> list[float]:
    """Return places for many tasks, so that each worker gets as many and neighbours are close."""
    return [i / count for i in range(count)]


def current() -> Cluster:
    """Return the cluster of the current client, or an error that explains how to create one."""
    need(PURPOSE, "distributed", install=INSTALL)
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:
        raise ValueError(NO_CLIENT) from None
    return Cluster(client)


@contextmanager
def session(scheduler: str | None, workers: int) -> Iterator[Cluster]:
    """Connect to a scheduler or, without one, start workers that only this machine can reach."""
    need(PURPOSE, "distributed", install=INSTALL)
    with _connected(scheduler) if scheduler else _started(workers) as client:
        yield Cluster(client)


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    from distributed import Client

    try:
        client = Client(scheduler, timeout=ANSWER)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No Dask scheduler answers at {scheduler}. Start one with 'dask scheduler', and pass "
            "the address that it prints, for example scheduler='tcp://127.0.0.1:8786'"
        ) from error
    with client:
        yield client


@contextmanager
def _started(workers: int) -> Iterator[Client]:
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),  # nobody will look at it
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",
            scheduler_kwargs={"dashboard": False},
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def checked_workers(client: Client) -> list[str]:
    """Return the worker of each thread, or raise an error if one cannot take part in a fit."""
    own = version("comarkov")
    try:
        client.wait_for_workers(1, timeout=ARRIVAL)
    except TimeoutError:
        raise ValueError(
            "The Dask scheduler has no workers. Start one or more with 'dask worker "
            f"{client.scheduler_info()['address']}'"
        ) from None
    answers = client.run(version, "comarkov", on_error="return")
    gone = {worker for worker, answer in answers.items() if isinstance(answer, OSError)}
    for worker in answers.keys() - gone:
        _check_version(f"on the Dask worker {worker}", answers[worker], own)
    try:
        answer = client.run_on_scheduler(version, "comarkov")
    except ImportError as error:
        answer = error
    _check_version("where the Dask scheduler runs", answer, own)
    present = {worker: n for worker, n in client.nthreads().items() if worker not in gone}
    return _by_thread(present)


def _check_version(where: str, answer: Any, own: str) -> None:
    """Raise an error if another process has no comarkov, or another version of it."""
    advice = f"Run there: pip install '{INSTALL}=={own}'"
    if isinstance(answer, Exception):
        raise ValueError(f"comarkov is not installed {where}. {advice}")
    if answer != own:
        raise ValueError(f"There is comarkov {answer} {where}, but this is {own}. {advice}")


def _by_thread(threads: Mapping[str, int]) -> list[str]:
    return [worker for worker in sorted(threads) for _ in range(threads[worker])]
