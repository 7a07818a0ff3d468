"""The paper's algorithms: sGITCC (sequential moves) and AnnITCC (annealing in β)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from ..costs.relations import Information
from ..data.joint import Joint, bits
from .merging import Split, merge_costs, merged, split
from .progress import Monitor
from .side import Side

Labels = np.ndarray


class Step(NamedTuple):
    """A co-clustering on the way from β = 1 to the β asked for."""

    beta: float
    cost: float  #: L_β in bits
    row_labels: np.ndarray
    column_labels: np.ndarray


@dataclass(frozen=True)
class Seed:
    """Where all random numbers of a fit come from: a stream of its own for every purpose.

    Streams have numbers, so that what a start draws depends neither on the threads nor on how
    many starts there are.
    """

    entropy: tuple[int, ...]

    @classmethod
    def of(cls, random_state: Any) -> Seed:
        """The seed that scikit-learn's ``random_state`` stands for."""
        return cls(tuple(check_random_state(random_state).randint(2**31, size=4).tolist()))

    def stream(self, *numbers: int) -> np.random.Generator:
        """The random numbers for one purpose."""
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=numbers))

    def child(self, *numbers: int) -> Seed:
        """Streams for a fit within the fit; the numbers must begin with one of its own."""
        return Seed((*self.entropy, *numbers))


@dataclass(frozen=True)
class Start:
    """How the elements of one side begin.

    ``k`` is None if the side is not to be clustered. ``labels`` are those given by the user,
    -1 where there is none; ``fixed`` says which of them may not change. Elements without mass
    are not clustered.
    """

    k: int | None
    has_mass: np.ndarray
    labels: Labels
    fixed: np.ndarray

    @property
    def is_given(self) -> bool:
        """Is nothing left to chance?"""
        return self.k is None or bool((self.labels[self.has_mass] >= 0).all())

    @property
    def has_numbers(self) -> bool:
        """Do any clusters have numbers that the user gave them?"""
        return bool((self.labels[self.has_mass] >= 0).any())

    def draw(self, rng: np.random.Generator) -> Labels:
        """Complete the labels at random so that no cluster is empty."""
        assert self.k is not None
        labels = np.where(self.has_mass, self.labels, -1)
        missing = np.setdiff1d(np.arange(self.k), labels)
        left = np.flatnonzero(self.has_mass & (labels < 0))
        labels[left] = rng.integers(self.k, size=left.size)
        labels[rng.permutation(left)[: missing.size]] = missing
        return labels


@dataclass(frozen=True)
class Settings:
    """How long and in which order to sweep."""

    max_iter: int
    tol: float  # bits
    shuffle: bool


class Clustering(Protocol):
    """What all optimisers know of a clustering: they ask for changes and never see a formula.

    Its sides are the sets of elements that are clustered, each with what its sweeps ask for.
    """

    n_iter: int
    converged: bool

    def sides(self) -> Sequence[tuple[Any, Any]]:
        """The sides that are clustered, each with the first argument of its ``sweep``."""

    def cost(self, beta: float) -> float:
        """The cost in bits."""

    def merge_costs(self, side: Any, beta: float) -> np.ndarray:
        """What it costs in bits to merge clusters i < j of a side; infinite elsewhere."""

    def merged(self, side: Any, i: int, j: int) -> Any:
        """The same with clusters i and j of a side made one."""

    def split(self, side: Any, cluster: int, beta: float, rng: np.random.Generator) -> Split:
        """How a cluster of a side falls into two, and what that gains in bits."""

    def relabelled(self, side: Any, labels: np.ndarray) -> Any:
        """The same with other labels on a side; the others are shared."""

    def copy(self) -> Any:
        """The same, to change without changing this."""


State = TypeVar("State", bound=Clustering)


@dataclass
class CoClusters:
    """A co-clustering in the making; a side that is not clustered is None."""

    joint: Joint
    rows: Side | None
    columns: Side | None
    n_iter: int = 0
    converged: bool = True
    path: list[Step] = field(default_factory=list)
    others: list[tuple[Labels | None, Labels | None]] = field(default_factory=list)
    #: labels of rows and columns in the results that were not the best, if they are known
    fine: tuple[Labels | None, Labels | None] = (None, None)
    #: labels in finer clusters, each inside one of these, if they are known

    def pairs(self) -> list[tuple[Side | None, np.ndarray | None]]:
        """Rows and columns, each with its masses by the clusters of the other."""
        rows, columns = self.rows, self.columns
        return [
            (rows, None if columns is None else columns.cross),
            (columns, None if rows is None else rows.cross),
        ]

    def sides(self) -> list[tuple[Side, np.ndarray | None]]:
        """The same for the sides that are clustered."""
        return [(side, cross) for side, cross in self.pairs() if side is not None]

    def merge_costs(self, side: Side, beta: float) -> np.ndarray:
        """What it costs in bits to merge clusters i < j of a side; infinite elsewhere."""
        return merge_costs(side, self._cross(side), beta) * self._in_bits

    def merged(self, side: Side, i: int, j: int) -> CoClusters:
        """The same with clusters i and j of a side made one."""
        return self.with_side(side, merged(side, i, j))

    def split(self, side: Side, cluster: int, beta: float, rng: np.random.Generator) -> Split:
        """How a cluster of a side falls into two, and what that gains in bits."""
        gain, leavers = split(side, self._cross(side), beta, cluster, rng)
        return Split(gain * self._in_bits, leavers)

    def relabelled(self, side: Side, labels: np.ndarray) -> CoClusters:
        """The same with other labels on a side; the other is shared."""
        return self.with_side(side, Side(side.joint, labels, side.k, side.free))

    @property
    def _in_bits(self) -> float:
        """What one nat times mass is."""
        return 1.0 / (self.joint.total * float(np.log(2)))

    def _cross(self, side: Side) -> np.ndarray | None:
        return next(cross for own, cross in self.pairs() if own is side)

    def with_side(self, old: Side, new: Side) -> CoClusters:
        """The same with one side replaced; the other is shared."""
        if old is self.rows:
            return CoClusters(self.joint, new, self.columns, self.n_iter)
        return CoClusters(self.joint, self.rows, new, self.n_iter)

    def copy(self) -> CoClusters:
        """The same, to change without changing this."""
        rows, columns = (side and side.copy() for side in (self.rows, self.columns))
        return CoClusters(self.joint, rows, columns, self.n_iter)

    def information(self) -> Information:
        """The four informations, from the tables."""
        whole = self.joint.information
        if self.rows is None or self.columns is None:
            side = self.rows or self.columns
            assert side is not None
            part = side.information()
            first, second = (whole, part) if self.columns is None else (part, whole)
            return Information(whole, first, second, part)
        masses = self.rows.blocks(self.columns.table.mass).mass
        blocks = bits(masses[:-1], masses[-1], masses[:-1].sum(axis=1))
        return Information(whole, self.columns.information(), self.rows.information(), blocks)

    def cost(self, beta: float) -> float:
        """L_β in bits."""
        return self.information().cost(beta)

    def labels(self) -> tuple[Labels, Labels]:
        """Copies of the row and column labels; a side that is not clustered is its own."""
        return (
            _labels(self.rows, self.joint.row_mass),
            _labels(self.columns, self.joint.column_mass),
        )


def sequential(
    joint: Joint, starts: tuple[Start, Start], beta: float, settings: Settings,
    seed: Seed, n_init: int, monitor: Monitor, n_jobs: int = 1,
) -> CoClusters:  # fmt: skip
    """sGITCC: from each start, sweep rows and columns in turn; keep the lowest cost."""

    def run(i: int) -> CoClusters:
        rng = seed.stream(i)
        state = begin(joint, starts, (True, True), rng)
        refine(state, beta, settings, rng, monitor, f"start {i + 1}")
        return state

    prepare(joint, starts)
    with monitor.watch(n_init):
        return best_of([run], [n_init], beta, monitor, n_jobs, share=1.0)[0]


def anneal(
    joint: Joint, starts: tuple[Start, Start], beta: float, settings: Settings,
    seed: Seed, n_init: int, monitor: Monitor, n_jobs: int = 1,
    beta_step: float = 0.1, keep_path: bool = False,
) -> CoClusters:  # fmt: skip
    """AnnITCC: solve at α = 1, then lower α step by step to β, each time from the last result.

    At α = 1 the cost is one term for the rows plus one for the columns, so each side has its
    own starts and its own best.
    """

    def run_side(side: int, i: int) -> CoClusters:
        rng = seed.stream(i, side)
        state = begin(joint, starts, (side == 0, side == 1), rng)
        name = ("rows", "columns")[side]
        refine(state, 1.0, settings, rng, monitor, f"{name}, start {i + 1}")
        return state

    sides = [side for side in (0, 1) if starts[side].k is not None]
    runs = [partial(run_side, side) for side in sides]
    counts = [1 if starts[side].is_given else n_init for side in sides]
    alphas = schedule(beta, beta_step) if len(runs) == 2 else [beta]
    prepare(joint, starts)
    with monitor.watch(sum(counts) + len(alphas) - 1):
        share = 0.5 if len(alphas) > 1 else 1.0
        state = _joined(best_of(runs, counts, 1.0, monitor, n_jobs, share))
        rng = seed.stream()
        for step, alpha in enumerate(alphas):
            if step > 0:
                refine(state, alpha, settings, rng, monitor, "anneal")
                monitor.advance()
            if keep_path:
                state.path.append(Step(alpha, state.cost(alpha), *state.labels()))
    return state


def prepare(joint: Joint, starts: tuple[Start, Start]) -> None:
    """Make the transpose now if it is needed, so that threads do not each make it."""
    if starts[1].k is not None:
        _ = joint.T


def schedule(beta: float, step: float) -> list[float]:
    """1, 1 - step, ..., β."""
    count = max(int(np.ceil((1 - beta) / step - 1e-9)), int(beta < 1))
    return [round(1 - i * step, 12) for i in range(count)] + [beta]


def begin(
    joint: Joint, starts: tuple[Start, Start], wanted: tuple[bool, bool],
    rng: np.random.Generator,
) -> CoClusters:  # fmt: skip
    """The co-clustering that a run starts from, with tables for the sides that are wanted."""

    rows, columns = (
        start.draw(rng) if want and start.k is not None else None
        for start, want in zip(starts, wanted, strict=True)
    )
    return from_labels(joint, starts, rows, columns)


def from_labels(
    joint: Joint, starts: tuple[Start, Start], rows: Labels | None, columns: Labels | None
) -> CoClusters:
    """A co-clustering from its labels; starts tell how many clusters, and who may move."""

    def side(i: int, labels: Labels | None) -> Side | None:
        start = starts[i]
        if start.k is None or labels is None:
            return None
        free = np.flatnonzero(start.has_mass & ~start.fixed)
        return Side(joint if i == 0 else joint.T, labels, start.k, free)

    return CoClusters(joint, side(0, rows), side(1, columns))


def refine(
    state: Clustering, beta: float, settings: Settings, rng: np.random.Generator,
    monitor: Monitor, stage: str,
) -> None:  # fmt: skip
    """Sweep over each side in turn until a complete sweep of all saves no more than tol."""
    cost = state.cost(beta) if monitor.listens else 0.0
    complete = True
    for iteration in range(1, settings.max_iter + 1):
        shuffle = rng if settings.shuffle else None
        visits = [
            side.sweep(cross, beta, shuffle, complete, monitor.stop)
            for side, cross in state.sides()
        ]
        if monitor.stop():
            return
        saved = sum(visit.saved for visit in visits)
        cost -= saved
        state.n_iter += 1
        monitor.report(stage, beta, iteration, cost)
        settled = saved <= settings.tol
        if settled and all(visit.complete for visit in visits):
            return
        complete = settled
    state.converged = False


def best_of(
    runs: Sequence[Callable[[int], State | None]], counts: Sequence[int], beta: float,
    monitor: Monitor, n_jobs: int, share: float,
) -> list[State]:  # fmt: skip
    """For each of the runs, the result of least cost over run(0), ..., run(count - 1).

    No run but the first begins when ``share`` of the time is over, and any but the first may end
    without a result. Of equals the first counts, so the answer does not depend on the number of
    threads. No more results are held than there are threads and runs.
    """
    found: list[tuple[float, int, State] | None] = [None] * len(runs)
    lock = threading.Lock()

    def task(i: int, which: int) -> None:
        if i > 0 and monitor.is_late(share):
            return
        with monitor.ending_all():
            result = runs[which](i)
        if result is None:
            return  # out of time
        cost = result.cost(beta) if counts[which] > 1 else 0.0
        with lock:
            held = found[which]
            if held is None or (cost, i) < held[:2]:
                found[which] = (cost, i, result)
        monitor.advance()

    tasks = sorted((i, which) for which, count in enumerate(counts) for i in range(count))
    if n_jobs == 1 or len(tasks) == 1:
        for i, which in tasks:
            task(i, which)
    else:
        with ThreadPoolExecutor(n_jobs) as pool:
            list(pool.map(task, *zip(*tasks, strict=True)))
    return [held[2] for held in found if held is not None]


def _joined(sides: list[CoClusters]) -> CoClusters:
    """One co-clustering from those of its sides."""
    rows = next((side.rows for side in sides if side.rows is not None), None)
    columns = next((side.columns for side in sides if side.columns is not None), None)
    n_iter = max(side.n_iter for side in sides)
    return CoClusters(sides[0].joint, rows, columns, n_iter, all(side.converged for side in sides))


def _labels(side: Side | None, mass: np.ndarray) -> Labels:
    if side is None:
        return np.where(mass > 0, np.arange(mass.size), -1)
    return side.labels.astype(np.int64)
