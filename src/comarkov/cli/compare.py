"""``comarkov compare``: the methods of the literature side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..data.writing import write_text
from .errors import clear_errors, notes
from .inputs import InputOptions, Source
from .label_files import classes_of
from .option_groups import takes_groups
from .options import (
    CLUSTERING,
    INPUT,
    OUTPUT,
    MethodOptions,
    NumberOptions,
    OutputOptions,
    as_beta,
)
from .tables import aligned, print_json, records, records_csv

if TYPE_CHECKING:
    import numpy as np

    from ..data.reading import Data

METHODS = "auto, anneal, sequential, batch, sib, aib, itcc, ib-double, idc, ibcc, ibcc-iterative"


@dataclass(frozen=True)
class CompareOptions(MethodOptions):
    """Which methods, beside their parameters; classes to compare with; and a file."""

    methods: str | None = CLUSTERING.option("--methods M,M,...", f"Some of {METHODS}.", shown="all")
    truth: Path | None = INPUT.option(
        "--truth FILE", "A CSV file with the known class of each row, by name."
    )
    column_truth: Path | None = INPUT.option("--column-truth FILE", "The same for columns.")
    out: Path | None = OUTPUT.option("--out -o FILE", "A CSV file for the table.", shown=False)


@takes_groups
def compare(
    source: Source,
    numbers: NumberOptions,
    comparison: CompareOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Run the methods of the literature on INPUT from the same starts, and set them side by side.

    Needs -k and -l as numbers. Costs are in bits at four β, less is better; map, nmi and ari
    measure how near the clusters are to known classes.

    [bold]Example[/bold]

    comarkov compare southern-women -k 2 -l 3 --methods auto,itcc,sib --starts 10
    """
    with clear_errors(), notes(output.quiet):
        counts, beta = numbers.counts(), as_beta(comparison.beta)
        if not all(isinstance(count, int) for count in counts) or isinstance(beta, str):
            raise ValueError("compare needs numbers: give -k and -l, and no --beta auto.")
        comparison.check_weighting()
        data = reading.read(source)
        from ..estimators.comparison import compare as run  # slow to import

        table = run(
            data,
            (int(counts[0] or 0), int(counts[1] or 0)),
            comparison.methods and comparison.methods.split(","),
            beta=beta,
            weighting=comparison.weighting_for(data),
            n_starts=comparison.n_init or 1,
            seed=comparison.seed,
            classes=_classes(data, comparison),
        )
        lines = records(table)
        if comparison.out is not None:
            write_text(comparison.out, records_csv(lines))
        if output.json:
            print_json(lines)
        else:
            typer.echo(aligned(lines))


def _classes(data: Data, comparison: CompareOptions) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The known classes of rows and of columns, where there is a file with them."""
    files = (data.row_names, comparison.truth), (data.column_names, comparison.column_truth)
    rows, columns = (
        None if path is None else classes_of(names.tolist(), path) for names, path in files
    )
    return rows, columns
