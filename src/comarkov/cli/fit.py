"""``comarkov fit`` and ``choose``: from a file to clusters, with tables, a picture and a report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..joint.messages import warn_user
from .options import (
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
    records_csv,
    report_line,
)

if TYPE_CHECKING:
    from ..io.read import Data

ENGINE = Panel("Engine")
PRINTED_NUMBERS = 16  # lines of the table of numbers that are printed; its file has all


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
            data = reading.read(source)
            estimate = clustering.estimator(data, parameters).estimate(data)
            pack = f"comarkov pack {shlex.quote(source)} -o store"
            text = as_options(str(estimate).replace("comarkov.pack(X, 'store')", pack))
            output.show(asdict(estimate) | {"fits": estimate.fits}, text)
            return
        out = folder.place(source)
        with fit_stages(parameters):
            data = reading.read(source)
            _warn_of_same_names(data, source)
            model = clustering.estimator(data, parameters)
            weighted = model._fit(data)
            from ..results.results import Results  # slow to import

            results = Results.of(model, data, command=command_line(), weighted=weighted)
            folder.write(results, out)
        folder.present(results, out, output)


def _warn_of_same_names(data: Data, source: str) -> None:
    """Note that rows and columns are the same things, as in a network."""
    rows, columns = data.row_names, data.column_names
    if rows is not None and columns is not None and set(rows) == set(columns):
        warn_user(
            "Rows and columns have the same names, and are clustered separately. For one set of "
            f"groups: comarkov network {shlex.quote(source)}"
        )


# --- choose -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChooseOptions(ClusteringOptions):
    """How to co-cluster, with a β that is chosen by default."""

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
    parameters = clustering.parameters(output)  # errors come before a large file is read
    with fit_stages(parameters):
        data = reading.read(source)
        model = clustering.estimator(data, parameters).fit(data)
        from ..results.base_results import records  # slow to import
        from ..results.results import Results
        from ..results.words.sentences import beta_reason

        results = Results.of(model, data, command=command_line())
        numbers, betas = (
            records(table) or [] for table in (results.selection, results.beta_selection)
        )
        tables = {"numbers.csv": numbers, "betas.csv": betas}
        files = {name: records_csv(lines) for name, lines in tables.items() if lines}
        folder.write(results, out, files)
    found = (
        [results.describe(4)] if folder.verbose else [results.headline, results.selection_reason]
    )
    lines = [*_choice(numbers, betas), *found, beta_reason(results)]
    text = "\n".join(filter(None, [*lines, "" if output.quiet else report_line(out)]))
    output.show({**summary(out), "numbers": numbers, "betas": betas}, text)
    folder.open_report(out)


def _choice(numbers: Records, betas: Records) -> Iterator[str]:
    """What speaks for the numbers and for β, as tables of at most 80 columns."""
    step = -(-len(numbers) // PRINTED_NUMBERS)
    shown = [
        {name: value for name, value in line.items() if not name.endswith("rule")}
        for i, line in enumerate(numbers[::-1])
        if i % step == 0 or line["suggested"]
    ]
    for title, lines in {"How many clusters": shown[::-1], "β": betas}.items():
        if lines:
            yield f"{title}\n{aligned(lines)}\n"
