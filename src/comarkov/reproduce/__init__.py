"""Every example, figure and table of the paper, run again and set beside the published numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

from .. import datasets, plot
from . import page
from .experiment import Experiment, Options, Result
from .movielens import movielens
from .newsgroups import newsgroups
from .runs import complete, open_store
from .southern_women import southern_women
from .synthetic import circulant, noise
from .toys import stuck, trading, unequal

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        stuck, unequal, trading, noise, circulant, newsgroups, movielens, southern_women,
    )
}  # fmt: skip
DEFAULT = [name for name, experiment in EXPERIMENTS.items() if experiment.dataset is None]

Advance = Callable[[str, int, int], None]  # experiment, runs that are there, runs in all


def reproduce(
    names: Sequence[str], out: Path, options: Options, n_jobs: int, advance: Advance,
    fresh: bool = False,
) -> Iterator[tuple[Experiment, Result]]:  # fmt: skip
    """Run experiments and write figures, tables and a page into a folder; results as they come.

    Runs that the folder holds from an earlier time, also from one that was interrupted, are not
    made again unless ``fresh``.
    """
    experiments = [EXPERIMENTS[name] for name in names]
    _check(experiments, options)
    with open_store(out / "runs.sqlite") as store:
        for experiment in experiments:
            if fresh:
                store.forget(experiment.name)
            values = complete(
                experiment, options, _edition(experiment, options), store, n_jobs,
                lambda done, total, name=experiment.name: advance(name, done, total),  # type: ignore[misc]
            )  # fmt: skip
            result = experiment.conclude(values, options)
            page.write(out, experiment, result, {"runs": experiment.repetitions(options)})
            page.collect(out, list(EXPERIMENTS.values()), version("comarkov"))
            yield experiment, result


def _check(experiments: Sequence[Experiment], options: Options) -> None:
    """Everything that could fail later, before hours of work."""
    if not plot.available():
        raise ModuleNotFoundError(plot.MISSING)
    for experiment in experiments:
        name = experiment.dataset
        if name is not None and datasets.find(name, options.data) is None:
            where = f"in {options.data}" if options.data else "on this machine"
            raise FileNotFoundError(
                f"{experiment.name} needs the data set {name}, which is not {where}. "
                f"Run: comarkov datasets fetch {name}"
            )


RENDERING = {"cli.py", "plot.py", "page.py"}  # has no part in what a run gives


@cache
def _code() -> str:
    """A digest of this package, so that other code does not take what this code has kept."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        if file.name not in RENDERING:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _edition(experiment: Experiment, options: Options) -> str:
    """What decides the result of a run beside its key: the code, and the data."""
    parts = [version("comarkov"), _code()]
    if experiment.dataset is not None:
        place = datasets.find(experiment.dataset, options.data)
        assert place is not None
        if place.is_file():
            with place.open("rb") as file:
                parts.append(hashlib.file_digest(file, "sha256").hexdigest()[:16])
    if experiment is southern_women:
        parts.append(str(experiment.repetitions(options)))
    return " ".join(parts)
