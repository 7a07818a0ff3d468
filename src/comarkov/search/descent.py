"""Networks from different starts: over-split and merge, anneal, or sweep; the least cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..data.joint import Joint
from .coarsening import SHORT, coarsen, fine_count
from .ensemble import SMALL, TINY, WAVE
from .network import End, Graph, Network, network
from .optimise import Seed, Settings, Start, best_of, refine, schedule
from .polishing import polish
from .progress import Monitor
from .seeding import lumped, spectral

INFORMATIVE = 0.5  # the β at which only I(X̄;Ȳ) matters
BELOW = 0.1  # steps of β from there down
Begin = Callable[[Graph, Sequence[Start], float, np.random.Generator, Monitor], Network | None]


def descend(
    graph: Graph, starts: Sequence[Start], beta: float, settings: Settings, seed: Seed,
    n_init: int, monitor: Monitor, n_jobs: int = 1, method: str = "auto", beta_step: float = 0.1,
) -> Network:  # fmt: skip
    """The network of least cost over all starts; each has random numbers of its own."""

    def run(i: int) -> Network | None:
        rng, name = seed.stream(i), f"start {i + 1}"
        if method == "auto":
            found = kinds[i % len(kinds)](graph, starts, beta, rng, monitor)
            if found is not None:
                found.converged = True  # short refinements on the way do not count
                refine(found, beta, replace(settings, tol=0.0), rng, monitor, "end")
            return found
        state = begin(graph, starts, rng)
        for alpha in schedule(beta, beta_step) if method == "anneal" else [beta]:
            refine(state, alpha, settings, rng, monitor, name)
        return state

    kinds = _kinds(graph, starts)
    prepare(graph)
    with monitor.watch(n_init):
        return best_of([run], [n_init], beta, monitor, n_jobs, share=1.0)[0]


def _kinds(graph: Graph, starts: Sequence[Start]) -> list[Begin]:
    """How starts begin, in turn; the quickest that is good comes first.

    By eigenvectors only once, as these starts hardly differ.
    """
    kinds: list[Begin] = [seeded, over_split]
    if _is_tiny(graph, starts):
        kinds.reverse()
    return [*kinds, by_eigenvectors, *kinds, *kinds] if graph.has_loops else kinds


def _is_tiny(graph: Graph, starts: Sequence[Start]) -> bool:
    counts = _fine_counts(starts)
    return _work(graph, counts) * sum(counts) <= TINY


def over_split(
    graph: Graph, starts: Sequence[Start], beta: float, rng: np.random.Generator,
    monitor: Monitor,
) -> Network | None:  # fmt: skip
    """Many small clusters first, merged and polished; types with given numbers only move.

    Below β = 1/2 clusters that say nothing cost little, so it comes down from there. Out of time,
    it merges the rest without sweeps if the data are tiny; else there is no result.
    """
    if all(start.has_numbers for start in starts):
        return begin(graph, starts, rng)
    fine = [start if start.has_numbers else replace(start, k=fine_count(start)) for start in starts]
    wanted = [start for start in starts if _free(start).size]
    upper = max(beta, INFORMATIVE)
    must_end = _is_tiny(graph, starts)
    state = coarsen(begin(graph, fine, rng), wanted, upper, rng, monitor, must_end)
    if state is None:
        return None
    for alpha in [upper, *(step for step in schedule(beta, BELOW) if step < upper)]:
        refine(state, alpha, SHORT, rng, monitor, "anneal")
        state = polish(state, alpha, rng, monitor)
    return state


def seeded(
    graph: Graph, starts: Sequence[Start], beta: float, rng: np.random.Generator,
    monitor: Monitor,
) -> Network:  # fmt: skip
    """Each type by the leading singular vectors of its largest relation, then polished at β."""
    seeds = [_seeds(graph, t, start, rng, monitor) for t, start in enumerate(starts)]
    return _grown(graph, starts, seeds, beta, rng, monitor)


def by_eigenvectors(
    graph: Graph, starts: Sequence[Start], beta: float, rng: np.random.Generator,
    monitor: Monitor,
) -> Network:  # fmt: skip
    """The same, but types that have a relation to themselves by eigenvectors of it."""
    seeds = [
        _loop_seeds(graph, t, start, rng) or _seeds(graph, t, start, rng, monitor)
        for t, start in enumerate(starts)
    ]
    return _grown(graph, starts, seeds, beta, rng, monitor)


def _grown(
    graph: Graph, starts: Sequence[Start], seeds: Sequence[Start], beta: float,
    rng: np.random.Generator, monitor: Monitor,
) -> Network:  # fmt: skip
    state = begin(graph, starts, rng, seeds)
    refine(state, beta, SHORT, rng, monitor, "seeds")
    return polish(state, beta, rng, monitor)


def _seeds(graph: Graph, t: int, start: Start, rng: np.random.Generator, monitor: Monitor) -> Start:
    """A start with labels by singular vectors, unless it has some; out of time, without."""
    data = None if monitor.stop() else _largest(graph.ends[t], start)
    return start if data is None else replace(start, labels=spectral(data, start.k or 1, rng))


def _loop_seeds(graph: Graph, t: int, start: Start, rng: np.random.Generator) -> Start | None:
    """A start with labels by eigenvectors of a relation to itself; None if there are none."""
    loops = [end for end in graph.ends[t] if end.other == t and not end.is_target]
    data = _largest(loops, start)
    labels = None if data is None else lumped(data, start.k or 1, rng)
    return None if labels is None else replace(start, labels=labels)


def _largest(ends: Sequence[End], start: Start) -> Joint | None:
    """The largest relation that can tell clusters apart; none if the start has labels."""
    assert start.k is not None
    ends = [end for end in ends if np.count_nonzero(end.joint.row_mass) >= start.k]
    if start.has_numbers or not ends:
        return None
    return max(ends, key=lambda end: end.joint.matrix.indices.size).joint


def begin(
    graph: Graph, starts: Sequence[Start], rng: np.random.Generator,
    seeds: Sequence[Start] | None = None,
) -> Network:  # fmt: skip
    """The network that a run starts from; the labels of seeds are nobody's numbers."""
    return network(
        graph, [start.draw(rng) for start in seeds or starts], [start.k or 1 for start in starts],
        [_free(start) for start in starts], [start.has_numbers for start in starts],
    )  # fmt: skip


def prepare(graph: Graph) -> None:
    """Make now what all threads share, so that they do not each make it."""
    _ = graph.stars, graph.weights
    for relation in graph.relations:
        _ = relation.joint.information


def default_starts(graph: Graph, starts: Sequence[Start]) -> int:
    """Several if data are so small that they take seconds."""
    few = max(2 * WAVE, len(_kinds(graph, starts)))
    return few if _work(graph, _fine_counts(starts)) <= SMALL else 1


def _work(graph: Graph, counts: Sequence[int]) -> int:
    """Entries times clusters."""
    return sum(star.indices.size * k for star, k in zip(graph.stars, counts, strict=True))


def _fine_counts(starts: Sequence[Start]) -> list[int]:
    """How many clusters over-splitting begins with."""
    return [fine_count(start) or 0 for start in starts]


def _free(start: Start) -> np.ndarray:
    return np.flatnonzero(start.has_mass & ~start.fixed)
