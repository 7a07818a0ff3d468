"""Every example, figure and table of the paper, run again and set beside the published numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from ..data import datasets
from ..data.extras import need
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
    editions = _prepare(experiments, options)
    with open_store(out / "runs.sqlite") as store:
        for experiment in experiments:
            if fresh:
                store.forget(experiment.name)
            values = complete(
                experiment, options, editions[experiment.name], store, n_jobs,
                partial(advance, experiment.name),
            )  # fmt: skip
            result = experiment.conclude(values, options)
            page.write(out, experiment, result, {"runs": experiment.repetitions(options)})
            page.collect(out, list(EXPERIMENTS.values()), version("comarkov"))
            yield experiment, result


def _prepare(experiments: Sequence[Experiment], options: Options) -> dict[str, str]:
    """Find out before hours of work what could fail; the edition of each experiment.

    An edition is what decides the result of a run beside its key: the code, and the data.
    """
    need("Reproducing the paper", "jinja2", "matplotlib")
    names = [experiment.dataset for experiment in experiments if experiment.dataset is not None]
    for name in names:
        if datasets.find(name, options.data) is None:
            raise FileNotFoundError(datasets.missing(name, options.data))
    data = {name: _digest(datasets.load(name, options.data)) for name in names}
    code = f"{version('comarkov')} {_code()}"
    return {one.name: f"{code} {data.get(one.dataset or '', '')}" for one in experiments}


def _digest(data: datasets.Dataset) -> str:
    digest = hashlib.sha256()
    for array in (data.matrix.indptr, data.matrix.indices, data.matrix.data):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


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
