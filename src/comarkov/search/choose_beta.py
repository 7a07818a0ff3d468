"""β: the co-clusterings at many of them in one annealed run, and which to take.

β is chosen by stability. The counts are thinned into two halves, as if the same had been observed
twice; each half gets a path of co-clusterings from β = 1 down to 1/2; how well the two agree at
each β, by the adjusted Rand index, is the evidence. What two looks at the same thing agree on is
in the thing. The cost itself, or information kept, cannot choose: both favour 1/2 by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..costs.evaluation import adjusted_rand_index
from ..costs.labels import matched
from ..data.joint import Joint
from ..data.thinning import halves
from . import budgets
from .coclusters import CoClusterProblem, CoClusters, Step
from .ensemble import search
from .problem import Solution
from .progress import BETA
from .progress import PATH as PATH_STAGE
from .refinement import refine
from .run import Run
from .starts import Start, starts_for
from .streams import Purpose

DEFAULT = 0.7
PATH = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
GRID = (1.0, 0.9, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5)
REPEATS = 4, 12  # thinnings, of large data and of small
SHARE = 0.5  # of the time that is allowed, after which no further thinning begins
EVIDENCE = np.dtype(
    [
        ("beta", float),
        ("rows", float),
        ("columns", float),
        ("agreement", float),
        ("behind", float),
        ("standard_error", float),
        ("chosen", bool),
    ]
)

Ask = tuple[Any, Any, Any]  # what ``starts_for`` takes beside the data


def beta_path(problem: CoClusterProblem, betas: Sequence[float], run: Run) -> Solution[CoClusters]:
    """The best at the largest β, then each of the others from the last: its ``path`` has all.

    At every β single elements move until none lowers the cost, so that clusters keep their numbers.
    """
    falling = sorted(set(betas), reverse=True)
    to_the_end = run.to_the_end().drawing(Purpose.PATH)
    with run.monitor.watch(run.n_init + len(falling), PATH_STAGE):
        solution = search(problem, run.at(falling[0]))
        for beta in falling:
            refine(solution.state, to_the_end.at(beta), "path")
            solution.path.append(solution.state.step(beta))
            run.monitor.advance()
    _number_alike(solution.path, problem.starts)
    return solution


def checked(betas: Sequence[float] | None) -> Sequence[float]:
    """The β of a path, or an error."""
    if betas is None:
        return PATH
    values = np.asarray(betas, dtype=float)
    if values.ndim != 1 or values.size == 0 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"betas must be some numbers in [0, 1], got {betas!r}.")
    return values.tolist()


def _number_alike(path: list[Step], starts: Sequence[Start]) -> None:
    """Give each step the numbers of the next, on sides where the user gave none."""
    free = [start.k is not None and not start.has_numbers for start in starts]
    for i in reversed(range(len(path) - 1)):
        rows, columns = (
            matched(labels, following) if is_free else labels
            for labels, following, is_free in zip(path[i][2:], path[i + 1][2:], free, strict=True)
        )
        path[i] = path[i]._replace(row_labels=rows, column_labels=columns)


# --- selection --------------------------------------------------------------------------------


def beta_evidence(
    counts: sp.csr_array, read: Callable[[sp.csr_array], Joint], ask: Ask, run: Run
) -> np.ndarray:
    """How well halves of the counts agree at each β of GRID, and which β that chooses.

    ``read`` weights a half.
    """

    def repeat(i: int) -> np.ndarray | None:
        if i > 0 and run.monitor.is_late(SHARE):
            return None
        with run.monitor.ending_all():
            own = run.drawing(Purpose.THINNING, i)
            first, second = (
                path(half, replace(run, seed=run.seed.child(Purpose.THINNING, i, which)))
                for which, half in enumerate(halves(counts, own.rng))
            )
        return None if run.stop() else _agreement(first, second)

    def path(half: sp.csr_array, own: Run) -> list[Step]:
        problem = _begun(half, read, ask)
        return beta_path(problem, GRID, replace(own, n_init=1, n_jobs=1)).path

    repeats = _repeats(counts, ask[0])
    with (
        run.monitor.watch(2 * repeats * (1 + len(GRID)), BETA),
        ThreadPoolExecutor(run.n_jobs) as pool,
    ):
        found = [result for result in pool.map(repeat, range(repeats)) if result is not None]
    return _conclusion(np.array(found).reshape(-1, len(GRID), 2))


def _repeats(counts: sp.csr_array, n_clusters: tuple[int | None, int | None]) -> int:
    """More for small data, where halves differ most and each takes least."""
    work = counts.data.size * sum(k or 0 for k in n_clusters)
    return budgets.times(budgets.THINNINGS, work, *REPEATS)


def _begun(half: sp.csr_array, read: Callable[[sp.csr_array], Joint], ask: Ask) -> CoClusterProblem:
    """A half and how it begins, or an error."""
    try:
        data = read(half)
        return CoClusterProblem(data, starts_for(data, *ask))
    except ValueError as error:
        raise ValueError(
            f'beta="auto" compares halves of the data, and a half is too small: {error} '
            "Or give beta as a number."
        ) from error


def _agreement(first: list[Step], second: list[Step]) -> np.ndarray:
    """ARI of the rows and of the columns at each β; of elements that have mass in both halves."""

    def of_side(one: np.ndarray, other: np.ndarray) -> float:
        both = (one >= 0) & (other >= 0)
        return adjusted_rand_index(one[both], other[both]) if both.any() else 0.0

    return np.array(
        [
            [of_side(*pair) for pair in zip(one[2:], other[2:], strict=True)]
            for one, other in zip(first, second, strict=True)
        ]
    )


def _conclusion(found: np.ndarray) -> np.ndarray:
    """The evidence from repeats x β x sides, with the β that is not clearly behind the best.

    Halves are the same for all β, so what counts is by how much each repeat falls behind the
    best β: less than one standard error is a tie, and of ties that nearest to DEFAULT is taken.
    A β that agrees less than DEFAULT never wins, however large its standard error is.
    """
    table = np.zeros(len(GRID), EVIDENCE)
    table["beta"] = GRID
    for field in ("rows", "columns", "agreement", "behind", "standard_error"):
        table[field] = np.nan
    tied = np.ones(len(GRID), bool)
    if found.size:
        agreement = found.mean(axis=2)
        behind = agreement[:, [agreement.mean(axis=0).argmax()]] - agreement
        table["rows"], table["columns"] = found.mean(axis=0).T
        table["agreement"], table["behind"] = agreement.mean(axis=0), behind.mean(axis=0)
        if len(found) > 1:
            table["standard_error"] = behind.std(axis=0, ddof=1) / np.sqrt(len(found))
        tied = table["behind"] <= np.nan_to_num(table["standard_error"])
        tied &= table["agreement"] >= table["agreement"][GRID.index(DEFAULT)]
    distance = np.where(tied, np.abs(table["beta"] - DEFAULT), np.inf)
    table["chosen"][distance.argmin()] = True
    return table
