"""Who computes a fit: this process, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .option_groups import Panel, completion

ENGINE = Panel("Engine")
ENGINES = ("local", "dask")


@dataclass(frozen=True)
class EngineOptions:
    """Where to compute."""

    name: str = ENGINE.option(
        "--engine NAME",
        "local, or dask for a cluster. The clusters found are the same.",
        "local",
        autocompletion=completion(ENGINES),
    )
    scheduler: str | None = ENGINE.option(
        "--scheduler ADDRESS",
        "Dask scheduler to connect to, such as tcp://10.0.0.1:8786.",
        shown="workers on this machine only",
    )

    @contextmanager
    def running(self, jobs: int) -> Iterator[None]:
        """Connect to the cluster, or start one of ``jobs`` workers, if it is to compute."""
        if self.name not in ENGINES:
            raise ValueError(f"Unknown engine {self.name!r}. Use --engine local or --engine dask.")
        if self.name == "local":
            if self.scheduler is not None:
                raise ValueError("--scheduler needs the engine for clusters: add --engine dask.")
            yield
            return
        from ..data.cluster.client import session  # slow to import

        with session(self.scheduler, jobs):
            yield
