"""The folder of results: where it is, what is written into it, and how it is read again."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.files import NotOursError, check_place, refuse_to_lose, whole_folder
from ..io.spreadsheets import raw_names
from ..joint.messages import InputError, similar_file
from .options import OUTPUT, OutputOptions
from .output import echo, print_json

if TYPE_CHECKING:
    from ..estimators.coclustering import CoClustering
    from ..io.read import Data
    from ..joint.joint import Joint
    from ..results.base_results import BaseResults
    from ..results.results import Results
    from ..search.state.coclusters import Step


RAW_NAMES = (
    "Write names into CSV files unchanged. By default, names that a spreadsheet would run as "
    "formulas, such as =1+1, get an apostrophe in front."
)

REPLACE = "Replace a file that exists."


@dataclass(frozen=True)
class OutOptions:
    """The folder that gets all results, and whether it may replace another."""

    out: Path | None = OUTPUT.option(
        "--out -o OUT",
        "The folder for all results, written atomically: you get all of it or none.",
        shown="INPUT-clusters",
    )
    force: bool = OUTPUT.option("--force -f", "Replace a folder OUT that comarkov wrote.", False)
    raw_names: bool = OUTPUT.option("--raw-names", RAW_NAMES, False)

    def place(self, source: str) -> Path:
        """The folder for results; an error before the work begins if it cannot be written."""
        from ..io.files import is_results

        out = Path(f"{stem_of(source)}-clusters") if self.out is None else self.out
        check_target(out, self.force, is_results)
        return out


def refuse_to_replace(out: Path | None, force: bool) -> None:
    """An error before the work begins if a file for results exists and is not empty."""
    if out is not None and not force and out.is_file() and out.stat().st_size:
        raise FileExistsError(
            f"{out} exists already. Replace it with --force, or choose another with -o."
        )


def stem_of(source: str) -> str:
    """What the folder for something made from a source is called, up to what it is."""
    return "stdin" if source == "-" else Path(source).name.split(".")[0] or "comarkov"


def check_target(out: Path, force: bool, is_ours: Callable[[Path], bool]) -> None:
    """An error if a folder cannot be written, or must not be replaced."""
    try:
        refuse_to_lose(out.absolute(), force, is_ours)
        check_place(out.absolute())
    except NotOursError as error:
        raise NotOursError(f"{error} Choose another folder with -o.") from None
    except FileExistsError as error:
        hint = "Replace it with --force, or choose another with -o."
        raise FileExistsError(f"{error} {hint}") from None


@dataclass(frozen=True)
class FolderOptions(OutOptions):
    """The same for co-clusterings, which may come from an AnnData file."""

    h5ad: bool = OUTPUT.option(
        "--h5ad/--no-h5ad",
        "For an AnnData file, also write a copy into OUT with the clusters in .obs and .var.",
        True,
    )

    def write(
        self, results: Results, out: Path, source: str, texts: Mapping[str, str] | None = None
    ) -> None:
        """Write results, an AnnData file with its clusters, and further files with their texts."""
        from ..io.files import is_results
        from ..io.read import write_h5ad

        with whole_folder(out, self.force, is_results) as folder, raw_names(self.raw_names):
            replace(results, folder=str(out)).fill(folder)
            if self.h5ad and Path(source).suffix == ".h5ad":
                write_h5ad(source, folder / Path(source).name, results.fitted)
            for name, text in (texts or {}).items():
                (folder / name).write_text(text, encoding="utf-8", newline="")


def opened_option() -> Any:
    """The option --open of commands that make a report."""
    return OUTPUT.option("--open", "Open the report in the browser.", False)


@dataclass(frozen=True)
class ReportFolderOptions(FolderOptions):
    """The same, and whether to open the report in the folder."""

    opened: bool = opened_option()


def results_of(
    model: CoClustering,
    data: Data,
    path: Sequence[Step] | None = None,
    weighted: Joint | None = None,
) -> Results:
    """The results of a model on its data, made by the command that is running."""
    from ..results.results import Results

    return Results.of(model, data, path=path, command=command(), weighted=weighted)


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
    from ..io.files import is_results
    from ..io.read import read
    from ..model.storage import load, load_value
    from ..results.multiway_results import network_results
    from ..results.results import PATH_FILE, Results
    from ..results.words.titles import TITLES_FILE

    if not is_results(out):
        raise _no_results(out)
    about, model = summary(out), load(out)
    network = network_results(out, model, about)
    if network is not None:
        return network
    path = load_value(out / PATH_FILE) if (out / PATH_FILE).exists() else None
    data = read(out).changed(source=str(about.get("data", {}).get("source", "")))
    if titles is None and (out / TITLES_FILE).exists():
        titles = out / TITLES_FILE
    with _commands_for_titles(out):
        results = Results.of(
            model, data, path=path, command=str(about.get("command", "")), titles=titles
        )
    return replace(results, folder=str(out))


def _no_results(out: Path) -> OSError:
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
        f"There are no results in {out}. Give a folder that comarkov fit, sweep, chain or multi "
        "wrote."
    )


@contextmanager
def _commands_for_titles(out: Path) -> Iterator[None]:
    """If titles are for other numbers of clusters, say which command makes results that match."""
    from ..results.words.titles import OtherNumbersError

    try:
        yield
    except OtherNumbersError as error:
        numbers = {"-k": error.n_clusters[0], "-l": error.n_clusters[1]}
        options = [part for name, k in numbers.items() if k for part in (name, str(k))]
        cut = shlex.join(["comarkov", "cut", str(out), *options])
        advice = f"Make results that match the titles first: {cut}"
        raise InputError(str(error.args[0]), advice=advice) from None


def print_results(results: BaseResults, out: Path, output: OutputOptions) -> None:
    """Print the clusters, and where the report is."""
    if output.json:
        print_json(summary(out))
        return
    echo(results.describe(4))
    if not output.quiet:
        echo(f"\nThe report is {(out / 'report.html').absolute()}")


def command() -> str:
    """The running command, so that it can be repeated; without passwords in addresses."""
    public = [re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1@", part) for part in sys.argv[1:]]
    return shlex.join(["comarkov", *public])


def summary(out: Path) -> dict[str, Any]:
    """The content of summary.json, and the folder it is in."""
    from ..io.files import SUMMARY

    content: dict[str, Any] = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
    return {"out": str(out.absolute()), **content}
