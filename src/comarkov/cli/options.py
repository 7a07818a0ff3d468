"""Groups of options that commands share, and how they become parameters of a command."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass, make_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ..io.csv_files import tables_for_spreadsheets
from ..io.files import SUMMARY, free_place, is_results, read_json, whole_folder
from ..io.read_options import CHOICES, READ_OPTIONS
from ..joint.messages import InputError, bytes_of, did_you_mean, similar_file
from .output import (
    OPTIONS_BY_PARAMETER,
    WRITING,
    as_options,
    clear_errors,
    echo,
    notes,
    print_json,
    report_in,
    report_line,
)

if TYPE_CHECKING:
    from ..estimators.coclustering import CoClustering
    from ..io.read import Data
    from ..results.base_results import BaseResults

OPTION = "option"  # the key of the option in the metadata of a field


@dataclass(frozen=True)
class Panel:
    """A panel of the help, and the options in it."""

    title: str

    def option(self, names: str, help: str, default: Any = None, **more: Any) -> Any:  # noqa: A002
        """A field of a group: an option with these flags and, if it has one, its value.

        ``shown`` replaces the default in the help text.
        """
        flags = names.split()
        if not flags[-1].startswith("-"):
            more["metavar"] = flags.pop()
        if "shown" in more:
            more["show_default"] = more.pop("shown")
        flag = flags[0].partition("/")[0]
        OPTIONS_BY_PARAMETER.setdefault(flag[2:].replace("-", "_"), flag)
        declared = typer.Option(*flags, rich_help_panel=self.title, help=help, **more)
        return field(default=default, metadata={OPTION: declared})


INPUT, CLUSTERING, OUTPUT = Panel("Input"), Panel("Clustering"), Panel("Output")


def argument(name: str, about: str, **more: Any) -> Any:
    """An argument of a command, for Annotated."""
    return typer.Argument(metavar=name, help=about, show_default=False, **more)


def completed(words: Sequence[str]) -> dict[str, Any]:
    """How the shell completes a value that may be one of these words."""
    return {"autocompletion": lambda incomplete: [w for w in words if w.startswith(incomplete)]}


def one_of(words: Sequence[str]) -> dict[str, Any]:
    """How to check and complete an option that takes one of these words."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in words:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(words)}.")
        return value

    return {"callback": check} | completed(words)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command whose errors are one line and whose warnings are notes.

    The fields of its dataclass parameters are separate options for typer.
    """
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    groups: dict[str, Any] = {
        p.name: p.annotation for p in parameters if is_dataclass(p.annotation)
    }

    @wraps(function)
    def from_options(**options: Any) -> None:
        made = {
            name: group(**{each.name: options.pop(each.name) for each in fields(group)})
            for name, group in groups.items()
        }
        with clear_errors(), notes(getattr(made.get("output"), "quiet", False)):
            function(**options, **made)

    options = []
    for p in parameters:
        p = p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        if p.name not in groups:
            options.append(p)
            continue
        types = get_type_hints(p.annotation)
        options += [
            p.replace(
                name=each.name,
                default=each.default,
                annotation=Annotated[types[each.name], each.metadata[OPTION]],
            )
            for each in _own_first(p.annotation)
        ]
    from_options.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    from_options.__annotations__ = {option.name: option.annotation for option in options}
    return from_options


def _own_first(group: Any) -> list[Field[Any]]:
    """The fields of a group; those that it adds come before those of its bases."""
    others = {each.name for base in group.__bases__ if is_dataclass(base) for each in fields(base)}
    return sorted(fields(group), key=lambda each: each.name in others)


# --- input --------------------------------------------------------------------------------------

STDIN = "-"
SEPARATOR_WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "none": ""}
# What the rows and columns of the data sets are, and the weighting that suits them.
DATA_SETS = {
    "southern-women": ("woman", "event", None),
    "movielens": ("user", "movie", None),
    "newsgroups": ("document", "word", "bm25"),
}
PANELS = ("Input: tables", "Input", "Input: texts")  # what newcomers need comes first
KEYWORDS = sorted(
    (name for name, option in READ_OPTIONS.items() if option.value is not None),
    key=lambda name: PANELS.index(READ_OPTIONS[name].panel),
)
SOURCE_HELP = "A file, a folder of texts, edges or results, a store, a database, a data set, or -"
SOURCES = completed(list(DATA_SETS))  # and files, which the shell completes by itself
Source = Annotated[str, argument("INPUT", f"{SOURCE_HELP} for stdin.", **SOURCES)]


def _field(name: str) -> tuple[str, Any, Any]:
    """The field of a keyword of ``read`` in the group of options."""
    option = READ_OPTIONS[name]
    flag = f"--{name.replace('_', '-')}"
    more: dict[str, Any] = {"min": 1} if option.value == "N" else {}
    more |= {"shown": option.shown} if option.shown else {}
    more |= completed(CHOICES[name]) if name in CHOICES else {}
    if option.value == "" and option.default is None:  # it is detected unless it is set
        flag = f"{flag}/--no-{name}"
    help_text = as_options(option.help.split(". ")[0].rstrip(".") + ".", KEYWORDS)
    kind: Any = {"": bool, "N": int}.get(option.value or "", str)
    declared = Panel(option.panel).option(f"{flag} {option.value}", help_text, **more)
    return name, kind | None, declared


_Declared: Any = make_dataclass("_Declared", map(_field, KEYWORDS), frozen=True)


@dataclass(frozen=True)
class InputOptions(_Declared):
    """How to read INPUT: the keywords of ``comarkov.read`` as options."""

    def keywords(self) -> dict[str, Any]:
        """The options that are given, as keywords of ``comarkov.read``."""
        given: dict[str, Any] = {}
        for name in KEYWORDS:
            text, value = getattr(self, name), READ_OPTIONS[name].value
            if name == "separator":
                text = SEPARATOR_WORDS.get(text, text)
            elif value == "COLUMN" and text is not None and text.isdecimal():
                text = int(text)
            elif value == "SIZE" and text is not None:
                text = as_bytes(text, "--max-bytes")
            if text is not None:
                given[name] = text
        return given

    def read(self, source: str, like: Any = None, **changed: Any) -> Data:
        """INPUT as a matrix with names, read like the data of a fitted model if there is one."""
        refuse_missing(source)
        from ..io import read  # slow to import

        keywords = replace(self, **changed).keywords()
        data = read.read(source_of(source), like=like, **keywords)
        if like is None and data.shape == (1, 1):
            raise InputError(
                "it has only one row and one column, so there is nothing to cluster",
                file=source,
                advice="Choose the columns of a table with --rows and --columns. If the file holds "
                "texts, one in each line, use --kind texts; for one text per file, give a folder.",
            )
        return data


def as_bytes(text: str, option: str) -> int:
    """A size such as 500000, 300MB or 2GB."""
    size = bytes_of(text)
    if size is None:
        raise InputError(f"{option} {text} is not a size", advice=f"Use {option} 2GB.")
    return size


def refuse_missing(source: str) -> None:
    """An error if there is nothing at a path, and no data set of that name."""
    is_there = source and Path(source).exists()
    if source not in (STDIN, *DATA_SETS) and "://" not in source and not is_there:
        advice = similar_file(Path(source)) or did_you_mean(source, DATA_SETS)
        advice = advice or f" Check the path, or choose a data set: {', '.join(DATA_SETS)}."
        raise FileNotFoundError(
            f"There is no file {source!r}, and no data set of that name.{advice}"
        )


def source_of(source: str) -> Any:
    """What ``comarkov.read`` takes: the source itself, or a data set with its names."""
    if source not in DATA_SETS or Path(source).exists():
        return source
    import numpy as np

    from ..io import datasets
    from ..io.read import Data

    dataset = datasets.load(source)
    row_kind, column_kind, weighting = DATA_SETS[source]
    classes = None
    if dataset.row_classes is not None:
        classes = {"class": np.asarray(dataset.class_names)[dataset.row_classes]}
    return Data(
        *(dataset.matrix, dataset.row_names, dataset.column_names, row_kind, column_kind),
        source=source,
        weighting=weighting,
        row_classes=classes,
        reading={"kind": "document"} if row_kind == "document" else None,
    )


# --- output -------------------------------------------------------------------------------------

FOR_SPREADSHEETS = (
    "Write CSV files for spreadsheet programs: names that these would run as formulas, such as "
    "=1+1, get an apostrophe in front."
)


@dataclass(frozen=True)
class OutputOptions:
    """What to print."""

    json: bool = OUTPUT.option("--json", "Print only the result, as JSON.", False)
    quiet: bool = OUTPUT.option("--quiet -q", "Print only results and errors.", False)

    def show(self, value: Any, text: object) -> None:
        """Print a result: as JSON if that is wanted, else as text."""
        if self.json:
            print_json(value)
        else:
            echo(text)


@dataclass(frozen=True)
class FileOptions:
    """The CSV file for a result, and whether it may replace another."""

    out: Path | None = OUTPUT.option("--out -o FILE", "A CSV file for the result.", shown=False)
    force: bool = OUTPUT.option("--force -f", "Replace a file that exists.", False)

    def refuse_to_replace(self) -> None:
        """An error before the work begins if it cannot be written, or exists and is not empty."""
        out = self.out
        if out is not None and not out.exists() and not os.access(out.absolute().parent, os.W_OK):
            raise PermissionError(
                f"{out} cannot be written: {out.absolute().parent} is not a writable folder."
            )
        if out is not None and not self.force and out.is_file() and out.stat().st_size:
            advice = "Replace it with --force, or choose another with -o."
            raise FileExistsError(f"{out} exists already. {advice}")


@dataclass(frozen=True)
class ReportOptions:
    """How to write tables, and whether to open the report."""

    for_spreadsheets: bool = OUTPUT.option("--for-spreadsheets", FOR_SPREADSHEETS, False)
    opened: bool = OUTPUT.option("--open", "Open the report in the browser.", False)

    def open_report(self, out: Path) -> None:
        """Open the report in a folder of results in the browser, if that is wanted."""
        if self.opened:
            typer.launch(report_in(out).as_uri())


@dataclass(frozen=True)
class PlaceOptions:
    """The folder for results, and whether it may replace another."""

    out: Path | None = OUTPUT.option(
        "--out -o OUT", "The folder for all results.", shown="named after INPUT"
    )
    force: bool = OUTPUT.option("--force -f", "Replace a folder OUT that comarkov wrote.", False)
    verbose: bool = OUTPUT.option("--verbose -v", "Also print every cluster.", False)


@dataclass(frozen=True)
class FolderOptions(ReportOptions, PlaceOptions):
    """The folder that gets all results, with a report."""

    def place(self, source: str, ending: str = "clusters") -> Path:
        """The folder for results; an error before the work begins if it cannot be written."""
        out = self.out or Path(f"{stem_of(source)}-{ending}")
        free_place(out, self.force, is_results, "--force")
        return out

    def write(self, results: BaseResults, out: Path, more: Mapping[str, str] | None = None) -> None:
        """Write all results, and more files with their texts."""
        from ..search.progress import begin_stage

        begin_stage(WRITING)
        with whole_folder(out, self.force, is_results) as folder:
            replace(results, folder=str(out)).fill(folder, self.for_spreadsheets)
            for name, text in tables_for_spreadsheets(more or {}, self.for_spreadsheets).items():
                (folder / name).write_text(text, encoding="utf-8", newline="")
            source = Path(results.source)
            if getattr(self, "h5ad", False) and source.suffix == ".h5ad" and source.is_file():
                from ..io.read import write_h5ad

                write_h5ad(source, folder / source.name, results.fitted)

    def present(self, results: BaseResults, out: Path, output: OutputOptions) -> None:
        """Print the clusters and where the report is, and open it."""
        found = results.describe(4) if self.verbose else "\n".join(results.sentences)
        output.show(summary(out), found if output.quiet else f"{found}\n\n{report_line(out)}")
        self.open_report(out)

    def finish(self, results: BaseResults, out: Path, output: OutputOptions) -> None:
        """Write and present all results."""
        self.write(results, out)
        self.present(results, out, output)


@dataclass(frozen=True)
class CoClusteringFolderOptions(FolderOptions):
    """The folder for a co-clustering, which may come from an AnnData file."""

    h5ad: bool = OUTPUT.option(
        "--h5ad/--no-h5ad",
        "For an AnnData file, also write a copy into OUT with the clusters in .obs and .var.",
        True,
    )


def stem_of(source: str) -> str:
    """The beginning of the names of folders that are made from a source."""
    return "stdin" if source == STDIN else Path(source).name.split(".")[0] or "comarkov"


def summary(out: Path) -> dict[str, Any]:
    """The content of summary.json, and the folder it is in."""
    return {"out": str(out.absolute()), **read_json(out / SUMMARY)}


# --- clustering ---------------------------------------------------------------------------------

UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}  # of units of time
SCHEMES = ("counts", "presence", "log", "uniform", "tfidf", "bm25")  # importing them is slow


@dataclass(frozen=True)
class StartOptions:
    """How often to start, and from which seed."""

    seed: int = CLUSTERING.option("--seed N", "Random seed; results are reproducible.", 0, min=0)
    starts: int | None = CLUSTERING.option(
        "--starts N",
        "Number of starts; the best result is kept.",
        shown="by the size of the data",
        min=1,
    )


@dataclass(frozen=True)
class SearchOptions(StartOptions):
    """How to search for clusters, and how long."""

    jobs: int = CLUSTERING.option(
        "--jobs -j N",
        "Number of threads. It does not change the clusters.",
        os.cpu_count() or 1,
        shown="one per core",
        min=1,
    )
    time_limit: str | None = CLUSTERING.option(
        "--time-limit TIME",
        "Stop after this time (90, 5m, 1h) and keep the best result, like Ctrl-C.",
        shown="none",
    )

    def search_parameters(self, output: OutputOptions) -> dict[str, Any]:
        """The parameters of an estimator."""
        seconds = None
        if (text := self.time_limit) is not None:
            parts = re.fullmatch(r"\s*(\d+|\d*\.\d+)\s*([a-z]*)\s*", text.lower())
            if not parts or parts[2] not in UNIT_SECONDS or float(parts[1]) == 0:
                raise ValueError(
                    f"--time-limit must be a time above 0, such as 90, 90s, 5m or 1h, not {text!r}."
                )
            seconds = float(parts[1]) * UNIT_SECONDS[parts[2]]
        return {
            "n_init": "auto" if self.starts is None else self.starts,
            "max_time": seconds,
            "random_state": self.seed,
            "n_jobs": self.jobs,
            "verbose": int(not output.quiet and sys.stderr.isatty()),
        }


@dataclass(frozen=True)
class WeightingOptions:
    """How entries are weighted."""

    weighting: str | None = CLUSTERING.option(
        "--weighting NAME",
        f"How entries are weighted: {', '.join(SCHEMES)}.",
        shown="bm25 for texts, else counts",
        **one_of(SCHEMES),
    )

    def weighting_for(self, data: Data) -> Any:
        """The weighting that was requested, or the one that suits the data."""
        if self.weighting is None:
            return data.weighting
        return None if self.weighting == "counts" else self.weighting


def beta_option(default: str) -> Any:
    """The option --beta of commands that can choose it, with different defaults."""
    about = "How strongly rows and columns are coupled, from 0 to 1, or auto."
    return CLUSTERING.option("--beta B", about, default)


@dataclass(frozen=True)
class NumberOptions:
    """How many clusters, and how strongly both sides are coupled."""

    row_clusters: str = CLUSTERING.option(
        "--row-clusters -k NUMBER",
        "Number of row clusters, auto, or none to leave rows unclustered.",
        "auto",
    )
    column_clusters: str = CLUSTERING.option(
        "--column-clusters -l NUMBER", "Number of column clusters, auto, or none.", "auto"
    )
    beta: str = beta_option("0.7")


@dataclass(frozen=True)
class ClusteringOptions(SearchOptions, WeightingOptions, NumberOptions):
    """How to co-cluster."""

    def parameters(self, output: OutputOptions) -> dict[str, Any]:
        """The parameters of CoClustering; an error if one of them is invalid."""
        counts = (
            parsed_number(self.row_clusters, "-k", ("auto", "none")),
            parsed_number(self.column_clusters, "-l", ("auto", "none")),
        )
        if counts == (None, None):
            raise ValueError("-k none and -l none leave nothing to cluster. Use -k auto.")
        search = self.search_parameters(output)
        return {"n_clusters": counts, "beta": parsed_beta(self.beta), **search}

    def estimator(self, data: Data, parameters: dict[str, Any]) -> CoClustering:
        """The model to fit."""
        from ..estimators.coclustering import CoClustering  # slow to import

        return CoClustering(weighting=self.weighting_for(data), **parameters)


def parsed_number(text: str, option: str, words: Sequence[str] = ("auto",)) -> Any:
    """A number of clusters as estimators take it; "none" is None."""
    word = text.strip().lower()
    if word in words:
        return None if word == "none" else word
    if not word.isdecimal() or int(word) < 1:
        allowed = " or ".join(["a whole number from 1", *words])
        raise ValueError(f"{option} must be {allowed}, not {text!r}. Try {option} 5.")
    return int(word)


def parsed_beta(text: str) -> float | str:
    """β as estimators take it."""
    if text.strip().lower() == "auto":
        return "auto"
    try:
        beta = float(text)
    except ValueError:
        beta = -1.0
    if not 0 <= beta <= 1:
        raise ValueError(f"--beta must be from 0 to 1, or auto, not {text!r}. Try --beta 0.7.")
    return beta
