"""Who computes a fit, this process or a Dask cluster, and the file from which it can go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .option_groups import Panel, completion

ENGINE = Panel("Engine")
ENGINES = ("local", "dask")


@dataclass(frozen=True)
class EngineOptions:
    """Where to compute, and what to keep in case that it is cut short."""

    engine: str = ENGINE.option(
        "--engine NAME",
        "local, or dask for a cluster. The clusters found are the same.",
        "local",
        autocompletion=completion(ENGINES),
    )
    scheduler: str | None = ENGINE.option(
        "--scheduler ADDRESS",
        "The Dask scheduler to connect to, such as tcp://10.0.0.1:8786.",
        shown="new workers, on this machine",
    )
    checkpoint: Path | None = ENGINE.option(
        "--checkpoint FILE",
        "Keep the best result so far in FILE; if the fit is interrupted, the next one continues.",
        shown="none",
    )

    def parameters(self) -> dict[str, str | Path | None]:
        """The parameters of a model."""
        return {"engine": self.engine, "checkpoint": self.checkpoint}

    @contextmanager
    def running(self, jobs: int) -> Iterator[None]:
        """Connect to the cluster, or start one of ``jobs`` workers, if it is to compute."""
        if self.engine not in ENGINES:
            raise ValueError(
                f"Unknown engine {self.engine!r}. Use --engine local or --engine dask."
            )
        if self.engine == "local":
            if self.scheduler is not None:
                raise ValueError("--scheduler only works with the Dask engine: add --engine dask.")
            yield
            return
        from ..data.cluster.client import session  # slow to import

        with session(self.scheduler, jobs):
            yield
