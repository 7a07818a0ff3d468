"""Options that several commands share: cluster numbers, method, and what to print."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from ..estimators.coclustering import CoClustering
    from ..io.read import Data


KEYWORD = inspect.Parameter.KEYWORD_ONLY
OPTION = "option"  # the key of the option in the metadata of a field
# Options whose parameters have other names in Python.
FROM_PYTHON = {
    "--max-time": "--time-limit",
    "--n-init": "--starts",
    "--n-jobs": "--jobs",
    "--random-state": "--seed",
    "--overwrite": "--force",
}


class Command(TyperCommand):
    """A command that suggests its option for a parameter of Python."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command line."""
        try:
            return super().parse_args(ctx, args)
        except Exception as raised:
            error: Any = raised  # typer does not export the type of errors about unknown options
            option = FROM_PYTHON.get(getattr(error, "option_name", None) or "")
            if option in [name for each in self.params for name in each.opts]:
                error.possibilities = [option]
            raise


@dataclass(frozen=True)
class Panel:
    """A panel of the help, and the options in it."""

    title: str

    def option(self, names: str, help: str, default: Any = None, **more: Any) -> Any:  # noqa: A002
        """A field of a group: an option with these flags and, if it has one, its value.

        ``shown`` replaces the default in the help text.
        """
        *flags, last = names.split()
        is_value = not last.startswith("-")
        more |= {"show_default": more.pop("shown")} if "shown" in more else {}
        more |= {"metavar": last} if is_value else {}
        flags += [] if is_value else [last]
        declared = typer.Option(*flags, rich_help_panel=self.title, help=help, **more)
        return field(default=default, metadata={OPTION: declared})


def completion(words: Sequence[str]) -> Callable[[str], list[str]]:
    """A completer that offers the words with the prefix typed so far."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


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
        for option in (_options(p.annotation) if p.name in groups else [p.replace(kind=KEYWORD)])
    ]
    from_options.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    from_options.__annotations__ = {option.name: option.annotation for option in options}
    return from_options


def _options(group: Any) -> list[inspect.Parameter]:
    types = get_type_hints(group)
    return [
        inspect.Parameter(
            each.name,
            KEYWORD,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=Annotated[types[each.name], each.metadata[OPTION]],
        )
        for each in fields(group)
    ]


INPUT, TABLES, TEXTS = Panel("Input"), Panel("Input: tables"), Panel("Input: texts")
CLUSTERING, OUTPUT = Panel("Clustering"), Panel("Output")
UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
SCHEMES = ("counts", "presence", "log", "uniform", "tfidf", "bm25")  # importing them is slow

ModelFolder = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="The output folder of fit.", show_default=False),
]


@dataclass(frozen=True)
class NumberOptions:
    """How many clusters, for a command that does not choose the numbers itself."""

    row_clusters: str = CLUSTERING.option(
        "--row-clusters -k NUMBER", "Number of row clusters.", "auto", shown=False
    )
    column_clusters: str = CLUSTERING.option(
        "--column-clusters -l NUMBER", "Number of column clusters.", "auto", shown=False
    )

    def counts(self) -> tuple[int | str | None, int | str | None]:
        """The numbers in the form that CoClustering accepts."""
        rows, columns = _count(self.row_clusters, "-k"), _count(self.column_clusters, "-l")
        if rows is None and columns is None:
            raise ValueError("-k none and -l none leave nothing to cluster. Use -k auto.")
        return rows, columns


@dataclass(frozen=True)
class ChosenNumberOptions(NumberOptions):
    """How many clusters, which the command chooses by default."""

    row_clusters: str = CLUSTERING.option(
        "--row-clusters -k NUMBER",
        "Number of row clusters, auto, or none to leave rows unclustered.",
        "auto",
    )
    column_clusters: str = CLUSTERING.option(
        "--column-clusters -l NUMBER", "Number of column clusters, auto, or none.", "auto"
    )


def beta_option(
    default: str, about: str = "How strongly rows and columns are coupled, from 0 to 1, or auto."
) -> Any:
    """The option --beta, which commands take with different defaults."""
    return CLUSTERING.option("--beta B", about, default)


@dataclass(frozen=True)
class _WeightOptions:
    beta: str = beta_option("0.7", "How strongly rows and columns are coupled, from 0 to 1.")
    weighting: str | None = CLUSTERING.option(
        "--weighting NAME",
        f"How much entries count: {', '.join(SCHEMES)}.",
        shown="bm25 for texts, else counts",
        autocompletion=completion(SCHEMES),
    )


@dataclass(frozen=True)
class StartOptions:
    """How often to start, and from which seed."""

    seed: int = CLUSTERING.option(
        "--seed N", "The same seed gives the same clusters.", 0, min=0, max=2**32 - 1
    )
    n_init: int | None = CLUSTERING.option(
        "--starts N",
        "Number of starts; the best result is kept.",
        shown="by the size of the data",
        min=1,
    )


@dataclass(frozen=True)
class LimitOptions:
    """How many threads to use, and how long they may take."""

    jobs: int = CLUSTERING.option(
        "--jobs -j N",
        "Number of threads. It does not change the clusters.",
        os.cpu_count() or 1,
        shown="one per core",
        min=1,
    )
    time_limit: str | None = CLUSTERING.option(
        "--time-limit TIME",
        "Stop after 90 (seconds), 5m or 1h and keep the best result so far, as Ctrl-C does.",
        shown="none",
    )

    @property
    def seconds(self) -> float | None:
        """The time limit in seconds."""
        return _seconds(self.time_limit)


@dataclass(frozen=True)
class MethodOptions(StartOptions, _WeightOptions):
    """How to co-cluster, beside how many clusters."""

    def check_weighting(self) -> None:
        """Raise an error for an unknown weighting."""
        if self.weighting is not None and self.weighting not in SCHEMES:
            raise ValueError(
                f"Unknown weighting {self.weighting!r}. Use --weighting with one of: "
                f"{', '.join(SCHEMES)}."
            )

    def weighting_for(self, data: Data) -> str | None:
        """The weighting that was requested, or the one that suits the data."""
        if self.weighting is None:
            return data.weighting
        return None if self.weighting == "counts" else self.weighting


@dataclass(frozen=True)
class ClusteringOptions(LimitOptions, MethodOptions):
    """The same, with a β that can be chosen, and how long it may take."""

    beta: str = beta_option("0.7")

    def checked(self, numbers: NumberOptions) -> tuple[Any, Any, Any]:
        """The numbers of clusters, β and the time limit; an error if one of them is invalid."""
        self.check_weighting()
        return numbers.counts(), as_beta(self.beta), self.seconds

    def estimator(self, numbers: NumberOptions, data: Data, output: OutputOptions) -> CoClustering:
        """The model to fit."""
        counts, beta, limit = self.checked(numbers)
        from ..estimators.coclustering import CoClustering  # slow to import

        return CoClustering(
            counts,
            beta=beta,
            weighting=self.weighting_for(data),
            n_init="auto" if self.n_init is None else self.n_init,
            max_time=limit,
            random_state=self.seed,
            n_jobs=self.jobs,
            verbose=int(output.shows_bars),
        )


@dataclass(frozen=True)
class OutputOptions:
    """What to print."""

    json: bool = OUTPUT.option("--json", "Print only the result, as JSON.", False)
    quiet: bool = OUTPUT.option("--quiet -q", "Print only results and errors.", False)

    @property
    def shows_bars(self) -> bool:
        """True if progress bars would be seen."""
        return not self.quiet and sys.stderr.isatty()


def _count(text: str, name: str) -> int | str | None:
    word = text.strip().lower()
    if word in ("auto", "none"):
        return "auto" if word == "auto" else None
    if not word.isdecimal() or int(word) < 1:
        raise ValueError(
            f"{name} must be a whole number from 1, auto or none, not {text!r}. Try {name} 5."
        )
    return int(word)


def as_beta(text: str) -> float | str:
    """β in the form that CoClustering accepts."""
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
    if not parts or parts[2] not in UNITS:
        raise ValueError(f"--time-limit must be a time such as 90, 90s, 5m or 1h, not {text!r}.")
    if float(parts[1]) == 0:
        raise ValueError(f"--time-limit must be above 0, not {text!r}. Try --time-limit 5m.")
    return float(parts[1]) * UNITS[parts[2]]


ENGINE = Panel("Engine")
ENGINES = ("local", "dask")


@dataclass(frozen=True)
class EngineOptions:
    """Where to compute, and what to keep in case that it is cut short."""

    engine: str = ENGINE.option(
        "--engine NAME",
        "local, or dask for a cluster. The clusters found are the same.",
        "local",
        autocompletion=completion(ENGINES),
    )
    scheduler: str | None = ENGINE.option(
        "--scheduler ADDRESS",
        "The Dask scheduler to connect to, such as tcp://10.0.0.1:8786.",
        shown="new workers, on this machine",
    )
    checkpoint: Path | None = ENGINE.option(
        "--checkpoint FILE",
        "Keep the best result so far in FILE; if the fit is interrupted, the next one continues.",
        shown="none",
    )

    def parameters(self) -> dict[str, str | Path | None]:
        """The parameters of a model."""
        return {"engine": self.engine, "checkpoint": self.checkpoint}

    @contextmanager
    def running(self, jobs: int) -> Iterator[None]:
        """Connect to the cluster, or start one of ``jobs`` workers, if it is to compute."""
        if self.engine not in ENGINES:
            raise ValueError(
                f"Unknown engine {self.engine!r}. Use --engine local or --engine dask."
            )
        if self.engine == "local":
            if self.scheduler is not None:
                raise ValueError("--scheduler only works with the Dask engine: add --engine dask.")
            yield
            return
        from ..search.parallel.dask_client import session  # slow to import

        with session(self.scheduler, jobs):
            yield
