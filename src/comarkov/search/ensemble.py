"""Far better optima than one start gives: over-split and merge, polish, consensus of members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..data.joint import Joint, joint
from .coarsening import FINE_SWEEPS, coarsen, fine_count, lower
from .optimise import CoClusters, Seed, Settings, Start, begin, from_labels, prepare, refine
from .polishing import polish
from .progress import Monitor
from .seeding import hellinger, spectral
from .side import Side

SEEDINGS = 4  # starts of each side of a seeded member ...
SEED_BUDGET = 50_000_000  # ... fewer if entries times clusters times starts exceed this ...
MANY_SEEDINGS, SMALL_SEED_BUDGET = 25, 4_000_000  # ... and more as long as they stay below this
SMALL = 20_000_000  # entries times clusters that allow several members
TINY = 20_000_000  # entries times the square of clusters that over-splitting makes short work of
WAVE = 3  # members between one consensus and the next
RANDOM_STARTS = 30  # of a member below β = 1/2, within the same limit
SEEDED = Settings(max_iter=20, tol=1e-4, shuffle=False)


Begin = Callable[
    [Joint, tuple[Start, Start], float, np.random.Generator, Monitor], CoClusters | None
]


class Member(NamedTuple):
    """A co-clustering that was found; a side that is not clustered has no labels."""

    cost: float
    row_labels: np.ndarray | None
    column_labels: np.ndarray | None


def search(
    data: Joint, starts: tuple[Start, Start], beta: float, settings: Settings,
    seed: Seed, n_init: int, monitor: Monitor, n_jobs: int = 1,
) -> CoClusters:  # fmt: skip
    """Members from different starts, a consensus after every few of them; the least cost.

    Members and consensuses come in an order that does not depend on how many there are, so more
    never end at a higher cost. Nor does more time: the first member is quick, and of the others
    only those count that time was enough to begin; from there on a cost can only fall.
    """

    has_numbers = any(start.has_numbers for start in starts)
    until_it_stays = replace(settings, tol=0.0)
    kinds = _kinds(data, starts, beta)

    def member(i: int) -> Member | None:
        if i > 0 and monitor.stop():
            return None
        rng = seed.stream(i)
        with monitor.ending_all():
            if has_numbers:
                return end(warm_start(data, starts, beta, rng, monitor), rng)
            state = kinds[i % len(kinds)](data, starts, beta, rng, monitor)
            return None if i > 0 and monitor.stop() else polished(state, rng)

    def together(rng: np.random.Generator) -> Member | None:
        state = consensus(data, starts, found, beta, rng, monitor)
        return None if monitor.stop() else polished(state, rng)

    def polished(state: CoClusters | None, rng: np.random.Generator) -> Member | None:
        return None if state is None else end(polish(state, beta, rng, monitor), rng)

    def end(state: CoClusters, rng: np.random.Generator) -> Member:
        refine(state, beta, until_it_stays, rng, monitor, "end")
        monitor.advance()
        return _kept(state, beta)

    prepare(data, starts)
    found: list[Member] = []
    with monitor.watch(n_init + n_init // WAVE), ThreadPoolExecutor(n_jobs) as pool:
        for first in range(0, n_init, WAVE):
            wave = range(first, min(first + WAVE, n_init))
            found += filter(None, pool.map(member, wave))
            if len(wave) == WAVE and not has_numbers and not monitor.stop():
                found += filter(None, [together(seed.stream(first, 1))])
            if monitor.stop():
                break
        best = min(found, key=lambda member: member.cost)
        state = from_labels(data, starts, best.row_labels, best.column_labels)
        refine(state, beta, until_it_stays, seed.stream(), monitor, "end")
    state.others = [member[1:] for member in found if member is not best]
    return state


def _kinds(data: Joint, starts: tuple[Start, Start], beta: float) -> list[Begin]:
    """How members begin, in turn; the quickest that is good comes first."""
    kinds: list[Begin] = [seeded, over_split]
    if _is_tiny(data, starts):
        kinds.reverse()
    return kinds if beta >= 0.5 else [*kinds, lowered]


def _is_tiny(data: Joint, starts: tuple[Start, Start]) -> bool:
    clusters = sum(fine_count(start) or 0 for start in starts)
    return data.matrix.indices.size * clusters**2 <= TINY


def default_members(data: Joint, starts: tuple[Start, Start]) -> int:
    """So many that small data take seconds, and large data not much longer than one member."""
    clusters = sum(fine_count(start) or 0 for start in starts)
    return WAVE if data.matrix.indices.size * clusters <= SMALL else 1


def _kept(state: CoClusters, beta: float) -> Member:
    labels = [None if side is None else side.labels.copy() for side in (state.rows, state.columns)]
    return Member(state.cost(beta), labels[0], labels[1])


# --- starts -----------------------------------------------------------------------------------


def warm_start(
    data: Joint, starts: tuple[Start, Start], beta: float, rng: np.random.Generator,
    monitor: Monitor,
) -> CoClusters:  # fmt: skip
    """Labels that were given; a side without any first finds its place beside the other."""
    state = begin(data, starts, (True, True), rng)
    for start, (side, cross) in zip(starts, state.pairs(), strict=True):
        if side is not None and not start.has_numbers:
            for _ in range(FINE_SWEEPS):
                side.sweep(cross, max(beta, 0.5), None, True, monitor.stop)
    return state


def seeded(
    data: Joint, starts: tuple[Start, Start], beta: float, rng: np.random.Generator,
    monitor: Monitor,
) -> CoClusters:  # fmt: skip
    """Each side by itself from a few good seedings, the best of them joined."""
    sides = [
        None if start.k is None else _seeded_side(data if i == 0 else data.T, start, rng, monitor)
        for i, start in enumerate(starts)
    ]
    state = CoClusters(data, sides[0], sides[1])
    lower(state, 1.0, beta, rng, monitor)
    return state


def _seeded_side(data: Joint, start: Start, rng: np.random.Generator, monitor: Monitor) -> Side:
    """The rows in clusters that keep most of I(X;Y), from the best of a few seedings."""
    assert start.k is not None
    free = np.flatnonzero(start.has_mass)
    work = data.matrix.indices.size * start.k
    found = []
    few, many = min(SEED_BUDGET // work, SEEDINGS), min(SMALL_SEED_BUDGET // work, MANY_SEEDINGS)
    for i in range(max(few, many, 1)):
        if i > 0 and monitor.stop():
            break
        seeding = spectral if i == 1 else hellinger
        state = CoClusters(data, Side(data, seeding(data, start.k, rng), start.k, free), None)
        refine(state, 1.0, SEEDED, rng, monitor, "seeds")
        assert state.rows is not None
        found.append(state.rows)
    return max(found, key=Side.information)


def lowered(
    data: Joint, starts: tuple[Start, Start], beta: float, rng: np.random.Generator,
    monitor: Monitor,
) -> CoClusters:  # fmt: skip
    """The best of random starts at β = 1/2, annealed: below it, what is near at 1 may be far."""
    best: CoClusters | None = None
    work = data.matrix.indices.size * sum(start.k or 0 for start in starts)
    for _ in range(int(np.clip(SEED_BUDGET // work, 1, RANDOM_STARTS))):
        state = begin(data, starts, (True, True), rng)
        refine(state, 0.5, SEEDED, rng, monitor, "random start")
        lower(state, 0.5, beta, rng, monitor)
        if best is None or state.cost(beta) < best.cost(beta):
            best = state
        if monitor.stop():
            break
    assert best is not None
    return best


def over_split(
    data: Joint, starts: tuple[Start, Start], beta: float, rng: np.random.Generator,
    monitor: Monitor,
) -> CoClusters | None:  # fmt: skip
    """Start with many small clusters, merge the pair that costs least, sweep, and so on.

    Out of time, it merges the rest without sweeps if the data are tiny; else there is no result.
    """
    fine = replace(starts[0], k=fine_count(starts[0])), replace(starts[1], k=fine_count(starts[1]))
    state = begin(data, fine, (True, True), rng)
    return coarsen(state, starts, beta, rng, monitor, _is_tiny(data, starts))


# --- consensus --------------------------------------------------------------------------------


def consensus(
    data: Joint, starts: tuple[Start, Start], members: Sequence[Member], beta: float,
    rng: np.random.Generator, monitor: Monitor,
) -> CoClusters | None:  # fmt: skip
    """Cluster each side by which clusters its elements have in the members; None if out of time."""
    labels: list[np.ndarray | None] = []
    for start, every in zip(starts, zip(*(m[1:] for m in members), strict=True), strict=True):
        if start.k is None:
            labels.append(None)
            continue
        votes = joint(_one_hot(np.array(every)))
        ask = start, Start(None, np.ones(votes.shape[1], bool), np.empty(0), np.empty(0))
        state = over_split(votes, ask, 1.0, rng, monitor)
        if state is None:
            return None
        refine(state, 1.0, Settings(20, 0.0, False), rng, monitor, "consensus")
        labels.append(state.labels()[0])
    return from_labels(data, starts, labels[0], labels[1])


def _one_hot(labels: np.ndarray) -> sp.csr_array:
    """Elements by all clusters of all members: 1 where it was in. Labels are members x elements."""
    member, element = np.nonzero(labels >= 0)
    width = int(labels.max()) + 1
    column = member * width + labels[member, element]
    shape = (labels.shape[1], labels.shape[0] * width)
    matrix = sp.csr_array((np.ones(column.size, np.int32), (element, column)), shape)
    return matrix[:, np.flatnonzero(matrix.sum(axis=0))]
