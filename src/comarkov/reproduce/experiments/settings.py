"""The settings of the paper, and our best beside them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

#: Synthetic data: natural order of the sweeps, 20 of them, until none improves.
PAPER: dict[str, Any] = {"max_iter": 20, "tol": 0, "beta_step": 0.1}

BEST_SHARE = 25  # our best takes as long as so many runs of the paper's methods

BETAS = np.round(1 - 0.1 * np.arange(11), 1)


@contextmanager
def as_published() -> Iterator[None]:
    """No warnings of what the paper does on purpose: it stops after 20 sweeps."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No convergence", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".*have no mass", UserWarning)
        yield
