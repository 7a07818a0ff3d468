"""``comarkov chain``: from transitions or sequences of states to an aggregated Markov chain."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from . import network_options, results_folder
from .input_options import KNOWN, InputOptions
from .options import CLUSTERING, OutputOptions, beta_option, takes_groups
from .output import clear_errors, notes

if TYPE_CHECKING:
    from ..estimators.markov import MarkovAggregation


ABOUT = "A table of transitions, an edge list, or sequences of states."
Transitions = Annotated[str, typer.Argument(metavar="INPUT", help=ABOUT, show_default=False)]


@dataclass(frozen=True)
class _ChainOptions:
    k: str | None = CLUSTERING.option(
        "--clusters -k NUMBER",
        "The number of clusters of states.",
        shown=str(network_options.CLUSTERS),
    )
    beta: str = beta_option(
        "0.5", "From 0 to 1: 1 favours predicting the next cluster, 0 a lumpable chain."
    )
    restrict: bool = CLUSTERING.option(
        "--restrict",
        "If some states cannot be reached from others: keep the largest set that can.",
        False,
    )
    held_out: float = CLUSTERING.option(
        "--held-out SHARE",
        "Keep this share of observed transitions out of the fit, and test lumpability on it.",
        0.0,
        min=0,
        max=0.99,
    )


@dataclass(frozen=True)
class ChainOptions(network_options.NetworkOptions, _ChainOptions):
    """How to aggregate a chain."""

    def estimator(self, output: OutputOptions) -> MarkovAggregation:
        """A model to fit."""
        if self.k is None:
            warnings.warn(
                f"The number of clusters is {network_options.CLUSTERS}, the default. "
                "Set it with -k.",
                stacklevel=2,
            )
        clusters = (
            network_options.CLUSTERS if self.k is None else network_options.number(self.k, "-k 3")
        )
        keywords = self.keywords(self.beta, output)
        from ..estimators.markov import MarkovAggregation  # slow to import

        return MarkovAggregation(
            clusters, restrict=self.restrict, held_out=self.held_out, **keywords
        )


@takes_groups
def chain(
    source: Transitions,
    clustering: ChainOptions,
    folder: network_options.OpenedFolderOptions,
    *,
    output: OutputOptions,
    reading: InputOptions,
) -> None:
    """Aggregate the states of a Markov chain, and write all results into a folder.

    INPUT is a square table or an edge list of probabilities or counts, from rows to columns. Or it
    is a text file with one sequence of states per line, or one state per line (discrete
    trajectories, also as .npy), or a folder of such files. A table with one visited state per
    line needs --kind sequences and --columns with the column of states. If there are several
    sequences, it also needs --rows with the column that tells them apart.

    OUT gets states.csv, clusters.csv, transitions.csv, clusters.md, summary.json, report.html, and
    model/ for predict and info.

    [bold]Examples[/bold]

    comarkov chain transitions.csv -k 4 -o aggregated

    comarkov chain trajectories/ -k 5 --held-out 0.3

    comarkov chain clicks.csv --kind sequences --rows visit --columns page --time clicked -k 6

    comarkov chain genes.txt --kind sequences --separator none -k 2
    """
    with clear_errors(), notes(output.quiet):
        out = folder.place(source)
        model = clustering.estimator(output)
        kind = None if source in KNOWN else reading.kind or "chain"
        with _advice_about_visits(reading):
            data = replace(reading, kind=kind).read(source)
            with network_options.parameters_as_options("restrict", "held_out", "kind"):
                model.fit(data)
        from ..results.chain_results import ChainResults

        folder.write(ChainResults(model, data, results_folder.command()), out, output)


@contextmanager
def _advice_about_visits(reading: InputOptions) -> Iterator[None]:
    """Errors about a table that is none of transitions show how to read one of visited states."""
    try:
        yield
    except ValueError as error:
        is_other_table = any(words in str(error) for words in ("not a number", "square matrix"))
        if reading.kind is not None or not is_other_table:
            raise
        raise ValueError(
            f"{error} If each line is one visited state, name the columns of the sequence, the "
            "state and the time, for example --kind sequences --rows visit --columns page --time "
            "clicked."
        ) from error
