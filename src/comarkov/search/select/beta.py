"""Co-clusterings at many β in one annealed run, and the choice of β.

β is chosen by stability. The counts are thinned into two halves, as if the same data had been
observed twice. Each half gets a path of co-clusterings from β = 1 down to 1/2. The evidence is how
well the two agree at each β, by the adjusted Rand index: two observations can only agree on real
structure. Neither the cost nor the information kept can choose β: the least cost never decreases in
β, so it favours 0, and the information kept is what 1/2 maximises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...costs.agreement import adjusted_rand_index
from ...costs.labels import matched
from ...joint import joint as samples
from ...joint.joint import Joint
from ...joint.scale import halves
from ..optimise.methods import parts_of, search
from ..optimise.refine import refine
from ..progress import BETA
from ..progress import PATH as PATH_STAGE
from ..run import Budget, Purpose, Run
from ..state.coclusters import CoClusterProblem, CoClusters, Solution, Step
from ..state.starts import Start, starts_for

DEFAULT_BETA = 0.7
PATH_BETAS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
GRID = (1.0, 0.9, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5)
MIN_MAX_THINNINGS = 4, 12  # thinnings, for large data and for small
THINNING_SHARE = 0.5  # of the time limit, after which no further thinning begins
MEASURED = ("rows", "columns", "agreement", "behind", "standard_error")
EVIDENCE_DTYPE = np.dtype([(name, float) for name in ("beta", *MEASURED)] + [("chosen", bool)])

StartParameters = tuple[Any, Any, Any]  # n_clusters, init and fixed


def beta_path(problem: CoClusterProblem, betas: Sequence[float], run: Run) -> Solution[CoClusters]:
    """Find the best clusters at the largest β, then follow them down; all are in ``path``.

    At every β single elements move until no move lowers the cost, so clusters keep their numbers.
    """
    falling = sorted(set(betas), reverse=True)
    to_the_end = run.to_the_end().drawing(Purpose.PATH)
    with run.monitor.watch(parts_of(run.n_init) + len(falling), PATH_STAGE):
        solution = search(problem, run.at(falling[0]))
        for beta in falling:
            refine(solution.state, to_the_end.at(beta), "path")
            solution.path.append(solution.state.step(beta))
            run.monitor.advance()
    _number_alike(solution.path, problem.starts)
    return solution


def checked(betas: Sequence[float] | None) -> Sequence[float]:
    """Return the β of a path, or raise an error."""
    if betas is None:
        return PATH_BETAS
    values = np.asarray(betas, dtype=float)
    if values.ndim != 1 or values.size == 0 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"betas must be numbers in [0, 1], got {betas!r}.")
    return values.tolist()


def _number_alike(path: list[Step], starts: Sequence[Start]) -> None:
    """Renumber the clusters of each step like those of the next, unless the user numbered them."""
    free = [start.k is not None and not start.has_numbers for start in starts]
    for i in reversed(range(len(path) - 1)):
        rows, columns = (
            matched(labels, following) if is_free else labels
            for labels, following, is_free in zip(path[i][2:], path[i + 1][2:], free, strict=True)
        )
        path[i] = path[i]._replace(row_labels=rows, column_labels=columns)


# --- selection --------------------------------------------------------------------------------


def beta_evidence(
    counts: sp.csr_array,
    read: Callable[[sp.csr_array], Joint],
    parameters: StartParameters,
    run: Run,
) -> np.ndarray:
    """Measure how well halves of the counts agree at each β of GRID, and choose β.

    ``read`` weights a half. Large data are represented by a sample of their rows, unless these have
    given labels.
    """
    _, init, fixed = parameters
    if counts.nnz > samples.SAMPLE_ENTRIES and init is None and fixed is None:
        rng = run.drawing(Purpose.SAMPLE).rng
        counts = counts[samples.drawn(counts.shape[0], counts.nnz, rng)]

    def repeat(i: int) -> np.ndarray | None:
        if i > 0 and run.monitor.is_late(THINNING_SHARE):
            return None
        with run.monitor.ending_all():
            own = run.drawing(Purpose.THINNING, i)
            first, second = (
                path(half, replace(run, seed=run.seed.child(Purpose.THINNING, i, which)))
                for which, half in enumerate(halves(counts, own.rng))
            )
        return None if run.stop() else _agreement(first, second)

    def path(half: sp.csr_array, own: Run) -> list[Step]:
        problem = _half_problem(half, read, parameters)
        return beta_path(problem, GRID, replace(own, n_init=1, n_jobs=1)).path

    work = counts.data.size * sum(k or 0 for k in parameters[0])
    repeats = Budget.THINNINGS.times(work, *MIN_MAX_THINNINGS)  # more for small data
    with (
        run.monitor.watch(2 * repeats * (parts_of(1) + len(GRID)), BETA),
        ThreadPoolExecutor(run.n_jobs) as pool,
    ):
        values = [value for value in pool.map(repeat, range(repeats)) if value is not None]
    return _conclusion(np.array(values).reshape(-1, len(GRID), 2))


def _half_problem(
    half: sp.csr_array, read: Callable[[sp.csr_array], Joint], parameters: StartParameters
) -> CoClusterProblem:
    """Return the problem of a half, or raise an error."""
    try:
        data = read(half)
        return CoClusterProblem(data, starts_for(data, *parameters))
    except ValueError as error:
        raise ValueError(
            f'beta="auto" compares halves of the data, and a half is too small: {error} '
            "Or set beta to a number."
        ) from error


def _agreement(first: list[Step], second: list[Step]) -> np.ndarray:
    """Return the ARI of rows and of columns at each β, for elements with mass in both halves."""

    def of_side(one: np.ndarray, other: np.ndarray) -> float:
        both = (one >= 0) & (other >= 0)
        return adjusted_rand_index(one[both], other[both]) if both.any() else 0.0

    return np.array(
        [
            [of_side(*pair) for pair in zip(one[2:], other[2:], strict=True)]
            for one, other in zip(first, second, strict=True)
        ]
    )


def _conclusion(values: np.ndarray) -> np.ndarray:
    """Return the evidence from values by repeats x β x sides, and choose β.

    Halves are the same for all β, so each repeat gives a difference from the best β. A mean
    difference of less than one standard error is a tie; of ties, the β nearest to DEFAULT_BETA is
    chosen. A β that agrees less than DEFAULT_BETA never wins, whatever its standard error.
    """
    table = np.zeros(len(GRID), EVIDENCE_DTYPE)
    table["beta"] = GRID
    for field in MEASURED:
        table[field] = np.nan
    tied = np.ones(len(GRID), bool)
    if values.size:
        agreement = values.mean(axis=2)
        behind = agreement[:, [agreement.mean(axis=0).argmax()]] - agreement
        table["rows"], table["columns"] = values.mean(axis=0).T
        table["agreement"], table["behind"] = agreement.mean(axis=0), behind.mean(axis=0)
        if len(values) > 1:
            table["standard_error"] = behind.std(axis=0, ddof=1) / np.sqrt(len(values))
        tied = table["behind"] <= np.nan_to_num(table["standard_error"])
        tied &= table["agreement"] >= table["agreement"][GRID.index(DEFAULT_BETA)]
    distance = np.where(tied, np.abs(table["beta"] - DEFAULT_BETA), np.inf)
    table["chosen"][distance.argmin()] = True
    return table
