"""``comarkov compare`` and ``comarkov evaluate``: which method, and how near to the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..data.writing import write_text
from .classes import classes_of, joined, read_labels
from .errors import clear_errors, notes
from .groups import takes_groups
from .inputs import Reading, Source
from .options import CLUSTERING, INPUT, OUTPUT, Method, Numbers, Telling, as_beta, option
from .tables import aligned, records, records_csv, say_json
from .waiting import explain_compiling


@takes_groups
def compare(
    source: Source,
    numbers: Numbers,
    method: Method,
    methods: Annotated[
        str | None,
        option(
            "--methods", panel=CLUSTERING, metavar="M,M,...", show_default="all",
            help="Some of auto, anneal, sequential, batch, sib, aib, itcc, ib-double, idc, ibcc, "
            "ibcc-iterative.",
        ),
    ] = None,
    truth: Annotated[
        Path | None,
        option(
            "--truth", panel=INPUT, metavar="FILE",
            help="A CSV file with the known class of each row, by name.",
        ),
    ] = None,
    column_truth: Annotated[
        Path | None,
        option("--column-truth", panel=INPUT, metavar="FILE", help="The same for columns."),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "--out", "-o", panel=OUTPUT, metavar="FILE", help="A CSV file for the table.",
            show_default=False,
        ),
    ] = None,
    *,
    telling: Telling,
    reading: Reading,
) -> None:  # fmt: skip
    """Run the methods of the literature on INPUT from the same starts, and set them side by side.

    Needs -k and -l as numbers. Costs are in bits at four β, less is better; map, nmi and ari say
    how near the clusters are to known classes.

    [bold]Example[/bold]

    comarkov compare southern-women -k 2 -l 3 --methods auto,itcc,sib --starts 10
    """
    with clear_errors(), notes(telling.quiet):
        counts, beta = numbers.counts(), as_beta(method.beta)
        if not all(isinstance(count, int) for count in counts) or isinstance(beta, str):
            raise ValueError("compare needs numbers: give -k and -l, and no --beta auto.")
        method.check_weighting()
        data = reading.read(source)
        from ..estimators.comparison import compare as run

        explain_compiling(telling.shows_bars)
        rows, columns = (
            None if path is None else classes_of(names.tolist(), path)
            for names, path in ((data.row_names, truth), (data.column_names, column_truth))
        )
        table = run(
            data, (int(counts[0] or 0), int(counts[1] or 0)), methods and methods.split(","),
            beta=beta, weighting=method.weighting_for(data), n_starts=method.n_init or 1,
            seed=method.seed, classes=(rows, columns),
        )  # fmt: skip
        lines = records(table)
        if out is not None:
            write_text(out, records_csv(lines))
        if telling.json:
            say_json(lines)
        else:
            typer.echo(aligned(lines))


@takes_groups
def evaluate(
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS", help="rows.csv or columns.csv of fit, or another CSV file with names "
            "and clusters; or OUT, which stands for its rows.csv.",
        ),
    ],
    truth: Annotated[
        Path, typer.Argument(metavar="TRUTH", help="A CSV file with names and known classes.")
    ],
    label_column: Annotated[
        str | None,
        option(
            "--label-column", panel=INPUT, metavar="COLUMN", help="The column of the clusters.",
            show_default="cluster, or the second",
        ),
    ] = None,
    truth_column: Annotated[
        str | None,
        option(
            "--truth-column", panel=INPUT, metavar="COLUMN", help="The column of the classes.",
            show_default="class, label, ... or the second",
        ),
    ] = None,
    *,
    telling: Telling,
) -> None:  # fmt: skip
    """Say how well clusters agree with known classes, joined by name.

    Elements in no cluster count as wrong for MAP and purity, and as one more cluster for NMI
    and ARI. Names that only one file has are left out, and counted.

    [bold]Example[/bold]

    comarkov evaluate women/rows.csv known.csv
    """
    with clear_errors(), notes(telling.quiet):
        clusters = read_labels(labels / "rows.csv" if labels.is_dir() else labels, label_column)
        classes = read_labels(truth, truth_column)
        pair = joined(clusters, classes)
        from ..costs import evaluation as measures  # slow to import

        result = {
            "elements": len(pair[0]),
            "only_in_labels": len(clusters.keys() - classes.keys()),
            "only_in_truth": len(classes.keys() - clusters.keys()),
            "classes": len(set(pair[0].tolist())),
            "clusters": len(set(pair[1].tolist()) - {-1}),
            "in_no_cluster": int((pair[1] < 0).sum()),
            "map": measures.matching_accuracy(*pair),
            "purity": measures.purity(*pair),
            "nmi": measures.normalized_mutual_information(*pair),
            "ari": measures.adjusted_rand_index(*pair),
        }
        if telling.json:
            say_json(result)
            return
        for name, value in result.items():
            if value or name in SAID:
                typer.echo(f"{SAID.get(name, name.replace('_', ' ')):<26} {_number(value)}")


SAID = {
    "elements": "elements in both",
    "map": "MAP, matching accuracy",
    "purity": "MAP', purity",
    "nmi": "NMI, V-measure",
    "ari": "ARI, adjusted Rand index",
}


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
