"""How long the parts of a search may take: budgets in seconds, and the rate that converts them.

Work is counted in terms of the cost: entries of the matrix times clusters. Decisions depend on
the work alone and never on a clock, so the same data and seed give the same answer on every
machine. ``make bench`` prints the rate that sweeps reach next to RATE.
"""

from __future__ import annotations

import numpy as np

RATE = 1_000_000_000  # terms of a sweep over counts in one second of one core
NETWORK_SLOWDOWN = 4  # a term in a network of relations takes as long as so many of them

# --- seconds ----------------------------------------------------------------------------------

CALL = 0.02  # of one call of a kernel, between two looks at the clock
SEEDINGS = 0.05  # of seeding one side several times ...
MANY_SEEDINGS = 0.004  # ... and as long as they stay below this, many times
RANDOM_STARTS = 0.05  # of the random starts of one member
SEVERAL_MEMBERS = 0.02  # of a sweep over fine clusters, up to which there are several members
OVER_SPLIT_FIRST = 0.02  # of as many sweeps as there are fine clusters: up to this, they come first
MERGING = 2.0  # of the sweeps between merges
POLISHING = 2.0  # of all rounds of polishing
EXACT = 1.0  # of looking at all partitions, up to which that is done
LEVELS = 2.0  # of the sweeps between levels when numbers of clusters are chosen
HALVES = 0.04  # of sweeps over many clusters, one for each halving whose numbers are compared
GAINS = 0.005  # of sweeps, one for each halving that is asked for structure
EVIDENCE = 0.03  # of shuffling entries, to measure what they are worth
THINNINGS = 0.0005  # of a sweep, up to which counts are thinned more often


def work(seconds: float) -> float:
    """The terms of the cost that a budget allows."""
    return seconds * RATE


def times(seconds: float, sweep: float, least: int, most: int) -> int:
    """How often work of this size fits into a budget, within limits."""
    return int(np.clip(work(seconds) // max(sweep, 1), least, most))


def every(seconds: float, count: int, sweep: float) -> int:
    """How many of so many steps to take between two sweeps, so that all stay in the budget."""
    return max(1, round(count * sweep / work(seconds)))
