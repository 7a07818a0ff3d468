"""The settings of the paper, and our best beside them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

#: Synthetic data: natural order of the sweeps, 20 of them, until none improves.
PAPER: dict[str, Any] = {"max_iter": 20, "tol": 0, "beta_step": 0.1}

#: What we would do instead.
BEST: dict[str, Any] = {"max_iter": 100, "tol": 0, "beta_step": 0.1, "n_init": 25}
BEST_SHARE = 25  # one run of it takes as long as this many

BETAS = np.round(1 - 0.1 * np.arange(11), 1)


def best_weights(counts: sp.csr_array) -> sp.csr_array:
    """Our weighting of counts of words: log(1 + n), so that long documents count for less."""
    return counts.astype(float).log1p()


@contextmanager
def as_published() -> Iterator[None]:
    """No warnings of what the paper does on purpose: it stops after 20 sweeps."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No convergence", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".*have no mass", UserWarning)
        yield
