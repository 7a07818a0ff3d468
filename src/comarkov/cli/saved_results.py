"""``comarkov cut``, ``report`` and ``info``: what can be done with saved results."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..io.csv_files import tables_for_spreadsheets
from ..io.files import SUMMARY, errors_in_json, is_results, is_store, write_text
from ..joint.messages import InputError, similar_file
from .options import (
    CLUSTERING,
    OUTPUT,
    CoClusteringFolderOptions,
    OutputOptions,
    ReportOptions,
    argument,
    command,
    stem_of,
    summary,
)
from .output import command_line, report_in, report_line
from .pack import print_facts, store_facts

if TYPE_CHECKING:
    import numpy as np

    from ..results.base_results import BaseResults
    from ..results.results import Results


def read_results(out: Path, titles: Path | None = None) -> Results:
    """The co-clustering in a folder, with titles from a file or those that the folder has."""
    results: Any = read_any_results(out, titles)
    if not hasattr(results, "findings"):
        kind = type(results.fitted).__name__
        raise ValueError(f"{out} holds a {kind}, not a co-clustering. See: comarkov info {out}")
    return results


def read_any_results(out: Path, titles: Path | None = None) -> BaseResults:
    """The results in a folder, from the model and the data in it."""
    from ..io.read import read
    from ..model.storage import load
    from ..results.chain_results import ChainResults
    from ..results.multiway_results import MultiwayResults
    from ..results.results import Results
    from ..results.words.titles import TITLES_FILE, OtherNumbersError

    if not is_results(out):
        advice = similar_file(out)
        advice = advice or " Give a results folder, such as one that comarkov fit wrote."
        if out.is_file():
            fit = shlex.join(["comarkov", "fit", str(out), "-o", f"{stem_of(str(out))}-clusters"])
            advice = f" If it holds data, cluster them first: {fit}"
        raise FileNotFoundError(f"There are no results in {str(out)!r}.{advice}")
    about, model = summary(out), load(out)
    command = str(about.get("command", ""))
    with errors_in_json(out / SUMMARY):
        if type(model).__name__ == "MultiwayClustering":
            tables = {
                tuple(each["types"]): replace(read(out / each["file"]), source=each["source"])
                for each in about["relations"]
            }
            return MultiwayResults(model, tables, command)
        source = str(about.get("data", {}).get("source", ""))
    data = read(out).changed(source=source)
    if type(model).__name__ == "MarkovAggregation":
        return ChainResults(model, data, command)
    if titles is None and (out / TITLES_FILE).exists():
        titles = out / TITLES_FILE
    try:
        results = Results.of(model, data, command=command, titles=titles)
    except OtherNumbersError as error:
        numbers = [f"{name} {k}" for name, k in zip("kl", error.n_clusters, strict=True) if k]
        cut = f"comarkov cut {shlex.quote(str(out))} -{' -'.join(numbers)}"
        problem = str(error.args[0])
        raise InputError(problem, advice=f"Make results with these numbers first: {cut}") from None
    return replace(results, folder=str(out))


@dataclass(frozen=True)
class LevelOptions:
    """The level."""

    row_clusters: int | None = CLUSTERING.option(
        "--row-clusters -k NUMBER", "Number of row clusters.", shown="as in FOLDER", min=1
    )
    column_clusters: int | None = CLUSTERING.option(
        "--column-clusters -l NUMBER", "Number of column clusters.", shown="as in FOLDER", min=1
    )
    refine: bool = CLUSTERING.option(
        "--refine", "Then move single rows and columns as long as that lowers the cost.", False
    )


@command
def cut(
    folder: Annotated[Path, argument("FOLDER", "The output folder of fit or choose.")],
    level: LevelOptions,
    target: CoClusteringFolderOptions,
    output: OutputOptions,
) -> None:
    """Merge or split the clusters in FOLDER without refitting.

    Clusters are merged or split along the hierarchy of the fit, exactly as the sliders of the
    report do. OUT gets everything that fit writes, and works with predict, report and cut. By
    default, it is named after FOLDER and the numbers.

    [bold]Examples[/bold]

    comarkov cut women -k 4 -l 2

    comarkov cut women -k 4 --refine -o women-refined
    """
    results = read_results(folder)
    rows, columns = (
        side.n_clusters if side.is_clustered else None for side in results.findings.sides
    )
    numbers = level.row_clusters or rows, level.column_clusters or columns
    counts = "x".join(str(number) for number in numbers if number is not None)
    out = target.place(folder.absolute().name, counts)
    if level.refine:  # other clusters, which get titles of their own
        model = results.fitted.cut(numbers, results.data)
        cut_results = type(results).of(model, results.data, command=command_line())
    else:
        cut_results = results.cut(numbers, command=command_line())
    target.finish(cut_results, out, output)


@dataclass(frozen=True)
class TitleOptions(ReportOptions):
    """What to write, and whether to open it."""

    titles: Path | None = OUTPUT.option(
        "--titles FILE",
        "Your titles, downloaded from the report. They are written into all files in OUT.",
        shown="your earlier titles, if any",
    )


@command
def report(
    out: Annotated[Path, argument("OUT", "A results folder, such as the output folder of fit.")],
    options: TitleOptions,
    output: OutputOptions,
) -> None:
    """Rebuild report.html from a results folder.

    [bold]Examples[/bold]

    comarkov report women --open

    comarkov report women --titles titles.json
    """
    if options.titles is None:
        texts = {"report.html": read_any_results(out).to_html()}
    else:  # all files that contain titles
        texts = read_results(out, options.titles).texts()
    for name, text in tables_for_spreadsheets(texts, options.for_spreadsheets).items():
        write_text(out / name, text)
    page = report_in(out)
    output.show({"report": str(page)}, page if output.quiet else report_line(out))
    options.open_report(out)


@command
def info(
    model: Annotated[
        Path,
        argument("MODEL", "The output folder of fit, or a folder that model.save or pack wrote."),
    ],
    output: OutputOptions,
) -> None:
    """Print the clusters of a model, how much information they keep, and its parameters.

    For a store, print its contents, and compare all files with their checksums.

    [bold]Example[/bold]

    comarkov info women
    """
    from ..model.storage import load

    facts = store_facts(model, True) if is_store(model) else _model_facts(load(model))
    print_facts(facts, output)


def _model_facts(fitted: Any) -> dict[str, Any]:
    """The facts about a model, by name; of its parameters, those that are not the defaults."""
    kept, defaults = fitted.information_, signature(type(fitted)).parameters
    if hasattr(fitted, "types_"):
        kept = {f"kept of {s} x {t}": each.kept for (s, t), each in kept.items()}
        facts = {f"clusters of {name}": _sizes(each) for name, each in fitted.labels_.items()}
    else:
        kept = {"information": kept.rows_columns, "kept": kept.kept}
        facts = _side_facts(fitted)
    return {
        "model": type(fitted).__name__,
        **facts,
        "beta": getattr(fitted, "beta_", fitted.beta),
        "cost": fitted.cost_,
        **kept,
        "parameters": {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in fitted.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        },
    }


def _side_facts(fitted: Any) -> dict[str, Any]:
    if hasattr(fitted, "states_"):
        labels = {"states": fitted.labels_.size, "clusters": _sizes(fitted.labels_)}
        losses = ("prediction_loss", "lumpability_loss")
        return labels | {name: getattr(fitted, f"{name}_") for name in losses}
    sides = {"row": fitted.row_labels_, "column": fitted.column_labels_}
    counts = zip(sides.items(), fitted.hierarchy_.n_fitted, strict=True)
    return {
        **{f"{side}s": labels.size for side, labels in sides.items()},
        **{f"{side}_clusters": None if k is None else _sizes(of) for (side, of), k in counts},
        "weighting": "counts" if fitted.weighting_ is None else fitted.weighting_.scheme,
    }


def _sizes(labels: np.ndarray) -> list[int]:
    """The number of members of each cluster."""
    import numpy as np

    return list(np.bincount(labels[labels >= 0]).tolist())
