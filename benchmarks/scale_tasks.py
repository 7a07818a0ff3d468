"""What benchmarks of scale measure, each in a process of its own; see ``measuring``."""

import hashlib
from typing import Any

from common import newsgroups
from measuring import Clock
from scale_data import CLUSTERS, planted_csr

from comarkov import CoClustering


def fit_planted(clock: Clock, entries: int, options: dict[str, Any]) -> str:
    """A default fit of planted data in memory; returns a digest of the labels."""
    X = planted_csr(entries)
    _compile()
    return _fit(clock, X, options)


def fit_newsgroups(clock: Clock, options: dict[str, Any]) -> str:
    """The same of 20 Newsgroups."""
    X = newsgroups()
    _compile()
    return _fit(clock, X, options)


def _compile() -> None:
    """Load the kernels, or compile them."""
    CoClustering(CLUSTERS, random_state=0).fit(planted_csr(10**6)[:2000])


def _fit(clock: Clock, X: Any, options: dict[str, Any]) -> str:
    model = CoClustering(CLUSTERS, random_state=0, **options)
    with clock:
        model.fit(X)
    labels = model.row_labels_.tobytes() + model.column_labels_.tobytes()
    return hashlib.md5(labels, usedforsecurity=False).hexdigest()
