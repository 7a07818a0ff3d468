"""The paper's thesis: do results differ because of cost functions, or for other reasons?

The paper suggests that differences between published methods come from their heuristics and from
the preparation of the data, rather than from their cost functions. Here each of the three is varied
with the other two fixed, on the same samples of 20 Newsgroups.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from ...costs.agreement import matching_accuracy
from ...costs.objective import information
from ...estimators.named import AIB, IBCC, IDC, IBDouble
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
    with_error,
)
from .newsgroups import CHOSEN, PREPARATIONS, VARIED, sample_of

BETAS = (1.0, 0.75, 0.5, 0.25, 0.0)
DEFAULT_BETAS = (1.0, 0.5, 0.0)
HALF = 0.5
LEAST = "least cost found by any method"
SAME_STARTS = 5  # of every heuristic that starts at random
#: Weights of the same counts.
WEIGHTS: tuple[Any, ...] = ("presence", "log", "uniform", "bm25")
#: Methods that start from single elements or from one side, and the β of their cost.
NAMED: dict[str, tuple[float, Callable[[tuple[int, int]], Any]]] = {
    "IB-double": (HALF, IBDouble),
    "IDC": (HALF, IDC),
    "IBCC": (0.75, IBCC),
}
Labels = tuple[np.ndarray, np.ndarray]


def _run(key: Key, options: RunOptions) -> Any:
    """Return [MAP, L_½, L_1] by method and β, and MAP by preparation."""
    collection, seed = str(key[0]), int(key[1])
    sample = sample_of(CHOSEN, collection, seed, options.data)
    counts = len(sample.class_names), VARIED
    methods = _methods(sample.matrix, counts, seed)
    prepared = {"counts": _accuracy(sample, methods["AnnITCC"][HALF][0])}
    for name in WEIGHTS:
        step = _anneal(Weighting(name).fit_transform(sample.matrix), counts, seed, HALF)[-1]
        prepared[name] = _accuracy(sample, step.row_labels)
    for other in PREPARATIONS:
        if other != CHOSEN:
            drawn = sample_of(other, collection, seed, options.data)
            step = _anneal(drawn.matrix, counts, seed, HALF)[-1]
            prepared[str(other)] = _accuracy(drawn, step.row_labels)

    def measure(rows: np.ndarray, columns: np.ndarray) -> list[float]:
        parts = information(sample.matrix, rows, columns)
        return [_accuracy(sample, rows), parts.cost(HALF), parts.cost(1.0)]

    measured = {
        name: {f"{beta:g}": measure(*labels) for beta, labels in each.items()}
        for name, each in methods.items()
    }
    return {"methods": measured, "preparations": prepared}


def _methods(X: Any, counts: tuple[int, int], seed: int) -> dict[str, dict[float, Labels]]:
    """Return row and column labels by method and β; methods with starts have the same ones."""
    more = {"n_init": SAME_STARTS, "tol": 1e-3, "random_state": seed}

    def sides(find: Callable[[Any, int], np.ndarray]) -> Labels:
        return find(X, counts[0]), find(X.T.tocsr(), counts[1])

    def batch(beta: float) -> Any:
        return solve(X, counts, beta, "batch", sweeps="due", **more)[0][2:]

    path = {step.beta: step[2:] for step in _anneal(X, counts, seed, 0.0)}
    found: dict[str, dict[float, Any]] = {
        "AnnITCC": {beta: path[beta] for beta in BETAS},
        "sGITCC": {beta: solve(X, counts, beta, "sequential", **more)[0][2:] for beta in BETAS},
        "comarkov's default": {
            beta: solve(X, counts, beta, "auto", n_init=1, random_state=seed)[0][2:]
            for beta in DEFAULT_BETAS
        },
        "sIB": {
            1.0: sides(lambda Y, k: solve(Y, (k, None), 1.0, "sequential", **more)[0].row_labels)
        },
        "aIB": {1.0: sides(lambda Y, k: solve(Y, (k, None), 1.0, AIB(k))[0].row_labels)},
        "ITCC": {HALF: batch(HALF)},
        "IBCC, iterative": {0.75: batch(0.75)},
    }
    for name, (beta, method) in NAMED.items():
        found[name] = {beta: solve(X, counts, beta, method(counts))[0][2:]}
    return found


def _anneal(X: Any, counts: tuple[int, int], seed: int, beta: float) -> Any:
    more = {"n_init": SAME_STARTS, "tol": 1e-3, "random_state": seed, "beta_step": 0.05}
    return solve(X, counts, beta, "anneal", **more)


def _accuracy(sample: Dataset, rows: np.ndarray) -> float:
    return matching_accuracy(np.asarray(sample.row_classes), rows)


def _every(runs: Runs, collection: str, name: str, beta: str) -> np.ndarray:
    """Return [MAP, cost above the least found at this β] of each sample; LEAST is the best one."""
    coupling, found = 2 * float(beta) - 1, []
    for key, run in runs.items():
        if key[0] == collection:
            at_beta = {method: of[beta] for method, of in run["methods"].items() if beta in of}
            # L_β is linear in β
            costs = {
                method: coupling * one + (1 - coupling) * half
                for method, (_, half, one) in at_beta.items()
            }
            best = min(costs, key=costs.__getitem__)
            method = best if name == LEAST else name
            found.append([at_beta[method][0], costs[method] - costs[best]])
    return np.array(found)


def _cases(runs: Runs) -> dict[str, list[str]]:
    """Return the β of each method."""
    return {name: list(of) for name, of in next(iter(runs.values()))["methods"].items()}


def _prepared(runs: Runs, collection: str, value: str) -> np.ndarray:
    maps = [run["preparations"][value] for key, run in runs.items() if key[0] == collection]
    return np.array(maps)


def _conclude(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    return Reproduction(
        **about("thesis", n=n, starts=SAME_STARTS),
        x_label="cost above the least found on the same sample at the same β, in bits",
        y_label="MAP of documents",
        curves=[curve for name in COLLECTIONS for curve in _scatter(runs, name)],
        claims=_claims(runs),
        tables=[_method_table(runs), _preparation_table(runs)],
    )


def _scatter(runs: Runs, collection: str) -> list[Curve]:
    """Return two curves for each method: a dot for each sample and β, and the means by β."""
    curves = []
    for name, betas in _cases(runs).items():
        each = [_every(runs, collection, name, beta) for beta in betas]
        maps, above = np.concatenate(each).T
        no_line = np.full(maps.size, np.nan)
        curves.append(Curve(collection, name, above, no_line, samples=maps[None]))
        means, errors = (np.array(x) for x in zip(*map(mean_and_error, each), strict=True))
        curves.append(Curve(collection, name, means[:, 1], means[:, 0], errors[:, 0]))
    return curves


def _claims(runs: Runs) -> list[Claim]:
    """Compare standard deviations of MAP over what is varied, for each sample."""
    claims = []
    cases, values = _cases(runs), next(iter(runs.values()))["preparations"]
    half, published = f"{HALF:g}", [f"{beta:g}" for beta in BETAS if beta >= HALF]
    for name in COLLECTIONS:
        varied = {
            "AnnITCC": [_every(runs, name, "AnnITCC", beta)[:, 0] for beta in published],
            LEAST: [_every(runs, name, LEAST, beta)[:, 0] for beta in published],
            "heuristics": [
                _every(runs, name, method, half)[:, 0]
                for method, betas in cases.items()
                if half in betas
            ],
            "preparation": [_prepared(runs, name, value) for value in values],
        }
        spreads = {what: np.std(maps, axis=0, ddof=1) for what, maps in varied.items()}
        largest = max(spreads["AnnITCC"], spreads[LEAST], key=np.mean)
        findings = {what: spreads[what] - largest for what in ("heuristics", "preparation")}
        shown = {what: f"{each.mean():.3f}" for what, each in spreads.items()}
        costs = f"AnnITCC {shown.pop('AnnITCC')}, {LEAST} {shown.pop(LEAST)}"
        claims += verdicts("thesis", findings, name=name, costs=costs, **shown)
    return claims


def _method_table(runs: Runs) -> ResultTable:
    rows = []
    for name, betas in (_cases(runs) | {LEAST: [f"{beta:g}" for beta in BETAS]}).items():
        for beta in betas:
            found = [mean_and_error(_every(runs, c, name, beta)) for c in COLLECTIONS]
            rows.append([name, beta, *("; ".join(map(with_error, *each)) for each in found)])
    title = "MAP; cost above the least found on the sample at this β, in bits; standard errors"
    return ResultTable(title, ["method", "β", *COLLECTIONS], rows)


def _preparation_table(runs: Runs) -> ResultTable:
    rows = [
        [value, *(with_error(*mean_and_error(_prepared(runs, c, value))) for c in COLLECTIONS)]
        for value in next(iter(runs.values()))["preparations"]
    ]
    title = "Preparation, AnnITCC at β = ½: MAP and its standard error"
    return ResultTable(title, ["preparation", *COLLECTIONS], rows)


thesis = Experiment(
    "thesis",
    "The thesis: cost functions, heuristics, preparation",
    _conclude,
    _run,
    lambda options, n: [*product(COLLECTIONS, range(n))],
    runs=20,
    quick_runs=2,
    dataset="newsgroups",
)
