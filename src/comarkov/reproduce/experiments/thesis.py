"""The paper's thesis: do results differ because of cost functions, or for other reasons?

The paper suggests that differences between published methods come from their heuristics and from
the preparation of the data, rather than from their cost functions. Here each of the three is varied
with the other two fixed, on the same samples of 20 Newsgroups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...costs.agreement import matching_accuracy
from ...costs.objective import information
from ...estimators.named import IDC, IBDouble
from ...io.datasets import Dataset
from ...io.datasets.collections import COLLECTIONS
from ...joint.weighting import Weighting
from ..experiment import (
    Claim,
    Curve,
    Experiment,
    Key,
    Reproduction,
    ResultTable,
    RunOptions,
    Runs,
    about,
    mean_and_error,
    solve,
    verdicts,
)
from .newsgroups import PREPARATIONS, VARIED, Preparation, classes_of, sample_of

BETAS = (1.0, 0.75, 0.5, 0.25)  # sIB, IBCC, ITCC and IB-double, and below
HALF = 0.5
SAME_STARTS = 5  # of every heuristic that starts at random
CHOSEN = Preparation("subject", stop_words=False)
#: Weights of the same counts.
WEIGHTS: tuple[Any, ...] = ("presence", "log", "uniform", "bm25")
#: The three that are varied, and what was varied of them.
COSTS, HEURISTICS, PREPARED = "cost function", "heuristic", "preparation"
SEPARATE = "cost function, each with its own search"


def _run(key: Key, options: RunOptions) -> Any:
    """Return [MAP, L at each β] by what is varied and its value."""
    collection, seed = str(key[0]), int(key[1])
    sample = sample_of(CHOSEN, collection, seed, options.data)
    counts = len(sample.class_names), VARIED
    path = {step.beta: step for step in _anneal(sample.matrix, counts, seed)}
    alone = {beta: _default(sample.matrix, counts, seed, beta) for beta in BETAS}
    heuristics = {"AnnITCC": path[HALF][2:]} | _heuristics(sample.matrix, counts, seed)
    prepared = {"counts": _measure(sample, path[HALF].row_labels)}
    for name in WEIGHTS:
        step = _anneal(Weighting(name).fit_transform(sample.matrix), counts, seed, HALF)[-1]
        prepared[name] = _measure(sample, step.row_labels)
    for other in PREPARATIONS:
        if other != CHOSEN:
            drawn = sample_of(other, collection, seed, options.data)
            step = _anneal(drawn.matrix, counts, seed, HALF)[-1]
            prepared[str(other)] = _measure(drawn, step.row_labels)
    return {
        COSTS: {f"AnnITCC, β = {beta:g}": _measure(sample, *path[beta][2:]) for beta in BETAS},
        SEPARATE: {f"default, β = {beta:g}": _measure(sample, *alone[beta]) for beta in BETAS},
        HEURISTICS: {name: _measure(sample, *labels) for name, labels in heuristics.items()},
        PREPARED: prepared,
    }


def _default(X: Any, counts: tuple[int, int], seed: int, beta: float) -> Any:
    """Return labels by the default search: no β starts from another's result."""
    return solve(X, counts, beta, "auto", n_init=1, random_state=seed)[0][2:]


def _anneal(X: Any, counts: tuple[int, int], seed: int, beta: float = 0.25) -> Any:
    more = {"n_init": SAME_STARTS, "tol": 1e-3, "random_state": seed, "beta_step": 0.05}
    return solve(X, counts, beta, "anneal", **more)


def _heuristics(X: Any, counts: tuple[int, int], seed: int) -> dict[str, Any]:
    """Return row and column labels by heuristics that minimise the cost at β = ½."""
    more = {"n_init": SAME_STARTS, "random_state": seed}
    found: dict[str, Any] = {
        "sGITCC": solve(X, counts, HALF, "sequential", tol=1e-3, **more)[0][2:],
        "ITCC (batch)": solve(X, counts, HALF, "batch", tol=1e-3, sweeps="due", **more)[0][2:],
        "comarkov's default": _default(X, counts, seed, HALF),
    }
    for name, model in {"IB-double": IBDouble(counts), "IDC": IDC(counts)}.items():
        model.fit(X)
        found[name] = model.row_labels_, model.column_labels_
    return found


def _measure(sample: Dataset, rows: np.ndarray, columns: np.ndarray | None = None) -> list[float]:
    """Return the MAP of documents, and L_½; nan if other data were clustered."""
    parts = None if columns is None else information(sample.matrix, rows, columns)
    cost = np.nan if parts is None else parts.cost(HALF)
    return [matching_accuracy(classes_of(sample), rows), cost]


def _every(runs: Runs, collection: str, varied: str, value: str) -> np.ndarray:
    """Return [MAP, cost] of each sample."""
    return np.array([run[varied][value] for key, run in runs.items() if key[0] == collection])


def _values(runs: Runs, varied: str) -> list[str]:
    return list(next(iter(runs.values()))[varied])


def _spread(runs: Runs, collection: str, varied: str) -> np.ndarray:
    """Return the standard deviation of MAP over the values of what is varied, for each sample."""
    maps = [_every(runs, collection, varied, value)[:, 0] for value in _values(runs, varied)]
    return np.std(maps, axis=0, ddof=1)


def _conclude(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    return Reproduction(
        **about("thesis", n=n, starts=SAME_STARTS),
        x_label="cost at β = ½ minus that of AnnITCC on the same sample, in bits",
        y_label="MAP of documents",
        curves=[curve for name in COLLECTIONS for curve in _scatter(runs, name)],
        claims=_claims(runs),
        tables=[_table(runs, varied) for varied in (COSTS, SEPARATE, HEURISTICS, PREPARED)],
    )


def _scatter(runs: Runs, collection: str) -> list[Curve]:
    """Return one curve for each heuristic: a dot for each sample."""
    curves = []
    least = _every(runs, collection, HEURISTICS, "AnnITCC")[:, 1]
    for name in _values(runs, HEURISTICS):
        maps, cost = _every(runs, collection, HEURISTICS, name).T
        no_line = np.full(cost.size, np.nan)
        curves.append(Curve(collection, name, cost - least, no_line, samples=maps[None]))
    return curves


def _claims(runs: Runs) -> list[Claim]:
    claims = []
    for name in COLLECTIONS:
        annealed, separate, heuristic, prepared = (
            _spread(runs, name, varied) for varied in (COSTS, SEPARATE, HEURISTICS, PREPARED)
        )
        cost = max(annealed, separate, key=np.mean)
        sizes = f"annealed {annealed.mean():.3f}, separate searches {separate.mean():.3f}"
        spreads = {"heuristics": heuristic, "preparation": prepared}
        shown = {key: f"{spread.mean():.3f}" for key, spread in spreads.items()}
        findings = {key: spread - cost for key, spread in spreads.items()}
        claims += verdicts("thesis", findings, name=name, costs=sizes, **shown)
    return claims


def _table(runs: Runs, varied: str) -> ResultTable:
    rows = []
    for value in _values(runs, varied):
        cells = []
        for name in COLLECTIONS:
            mean, error = mean_and_error(_every(runs, name, varied, value))
            cell = f"{mean[0]:.3f} ± {error[0]:.3f}; {mean[1]:.3f}"
            cells.append(cell.replace(" ± nan", "").removesuffix("; nan"))
        rows.append([value, *cells])
    costs = "" if varied == PREPARED else "; L_½ in bits"
    title = f"{varied.capitalize()}: MAP and its standard error{costs}"
    return ResultTable(title, [varied, *COLLECTIONS], rows)


thesis = Experiment(
    "thesis",
    "The thesis: cost functions, heuristics, preparation",
    _run,
    _conclude,
    lambda options, n: [(name, run) for name in COLLECTIONS for run in range(n)],
    runs=20,
    quick_runs=2,
    dataset="newsgroups",
)
