"""The folder that gets all results of a command: where it is, and what is written into it."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..io.csv_files import tables_for_spreadsheets
from ..io.files import SUMMARY, free_place, is_results, read_json, whole_folder
from .options import OUTPUT, OutputOptions
from .output import echo, print_json

if TYPE_CHECKING:
    from ..results.base_results import BaseResults


FOR_SPREADSHEETS = (
    "Write CSV files for spreadsheet programs: names that these would run as formulas, such as "
    "=1+1, get an apostrophe in front."
)
REPLACE = "Replace a file that exists."


def opened_option() -> Any:
    """The option --open of commands that make a report."""
    return OUTPUT.option("--open", "Open the report in the browser.", False)


@dataclass(frozen=True)
class FolderOptions:
    """The folder that gets all results, and whether it may replace another."""

    out: Path | None = OUTPUT.option(
        "--out -o OUT",
        "The folder for all results.",
        shown="INPUT-clusters",
    )
    force: bool = OUTPUT.option("--force -f", "Replace a folder OUT that comarkov wrote.", False)
    for_spreadsheets: bool = OUTPUT.option("--for-spreadsheets", FOR_SPREADSHEETS, False)
    opened: bool = opened_option()

    def place(self, source: str) -> Path:
        """The folder for results; an error before the work begins if it cannot be written."""
        out = Path(f"{stem_of(source)}-clusters") if self.out is None else self.out
        free_place(out, self.force, is_results, "--force")
        return out

    def write(
        self, results: BaseResults, out: Path, texts: Mapping[str, str] | None = None
    ) -> None:
        """Write all results, and further files with their texts."""
        with whole_folder(out, self.force, is_results) as folder:
            replace(results, folder=str(out)).fill(folder, self.for_spreadsheets)
            self._add_files(results, folder)
            more = tables_for_spreadsheets(texts or {}, self.for_spreadsheets)
            for name, text in more.items():
                (folder / name).write_text(text, encoding="utf-8", newline="")

    def _add_files(self, results: BaseResults, folder: Path) -> None:
        """Write files that only some kinds of results have."""

    def present(self, results: BaseResults, out: Path, output: OutputOptions) -> None:
        """Print the clusters and where the report is, and open it."""
        if output.json:
            print_json(summary(out))
        else:
            echo(results.describe(4) if output.verbose else "\n".join(results.sentences))
            if not output.quiet:
                echo(f"\nThe report is {report_in(out)}")
        if self.opened:
            open_report(out)


@dataclass(frozen=True)
class CoClusteringFolderOptions(FolderOptions):
    """The folder for a co-clustering, which may come from an AnnData file."""

    h5ad: bool = OUTPUT.option(
        "--h5ad/--no-h5ad",
        "For an AnnData file, also write a copy into OUT with the clusters in .obs and .var.",
        True,
    )

    def _add_files(self, results: BaseResults, folder: Path) -> None:
        source = Path(results.source)
        if self.h5ad and source.suffix == ".h5ad" and source.is_file():
            from ..io.read import write_h5ad

            write_h5ad(source, folder / source.name, results.fitted)


def refuse_to_replace(out: Path | None, force: bool) -> None:
    """An error before the work begins if a file for results exists and is not empty."""
    if out is not None and not force and out.is_file() and out.stat().st_size:
        raise FileExistsError(
            f"{out} exists already. Replace it with --force, or choose another with -o."
        )


def stem_of(source: str) -> str:
    """The beginning of the names of folders that are made from a source."""
    return "stdin" if source == "-" else Path(source).name.split(".")[0] or "comarkov"


def report_in(out: Path) -> Path:
    """The report in a folder of results."""
    return (out / "report.html").absolute()


def open_report(out: Path) -> None:
    """Open the report in a folder of results in the browser."""
    typer.launch(report_in(out).as_uri())


def command() -> str:
    """The running command, so that it can be repeated; without passwords in addresses."""
    public = [re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1@", part) for part in sys.argv[1:]]
    return shlex.join(["comarkov", *public])


def summary(out: Path) -> dict[str, Any]:
    """The content of summary.json, and the folder it is in."""
    return {"out": str(out.absolute()), **read_json(out / SUMMARY)}
