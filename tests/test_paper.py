"""Evidence that it is the paper's algorithm: Fig. 2h, circulant blocks, from random starts."""

import csv
from pathlib import Path

import numpy as np
import pytest
from helpers import circulant

from comarkov import CoClustering
from comarkov.evaluate import matching_accuracy

RUNS = 200
PUBLISHED_RUNS = 500
BETAS = [round(1 - 0.1 * i, 1) for i in range(11)]
TRUTH = np.repeat(np.arange(3), 30)
PAPER = {"beta_step": 0.1, "max_iter": 20, "tol": 0}


def annealed(X, seed):
    model = CoClustering(3, beta=0.0, keep_path=True, random_state=seed, **PAPER).fit(X)
    return [matching_accuracy(TRUTH, step.row_labels) for step in model.path_]


def sequential(X, seed):
    return [
        matching_accuracy(
            TRUTH,
            CoClustering(3, beta=beta, method="sequential", random_state=seed, **PAPER).fit_predict(
                X
            ),
        )
        for beta in BETAS
    ]


@pytest.mark.filterwarnings("ignore:No convergence in 20 sweeps")  # as in the paper
@pytest.mark.parametrize("k", [3, 6, 15])
@pytest.mark.parametrize(("algorithm", "run"), [("AnnITCC", annealed), ("sGITCC", sequential)])
def test_circulant_blocks_agree_with_the_published_means(algorithm, run, k):
    X = circulant(k)
    ours = np.array([run(X, seed) for seed in range(RUNS)])
    with (Path(__file__).parent / "reference" / "fig2_circulant_map_rows.csv").open() as file:
        published = {
            float(row["beta"]): (float(row["map_mean"]), float(row["map_std"]))
            for row in csv.DictReader(file)
            if row["algorithm"] == algorithm and int(row["k"]) == k
        }
    assert len(published) == len(BETAS)
    for beta, maps in zip(BETAS, ours.T, strict=True):
        mean, std = published[beta]
        error = np.hypot(maps.std(ddof=1) / RUNS**0.5, std / PUBLISHED_RUNS**0.5)
        assert abs(maps.mean() - mean) <= 4 * error, f"β = {beta}: {maps.mean()} not {mean}"
