"""What the commands chain and multi share: options of the search, and how results are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..io.files import whole_folder
from ..io.spreadsheets import raw_names
from . import results_folder
from .options import LimitOptions, OutputOptions, StartOptions, as_beta
from .output import as_options

if TYPE_CHECKING:
    from ..results.base_results import BaseResults


CLUSTERS = 3  # unless -k sets another number


@dataclass(frozen=True)
class OpenedFolderOptions(results_folder.OutOptions):
    """The folder that gets all results, and whether to open the report in it."""

    opened: bool = results_folder.opened_option()

    def write(self, results: BaseResults, out: Path, output: OutputOptions) -> None:
        """Write all results, print what came out, and open the report."""
        from ..io.files import is_results

        with whole_folder(out, self.force, is_results) as folder, raw_names(self.raw_names):
            results.fill(folder)
        results_folder.print_results(results, out, output)
        if self.opened:
            typer.launch((out / "report.html").absolute().as_uri())


@dataclass(frozen=True)
class NetworkOptions(LimitOptions, StartOptions):
    """How to search for clusters of a chain or of several types."""

    def keywords(self, beta: str, output: OutputOptions) -> dict[str, Any]:
        """The parameters of an estimator; errors are reported before a large file is read."""
        value = as_beta(beta)
        if value == "auto":
            raise ValueError("--beta must be a number from 0 to 1: try --beta 0.5.")
        return {
            "beta": value,
            "n_init": "auto" if self.n_init is None else self.n_init,
            "max_time": self.seconds,
            "random_state": self.seed,
            "n_jobs": self.jobs,
            "verbose": int(output.shows_bars),
        }


def number(text: str, advice: str) -> int:
    """A number of clusters, or an error that ends with advice."""
    if not text.strip().isdecimal() or int(text) < 1:
        raise ValueError(f"-k must be a whole number from 1, not {text!r}: try {advice}.")
    return int(text)


@contextmanager
def parameters_as_options(*keywords: str) -> Iterator[None]:
    """Errors of an estimator name options instead of its parameters."""
    try:
        yield
    except ValueError as error:
        message = as_options(str(error), keywords).replace("n_clusters", "-k")
        for keyword in keywords:
            message = re.sub(rf"\b{keyword}(?= needs)", f"--{keyword.replace('_', '-')}", message)
        raise ValueError(message) from error
