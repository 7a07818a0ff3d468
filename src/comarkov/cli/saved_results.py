"""``comarkov cut``, ``report`` and ``info``: what can be done with saved results."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..io.csv_files import tables_for_spreadsheets
from ..io.files import SUMMARY, errors_in_json, is_results, is_store, write_text
from ..joint.messages import InputError, similar_file
from .options import CLUSTERING, OUTPUT, OutputOptions, argument, takes_groups
from .output import clear_errors, echo, notes, print_json
from .pack import print_facts, verified_facts
from .results_folder import (
    FOR_SPREADSHEETS,
    CoClusteringFolderOptions,
    command,
    open_report,
    opened_option,
    report_in,
    stem_of,
    summary,
)

if TYPE_CHECKING:
    import numpy as np

    from ..costs.labels import Counts
    from ..results.base_results import BaseResults
    from ..results.results import Results


def read_results(out: Path, titles: Path | None = None) -> Results:
    """The co-clustering in a folder, with titles from a file or those that the folder has."""
    results = read_any_results(out, titles)
    from ..results.results import Results

    if not isinstance(results, Results):
        kind = type(results.fitted).__name__
        raise ValueError(f"{out} holds a {kind}, not a co-clustering. See: comarkov info {out}")
    return results


def read_any_results(out: Path, titles: Path | None = None) -> BaseResults:
    """The results in a folder, from the model and the data in it."""
    from ..io.read import read
    from ..model.storage import load, load_value
    from ..results.multiway_results import network_results
    from ..results.results import PATH_FILE, Results
    from ..results.words.titles import TITLES_FILE

    if not is_results(out):
        raise _missing_results(out)
    about, model = summary(out), load(out)
    with errors_in_json(out / SUMMARY):
        network = network_results(out, model, about)
        source = str(about.get("data", {}).get("source", ""))
    if network is not None:
        return network
    path = load_value(out / PATH_FILE) if (out / PATH_FILE).exists() else None
    data = read(out).changed(source=source)
    if titles is None and (out / TITLES_FILE).exists():
        titles = out / TITLES_FILE
    with _cut_in_errors(out):
        results = Results.of(
            model, data, path=path, command=str(about.get("command", "")), titles=titles
        )
    return replace(results, folder=str(out))


def _missing_results(out: Path) -> OSError:
    """The error about a path that is not a folder of results."""
    if not out.exists():
        advice = similar_file(out) or " Check the path."
        return FileNotFoundError(f"There is no folder {str(out)!r}.{advice}")
    if not out.is_dir():
        fit = shlex.join(["comarkov", "fit", str(out), "-o", f"{stem_of(str(out))}-clusters"])
        return NotADirectoryError(
            f"{out} is a file, not a folder of results. If it holds data, cluster them first: {fit}"
        )
    return FileNotFoundError(
        f"There are no results in {out}. Give a folder that comarkov fit, choose, chain or multi "
        "wrote."
    )


@contextmanager
def _cut_in_errors(out: Path) -> Iterator[None]:
    """Errors about titles for other numbers of clusters end with the command that cuts at these."""
    from ..results.words.titles import OtherNumbersError

    try:
        yield
    except OtherNumbersError as error:
        numbers = zip(("-k", "-l"), error.n_clusters, strict=True)
        options = [word for name, k in numbers if k for word in (name, str(k))]
        cut = shlex.join(["comarkov", "cut", str(out), *options])
        advice = f"Make results that match the titles first: {cut}"
        raise InputError(str(error.args[0]), advice=advice) from None


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

    def numbers(self, results: Results) -> Counts:
        """The numbers of clusters to cut at."""
        rows, columns = (
            side.n_clusters if side.is_clustered else None for side in results.findings.sides
        )
        return self.row_clusters or rows, self.column_clusters or columns


@dataclass(frozen=True)
class CutFolderOptions(CoClusteringFolderOptions):
    """The folder that gets the results of the cut."""

    out: Path | None = OUTPUT.option(
        "--out -o OUT",
        "The folder for all results, written atomically: you get all of it or none.",
        shown="FOLDER-KxL",
    )


@takes_groups
def cut(
    folder: Annotated[Path, argument("FOLDER", "The output folder of fit or choose.")],
    level: LevelOptions,
    target: CutFolderOptions,
    *,
    output: OutputOptions,
) -> None:
    """Merge or split the clusters in FOLDER without refitting.

    Clusters are merged or split along the hierarchy of the fit, exactly as the sliders of the
    report do. OUT gets everything that fit writes, and works with predict, report and cut.

    [bold]Examples[/bold]

    comarkov cut women -k 4 -l 2

    comarkov cut women -k 4 --refine -o women-refined
    """
    with clear_errors(), notes(output.quiet):
        results = read_results(folder)
        numbers = level.numbers(results)
        counts = "x".join(str(number) for number in numbers if number is not None)
        out = target.out or Path(f"{folder.absolute().name}-{counts}")
        replace(target, out=out).place("")
        if level.refine:  # other clusters, which get titles of their own
            model = results.fitted.cut(numbers, results.data)
            cut_results = type(results).of(model, results.data, command=command())
        else:
            cut_results = results.cut(numbers, command=command())
        target.write(cut_results, out)
        target.present(cut_results, out, output)


@dataclass(frozen=True)
class ReportOptions:
    """What to write, and whether to open it."""

    titles: Path | None = OUTPUT.option(
        "--titles FILE",
        "Your titles, downloaded from the report. They are written into all files in OUT.",
        shown="your earlier titles, if any",
    )
    opened: bool = opened_option()
    for_spreadsheets: bool = OUTPUT.option("--for-spreadsheets", FOR_SPREADSHEETS, False)


@takes_groups
def report(
    out: Annotated[Path, argument("OUT", "The output folder of fit, choose, chain or multi.")],
    options: ReportOptions,
    *,
    output: OutputOptions,
) -> None:
    """Rebuild report.html from a results folder.

    [bold]Examples[/bold]

    comarkov report women --open

    comarkov report women --titles titles.json
    """
    with clear_errors(), notes(output.quiet):
        if options.titles is None:
            texts = {"report.html": read_any_results(out).to_html()}
        else:  # all files that contain titles
            texts = read_results(out, options.titles).texts()
        for name, text in tables_for_spreadsheets(texts, options.for_spreadsheets).items():
            write_text(out / name, text)
        page = report_in(out)
        if output.json:
            print_json({"report": str(page)})
        else:
            echo(page if output.quiet else f"The report is {page}")
        if options.opened:
            open_report(out)


@takes_groups
def info(
    model: Annotated[
        Path,
        argument("MODEL", "The output folder of fit, or a folder that model.save or pack wrote."),
    ],
    *,
    output: OutputOptions,
) -> None:
    """Print the parameters of a model, its clusters, and how much information they keep.

    For a store, print its contents, and compare all files with their checksums.

    [bold]Example[/bold]

    comarkov info women
    """
    with clear_errors(), notes(output.quiet):
        if is_store(model):
            print_facts(verified_facts(model), output)
            return
        from ..model.storage import load

        print_facts(_model_facts(load(model)), output)


def _model_facts(fitted: Any) -> dict[str, Any]:
    """The facts about a model, by name."""
    kind = type(fitted).__name__
    if kind == "MultiwayClustering":
        kept = {f"kept of {s} x {t}": each.kept for (s, t), each in fitted.information_.items()}
        facts = {f"clusters of {name}": _sizes(each) for name, each in fitted.labels_.items()}
    else:
        information = fitted.information_
        kept = {"information": information.rows_columns, "kept": information.kept}
        facts = _chain_facts(fitted) if kind == "MarkovAggregation" else _side_facts(fitted)
    return {
        "model": kind,
        **facts,
        "beta": getattr(fitted, "beta_", fitted.beta),
        "cost": fitted.cost_,
        **kept,
        "parameters": {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in fitted.get_params(deep=False).items()
        },
    }


def _chain_facts(fitted: Any) -> dict[str, Any]:
    return {
        "states": fitted.labels_.size,
        "clusters": _sizes(fitted.labels_),
        "prediction_loss": fitted.prediction_loss_,
        "lumpability_loss": fitted.lumpability_loss_,
    }


def _side_facts(fitted: Any) -> dict[str, Any]:
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
