"""``comarkov sweep``: which numbers of clusters, which β, and what speaks for them."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import results_folder
from .input_options import InputOptions, Source
from .options import (
    CLUSTERING,
    ChosenNumberOptions,
    ClusteringOptions,
    OutputOptions,
    beta_option,
    takes_groups,
)
from .output import (
    WRITING,
    Records,
    aligned,
    clear_errors,
    echo,
    notes,
    print_json,
    records,
    records_csv,
    stage_bar,
)

if TYPE_CHECKING:
    from ..estimators.coclustering import CoClustering
    from ..io.read import Data
    from ..results.results import Results
    from ..search.state.coclusters import Step


LINES = 16  # of the table of numbers that are shown; its file has all
LEAST = 0.1  # seconds for the path if the time is over


@dataclass(frozen=True)
class SweepOptions(ClusteringOptions):
    """The same with another default, and the path."""

    betas: str | None = CLUSTERING.option(
        "--betas B,B,...",
        "The values of β on the path. The suggested β is chosen among 1, 0.9, ..., 0.5.",
        shown="1,0.9,...,0",
    )
    beta: str = beta_option("auto")


@takes_groups
def sweep(
    source: Source,
    numbers: ChosenNumberOptions,
    clustering: SweepOptions,
    folder: results_folder.FolderOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Try numbers of clusters and values of β, and suggest the best ones, with reasons.

    OUT gets what fit writes for the suggested values, a report with a slider for β, numbers.csv
    and betas.csv. Values that you set with -k, -l or --beta are used as they are.

    [bold]Example[/bold]

    comarkov sweep southern-women -o women-sweep
    """
    with clear_errors(), notes(output.quiet):
        out = folder.place(source)
        betas = _betas(clustering.betas)
        counts, beta, _ = clustering.checked(numbers)  # before a large file is read
        with stage_bar(counts, beta, output.shows_bars, path=True) as begin:
            data = reading.read(source)
            began = time.monotonic()
            model = clustering.estimator(numbers, data, output).fit(data)
            path = _path(model, data, betas, began)
            begin(WRITING)
            results = results_folder.results_of(model, data, path)
            tables = {
                "numbers.csv": _records_of(results.selection),
                "betas.csv": _of_betas(results),
            }
            files = {name: records_csv(lines) for name, lines in tables.items() if lines}
            folder.write(results, out, source, files)
        _print(results, tables, out, output)


def _records_of(table: Any) -> Records:
    """The lines of a table, if there is one."""
    return [] if table is None else records(table)


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
        again.max_time = max(model.max_time - (time.monotonic() - began), LEAST)
    return again.beta_path(data, betas)


def _of_betas(results: Results) -> Records:
    """What is kept at each β, and how well halves of the data agree there."""
    evidence = {line["beta"]: line for line in _records_of(results.beta_selection)}
    path = {view.beta: view for view in results.views}
    return [
        {
            "beta": beta,
            "cost": path[beta].cost if beta in path else None,
            "kept": path[beta].kept if beta in path else None,
            "row_agreement": evidence.get(beta, {}).get("rows"),
            "column_agreement": evidence.get(beta, {}).get("columns"),
            "agreement": evidence.get(beta, {}).get("agreement"),
            "standard_error": evidence.get(beta, {}).get("standard_error"),
            "suggested": bool(evidence.get(beta, {}).get("chosen", False)),
        }
        for beta in sorted({*evidence, *path}, reverse=True)
    ]


def _print(results: Results, tables: dict[str, Records], out: Path, output: OutputOptions) -> None:
    from ..results.words.sentences import beta_reason

    numbers, betas = tables.values()
    if output.json:
        print_json({**results_folder.summary(out), "numbers": numbers, "betas": betas})
        return
    if numbers:
        echo(f"Numbers of clusters\n{aligned(_evenly(numbers))}\n")
    echo(f"β\n{aligned(betas)}\n\n{results.headline}")
    for line in filter(None, [results.selection_reason, beta_reason(results)]):
        echo(line)
    if not output.quiet:
        echo(f"The report is {(out / 'report.html').absolute()}")


def _evenly(lines: Records) -> Records:
    """Some of the lines, spread evenly up to the last, and all that are suggested."""
    step = -(-len(lines) // LINES)
    return [line for i, line in enumerate(reversed(lines)) if i % step == 0 or line["suggested"]][
        ::-1
    ]
