"""The paper's four guidelines on β, measured: MAP of AnnITCC for every β and four kinds of data."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from comarkov import datasets, evaluate
from comarkov.reproduce.experiment import PAPER_BETAS, solve
from comarkov.reproduce.experiments.synthetic import CIRCULANT_TRUTH, circulant_blocks

REPETITIONS = 12
Sample = tuple[Any, np.ndarray, np.ndarray, tuple[int, int]]  # matrix, truth of both sides, (k, l)


class Guideline(NamedTuple):
    """A property of data, and how to draw data that have more or less of it."""

    title: str
    label: str
    values: tuple[float, ...]
    draw: Callable[[float, int], Sample]


def imbalanced(ratio: float, seed: int) -> Sample:
    """Four diagonal blocks; each cluster has 1/ratio times the members of the one before."""
    rng = np.random.default_rng(seed)
    share = ratio ** -np.arange(4.0)
    sizes = np.maximum(np.round(120 * share / share.sum()), 3).astype(int)
    truth = np.repeat(np.arange(4), sizes)
    rates = np.where(truth[:, None] == truth, 0.6, 0.15)
    return rng.poisson(rates), truth, truth, (4, 4)


def unequal(column_clusters: float, seed: int) -> Sample:
    """Eight diagonal blocks, with fewer column clusters."""
    truth = np.repeat(np.arange(8), 15)
    rates = np.where(truth[:, None] == truth, 1.2, 0.2)
    return np.random.default_rng(seed).poisson(rates), truth, truth, (8, int(column_clusters))


def noisy(mean: float, seed: int) -> Sample:
    """Planted blocks, observed with few counts."""
    data = datasets.planted((150, 100), (5, 4), mean=mean, random_state=seed)
    assert data.row_classes is not None
    assert data.column_classes is not None
    return data.matrix, data.row_classes, data.column_classes, (5, 4)


def coupled(k: float, seed: int) -> Sample:
    """Circulant blocks: the fewer ones a row has, the stronger rows and columns are coupled."""
    return circulant_blocks(int(k)), CIRCULANT_TRUTH, CIRCULANT_TRUTH, (3, 3)


GUIDELINES = (
    Guideline("Imbalanced clusters", "ratio of sizes", (1.0, 1.5, 2.0, 2.5, 3.0), imbalanced),
    Guideline("Unequal numbers", "column clusters for 8 row clusters", (8, 6, 4, 3, 2), unequal),
    Guideline("Noise", "mean count", (0.6, 0.3, 0.2, 0.15, 0.1), noisy),
    Guideline("Coupling inside clusters", "ones in a row", (15, 9, 6, 4, 3), coupled),
)


def measure(guideline: Guideline) -> np.ndarray:
    """Mean MAP of the rows by (value, β), each from one random start as in the paper."""
    table = np.zeros((len(guideline.values), PAPER_BETAS.size))
    for i, value in enumerate(guideline.values):
        for seed in range(REPETITIONS):
            matrix, truth, _, counts = guideline.draw(value, seed)
            path = solve(matrix, counts, 0.0, "anneal", n_init=5, random_state=seed)
            table[i] += [evaluate.matching_accuracy(truth, step.row_labels) for step in path]
    return table / REPETITIONS


def draw() -> Figure:
    """One panel for each guideline: the MAP at every β, and the best β in each line."""
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    for ax, guideline in zip(figure.subplots(1, len(GUIDELINES)), GUIDELINES, strict=True):
        table = measure(guideline)[:, ::-1]
        image = ax.imshow(table, cmap="viridis", vmin=0.3, vmax=1, aspect="auto")
        ax.plot(table.argmax(axis=1), range(len(table)), "o", color="#b2182b", label="best β")
        ax.set_xticks([0, 5, 10], ["0", "½", "1"])
        ax.set_yticks(range(len(table)), [f"{value:g}" for value in guideline.values])
        ax.set(title=guideline.title, xlabel="β", ylabel=guideline.label)
    figure.colorbar(image, ax=figure.axes, label="MAP of rows")
    return figure
