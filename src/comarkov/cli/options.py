"""Options that several commands share, and how groups of them become parameters of a command."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from ..estimators.coclustering import CoClustering
    from ..io.read import Data


KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
OPTION = "option"  # the key of the option in the metadata of a field
# The options of the commands that are imported, by the parameter of Python; some have other names.
OPTIONS_BY_PARAMETER = {
    "max_time": "--time-limit",
    "n_init": "--starts",
    "n_jobs": "--jobs",
    "n_clusters": "-k",
    "random_state": "--seed",
    "overwrite": "--force",
}
VALUE = r"'[^']*'|\"[^\"]*\"|True|False|-?\d+"


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
        if default in (False, True):
            more.setdefault("metavar", " ")  # a flag has no value
        flag = flags[0].partition("/")[0]
        OPTIONS_BY_PARAMETER.setdefault(flag[2:].replace("-", "_"), flag)
        declared = typer.Option(*flags, rich_help_panel=self.title, help=help, **more)
        return field(default=default, metadata={OPTION: declared})


def as_options(message: str, more: Iterable[str] = ()) -> str:
    """A message about parameters of Python, also ``more`` of them, as one about options.

    ``header=True`` becomes ``--header``, and ``rows='user', columns='item'`` options without
    commas. Names with an underscore need no value: ``held_out`` becomes ``--held-out``.
    """
    options = {name: f"--{name.replace('_', '-')}" for name in more} | OPTIONS_BY_PARAMETER
    names = "|".join(options)
    long = "|".join(name for name in options if "_" in name)
    pattern = rf"(?<!['\"\w.-])(?:({names})=({VALUE})?(, (?=(?:{names})=(?:{VALUE})))?|({long})\b)"

    def option(match: re.Match[str]) -> str:
        flag, value = options[match[1] or match[4]], match[2] or ""
        words = [flag.replace("--", "--no-") if value == "False" else flag]
        if value not in ("", "True", "False"):
            words.append(shlex.quote(value.strip("'\"")))
        return " ".join([*words, ""] if match[3] else words)

    return re.sub(pattern, option, message)


def argument(name: str, about: str, **more: Any) -> Any:
    """An argument of a command, for Annotated."""
    return typer.Argument(metavar=name, help=about, show_default=False, **more)


def completion(words: Sequence[str]) -> Callable[[str], list[str]]:
    """A completer that offers the words with the prefix typed so far."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def one_of(words: Sequence[str]) -> dict[str, Any]:
    """How to check and complete an option that takes one of these words."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in words:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(words)}.")
        return value

    return {"callback": check, "autocompletion": completion(words)}


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Expose the fields of a command's dataclass parameters to typer as separate options."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {
        p.name: p.annotation for p in parameters if is_dataclass(p.annotation)
    }

    @wraps(command)
    def from_options(**options: Any) -> None:
        made = {
            name: group(**{each.name: options.pop(each.name) for each in fields(group)})
            for name, group in groups.items()
        }
        command(**options, **made)

    options = [
        option
        for p in parameters
        for option in (_options(p.annotation) if p.name in groups else [p])
    ]
    from_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [option.replace(kind=KEYWORD_ONLY) for option in options]
    )
    from_options.__annotations__ = {option.name: option.annotation for option in options}
    return from_options


def _options(group: Any) -> list[inspect.Parameter]:
    types = get_type_hints(group)
    return [
        inspect.Parameter(
            each.name,
            KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=Annotated[types[each.name], each.metadata[OPTION]],
        )
        for each in fields(group)
    ]


INPUT, TABLES, TEXTS = Panel("Input"), Panel("Input: tables"), Panel("Input: texts")
CLUSTERING, OUTPUT = Panel("Clustering"), Panel("Output")
UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}  # of units of time
SCHEMES = ("counts", "presence", "log", "uniform", "tfidf", "bm25")  # importing them is slow

ModelFolder = Annotated[Path, argument("MODEL", "The output folder of fit.")]


@dataclass(frozen=True)
class OutputOptions:
    """What to print."""

    json: bool = OUTPUT.option("--json", "Print only the result, as JSON.", False)
    quiet: bool = OUTPUT.option("--quiet -q", "Print only results and errors.", False)
    verbose: bool = OUTPUT.option("--verbose -v", "Also print every cluster.", False)

    @property
    def shows_bars(self) -> bool:
        """True if progress bars would be seen."""
        return not self.quiet and sys.stderr.isatty()


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
        return {
            "n_init": "auto" if self.starts is None else self.starts,
            "max_time": _seconds(self.time_limit),
            "random_state": self.seed,
            "n_jobs": self.jobs,
            "verbose": int(output.shows_bars),
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
        counts = _count(self.row_clusters, "-k"), _count(self.column_clusters, "-l")
        if counts == (None, None):
            raise ValueError("-k none and -l none leave nothing to cluster. Use -k auto.")
        search = self.search_parameters(output)
        return {"n_clusters": counts, "beta": parsed_beta(self.beta), **search}

    def estimator(self, data: Data, parameters: dict[str, Any]) -> CoClustering:
        """The model to fit."""
        from ..estimators.coclustering import CoClustering  # slow to import

        return CoClustering(weighting=self.weighting_for(data), **parameters)


def _count(text: str, name: str) -> int | str | None:
    word = text.strip().lower()
    if word in ("auto", "none"):
        return "auto" if word == "auto" else None
    if not word.isdecimal() or int(word) < 1:
        raise ValueError(
            f"{name} must be a whole number from 1, auto or none, not {text!r}. Try {name} 5."
        )
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


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    parts = re.fullmatch(r"\s*(\d+|\d*\.\d+)\s*([a-z]*)\s*", text.lower())
    if not parts or parts[2] not in UNIT_SECONDS or float(parts[1]) == 0:
        raise ValueError(
            f"--time-limit must be a time above 0, such as 90, 90s, 5m or 1h, not {text!r}."
        )
    return float(parts[1]) * UNIT_SECONDS[parts[2]]
