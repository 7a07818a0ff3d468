"""Made-up data: worked examples (Fig. 1) and planted clusters, hidden by noise (Fig. 2)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from ...costs.agreement import matching_accuracy
from ...costs.objective import Information, cost
from ...estimators.coclustering import CoClustering
from ...kernels.matrix import table_bits
from .. import page
from ..experiment import (
    PAPER_BETAS,
    ROUNDING,
    Blocks,
    Claim,
    Curve,
    Experiment,
    Key,
    Reproduction,
    ResultTable,
    RunOptions,
    Runs,
    Status,
    about,
    deviation,
    solve,
    verdicts,
)

PUBLISHED_RUNS = 500
PLANTED_RUNS: dict[str, Any] = {"runs": PUBLISHED_RUNS, "quick_runs": 40, "batch": 20}
TIES_FIRST = "sGITCC, ties to the first"
PARAMETERS = {"k": "k", "ε": "epsilon"}  # of data, and their columns in published tables
Truth = tuple[np.ndarray, np.ndarray]
Case = tuple[str, float]  # an algorithm, and the parameter of the data


def accuracies(P: np.ndarray, truth: Truth, algorithm: str, seed: int) -> dict[str, Any]:
    """Return the MAP of rows and of columns at every β, and by how much the truth costs more at 1.

    sGITCC has a separate start for every β, AnnITCC one annealing through all of them.
    """
    k, l = (int(labels.max()) + 1 for labels in truth)
    if algorithm == "AnnITCC":
        path = solve(P, (k, l), 0.0, "anneal", random_state=seed)
    else:
        ties = "first" if algorithm == TIES_FIRST else "stay"
        seeds = len(PAPER_BETAS) * seed + np.arange(len(PAPER_BETAS))
        path = [
            solve(P, (k, l), beta, "sequential", random_state=int(own), ties=ties)[0]
            for beta, own in zip(PAPER_BETAS.tolist(), seeds, strict=True)
        ]
    return {
        "rows": [matching_accuracy(truth[0], step.row_labels) for step in path],
        "columns": [matching_accuracy(truth[1], step.column_labels) for step in path],
        "truth_costs_more": cost(P, *truth, 1.0) - path[0].cost,
    }


def _repeated(cases: list[Case], n: int) -> list[Key]:
    return [(*case, run) for case in cases for run in range(n)]


def _every(runs: Runs, case: Case, what: str = "rows") -> np.ndarray:
    """Return a result of every run of a case; MAP by (run, β)."""
    return np.array([run[what] for key, run in runs.items() if key[:2] == case])


def _curve(
    runs: Runs, table: str, symbol: str, case: Case, start: str = "", side: str = "rows"
) -> Curve:
    """Return the mean over all runs of a case beside the published curve."""
    algorithm, value = case
    points = page.curve(table, "map_mean", algorithm=algorithm, **{PARAMETERS[symbol]: value})
    ours = _every(runs, case, side)
    # few runs can be alike by chance, so the larger of the two deviations counts
    spread = np.fmax(deviation(ours), points.std)
    return Curve(
        f"{start}{algorithm}",
        f"{symbol} = {value:g}",
        x=points.x,
        ours=ours.mean(axis=0),
        error=spread * np.sqrt(1 / len(ours) + 1 / PUBLISHED_RUNS),
        published=points.mean,
        runs=len(ours),
        fitted=FITTED_TO if symbol == "ε" and algorithm == "AnnITCC" else "",
    )


def _annealing_claims(runs: Runs, symbol: str, value: float) -> list[Claim]:
    """Is sGITCC like AnnITCC from β = 1 to where sGITCC is best, and worse after that?"""
    annealed, alone = (_every(runs, (algorithm, value)) for algorithm in ("AnnITCC", "sGITCC"))
    peak = int(alone.mean(axis=0).argmax())
    difference = annealed - alone
    return verdicts(
        "annealing",
        {
            "same": difference[:, : peak + 1],
            "drops": difference[:, PAPER_BETAS <= 0.3].mean(axis=1),
        },
        name=f"{symbol} = {value:g}",
        peak=f"{PAPER_BETAS[peak]:g}",
    )


# --- circulant blocks, Fig. 2h ----------------------------------------------------------------

CIRCULANT_TRUTH = np.repeat(np.arange(3), 30)
CIRCULANT_CASES = [(algorithm, k) for algorithm in ("AnnITCC", "sGITCC") for k in (3, 6, 15)]


def circulant_blocks(k: int, size: int = 30, blocks: int = 3) -> np.ndarray:
    """Blocks on the diagonal whose rows are k ones, each shifted by one from the row above."""
    first = np.arange(size) < k
    block = np.array([np.roll(first, shift) for shift in range(size)], dtype=float)
    return np.kron(np.eye(blocks), block)


def _run_circulant(key: Key, options: RunOptions) -> Any:
    algorithm, k, run = key
    truth = CIRCULANT_TRUTH, CIRCULANT_TRUTH
    return accuracies(circulant_blocks(int(k)), truth, str(algorithm), int(run))


def _conclude_circulant(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    truth = CIRCULANT_TRUTH.tolist()
    return Reproduction(
        **about("circulant", n=n),
        y_label="MAP of rows",
        curves=[_curve(runs, "circulant", "k", case) for case in CIRCULANT_CASES],
        claims=_circulant_claims(runs),
        blocks=[Blocks(f"k = {k}", circulant_blocks(k), truth, truth) for k in (3, 6, 15)],
    )


def _circulant_claims(runs: Runs) -> list[Claim]:
    annealed = {k: _every(runs, ("AnnITCC", k)) for k in (3, 6, 15)}
    means = {k: every.mean(axis=1) for k, every in annealed.items()}  # over β, for each run
    tight = max(run["truth_costs_more"] for key, run in runs.items() if key[0] == "AnnITCC")
    findings = {
        "falls_6": means[6] - means[3],
        "falls_15": means[15] - means[6],
        "strong": annealed[3][:, 1:-1].mean(axis=1) - annealed[3][:, 0],
        "truth": (Status.UNTESTABLE, "a search cannot prove it; in no run was a lower cost found")
        if tight < ROUNDING
        else (False, f"a run found a cost {tight:.4f} bits below that of the truth"),
    }
    both = [claim for k in (3, 6, 15) for claim in _annealing_claims(runs, "k", k)]
    return verdicts("circulant", findings) + both


circulant = Experiment(
    "circulant",
    "Circulant blocks (Fig. 2h)",
    _run_circulant,
    _conclude_circulant,
    lambda options, n: _repeated(list(CIRCULANT_CASES), n),
    **PLANTED_RUNS,
)

# --- noise, Fig. 2d and 2e --------------------------------------------------------------------

#: The paper shows its T only as a picture. This one was fitted to the published AnnITCC curves.
NOISE_LEVELS = np.array([[6, 2, 1], [9, 0, 6], [1, 3, 5], [5, 5, 1], [1, 2, 1]])
NOISE_TRUTH = np.repeat(np.arange(5), 16), np.sort(np.arange(50) % 3)
ANNEALED_CASES: list[Case] = [("AnnITCC", epsilon) for epsilon in (0.0, 0.5, 0.7, 0.8)]
SEQUENTIAL_CASES: list[Case] = [("sGITCC", epsilon) for epsilon in (0.0, 0.7)]
TIES_CASE: Case = TIES_FIRST, 0.0
FITTED_TO = "T was fitted to the AnnITCC curves"


def noisy_blocks(epsilon: float, seed: int) -> np.ndarray:
    """(1-ε)T + εN: T is constant in 5 x 3 blocks, N uniform noise; both have mass 1."""
    blocks = NOISE_LEVELS[np.ix_(*NOISE_TRUTH)]
    noise = np.random.default_rng([2, seed]).random(blocks.shape)
    return (1 - epsilon) * blocks / blocks.sum() + epsilon * noise / noise.sum()


def _run_noise(key: Key, options: RunOptions) -> Any:
    algorithm, epsilon, run = str(key[0]), float(key[1]), int(key[2])
    return accuracies(noisy_blocks(epsilon, run), NOISE_TRUTH, algorithm, run)


def _conclude_noise(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    sides = {"2d, rows, ": ANNEALED_CASES + SEQUENTIAL_CASES, "2e, columns, ": ANNEALED_CASES}
    curves = [
        _curve(runs, f"noise_{side}", "ε", case, start, side)
        for start, cases in sides.items()
        for side in [start.split(", ")[1]]
        for case in cases
    ]
    truth = [labels.tolist() for labels in NOISE_TRUTH]
    ties = {case: _every(runs, case).mean(axis=0) for case in (SEQUENTIAL_CASES[0], TIES_CASE)}
    stated = page.curve("noise_rows", "map_mean", algorithm="sGITCC", epsilon=0.0).mean
    by_ties = [
        [f"{beta:g}", *(f"{value:.3f}" for value in values)]
        for beta, *values in zip(PAPER_BETAS, stated, *ties.values(), strict=True)
    ]
    header = ["", "columns 1", "columns 2", "columns 3"]
    levels = [[f"rows {i + 1}", *map(str, row)] for i, row in enumerate(NOISE_LEVELS.tolist())]
    return Reproduction(
        **about("noise", n=n),
        y_label="MAP",
        curves=curves,
        claims=_noise_claims(runs),
        tables=[
            ResultTable("T: levels of the blocks, before division by the sum", header, levels),
            ResultTable(
                "sGITCC without noise, MAP of rows: ties decide",
                ["β", "published", "ties: stay", "ties: first"],
                by_ties,
            ),
        ],
        blocks=[
            Blocks(f"ε = {epsilon:g}", noisy_blocks(epsilon, 0), *truth)
            for epsilon in (0.0, 0.5, 0.8)
        ],
    )


def _noise_claims(runs: Runs) -> list[Claim]:
    rows = {case[1]: _every(runs, case) for case in ANNEALED_CASES}
    columns = _every(runs, ("AnnITCC", 0.0), "columns")
    share = ((rows[0.0] == 1) & (columns == 1)).mean(axis=0)
    means = ", ".join(f"{every.mean():.3f}" for every in rows.values())
    best = [PAPER_BETAS[rows[epsilon].mean(axis=0).argmax()] for epsilon in (0.7, 0.8)]
    details = {
        "correct": f"{share.min():.0%} to {share.max():.0%}, depending on β",
        "falls": f"means over β for ε = 0, 0.5, 0.7, 0.8: {means}",
        "best": f"best at {best[0]:g} for ε = 0.7, at {best[1]:g} for ε = 0.8",
    }
    findings: dict[str, Any] = {
        key: (Status.FITTED, f"{detail}; {FITTED_TO}") for key, detail in details.items()
    }
    findings["below"] = {
        f"{case[1]:g}": _every(runs, case, "truth_costs_more") for case in ANNEALED_CASES[2:]
    }
    both = [claim for value in (0.0, 0.7) for claim in _annealing_claims(runs, "ε", value)]
    return verdicts("noise", findings) + both


noise = Experiment(
    "noise",
    "Planted blocks under noise (Fig. 2d, e)",
    _run_noise,
    _conclude_noise,
    lambda options, n: _repeated([*ANNEALED_CASES, *SEQUENTIAL_CASES, TIES_CASE], n),
    **PLANTED_RUNS,
)

# --- the stuck example ------------------------------------------------------------------------

STUCK = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]) / 4
STUCK_START = [0, 1, 1], [0, 1, 1, 1]
STUCK_OPTIMUM = [0, 0, 1], [0, 0, 1, 1]


def _run_stuck(key: Key, options: RunOptions) -> Any:
    def end(beta: float) -> Any:
        step = solve(STUCK, (2, 2), beta, "sequential", init=STUCK_START)[0]
        return [step.cost, step.row_labels.tolist(), step.column_labels.tolist()]

    return {"half": end(0.5), "one": end(1.0), "least": CoClustering(2, beta=0.5).fit(STUCK).cost_}


def _conclude_stuck(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    run = runs[()]
    start, optimum = (cost(STUCK, *labels, 0.5) for labels in (STUCK_START, STUCK_OPTIMUM))
    found = {
        "stays": (
            run["half"][1:] == [list(labels) for labels in STUCK_START],
            f"it ends at {run['half'][0]:.4f} bits, the cost of the start is {start:.4f}",
        ),
        "least": (
            abs(run["least"] - optimum) < ROUNDING,
            f"{optimum:.4f} bits; the global minimum, by enumeration, is {run['least']:.4f}",
        ),
        "columns": (
            run["one"][2] == STUCK_OPTIMUM[1],
            f"columns {run['one'][2]}, rows {run['one'][1]}",
        ),
    }
    return Reproduction(
        **about("stuck"),
        claims=verdicts("stuck", found),
        blocks=[
            Blocks(f"where it is stuck: {run['half'][0]:.4f} bits", STUCK, *STUCK_START),
            Blocks(f"the optimum: {optimum:.4f} bits", STUCK, *STUCK_OPTIMUM),
        ],
    )


stuck = Experiment("stuck", "A start that is stuck", _run_stuck, _conclude_stuck)

# --- unequal numbers of clusters --------------------------------------------------------------

UNEQUAL = np.kron(np.eye(4), np.ones((2, 1))) / 8
UNEQUAL_COLUMNS = [0, 0, 1, 1]
UNEQUAL_ROWS = {
    "pairs": [0, 0, 1, 1, 2, 2, 3, 3],
    "{1},{2,3,4},{5,6,7},{8}": [0, 1, 1, 1, 2, 2, 2, 3],
}


def _partitions(n: int, k: int) -> list[list[int]]:
    """Return all partitions of n elements into k clusters, numbered by their first elements."""
    every = product(range(k), repeat=n)
    return [[*labels] for labels in every if [*dict.fromkeys(labels)] == [*range(k)]]


def _information(rows: list[int], columns: list[int]) -> Information:
    """Return the information terms of a co-clustering of the example; 11,907 are needed."""
    by_row = np.eye(4)[rows].T @ UNEQUAL
    by_column, blocks = (table @ np.eye(2)[columns] for table in (UNEQUAL, by_row))
    return Information(*map(table_bits, (UNEQUAL, by_column, by_row, blocks)))


def _run_unequal(key: Key, options: RunOptions) -> Any:
    """Return the costs of the two row clusterings, and the best of all pairs of clusterings."""
    pairs = list(product(_partitions(8, 4), _partitions(4, 2)))
    parts = [_information(*labels) for labels in pairs]
    least = {}
    for beta in (0.0, 0.5, 1.0):
        costs = np.array([part.cost(beta) for part in parts])
        best = np.flatnonzero(costs < costs.min() + ROUNDING)
        least[f"{beta:g}"] = {
            "cost": costs.min(),
            "count": best.size,
            "has_pairs": any(pairs[i] == (UNEQUAL_ROWS["pairs"], UNEQUAL_COLUMNS) for i in best),
            "with_columns": sum(pairs[i][1] == UNEQUAL_COLUMNS for i in best),
        }
    curves = {
        name: [cost(UNEQUAL, rows, UNEQUAL_COLUMNS, beta) for beta in PAPER_BETAS]
        for name, rows in UNEQUAL_ROWS.items()
    }
    return {"curves": curves, "least": least}


def _conclude_unequal(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    curves, least = runs[()]["curves"], runs[()]["least"]
    both = {f"{beta:g}": costs for beta, *costs in zip(PAPER_BETAS, *curves.values(), strict=True)}
    shown = {beta: f"{pairs:.4f} and {others:.4f} bits" for beta, (pairs, others) in both.items()}
    saved = {beta: others - pairs for beta, (pairs, others) in both.items()}  # by equal rows
    found = {
        beta: f"global minimum {each['cost']:.4f}, at {each['count']:,} of 11,907 pairs"
        for beta, each in least.items()
    }
    half = least["0.5"]
    return Reproduction(
        **about("unequal"),
        y_label="cost in bits",
        curves=[Curve("", name, PAPER_BETAS, np.array(costs)) for name, costs in curves.items()],
        claims=verdicts(
            "unequal",
            {
                "less": (saved["1"] > 0.1, shown["1"]),
                "least": (least["1"]["has_pairs"], found["1"]),
                "same": (abs(saved["0.5"]) < ROUNDING, shown["0.5"]),
                "several": (
                    half["has_pairs"] and half["with_columns"] > 1,
                    f"{found['0.5']}, {half['with_columns']} of them with these columns",
                ),
                "more": (saved["0"] < -0.1, f"{shown['0']}; {found['0']}"),
            },
        ),
    )


unequal = Experiment("unequal", "Unequal numbers of clusters", _run_unequal, _conclude_unequal)

# --- trading entropy, Fig. 1 ------------------------------------------------------------------

TRADING = {
    "P1": np.array([[0.12, 0, 0], [0, 0.39, 0.05], [0, 0.05, 0.39]]),
    "P2": np.array([[0.12, 0, 0], [0, 0.4, 0.04], [0, 0.04, 0.4]]),
}
TRADING_LABELS = {"separated": [0, 1, 1], "alternative": [0, 0, 1]}


def _run_trading(key: Key, options: RunOptions) -> Any:
    return {
        case: {
            name: [cost(P, labels, labels, beta) for beta in PAPER_BETAS]
            for name, labels in TRADING_LABELS.items()
        }
        for case, P in TRADING.items()
    }


def _conclude_trading(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    curves = []
    for case, named in runs[()].items():
        for name, values in named.items():
            points = page.curve("trading", "cost_bits", case=case, coclustering=name)
            ours = np.interp(points.x, PAPER_BETAS[::-1], values[::-1])
            curves.append(Curve(case, name, points.x, ours, published=points.mean))
    every = runs[()].values()
    rows = [[case, *(" ".join(f"{p:g}" for p in row) for row in P)] for case, P in TRADING.items()]
    return Reproduction(
        **about("trading"),
        y_label="cost in bits",
        curves=curves,
        claims=verdicts(
            "trading",
            {
                "P1": _crossing(runs[()]["P1"], 0.65),
                "P2": _crossing(runs[()]["P2"], 0.15),
                "zero": (all(abs(each["separated"][-1]) < ROUNDING for each in every), ""),
            },
        ),
        tables=[ResultTable("The matrices", ["", "row 1", "row 2", "row 3"], rows)],
    )


def _crossing(costs: Mapping[str, list[float]], stated: float) -> tuple[bool, str]:
    """Is the alternative cheaper from the stated β on? Costs are linear in β."""
    at_one, at_zero = (costs["separated"][i] - costs["alternative"][i] for i in (0, -1))
    crossing = at_zero / (at_zero - at_one)
    at_stated = stated * at_one + (1 - stated) * at_zero
    return (
        at_stated > 0,
        f"it costs less for β > {crossing:.4f}; at {stated:g} {abs(at_stated):.4f} bits "
        f"{'less' if at_stated > 0 else 'more'}",
    )


trading = Experiment("trading", "Trading entropy (Fig. 1)", _run_trading, _conclude_trading)
