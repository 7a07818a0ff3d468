"""``comarkov evaluate``: how well clusters agree with known classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .label_files import classes_in, clusters_in, join, titles_in
from .options import INPUT, OutputOptions, takes_groups
from .output import aligned, clear_errors, echo, notes, print_json

# What is always printed, and how it is called.
PRINTED_SCORES = {
    "elements": "elements in both",
    "map": "MAP, matching accuracy",
    "purity": "MAP', purity",
    "nmi": "NMI, V-measure",
    "ari": "ARI, adjusted Rand index",
}
LABELS = "The output folder of fit, or a CSV file with names and clusters."
TRUTH = (
    "The known classes: a CSV file or another table with names and classes, a folder of texts (its "
    "subfolders), or an AnnData file. By default, the classes stored in the output folder of fit."
)
MAX_TABLE_CLASSES = 12  # beyond which no table is printed
SHOWN_SHARES = 3  # classes that are listed for each cluster


@dataclass(frozen=True)
class ColumnOptions:
    """Which clusters and which classes to compare."""

    side: str = INPUT.option("--side SIDE", "Clusters of rows, or of columns.", "rows")
    label_column: str | None = INPUT.option(
        "--label-column COLUMN", "The column with the clusters.", shown="cluster, or the second"
    )
    truth_column: str | None = INPUT.option(
        "--truth-column COLUMN",
        "The column with the classes (of .obs or .var in an AnnData file).",
        shown="class, label, ... or the second",
    )


@takes_groups
def evaluate(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help=LABELS, show_default=False)],
    truth: Annotated[
        str | None, typer.Argument(metavar="TRUTH", help=TRUTH, show_default=False)
    ] = None,
    *,
    columns: ColumnOptions,
    output: OutputOptions,
) -> None:
    """Score clusters against known classes, matched by name.

    Elements in no cluster count as wrong for MAP and purity, and as one more cluster for NMI
    and ARI. Elements without a class are left out.

    [bold]Examples[/bold]

    comarkov evaluate letters-clusters

    comarkov evaluate women known.csv

    comarkov evaluate cells-clusters cells.h5ad --truth-column louvain
    """
    with clear_errors(), notes(output.quiet):
        if columns.side not in ("rows", "columns"):
            raise ValueError(f"--side must be rows or columns, not {columns.side!r}.")
        clusters = clusters_in(labels, columns.label_column, columns.side).by_name
        classes = classes_in(truth, columns.truth_column, columns.side, labels)
        pair = join(clusters, classes.by_name)
        scores = _scores(clusters, classes.by_name, pair)
        table = _table(*pair)
        if output.json:
            print_json({"classification": classes.title, **scores, "table": table})
            return
        _print(classes.title, scores, table, titles_in(labels, columns.side))


def _scores(
    clusters: dict[str, str], classes: dict[str, str], pair: tuple[np.ndarray, np.ndarray]
) -> dict[str, Any]:
    """Counts of what clusters and classes have in common, and measures of agreement."""
    from ..costs import agreement  # slow to import

    known, assigned = pair
    numbers = np.unique(assigned, return_inverse=True)[1]
    pair = known, np.where(assigned == "-1", -1, numbers)
    return {
        "elements": known.size,
        "only_in_labels": len(clusters.keys() - classes.keys()),
        "only_in_truth": len(classes.keys() - clusters.keys()),
        "without_a_class": sum(not classes[name] for name in classes.keys() & clusters.keys()),
        "classes": np.unique(known).size,
        "clusters": np.unique(assigned[assigned != "-1"]).size,
        "in_no_cluster": int((assigned == "-1").sum()),
        "map": agreement.matching_accuracy(*pair),
        "purity": agreement.purity(*pair),
        "nmi": agreement.normalized_mutual_information(*pair),
        "ari": agreement.adjusted_rand_index(*pair),
    }


def _table(classes: np.ndarray, clusters: np.ndarray) -> dict[str, Any]:
    """How many elements of each class, the largest first, each cluster has."""
    names, of_class = np.unique(classes, return_inverse=True)
    labels, of_cluster = np.unique(clusters, return_inverse=True)
    counts = np.zeros((labels.size, names.size), dtype=np.int64)
    np.add.at(counts, (of_cluster, of_class), 1)
    lines = sorted(range(labels.size), key=lambda i: _sort_key(str(labels[i])))
    columns = np.argsort(-counts.sum(axis=0), kind="stable")
    return {
        "clusters": labels[lines].tolist(),
        "classes": names[columns].tolist(),
        "counts": counts[lines][:, columns].tolist(),
    }


def _sort_key(label: str) -> tuple[int, int, str]:
    """Numbers by their value, then words; no cluster comes last."""
    if label == "-1":
        return 2, 0, ""
    return (0, int(label), "") if label.isdecimal() else (1, 0, label)


def _print(
    title: str, scores: dict[str, Any], table: dict[str, Any], names: dict[str, str]
) -> None:
    """The scores, then the classes of each cluster in words and in numbers."""
    echo(_headline(title, scores))
    echo()
    for name, value in scores.items():
        if value or name in PRINTED_SCORES:
            echo(f"{PRINTED_SCORES.get(name, name.replace('_', ' ')):<26} {_number(value)}")
    echo()
    classes = table["classes"]
    for cluster, counts in zip(table["clusters"], table["counts"], strict=True):
        called = f"cluster {cluster}" + (f", “{names[cluster]}”" if names.get(cluster) else "")
        echo(_in_words("in no cluster" if cluster == "-1" else called, counts, classes))
    if len(classes) <= MAX_TABLE_CLASSES:
        echo()
        lines = zip(table["clusters"], table["counts"], strict=True)
        rows = [
            {"cluster": "none" if each == "-1" else each, **dict(zip(classes, counts, strict=True))}
            for each, counts in lines
        ]
        echo(aligned(rows, spaced=False))


def _headline(title: str, scores: dict[str, Any]) -> str:
    from ..results.words.figures import count_text

    elements = count_text(scores["elements"], "element")
    clusters, classes = count_text(scores["clusters"], "cluster"), scores["classes"]
    return (
        f"{scores['map']:.1%} of {elements} {'is' if scores['elements'] == 1 else 'are'} in the "
        f"cluster that matches their class: {clusters}, {count_text(classes, 'class')} ({title})."
    )


def _in_words(name: str, counts: list[int], classes: list[str]) -> str:
    """A cluster, its size and its largest classes: 57 elements, 96% sci.space, 4% others."""
    total = sum(counts)
    largest = sorted(zip(counts, classes, strict=True), key=lambda pair: -pair[0])
    present = [(count, each) for count, each in largest if count]
    rest = sum(count for count, _ in present[SHOWN_SHARES:])
    parts = [*present[:SHOWN_SHARES], *([(rest, "others")] if rest else [])]
    percents = [f"{count / total:.0%}" if count >= 0.005 * total else "<1%" for count, _ in parts]
    shares = [f"{percent} {each}" for percent, (_, each) in zip(percents, parts, strict=True)]
    return f"{name}: {total:,} element{'s' * (total != 1)}, {', '.join(shares)}"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
