"""Made-up data: worked examples (Fig. 1) and planted clusters, hidden by noise (Fig. 2)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from ...costs.agreement import matching_accuracy
from ...costs.objective import Information, cost, information
from ...estimators.coclustering import CoClustering
from ...kernels.matrix import table_bits
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
    published_curve,
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


def _every(runs: Runs, case: Case, what: str = "rows") -> np.ndarray:
    """Return a result of every run of a case; MAP by (run, β)."""
    return np.array([run[what] for key, run in runs.items() if key[:2] == case])


def _curve(
    runs: Runs, table: str, symbol: str, case: Case, start: str = "", side: str = "rows"
) -> Curve:
    """Return the mean over all runs of a case beside the published curve."""
    algorithm, value = case
    points = published_curve(table, "map_mean", algorithm=algorithm, **{PARAMETERS[symbol]: value})
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


def _annealing_claims(runs: Runs, table: str, symbol: str, values: list[float]) -> list[Claim]:
    """Is sGITCC like AnnITCC from β = 1 to its published peak, and worse after that?"""
    claims = []
    for value in values:
        of = {"algorithm": "sGITCC", PARAMETERS[symbol]: value}
        stated = published_curve(table, "map_mean", **of).mean
        peak = int(np.flatnonzero(stated == stated.max())[-1])
        difference = _every(runs, ("AnnITCC", value)) - _every(runs, ("sGITCC", value))
        findings = {
            "same": difference[:, : peak + 1],
            "drops": difference[:, PAPER_BETAS <= 0.3].mean(axis=1),
        }
        names = {"name": f"{symbol} = {value:g}", "peak": f"{PAPER_BETAS[peak]:g}"}
        claims += verdicts("annealing", findings, **names)
    return claims


# --- circulant blocks, Fig. 2h ----------------------------------------------------------------

CIRCULANT_TRUTH = np.repeat(np.arange(3), 30)
CIRCULANT_CASES: list[Case] = [(name, k) for name in ("AnnITCC", "sGITCC") for k in (3, 6, 15)]


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
    flat = ", ".join(f"{np.ptp(every.mean(axis=0)):.3f}" for every in annealed.values())
    both = CIRCULANT_TRUTH, CIRCULANT_TRUTH
    parts = {k: information(circulant_blocks(k), *both) for k in (1, 3, 6, 15, 30)}
    # I(X̄;Y) <= H(X̄) <= log2 of the number of clusters, and so for the other two terms
    kept = np.array([parts[k][1:] for k in annealed])
    pieces = {connected_components(block @ block.T)[0] for block in map(circulant_blocks, annealed)}
    whole, alone = parts[30], parts[1].rows_columns
    findings = {
        "coupling": (
            bool(np.isclose(whole.rows_columns, whole[2]) and np.isclose(alone, np.log2(90))),
            f"k = 30: I(X;Y) = I(X̄;Y) = {whole[2]:.4f} bits; k = 1: I(X;Y) = H(Y) = {alone:.4f}",
        ),
        "falls_6": means[6] - means[3],
        "falls_15": means[15] - means[6],
        "strong": annealed[3][:, 1:-1].mean(axis=1) - annealed[3][:, 0],
        "truth": (
            np.allclose(kept, np.log2(3), atol=1e-9) and pieces == {3},
            "proved: it keeps log2 3 bits on each side, the most that three clusters can; others "
            "keep less, because each block is in one piece",
        ),
        "flat": (
            Status.UNTESTABLE,
            f"not said how flat; AnnITCC varies over β by {flat} for k = 3, 6, 15",
        ),
    }
    compared = _annealing_claims(runs, "circulant", "k", [3, 6, 15])
    return verdicts("circulant", findings) + compared


circulant = Experiment(
    "circulant",
    "Circulant blocks (Fig. 2h)",
    _conclude_circulant,
    _run_circulant,
    lambda options, n: [(*case, run) for case in CIRCULANT_CASES for run in range(n)],
    **PLANTED_RUNS,
)

# --- noise, Fig. 2d and 2e --------------------------------------------------------------------

#: The paper shows its T only as a picture. This one was fitted to the published AnnITCC curves.
NOISE_LEVELS = np.array([[6, 2, 1], [9, 0, 6], [1, 3, 5], [5, 5, 1], [1, 2, 1]])
NOISE_TRUTH = np.repeat(np.arange(5), 16), np.sort(np.arange(50) % 3)
ANNEALED_CASES: list[Case] = [("AnnITCC", epsilon) for epsilon in (0.0, 0.5, 0.7, 0.8)]
SEQUENTIAL_CASES: list[Case] = [("sGITCC", epsilon) for epsilon in (0.0, 0.7)]
TIES_CASE: Case = TIES_FIRST, 0.0
NOISE_CASES = [*ANNEALED_CASES, *SEQUENTIAL_CASES, TIES_CASE]
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
    cases = {"2d, rows, ": ANNEALED_CASES + SEQUENTIAL_CASES, "2e, columns, ": ANNEALED_CASES}
    curves = [
        _curve(runs, f"noise_{side}", "ε", case, start, side)
        for (start, shown), side in zip(cases.items(), ("rows", "columns"), strict=True)
        for case in shown
    ]
    stated = published_curve("noise_rows", "map_mean", algorithm="sGITCC", epsilon=0.0).mean
    ties = [_every(runs, case).mean(axis=0) for case in (SEQUENTIAL_CASES[0], TIES_CASE)]
    by_ties = [
        [f"{beta:g}", *(f"{value:.3f}" for value in values)]
        for beta, *values in zip(PAPER_BETAS, stated, *ties, strict=True)
    ]
    header = ["", "columns 1", "columns 2", "columns 3"]
    levels = [[f"rows {i + 1}", *map(str, row)] for i, row in enumerate(NOISE_LEVELS.tolist())]
    truth = [labels.tolist() for labels in NOISE_TRUTH]
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
        blocks=[Blocks(f"ε = {e:g}", noisy_blocks(e, 0), *truth) for e in (0.0, 0.5, 0.8)],
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
    compared = _annealing_claims(runs, "noise_rows", "ε", [0.0, 0.7])
    return verdicts("noise", findings) + compared


noise = Experiment(
    "noise",
    "Planted blocks under noise (Fig. 2d, e)",
    _conclude_noise,
    _run_noise,
    lambda options, n: [(*case, run) for case in NOISE_CASES for run in range(n)],
    **PLANTED_RUNS,
)

# --- the stuck example ------------------------------------------------------------------------

STUCK = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]) / 4
STUCK_START = [0, 1, 1], [0, 1, 1, 1]
STUCK_OPTIMUM = [0, 0, 1], [0, 0, 1, 1]


def partitions(n: int, k: int) -> list[list[int]]:
    """Return all partitions of n elements into k clusters, numbered by their first elements."""
    every = product(range(k), repeat=n)
    return [[*labels] for labels in every if [*dict.fromkeys(labels)] == [*range(k)]]


def _conclude_stuck(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    ends = [solve(STUCK, (2, 2), b, "sequential", init=STUCK_START)[0] for b in (0.5, 1.0)]
    (half, *at_half), (_, *at_one) = ((end.cost, *(s.tolist() for s in end[2:])) for end in ends)
    start, optimum = (cost(STUCK, *labels, 0.5) for labels in (STUCK_START, STUCK_OPTIMUM))
    least = CoClustering(2, beta=0.5).fit(STUCK).cost_
    alone = [(rows, STUCK_START[1]) for rows in partitions(3, 2)]
    alone += [(STUCK_START[0], columns) for columns in partitions(4, 2)]
    next_best = min(cost(STUCK, *labels, 0.5) for labels in alone if labels != STUCK_START)
    found = {
        "stays": (
            at_half == [*STUCK_START],
            f"it ends at {half:.4f} bits, the cost of the start is {start:.4f}",
        ),
        "alone": (next_best > start + ROUNDING, f"at least {next_best:.4f} bits, by enumeration"),
        "least": (
            abs(least - optimum) < ROUNDING,
            f"{optimum:.4f} bits; the global minimum, by enumeration, is {least:.4f}",
        ),
        "columns": (at_one[1] == STUCK_OPTIMUM[1], f"columns {at_one[1]}, rows {at_one[0]}"),
    }
    return Reproduction(
        **about("stuck"),
        claims=verdicts("stuck", found),
        blocks=[
            Blocks(f"where it is stuck: {half:.4f} bits", STUCK, *STUCK_START),
            Blocks(f"the optimum: {optimum:.4f} bits", STUCK, *STUCK_OPTIMUM),
        ],
    )


stuck = Experiment("stuck", "A start that is stuck", _conclude_stuck)

# --- unequal numbers of clusters --------------------------------------------------------------

UNEQUAL = np.kron(np.eye(4), np.ones((2, 1))) / 8
UNEQUAL_COLUMNS = [0, 0, 1, 1]
PAIRS, OTHERS = [0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 1, 1, 2, 2, 2, 3]


def _information(rows: list[int], columns: list[int]) -> Information:
    """Return the information terms of a co-clustering of the example; 11,907 are needed."""
    by_row = np.eye(4)[rows].T @ UNEQUAL
    by_column, blocks = (table @ np.eye(2)[columns] for table in (UNEQUAL, by_row))
    return Information(*map(table_bits, (UNEQUAL, by_column, by_row, blocks)))


def _conclude_unequal(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    every = list(product(partitions(8, 4), partitions(4, 2)))
    parts, wanted = [_information(*labels) for labels in every], (PAIRS, UNEQUAL_COLUMNS)
    # rows that share the boundary in the middle, with these columns
    shared = {i for i, (r, c) in enumerate(every) if c == wanted[1] and not {*r[:4]} & {*r[4:]}}
    best, found = {}, {}
    for beta in (0.0, 0.5, 1.0):
        costs = np.array([part.cost(beta) for part in parts])
        best[beta] = {*np.flatnonzero(costs < costs.min() + ROUNDING).tolist()}
        text = f"{len(best[beta])} of {len(every):,} pairs"
        found[beta] = f"global minimum {costs.min():.4f}, at {text}"
    here = every.index(wanted)
    curves = {
        name: np.array([cost(UNEQUAL, rows, UNEQUAL_COLUMNS, beta) for beta in PAPER_BETAS])
        for name, rows in {"pairs": PAIRS, "{1},{2,3,4},{5,6,7},{8}": OTHERS}.items()
    }
    pairs, others = curves.values()
    one, half, zero = ((others[i] - pairs[i], pairs[i], others[i]) for i in (0, 5, 10))
    end = solve(UNEQUAL, (4, 2), 0.0, "sequential", init=wanted)[0]
    findings = {
        "less": (one[0] > ROUNDING, f"{one[1]:.4f} and {one[2]:.4f} bits"),
        "least": (here in best[1.0], found[1.0]),
        "same": (abs(half[0]) < ROUNDING, f"{half[1]:.4f} and {half[2]:.4f} bits"),
        "several": (here in best[0.5] and len(best[0.5]) > 1, found[0.5]),
        "shared": (shared <= best[0.5], f"all {len(shared)} of them are global minima"),
        "more": (zero[0] < -ROUNDING, f"{zero[1]:.4f} and {zero[2]:.4f} bits; {found[0.0]}"),
        "leaves": (
            end.cost < zero[1] - ROUNDING,
            f"sGITCC goes to rows {end.row_labels.tolist()}, {end.cost:.4f} bits",
        ),
    }
    return Reproduction(
        **about("unequal"),
        y_label="cost in bits",
        curves=[Curve("", name, PAPER_BETAS, costs) for name, costs in curves.items()],
        claims=verdicts("unequal", findings),
    )


unequal = Experiment("unequal", "Unequal numbers of clusters", _conclude_unequal)

# --- trading entropy, Fig. 1 ------------------------------------------------------------------

TRADING = {
    "P1": np.array([[0.12, 0, 0], [0, 0.39, 0.05], [0, 0.05, 0.39]]),
    "P2": np.array([[0.12, 0, 0], [0, 0.4, 0.04], [0, 0.04, 0.4]]),
}
SEPARATED, ALTERNATIVE = [0, 1, 1], [0, 0, 1]


def _conclude_trading(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    curves = []
    for (case, P), (name, labels) in product(
        TRADING.items(), {"separated": SEPARATED, "alternative": ALTERNATIVE}.items()
    ):
        points = published_curve("trading", "cost_bits", case=case, coclustering=name)
        ours = np.array([cost(P, labels, labels, beta) for beta in points.x])
        curves.append(Curve(case, name, points.x, ours, published=points.mean))
    pairs = list(product(partitions(3, 2), repeat=2))
    pairs.sort(key=lambda pair: pair != (SEPARATED, SEPARATED))  # these first
    zeros = {case: [cost(P, r, c, 0.0) for r, c in pairs] for case, P in TRADING.items()}
    half = [cost(TRADING["P1"], r, c, 0.5) for r, c in pairs]
    near = "; ".join(f"{case}: {', '.join(f'{c:.3f}' for c in of)}" for case, of in zeros.items())
    findings = {
        "P1": _crossing(TRADING["P1"], 0.65),
        "half": (half[0] < min(half[1:]), f"{half[0]:.4f} bits; other pairs {min(half[1:]):.4f}"),
        "P2": _crossing(TRADING["P2"], 0.15),
        "zero": (max(abs(first) for first, *_ in zeros.values()) < ROUNDING, ""),
        "near": (Status.UNTESTABLE, f"not said how near, how many; L_0 of all pairs: {near}"),
    }
    rows = [[case, *(" ".join(f"{p:g}" for p in row) for row in P)] for case, P in TRADING.items()]
    return Reproduction(
        **about("trading"),
        y_label="cost in bits",
        curves=curves,
        claims=verdicts("trading", findings),
        tables=[ResultTable("The matrices", ["", "row 1", "row 2", "row 3"], rows)],
    )


def _crossing(P: np.ndarray, stated: float) -> tuple[bool, str]:
    """Is the alternative cheaper from the stated β on? Costs are linear in β."""
    at_zero, at_stated, at_one = (
        cost(P, SEPARATED, SEPARATED, beta) - cost(P, ALTERNATIVE, ALTERNATIVE, beta)
        for beta in (0.0, stated, 1.0)
    )
    side = "less" if at_stated > 0 else "more"
    return at_stated > 0, (
        f"it costs less for β > {at_zero / (at_zero - at_one):.4f}; at {stated:g} "
        f"{abs(at_stated):.4f} bits {side}"
    )


trading = Experiment("trading", "Trading entropy (Fig. 1)", _conclude_trading)
