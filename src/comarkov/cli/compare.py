"""``comarkov compare``: several methods on the same data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..io.files import write_text
from .input_options import InputOptions, Source
from .label_files import classes_of
from .options import (
    CLUSTERING,
    INPUT,
    OUTPUT,
    OutputOptions,
    StartOptions,
    WeightingOptions,
    takes_groups,
)
from .output import aligned, clear_errors, echo, notes, print_json, records, records_csv
from .results_folder import REPLACE, refuse_to_replace

if TYPE_CHECKING:
    import numpy as np


KNOWN_METHODS = (
    "auto, anneal, sequential, batch, sib, aib, itcc, ib-double, idc, ibcc, ibcc-iterative; "
    "methods with other objectives: spectral, k-means, nmf, lda, modularity"
)


@dataclass(frozen=True)
class CompareOptions(StartOptions, WeightingOptions):
    """The methods, known classes, and a file for the result."""

    row_clusters: int | None = CLUSTERING.option(
        "--row-clusters -k NUMBER", "Number of row clusters.", shown=False, min=1
    )
    column_clusters: int | None = CLUSTERING.option(
        "--column-clusters -l NUMBER", "Number of column clusters.", shown=False, min=1
    )
    beta: float = CLUSTERING.option(
        "--beta B", "How strongly rows and columns are coupled.", 0.7, min=0, max=1
    )

    methods: str | None = CLUSTERING.option(
        "--methods M,M,...", f"Choose from {KNOWN_METHODS}.", shown="all but the last five"
    )
    truth: Path | None = INPUT.option(
        "--truth FILE", "A table with the names and known classes of the rows."
    )
    column_truth: Path | None = INPUT.option("--column-truth FILE", "The same for columns.")
    out: Path | None = OUTPUT.option("--out -o FILE", "A CSV file for the table.", shown=False)
    force: bool = OUTPUT.option("--force -f", REPLACE, False)


@takes_groups
def compare(
    source: Source, comparison: CompareOptions, *, output: OutputOptions, reading: InputOptions
) -> None:
    """Compare methods from the literature on INPUT, all from the same starts.

    -k and -l must be numbers. Costs are in bits, at four values of β; lower is better. With known
    classes, map, nmi and ari measure how well the clusters agree with them.

    [bold]Example[/bold]

    comarkov compare southern-women -k 2 -l 3 --methods auto,itcc,sib --starts 10
    """
    with clear_errors(), notes(output.quiet):
        k, l = comparison.row_clusters, comparison.column_clusters  # noqa: E741
        if k is None or l is None:
            raise ValueError("compare needs both numbers, for example: -k 2 -l 3")
        refuse_to_replace(comparison.out, comparison.force)
        data = reading.read(source)
        from ..estimators.comparison import compare as compare_methods  # slow to import

        table = compare_methods(
            data,
            (k, l),
            comparison.methods and comparison.methods.split(","),
            beta=comparison.beta,
            weighting=comparison.weighting_for(data),
            n_init=comparison.starts or 1,
            random_state=comparison.seed,
            classes=(
                _classes(data.row_names, data.row_classes, comparison.truth),
                _classes(data.column_names, data.column_classes, comparison.column_truth),
            ),
        )
        lines = records(table)
        if comparison.out is not None:
            write_text(comparison.out, records_csv(lines))
        if output.json:
            print_json(lines)
        else:
            echo(aligned(lines))


def _classes(
    names: np.ndarray, classes: dict[str, np.ndarray], path: Path | None
) -> np.ndarray | None:
    """The classes in a file or, if there is none, the first that all elements of the data have."""
    if path is not None:
        return classes_of(names.tolist(), path)
    return next((each for each in classes.values() if (each != "").all()), None)
