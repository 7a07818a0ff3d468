"""How long the parts of a search may take: budgets in seconds, and the rate that converts them.

Work is counted in terms of the cost: entries of the matrix times clusters. Decisions depend on
the work alone and never on a clock, so the same data and seed give the same answer on every
machine. ``make bench`` prints the rate that sweeps reach next to RATE.
"""

from __future__ import annotations

import numpy as np

RATE = 1_000_000_000  # terms of a sweep over counts in one second of one core
NETWORK_SLOWDOWN = 4  # a term in a network of relations takes as long as so many of them

# --- seconds: how long each may take ----------------------------------------------------------

CALL_SECONDS = 0.02  # one call of a kernel, between two looks at the clock
SEEDINGS_SECONDS = 0.05  # seeding one side several times ...
MANY_SEEDINGS_SECONDS = 0.004  # ... and as long as they stay below this, many times
RANDOM_STARTS_SECONDS = 0.05  # the random starts of one member
SEVERAL_MEMBERS_SECONDS = 0.02  # a sweep over fine clusters, for several members
OVER_SPLIT_FIRST_SECONDS = 0.02  # a sweep for each fine cluster, if over-splitting comes first
MERGING_SECONDS = 2.0  # the sweeps between merges
POLISHING_SECONDS = 2.0  # all rounds of polishing
EXACT_SECONDS = 1.0  # looking at all partitions
LEVELS_SECONDS = 2.0  # the sweeps between levels when numbers of clusters are chosen
HALVES_SECONDS = 0.04  # a sweep over many clusters for each halving whose numbers are compared
GAINS_SECONDS = 0.005  # a sweep for each halving in the test of structure
COMMUNITIES_SECONDS = 0.0002  # a look at every edge, for more starts of a search for groups
EVIDENCE_SECONDS = 0.03  # shuffling entries, to measure what they are worth
THINNINGS_SECONDS = 0.0005  # a sweep, for more thinnings of the counts


def work(seconds: float) -> float:
    """The terms of the cost that a budget allows."""
    return seconds * RATE


def times(seconds: float, sweep: float, least: int, most: int) -> int:
    """How often work of this size fits into a budget, within limits."""
    return int(np.clip(work(seconds) // max(sweep, 1), least, most))


def every(seconds: float, count: int, sweep: float) -> int:
    """How many of so many steps to take between two sweeps, so that all stay in the budget."""
    return max(1, round(count * sweep / work(seconds)))
