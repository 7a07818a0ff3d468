"""``comarkov fit``: from a file to clusters, with tables, a picture and a report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .input_options import InputOptions, Source
from .options import (
    OUTPUT,
    ClusteringOptions,
    OutputOptions,
    Panel,
    as_options,
    one_of,
    takes_groups,
)
from .output import WRITING, clear_errors, echo, fit_stages, notes, print_json
from .results_folder import CoClusteringFolderOptions, command

if TYPE_CHECKING:
    from ..estimators.estimate import Estimate


ENGINE = Panel("Engine")


@dataclass(frozen=True)
class EngineOptions:
    """Where to compute, and what to keep in case that it is cut short."""

    engine: str = ENGINE.option(
        "--engine NAME",
        "local, or dask for a cluster. The clusters found are the same.",
        "local",
        **one_of(("local", "dask")),
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

    @contextmanager
    def running(self, jobs: int) -> Iterator[None]:
        """Connect to the cluster, or start one of ``jobs`` workers, if it is to compute."""
        if self.engine == "local":
            if self.scheduler is not None:
                raise ValueError("--scheduler only works with the Dask engine: add --engine dask.")
            yield
            return
        from ..search.parallel.dask_client import session  # slow to import

        with session(self.scheduler, jobs):
            yield


@dataclass(frozen=True)
class FitFolderOptions(CoClusteringFolderOptions):
    """The folder for all results, or only an estimate of what they cost."""

    estimate: bool = OUTPUT.option(
        "--estimate", "Only predict the memory and time of the fit, from a sample.", False
    )


@takes_groups
def fit(
    source: Source,
    reading: InputOptions,
    clustering: ClusteringOptions,
    engine: EngineOptions,
    folder: FitFolderOptions,
    output: OutputOptions,
) -> None:
    """Co-cluster a table and write the results to a folder.

    The folder gets report.html, rows.csv, columns.csv, blocks.csv, clusters.md, heatmap.svg,
    summary.json, and model/ for predict. Ctrl-C stops and keeps the best result so far.

    [bold]Examples[/bold]

    comarkov fit southern-women -k 2 -l 3 -o women

    comarkov fit ratings.csv --rows user --columns movie --weights stars

    comarkov fit letters/ -k 10 -l 20 --time-limit 5m

    comarkov fit logs.parquet -k 20 -l 20 --estimate
    """
    with clear_errors(), notes(output.quiet), engine.running(clustering.jobs):
        parameters = clustering.parameters(output)  # errors come before a large file is read
        parameters |= {"engine": engine.engine, "checkpoint": engine.checkpoint}
        if folder.estimate:
            data = reading.read(source)
            estimate = clustering.estimator(data, parameters).estimate(data)
            _print_estimate(estimate, source, output)
            return
        out = folder.place(source)
        with fit_stages(parameters) as begin:
            data = reading.read(source)
            model = clustering.estimator(data, parameters)
            weighted = model._fit(data)
            begin(WRITING)
            from ..results.results import Results  # slow to import

            results = Results.of(model, data, command=command(), weighted=weighted)
            folder.write(results, out)
        folder.present(results, out, output)


def _print_estimate(estimate: Estimate, source: str, output: OutputOptions) -> None:
    """Print an estimate; its advice in terms of the command line."""
    if output.json:
        print_json(asdict(estimate) | {"fits": estimate.fits})
    else:
        pack = f"comarkov pack {source} -o store"
        echo(as_options(str(estimate).replace("comarkov.pack(X, 'store')", pack)))
