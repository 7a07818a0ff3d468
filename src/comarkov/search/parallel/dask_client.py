"""The Dask client: finding or starting one, and tasks on its workers.

Only this module imports Dask.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

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


class LostError(Exception):
    """A worker was lost, and what it held with it."""


class Cluster:
    """The workers of a client, and tasks that are placed on them."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.address = str(client.scheduler_info()["address"])
        self.workers: list[str] = []  # the address of each thread's worker
        self.refresh()

    def refresh(self) -> None:
        """Look which workers are there; an error if one of them cannot take part in a fit."""
        try:
            self.client.wait_for_workers(1, timeout=ARRIVAL)
        except TimeoutError:
            raise ValueError(
                "The Dask scheduler has no workers. Start one or more with 'dask worker "
                f"{self.address}'"
            ) from None
        own = version("comarkov")
        answers = self.client.run(version, "comarkov", on_error="return")
        threads = self.client.nthreads()
        for worker, answer in answers.items():
            if isinstance(answer, OSError):
                threads.pop(worker, None)  # it is lost
            elif answer != own:
                known = "no comarkov" if isinstance(answer, Exception) else f"comarkov {answer}"
                raise ValueError(
                    f"The Dask worker {worker} has {known}, but this is {own}. Run there: "
                    f"pip install '{INSTALL}=={own}'"
                )
        self.workers = [worker for worker in sorted(threads) for _ in range(threads[worker])]

    def scatter(self, value: Any, place: float) -> Task:
        """Send a value to the worker at a place from 0 to 1. It is lost if this worker is."""
        with self.noticing_losses():
            worker = self.workers[int(place * len(self.workers))]
            return self.client.scatter([value], workers=[worker], hash=False)[0]

    def results(self, tasks: Sequence[Task]) -> list[Any]:
        """Return the results of tasks. Raises a LostError if a worker took data with it."""
        with self.noticing_losses():
            return self.client.gather(list(tasks))

    def present(self) -> set[str]:
        """Return the addresses of the workers that are there."""
        self.check_scheduler()
        with self.noticing_losses():
            return set(self.client.nthreads())

    @contextmanager
    def noticing_losses(self) -> Iterator[None]:
        """Raise a LostError in place of what Dask raises if a worker is lost."""
        try:
            yield
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


def this_worker() -> Any:
    """Return the Dask worker of this process."""
    from distributed import get_worker

    return get_worker()


def serialised(values: Sequence[Any]) -> list[Any]:
    """Return values as they are sent between workers, arrays without copies."""
    from distributed.protocol.serialize import to_serialize

    return [to_serialize(value) if isinstance(value, np.ndarray) else value for value in values]


def current() -> Cluster:
    """Return the cluster of the current client, or an error that explains how to create one."""
    need(PURPOSE, "distributed", install=INSTALL)
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:
        raise ValueError(
            "The Dask engine needs a client, and there is none. Start one on this machine with "
            "'from distributed import Client; client = Client()', or connect to a cluster with "
            "Client('tcp://ADDRESS:8786')."
        ) from None
    return Cluster(client)


@contextmanager
def session(scheduler: str | None, workers: int) -> Iterator[Cluster]:
    """Connect to a scheduler or, without one, start workers that only this machine can reach."""
    need(PURPOSE, "distributed", install=INSTALL)
    import dask
    from distributed import Client, LocalCluster

    if scheduler:
        try:
            client = Client(scheduler, timeout=ANSWER)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"No Dask scheduler answers at {scheduler}. Start one with 'dask scheduler', and "
                "pass the address that it prints, for example scheduler='tcp://127.0.0.1:8786'"
            ) from error
        with client:
            yield Cluster(client)
        return
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
        yield Cluster(client)
