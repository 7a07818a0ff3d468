"""The edition of an experiment: a digest of the code and data that its runs depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from ..data import datasets
from .experiment import Experiment, RunOptions

PACKAGE = Path(__file__).parent.parent

# The code that runs depend on. A run starts in the module of its experiment, loads a data set and
# fits an estimator; it neither reads files of users nor renders anything. So changes in results,
# cli, data/reading and the rest of reproduce do not change the edition.
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
    """Return the edition of each experiment by name; raise an error if its data are missing."""
    names = [experiment.dataset for experiment in experiments if experiment.dataset is not None]
    for name in names:
        if datasets.find(name, options.data) is None:
            raise FileNotFoundError(datasets.missing(name, options.data))
    data = {name: data_digest(datasets.load(name, options.data)) for name in names}
    code = f"{version('comarkov')} {code_digest(PACKAGE)}"
    return {one.name: f"{code} {data.get(one.dataset or '', '')}" for one in experiments}


def code_digest(package: Path) -> str:
    """Return a digest of the code that runs depend on, in the package at this path."""
    digest = hashlib.sha256()
    for room in ROOMS:
        for file in sorted((package / room).rglob("*.py")):
            name = file.relative_to(package).as_posix()
            if not name.startswith(f"{UNUSED}/"):
                digest.update(f"{name} {file.stat().st_size}\n".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def data_digest(data: datasets.Dataset) -> str:
    """Return a digest of the matrix of a data set."""
    digest = hashlib.sha256()
    for array in (data.matrix.indptr, data.matrix.indices, data.matrix.data):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]
