"""How many clusters: a walk from many to one, and two rules that judge the levels on the way.

The first rule is the description length. Where it saves little, because the data are too few or
vary too much, the second rule asks on which number of clusters two halves of the data agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from ..costs.description import Evidence
from ..data.joint import Joint
from .coclusters import CoClusterProblem, CoClusters
from .number_walk import evidence_of, settle, walk
from .run import Run
from .starts import Start, free_start
from .streams import Purpose

TRUSTED = np.log(2) / 2  # nats an element that a description must save
HALVINGS = 4
MANY_OF_HALVES = 32  # clusters: more find less that is common to both
NEAR = 0.9  # of the best agreement, which is as good
AGREED = 0.2  # agreement from which a side has clusters of its own

Numbers = tuple[int, int]
TABLE = np.dtype(
    [
        ("row_clusters", int),
        ("column_clusters", int),
        ("cost", float),
        ("kept", float),
        ("description_length", float),
        ("row_agreement", float),
        ("column_agreement", float),
        ("suggested", bool),
        ("rule", "U40"),
    ]
)


@dataclass(frozen=True)
class Selection:
    """The numbers of clusters that are suggested, and the evidence."""

    numbers: Numbers
    table: np.ndarray


class Candidate(NamedTuple):
    """Numbers of clusters on the walk, and what speaks for them."""

    numbers: Numbers
    cost: float
    kept: float
    description: float  # nats


def select(data: Joint, wanted: tuple[Any, Any], run: Run) -> Selection:
    """Choose those of the two numbers that are "auto"; others are as they are wanted.

    A side that is not to be clustered (None) is clustered here to help with the other.
    """
    goal = _goal(data.row_mass, wanted[0]), _goal(data.column_mass, wanted[1])
    fixed = [number not in ("auto", None) for number in wanted]
    CoClusterProblem(data, goal).prepare()
    with run.monitor.watch(1):
        levels = _describe(data, goal, fixed, run.drawing(Purpose.LADDER))
        numbers, rule = _numbers(levels[-1].numbers, goal, fixed), "description length"
        agreements: list[dict[int, float]] = [{}, {}]
        if not run.stop() and not _is_trusted(levels, goal, fixed):
            for side in (0, 1):
                if wanted[side] == "auto":
                    halvings = [run.drawing(Purpose.HALVES, side, i) for i in range(HALVINGS)]
                    agreements[side] = agreement((data, data.T)[side], halvings)
            numbers = _numbers(_agreed(numbers, agreements, wanted), goal, fixed)
            rule = "agreement of halves"
        run.monitor.advance()
    return Selection(numbers, _table(levels, agreements, numbers, rule))


def _numbers(found: Numbers, goal: tuple[Start, Start], fixed: Sequence[bool]) -> Numbers:
    """Those that are found, but where numbers are fixed; not more than there are elements."""
    rows, columns = (
        start.k if held and start.k else min(number, int(start.has_mass.sum()))
        for number, start, held in zip(found, goal, fixed, strict=True)
    )
    return rows, columns


def _is_trusted(
    levels: Sequence[Candidate], goal: tuple[Start, Start], fixed: Sequence[bool]
) -> bool:
    """Is the last level told by so much less than the one before it, the end of the walk?"""
    free = [start for start, held in zip(goal, fixed, strict=True) if not held]
    elements = sum(int(start.has_mass.sum()) for start in free)
    return levels[-2].description - levels[-1].description >= TRUSTED * elements


def _describe(
    data: Joint, goal: tuple[Start, Start], fixed: Sequence[bool], run: Run
) -> list[Candidate]:
    """The levels of a walk, and at the end where the shortest description settles."""
    levels: list[Candidate] = []
    best: tuple[float, CoClusters] | None = None
    evidence: Evidence | None = None
    for state in walk(data, goal, run):
        evidence = evidence or evidence_of(state)
        level = _candidate(state, run.beta, evidence)
        levels.append(level)
        arrived = all(
            not held or k == start.k
            for held, k, start in zip(fixed, level.numbers, goal, strict=True)
        )
        if arrived and (best is None or level.description < best[0]):
            best = level.description, state.copy()
    if best is None:  # the time was over before
        return levels
    assert evidence is not None
    settled = settle(best[1], fixed, evidence, run)
    return [*levels, _candidate(settled, run.beta, evidence)]


def _candidate(state: CoClusters, beta: float, evidence: Evidence) -> Candidate:
    information = state.information()
    rows, columns = (side.k for side in state.sides())
    nats = evidence.description_length(*state.all_labels())
    return Candidate((rows, columns), information.cost(beta), information.kept, nats)


def _goal(mass: np.ndarray, wanted: Any) -> Start:
    return free_start(1 if wanted in ("auto", None) else int(wanted), mass)


def _table(
    levels: Sequence[Candidate], agreements: Sequence[dict[int, float]], numbers: Numbers, rule: str
) -> np.ndarray:
    off = [np.abs(np.log(np.divide(level.numbers, numbers))).sum() for level in levels]
    nearest = len(off) - 1 - int(np.argmin(off[::-1]))
    entries = []
    for i, level in enumerate(levels):
        agreed = [agreements[side].get(level.numbers[side], np.nan) for side in (0, 1)]
        scores = level.cost, level.kept, level.description, *agreed
        entries.append((*level.numbers, *scores, i == nearest, rule if i == nearest else ""))
    return np.array(entries, TABLE)


# --- two rules ----------------------------------------------------------------------------------


def agreement(data: Joint, halvings: Sequence[Run]) -> dict[int, float]:
    """For each number of row clusters, how well two halves of the columns agree on the rows.

    Each half makes clusters of its own, so what chance or a few columns make is not found twice.
    The mean of the adjusted Rand index and the adjusted mutual information, over several halvings.
    """

    def labels(half: np.ndarray, run: Run) -> dict[int, np.ndarray]:
        part = data.T.subset(half, squeeze=False).T
        if part.total == 0:
            return {}
        goal = _goal(part.row_mass, "auto"), _goal(part.column_mass, "auto")
        found: dict[int, np.ndarray] = {}
        for state in walk(part, goal, run, MANY_OF_HALVES):
            assert state.rows is not None
            found.setdefault(state.rows.k, state.rows.labels.copy())
        return found

    halves, runs = [], []
    for run in halvings:
        halves += np.array_split(run.rng.permutation(data.shape[1]), 2)
        runs += [replace(run, rng=rng) for rng in run.rng.spawn(2)]
    with ThreadPoolExecutor(halvings[0].n_jobs) as pool:
        found = list(pool.map(labels, map(np.sort, halves), runs))
    pairs = list(zip(found[::2], found[1::2], strict=True))
    common = set.intersection(*(a.keys() & b.keys() for a, b in pairs))
    return {k: float(np.mean([_similarity(a[k], b[k]) for a, b in pairs])) for k in sorted(common)}


def _similarity(a: np.ndarray, b: np.ndarray) -> float:
    both = (a >= 0) & (b >= 0)
    pair = a[both], b[both]
    return float((adjusted_rand_score(*pair) + adjusted_mutual_info_score(*pair)) / 2)


def _agreed(
    numbers: Numbers, agreements: Sequence[dict[int, float]], wanted: tuple[Any, Any]
) -> Numbers:
    """On each side the most clusters on which halves agree nearly as well as on any number.

    A side on which they hardly agree takes the number of the other side.
    """
    chosen = [number if want != "auto" else 1 for number, want in zip(numbers, wanted, strict=True)]
    for side, found in enumerate(agreements):
        several = {k: value for k, value in found.items() if k > 1}
        best = max(several.values(), default=0.0)
        if best >= AGREED:
            chosen[side] = max(k for k, value in several.items() if value >= NEAR * best)
    for side in (0, 1):
        if chosen[side] == 1 and wanted[1 - side] is not None:
            chosen[side] = chosen[1 - side]
    return chosen[0], chosen[1]
