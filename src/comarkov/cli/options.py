"""Options that several commands share: cluster numbers, method, and what to print."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .option_groups import Panel, completion

if TYPE_CHECKING:
    from ..data.reading import Data
    from ..estimators.coclustering import CoClustering

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
