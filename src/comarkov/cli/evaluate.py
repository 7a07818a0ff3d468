"""``comarkov evaluate`` and ``compare``: how well clusters agree with known classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from ..io.files import SUMMARY, errors_in_json, is_results, read_json, write_text
from ..joint.messages import InputError, listed, quote, warn_user
from .options import (
    CLUSTERING,
    INPUT,
    FileOptions,
    InputOptions,
    OutputOptions,
    Source,
    StartOptions,
    WeightingOptions,
    argument,
    command,
    one_of,
)
from .output import aligned, records_csv

if TYPE_CHECKING:
    from ..io.read.naming import Labels

# What is always printed, and how it is called.
PRINTED_SCORES = {
    "elements": "elements in both",
    "map": "MAP, matching accuracy",
    "purity": "MAP', purity",
    "nmi": "NMI, V-measure",
    "ari": "ARI, adjusted Rand index",
}
LABELS = (
    "The output folder of fit, or a table with names and clusters; FILE:NAMES:CLUSTERS picks its "
    "columns."
)
TRUTH = (
    "The known classes: a table with names and classes (FILE:NAMES:CLASSES picks its columns), or "
    "the name of a column of classes in the output folder of fit. By default, the first of them."
)
SHOWN_SHARES = 3  # classes that are listed for each cluster
NO_CLUSTER = ("", "-1")
KNOWN_METHODS = (
    "auto, anneal, sequential, batch, sib, aib, itcc, ib-double, idc, ibcc, ibcc-iterative; "
    "methods with other objectives: spectral, k-means, nmf, lda, modularity"
)


@dataclass(frozen=True)
class SideOption:
    """Which side to evaluate."""

    side: str = INPUT.option(
        "--side SIDE", "Clusters of rows, or of columns.", "rows", **one_of(("rows", "columns"))
    )


@command
def evaluate(
    labels: Annotated[str, argument("LABELS", LABELS)],
    clustered: SideOption,
    output: OutputOptions,
    truth: Annotated[str | None, argument("TRUTH", TRUTH)] = None,
) -> None:
    """Score clusters against known classes, matched by name.

    Elements in no cluster count as wrong for MAP and purity, and as one more cluster for NMI
    and ARI. Elements without a class are left out.

    [bold]Examples[/bold]

    comarkov evaluate letters-clusters

    comarkov evaluate women known.csv

    comarkov evaluate cells-clusters louvain
    """
    side = clustered.side
    clusters, classes = _clusters_in(labels, side).by_name, _classes_in(truth, side, labels)
    scores, table = _compare(clusters, classes.by_name)
    text = _text(classes.title, scores, table, titles_in(Path(labels), side))
    output.show({"classification": classes.title, **scores, "table": table}, text)


def _compare(
    clusters: dict[str, str], classes: dict[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measures of agreement, and how many elements of each class each cluster has."""
    from ..costs import agreement  # slow to import

    common = [name for name, label in classes.items() if label and name in clusters]
    if not common:
        ours, theirs = (listed(map(repr, names)) for names in (clusters, classes))
        raise InputError(
            f"No name has both a cluster and a class: clusters of {ours}; classes of {theirs}",
            advice="Give a file of classes with the same names.",
        )
    known = np.array([classes[name] for name in common])
    assigned = np.array(
        ["-1" if clusters[name] in NO_CLUSTER else clusters[name] for name in common]
    )
    numbers = np.unique(assigned, return_inverse=True)[1]
    pair = known, np.where(assigned == "-1", -1, numbers)
    scores = {
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
    return scores, _table(known, assigned)


def _table(classes: np.ndarray, clusters: np.ndarray) -> dict[str, Any]:
    """How many elements of each class, the largest first, each cluster has."""
    names, of_class = np.unique(classes, return_inverse=True)
    labels, of_cluster = np.unique(clusters, return_inverse=True)
    counts = np.zeros((labels.size, names.size), dtype=np.int64)
    np.add.at(counts, (of_cluster, of_class), 1)
    order = [
        (each == "-1", not each.isdecimal(), each.rjust(9 * each.isdecimal()))
        for each in labels.tolist()
    ]
    lines = sorted(range(labels.size), key=order.__getitem__)  # numbers, words, no cluster
    columns = np.argsort(-counts.sum(axis=0), kind="stable")
    return {
        "clusters": labels[lines].tolist(),
        "classes": names[columns].tolist(),
        "counts": counts[lines][:, columns].tolist(),
    }


def _text(title: str, scores: dict[str, Any], table: dict[str, Any], names: dict[str, str]) -> str:
    """A headline, the scores, then the classes of each cluster."""
    from ..results.words.figures import count_text

    nouns = {"elements": "element", "clusters": "cluster", "classes": "class"}
    elements, clusters, classes = (count_text(scores[key], noun) for key, noun in nouns.items())
    lines = [
        f"{scores['map']:.1%} of {elements} {'is' if scores['elements'] == 1 else 'are'} in the "
        f"cluster that matches their class: {clusters}, {classes} ({title}).",
        "",
    ]
    for name, value in scores.items():
        if value or name in PRINTED_SCORES:
            number = f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
            lines.append(f"{PRINTED_SCORES.get(name, name.replace('_', ' ')):<26} {number}")
    lines.append("")
    for cluster, counts in zip(table["clusters"], table["counts"], strict=True):
        called = f"cluster {cluster}" + (f", “{names[cluster]}”" if names.get(cluster) else "")
        called = "in no cluster" if cluster == "-1" else called
        size, total = count_text(sum(counts), "element"), sum(counts)
        largest = sorted(zip(counts, table["classes"], strict=True), key=lambda pair: -pair[0])
        others = sum(count for count, _ in largest[SHOWN_SHARES:])
        shares = [
            f"{f'{count / total:.0%}' if count >= 0.005 * total else '<1%'} {name}"
            for count, name in [*largest[:SHOWN_SHARES], (others, "others")]
            if count
        ]
        lines.append(f"{called}: {size}, {', '.join(shares)}")
    return "\n".join(lines)


# --- clusters and classes by name: of results, tables, AnnData files and folders of texts --------


def _clusters_in(source: str, side: str) -> Labels:
    """The clusters in a table, or those of the rows or columns of a folder of results."""
    from ..io.read.naming import read_labels

    folder = Path(source)
    return read_labels(_table_of(folder, side) if folder.is_dir() else source)


def _table_of(folder: Path, side: str) -> Path:
    """The table of a side in a folder of results; of a chain, that of its states."""
    table = folder / f"{side}.csv"
    if (states := folder / "states.csv").exists():
        return states
    if not table.exists() and is_results(folder):
        with errors_in_json(folder / SUMMARY):
            types = read_json(folder / SUMMARY).get("types", {})
            files = [str(folder / each["file"]) for each in types.values()]
        raise InputError(
            "it holds results of multi, which evaluate does not take",
            file=folder,
            advice=f"Give the table of one type: {' or '.join(files)}.",
        )
    return table


def titles_in(path: Path, side: str) -> dict[str, str]:
    """The titles of clusters, by their number, of a folder of results."""
    from ..io.read.naming import read_labels

    if not is_results(path):
        return {}
    return read_labels((_table_of(path, side), "cluster", "title")).by_name


def _classes_in(truth: str | None, side: str, labels: str) -> Labels:
    """The known classes in TRUTH; if there is none, those of the data that were clustered."""
    from ..io.read.naming import NameFile

    folder = Path(labels)
    if truth is None or (is_results(folder) and not Path(NameFile.of(truth).path).exists()):
        return _classes_of_results(folder, truth, side)
    return _clusters_in(truth, side)


def _classes_of_results(path: Path, column: str | None, side: str) -> Labels:
    """One classification of the data in a folder of results."""
    from ..io.read import read
    from ..io.read.naming import Labels

    what = side.removesuffix("s")
    data = read(path) if is_results(path) else None
    classes: dict[str, Any] = getattr(data, f"{what}_classes", {})
    if column is None and len(classes) > 1:
        column, *others = classes
        warn_user(
            f"The classes are {quote(column)}. {path} also has {', '.join(others)}: comarkov "
            f"evaluate {path} {others[0]}"
        )
    title = next(iter(classes), "") if column is None else column
    if title not in classes:
        known = f"Choose one of {listed(classes, 99)}, or give" if classes else "Give"
        raise InputError(
            f"no known classes of {side}"
            + (f" called {quote(column)}, and no such file" if column else ""),
            file=path,
            advice=f"{known} a file with names and classes: comarkov evaluate OUT classes.csv",
        )
    return Labels(title, dict(zip(getattr(data, f"{what}_names"), classes[title], strict=True)))


# --- compare ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CompareOptions(FileOptions, StartOptions, WeightingOptions):
    """The methods, and a file for the result."""

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


@command
def compare(
    source: Source, comparison: CompareOptions, output: OutputOptions, reading: InputOptions
) -> None:
    """Compare methods from the literature on INPUT, all from the same starts.

    -k and -l must be numbers. Costs are in bits, at four values of β; lower is better. With known
    classes (--row-classes), map, nmi and ari measure how well the clusters agree with them.

    [bold]Example[/bold]

    comarkov compare southern-women -k 2 -l 3 --methods auto,itcc,sib --starts 10
    """
    rows, columns = comparison.row_clusters, comparison.column_clusters
    if rows is None or columns is None:
        raise ValueError("compare needs both numbers, for example: -k 2 -l 3")
    comparison.refuse_to_replace()
    data = reading.read(source)
    from ..estimators.comparison import compare as compare_methods  # slow to import
    from ..results.base_results import records

    table = compare_methods(
        data,
        (rows, columns),
        comparison.methods and comparison.methods.split(","),
        beta=comparison.beta,
        weighting=comparison.weighting_for(data),
        n_init=comparison.starts or 1,
        random_state=comparison.seed,
        classes=(
            _complete(data.row_classes, data.row_names),
            _complete(data.column_classes, data.column_names),
        ),
    )
    lines = records(table) or []
    if comparison.out is not None:
        write_text(comparison.out, records_csv(lines))
    output.show(lines, aligned(lines))


def _complete(classes: dict[str, np.ndarray], names: np.ndarray) -> np.ndarray | None:
    """The first classes that all elements have; a note if there are classes, but none of these."""
    complete = [each for each in classes.values() if (each != "").all()]
    if classes and not complete:
        title, first = next(iter(classes.items()))
        without = listed(map(quote, names[first == ""]))
        warn_user(f"The clusters are not compared with {quote(title)}: {without} have none.")
    return complete[0] if complete else None
