"""The experiments of the paper by name."""

from __future__ import annotations

from ..experiment import Experiment
from .movielens import movielens
from .newsgroups import newsgroups
from .southern_women import southern_women
from .synthetic import circulant, noise
from .toys import stuck, trading, unequal

_IN_ORDER = [stuck, unequal, trading, noise, circulant, newsgroups, movielens, southern_women]

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _IN_ORDER}
