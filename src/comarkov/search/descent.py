"""No step of a search raises the cost; one that does is an internal error, with a report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from ..data.internal import InternalError
from .run import Run

if TYPE_CHECKING:
    from .refinement import Clustering

ROUNDING = 1e-8  # bits: far more than rounding adds to a cost
PACKAGES = ("comarkov", "numpy", "scipy", "scikit-learn", "numba")


def check_descent(before: float, after: float, state: Clustering, run: Run, step: str) -> None:
    """Raise an error if a step raised the cost beyond rounding, or if the cost is not a number."""
    rise = after - before
    if rise <= ROUNDING:
        return
    raise InternalError(
        f"comarkov made an error: the step {step!r} raised the cost by {rise:.3g} bits, so there "
        "is no result. Your input is not at fault. Please report this message to the comarkov "
        f"developers, with the data if you may share them. {_circumstances(state, run)}"
    )


def _circumstances(state: Clustering, run: Run) -> str:
    """Versions, shape, seed and settings: what a developer needs to repeat the error."""
    shape = ", ".join(f"{side.labels.size} in {side.k} clusters" for side in state.sides())
    versions = ", ".join(f"{package} {_version(package)}" for package in PACKAGES)
    return (
        f"[Versions: {versions}, "
        f"Python {platform.python_version()}, {platform.platform()}. Elements: {shape}. "
        f"beta={run.beta:g}, {run.seed}, {run.settings}, n_init={run.n_init}, n_jobs={run.n_jobs}.]"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a checkout that is not installed
        return "of unknown version"
