"""Reproduce every example, figure and table of the paper, beside the published numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

from ..joint.messages import need
from . import page
from .experiment import Experiment, Reproduction, RunOptions
from .experiments.guidelines import guidelines
from .experiments.newsgroups import newsgroups
from .experiments.real_tables import movielens, southern_women
from .experiments.synthetic import circulant, noise, stuck, trading, unequal
from .experiments.thesis import thesis
from .runs import RunFile, complete, editions

__all__ = ["DEFAULT_EXPERIMENTS", "EXPERIMENTS", "reproduce"]

EXPERIMENTS = {  # in the order of the paper
    each.name: each
    for each in (
        *(stuck, unequal, trading, noise, circulant, guidelines),
        *(newsgroups, thesis, movielens, southern_women),
    )
}
DEFAULT_EXPERIMENTS = [name for name, each in EXPERIMENTS.items() if each.dataset is None]

Advance = Callable[[str, int, int], None]  # experiment, finished runs, all runs


def reproduce(
    names: Sequence[str], out: Path, options: RunOptions, n_jobs: int, advance: Advance
) -> Iterator[tuple[Experiment, Reproduction]]:
    """Run experiments and write figures, tables and a page into a folder; yield each outcome.

    Runs that the folder already holds, also from an interrupted call, are reused.
    """
    need("Reproducing the paper", "jinja2", "matplotlib")
    experiments = [EXPERIMENTS[name] for name in names]
    edition_of = editions(experiments, options)  # before hours of work: data may be missing
    file = RunFile(out / "runs.jsonl")
    for experiment in experiments:
        report = partial(advance, experiment.name)
        values = complete(experiment, options, edition_of[experiment.name], file, n_jobs, report)
        outcome = experiment.conclude(values, options)
        page.write(out, experiment, outcome, {"runs": experiment.repetitions(options)})
        page.collect(out, list(EXPERIMENTS.values()), version("comarkov"))
        yield experiment, outcome
