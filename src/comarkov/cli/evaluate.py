"""``comarkov evaluate``: how well clusters agree with known classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .errors import clear_errors, notes
from .label_files import joined, read_labels
from .option_groups import takes_groups
from .options import INPUT, OutputOptions
from .tables import print_json

# What is always printed, and how it is called.
PRINTED = {
    "elements": "elements in both",
    "map": "MAP, matching accuracy",
    "purity": "MAP', purity",
    "nmi": "NMI, V-measure",
    "ari": "ARI, adjusted Rand index",
}
LABELS = (
    "rows.csv or columns.csv of fit, or another CSV file with names and clusters; or OUT, which "
    "stands for its rows.csv."
)


@dataclass(frozen=True)
class ColumnOptions:
    """The columns of the two files."""

    label_column: str | None = INPUT.option(
        "--label-column COLUMN", "The column of the clusters.", shown="cluster, or the second"
    )
    truth_column: str | None = INPUT.option(
        "--truth-column COLUMN",
        "The column of the classes.",
        shown="class, label, ... or the second",
    )


@takes_groups
def evaluate(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help=LABELS)],
    truth: Annotated[
        Path, typer.Argument(metavar="TRUTH", help="A CSV file with names and known classes.")
    ],
    columns: ColumnOptions,
    *,
    output: OutputOptions,
) -> None:
    """Report how well clusters agree with known classes, joined by name.

    Elements in no cluster count as wrong for MAP and purity, and as one more cluster for NMI
    and ARI. Names that only one file has are left out, and counted.

    [bold]Example[/bold]

    comarkov evaluate women/rows.csv known.csv
    """
    with clear_errors(), notes(output.quiet):
        file = _labels_in(labels) if labels.is_dir() else labels
        clusters = read_labels(file, columns.label_column)
        classes = read_labels(truth, columns.truth_column)
        agreement = _agreement(clusters, classes)
        if output.json:
            print_json(agreement)
            return
        for name, value in agreement.items():
            if value or name in PRINTED:
                typer.echo(f"{PRINTED.get(name, name.replace('_', ' ')):<26} {_number(value)}")


def _labels_in(folder: Path) -> Path:
    """The labels of rows in a folder of results, or those of the states of a chain."""
    states = folder / "states.csv"
    return states if states.exists() else folder / "rows.csv"


def _agreement(clusters: dict[str, str], classes: dict[str, str]) -> dict[str, float]:
    """Counts of what the files have in common, and measures of agreement."""
    pair = joined(clusters, classes)
    from ..costs import evaluation  # slow to import

    return {
        "elements": len(pair[0]),
        "only_in_labels": len(clusters.keys() - classes.keys()),
        "only_in_truth": len(classes.keys() - clusters.keys()),
        "classes": len(set(pair[0].tolist())),
        "clusters": len(set(pair[1].tolist()) - {-1}),
        "in_no_cluster": int((pair[1] < 0).sum()),
        "map": evaluation.matching_accuracy(*pair),
        "purity": evaluation.purity(*pair),
        "nmi": evaluation.normalized_mutual_information(*pair),
        "ari": evaluation.adjusted_rand_index(*pair),
    }


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
