"""The settings of the paper, and our best settings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

#: Synthetic data: natural order of the sweeps, 20 of them, until none improves.
PAPER: dict[str, Any] = {"max_iter": 20, "tol": 0, "beta_step": 0.1}

BEST_SHARE = 25  # runs of the paper's methods that take as long as one with our best settings

BETAS = np.round(1 - 0.1 * np.arange(11), 1)


@contextmanager
def as_published() -> Iterator[None]:
    """Silence warnings about stopping after 20 sweeps, which the paper does on purpose."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No convergence", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".* (has|have) no mass", UserWarning)
        yield
