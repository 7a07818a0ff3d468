"""The options that commands share: how many clusters, how to cluster, what to say."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .waiting import explain_compiling

if TYPE_CHECKING:
    from ..data.reading import Data
    from ..estimators.coclustering import CoClustering

INPUT, TEXTS, CLUSTERING, OUTPUT = "Input", "Input: texts", "Clustering", "Output"  # panels
UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
SCHEMES = ("counts", "presence", "log", "uniform", "tfidf", "bm25")  # importing them is slow


def completion(words: Sequence[str]) -> Callable[[str], list[str]]:
    """What a shell offers for a word that has begun."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


ModelFolder = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="OUT of fit, or its folder model.", show_default=False),
]


def option(*names: str, panel: str, **more: Any) -> Any:
    """An option in a panel of the help."""
    return typer.Option(*names, rich_help_panel=panel, **more)


@dataclass(frozen=True)
class Numbers:
    """How many clusters."""

    k: Annotated[
        str,
        option(
            "--row-clusters", "-k", panel=CLUSTERING, metavar="NUMBER",
            help="Clusters of rows: a number, auto, or none to leave rows as they are.",
        ),
    ] = "auto"  # fmt: skip
    l: Annotated[  # noqa: E741, as in the paper
        str,
        option(
            "--column-clusters", "-l", panel=CLUSTERING, metavar="NUMBER",
            help="Clusters of columns: a number, auto, or none.",
        ),
    ] = "auto"  # fmt: skip

    def counts(self) -> tuple[int | str | None, int | str | None]:
        """The numbers as CoClustering takes them."""
        rows, columns = _count(self.k, "-k"), _count(self.l, "-l")
        if rows is None and columns is None:
            raise ValueError("-k none and -l none leave nothing to cluster.")
        return rows, columns


Beta = Annotated[
    str,
    option(
        "--beta", panel=CLUSTERING, metavar="B",
        help="How strongly rows and columns are coupled, from 0 to 1, or auto.",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class Method:
    """How to co-cluster, beside how many clusters."""

    beta: Beta = "0.7"
    weighting: Annotated[
        str | None,
        option(
            "--weighting", panel=CLUSTERING, metavar="NAME", autocompletion=completion(SCHEMES),
            show_default="bm25 for texts, else counts",
            help=f"How much entries count: {', '.join(SCHEMES)}.",
        ),
    ] = None  # fmt: skip
    n_init: Annotated[
        int | None,
        option(
            "--starts", panel=CLUSTERING, metavar="N", min=1,
            show_default="by the size of the data", help="How often to start; the best is kept.",
        ),
    ] = None  # fmt: skip
    seed: Annotated[
        int,
        option(
            "--seed", panel=CLUSTERING, metavar="N", min=0, max=2**32 - 1,
            help="The same seed gives the same clusters.",
        ),
    ] = 0  # fmt: skip

    def check_weighting(self) -> None:
        """An error if there is no such weighting."""
        if self.weighting is not None and self.weighting not in SCHEMES:
            raise ValueError(
                f"There is no weighting {self.weighting!r}: there are {', '.join(SCHEMES)}."
            )

    def weighting_for(self, data: Data) -> str | None:
        """What the user asked for, or what suits the data."""
        if self.weighting is None:
            return data.weighting
        return None if self.weighting == "counts" else self.weighting


@dataclass(frozen=True)
class Clustering(Method):
    """The same, and how long it may take."""

    jobs: Annotated[
        int,
        option(
            "--jobs", "-j", panel=CLUSTERING, metavar="N", min=1, show_default="one per core",
            help="Threads. The clusters do not depend on it.",
        ),
    ] = os.cpu_count() or 1  # fmt: skip
    time_limit: Annotated[
        str | None,
        option(
            "--time-limit", panel=CLUSTERING, metavar="TIME", show_default="none",
            help="Stop after 90 (seconds), 5m or 1h and keep the best so far; Ctrl-C does it too.",
        ),
    ] = None  # fmt: skip

    def checked(self, numbers: Numbers) -> tuple[Any, Any, Any]:
        """Numbers of clusters, β and the time limit, or an error about these or the weighting."""
        self.check_weighting()
        return numbers.counts(), as_beta(self.beta), _seconds(self.time_limit)

    def estimator(self, numbers: Numbers, telling: Telling) -> CoClustering:
        """A model to fit, but for the weighting."""
        counts, beta, limit = self.checked(numbers)
        from ..estimators.coclustering import CoClustering  # slow to import

        explain_compiling(telling.shows_bars)
        return CoClustering(
            counts, beta=beta, n_init="auto" if self.n_init is None else self.n_init,
            random_state=self.seed, n_jobs=self.jobs, max_time=limit,
            verbose=int(telling.shows_bars),
        )  # fmt: skip


@dataclass(frozen=True)
class Telling:
    """What is said on stdout and stderr."""

    json: Annotated[
        bool, option("--json", panel=OUTPUT, help="Say the result as JSON, and nothing else.")
    ] = False
    quiet: Annotated[
        bool, option("--quiet", "-q", panel=OUTPUT, help="Say nothing but results and errors.")
    ] = False

    @property
    def shows_bars(self) -> bool:
        """Is there somebody to look at bars?"""
        return not self.quiet and sys.stderr.isatty()


def _count(text: str, name: str) -> int | str | None:
    word = text.strip().lower()
    if word in ("auto", "none"):
        return "auto" if word == "auto" else None
    if not word.isdecimal() or int(word) < 1:
        raise ValueError(f"{name} must be a number of clusters, auto or none, not {text!r}.")
    return int(word)


def as_beta(text: str) -> float | str:
    """β as CoClustering takes it."""
    if text.strip().lower() == "auto":
        return "auto"
    try:
        beta = float(text)
    except ValueError:
        beta = -1.0
    if not 0 <= beta <= 1:
        raise ValueError(f"--beta must be a number from 0 to 1, or auto, not {text!r}.")
    return beta


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+|\d*\.\d+)\s*([a-z]*)\s*", text.lower())
    if not found or found[2] not in UNITS or float(found[1]) == 0:
        raise ValueError(f"--time-limit must be like 90, 90s, 5m or 1h, not {text!r}.")
    return float(found[1]) * UNITS[found[2]]
