"""The experiments of the paper by name, in its order."""

from __future__ import annotations

from ..experiment import Experiment
from .newsgroups import newsgroups, preparations
from .real_tables import movielens, southern_women
from .synthetic import circulant, noise, stuck, trading, unequal
from .thesis import thesis

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        *(stuck, unequal, trading, noise, circulant),
        *(newsgroups, preparations, thesis, movielens, southern_women),
    )
}
