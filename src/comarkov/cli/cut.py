"""``comarkov cut``: results at another level of the hierarchy, coarser or finer than the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import results_folder
from .options import CLUSTERING, OUTPUT, OutputOptions, takes_groups
from .output import clear_errors, notes

if TYPE_CHECKING:
    from ..costs.labels import Counts
    from ..results.results import Results


SIDES = (("-k", "row"), ("-l", "column"))


@dataclass(frozen=True)
class LevelOptions:
    """The level."""

    row_clusters: str | None = CLUSTERING.option(
        "--row-clusters -k NUMBER", "Number of row clusters.", shown="as in FOLDER"
    )
    column_clusters: str | None = CLUSTERING.option(
        "--column-clusters -l NUMBER", "Number of column clusters.", shown="as in FOLDER"
    )
    refine: bool = CLUSTERING.option(
        "--refine", "Then move single rows and columns as long as that lowers the cost.", False
    )

    def numbers(self, results: Results, folder: Path) -> Counts:
        """The numbers of clusters to cut at, or an error that ends with a command that works."""
        tree, texts = results.fitted.hierarchy_, (self.row_clusters, self.column_clusters)
        own = [side.n_clusters if side.is_clustered else None for side in results.findings.sides]
        numbers, faults = list(own), []
        for i, (text, most) in enumerate(zip(texts, tree.n_leaves, strict=True)):
            option, side = SIDES[i]
            if text is None or (most is None and text.strip().lower() == "none"):
                continue
            is_number = text.strip().isdecimal()
            if most is not None and is_number and 1 <= int(text) <= most:
                numbers[i] = int(text)
                continue
            numbers[i] = most and min(most, max(1, int(text) if is_number else 2))
            faults.append(_fault(option, text, side, most))
        if faults:
            options = [f"{SIDES[i][0]} {n}" for i, n in enumerate(numbers) if n is not None]
            command = f"comarkov cut {folder} {' '.join(options)}"
            raise ValueError(f"{' '.join(faults)} This works: {command}")
        return numbers[0], numbers[1]


def _fault(option: str, text: str, side: str, most: int | None) -> str:
    if most is None:
        return f"{option} {text}: the {side}s are not clustered, so leave {option} out."
    return (
        f"{option} must be a whole number from 1 to {most}, the finest {side} clusters, not "
        f"{text!r}."
    )


@dataclass(frozen=True)
class CutFolderOptions(results_folder.ReportFolderOptions):
    """The folder that gets the results of the cut."""

    out: Path | None = OUTPUT.option(
        "--out -o OUT",
        "The folder for all results, written atomically: you get all of it or none.",
        shown="FOLDER-KxL",
    )

    def named(self, folder: Path, numbers: Counts) -> CutFolderOptions:
        """The same with OUT, if it was not given."""
        counts = "x".join(str(number) for number in numbers if number is not None)
        return replace(self, out=self.out or Path(f"{folder.absolute().name}-{counts}"))


@takes_groups
def cut(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="The output folder of fit or sweep.", show_default=False
        ),
    ],
    level: LevelOptions,
    place: CutFolderOptions,
    *,
    output: OutputOptions,
) -> None:
    """Write the results of FOLDER with fewer or more clusters, without another fit.

    Clusters are merged or split along the hierarchy of the fit, exactly as the sliders of the
    report do. OUT gets everything that fit writes, and works with predict, report and cut.

    [bold]Examples[/bold]

    comarkov cut women -k 4 -l 2

    comarkov cut women -k 4 --refine -o women-refined
    """
    with clear_errors(), notes(output.quiet):
        results = results_folder.read_results(folder)
        numbers = level.numbers(results, folder)
        place = place.named(folder, numbers)
        out = place.place(str(place.out))
        cut_results = _cut(results, numbers, level.refine)
        source = results.source if Path(results.source).is_file() else ""
        place.write(cut_results, out, source)
        results_folder.print_results(cut_results, out, output)
        if place.opened:
            typer.launch((out / "report.html").absolute().as_uri())


def _cut(results: Results, numbers: Counts, refine: bool) -> Results:
    """The results at another level. Refined clusters are others, so they get their own titles."""
    if refine:
        model = results.fitted.cut(numbers, results.data)
        return results_folder.results_of(model, results.data)
    return results.cut(numbers, command=results_folder.command())
