"""``comarkov choose``: how many clusters, which β, and what speaks for them."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .input_options import InputOptions, Source
from .options import CLUSTERING, ClusteringOptions, OutputOptions, beta_option, takes_groups
from .output import (
    WRITING,
    Records,
    aligned,
    clear_errors,
    echo,
    fit_stages,
    notes,
    print_json,
    records,
    records_csv,
)
from .results_folder import CoClusteringFolderOptions, command, open_report, report_in, summary

if TYPE_CHECKING:
    from ..estimators.coclustering import CoClustering
    from ..io.read import Data
    from ..results.results import Results
    from ..search.state.coclusters import Step


PRINTED_NUMBERS = 16  # lines of the table of numbers that are printed; its file has all
MIN_PATH_SECONDS = 0.1  # for the path if the time is over


@dataclass(frozen=True)
class ChooseOptions(ClusteringOptions):
    """How to co-cluster, with a β that is chosen by default, and the path."""

    betas: str | None = CLUSTERING.option(
        "--betas B,B,...",
        "The values of β on the path. The suggested β is chosen among 1, 0.9, ..., 0.5.",
        shown="1,0.9,...,0",
    )
    beta: str = beta_option("auto")


@takes_groups
def choose(
    source: Source,
    clustering: ChooseOptions,
    folder: CoClusteringFolderOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Suggest how many clusters there are, and a value of β, with reasons.

    OUT gets what fit writes for the suggested values, a report with a slider for β, numbers.csv
    and betas.csv. Values that you set with -k, -l or --beta are used as they are.

    [bold]Example[/bold]

    comarkov choose southern-women -o women-chosen
    """
    with clear_errors(), notes(output.quiet):
        out = folder.place(source)
        path_betas = _betas(clustering.betas)
        parameters = clustering.parameters(output)  # errors come before a large file is read
        with fit_stages(parameters, path=True) as begin:
            data = reading.read(source)
            began = time.monotonic()
            model = clustering.estimator(data, parameters).fit(data)
            path = _path(model, data, path_betas, began)
            begin(WRITING)
            from ..results.results import Results  # slow to import

            results = Results.of(model, data, path=path, command=command())
            numbers, betas = records(results.selection), _beta_records(results)
            tables = {"numbers.csv": numbers, "betas.csv": betas}
            files = {name: records_csv(lines) for name, lines in tables.items() if lines}
            folder.write(results, out, files)
        _print(results, numbers, betas, out, output)
        if folder.opened:
            open_report(out)


def _betas(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
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


def _print(
    results: Results, numbers: Records, betas: Records, out: Path, output: OutputOptions
) -> None:
    from ..results.words.sentences import beta_reason

    if output.json:
        print_json({**summary(out), "numbers": numbers, "betas": betas})
        return
    if numbers:
        step = -(-len(numbers) // PRINTED_NUMBERS)
        shown = [line for i, line in enumerate(numbers[::-1]) if i % step == 0 or line["suggested"]]
        echo(f"Numbers of clusters\n{aligned(shown[::-1])}\n")
    echo(f"β\n{aligned(betas)}\n\n{results.headline}")
    for line in filter(None, [results.selection_reason, beta_reason(results)]):
        echo(line)
    if not output.quiet:
        echo(f"The report is {report_in(out)}")
