"""``comarkov fit`` and ``choose``: from a file to clusters, with tables, a picture and a report."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import (
    CLUSTERING,
    OUTPUT,
    ClusteringOptions,
    CoClusteringFolderOptions,
    InputOptions,
    OutputOptions,
    Panel,
    Source,
    beta_option,
    command,
    one_of,
    summary,
)
from .output import (
    Records,
    aligned,
    as_options,
    command_line,
    fit_stages,
    records,
    records_csv,
    report_line,
)

if TYPE_CHECKING:
    from ..estimators.coclustering import CoClustering
    from ..io.read import Data
    from ..results.results import Results
    from ..search.state.coclusters import Step

ENGINE = Panel("Engine")
PRINTED_NUMBERS = 16  # lines of the table of numbers that are printed; its file has all
MIN_PATH_SECONDS = 0.1  # for the path if the time is over


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
    estimate: bool = OUTPUT.option(
        "--estimate", "Only predict the memory and time of the fit, from a sample.", False
    )

    def running(self, jobs: int) -> AbstractContextManager[Any]:
        """Connect to the cluster, or start one of ``jobs`` workers, if it is to compute."""
        if self.engine == "local":
            if self.scheduler is not None:
                raise ValueError("--scheduler only works with the Dask engine: add --engine dask.")
            return nullcontext()
        from ..search.parallel.dask_client import session  # slow to import

        return session(self.scheduler, jobs)


@command
def fit(
    source: Source,
    reading: InputOptions,
    clustering: ClusteringOptions,
    engine: EngineOptions,
    folder: CoClusteringFolderOptions,
    output: OutputOptions,
) -> None:
    """Co-cluster a table and write the results to a folder.

    The folder gets report.html, rows.csv, columns.csv, blocks.csv, indicators.csv, clusters.md,
    heatmap.svg, summary.json, and model/ for predict. Ctrl-C stops, with the best result so far.

    [bold]Examples[/bold]

    comarkov fit southern-women -k 2 -l 3 -o women

    comarkov fit ratings.csv --rows user --columns movie --weights stars

    comarkov fit letters/ -k 10 -l 20 --time-limit 5m

    comarkov fit logs.parquet -k 20 -l 20 --estimate
    """
    with engine.running(clustering.jobs):
        parameters = clustering.parameters(output)  # errors come before a large file is read
        parameters |= {"engine": engine.engine, "checkpoint": engine.checkpoint}
        if engine.estimate:
            _estimate(source, clustering.estimator, reading.read(source), parameters, output)
            return
        out = folder.place(source)
        with fit_stages(parameters):
            data = reading.read(source)
            model = clustering.estimator(data, parameters)
            weighted = model._fit(data)
            from ..results.results import Results  # slow to import

            results = Results.of(model, data, command=command_line(), weighted=weighted)
            folder.write(results, out)
        folder.present(results, out, output)


def _estimate(
    source: str, estimator: Any, data: Data, parameters: dict[str, Any], output: OutputOptions
) -> None:
    """Print an estimate of a fit; its advice in terms of the command line."""
    estimate = estimator(data, parameters).estimate(data)
    text = str(estimate).replace("comarkov.pack(X, 'store')", f"comarkov pack {source} -o store")
    output.show(asdict(estimate) | {"fits": estimate.fits}, as_options(text))


# --- choose -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChooseOptions(ClusteringOptions):
    """How to co-cluster, with a β that is chosen by default, and the path."""

    betas: str | None = CLUSTERING.option(
        "--betas B,B,...",
        "The values of β on the path. The suggested β is chosen among 1, 0.9, ..., 0.5.",
        shown="1,0.9,...,0",
    )
    beta: str = beta_option("auto")


@command
def choose(
    source: Source,
    clustering: ChooseOptions,
    folder: CoClusteringFolderOptions,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Suggest how many clusters there are, and a value of β, with reasons.

    OUT gets what fit writes for the suggested values, a report, numbers.csv
    and betas.csv. Values that you set with -k, -l or --beta are used as they are.

    [bold]Example[/bold]

    comarkov choose southern-women -o women-chosen
    """
    out = folder.place(source)
    path_betas = _betas(clustering.betas)
    parameters = clustering.parameters(output)  # errors come before a large file is read
    with fit_stages(parameters, path=True):
        data = reading.read(source)
        began = time.monotonic()
        model = clustering.estimator(data, parameters).fit(data)
        path = _path(model, data, path_betas, began)
        from ..results.results import Results  # slow to import

        results = Results.of(model, data, path=path, command=command_line())
        numbers, betas = records(results.selection), _beta_records(results)
        tables = {"numbers.csv": numbers, "betas.csv": betas}
        files = {name: records_csv(lines) for name, lines in tables.items() if lines}
        folder.write(results, out, files)
    text = "\n".join([_choice(results, numbers, betas), *[report_line(out)] * (not output.quiet)])
    output.show({**summary(out), "numbers": numbers, "betas": betas}, text)
    folder.open_report(out)


def _betas(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--betas must be numbers from 0 to 1 like 1,0.7,0.5, not {text!r}."
        ) from None


def _path(model: CoClustering, data: Data, betas: list[float] | None, began: float) -> list[Step]:
    """The co-clusterings at many β, in the time that is left."""
    again = copy(model)
    if model.max_time is not None:
        again.max_time = max(model.max_time - (time.monotonic() - began), MIN_PATH_SECONDS)
    return again.beta_path(data, betas)


def _beta_records(results: Results) -> Records:
    """What is kept at each β, and how well halves of the data agree there."""
    evidence = {line["beta"]: line for line in records(results.beta_selection)}
    path = {view.beta: view for view in results.views}
    return [
        {
            "beta": beta,
            "cost": getattr(path.get(beta), "cost", None),
            "kept": getattr(path.get(beta), "kept", None),
            "row_agreement": line.get("rows"),
            "column_agreement": line.get("columns"),
            "agreement": line.get("agreement"),
            "standard_error": line.get("standard_error"),
            "suggested": bool(line.get("chosen", False)),
        }
        for beta in sorted({*evidence, *path}, reverse=True)
        for line in [evidence.get(beta, {})]
    ]


def _choice(results: Results, numbers: Records, betas: Records) -> str:
    """What speaks for the numbers and for β, as tables and sentences."""
    from ..results.words.sentences import beta_reason

    parts = [f"β\n{aligned(betas)}\n", results.headline, results.selection_reason]
    if numbers:
        step = -(-len(numbers) // PRINTED_NUMBERS)
        shown = [line for i, line in enumerate(numbers[::-1]) if i % step == 0 or line["suggested"]]
        parts.insert(0, f"Numbers of clusters\n{aligned(shown[::-1])}\n")
    return "\n".join(filter(None, [*parts, beta_reason(results)]))
