"""The edition of an experiment: a digest of all that decides its runs beside their keys."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from ..data import datasets
from .experiment import Experiment, RunOptions

PACKAGE = Path(__file__).parent.parent

# The rooms whose code decides what a run returns. A run starts in the module of its experiment,
# loads a data set and fits an estimator; it reads no file of a user, and renders nothing. So
# results, cli, data/reading and the rest of reproduce may change without another edition.
ROOMS = (
    "kernels",
    "data",
    "costs",
    "search",
    "model",
    "estimators",
    "reproduce/experiments",
)
UNUSED = "data/reading"


def editions(experiments: Sequence[Experiment], options: RunOptions) -> dict[str, str]:
    """The edition of each experiment by name, or an error if the data of one are missing."""
    names = [experiment.dataset for experiment in experiments if experiment.dataset is not None]
    for name in names:
        if datasets.find(name, options.data) is None:
            raise FileNotFoundError(datasets.missing(name, options.data))
    data = {name: data_digest(datasets.load(name, options.data)) for name in names}
    code = f"{version('comarkov')} {code_digest(PACKAGE)}"
    return {one.name: f"{code} {data.get(one.dataset or '', '')}" for one in experiments}


def code_digest(package: Path) -> str:
    """A digest of the code that makes runs, in a package at this place."""
    digest = hashlib.sha256()
    for room in ROOMS:
        for file in sorted((package / room).rglob("*.py")):
            name = file.relative_to(package).as_posix()
            if not name.startswith(f"{UNUSED}/"):
                digest.update(f"{name} {file.stat().st_size}\n".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def data_digest(data: datasets.Dataset) -> str:
    """A digest of the matrix of a data set."""
    digest = hashlib.sha256()
    for array in (data.matrix.indptr, data.matrix.indices, data.matrix.data):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]
