"""The worked examples of the paper: costs computed by hand, and a start that is stuck."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...costs.objective import cost
from ...estimators.coclustering import CoClustering
from .. import page
from ..experiment import (
    BETAS,
    PAPER,
    Blocks,
    Claim,
    Curve,
    Experiment,
    Key,
    Outcome,
    ResultTable,
    RunOptions,
    as_published,
)

EXACT = 1e-12


def _once(options: RunOptions) -> list[Key]:
    return [()]


# --- the stuck example ------------------------------------------------------------------------

STUCK = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]) / 4
STUCK_START = [0, 1, 1], [0, 1, 1, 1]
STUCK_OPTIMUM = [0, 0, 1], [0, 0, 1, 1]


def _run_stuck(key: Key, options: RunOptions) -> Any:
    def fit(method: Any, **more: Any) -> Any:
        with as_published():
            model = CoClustering(2, beta=0.5, method=method, **PAPER, **more).fit(STUCK)
        return [model.cost_, model.row_labels_.tolist(), model.column_labels_.tolist()]

    return {
        "start": cost(STUCK, *STUCK_START, 0.5),
        "optimum": cost(STUCK, *STUCK_OPTIMUM, 0.5),
        "stuck": fit("sequential", init=STUCK_START),
        "restarted": fit("anneal", n_init=30, random_state=0),
    }


def _conclude_stuck(runs: Mapping[Key, Any], options: RunOptions) -> Outcome:
    run = runs[()]
    start, optimum = 1.5 - (2 - 0.75 * np.log2(3)), 0.5  # I(X;Y) - h(1/4), I(X;Y) - h(1/2)
    return Outcome(
        "P has the rows (¼,0,0,0), (0,¼,0,0), (0,0,¼,¼), two clusters on each side, β = ½. "
        "sGITCC starts at rows {1},{2,3} and columns {1},{2,3,4}.",
        claims=[
            Claim(
                "The start costs 0.6887 bits, the optimum 0.5",
                abs(run["start"] - start) < EXACT and abs(run["optimum"] - optimum) < EXACT,
                f"{run['start']:.12f} and {run['optimum']:.12f}",
            ),
            Claim(
                "sGITCC does not move from there",
                run["stuck"][1:] == [list(labels) for labels in STUCK_START],
                f"it ends at {run['stuck'][0]:.4f} bits",
            ),
            Claim(
                "The optimum can be found: 30 starts of AnnITCC",
                abs(run["restarted"][0] - optimum) < EXACT,
                f"they end at {run['restarted'][0]:.4f} bits",
            ),
        ],
        blocks=[
            Blocks(f"where it is stuck: {run['stuck'][0]:.4f} bits", STUCK, *STUCK_START),
            Blocks(f"the optimum: {run['optimum']:.4f} bits", STUCK, *STUCK_OPTIMUM),
        ],
    )


stuck = Experiment("stuck", "A start that is stuck", _once, _run_stuck, _conclude_stuck)

# --- unequal numbers of clusters --------------------------------------------------------------

UNEQUAL = np.kron(np.eye(4), np.ones((2, 1))) / 8
UNEQUAL_COLUMNS = [0, 0, 1, 1]
UNEQUAL_ROWS = {
    "pairs": [0, 0, 1, 1, 2, 2, 3, 3],
    "{1},{2,3,4},{5,6,7},{8}": [0, 1, 1, 1, 2, 2, 2, 3],
}
# The second: two clusters of three rows hold two columns, (1/3, 2/3) of them, so
# I(X̄;Y) = 2 - 2 · 3/8 · h(1/3), where the pairs have 2; all else is equal.
MIXED = 0.75 * (np.log2(3) - 2 / 3)
UNEQUAL_COSTS = {"pairs": (1.0, 1.0), "{1},{2,3,4},{5,6,7},{8}": (1 - MIXED, 1 + MIXED)}


def _run_unequal(key: Key, options: RunOptions) -> Any:
    return {
        name: [cost(UNEQUAL, rows, UNEQUAL_COLUMNS, beta) for beta in BETAS]
        for name, rows in UNEQUAL_ROWS.items()
    }


def _conclude_unequal(runs: Mapping[Key, Any], options: RunOptions) -> Outcome:
    curves = []
    for name, values in runs[()].items():
        expected = np.interp(BETAS, [0, 1], UNEQUAL_COSTS[name])  # at β = 0 and 1: it is linear
        printed = np.isin(BETAS, (0, 0.5, 1))  # between them the cost is linear
        curves.append(
            Curve("", name, BETAS, np.array(values), None, expected, None, EXACT, printed)
        )
    return Outcome(
        "Eight rows and four columns, P[i, i//2] = 1/8, (k, l) = (4, 2), columns {1,2},{3,4}. "
        "Which rows belong together depends on β, because row clusters can tell more than two "
        "column clusters ask for.",
        y_label="cost in bits",
        curves=curves,
        claims=[
            Claim(
                "Pairs are better for β > ½, the others for β < ½, equal at ½",
                all(
                    np.sign(np.round(a - b, 9)) == np.sign(np.round(beta - 0.5, 9))
                    for beta, a, b in zip(BETAS, curves[1].ours, curves[0].ours, strict=True)
                ),
            )
        ],
    )


unequal = Experiment(
    "unequal", "Unequal numbers of clusters", _once, _run_unequal, _conclude_unequal
)

# --- trading entropy, Fig. 1 ------------------------------------------------------------------

TRADING = {
    "P1": np.array([[0.12, 0, 0], [0, 0.39, 0.05], [0, 0.05, 0.39]]),
    "P2": np.array([[0.12, 0, 0], [0, 0.4, 0.04], [0, 0.04, 0.4]]),
}
TRADING_LABELS = {"separated": [0, 1, 1], "alternative": [0, 0, 1]}


def _run_trading(key: Key, options: RunOptions) -> Any:
    return {
        case: {
            name: [cost(P, labels, labels, beta) for beta in BETAS]
            for name, labels in TRADING_LABELS.items()
        }
        for case, P in TRADING.items()
    }


def _conclude_trading(runs: Mapping[Key, Any], options: RunOptions) -> Outcome:
    curves = []
    for case, named in runs[()].items():
        for name, values in named.items():
            points = page.curve("trading", "cost_bits", case=case, coclustering=name)
            ours = np.interp(points.x, BETAS[::-1], values[::-1])
            curves.append(Curve(case, name, points.x, ours, published=points.mean, tolerance=EXACT))
    rows = [[case, *(" ".join(f"{p:g}" for p in row) for row in P)] for case, P in TRADING.items()]
    return Outcome(
        "Two matrices in which one element stands apart. Is it better to separate it, or to have "
        "clusters of more equal size? Small β prefers to separate.",
        y_label="cost in bits",
        curves=curves,
        tables=[ResultTable("The matrices", ["", "row 1", "row 2", "row 3"], rows)],
    )


trading = Experiment("trading", "Trading entropy (Fig. 1)", _once, _run_trading, _conclude_trading)
