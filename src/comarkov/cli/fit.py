"""``comarkov fit``: from a file to clusters, with tables, a picture and a report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import typer

from . import results_folder
from .input_options import InputOptions, Source
from .options import (
    OUTPUT,
    ChosenNumberOptions,
    ClusteringOptions,
    EngineOptions,
    OutputOptions,
    takes_groups,
)
from .output import WRITING, as_options, clear_errors, echo, notes, print_json, stage_bar

if TYPE_CHECKING:
    from ..estimators.estimate import Estimate


@dataclass(frozen=True)
class FitFolderOptions(results_folder.ReportFolderOptions):
    """The folder for all results, or only an estimate of what they cost."""

    estimate: bool = OUTPUT.option(
        "--estimate", "Only predict the memory and time of the fit, from a sample.", False
    )


@takes_groups
def fit(
    source: Source,
    numbers: ChosenNumberOptions,
    clustering: ClusteringOptions,
    engine: EngineOptions,
    folder: FitFolderOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Co-cluster the rows and columns of INPUT, and write all results into a folder.

    OUT gets rows.csv, columns.csv, blocks.csv, clusters.md, summary.json, heatmap.svg,
    report.html, and model/ for predict. Ctrl-C stops and keeps the best result so far.

    [bold]Examples[/bold]

    comarkov fit southern-women -k 2 -l 3 -o women

    comarkov fit ratings.csv --rows user --columns movie --weights stars

    comarkov fit letters/ -k 10 -l 20 --time-limit 5m

    comarkov fit logs.parquet -k 20 -l 20 --estimate
    """
    with clear_errors(), notes(output.quiet), engine.running(clustering.jobs):
        if folder.estimate:
            data = reading.read(source)
            model = clustering.estimator(numbers, data, output).set_params(**engine.parameters())
            estimate = model.estimate(data)
            _print_estimate(estimate, source, output)
            return
        out = folder.place(source)
        counts, beta, _ = clustering.checked(numbers)  # before a large file is read
        with stage_bar(counts, beta, output.shows_bars) as begin:
            data = reading.read(source)
            model = clustering.estimator(numbers, data, output).set_params(**engine.parameters())
            weighted = model._fit(data)
            begin(WRITING)
            results = results_folder.results_of(model, data, weighted=weighted)
            folder.write(results, out, source)
        results_folder.print_results(results, out, output)
        if folder.opened:
            typer.launch((out / "report.html").absolute().as_uri())


def _print_estimate(estimate: Estimate, source: str, output: OutputOptions) -> None:
    """Print an estimate; its advice in the words of the command line."""
    if output.json:
        print_json(asdict(estimate) | {"fits": estimate.fits})
        return
    text = str(estimate).replace("comarkov.pack(X, 'store')", f"comarkov pack {source} -o store")
    echo(as_options(text.replace("n_jobs=", "jobs="), ("jobs", "engine")))
